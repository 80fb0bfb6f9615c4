/* session_fold.c. SPDX-License-Identifier: MIT */
#include "session_fold.h"

#include "session_record.h"
#include "session_spans.h"
#include "session_table.h"

#include <stdlib.h>

typedef perftrace__live_t live_t;
typedef perftrace__task_t task_t;

struct perftrace__session_fold {
    perftrace__session_table_t table;
    perftrace__session_names_t phases;
    perftrace__session_names_t counters;
    perftrace__record_writer_t writer;
    uint64_t threshold;
    uint64_t orphans;
    uint64_t clamped;
    uint64_t no_memory;
};

static const perftrace__outcome_t no_outcome = {0, 0, PERFTRACE__STATUS_NONE};

perftrace__session_fold_t *perftrace__session_fold_new(const perftrace__fold_options_t *options) {
    static const char *const phases[] = {"generate", "reward", "toolcall", "other"};
    perftrace__session_fold_t *f = malloc(sizeof(*f));
    if (!f) {
        return NULL;
    }
    *f = (perftrace__session_fold_t){.table = PERFTRACE__SESSION_TABLE_INIT,
                                     .phases = PERFTRACE__SESSION_NAMES_INIT,
                                     .counters = PERFTRACE__SESSION_NAMES_INIT,
                                     .threshold = PT_MAX(options->flush_threshold, 1u)};
    f->table.max_open = options->max_live;
    bool ok = perftrace__record_writer_init(&f->writer, options, &f->table.cells, &f->phases,
                                            &f->counters, &f->table.tasks) &&
              perftrace__session_names_init(&f->phases, phases, PT_ARRAY_LEN(phases)) &&
              perftrace__session_names_init(&f->counters, phases + 3, 1);
    if (!ok) {
        perftrace__session_fold_free(f);
        return NULL;
    }
    return f;
}

void perftrace__session_fold_free(perftrace__session_fold_t *f) {
    if (!f) {
        return;
    }
    perftrace__table_free(&f->table);
    perftrace__session_names_free(&f->phases);
    perftrace__session_names_free(&f->counters);
    perftrace__record_writer_free(&f->writer);
    free(f);
}

static bool no_memory(perftrace__session_fold_t *f) {
    f->no_memory++;
    return false;
}

/* The session of an event; NULL when the event is to be left out, and then *ret_ok is what its
 * function returns. */
PT_ALWAYS_INLINE live_t *reach(perftrace__session_fold_t *f, int64_t id, uint32_t *ret_number,
                               bool *ret_ok) {
    *ret_ok = true;
    perftrace__reached_t reached = perftrace__table_reach(&f->table, id, ret_number);
    if (PT_LIKELY(reached == PERFTRACE__REACHED)) {
        return perftrace__table_at(&f->table, *ret_number);
    }
    if (reached == PERFTRACE__REACHED_NO_MEMORY) {
        *ret_ok = no_memory(f);
    }
    return NULL;
}

/* Until its registration comes, a session was submitted at the first of its events. */
PT_ALWAYS_INLINE void notice(live_t *s, uint64_t ns) {
    if (PT_UNLIKELY(!s->registered) && ns < s->submit) {
        s->submit = ns;
    }
}

/* The highest number is no time (PERFTRACE__SPAN_OPEN, PERFTRACE__NO_TIME). */
PT_ALWAYS_INLINE uint64_t valid_time(uint64_t ns) {
    return ns - (ns == UINT64_MAX);
}

/* ---- phases ---- */

uint32_t perftrace__session_fold_phase(perftrace__session_fold_t *f, perftrace__text_t name) {
    uint32_t index;
    perftrace__session_names_index(&f->phases, name, &index);
    return index;
}

bool perftrace__session_fold_declare(perftrace__session_fold_t *f, perftrace__text_t name,
                                     bool allow_multiple, bool ready_on_complete) {
    uint32_t index;
    if (!perftrace__session_names_index(&f->phases, name, &index)) {
        return no_memory(f);
    }
    bool is_other = name.len == 5 && memcmp(name.data, "other", 5) == 0;
    if (index != f->phases.other || is_other) {
        f->phases.items[index].single = !allow_multiple;
        f->phases.items[index].finishes = ready_on_complete;
    }
    return true;
}

/* Keeps a payload; false without memory. */
PT_ALWAYS_INLINE bool keep_payload(perftrace__session_fold_t *f, perftrace__text_t payload,
                                   uint32_t *ret_text) {
    *ret_text = 0;
    if (PT_LIKELY(!payload.data || !payload.len)) {
        return true;
    }
    *ret_text = perftrace__cells_put_text(&f->table.cells, payload);
    return *ret_text != 0 || no_memory(f);
}

/* An event found no memory for its span. */
static PT_COLD bool no_span(perftrace__session_fold_t *f, uint32_t text) {
    perftrace__cells_drop_text(&f->table.cells, text);
    return no_memory(f);
}

bool perftrace__session_fold_phase_begin(perftrace__session_fold_t *f, int64_t session,
                                         uint32_t phase, uint64_t ns, perftrace__text_t payload) {
    uint32_t number;
    bool ok;
    live_t *s = reach(f, session, &number, &ok);
    if (PT_UNLIKELY(!s)) {
        return ok;
    }
    uint32_t text;
    if (!keep_payload(f, payload, &text)) {
        return false;
    }
    ns = valid_time(ns);
    notice(s, ns);
    return perftrace__span_begin(&f->table.cells, s, phase, ns, text) || no_span(f, text);
}

/* ---- the end of sessions ---- */

static void finish(perftrace__session_fold_t *f, uint32_t number, uint64_t ns) {
    live_t *s = perftrace__table_at(&f->table, number);
    if (s->is_final) {
        s->finalized = PT_MIN(s->finalized, ns);
    } else {
        s->is_final = true;
        s->finalized = ns;
        s->evicted = false;
        perftrace__table_enqueue(&f->table, number);
    }
}

bool perftrace__session_fold_phase_end(perftrace__session_fold_t *f, int64_t session,
                                       uint32_t phase, uint64_t began, uint64_t ns,
                                       perftrace__text_t payload) {
    uint32_t number;
    bool ok;
    live_t *s = reach(f, session, &number, &ok);
    if (PT_UNLIKELY(!s)) {
        return ok;
    }
    const perftrace__session_name_t *of = &f->phases.items[phase];
    uint32_t text;
    if (!keep_payload(f, payload, &text)) {
        return false;
    }
    ns = valid_time(ns);
    uint64_t start;
    if (!perftrace__span_end(&f->table.cells, s, phase, of->single, valid_time(began), ns, text,
                             &start)) {
        return no_span(f, text);
    }
    f->clamped += ns < start;
    notice(s, PT_MIN(start, ns));
    if (PT_UNLIKELY(of->finishes) && !perftrace__span_is_open(&f->table.cells, s, phase)) {
        finish(f, number, ns);
    }
    return true;
}

/* Of several finalizes the earliest counts, in whatever order they come: what a program hears of a
 * session must not depend on when its record was written. Takes over the outcome. */
static bool finalize(perftrace__session_fold_t *f, uint32_t number, uint64_t ns,
                     perftrace__outcome_t outcome, bool itself) {
    live_t *s = perftrace__table_at(&f->table, number);
    if (s->told != PERFTRACE__NO_TIME) {
        /* A task's finalize is for those that have not ended: nothing is late. */
        f->table.late += s->told <= ns ? itself : s->told_itself;
    }
    if (s->told <= ns) {
        perftrace__outcome_drop(&f->table.cells, &outcome);
        return true;
    }
    perftrace__outcome_drop(&f->table.cells, &s->outcome);
    s->outcome = outcome;
    s->told = ns;
    s->told_itself = itself;
    notice(s, ns);
    finish(f, number, ns);
    return true;
}

bool perftrace__session_fold_finalize(perftrace__session_fold_t *f, int64_t session, uint64_t ns,
                                      perftrace__text_t status, perftrace__text_t reason) {
    uint32_t number;
    bool ok;
    perftrace__outcome_t outcome = no_outcome;
    if (!reach(f, session, &number, &ok)) {
        return ok;
    }
    return perftrace__outcome_set(&f->table.cells, &outcome, status, reason)
               ? finalize(f, number, valid_time(ns), outcome, true)
               : no_memory(f);
}

/* ---- tasks ---- */

bool perftrace__session_fold_task(perftrace__session_fold_t *f, int64_t task, int64_t parent) {
    if (parent == PERFTRACE__FOLD_NO_ID || task == PERFTRACE__FOLD_NO_ID) {
        return true;
    }
    uint32_t number = perftrace__tasks_get(&f->table.tasks, &f->table.cells, task);
    if (!number) {
        return no_memory(f);
    }
    task_t *t = perftrace__tasks_at(&f->table.tasks, number);
    t->parent = parent;
    t->has_parent = true;
    return true;
}

static bool finalize_with_task(perftrace__session_fold_t *f, uint32_t number, const task_t *task) {
    perftrace__outcome_t outcome = no_outcome;
    return perftrace__outcome_copy(&f->table.cells, &outcome, &task->final)
               ? finalize(f, number, task->final_ns, outcome, false)
               : no_memory(f);
}

/* A finalize of the task that came ahead of the session's registration, though it was later. */
static bool catch_up(perftrace__session_fold_t *f, uint32_t number) {
    live_t *s = perftrace__table_at(&f->table, number);
    task_t *task = perftrace__tasks_at(&f->table.tasks, s->task);
    if (!perftrace__task_final_holds(task, f->table.ticks) || s->submit > task->final_ns) {
        return true;
    }
    f->orphans -= task->orphan;
    task->orphan = false;
    return finalize_with_task(f, number, task);
}

bool perftrace__session_fold_session(perftrace__session_fold_t *f, int64_t session, int64_t task,
                                     uint64_t ns) {
    uint32_t number;
    bool ok;
    live_t *s = reach(f, session, &number, &ok);
    if (!s) {
        return ok;
    }
    uint32_t of = s->task;
    if (task != PERFTRACE__FOLD_NO_ID && !of) {
        of = perftrace__tasks_get(&f->table.tasks, &f->table.cells, task);
        if (!of) {
            return no_memory(f);
        }
        perftrace__table_join(&f->table, number, of);
    }
    ns = valid_time(ns);
    s->submit = s->registered ? PT_MIN(s->submit, ns) : ns;
    s->registered = true;
    return !of || catch_up(f, number);
}

bool perftrace__session_fold_has(const perftrace__session_fold_t *f, int64_t session) {
    uint32_t number = perftrace__session_ids_find(&f->table.ids, (uint64_t)session);
    return number != PERFTRACE__IDS_FRESH && number < PERFTRACE__IDS_SKIPPED &&
           perftrace__table_at(&f->table, number)->registered;
}

bool perftrace__session_fold_finalize_task(perftrace__session_fold_t *f, int64_t task, uint64_t ns,
                                           perftrace__text_t status, perftrace__text_t reason) {
    uint32_t of = perftrace__tasks_get(&f->table.tasks, &f->table.cells, task);
    if (!of) {
        return no_memory(f);
    }
    task_t *t = perftrace__tasks_at(&f->table.tasks, of);
    perftrace__outcome_t outcome = no_outcome;
    if (!perftrace__outcome_set(&f->table.cells, &outcome, status, reason)) {
        return no_memory(f);
    }
    perftrace__outcome_drop(&f->table.cells, &t->final);
    t->final = outcome;
    t->final_ns = valid_time(ns);
    t->final_tick = f->table.ticks;
    t->has_final = true;
    size_t n;
    uint32_t *numbers = perftrace__table_by_id(&f->table, of, &n);
    if (n && !numbers) {
        return no_memory(f);
    }
    bool ok = true;
    t->orphan = true;
    for (size_t i = 0; i < n; i++) {
        /* One that was submitted later is not meant, though its registration came first. */
        if (perftrace__table_at(&f->table, numbers[i])->submit <= t->final_ns) {
            t->orphan = false;
            ok &= finalize_with_task(f, numbers[i], t);
        }
    }
    f->orphans += t->orphan;
    free(numbers);
    return ok;
}

/* ---- counters ---- */

static int64_t add_bounded(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

bool perftrace__session_fold_counter(perftrace__session_fold_t *f, int64_t session,
                                     perftrace__text_t name, int64_t delta) {
    uint32_t number;
    bool ok;
    live_t *s = reach(f, session, &number, &ok);
    if (!s) {
        return ok;
    }
    uint32_t index;
    perftrace__session_names_index(&f->counters, name, &index);
    uint32_t *link = &s->tallies;
    while (*link) {
        perftrace__tally_t *tally = perftrace__cells_tally(&f->table.cells, *link);
        if (tally->name == index) {
            tally->value = add_bounded(tally->value, delta);
            return true;
        }
        link = &tally->next;
    }
    uint32_t cell = perftrace__cells_take(&f->table.cells);
    if (!cell) {
        return no_memory(f);
    }
    *perftrace__cells_tally(&f->table.cells, cell) = (perftrace__tally_t){0, index, delta};
    *link = cell;
    return true;
}

/* ---- taking ---- */

void perftrace__session_fold_tick(perftrace__session_fold_t *f) {
    perftrace__table_tick(&f->table);
}

static bool take(perftrace__session_fold_t *f, uint32_t number, uint64_t now,
                 perftrace__strbuf_t *out) {
    live_t *s = perftrace__table_at(&f->table, number);
    if (!perftrace__record_write(&f->writer, s, now, out)) {
        return no_memory(f);
    }
    perftrace__table_forget(&f->table, number);
    return true;
}

static bool take_open(perftrace__session_fold_t *f, uint64_t now, perftrace__strbuf_t *out) {
    size_t n;
    uint32_t *numbers = perftrace__table_by_id(&f->table, 0, &n);
    if (n && !numbers) {
        return no_memory(f);
    }
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        ok = take(f, numbers[i], now, out);
    }
    free(numbers);
    return ok;
}

bool perftrace__session_fold_take(perftrace__session_fold_t *f, perftrace__fold_take_t what,
                                  uint64_t now, perftrace__strbuf_t *out) {
    perftrace__session_table_t *t = &f->table;
    uint64_t live = t->sessions_seen - t->written;
    if (what == PERFTRACE__TAKE_DUE && t->due < f->threshold &&
        (!t->max_open || live <= t->max_open)) {
        return true;
    }
    while (t->queue.head && (what == PERFTRACE__TAKE_ALL || t->due)) {
        if (!take(f, t->queue.head, now, out)) {
            return false;
        }
    }
    return what != PERFTRACE__TAKE_ALL || take_open(f, now, out);
}

bool perftrace__session_fold_skip(perftrace__session_fold_t *f, int64_t session) {
    uint32_t number = perftrace__session_ids_find(&f->table.ids, (uint64_t)session);
    return number != PERFTRACE__IDS_FRESH ||
           perftrace__session_ids_skip(&f->table.ids, (uint64_t)session) || no_memory(f);
}

void perftrace__session_fold_rank(perftrace__session_fold_t *f, int32_t rank) {
    if (!perftrace__record_writer_rank(&f->writer, rank)) {
        (void)no_memory(f);
    }
}

void perftrace__session_fold_counts(const perftrace__session_fold_t *f,
                                    perftrace__fold_counts_t *ret_counts) {
    const perftrace__session_table_t *t = &f->table;
    uint64_t live = t->sessions_seen - t->written;
    *ret_counts = (perftrace__fold_counts_t){
        .sessions = t->sessions_seen,
        .live = live,
        .ready = live - t->nopen,
        .written = t->written,
        .evicted = t->evicted,
        .late = t->late,
        .orphans = f->orphans,
        .clamped = f->clamped + f->writer.clamped,
        .no_memory = f->no_memory,
        .tasks = t->tasks.busy,
        .bytes = sizeof(*f) + perftrace__table_bytes(t) +
                 perftrace__session_names_bytes(&f->phases) +
                 perftrace__session_names_bytes(&f->counters) +
                 perftrace__record_writer_bytes(&f->writer),
    };
}
