/* session_view.c. SPDX-License-Identifier: MIT */
#include "session_view.h"

#include <stdlib.h>

#define FEW 24 /* spans that are sorted by insertion: they come nearly in order */

typedef perftrace__span_t span_t;

/* Puts the spans of a list, last one first as it is, in the places before `end`. */
static span_t **put_list(const perftrace__cells_t *cells, uint32_t list, span_t **end) {
    while (list) {
        span_t *s = perftrace__cells_span(cells, list);
        *--end = s;
        list = s->next;
    }
    return end;
}

static bool is_before(const span_t *a, const span_t *b) {
    if (a->phase != b->phase) {
        return a->phase < b->phase;
    }
    return a->start != b->start ? a->start < b->start : a->end < b->end;
}

static int compare(const void *a, const void *b) {
    const span_t *x = *(const span_t *const *)a;
    const span_t *y = *(const span_t *const *)b;
    return is_before(x, y) ? -1 : is_before(y, x);
}

static void sort(span_t **v, uint32_t n) {
    if (n > FEW) {
        qsort(v, n, sizeof(span_t *), compare);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        span_t *one = v[i];
        uint32_t at = i;
        for (; at > 0 && is_before(one, v[at - 1]); at--) {
            v[at] = v[at - 1];
        }
        v[at] = one;
    }
}

void perftrace__spans_view(const perftrace__cells_t *cells,
                           const perftrace__session_names_t *phases, const perftrace__live_t *live,
                           perftrace__span_t **out) {
    uint32_t n = live->nspans;
    span_t **at = put_list(cells, live->open, out + n);
    at = put_list(cells, live->made_up, at);
    put_list(cells, live->closed, at);
    sort(out, n);
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (out[i]->phase == out[i + 1]->phase && phases->items[out[i]->phase].single) {
            out[i]->end = PT_MIN(out[i]->end, out[i + 1]->start);
        }
    }
}
