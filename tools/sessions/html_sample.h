/* html_sample.h: which of many points a chart shows. SPDX-License-Identifier: MIT
 *
 * Of at most `most` points all are kept. Of more, those above `high` are kept while they are at
 * most half of `most`, and the others are thinned out; where there are more above `high`, they are
 * thinned out on their own. Thinning keeps, for a quarter of the points that may stay, one in each
 * cell of a grid over x and y, for each group, as fine as that allows, so that what is rare stays;
 * the rest is an even share of the others, so that it still shows where there are many. Pure but
 * for memory. */
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
