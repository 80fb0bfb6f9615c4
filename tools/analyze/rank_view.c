/* rank_view.c: the rows of one rank, in the order of time. SPDX-License-Identifier: MIT */
#include "rank_view.h"

#include <stdlib.h>
#include <string.h>

bool pt_rank_view_has(const pt_rank_view_t *v, const pt_row_t *row) {
    return row->state != PT_ROW_LEFT_OUT &&
           (v->mine == NULL || v->mine[v->store->track[row->track].process] != 0);
}

pt_rule_group_t pt_rank_view_group(const pt_rank_view_t *v, const pt_row_t *row) {
    return row->kind != PT_ROW_KERNEL   ? PT_GROUP_MEMORY
           : v->rule[row->name] != NULL ? v->rule[row->name]->group
                                        : PT_GROUP_COMPUTE;
}

int64_t pt_rank_view_text(const pt_rank_view_t *v, pt_rank_result_t *r, uint32_t name) {
    return pt_result_text(r, pt_names_get(&v->store->names, name));
}

size_t pt_rank_view_from(const pt_rank_view_t *v, const uint32_t *order, size_t count,
                         int64_t time) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        bool before = v->store->row[order[mid]].ts < time;
        low = before ? mid + 1 : low;
        high = before ? high : mid;
    }
    return low;
}

static bool is_host(unsigned kind) {
    return kind == PT_ROW_CPU_OP || kind == PT_ROW_ANNOTATION || kind == PT_ROW_RUNTIME ||
           kind == PT_ROW_OTHER || kind == PT_ROW_PYTHON;
}

/* Collects rows of one sort: 0 work, 1 host, 2 sync. */
static bool collect(pt_rank_view_t *v, unsigned sort, const int64_t *key, uint32_t **ret_order,
                    size_t *ret_count) {
    const pt_rank_store_t *s = v->store;
    size_t count = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        size_t n = 0;
        for (size_t i = 0; i < s->rows; i++) {
            const pt_row_t *row = &s->row[i];
            bool fits = sort == 0   ? PT_ROW_IS_WORK(row->kind)
                        : sort == 1 ? is_host(row->kind)
                                    : row->kind == PT_ROW_SYNC;
            if (fits && pt_rank_view_has(v, row)) {
                if (pass > 0) {
                    (*ret_order)[n] = (uint32_t)i;
                }
                n++;
            }
        }
        count = n;
        if (pass == 0 && (*ret_order = malloc((n + 1) * sizeof **ret_order)) == NULL) {
            return false;
        }
    }
    *ret_count = count;
    return pt_order_by_key(key, *ret_order, count);
}

static bool find_rules(pt_rank_view_t *v) {
    const pt_rank_store_t *s = v->store;
    v->rule = calloc(s->names.count + 1, sizeof(const pt_kernel_rule_t *));
    for (size_t i = 0; v->rule != NULL && i < v->works; i++) {
        const pt_row_t *row = pt_view_work(v, i);
        if (row->kind == PT_ROW_KERNEL && v->rule[row->name] == NULL) {
            pt_str_t name = pt_names_get(&s->names, row->name);
            v->rule[row->name] = pt_kernel_rules_find(v->options->rules, name.p, name.len);
        }
    }
    return v->rule != NULL;
}

static bool find_calls(pt_rank_view_t *v) {
    const pt_rank_store_t *s = v->store;
    v->does = calloc(s->names.count + 1, 1);
    for (size_t i = 0; v->does != NULL && i < v->hosts; i++) {
        const pt_row_t *row = &s->row[v->host[i]];
        if (row->kind == PT_ROW_RUNTIME && v->does[row->name] == 0) {
            v->does[row->name] = (uint8_t)pt_call_kinds(pt_names_get(&s->names, row->name));
        }
    }
    return v->does != NULL;
}

static bool add_lists(pt_rank_view_t *v) {
    bool ok = true;
    for (size_t i = 0; ok && i < v->works; i++) {
        const pt_row_t *row = pt_view_work(v, i);
        pt_rule_group_t group = pt_rank_view_group(v, row);
        pt_span_list_t *list = group == PT_GROUP_COMPUTE         ? &v->compute
                               : group == PT_GROUP_COMMUNICATION ? &v->communication
                                                                 : &v->memory;
        ok = pt_spans_add(&v->busy, row->ts, pt_row_end(row)) &&
             pt_spans_add(list, row->ts, pt_row_end(row));
    }
    return ok;
}

/* Joins work to the calls with the same correlation: both in its order. */
static bool join(pt_rank_view_t *v, int64_t *key) {
    const pt_rank_store_t *s = v->store;
    size_t calls = 0, works = 0;
    uint32_t *call = malloc((v->hosts + 1) * sizeof *call);
    uint32_t *work = malloc((v->works + 1) * sizeof *work);
    v->call = malloc((v->works + 1) * sizeof *v->call);
    v->first = calloc(v->works + 1, 1);
    bool ok = call != NULL && work != NULL && v->call != NULL && v->first != NULL;
    for (size_t i = 0; ok && i < v->hosts; i++) {
        const pt_row_t *row = &s->row[v->host[i]];
        if (row->kind == PT_ROW_RUNTIME && row->link != PT_NOT_RECORDED) {
            key[v->host[i]] = row->link;
            call[calls++] = v->host[i];
        }
    }
    ok = ok && pt_order_by_key(key, call, calls);
    /* Of work the places are sorted: the key lies at its place. */
    for (size_t i = 0; ok && i < v->works; i++) {
        v->call[i] = PT_NO_ROW;
        if (pt_view_work(v, i)->link != PT_NOT_RECORDED) {
            work[works++] = (uint32_t)i;
        }
    }
    int64_t *link = malloc((v->works + 1) * sizeof *link);
    ok = ok && link != NULL;
    for (size_t i = 0; ok && i < works; i++) {
        link[work[i]] = pt_view_work(v, work[i])->link;
    }
    ok = ok && pt_order_by_key(link, work, works);
    for (size_t c = 0, w = 0; ok && c < calls;) {
        const pt_row_t *row = &s->row[call[c]];
        uint32_t chosen = call[c];
        bool launches = false;
        for (; c < calls && s->row[call[c]].link == row->link; c++) {
            bool launch = (pt_view_does(v, &s->row[call[c]]) & PT_CALL_HANDS_OVER) != 0;
            chosen = launch && !launches ? call[c] : chosen;
            launches |= launch;
        }
        while (w < works && link[work[w]] < row->link) {
            w++;
        }
        bool any = false;
        for (; w < works && link[work[w]] == row->link; w++) {
            v->call[work[w]] = chosen;
            v->first[work[w]] = !any;
            any = true;
        }
        v->calls_idle += launches && !any;
    }
    free(call);
    free(work);
    free(link);
    return ok;
}

bool pt_rank_view_make(pt_rank_view_t *v, const pt_rank_store_t *store, const uint8_t *mine,
                       const pt_analysis_options_t *options) {
    *v = (pt_rank_view_t){.store = store, .options = options, .mine = mine};
    int64_t *key = malloc((store->rows + 1) * sizeof *key);
    for (size_t i = 0; key != NULL && i < store->rows; i++) {
        key[i] = store->row[i].ts;
    }
    bool ok = key != NULL && collect(v, 0, key, &v->work, &v->works) &&
              collect(v, 1, key, &v->host, &v->hosts) && collect(v, 2, key, &v->sync, &v->syncs) &&
              find_rules(v) && find_calls(v) && add_lists(v) && join(v, key);
    free(key);
    return ok;
}

void pt_rank_view_free(pt_rank_view_t *v) {
    free(v->work);
    free(v->host);
    free(v->sync);
    free(v->call);
    free(v->first);
    free(v->rule);
    free(v->does);
    pt_spans_free(&v->busy);
    pt_spans_free(&v->compute);
    pt_spans_free(&v->communication);
    pt_spans_free(&v->memory);
}

pt_fact_t pt_idle_cause(const pt_rank_view_t *v, int64_t since, int64_t until,
                        const pt_row_t *call) {
    if (call != NULL && call->ts > since) {
        return PT_FACT_idle_host_ns;
    }
    return (uint64_t)(until - since) <= v->options->kernel_wait_ns ? PT_FACT_idle_kernel_ns
                                                                   : PT_FACT_idle_other_ns;
}
