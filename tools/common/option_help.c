/* option_help.c: --help from the table. SPDX-License-Identifier: MIT */
#include "option.h"

#include "option_list.h"
#include "text_wrap.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 28 /* where the explanations stand */

static void append_name(perftrace__strbuf_t *out, const pt_option_t *option) {
    if (option->short_name) {
        perftrace__strbuf_printf(out, "  -%c, ", option->short_name);
    } else {
        perftrace__strbuf_puts(out, "      ");
    }
    bool negatable = option->kind == PT_OPTION_KIND_FLAG;
    perftrace__strbuf_printf(out, "--%s%s", negatable ? "[no-]" : "", option->long_name);
    if (option->arg) {
        perftrace__strbuf_printf(out, "=%s", option->arg);
    }
}

static void append_option(perftrace__strbuf_t *out, const pt_option_t *option, unsigned width) {
    size_t start = out->len;
    append_name(out, option);
    unsigned column = pt_text_columns(out->data ? out->data + start : "", out->len - start);
    if (column + 2 > HELP_COLUMN) {
        perftrace__strbuf_putc(out, '\n');
        column = 0;
    }
    perftrace__strbuf_t help = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&help, option->help);
    if (!pt_option_explains_choices(option)) {
        perftrace__strbuf_puts(&help, ": ");
        pt_option_append_choices(&help, option->choices, ", ");
    }
    if (pt_option_repeats(option)) {
        perftrace__strbuf_puts(&help, option->kind == PT_OPTION_KIND_LIST
                                          ? " (several, with commas or repeated)"
                                          : " (may be repeated)");
    }
    pt_text_wrap(out, perftrace__strbuf_cstr(&help), width, column, HELP_COLUMN);
    out->failed |= help.failed;
    perftrace__strbuf_free(&help);
    for (const pt_choice_t *choice = option->choices; choice && choice->name; choice++) {
        if (!choice->help) {
            continue;
        }
        perftrace__strbuf_printf(out, "%*s%-10s ", HELP_COLUMN + 2, "", choice->name);
        unsigned at = HELP_COLUMN + 3 + (unsigned)PT_MAX(strlen(choice->name), 10);
        pt_text_wrap(out, choice->help, width, at, HELP_COLUMN + 13);
    }
}

/* True when the group that begins at index has an option to show. */
static bool group_is_shown(const pt_tool_t *tool, size_t index) {
    for (size_t i = index + 1; i < pt_option_total(tool); i++) {
        const pt_option_t *option = pt_option_at(tool, i);
        if (option->kind == PT_OPTION_KIND_HEADING) {
            return false;
        }
        if (pt_option_is_shown(option)) {
            return true;
        }
    }
    return false;
}

static void append_exits(perftrace__strbuf_t *out, const pt_tool_t *tool, unsigned width) {
    perftrace__strbuf_puts(out, "\nExit status:\n");
    for (const pt_text_t *exit = pt_option_exits(tool); exit->title; exit++) {
        perftrace__strbuf_printf(out, "  %3s  ", exit->title);
        pt_text_wrap(out, exit->text, width, 7, 7);
    }
}

void pt_option_help(const pt_tool_t *tool, unsigned width, perftrace__strbuf_t *out) {
    for (size_t i = 0; tool->synopsis[i]; i++) {
        perftrace__strbuf_printf(out, "%s %s %s\n", i ? "   or:" : "Usage:", tool->name,
                                 tool->synopsis[i]);
    }
    perftrace__strbuf_printf(out, "\n%s: %s.\n", tool->name, tool->purpose);
    if (tool->description && *tool->description) {
        perftrace__strbuf_putc(out, '\n');
        pt_text_wrap(out, tool->description, width, 0, 0);
    }
    for (size_t i = 0; i < pt_option_total(tool); i++) {
        const pt_option_t *option = pt_option_at(tool, i);
        if (option->kind == PT_OPTION_KIND_HEADING) {
            if (group_is_shown(tool, i)) {
                perftrace__strbuf_printf(out, "\n%s:\n", option->help);
            }
        } else if (pt_option_is_shown(option)) {
            append_option(out, option, width);
        }
    }
    if (tool->examples) {
        perftrace__strbuf_puts(out, "\nExamples:\n");
        for (const pt_text_t *example = tool->examples; example->title; example++) {
            perftrace__strbuf_printf(out, "  %s\n", example->title);
            pt_text_wrap(out, example->text, width, 0, 6);
        }
    }
    append_exits(out, tool, width);
}
