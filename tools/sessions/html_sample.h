/* html_sample.h: which of many points a chart shows. SPDX-License-Identifier: MIT
 *
 * Of at most `most` points all are kept. Of more: those above `high` while they are at most half of
 * `most`, and of the others one in each cell of a grid over x and y, for each group, as fine as
 * `most` allows; where there are more above `high`, they go through such a grid of their own. So
 * what is rare stays, and what lies on top of each other is shown once. Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_HTML_SAMPLE_H
#define PERFTRACE_SESSIONS_HTML_SAMPLE_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_html_point {
    double x, y;    /* finite */
    uint32_t group; /* rank */
    uint32_t row;   /* for the caller */
} pt_html_point_t;

/* Drops points, the kept ones stay in their order; returns how many are left, SIZE_MAX without
 * memory. high NAN: none lies above. */
size_t pt_html_sample(pt_html_point_t *point, size_t n, double high, size_t most);

#endif
