/* option_man.c: the man page from the table. SPDX-License-Identifier: MIT */
#include "option.h"

#include "option_list.h"

#include <string.h>

/* Appends text for troff: backslashes and dashes as themselves (a plain '-' may come out as a
 * hyphen, which cannot be copied into a shell), and no line beginning with a control character. */
static void append_text(perftrace__strbuf_t *out, const char *text, size_t len) {
    bool line_start = out->len == 0 || out->data[out->len - 1] == '\n';
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (line_start && (c == '.' || c == '\'')) {
            perftrace__strbuf_puts(out, "\\&");
        }
        if (c == '\\') {
            perftrace__strbuf_puts(out, "\\e");
        } else if (c == '-') {
            perftrace__strbuf_puts(out, "\\-");
        } else if (c == '\'') {
            perftrace__strbuf_puts(out, "\\(aq");
        } else {
            perftrace__strbuf_putc(out, c);
        }
        line_start = c == '\n';
    }
}

static void append_string(perftrace__strbuf_t *out, const char *text) {
    append_text(out, text, strlen(text));
}

/* Paragraphs; lines that begin with two blanks stand as they are. */
static void append_paragraphs(perftrace__strbuf_t *out, const char *text) {
    bool as_it_is = false;
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        bool fixed = len > 2 && line[0] == ' ' && line[1] == ' ';
        if (fixed != as_it_is) {
            perftrace__strbuf_puts(out, fixed ? ".EX\n" : ".EE\n");
            as_it_is = fixed;
        }
        if (len == 0) {
            perftrace__strbuf_puts(out, ".PP\n");
        } else {
            append_text(out, line, len);
            perftrace__strbuf_putc(out, '\n');
        }
        line += len + (line[len] == '\n');
    }
    perftrace__strbuf_puts(out, as_it_is ? ".EE\n" : "");
}

static void append_option(perftrace__strbuf_t *out, const pt_option_t *option) {
    perftrace__strbuf_puts(out, ".TP\n");
    if (option->short_name) {
        perftrace__strbuf_printf(out, "\\fB\\-%c\\fR, ", option->short_name);
    }
    perftrace__strbuf_puts(out, "\\fB\\-\\-");
    perftrace__strbuf_puts(out,
                           option->kind == PT_OPTION_KIND_FLAG ? "\\fR[\\fBno\\-\\fR]\\fB" : "");
    append_string(out, option->long_name);
    if (option->arg) {
        perftrace__strbuf_puts(out, "\\fR=\\fI");
        append_string(out, option->arg);
    }
    perftrace__strbuf_puts(out, "\\fR\n");
    append_string(out, option->help);
    if (!pt_option_explains_choices(option)) {
        perftrace__strbuf_puts(out, ": \\fB");
        pt_option_append_choices(out, option->choices, "\\fR, \\fB");
        perftrace__strbuf_puts(out, "\\fR");
    }
    perftrace__strbuf_puts(out, ".\n");
    if (pt_option_repeats(option)) {
        perftrace__strbuf_puts(out, option->kind == PT_OPTION_KIND_LIST
                                        ? "Several may be given, with commas or repeated.\n"
                                        : "May be repeated.\n");
    }
    for (const pt_choice_t *choice = option->choices; choice && choice->name; choice++) {
        if (choice->help) {
            perftrace__strbuf_puts(out, ".RS\n.TP\n\\fB");
            append_string(out, choice->name);
            perftrace__strbuf_puts(out, "\\fR\n");
            append_string(out, choice->help);
            perftrace__strbuf_puts(out, ".\n.RE\n");
        }
    }
}

static void append_options(perftrace__strbuf_t *out, const pt_tool_t *tool) {
    perftrace__strbuf_puts(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < pt_option_total(tool); i++) {
        const pt_option_t *option = pt_option_at(tool, i);
        if (option->kind == PT_OPTION_KIND_HEADING) {
            perftrace__strbuf_puts(out, ".SS ");
            append_string(out, option->help);
            perftrace__strbuf_putc(out, '\n');
        } else if (pt_option_is_shown(option)) {
            append_option(out, option);
        }
    }
}

void pt_option_man(const pt_tool_t *tool, perftrace__strbuf_t *out) {
    /* No date: the same source gives the same page. */
    perftrace__strbuf_printf(out, ".TH \"%s\" 1 \"\" \"libperftrace %s\" \"User Commands\"\n",
                             tool->name, tool->version);
    perftrace__strbuf_puts(out, ".SH NAME\n");
    append_string(out, tool->name);
    perftrace__strbuf_puts(out, " \\- ");
    append_string(out, tool->purpose);
    perftrace__strbuf_puts(out, "\n.SH SYNOPSIS\n");
    for (size_t i = 0; tool->synopsis[i]; i++) {
        perftrace__strbuf_puts(out, i ? ".br\n\\fB" : "\\fB");
        append_string(out, tool->name);
        perftrace__strbuf_puts(out, "\\fR ");
        append_string(out, tool->synopsis[i]);
        perftrace__strbuf_putc(out, '\n');
    }
    if (tool->description && *tool->description) {
        perftrace__strbuf_puts(out, ".SH DESCRIPTION\n");
        append_paragraphs(out, tool->description);
    }
    append_options(out, tool);
    perftrace__strbuf_puts(out, ".SH EXIT STATUS\n");
    for (const pt_text_t *exit = pt_option_exits(tool); exit->title; exit++) {
        perftrace__strbuf_printf(out, ".TP\n\\fB%s\\fR\n", exit->title);
        append_string(out, exit->text);
        perftrace__strbuf_puts(out, ".\n");
    }
    for (const pt_text_t *example = tool->examples; example && example->title; example++) {
        perftrace__strbuf_puts(out,
                               example == tool->examples ? ".SH EXAMPLES\n.TP\n\\fB" : ".TP\n\\fB");
        append_string(out, example->title);
        perftrace__strbuf_puts(out, "\\fR\n");
        append_string(out, example->text);
        perftrace__strbuf_putc(out, '\n');
    }
    for (const pt_text_t *section = tool->sections; section && section->title; section++) {
        perftrace__strbuf_puts(out, ".SH ");
        append_string(out, section->title);
        perftrace__strbuf_putc(out, '\n');
        append_paragraphs(out, section->text);
    }
    if (tool->see_also) {
        perftrace__strbuf_puts(out, ".SH SEE ALSO\n");
        append_string(out, tool->see_also);
        perftrace__strbuf_putc(out, '\n');
    }
}
