/* session_batch.c: the sessions of one piece of a file. SPDX-License-Identifier: MIT */
#include "session_batch.h"

#include "grow.h"

#include <math.h>
#include <stdio.h>

typedef struct pt_interval {
    double start, end;
} interval_t;

/* What is being added. */
typedef struct adding {
    pt_session_batch_t *batch;
    const pt_parsed_session_t *s;
    pt_session_row_t *row;
    uint64_t line, offset;
} adding_t;

void pt_session_batch_clear(pt_session_batch_t *b) {
    pt_session_model_t *m = &b->part;
    m->rows = m->cells = m->counters = m->opens = m->pendings = m->spans = 0;
    for (unsigned i = 0; i < PT_NAMES_COUNT; i++) {
        pt_name_table_clear(&m->names[i]);
    }
    memset(b->problem, 0, sizeof b->problem);
    b->lines = 0;
    b->failed = false;
}

void pt_session_batch_free(pt_session_batch_t *b) {
    if (b != NULL) {
        bool keep_spans = b->part.keep_spans;
        pt_session_model_free(&b->part);
        pt_session_reader_free(&b->reader);
        free(b->interval);
        memset(b, 0, sizeof *b);
        b->part.keep_spans = keep_spans;
    }
}

void pt_session_batch_problem(pt_session_batch_t *b, unsigned kind, uint64_t line, uint64_t offset,
                              const char *detail) {
    pt_batch_problem_t *p = &b->problem[kind];
    if (p->count++ == 0) {
        p->line = line;
        p->offset = offset;
        snprintf(p->detail, sizeof p->detail, "%s", detail != NULL ? detail : "");
    }
}

static void tell(const adding_t *a, unsigned kind) {
    pt_session_batch_problem(a->batch, kind, a->line, a->offset, NULL);
}

/* More names in one chunk than a row's fields can tell apart. */
#define NAMES_MAX 65000U

static PT_NOINLINE uint16_t name_anew(const adding_t *a, pt_name_table_t *table, pt_name_t name) {
    if (table->count >= NAMES_MAX && pt_name_table_find(table, name) == PT_NO_NAME) {
        name = (pt_name_t){"(others)", 8};
        tell(a, PT_SESSION_PROBLEM_TOO_MANY_NAMES);
    }
    uint32_t id = pt_name_table_add(table, name);
    if (id == PT_NO_NAME) {
        a->batch->failed = true;
        return 0;
    }
    return (uint16_t)id;
}

PT_ALWAYS_INLINE uint16_t name_of(const adding_t *a, pt_names_t kind, pt_name_t name) {
    pt_name_table_t *table = &a->batch->part.names[kind];
    uint32_t id = pt_name_table_recent(table, name);
    return PT_LIKELY(id != PT_NO_NAME) ? (uint16_t)id : name_anew(a, table, name);
}

/* A duration: below zero is none, nor is one that no double holds. */
static double duration(const adding_t *a, double seconds) {
    if (seconds < 0) {
        tell(a, PT_SESSION_PROBLEM_NEGATIVE);
        return (double)NAN;
    }
    return isinf(seconds) ? (double)NAN : seconds;
}

/* ---- spans ---- */

static int by_start(const void *a, const void *b) {
    const interval_t *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Spans come nearly in order, few at a time. */
static void sort_intervals(interval_t *list, unsigned count) {
    if (count > 32) {
        qsort(list, count, sizeof *list, by_start);
        return;
    }
    for (unsigned i = 1; i < count; i++) {
        interval_t v = list[i];
        unsigned j = i;
        for (; j > 0 && list[j - 1].start > v.start; j--) {
            list[j] = list[j - 1];
        }
        list[j] = v;
    }
}

/* Time that at least one of the intervals covers. */
static double covered(interval_t *list, unsigned count) {
    double sum = 0, until = (double)-INFINITY;
    sort_intervals(list, count);
    for (unsigned i = 0; i < count; i++) {
        double from = PT_MAX(list[i].start, until);
        if (list[i].end > from) {
            sum += list[i].end - from;
            until = list[i].end;
        }
    }
    return sum;
}

static bool make_intervals(pt_session_batch_t *b, unsigned count) {
    if (count > b->interval_cap) {
        interval_t *grown = realloc(b->interval, (size_t)count * 2 * sizeof *grown);
        if (grown == NULL) {
            b->failed = true;
            return false;
        }
        b->interval = grown;
        b->interval_cap = count * 2;
    }
    return true;
}

static void add_open(const adding_t *a, const pt_parsed_span_t *span, double running,
                     uint16_t phase) {
    pt_session_model_t *m = &a->batch->part;
    if (!PT_GROW(m, open, opens, open_cap, 1)) {
        a->batch->failed = true;
        return;
    }
    pt_session_open_t *open = &m->open[m->opens++];
    *open = (pt_session_open_t){.start = (double)NAN,
                                .running = running,
                                .row = (uint32_t)(a->row - m->row),
                                .phase = phase};
    if (span != NULL) {
        open->start = span->start;
        open->running = isnan(span->running) ? running : span->running;
    }
    a->row->flags |= PT_ROW_OPEN;
    if (!isnan(a->row->finalized)) {
        tell(a, PT_SESSION_PROBLEM_OPEN_SPAN);
    }
}

/* What the spans of one phase come to. */
typedef struct phase_sum {
    double seconds;
    uint16_t closed, spans, open;
} phase_sum_t;

/* Sums up all spans; returns how many intervals there are now. */
static unsigned add_spans(const adding_t *a, phase_sum_t *sum) {
    const pt_parsed_session_t *s = a->s;
    interval_t *interval = a->batch->interval;
    unsigned intervals = 0;
    for (unsigned i = 0; i < s->spans; i++) {
        const pt_parsed_span_t *span = &s->span[i];
        phase_sum_t *to = &sum[span->phase];
        double length = span->end - span->start;
        to->spans++;
        if (PT_LIKELY(length >= 0)) {
            to->seconds += length;
            to->closed++;
            interval[intervals++] = (interval_t){span->start, span->end};
        } else if (isnan(span->end)) {
            to->open++;
        } else if (length < 0) {
            tell(a, PT_SESSION_PROBLEM_NEGATIVE);
        }
    }
    return intervals;
}

/* The open spans of a phase; `unfinished` may name one that has none in the list: true then. */
static bool add_opens(const adding_t *a, unsigned phase, pt_session_cell_t *cell) {
    const pt_parsed_phase_t *p = &a->s->phase[phase];
    for (unsigned i = 0; cell->open > 0 && i < a->s->spans; i++) {
        const pt_parsed_span_t *span = &a->s->span[i];
        if (span->phase == phase && isnan(span->end)) {
            add_open(a, span, p->running, cell->phase);
        }
    }
    if (cell->open > 0 || isnan(p->running)) {
        return false;
    }
    cell->open = 1;
    cell->spans++;
    add_open(a, NULL, p->running, cell->phase);
    return true;
}

/* unlisted: phases that are open without a span in the list get one without times. */
static void keep_spans(const adding_t *a, const uint16_t *phase_name, const bool *unlisted) {
    pt_session_model_t *m = &a->batch->part;
    a->row->first_span = (uint32_t)m->spans;
    if (!PT_GROW(m, span, spans, span_cap, a->s->spans + a->s->phases)) {
        a->batch->failed = true;
        return;
    }
    for (unsigned i = 0; i < a->s->spans; i++) {
        const pt_parsed_span_t *span = &a->s->span[i];
        m->span[m->spans++] = (pt_session_span_t){span->start, span->end, phase_name[span->phase]};
    }
    for (unsigned i = 0; i < a->s->phases; i++) {
        if (unlisted[i]) {
            m->span[m->spans++] = (pt_session_span_t){(double)NAN, (double)NAN, phase_name[i]};
        }
    }
}

/* ---- the record ---- */

static double first_start(const pt_parsed_session_t *s) {
    double first = (double)INFINITY;
    for (unsigned i = 0; i < s->spans; i++) {
        first = s->span[i].start < first ? s->span[i].start : first; /* passes over NAN */
    }
    return isinf(first) ? (double)NAN : first;
}

/* Whether queue_s is how long a phase of that name took. */
static bool has_queue_phase(const pt_parsed_session_t *s) {
    for (unsigned i = 0; i < s->phases; i++) {
        if (s->phase[i].listed && s->phase[i].name.len == 5 &&
            memcmp(s->phase[i].name.p, "queue", 5) == 0) {
            return true;
        }
    }
    return false;
}

static void add_phases(const adding_t *a) {
    const pt_parsed_session_t *s = a->s;
    pt_session_model_t *m = &a->batch->part;
    uint16_t phase_name[PT_SESSION_PHASES_MAX];
    phase_sum_t sum[PT_SESSION_PHASES_MAX];
    bool unlisted[PT_SESSION_PHASES_MAX];
    if (!make_intervals(a->batch, s->spans) || !PT_GROW(m, cell, cells, cell_cap, s->phases)) {
        a->batch->failed = true;
        return;
    }
    for (unsigned i = 0; i < s->phases; i++) {
        sum[i] = (phase_sum_t){0, 0, 0, 0};
    }
    unsigned intervals = add_spans(a, sum);
    a->row->first_cell = (uint32_t)m->cells;
    for (unsigned i = 0; i < s->phases; i++) {
        const pt_parsed_phase_t *p = &s->phase[i];
        pt_session_cell_t *cell = &m->cell[m->cells];
        phase_name[i] = name_of(a, PT_NAMES_PHASE, p->name);
        *cell = (pt_session_cell_t){.seconds = duration(a, p->seconds),
                                    .phase = phase_name[i],
                                    .spans = sum[i].spans,
                                    .open = sum[i].open};
        if (isnan(cell->seconds) && sum[i].closed > 0) {
            cell->seconds = duration(a, sum[i].seconds);
        }
        unlisted[i] = PT_UNLIKELY(cell->open > 0 || !isnan(p->running)) && add_opens(a, i, cell);
        if (cell->spans > 0 || !isnan(cell->seconds)) {
            m->cells++;
            a->row->cells++;
        }
    }
    if (s->spans > 0) {
        a->row->busy = duration(a, covered(a->batch->interval, intervals));
    }
    if (m->keep_spans) {
        keep_spans(a, phase_name, unlisted);
    }
}

static void add_counters(const adding_t *a) {
    pt_session_model_t *m = &a->batch->part;
    a->row->first_counter = (uint32_t)m->counters;
    if (!PT_GROW(m, counter, counters, counter_cap, a->s->counters)) {
        a->batch->failed = true;
        return;
    }
    for (unsigned i = 0; i < a->s->counters; i++) {
        const pt_parsed_counter_t *c = &a->s->counter[i];
        m->counter[m->counters++] =
            (pt_session_counter_t){c->value, name_of(a, PT_NAMES_COUNTER, c->name)};
    }
    a->row->counters = (uint16_t)a->s->counters;
}

static int64_t add_ref(const adding_t *a, const pt_ref_t *ref, uint16_t flag) {
    if (ref->kind != PT_REF_TEXT) {
        return ref->number;
    }
    uint32_t id = pt_name_table_add(&a->batch->part.names[PT_NAMES_TEXT], ref->text);
    a->batch->failed |= id == PT_NO_NAME;
    a->row->flags |= flag;
    return id;
}

static void tell_oddities(const adding_t *a) {
    static const struct {
        unsigned bit, kind;
    } odd[] = {{PT_SESSION_ODD_RANK, PT_SESSION_PROBLEM_BAD_RANK},
               {PT_SESSION_ODD_FIELD, PT_SESSION_PROBLEM_BAD_FIELD},
               {PT_SESSION_ODD_TWIN, PT_SESSION_PROBLEM_TWIN_KEY},
               {PT_SESSION_ODD_MANY, PT_SESSION_PROBLEM_TOO_MANY}};
    for (size_t i = 0; i < PT_ARRAY_LEN(odd); i++) {
        if ((a->s->odd & odd[i].bit) != 0) {
            tell(a, odd[i].kind);
        }
    }
    if (a->s->rank < 0 && (a->s->odd & PT_SESSION_ODD_RANK) == 0) {
        tell(a, PT_SESSION_PROBLEM_NO_RANK);
    }
    if (a->s->status.len == 0) {
        tell(a, PT_SESSION_PROBLEM_NO_STATUS);
    }
    if (isnan(a->s->submit)) {
        tell(a, PT_SESSION_PROBLEM_NO_SUBMIT);
    }
    if (a->s->evicted) {
        tell(a, PT_SESSION_PROBLEM_EVICTED);
    }
}

/* What `unfinished` says of a phase is how long its oldest open span had been when the record was
 * written, which may be long after the last thing that happened. NAN: nothing. */
static double when_written(const pt_parsed_session_t *s) {
    double when = (double)NAN;
    for (unsigned p = 0; p < s->phases; p++) {
        double oldest = (double)NAN;
        for (unsigned i = 0; !isnan(s->phase[p].running) && i < s->spans; i++) {
            if (s->span[i].phase == p && isnan(s->span[i].end)) {
                oldest = fmin(oldest, s->span[i].start);
            }
        }
        when = fmax(when, oldest + s->phase[p].running);
    }
    return when;
}

static void add_pending(const adding_t *a) {
    pt_session_model_t *m = &a->batch->part;
    double last = fmax(a->s->submit, when_written(a->s));
    for (unsigned i = 0; i < a->s->spans; i++) {
        last = fmax(last, fmax(a->s->span[i].start, a->s->span[i].end));
    }
    if (!PT_GROW(m, pending, pendings, pending_cap, 1)) {
        a->batch->failed = true;
        return;
    }
    m->pending[m->pendings++] = (pt_session_pending_t){last, (uint32_t)(a->row - m->row)};
}

static bool is_mono(const pt_parsed_session_t *s) {
    double time = !isnan(s->submit)      ? s->submit
                  : !isnan(s->finalized) ? s->finalized
                                         : first_start(s);
    return time < PT_SESSION_EPOCH_MIN;
}

void pt_session_batch_add(pt_session_batch_t *b, const pt_parsed_session_t *s, uint64_t line,
                          uint64_t offset) {
    pt_session_model_t *m = &b->part;
    if (s->failed || !PT_GROW(m, row, rows, row_cap, 1)) {
        b->failed = true;
        return;
    }
    adding_t a = {b, s, &m->row[m->rows], line, offset};
    *a.row = (pt_session_row_t){.submit = s->submit,
                                .finalized = s->finalized,
                                .busy = (double)NAN,
                                .line = (uint32_t)line,
                                .rank = s->rank,
                                .role = name_of(&a, PT_NAMES_ROLE, s->role),
                                .status = name_of(&a, PT_NAMES_STATUS, s->status),
                                .reason = name_of(&a, PT_NAMES_REASON, s->reason),
                                .run = name_of(&a, PT_NAMES_RUN_ID, s->run_id)};
    pt_session_row_t *row = a.row;
    row->session = add_ref(&a, &s->session, PT_ROW_SESSION_TEXT);
    row->task_id = add_ref(&a, &s->task, PT_ROW_TASK_TEXT);
    row->flags |= s->task.kind == PT_REF_NONE ? PT_ROW_NO_TASK : 0;
    row->flags |= s->evicted ? PT_ROW_EVICTED : 0;
    row->flags |= is_mono(s) ? PT_ROW_MONO : 0;
    row->total = duration(&a, isnan(s->total) ? s->finalized - s->submit : s->total);
    bool given = !isnan(s->queue) && !has_queue_phase(s);
    row->queue = duration(&a, given ? s->queue : first_start(s) - s->submit);
    tell_oddities(&a);
    add_phases(&a);
    add_counters(&a);
    if (isnan(s->finalized)) {
        add_pending(&a);
    }
    m->rows++;
}
