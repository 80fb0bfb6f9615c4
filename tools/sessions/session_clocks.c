/* session_clocks.c. SPDX-License-Identifier: MIT */
#include "session_clocks.h"

#include "cutter.h"
#include "event_fast.h"
#include "event_json.h"
#include "grow.h"
#include "input.h"
#include "path_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 18)

/* ---- traces ---- */

bool pt_session_clocks_add(pt_session_clocks_t *l, const pt_path_t *path) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input;
    const char *data;
    pt_input_options_t how = pt_path_parts_input(path);
    int rc = pt_input_open(path->name, &how, &input, &problem);
    perftrace__strbuf_free(&problem);
    if (rc != 0) {
        return true; /* it was told when the sessions were read */
    }
    if (!PT_GROW(l, clock, count, cap, 1)) {
        pt_input_close(input);
        return false;
    }
    pt_session_clock_t *c = &l->clock[l->count];
    *c = (pt_session_clock_t){.path = path};
    size_t len = pt_input_peek(input, PT_SOURCE_PEEK, &data);
    pt_source_init(&c->source);
    pt_source_sniff(&c->source, data, len, len < PT_SOURCE_PEEK);
    pt_input_close(input);
    if (c->source.ours && c->source.shape == PT_SHAPE_LINES && c->source.has_epoch) {
        l->count++;
    } else {
        pt_source_free(&c->source);
    }
    return true;
}

typedef struct scan {
    pt_event_reader_t parser;
    pt_clock_notes_t *notes;
} scan_t;

/* Only lines that begin with this can be of interest. */
static void on_record(void *ctx, const char *p, size_t len, bool plain) {
    static const char start[] = "{\"name\": \"perftrace_";
    scan_t *s = ctx;
    pt_event_t ev;
    size_t used;
    (void)plain;
    if (len >= sizeof start && memcmp(p, start, sizeof start - 1) == 0 &&
        pt_event_read_json(&s->parser, p, len, &ev, &used) == PT_EVENT_FOUND) {
        (void)pt_clock_notes_take(s->notes, &ev);
    }
}

static bool scan_trace(pt_session_clock_t *c, char *buf) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input;
    scan_t s = {.notes = &c->notes};
    pt_cutter_t cutter = {.shape = PT_SHAPE_LINES, .record = on_record, .ctx = &s};
    pt_input_options_t how = pt_path_parts_input(c->path);
    int rc = pt_input_open(c->path->name, &how, &input, &problem);
    perftrace__strbuf_free(&problem);
    for (bool last = rc != 0; !last;) {
        int64_t n = pt_input_read(input, buf, CHUNK);
        last = n <= 0;
        n = PT_MAX(n, (int64_t)0);
        memset(buf + n, 0, PT_EVENT_PAD);
        pt_cutter_feed(&cutter, buf, (size_t)n, last);
    }
    if (rc == 0) {
        pt_input_close(input);
    }
    pt_cutter_free(&cutter);
    pt_event_reader_free(&s.parser);
    return !c->notes.failed;
}

static int64_t rank_of(const pt_source_t *s) {
    return s->has_rank ? s->rank : INT64_MAX;
}

static int by_rank(const void *a, const void *b) {
    const pt_session_clock_t *x = a, *y = b;
    int64_t p = rank_of(&x->source), q = rank_of(&y->source);
    return p != q ? (p > q) - (p < q) : strcmp(x->path->name, y->path->name);
}

static bool is_elsewhere(const pt_source_t *a, const pt_source_t *b) {
    return a->boot_id != NULL && b->boot_id != NULL && strcmp(a->boot_id, b->boot_id) != 0;
}

static bool align(pt_session_clocks_t *l, int64_t *ret_base) {
    pt_clock_in_t *in = calloc(l->count + 1, sizeof *in);
    pt_clock_out_t *out = calloc(l->count + 1, sizeof *out);
    char *buf = malloc(CHUNK + PT_EVENT_PAD);
    bool ok = in != NULL && out != NULL && buf != NULL;
    for (size_t i = 0; ok && i < l->count; i++) {
        pt_session_clock_t *c = &l->clock[i];
        ok = scan_trace(c, buf);
        in[i] = (pt_clock_in_t){.kind = PT_CLOCK_EPOCH,
                                .boot_id = c->source.boot_id,
                                .has_mono = c->source.has_mono,
                                .epoch_ns = c->source.epoch_ns,
                                .mono_ns = c->source.mono_ns,
                                .last_ts = pt_clock_notes_last(&c->notes),
                                .notes = &c->notes};
    }
    ok = ok && pt_clock_align(in, l->count, out, ret_base);
    for (size_t i = 0; ok && i < l->count; i++) {
        l->clock[i].out = out[i];
    }
    free(in);
    free(out);
    free(buf);
    return ok;
}

/* ---- sessions ---- */

static bool same_text(const pt_session_model_t *m, pt_names_t kind, uint32_t id, const char *text) {
    pt_name_t own = pt_session_name(m, kind, id);
    size_t len = text != NULL ? strlen(text) : 0;
    return own.len == len && (len == 0 || memcmp(own.p, text, len) == 0);
}

/* The process that a session is of: the last one of its rank, role and run that had begun. The
 * clocks stand in the order of ranks. */
static const pt_session_clock_t *clock_of(const pt_session_clocks_t *l, const pt_session_model_t *m,
                                          const pt_session_row_t *row) {
    const pt_session_run_t *run = &m->run[row->run];
    const pt_session_clock_t *best = NULL;
    int64_t rank = row->rank >= 0 ? row->rank : INT64_MAX;
    size_t lo = 0, hi = l->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rank_of(&l->clock[mid].source) < rank) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (; lo < l->count && rank_of(&l->clock[lo].source) == rank; lo++) {
        const pt_source_t *s = &l->clock[lo].source;
        bool same_run =
            run->run_id == PT_NO_NAME || same_text(m, PT_NAMES_RUN_ID, run->run_id, s->run_id);
        if (same_run && same_text(m, PT_NAMES_ROLE, row->role, s->role) &&
            (double)s->epoch_ns / 1e9 <= row->submit + 1e-3 &&
            (best == NULL || s->epoch_ns > best->source.epoch_ns)) {
            best = &l->clock[lo];
        }
    }
    return best;
}

/* By how much the wall clock of the session's machine is behind the axis, s. */
static double shift_of(const pt_session_clock_t *c, double wall_s, int64_t base) {
    int64_t ts = (int64_t)((wall_s - (double)c->source.epoch_ns / 1e9) * 1e9);
    return (double)(base + pt_clock_map(&c->out, ts) - ts - c->source.epoch_ns) / 1e9;
}

static void move_times(pt_session_model_t *m, const double *shift) {
    for (size_t i = 0; i < m->opens; i++) {
        m->open[i].start += shift[m->open[i].row];
    }
    for (size_t i = 0; i < m->pendings; i++) {
        m->pending[i].last += shift[m->pending[i].row];
    }
    for (size_t i = 0; i < m->rows; i++) {
        pt_session_row_t *row = &m->row[i];
        size_t span = row->first_span;
        row->submit += shift[i];
        row->finalized += shift[i];
        for (size_t k = 0; m->keep_spans && k < row->cells; k++) {
            for (size_t n = m->cell[row->first_cell + k].spans; n > 0 && span < m->spans; n--) {
                m->span[span].start += shift[i];
                m->span[span++].end += shift[i];
            }
        }
    }
}

static void move_runs(pt_session_model_t *m) {
    for (size_t i = 0; i < m->runs; i++) {
        m->run[i].first = (double)INFINITY;
        m->run[i].last = (double)-INFINITY;
    }
    for (size_t i = 0; i < m->rows; i++) {
        pt_session_run_t *run = &m->run[m->row[i].run];
        run->first = fmin(run->first, m->row[i].submit); /* fmin passes over what is no number */
        run->last = fmax(run->last, fmax(m->row[i].submit, m->row[i].finalized));
    }
    for (size_t i = 0; i < m->pendings; i++) {
        pt_session_run_t *run = &m->run[m->row[m->pending[i].row].run];
        run->last = fmax(run->last, m->pending[i].last);
    }
}

bool pt_session_clocks_apply(pt_session_clocks_t *l, pt_session_model_t *m, size_t *ret_moved) {
    bool several = false;
    int64_t base;
    *ret_moved = 0;
    for (size_t i = 1; i < l->count; i++) {
        several |= is_elsewhere(&l->clock[0].source, &l->clock[i].source);
    }
    if (!several) {
        return true;
    }
    double *shift = calloc(m->rows + 1, sizeof *shift);
    qsort(l->clock, l->count, sizeof *l->clock, by_rank);
    bool ok = shift != NULL && align(l, &base);
    for (size_t i = 0; ok && i < m->rows; i++) {
        bool dated = (m->row[i].flags & PT_ROW_MONO) == 0 && isfinite(m->row[i].submit);
        const pt_session_clock_t *c = dated ? clock_of(l, m, &m->row[i]) : NULL;
        shift[i] = c != NULL ? shift_of(c, m->row[i].submit, base) : 0;
        *ret_moved += c != NULL && fabs(shift[i]) > 0;
    }
    if (ok && *ret_moved > 0) {
        move_times(m, shift);
        move_runs(m);
    }
    free(shift);
    return ok;
}

void pt_session_clocks_free(pt_session_clocks_t *l) {
    for (size_t i = 0; i < l->count; i++) {
        pt_source_free(&l->clock[i].source);
        pt_clock_notes_free(&l->clock[i].notes);
        pt_clock_out_free(&l->clock[i].out);
    }
    free(l->clock);
    *l = (pt_session_clocks_t){NULL, 0, 0};
}
