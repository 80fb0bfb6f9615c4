/* rank_analysis.c: from a store to the results of its ranks. SPDX-License-Identifier: MIT */
#include "rank_analysis.h"

#include "result_clock.h"

#include <stdlib.h>
#include <string.h>

static void put_file(const pt_rank_store_t *s, const char *name, pt_rank_result_t *r) {
    char letter[2] = "?";
#define PT_I_COPY(field)                                                                           \
    r->field = (uint32_t)(s->field != 0 ? pt_result_text(r, pt_names_get(&s->names, s->field)) : 0);
    PT_STORE_TEXT_LIST(PT_I_COPY)
#undef PT_I_COPY
    r->file = pt_names_add_cstr(&r->texts, name);
    pt_result_take_clock(r, s);
    r->fact[PT_FACT_events] = (int64_t)s->events;
    r->fact[PT_FACT_world_size] = s->world_size >= 0 ? s->world_size : PT_NOT_RECORDED;
    r->fact[PT_FACT_base_ns] = s->has_base ? s->base_ns : PT_NOT_RECORDED;
    r->fact[PT_FACT_devices] = s->devices >= 0 ? s->devices : PT_NOT_RECORDED;
    r->fact[PT_FACT_device_memory] = s->device_memory;
    r->fact[PT_FACT_multiprocessors] = s->multiprocessors;
    r->fact[PT_FACT_process_groups] = s->process_groups;
    r->fact[PT_FACT_outliers] = (int64_t)s->outliers;
    r->fact[PT_FACT_unfinished] = (int64_t)s->unfinished;
    for (unsigned c = 1; c < 128; c++) {
        letter[0] = (char)c;
        if (s->by_phase[c] > 0) {
            pt_result_row(r, PT_RT_phases,
                          (const int64_t[]){pt_result_text(r, (pt_str_t){letter, 1}),
                                            (int64_t)s->by_phase[c]});
        }
    }
}

/* The times between which a rank's scopes lie. */
static void put_range(const pt_rank_view_t *v, pt_rank_result_t *r) {
    const pt_rank_store_t *s = v->store;
    int64_t first = INT64_MAX, last = INT64_MIN;
    if (v->mine == NULL) {
        first = s->first;
        last = s->last;
    }
    for (size_t i = 0; v->mine != NULL && i < s->rows; i++) {
        if (pt_rank_view_has(v, &s->row[i])) {
            first = PT_MIN(first, s->row[i].ts);
            last = PT_MAX(last, pt_row_end(&s->row[i]));
        }
    }
    if (first <= last && (s->rows > 0 || s->points > 0)) {
        r->fact[PT_FACT_first_ns] = first;
        r->fact[PT_FACT_last_ns] = last;
    }
}

static bool analyze_one(const pt_rank_store_t *s, const char *name, const uint8_t *mine,
                        int64_t rank, pt_rank_source_t source, const pt_analysis_options_t *options,
                        pt_results_t *results) {
    pt_rank_view_t view = {.store = s};
    pt_rank_result_t *r = pt_results_add(results);
    if (r == NULL) {
        return false;
    }
    r->fact[PT_FACT_rank] = rank;
    r->fact[PT_FACT_rank_source] = (int64_t)source;
    put_file(s, name, r);
    bool ok = pt_rank_view_make(&view, s, mine, options);
    if (ok) {
        put_range(&view, r);
        ok = pt_rank_device(&view, r) && pt_rank_streams(&view, r) && pt_rank_gaps(&view, r) &&
             pt_rank_launches(&view, r) && pt_rank_names(&view, r) && pt_rank_transfers(&view, r) &&
             pt_rank_counters(&view, r) && pt_rank_steps(&view, r) && pt_rank_path(&view, r) &&
             pt_rank_sequences(&view, r) && pt_rank_ranges(&view, r);
    }
    pt_rank_view_free(&view);
    return ok && !r->failed && !r->texts.failed;
}

/* The ranks that processes have, each once, in the order of appearance. */
static size_t find_ranks(const pt_rank_store_t *s, int64_t *rank) {
    size_t count = 0;
    for (size_t i = 0; i < s->processes; i++) {
        bool known = s->process[i].rank < 0;
        for (size_t k = 0; k < count && !known; k++) {
            known = rank[k] == s->process[i].rank;
        }
        if (!known) {
            rank[count++] = s->process[i].rank;
        }
    }
    return count;
}

bool pt_rank_analyze(const pt_rank_store_t *s, const char *name,
                     const pt_analysis_options_t *options, pt_results_t *results) {
    int64_t *rank = malloc((s->processes + 1) * sizeof *rank);
    size_t ranks = rank != NULL && !s->has_rank ? find_ranks(s, rank) : 0;
    bool ok = rank != NULL;
    if (ok && ranks < 2) {
        pt_rank_source_t source = !s->has_rank    ? PT_RANK_OF_EVENTS
                                  : s->asks_ranks ? PT_RANK_OF_DISTRIBUTED
                                                  : PT_RANK_OF_HEADER;
        int64_t number = s->has_rank ? s->rank : ranks == 1 ? rank[0] : PT_NOT_RECORDED;
        source = number == PT_NOT_RECORDED ? PT_RANK_MADE_UP : source;
        ok = analyze_one(s, name, NULL, number, source, options, results);
    }
    for (size_t k = 0; ok && ranks >= 2 && k < ranks; k++) {
        uint8_t *mine = calloc(s->processes + 1, 1);
        ok = mine != NULL;
        for (size_t i = 0; ok && i < s->processes; i++) {
            mine[i] = s->process[i].rank == rank[k];
        }
        ok = ok && analyze_one(s, name, mine, rank[k], PT_RANK_OF_EVENTS, options, results);
        free(mine);
    }
    free(rank);
    return ok;
}
