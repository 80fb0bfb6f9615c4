/* report_sums.c: names of all ranks together, and the units of reports. SPDX-License-Identifier:
 * MIT
 */
#include "analyze_report.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pt_seconds(int64_t ns) {
    return ns == PT_NOT_RECORDED ? (double)NAN : (double)ns / 1e9;
}

double pt_share(int64_t part, int64_t whole) {
    return part == PT_NOT_RECORDED || whole == PT_NOT_RECORDED || whole == 0
               ? (double)NAN
               : (double)part / (double)whole;
}

void pt_report_text(pt_table_t *t, pt_str_t text) {
    if (text.len > 0) {
        pt_table_text(t, text.p, text.len);
    } else {
        pt_table_cstr(t, NULL);
    }
}

double pt_fact_seconds(const pt_rank_result_t *r, pt_fact_t fact) {
    return pt_seconds(r->fact[fact]);
}

int64_t pt_fact_between(const pt_rank_result_t *r, pt_fact_t from, pt_fact_t to) {
    int64_t a = r->fact[from], b = r->fact[to];
    return a == PT_NOT_RECORDED || b == PT_NOT_RECORDED ? PT_NOT_RECORDED : b - a;
}

double pt_fact_share(const pt_rank_result_t *r, pt_fact_t part, pt_fact_t whole) {
    return pt_share(r->fact[part], r->fact[whole]);
}

double pt_fact_utilisation(const pt_rank_result_t *r) {
    return pt_share(r->fact[PT_FACT_busy_ns],
                    pt_fact_between(r, PT_FACT_work_first_ns, PT_FACT_work_last_ns));
}

/* ---- sums ---- */

static pt_sum_row_t *find(pt_sums_t *l, perftrace__hashmap_t *map, perftrace__strbuf_t *key) {
    bool is_new = false;
    const uint64_t *slot =
        perftrace__hashmap_put(map, perftrace__strbuf_cstr(key), key->len, l->count, &is_new);
    if (key->failed || slot == NULL || (is_new && !PT_GROW(l, row, count, cap, 1))) {
        l->failed = true;
        return NULL;
    }
    if (is_new) {
        l->row[l->count++] = (pt_sum_row_t){.min = INT64_MAX,
                                            .max = INT64_MIN,
                                            .mean_low = (double)INFINITY,
                                            .mean_high = (double)-INFINITY,
                                            .rank_low = INT64_MAX,
                                            .rank_high = INT64_MIN};
    }
    return &l->row[*slot];
}

static void add(pt_sum_row_t *a, const pt_rank_result_t *r, const int64_t *cell) {
    a->name = pt_result_text_of(r, cell[0]);
    a->cat = pt_result_text_of(r, cell[1]);
    a->kind = cell[2];
    a->class = pt_result_text_of(r, cell[3]);
    a->group = cell[4];
    a->count += cell[5];
    a->total += cell[6];
    a->min = PT_MIN(a->min, cell[7]);
    a->max = PT_MAX(a->max, cell[8]);
}

int pt_sum_row_compare(const pt_sum_row_t *x, const pt_sum_row_t *y) {
    int order = pt_str_compare(x->name, y->name);
    order = order != 0 ? order : pt_str_compare(x->cat, y->cat);
    return order != 0 ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static int by_total(const void *a, const void *b) {
    const pt_sum_row_t *x = a, *y = b;
    if (x->total != y->total) {
        return (x->total < y->total) - (x->total > y->total);
    }
    return pt_sum_row_compare(x, y);
}

/* What one rank gives to a row, for the spread over the ranks. */
typedef struct share {
    int64_t count, total;
} share_t;

static void close_rank(pt_sums_t *l, share_t *share) {
    for (size_t i = 0; i < l->count; i++) {
        if (share[i].count > 0) {
            pt_sum_row_t *a = &l->row[i];
            double mean = (double)share[i].total / (double)share[i].count;
            a->ranks++;
            a->mean_low = fmin(a->mean_low, mean);
            a->mean_high = fmax(a->mean_high, mean);
            a->rank_low = PT_MIN(a->rank_low, share[i].total);
            a->rank_high = PT_MAX(a->rank_high, share[i].total);
        }
        share[i] = (share_t){0, 0};
    }
}

void pt_sums_make(const pt_results_t *l, pt_sum_key_t by, pt_row_kind_t from, pt_row_kind_t to,
                  pt_sums_t *ret) {
    perftrace__hashmap_t map = PERFTRACE__HASHMAP_INIT;
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    share_t *share = NULL;
    size_t shares = 0;
    *ret = (pt_sums_t){.row = NULL};
    for (size_t i = 0; i < l->count && !ret->failed; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t row = 0; row < pt_result_rows(r, PT_RT_names) && !ret->failed; row++) {
            const int64_t *cell = pt_result_at(r, PT_RT_names, row);
            if (cell[2] < (int64_t)from || cell[2] > (int64_t)to) {
                continue;
            }
            pt_str_t name = pt_result_text_of(r, by == PT_SUM_BY_NAME ? cell[0] : cell[3]);
            pt_str_t cat = by == PT_SUM_BY_NAME ? pt_result_text_of(r, cell[1]) : (pt_str_t){"", 0};
            perftrace__strbuf_clear(&key);
            perftrace__strbuf_append(&key, name.p, name.len);
            perftrace__strbuf_putc(&key, '\0');
            perftrace__strbuf_append(&key, cat.p, cat.len);
            perftrace__strbuf_putc(&key, (char)('0' + (by == PT_SUM_BY_NAME ? cell[2] : cell[4])));
            pt_sum_row_t *a = find(ret, &map, &key);
            if (a == NULL) {
                break;
            }
            if (ret->cap > shares) {
                share_t *more = realloc(share, ret->cap * sizeof *more);
                if (more == NULL) {
                    ret->failed = true;
                    break;
                }
                memset(more + shares, 0, (ret->cap - shares) * sizeof *more);
                share = more;
                shares = ret->cap;
            }
            add(a, r, cell);
            share[a - ret->row].count += cell[5];
            share[a - ret->row].total += cell[6];
        }
        if (share != NULL) {
            close_rank(ret, share);
        }
    }
    if (ret->count > 1) {
        qsort(ret->row, ret->count, sizeof *ret->row, by_total);
    }
    free(share);
    perftrace__strbuf_free(&key);
    perftrace__hashmap_free(&map);
}

void pt_sums_free(pt_sums_t *l) {
    free(l->row);
    *l = (pt_sums_t){.row = NULL};
}
