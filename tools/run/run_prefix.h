/* run_prefix.h: output of several workers told apart line by line. SPDX-License-Identifier: MIT
 *
 * Pure; not thread-safe. */
#ifndef PERFTRACE_TOOL_RUN_PREFIX_H
#define PERFTRACE_TOOL_RUN_PREFIX_H

#include "strbuf.h"

#define PT_PREFIX_LINE_MAX (256U * 1024U) /* a longer line is parted */

typedef struct pt_prefix {
    char text[64];               /* "[rank 3] " */
    perftrace__strbuf_t partial; /* a line whose end has not come yet */
} pt_prefix_t;

/* Appends to out what data[0..len) completes, each line behind the prefix. */
void pt_prefix_feed(pt_prefix_t *prefix, const char *data, size_t len, perftrace__strbuf_t *out);
/* The same for what is left at the end, ended as a line. */
void pt_prefix_end(pt_prefix_t *prefix, perftrace__strbuf_t *out);
void pt_prefix_free(pt_prefix_t *prefix);

#endif
