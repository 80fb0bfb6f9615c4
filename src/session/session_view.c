/* session_view.c. SPDX-License-Identifier: MIT */
#include "session_view.h"

#include <stdlib.h>

#define FEW 24 /* spans that are sorted by insertion: they come nearly in order */

typedef perftrace__span_view_t view_t;

/* Copies a list, last one first as it is, to the places before `end`. */
static view_t *copy_list(const perftrace__cells_t *cells, uint32_t list, view_t *end) {
    while (list) {
        const perftrace__span_t *s = perftrace__cells_span(cells, list);
        *--end = (view_t){s->start, s->end, s->start_text, s->end_text, s->phase, 0};
        list = s->next;
    }
    return end;
}

static bool is_before(const view_t *a, const view_t *b) {
    if (a->phase != b->phase) {
        return a->phase < b->phase;
    }
    if (a->start != b->start) {
        return a->start < b->start;
    }
    if (a->end != b->end) {
        return a->end < b->end;
    }
    return a->seq < b->seq;
}

static int compare(const void *a, const void *b) {
    return is_before(a, b) ? -1 : is_before(b, a);
}

static void sort(view_t *v, uint32_t n) {
    if (n > FEW) {
        for (uint32_t i = 0; i < n; i++) {
            v[i].seq = i;
        }
        qsort(v, n, sizeof(*v), compare);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        view_t one = v[i];
        uint32_t at = i;
        for (; at > 0 && is_before(&one, &v[at - 1]); at--) {
            v[at] = v[at - 1];
        }
        v[at] = one;
    }
}

void perftrace__spans_view(const perftrace__cells_t *cells,
                           const perftrace__session_names_t *phases, const perftrace__live_t *live,
                           perftrace__span_view_t *out) {
    uint32_t n = live->nspans;
    view_t *at = copy_list(cells, live->open, out + n);
    at = copy_list(cells, live->made_up, at);
    copy_list(cells, live->closed, at);
    sort(out, n);
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (out[i].phase == out[i + 1].phase && phases->items[out[i].phase].single) {
            out[i].end = PT_MIN(out[i].end, out[i + 1].start);
        }
    }
}
