/* option_list.c: a tool's own options and those every tool has. SPDX-License-Identifier: MIT */
#include "option_list.h"

/* Handled by option.c itself: they have no target. In the order of pt_builtin_t. */
static const pt_option_t builtins[] = {
    PT_OPTION_HEADING("General"),
    PT_OPTION_CALLBACK(NULL, 'q', "quiet", NULL, "print errors only"),
    PT_OPTION_CALLBACK(NULL, 'v', "verbose", NULL, "print details too"),
    PT_OPTION_CALLBACK(NULL, 'h', "help", NULL, "print this help and exit"),
    PT_OPTION_CALLBACK(NULL, 'V', "version", NULL, "print the version and exit"),
    PT_OPTION_CALLBACK(NULL, 0, "completion", "SHELL",
                       "print completion rules for bash, zsh or fish and exit"),
    {.kind = PT_OPTION_KIND_CALLBACK, .long_name = "help-man", .help = "", .hidden = true},
};

size_t pt_option_total(const pt_tool_t *tool) {
    return tool->option_count + PT_ARRAY_LEN(builtins);
}

const pt_option_t *pt_option_at(const pt_tool_t *tool, size_t index) {
    return index < tool->option_count ? &tool->options[index]
                                      : &builtins[index - tool->option_count];
}

pt_builtin_t pt_option_builtin(const pt_tool_t *tool, size_t index) {
    return index < tool->option_count ? PT_BUILTIN_NONE
                                      : (pt_builtin_t)(index - tool->option_count);
}

const pt_text_t *pt_option_exits(const pt_tool_t *tool) {
    static const pt_text_t exits[] = {
#define PT_I_EXIT_TEXT(name, value, text) {#value, text},
        PT_EXIT_LIST(PT_I_EXIT_TEXT)
#undef PT_I_EXIT_TEXT
            {NULL, NULL}};
    return tool->exits ? tool->exits : exits;
}

bool pt_option_is_shown(const pt_option_t *option) {
    return !option->hidden;
}

bool pt_option_repeats(const pt_option_t *option) {
    return option->kind == PT_OPTION_KIND_LIST ||
           (option->kind == PT_OPTION_KIND_CALLBACK && option->fn && !option->last_counts);
}

bool pt_option_explains_choices(const pt_option_t *option) {
    for (const pt_choice_t *choice = option->choices; choice && choice->name; choice++) {
        if (!choice->help) {
            return false;
        }
    }
    return true;
}

void pt_option_append_choices(perftrace__strbuf_t *out, const pt_choice_t *choices,
                              const char *separator) {
    for (const pt_choice_t *choice = choices; choice->name; choice++) {
        perftrace__strbuf_puts(out, choice == choices ? "" : separator);
        perftrace__strbuf_puts(out, choice->name);
    }
}
