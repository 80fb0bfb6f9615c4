/* option_completion.c: shell completions from the table. SPDX-License-Identifier: MIT */
#include "option.h"

#include "option_list.h"

#include <string.h>

/* What follows an option: nothing, a word of a list, or a file (also where any text would do: a
 * file name is the only thing a shell could know). */
static bool takes_file(const pt_option_t *option) {
    return option->arg && option->kind != PT_OPTION_KIND_ENUM &&
           (strstr(option->arg, "FILE") || strstr(option->arg, "DIR"));
}

static const pt_option_t *next_option(const pt_tool_t *tool, size_t *at) {
    while (*at < pt_option_total(tool)) {
        const pt_option_t *option = pt_option_at(tool, (*at)++);
        if (option->kind != PT_OPTION_KIND_HEADING && pt_option_is_shown(option)) {
            return option;
        }
    }
    return NULL;
}

/* A shell function's name made of the tool's. */
static void append_identifier(perftrace__strbuf_t *out, const char *name) {
    for (; *name; name++) {
        perftrace__strbuf_putc(out, *name == '-' ? '_' : *name);
    }
}

/* The text in single quotes; `also` is put behind a backslash as well. */
static void append_quoted(perftrace__strbuf_t *out, const char *text, const char *also) {
    for (; *text; text++) {
        if (*text == '\'') {
            perftrace__strbuf_puts(out, "'\\''");
        } else {
            perftrace__strbuf_puts(out, strchr(also, *text) ? "\\" : "");
            perftrace__strbuf_putc(out, *text);
        }
    }
}

static void append_bash(perftrace__strbuf_t *out, const pt_tool_t *tool) {
    perftrace__strbuf_printf(out, "# bash completion for %s\n_", tool->name);
    append_identifier(out, tool->name);
    perftrace__strbuf_puts(out, "() {\n"
                                "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                                "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                                "    if [[ $word == = ]]; then\n"
                                "        word=\n"
                                "    elif [[ $before == = ]]; then\n"
                                "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                                "    fi\n"
                                "    case $before in\n");
    size_t at = 0;
    for (const pt_option_t *option; (option = next_option(tool, &at));) {
        if (!option->arg) {
            continue;
        }
        perftrace__strbuf_puts(out, "    ");
        if (option->short_name) {
            perftrace__strbuf_printf(out, "-%c|", option->short_name);
        }
        perftrace__strbuf_printf(out, "--%s) ", option->long_name);
        if (option->kind == PT_OPTION_KIND_ENUM) {
            perftrace__strbuf_puts(out, "COMPREPLY=($(compgen -W '");
            pt_option_append_choices(out, option->choices, " ");
            perftrace__strbuf_puts(out, "' -- \"$word\")); return ;;\n");
        } else if (takes_file(option)) {
            perftrace__strbuf_puts(out, "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n");
        } else {
            perftrace__strbuf_puts(out, "COMPREPLY=(); return ;;\n");
        }
    }
    perftrace__strbuf_puts(out, "    esac\n    if [[ $word == -* ]]; then\n"
                                "        COMPREPLY=($(compgen -W '");
    at = 0;
    for (const pt_option_t *option; (option = next_option(tool, &at));) {
        perftrace__strbuf_printf(out, "--%s ", option->long_name);
    }
    perftrace__strbuf_puts(out, "' -- \"$word\"))\n    else\n");
    if (tool->operand_glob) {
        perftrace__strbuf_puts(out, "        COMPREPLY=($(compgen -d -S / -- \"$word\")"
                                    " $(compgen -f -X '!");
        append_quoted(out, tool->operand_glob, "");
        perftrace__strbuf_puts(out, "' -- \"$word\"))\n");
    } else {
        perftrace__strbuf_puts(out, "        COMPREPLY=($(compgen -f -- \"$word\"))\n");
    }
    perftrace__strbuf_puts(out, "    fi\n}\ncomplete -o filenames -F _");
    append_identifier(out, tool->name);
    perftrace__strbuf_printf(out, " %s\n", tool->name);
}

static void append_zsh_spec(perftrace__strbuf_t *out, const pt_option_t *option, const char *name,
                            const char *joint) {
    perftrace__strbuf_printf(out, "    '%s%s%s[", pt_option_repeats(option) ? "*" : "", name,
                             option->arg ? joint : "");
    append_quoted(out, option->help, "[]:\\");
    perftrace__strbuf_putc(out, ']');
    if (option->arg) {
        perftrace__strbuf_puts(out, ":");
        append_quoted(out, option->arg, ":\\");
        perftrace__strbuf_puts(out, ":");
        if (option->kind == PT_OPTION_KIND_ENUM) {
            perftrace__strbuf_putc(out, '(');
            pt_option_append_choices(out, option->choices, " ");
            perftrace__strbuf_putc(out, ')');
        } else if (takes_file(option)) {
            perftrace__strbuf_puts(out, "_files");
        }
    }
    perftrace__strbuf_puts(out, "' \\\n");
}

static void append_zsh(perftrace__strbuf_t *out, const pt_tool_t *tool) {
    perftrace__strbuf_printf(out, "#compdef %s\n_arguments -s -S \\\n", tool->name);
    size_t at = 0;
    for (const pt_option_t *option; (option = next_option(tool, &at));) {
        perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(&name, "--%s", option->long_name);
        append_zsh_spec(out, option, perftrace__strbuf_cstr(&name), "=");
        perftrace__strbuf_free(&name);
        if (option->short_name) {
            const char written[] = {'-', option->short_name, '\0'};
            append_zsh_spec(out, option, written, "+");
        }
    }
    perftrace__strbuf_puts(out, "    '*:input:_files");
    if (tool->operand_glob) {
        perftrace__strbuf_puts(out, " -g \"");
        append_quoted(out, tool->operand_glob, "\"\\");
        perftrace__strbuf_puts(out, "\"");
    }
    perftrace__strbuf_puts(out, "'\n");
}

static void append_fish(perftrace__strbuf_t *out, const pt_tool_t *tool) {
    size_t at = 0;
    for (const pt_option_t *option; (option = next_option(tool, &at));) {
        perftrace__strbuf_printf(out, "complete -c %s", tool->name);
        if (option->short_name) {
            perftrace__strbuf_printf(out, " -s %c", option->short_name);
        }
        perftrace__strbuf_printf(out, " -l %s", option->long_name);
        if (option->kind == PT_OPTION_KIND_ENUM) {
            perftrace__strbuf_puts(out, " -x -a '");
            pt_option_append_choices(out, option->choices, " ");
            perftrace__strbuf_putc(out, '\'');
        } else if (option->arg) {
            perftrace__strbuf_puts(out, takes_file(option) ? " -r -F" : " -x");
        }
        perftrace__strbuf_puts(out, " -d '");
        for (const char *c = option->help; *c; c++) { /* fish escapes a quote inside quotes */
            perftrace__strbuf_puts(out, *c == '\'' || *c == '\\' ? "\\" : "");
            perftrace__strbuf_putc(out, *c);
        }
        perftrace__strbuf_puts(out, "'\n");
    }
}

bool pt_option_completion(const pt_tool_t *tool, const char *shell, perftrace__strbuf_t *out) {
    static const struct {
        const char *name;
        void (*append)(perftrace__strbuf_t *out, const pt_tool_t *tool);
    } shells[] = {{"bash", append_bash}, {"zsh", append_zsh}, {"fish", append_fish}};
    for (size_t i = 0; i < PT_ARRAY_LEN(shells); i++) {
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].append(out, tool);
            return true;
        }
    }
    return false;
}
