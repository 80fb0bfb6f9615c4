/* span_list.c: stretches of time, and how much they cover together. SPDX-License-Identifier: MIT */
#include "span_list.h"

#include "grow.h"

#include <string.h>

bool pt_spans_add(pt_span_list_t *l, int64_t from, int64_t to) {
    if (to <= from) {
        return true;
    }
    if (l->count > 0 && from <= l->span[l->count - 1].to) {
        l->span[l->count - 1].to = PT_MAX(l->span[l->count - 1].to, to);
        return true;
    }
    if (!PT_GROW(l, span, count, cap, 1)) {
        return false;
    }
    l->span[l->count++] = (pt_span_t){from, to};
    return true;
}

int64_t pt_spans_total(const pt_span_list_t *l) {
    int64_t sum = 0;
    for (size_t i = 0; i < l->count; i++) {
        sum += l->span[i].to - l->span[i].from;
    }
    return sum;
}

/* The first span that ends behind a time. */
static size_t first_behind(const pt_span_list_t *l, int64_t time) {
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        low = l->span[mid].to <= time ? mid + 1 : low;
        high = l->span[mid].to <= time ? high : mid;
    }
    return low;
}

int64_t pt_spans_within(const pt_span_list_t *l, int64_t from, int64_t to) {
    int64_t sum = 0;
    for (size_t i = first_behind(l, from); i < l->count && l->span[i].from < to; i++) {
        sum += PT_MIN(l->span[i].to, to) - PT_MAX(l->span[i].from, from);
    }
    return sum;
}

int64_t pt_spans_overlap(const pt_span_list_t *a, const pt_span_list_t *b) {
    int64_t sum = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int64_t from = PT_MAX(a->span[i].from, b->span[j].from);
        int64_t to = PT_MIN(a->span[i].to, b->span[j].to);
        sum += to > from ? to - from : 0;
        if (a->span[i].to < b->span[j].to) {
            i++;
        } else {
            j++;
        }
    }
    return sum;
}

void pt_spans_free(pt_span_list_t *l) {
    if (l != NULL) {
        free(l->span);
        *l = (pt_span_list_t){NULL, 0, 0};
    }
}

#define DIGIT_BITS 11U
#define DIGITS     (1U << DIGIT_BITS)

bool pt_order_by_key(const int64_t *key, uint32_t *order, size_t count) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        int64_t k = key[order[i]];
        sorted &= k >= high;
        low = PT_MIN(low, k);
        high = PT_MAX(high, k);
    }
    if (sorted) {
        return true;
    }
    uint32_t *other = malloc(count * sizeof *other), *from = order, *to = other;
    if (other == NULL) {
        return false;
    }
    uint64_t range = (uint64_t)high - (uint64_t)low;
    for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += DIGIT_BITS) {
        size_t at[DIGITS] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++) {
            at[((uint64_t)key[from[i]] - (uint64_t)low) >> shift & (DIGITS - 1)]++;
        }
        for (unsigned d = 0; d < DIGITS; d++) {
            size_t n = at[d];
            at[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++) {
            to[at[((uint64_t)key[from[i]] - (uint64_t)low) >> shift & (DIGITS - 1)]++] = from[i];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) {
        memcpy(order, from, count * sizeof *order);
    }
    free(other);
    return true;
}
