/* run_environ.h: a worker's environment, and the programs that are found by it.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_RUN_ENVIRON_H
#define PERFTRACE_TOOL_RUN_ENVIRON_H

#include "run_settings.h"
#include "strbuf.h"

/* "NAME=value" texts, NULL at the end: what is inherited (NULL: nothing) without the variables
 * named in `unset` (a NULL-ended list, may be NULL), then what is set, which wins. malloc'ed as one
 * block; NULL without memory. Pure. */
char **pt_environ_make(char *const *inherited, const char *const *unset, const pt_settings_t *set);

/* Appends the path of a program as a shell would find it. 0, or what a shell's status would be: 127
 * when there is none, 126 when it cannot be executed. */
int pt_environ_find_program(const char *name, const char *search_path, perftrace__strbuf_t *out);

#endif
