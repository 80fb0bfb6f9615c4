/* session_tally.c: figures of values that are not kept. SPDX-License-Identifier: MIT */
#include "session_tally.h"

#include "grow.h"

#include <math.h>

enum { P50, P90 = 2, P99 = 4, FIRST = 6, LAST, LIMIT, PLACES };

_Static_assert(PLACES <= PT_TALLY_WANTED, "a range for each place");

/* Places in the order of the values, for n > 0. */
static void find_places(const pt_tally_t *t, size_t *place) {
    (void)pt_quantile_places(t->n, 0.5, &place[P50]); /* the lower of the two in the middle, too */
    (void)pt_quantile_places(t->n, 0.9, &place[P90]);
    (void)pt_quantile_places(t->n, 0.99, &place[P99]);
    place[FIRST] = 0;
    place[LAST] = t->n - 1;
    place[LIMIT] = t->top > 0 && t->top < t->n ? t->n - t->top : 0;
}

bool pt_tally_add_block(pt_tally_t *t, unsigned octave) {
    if (!PT_GROW(t, block, blocks, block_cap, 1)) {
        t->failed = true;
        return false;
    }
    memset(&t->block[t->blocks], 0, sizeof *t->block);
    t->block_of[octave] = (uint16_t)++t->blocks;
    return true;
}

static void choose_in_block(pt_tally_t *t, pt_tally_block_t *block, const size_t *place,
                            size_t *before) {
    for (unsigned i = 0; i < PT_TALLY_PARTS; i++) {
        size_t count = block->count[i];
        bool wanted = false;
        for (unsigned p = 0; count > 0 && p < PLACES; p++) {
            wanted |= place[p] - *before < count; /* wraps around where it lies below */
        }
        if (wanted) {
            t->wanted[t->ranges++] = (pt_tally_range_t){*before, count, 0, NULL};
            block->wanted[i] = (uint8_t)t->ranges;
        }
        *before += count;
    }
}

bool pt_tally_choose(pt_tally_t *t, size_t top) {
    size_t place[PLACES], before = 0, values = 0, most = 0;
    t->top = top;
    if (t->n == 0) {
        return !t->failed;
    }
    find_places(t, place);
    for (unsigned octave = 0; octave < PT_TALLY_OCTAVES; octave++) {
        if (t->block_of[octave] != 0) {
            choose_in_block(t, &t->block[t->block_of[octave] - 1], place, &before);
        }
    }
    for (unsigned i = 0; i < t->ranges; i++) {
        values += t->wanted[i].count;
        most = PT_MAX(most, t->wanted[i].count);
    }
    t->kept = malloc((values + most) * sizeof *t->kept); /* sorting takes as much again */
    values = 0;
    for (unsigned i = 0; t->kept != NULL && i < t->ranges; i++) {
        t->wanted[i].value = t->kept + values;
        values += t->wanted[i].count;
    }
    return t->kept != NULL && !t->failed;
}

static double value_at(const pt_tally_t *t, size_t place) {
    unsigned i = 0;
    while (place - t->wanted[i].before >= t->wanted[i].count) {
        i++;
    }
    return t->wanted[i].value[place - t->wanted[i].before];
}

static double quantile(const pt_tally_t *t, double q) {
    size_t place[2];
    double part = pt_quantile_places(t->n, q, place);
    double low = value_at(t, place[0]), high = value_at(t, place[1]);
    return low + part * (high - low);
}

pt_summary_t pt_tally_summary(pt_tally_t *t, double *ret_limit) {
    if (t->n == 0) {
        *ret_limit = pt_top_limit(NULL, 0, t->top);
        return pt_summarise(NULL, 0);
    }
    const pt_tally_range_t *last = &t->wanted[t->ranges - 1];
    for (unsigned i = 0; i < t->ranges; i++) {
        pt_sort_doubles(t->wanted[i].value, t->wanted[i].count, last->value + last->count);
    }
    double sum = isfinite(t->sum) ? t->sum + t->lost : t->sum;
    *ret_limit =
        t->top > 0 && t->top < t->n ? value_at(t, t->n - t->top) : pt_top_limit(NULL, t->n, t->top);
    return (pt_summary_t){.n = t->n,
                          .sum = sum,
                          .mean = sum / (double)t->n,
                          .min = value_at(t, 0),
                          .max = value_at(t, t->n - 1),
                          .p50 = quantile(t, 0.5),
                          .p90 = quantile(t, 0.9),
                          .p99 = quantile(t, 0.99),
                          .median_low = value_at(t, (t->n - 1) / 2)};
}

void pt_tally_free(pt_tally_t *t) {
    free(t->block);
    free(t->kept);
    memset(t, 0, sizeof *t);
}
