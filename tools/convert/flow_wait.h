/* flow_wait.h: flow events that wait for the start of their chain. SPDX-License-Identifier: MIT
 *
 * A step or end that stands before its start in the file is kept, as the line that it becomes,
 * until the start comes. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_CONVERT_FLOW_WAIT_H
#define PERFTRACE_CONVERT_FLOW_WAIT_H
#include "strbuf.h"

#include <stdint.h>

/* Lines kept at once; past it the oldest is given up. */
#define PT_FLOW_WAIT_LIMIT 1024U

typedef struct pt_flow_wait {
    struct pt_flow_line {
        uint32_t number; /* of the chain */
        char ph;
        perftrace__strbuf_t text;
    } * line; /* a ring of PT_FLOW_WAIT_LIMIT; NULL until the first */
    unsigned first, count;
    uint64_t given_up;
} pt_flow_wait_t;

/* Keeps a line (copied). */
void pt_flow_wait_add(pt_flow_wait_t *wait, uint32_t number, char ph, const char *text, size_t len);
/* Appends the lines of a chain to out, counts them by their phase in count[128], and forgets them.
 */
void pt_flow_wait_take(pt_flow_wait_t *wait, uint32_t number, perftrace__strbuf_t *out,
                       uint64_t *count);
/* Forgets the rest, which counts as given up, and frees. */
void pt_flow_wait_finish(pt_flow_wait_t *wait);

#endif
