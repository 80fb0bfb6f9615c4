/* host_nest.h: which scopes of the host hold each other. SPDX-License-Identifier: MIT
 *
 * A scope is held by those of its track that have begun and not ended when it begins; of those that
 * begin at the same time the longer one holds the others, whatever their order in the file. Some
 * scopes are chosen; the others are looked through. Pure but for memory. */
#ifndef PERFTRACE_ANALYZE_HOST_NEST_H
#define PERFTRACE_ANALYZE_HOST_NEST_H
#include "rank_view.h"

/* Both by row, for rows of the host only. */
typedef struct pt_host_nest {
    uint32_t *inner; /* the innermost chosen row that holds it, or PT_NO_ROW */
    uint32_t *outer; /* the outermost one, itself if it is chosen and none holds it, or PT_NO_ROW */
} pt_host_nest_t;

/* chooses: whether a row of the host is chosen. False without memory. Free in every case. */
bool pt_host_nest_make(pt_host_nest_t *nest, const pt_rank_view_t *view,
                       bool (*chooses)(const void *ctx, const pt_row_t *row), const void *ctx);
void pt_host_nest_free(pt_host_nest_t *nest);

#endif
