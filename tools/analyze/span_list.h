/* span_list.h: stretches of time, and how much they cover together. SPDX-License-Identifier: MIT
 *
 * A list is merged when its spans are in order and neither touch nor overlap. Pure. */
#ifndef PERFTRACE_ANALYZE_SPAN_LIST_H
#define PERFTRACE_ANALYZE_SPAN_LIST_H
#include "compiler.h"

#include <stdbool.h>

typedef struct pt_span {
    int64_t from, to; /* to is behind the span */
} pt_span_t;

typedef struct pt_span_list {
    pt_span_t *span;
    size_t count, cap;
} pt_span_list_t;

/* Adds a span that begins no earlier than the last one added; the list stays merged. Spans without
 * length are passed over. False without memory. */
bool pt_spans_add(pt_span_list_t *list, int64_t from, int64_t to);
/* What a merged list covers, and what it covers between two times. */
int64_t pt_spans_total(const pt_span_list_t *list);
int64_t pt_spans_within(const pt_span_list_t *list, int64_t from, int64_t to);
/* What two merged lists cover both. */
int64_t pt_spans_overlap(const pt_span_list_t *a, const pt_span_list_t *b);
void pt_spans_free(pt_span_list_t *list); /* accepts NULL; usable again */

/* Sorts order[0..count) by key[order[i]], stably; false without memory. */
bool pt_order_by_key(const int64_t *key, uint32_t *order, size_t count);

#endif
