/* forward_key.h: which run and process a file is of (pure). SPDX-License-Identifier: MIT
 *
 * Out of the first line of a trace, or of a sessions file. The texts are cut as the library cuts
 * them, so that a file that a process began to forward is known again. */
#ifndef PERFTRACE_TOOL_FORWARD_KEY_H
#define PERFTRACE_TOOL_FORWARD_KEY_H

#include "stream_message.h"

#include <stddef.h>

typedef struct pt_forward_key {
    perftrace__stream_key_t key; /* all but .name; .run "": the line does not tell */
    uint64_t begin_ns;           /* of the process, or of the first session; since the epoch; 0:
                                    unknown */
} pt_forward_key_t;

/* Reads a first line, its '\n' included. False: it is of neither kind; *ret_problem (static
 * storage) says why. */
bool pt_forward_key_read(const char *line, size_t len, pt_forward_key_t *ret,
                         const char **ret_problem);

/* Takes rank and world size from a later header line, which tells what became known (
 * perftrace_set_rank). False: it is none. */
bool pt_forward_key_update(const char *line, size_t len, pt_forward_key_t *key);

/* What a sessions file takes over from the trace of its process. */
void pt_forward_key_join(pt_forward_key_t *sessions, const pt_forward_key_t *trace);

#endif
