/* session_bootstrap.c: how far figures would differ in another run. SPDX-License-Identifier: MIT */
#include "session_bootstrap.h"

#include "ordered.h"
#include "session_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPLICATES 2000U
#define MIN_REPLICATES 400U
#define STEPS          UINT64_C(2000000000) /* values that are looked at in all replicates together */

static const double quantile[PT_BOOT_FIGURES] = {(double)NAN, 0.5, 0.9, 0.99};

static int by_value(const void *a, const void *b) {
    const pt_boot_value_t *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

void pt_boot_sort(pt_boot_list_t *list) {
    qsort(list->item, list->n, sizeof *list->item, by_value);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* How often each cluster is drawn: of as many draws as clusters, so rarely as much as a dozen
 * times.
 */
static void draw(uint16_t *weight, uint32_t clusters, uint64_t seed) {
    uint64_t state = seed;
    memset(weight, 0, clusters * sizeof *weight);
    for (uint32_t i = 0; i < clusters; i++) {
        uint16_t *w = &weight[(next_random(&state) >> 32) * clusters >> 32];
        *w = (uint16_t)(*w + (*w < UINT16_MAX));
    }
}

PT_ALWAYS_INLINE uint32_t weight_of(const uint16_t *weight, const pt_boot_value_t *item) {
    return weight != NULL ? weight[item->cluster] : 1;
}

#define PLACES 6U /* two for each quantile: its neighbours */

/* The places of the quantiles' neighbours among `total` values, ascending; slot[] says whose. */
static void find_places(uint64_t total, uint64_t *place, unsigned *slot) {
    for (unsigned i = 0; i < PLACES; i++) {
        double at = quantile[PT_BOOT_P50 + i / 2] * (double)(total - 1);
        uint64_t v = PT_MIN((uint64_t)at + i % 2, total - 1);
        unsigned j = i;
        for (; j > 0 && place[j - 1] > v; j--) {
            place[j] = place[j - 1];
            slot[j] = slot[j - 1];
        }
        place[j] = v;
        slot[j] = i;
    }
}

#define BLOCK 4096U /* values whose weights are summed up together */

/* The values at the places, which are ascending. block[] holds the sum of weights of each block. */
static void find_values(const pt_boot_list_t *list, const uint16_t *weight, const uint32_t *block,
                        const uint64_t *place, const unsigned *slot, double *found) {
    uint64_t passed = 0;
    unsigned next = 0;
    for (size_t b = 0; next < PLACES; b++) {
        uint64_t at = passed;
        passed += block[b];
        for (size_t i = b * BLOCK; next < PLACES && place[next] < passed; i++) {
            at += weight_of(weight, &list->item[i]);
            for (; next < PLACES && place[next] < at; next++) {
                found[slot[next]] = list->item[i].value;
            }
        }
    }
}

/* The figures of a list in which each value stands as often as its cluster was drawn (once when
 * weight is NULL). block: room for a number for each BLOCK of values, and one more. */
static void weigh(const pt_boot_list_t *list, const uint16_t *weight, uint32_t *block,
                  double *figure) {
    uint64_t total = 0, place[PLACES];
    double sum = 0, found[PLACES];
    unsigned slot[PLACES];
    for (size_t first = 0; first < list->n; first += BLOCK) {
        uint32_t here = 0;
        for (size_t i = first; i < PT_MIN(first + BLOCK, list->n); i++) {
            uint32_t w = weight_of(weight, &list->item[i]);
            here += w;
            sum += w * list->item[i].value;
        }
        block[first / BLOCK] = here;
        total += here;
    }
    for (unsigned f = 0; f < PT_BOOT_FIGURES; f++) {
        figure[f] = (double)NAN;
    }
    if (total == 0) {
        return;
    }
    find_places(total, place, slot);
    find_values(list, weight, block, place, slot, found);
    figure[PT_BOOT_MEAN] = sum / (double)total;
    for (unsigned f = PT_BOOT_P50; f < PT_BOOT_FIGURES; f++) {
        double at = quantile[f] * (double)(total - 1);
        const double *pair = &found[2 * (f - PT_BOOT_P50)];
        figure[f] = pair[0] + (at - floor(at)) * (pair[1] - pair[0]);
    }
}

static uint32_t *new_blocks(size_t values) {
    return malloc((values / BLOCK + 2) * sizeof(uint32_t));
}

bool pt_boot_figures(const pt_boot_list_t *list, double figure[PT_BOOT_FIGURES]) {
    uint32_t *block = new_blocks(list->n);
    if (block != NULL) {
        weigh(list, NULL, block, figure);
    }
    free(block);
    return block != NULL;
}

static double share_of(const pt_boot_share_t *share, const uint16_t *weight, uint32_t clusters) {
    uint64_t part = 0, of = 0;
    for (uint32_t i = 0; i < clusters; i++) {
        part += (uint64_t)weight[i] * share->part[i];
        of += (uint64_t)weight[i] * share->of[i];
    }
    return of > 0 ? (double)part / (double)of : (double)NAN;
}

size_t pt_boot_replicates(size_t values) {
    uint64_t n = STEPS / (values + 1);
    return (size_t)PT_MAX(PT_MIN(n, (uint64_t)MAX_REPLICATES), (uint64_t)MIN_REPLICATES);
}

/* A task: some of the replicates. */
typedef struct part {
    const pt_boot_t *boot;
    double *ret;
    size_t first, end;
} part_t;

static int part_work(void *ctx, void *task, unsigned worker) {
    const part_t *p = task;
    const pt_boot_t *b = p->boot;
    size_t width = b->lists * PT_BOOT_FIGURES + b->shares;
    uint16_t *weight = malloc(((size_t)b->clusters + 1) * sizeof *weight);
    size_t longest = 0;
    for (size_t i = 0; i < b->lists; i++) {
        longest = PT_MAX(longest, b->list[i].n);
    }
    uint32_t *block = new_blocks(longest);
    (void)ctx;
    (void)worker;
    if (weight == NULL || block == NULL) {
        free(weight);
        free(block);
        return -1;
    }
    for (size_t r = p->first; r < p->end; r++) {
        double *figure = p->ret + r * width;
        draw(weight, b->clusters, b->seed + r * 0xD1342543DE82EF95u);
        for (size_t i = 0; i < b->lists; i++) {
            weigh(&b->list[i], weight, block, figure + i * PT_BOOT_FIGURES);
        }
        for (size_t i = 0; i < b->shares; i++) {
            figure[b->lists * PT_BOOT_FIGURES + i] = share_of(&b->share[i], weight, b->clusters);
        }
    }
    free(weight);
    free(block);
    return 0;
}

bool pt_boot_run(const pt_boot_t *boot, size_t replicates, unsigned threads, double *ret) {
    size_t parts = PT_MIN(replicates, (size_t)64);
    part_t *part = calloc(parts + 1, sizeof *part);
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0, .work = part_work};
    pt_ordered_t *pipe = part != NULL ? pt_ordered_new(&how) : NULL;
    int status = pipe != NULL ? 0 : -1;
    for (size_t i = 0; i < parts && status == 0; i++) {
        part[i].boot = boot;
        part[i].ret = ret;
        part[i].first = replicates * i / parts;
        part[i].end = replicates * (i + 1) / parts;
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &part[i]);
    }
    if (pipe != NULL) {
        int end = pt_ordered_finish(pipe);
        status = status != 0 ? status : end;
        pt_ordered_free(pipe);
    }
    free(part);
    return status == 0;
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void pt_boot_interval(double *value, size_t n, double confidence, double *ret_low,
                      double *ret_high) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(value[i])) {
            value[kept++] = value[i];
        }
    }
    *ret_low = *ret_high = (double)NAN;
    if (kept * 2 < n || kept == 0) {
        return;
    }
    qsort(value, kept, sizeof *value, by_number);
    double tail = (1 - confidence / 100) / 2;
    *ret_low = pt_quantile(value, kept, tail);
    *ret_high = pt_quantile(value, kept, 1 - tail);
}
