/* rank_names.c: what took how long, by name. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "rank_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNFINISHED_KEPT 1000U /* all of them are counted */

typedef struct tally {
    uint32_t name;
    uint16_t cat;
    uint8_t kind;
    int64_t count, total, min, max;
} tally_t;

typedef struct tallies {
    tally_t *tally;
    size_t count, cap;
    perftrace__hashmap_t map;
} tallies_t;

static bool add(tallies_t *t, const pt_row_t *row) {
    bool is_new = false;
    uint64_t key = (uint64_t)row->name << 24 | (uint64_t)row->cat << 4 | row->kind;
    const uint64_t *slot = perftrace__hashmap_put_u64(&t->map, key, t->count, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(t, tally, count, cap, 1))) {
        return false;
    }
    if (is_new) {
        t->tally[t->count++] = (tally_t){row->name, row->cat, row->kind, 0, 0, row->dur, row->dur};
    }
    tally_t *a = &t->tally[*slot];
    a->count++;
    a->total += row->dur;
    a->min = PT_MIN(a->min, row->dur);
    a->max = PT_MAX(a->max, row->dur);
    return true;
}

static void put(const pt_rank_view_t *v, const tally_t *a, pt_rank_result_t *r) {
    const pt_kernel_rule_t *rule = a->kind == PT_ROW_KERNEL ? v->rule[a->name] : NULL;
    bool copy = a->kind == PT_ROW_MEMCPY || a->kind == PT_ROW_MEMSET;
    const char *class = rule != NULL ? rule->name : copy ? "Copy and set" : "";
    pt_rule_group_t group = rule != NULL ? rule->group : copy ? PT_GROUP_MEMORY : PT_GROUP_COMPUTE;
    pt_str_t text = {class, strlen(class)}, name = pt_names_get(&v->store->names, a->name);
    pt_result_row(r, PT_RT_names,
                  (const int64_t[]){pt_result_text(r, name),
                                    pt_rank_view_text(v, r, v->store->cat[a->cat].name), a->kind,
                                    pt_result_text(r, text), (int64_t)group, a->count, a->total,
                                    a->min, a->max});
    if (a->kind == PT_ROW_CPU_OP && PT_STR_IS(name, "aten::copy_")) {
        r->fact[PT_FACT_copies] = a->count;
        r->fact[PT_FACT_copies_ns] = a->total;
    }
}

/* How long it would have taken is not recorded: it is in no mean. */
static void put_unfinished(const pt_rank_view_t *v, const pt_row_t *row, pt_rank_result_t *r) {
    if (pt_result_rows(r, PT_RT_unfinished) < UNFINISHED_KEPT) {
        pt_result_row(r, PT_RT_unfinished,
                      (const int64_t[]){pt_rank_view_text(v, r, row->name),
                                        pt_rank_view_text(v, r, v->store->cat[row->cat].name),
                                        row->ts, row->dur});
    }
}

bool pt_rank_names(const pt_rank_view_t *v, pt_rank_result_t *r) {
    const pt_rank_store_t *s = v->store;
    tallies_t t = {.tally = NULL};
    int64_t scopes = 0, total = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < s->rows; i++) {
        const pt_row_t *row = &s->row[i];
        if (!pt_rank_view_has(v, row)) {
            continue;
        }
        if (row->state == PT_ROW_UNFINISHED) {
            put_unfinished(v, row, r);
        } else {
            ok = add(&t, row);
        }
        scopes++;
        total += row->dur;
    }
    for (size_t i = 0; ok && i < t.count; i++) {
        put(v, &t.tally[i], r);
    }
    r->fact[PT_FACT_scopes] = scopes;
    r->fact[PT_FACT_scopes_ns] = total;
    free(t.tally);
    perftrace__hashmap_free(&t.map);
    return ok && !r->failed;
}

/* ---- copies and collectives ---- */

typedef struct transfer {
    int64_t kind; /* a text of the result */
    int64_t count, bytes, known, total, best;
} transfer_t;

/* The kind of a copy: its name up to the memory's. */
static pt_str_t kind_of(pt_str_t name) {
    const char *bracket = memchr(name.p, '(', name.len);
    size_t len = bracket != NULL && bracket > name.p ? (size_t)(bracket - name.p) : name.len;
    while (len > 0 && name.p[len - 1] == ' ') {
        len--;
    }
    return (pt_str_t){name.p, len};
}

static void add_transfer(transfer_t *t, const pt_row_t *row, int64_t bytes) {
    t->count++;
    t->total += row->dur;
    if (bytes != PT_NOT_RECORDED) {
        t->bytes = (t->bytes == PT_NOT_RECORDED ? 0 : t->bytes) + bytes;
        t->known = (t->known == PT_NOT_RECORDED ? 0 : t->known) + row->dur;
        if (row->dur > 0) {
            int64_t rate = (int64_t)((double)bytes * 1e9 / (double)row->dur);
            t->best = PT_MAX(t->best, rate);
        }
    }
}

typedef struct transfers {
    transfer_t *kind;
    size_t count, cap;
} transfers_t;

/* The entry of a kind, made when new; NULL without memory. */
static transfer_t *find_transfer(transfers_t *l, int64_t kind) {
    for (size_t k = 0; k < l->count; k++) {
        if (l->kind[k].kind == kind) {
            return &l->kind[k];
        }
    }
    if (!PT_GROW(l, kind, count, cap, 1)) {
        return NULL;
    }
    l->kind[l->count++] =
        (transfer_t){kind, 0, PT_NOT_RECORDED, PT_NOT_RECORDED, 0, PT_NOT_RECORDED};
    return &l->kind[l->count - 1];
}

static bool put_transfers(const pt_rank_view_t *v, pt_rank_result_t *r) {
    transfers_t l = {NULL, 0, 0};
    bool ok = true;
    for (size_t i = 0; ok && i < v->works; i++) {
        const pt_row_t *row = pt_view_work(v, i);
        if (row->kind != PT_ROW_KERNEL) {
            pt_str_t name = kind_of(pt_names_get(&v->store->names, row->name));
            transfer_t *t = find_transfer(&l, pt_result_text(r, name));
            ok = t != NULL;
            if (ok) {
                add_transfer(t, row,
                             row->extra > 0 ? v->store->extra[row->extra - 1].bytes
                                            : PT_NOT_RECORDED);
            }
        }
    }
    for (size_t k = 0; k < l.count; k++) {
        const transfer_t *t = &l.kind[k];
        pt_result_row(r, PT_RT_transfers,
                      (const int64_t[]){t->kind, t->count, t->bytes, t->known, t->total, t->best});
    }
    free(l.kind);
    return ok;
}

/* The how manieth of its group and name each collective is, where they have no numbers. */
static bool put_collectives(const pt_rank_view_t *v, pt_rank_result_t *r) {
    perftrace__hashmap_t seen = PERFTRACE__HASHMAP_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < v->works; i++) {
        const pt_row_t *row = pt_view_work(v, i);
        const pt_row_extra_t *x = row->extra > 0 ? &v->store->extra[row->extra - 1] : NULL;
        if (x == NULL || x->collective == 0) {
            continue;
        }
        uint64_t *slot =
            perftrace__hashmap_put_u64(&seen, (uint64_t)x->group << 32 | x->collective, 0, NULL);
        ok = slot != NULL;
        if (ok) {
            pt_result_row(r, PT_RT_collectives,
                          (const int64_t[]){pt_rank_view_text(v, r, x->group),
                                            pt_rank_view_text(v, r, x->collective), x->seq,
                                            (int64_t)(*slot)++, row->ts, row->dur, x->bytes,
                                            x->group_size});
        }
    }
    perftrace__hashmap_free(&seen);
    return ok;
}

bool pt_rank_transfers(const pt_rank_view_t *v, pt_rank_result_t *r) {
    return put_transfers(v, r) && put_collectives(v, r) && !r->failed;
}

/* ---- counters ---- */

typedef struct series {
    int64_t count;
    double min, max, sum, last;
    double bin_sum[PT_BINS];
    uint32_t bin_count[PT_BINS];
} series_t;

#define CHARTED_SERIES 16U /* of the others only the figures are kept */

static void put_samples(pt_rank_result_t *r, const series_t *a) {
    int64_t row = (int64_t)pt_result_rows(r, PT_RT_counters) - 1;
    for (int64_t b = 0; b < PT_BINS && row < CHARTED_SERIES; b++) {
        if (a->bin_count[b] > 0) {
            pt_result_row(
                r, PT_RT_samples,
                (const int64_t[]){row, b, pt_cell_of_double(a->bin_sum[b] / a->bin_count[b])});
        }
    }
}

bool pt_rank_counters(const pt_rank_view_t *v, pt_rank_result_t *r) {
    const pt_rank_store_t *s = v->store;
    series_t *series = calloc(s->serieses + 1, sizeof *series);
    int64_t points = 0;
    double length = (double)(s->last - s->first);
    if (series == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->points; i++) {
        const pt_store_point_t *p = &s->point[i];
        if (p->left_out || (v->mine != NULL && !v->mine[s->series[p->series].process])) {
            continue;
        }
        series_t *a = &series[p->series];
        size_t bin = length > 0 ? (size_t)((double)(p->ts - s->first) * PT_BINS / length) : 0;
        a->min = a->count == 0 ? p->value : fmin(a->min, p->value);
        a->max = a->count == 0 ? p->value : fmax(a->max, p->value);
        a->sum += p->value;
        a->last = p->value;
        a->count++;
        a->bin_sum[PT_MIN(bin, PT_BINS - 1U)] += p->value;
        a->bin_count[PT_MIN(bin, PT_BINS - 1U)]++;
        points++;
    }
    for (size_t i = 0; i < s->serieses; i++) {
        const series_t *a = &series[i];
        if (a->count > 0) {
            pt_result_row(
                r, PT_RT_counters,
                (const int64_t[]){pt_rank_view_text(v, r, s->process[s->series[i].process].label),
                                  pt_rank_view_text(v, r, s->series[i].name), a->count,
                                  pt_cell_of_double(a->min), pt_cell_of_double(a->max),
                                  pt_cell_of_double(a->sum), pt_cell_of_double(a->last)});
            put_samples(r, a);
        }
    }
    r->fact[PT_FACT_points] = points;
    free(series);
    return !r->failed;
}
