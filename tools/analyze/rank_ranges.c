/* rank_ranges.c: hardware counters of kernels, and the operators that launched these.
 * SPDX-License-Identifier: MIT
 *
 * torch writes a range for each kernel that CUPTI measured, in the order in which they were
 * launched and without a correlation: the nth range is of the nth launch. Where there are not as
 * many of both, nothing tells which belongs to which, and no operator is named. */
#include "grow.h"
#include "host_nest.h"

#include <math.h>
#include <stdlib.h>

#define STACK_MOST 64U /* operators of a stack that are named, the innermost of them */

typedef struct reading {
    int64_t op, top, stack; /* texts of the result; 0: not known */
    uint32_t kernel, series;
    int64_t count;
    double min, max, sum;
} reading_t;

typedef struct readings {
    const pt_rank_view_t *v;
    pt_rank_result_t *r;
    uint32_t *range; /* in store->range, by their start */
    size_t ranges;
    uint32_t *launch; /* rows, by their start */
    size_t launches;
    reading_t *reading;
    size_t count, cap;
    perftrace__hashmap_t map;
    perftrace__strbuf_t text; /* scratch */
} readings_t;

static bool is_operator(const void *ctx, const pt_row_t *row) {
    (void)ctx;
    return row->kind == PT_ROW_CPU_OP;
}

static bool find_ranges(readings_t *l) {
    const pt_rank_store_t *s = l->v->store;
    int64_t *key = malloc((s->ranges + 1) * sizeof *key);
    l->range = malloc((s->ranges + 1) * sizeof *l->range);
    bool ok = key != NULL && l->range != NULL;
    for (size_t i = 0; ok && i < s->ranges; i++) {
        const pt_row_t *row = &s->row[s->range[i].row];
        key[i] = row->ts;
        if (pt_rank_view_has(l->v, row)) {
            l->range[l->ranges++] = (uint32_t)i;
        }
    }
    ok = ok && pt_order_by_key(key, l->range, l->ranges);
    free(key);
    return ok;
}

static bool find_launches(readings_t *l) {
    const pt_rank_view_t *v = l->v;
    l->launch = calloc(v->hosts + 1, sizeof *l->launch);
    for (size_t i = 0; l->launch != NULL && i < v->hosts; i++) {
        if ((pt_view_does(v, &v->store->row[v->host[i]]) & PT_CALL_KERNEL) != 0) {
            l->launch[l->launches++] = v->host[i];
        }
    }
    return l->launch != NULL;
}

/* The operators that hold a call as texts: the innermost, the outermost, all of them. */
static void name_stack(readings_t *l, const pt_host_nest_t *nest, uint32_t call, reading_t *ret) {
    const pt_rank_store_t *s = l->v->store;
    uint32_t op[STACK_MOST];
    size_t depth = 0;
    for (uint32_t at = nest->inner[call]; at != PT_NO_ROW && depth < STACK_MOST;
         at = nest->inner[at]) {
        op[depth++] = at;
    }
    if (depth == 0) {
        return;
    }
    perftrace__strbuf_clear(&l->text);
    for (size_t i = depth; i > 0; i--) {
        pt_str_t name = pt_names_get(&s->names, s->row[op[i - 1]].name);
        perftrace__strbuf_puts(&l->text, i < depth ? " > " : "");
        perftrace__strbuf_append(&l->text, name.p, name.len);
    }
    ret->op = pt_rank_view_text(l->v, l->r, s->row[op[0]].name);
    ret->top = pt_rank_view_text(l->v, l->r, s->row[nest->outer[call]].name);
    ret->stack = pt_result_text(l->r, (pt_str_t){perftrace__strbuf_cstr(&l->text), l->text.len});
}

static bool add(readings_t *l, const reading_t *of, double value) {
    bool is_new = false;
    const uint64_t key[] = {(uint64_t)of->stack, (uint64_t)of->top,
                            (uint64_t)of->kernel << 32 | of->series};
    const uint64_t *slot = perftrace__hashmap_put(&l->map, key, sizeof key, l->count, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(l, reading, count, cap, 1))) {
        return false;
    }
    if (is_new) {
        l->reading[l->count] = *of;
        l->reading[l->count].min = l->reading[l->count].max = value;
        l->count++;
    }
    reading_t *a = &l->reading[*slot];
    a->count++;
    a->sum += value;
    a->min = fmin(a->min, value);
    a->max = fmax(a->max, value);
    return true;
}

static bool collect(readings_t *l, const pt_host_nest_t *nest) {
    const pt_rank_store_t *s = l->v->store;
    bool ok = true;
    for (size_t i = 0; ok && i < l->ranges; i++) {
        const pt_store_range_t *range = &s->range[l->range[i]];
        reading_t of = {.kernel = s->row[range->row].name};
        if (l->ranges == l->launches) {
            name_stack(l, nest, l->launch[i], &of);
        }
        for (size_t p = 0; ok && p < range->points; p++) {
            const pt_store_point_t *point = &s->point[range->first_point + p];
            of.series = point->series;
            ok = add(l, &of, point->value);
        }
    }
    return ok && !l->text.failed;
}

static void put(const readings_t *l) {
    const pt_rank_store_t *s = l->v->store;
    for (size_t i = 0; i < l->count; i++) {
        const reading_t *a = &l->reading[i];
        pt_result_row(l->r, PT_RT_operator_counters,
                      (const int64_t[]){a->op, a->top, a->stack,
                                        pt_rank_view_text(l->v, l->r, a->kernel),
                                        pt_rank_view_text(l->v, l->r, s->series[a->series].name),
                                        a->count, pt_cell_of_double(a->min),
                                        pt_cell_of_double(a->max), pt_cell_of_double(a->sum)});
    }
}

bool pt_rank_ranges(const pt_rank_view_t *v, pt_rank_result_t *r) {
    readings_t l = {.v = v, .r = r, .text = PERFTRACE__STRBUF_INIT};
    pt_host_nest_t nest = {NULL, NULL};
    bool ok = find_ranges(&l);
    if (ok && l.ranges > 0) {
        ok = find_launches(&l) && pt_host_nest_make(&nest, v, is_operator, NULL) &&
             collect(&l, &nest);
        put(&l);
        r->fact[PT_FACT_ranges] = (int64_t)l.ranges;
        r->fact[PT_FACT_range_launches] = (int64_t)l.launches;
    }
    free(l.range);
    free(l.launch);
    free(l.reading);
    perftrace__hashmap_free(&l.map);
    perftrace__strbuf_free(&l.text);
    pt_host_nest_free(&nest);
    return ok && !r->failed;
}
