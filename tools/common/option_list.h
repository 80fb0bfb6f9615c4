/* option_list.h: a tool's own options and those every tool has. SPDX-License-Identifier: MIT
 *
 * Below option_*.c only. Pure. */
#ifndef PERFTRACE_COMMON_OPTION_LIST_H
#define PERFTRACE_COMMON_OPTION_LIST_H

#include "option.h"

typedef enum pt_builtin {
    PT_BUILTIN_NONE, /* one of the tool's own */
    PT_BUILTIN_QUIET,
    PT_BUILTIN_VERBOSE,
    PT_BUILTIN_HELP,
    PT_BUILTIN_VERSION,
    PT_BUILTIN_COMPLETION,
    PT_BUILTIN_HELP_MAN
} pt_builtin_t;

/* All entries, headings included: the tool's, then the common ones. */
size_t pt_option_total(const pt_tool_t *tool);
const pt_option_t *pt_option_at(const pt_tool_t *tool, size_t index);
/* Which common option the entry is. */
pt_builtin_t pt_option_builtin(const pt_tool_t *tool, size_t index);

/* The exit statuses to be explained; ends with a NULL title. */
const pt_text_t *pt_option_exits(const pt_tool_t *tool);

/* True for an entry that help, man page and completion show. */
bool pt_option_is_shown(const pt_option_t *option);
/* True when the option may be given several times with each counting. */
bool pt_option_repeats(const pt_option_t *option);
/* True when each choice has a text of its own, so that a list of bare names says nothing more. */
bool pt_option_explains_choices(const pt_option_t *option);
/* Appends "auto, always, never". */
void pt_option_append_choices(perftrace__strbuf_t *out, const pt_choice_t *choices,
                              const char *separator);

#endif
