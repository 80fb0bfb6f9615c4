/* result_clock.c. SPDX-License-Identifier: MIT */
#include "result_clock.h"

#include <stdlib.h>
#include <string.h>

void pt_result_take_clock(pt_rank_result_t *r, const pt_rank_store_t *s) {
    const pt_clock_notes_t *n = &s->clock;
    r->fact[PT_FACT_mono_ns] = s->has_mono ? s->mono_ns : PT_NOT_RECORDED;
    r->fact[PT_FACT_clock_complete] = n->complete;
    for (size_t i = 0; i < n->readings; i++) {
        const pt_clock_reading_t *p = &n->reading[i];
        pt_result_row(r, PT_RT_clock_readings,
                      (const int64_t[]){(int64_t)p->ref, p->mono_ns, p->ref_ns, p->error_ns});
    }
    for (size_t i = 0; i < n->pairs; i++) {
        const pt_clock_pair_t *p = &n->pair[i];
        pt_result_row(r, PT_RT_clock_pairs, (const int64_t[]){p->ts, p->mono_ns, p->epoch_ns});
    }
    for (size_t i = 0; i < n->marks; i++) {
        pt_result_row(r, PT_RT_sync_marks,
                      (const int64_t[]){(int64_t)n->mark[i].id, n->mark[i].ts});
    }
}

/* The notes as they were taken; a document of others may hold any numbers. */
static bool notes_of(const pt_rank_result_t *r, pt_clock_notes_t *n) {
    size_t readings = pt_result_rows(r, PT_RT_clock_readings);
    size_t pairs = pt_result_rows(r, PT_RT_clock_pairs),
           marks = pt_result_rows(r, PT_RT_sync_marks);
    n->reading = calloc(readings + 1, sizeof *n->reading);
    n->pair = calloc(pairs + 1, sizeof *n->pair);
    n->mark = calloc(marks + 1, sizeof *n->mark);
    n->complete = r->fact[PT_FACT_clock_complete] == 1;
    if (n->reading == NULL || n->pair == NULL || n->mark == NULL) {
        return false;
    }
    for (size_t i = 0; i < readings; i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_clock_readings, i);
        pt_clock_reading_t p = {(uint64_t)cell[0], cell[1], cell[2], cell[3]};
        if (pt_clock_reading_ok(&p)) {
            n->reading[n->readings++] = p;
        }
    }
    for (size_t i = 0; i < pairs; i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_clock_pairs, i);
        pt_clock_pair_t p = {cell[0], cell[1], cell[2]};
        if (pt_clock_pair_ok(&p)) {
            n->pair[n->pairs++] = p;
        }
    }
    for (size_t i = 0; i < marks; i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_sync_marks, i);
        n->mark[n->marks++] = (pt_sync_mark_t){(uint64_t)cell[0], cell[1]};
    }
    return true;
}

static char *boot_of(const pt_rank_result_t *r) {
    pt_str_t text = pt_names_get(&r->texts, r->boot_id);
    return text.len > 0 ? strndup(text.p, text.len) : NULL;
}

static bool tell_when(const pt_results_t *l) {
    for (size_t i = 0; i < l->count; i++) {
        const int64_t *fact = l->result[i].fact;
        if (fact[PT_FACT_first_ns] != PT_NOT_RECORDED &&
            (fact[PT_FACT_base_ns] == PT_NOT_RECORDED || fact[PT_FACT_base_ns] < 0)) {
            return false;
        }
    }
    return true;
}

static bool align_all(pt_results_t *l, pt_clock_in_t *in, pt_clock_notes_t *notes,
                      pt_clock_out_t *out, char **boot) {
    size_t n = 0;
    int64_t base;
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        if (r->fact[PT_FACT_first_ns] == PT_NOT_RECORDED) {
            continue;
        }
        if (!notes_of(r, &notes[n])) {
            return false;
        }
        boot[n] = boot_of(r);
        in[n] =
            (pt_clock_in_t){.kind = PT_CLOCK_EPOCH,
                            .boot_id = boot[n],
                            .has_mono = r->fact[PT_FACT_mono_ns] != PT_NOT_RECORDED,
                            .mono_ns = r->fact[PT_FACT_mono_ns],
                            .epoch_ns = r->fact[PT_FACT_base_ns],
                            .first_ts = r->fact[PT_FACT_first_ns],
                            .last_ts = PT_MAX(r->fact[PT_FACT_first_ns], r->fact[PT_FACT_last_ns]),
                            .notes = &notes[n]};
        n++;
    }
    if (!pt_clock_align(in, n, out, &base)) {
        return false;
    }
    for (size_t i = l->count; i > 0; i--) {
        pt_rank_result_t *r = &l->result[i - 1];
        if (r->fact[PT_FACT_first_ns] != PT_NOT_RECORDED) {
            r->clock = out[--n];
            r->aligned = true;
        }
    }
    return true;
}

bool pt_results_align(pt_results_t *l) {
    if (!tell_when(l)) {
        return true;
    }
    pt_clock_in_t *in = calloc(l->count + 1, sizeof *in);
    pt_clock_notes_t *notes = calloc(l->count + 1, sizeof *notes);
    pt_clock_out_t *out = calloc(l->count + 1, sizeof *out);
    char **boot = calloc(l->count + 1, sizeof *boot);
    bool ok = in != NULL && notes != NULL && out != NULL && boot != NULL &&
              align_all(l, in, notes, out, boot);
    for (size_t i = 0; i < l->count; i++) {
        if (notes != NULL) {
            pt_clock_notes_free(&notes[i]);
        }
        if (boot != NULL) {
            free(boot[i]);
        }
    }
    free(in);
    free(notes);
    free(out);
    free((void *)boot);
    return ok;
}

int64_t pt_result_time(const pt_rank_result_t *r, int64_t ts) {
    int64_t first = r->fact[PT_FACT_first_ns];
    if (r->aligned) {
        return pt_clock_map(&r->clock, ts);
    }
    return first != PT_NOT_RECORDED ? ts - first : ts;
}
