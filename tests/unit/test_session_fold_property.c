/* test_session_fold_property.c: random runs, shuffled, against a slow model.
 * SPDX-License-Identifier: MIT
 *
 * A run is a list of events in the order of time. The fold is given it interval by interval, a tick
 * after each, with each event in its own interval or the next one and in any order in there. The
 * model writes each session's record from the whole list. Both must give the same lines. */
#include "base_random.h"
#include "session_fold_util.h"

#define SESSIONS 60
#define TASKS    12
#define PHASES   5
#define EVENTS   2500
#define INTERVAL 40 /* events */

typedef enum kind { SUBMIT, TASK, BEGIN, END, COUNT, FINAL, TASK_FINAL } kind_t;

typedef struct event {
    kind_t kind;
    int64_t id; /* session or task */
    uint32_t phase;
    uint64_t ns;
    uint64_t began;
    int64_t number; /* payload's, task's, parent's or to count; NO_ID none */
    const char *status;
    const char *reason;
    unsigned interval;
} event_t;

typedef struct run {
    event_t events[EVENTS];
    unsigned n;
    uint64_t seed;
    uint64_t now;
    unsigned registered; /* sessions so far */
    unsigned late;       /* finalizes of sessions that had one */
    int64_t task[SESSIONS];
    bool final[SESSIONS];
    bool task_final[TASKS];
    bool task_known[TASKS];
    struct {
        uint64_t began[64];
        unsigned n;
    } open[SESSIONS][PHASES];
} run_t;

static const char *const phase_names[PHASES] = {"generate", "reward", "toolcall", "one at a time",
                                                "verify"};
#define SINGLE 3

static uint32_t below(run_t *r, uint32_t n) {
    return base_random_below(&r->seed, n);
}

static event_t *add(run_t *r, kind_t kind, int64_t id) {
    event_t *e = &r->events[r->n];
    r->now += 1 + below(r, 3000000);
    *e = (event_t){.kind = kind, .id = id, .ns = r->now, .number = NO_ID};
    e->interval = r->n / INTERVAL;
    r->n++;
    return e;
}

static int64_t payload(run_t *r) {
    return below(r, 3) ? NO_ID : (int64_t)below(r, 100000);
}

static void add_phase_event(run_t *r, uint32_t s) {
    uint32_t p = below(r, PHASES);
    if (r->open[s][p].n > 0 && (below(r, 2) || r->open[s][p].n == 64)) {
        uint32_t which = below(r, r->open[s][p].n);
        event_t *e = add(r, END, s);
        e->phase = p;
        e->began = r->open[s][p].began[which];
        e->number = payload(r);
        r->open[s][p].began[which] = r->open[s][p].began[--r->open[s][p].n];
        return;
    }
    event_t *e = add(r, BEGIN, s);
    e->phase = p;
    e->number = payload(r);
    r->open[s][p].began[r->open[s][p].n++] = e->ns;
}

static void add_session(run_t *r) {
    unsigned s = r->registered++;
    r->task[s] = below(r, 5) ? (int64_t)below(r, TASKS) : NO_ID;
    int64_t t = r->task[s];
    if (t != NO_ID && !r->task_known[t]) {
        r->task_known[t] = true;
        if (below(r, 2)) {
            add(r, TASK, t)->number = t * 7;
        }
    }
    add(r, SUBMIT, s)->number = t;
}

static void add_end(run_t *r, uint32_t s) {
    static const char *const statuses[] = {NULL, "accepted", "rejected", "a status of our own"};
    static const char *const reasons[] = {NULL, "stale", "a reason that takes more than a cell"};
    int64_t t = r->task[s];
    event_t *e = NULL;
    if (t != NO_ID && !r->task_final[t] && below(r, 4) == 0) {
        e = add(r, TASK_FINAL, t);
        r->task_final[t] = true;
        for (unsigned i = 0; i < r->registered; i++) {
            r->final[i] |= r->task[i] == t;
        }
    } else {
        e = add(r, FINAL, s);
        r->final[s] = true;
    }
    e->status = statuses[below(r, 4)];
    e->reason = reasons[below(r, 3)];
}

static void make_run(run_t *r, uint64_t seed) {
    memset(r, 0, sizeof(*r));
    r->seed = seed;
    while (r->n < EVENTS - 3) {
        unsigned live = 0;
        for (unsigned s = 0; s < r->registered; s++) {
            live += !r->final[s];
        }
        if (r->registered < SESSIONS && (live == 0 || below(r, 30) == 0)) {
            add_session(r);
            continue;
        }
        uint32_t s = below(r, r->registered);
        if (live == 0) {
            return;
        }
        if (r->final[s]) {
            if (below(r, 50) == 0) {
                event_t *e = add(r, FINAL, s);
                e->status = "too late";
                r->late++;
            }
            continue;
        }
        uint32_t what = below(r, 40);
        if (what == 0) {
            add_end(r, s);
        } else if (what < 4) {
            add(r, COUNT, s)->number = (int64_t)below(r, 7) - 3;
        } else {
            add_phase_event(r, s);
        }
    }
}

/* ---- the model ---- */

static void put_seconds(perftrace__strbuf_t *b, uint64_t ns) {
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(ns / 1000000000),
                     (unsigned long long)(ns % 1000000000));
    while (text[n - 1] == '0' && text[n - 2] != '.') {
        n--;
    }
    perftrace__strbuf_append(b, text, (size_t)n);
}

static void put_key(perftrace__strbuf_t *b, const char *before, const char *key,
                    const char *after) {
    perftrace__strbuf_printf(b, "%s\"%s%s\": ", before, key, after);
}

static const event_t *find_end(const run_t *r, const event_t *begin) {
    for (unsigned i = 0; i < r->n; i++) {
        const event_t *e = &r->events[i];
        if (e->kind == END && e->id == begin->id && e->phase == begin->phase &&
            e->began == begin->ns) {
            return e;
        }
    }
    return NULL;
}

typedef struct model_span {
    uint64_t start, end; /* end 0: open */
    int64_t start_payload, end_payload;
} model_span_t;

/* Spans of one phase of a session, in the order of time, which is that of the events. */
static unsigned spans_of(const run_t *r, int64_t session, uint32_t phase, model_span_t *out) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const event_t *e = &r->events[i];
        if (e->kind != BEGIN || e->id != session || e->phase != phase) {
            continue;
        }
        const event_t *end = find_end(r, e);
        if (phase == SINGLE && n && (!out[n - 1].end || out[n - 1].end > e->ns)) {
            out[n - 1].end = e->ns;
        }
        out[n++] = (model_span_t){e->ns, end ? end->ns : 0, e->number, end ? end->number : NO_ID};
    }
    return n;
}

static const event_t *find_final(const run_t *r, int64_t session, const event_t *submit) {
    for (unsigned i = 0; i < r->n; i++) {
        const event_t *e = &r->events[i];
        if ((e->kind == FINAL && e->id == session) ||
            (e->kind == TASK_FINAL && e->id == submit->number && e->ns >= submit->ns)) {
            return e;
        }
    }
    return NULL;
}

static const event_t *find(const run_t *r, kind_t kind, int64_t id) {
    for (unsigned i = 0; i < r->n; i++) {
        if (r->events[i].kind == kind && r->events[i].id == id) {
            return &r->events[i];
        }
    }
    return NULL;
}

static void put_payload(perftrace__strbuf_t *b, const char *key, int64_t number) {
    if (number != NO_ID) {
        perftrace__strbuf_printf(b, ", \"%s\": {\"p\": %lld}", key, (long long)number);
    }
}

static void put_phases(perftrace__strbuf_t *b, model_span_t spans[PHASES][EVENTS],
                       const unsigned n[PHASES]) {
    const char *before = ", \"phases\": {";
    for (uint32_t p = 0; p < PHASES; p++) {
        for (unsigned i = 0; i < n[p]; i++) {
            if (i == 0) {
                put_key(b, before, phase_names[p], "");
                before = ", ";
            }
            const model_span_t *s = &spans[p][i];
            perftrace__strbuf_puts(b, i ? ", {\"start_ts\": " : "[{\"start_ts\": ");
            put_seconds(b, FOLD_EPOCH + s->start);
            perftrace__strbuf_puts(b, ", \"end_ts\": ");
            if (s->end) {
                put_seconds(b, FOLD_EPOCH + s->end);
            } else {
                perftrace__strbuf_puts(b, "null");
            }
            put_payload(b, "start", s->start_payload);
            put_payload(b, "end", s->end_payload);
            perftrace__strbuf_puts(b, i + 1 < n[p] ? "}" : "}]");
        }
    }
    perftrace__strbuf_puts(b, before[2] == '"' ? "" : "}");
}

/* One counter: of several, the order would be that of arrival. */
static void put_counters(perftrace__strbuf_t *b, const run_t *r, int64_t session) {
    int64_t sum = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const event_t *e = &r->events[i];
        sum += e->kind == COUNT && e->id == session ? e->number : 0;
    }
    if (sum) {
        perftrace__strbuf_printf(b, ", \"counters\": {\"tokens\": %lld}", (long long)sum);
    }
}

static void model_record(const run_t *r, int64_t session, uint64_t now, perftrace__strbuf_t *b) {
    static model_span_t spans[PHASES][EVENTS];
    unsigned n[PHASES];
    const event_t *submit = find(r, SUBMIT, session);
    const event_t *final = find_final(r, session, submit);
    bool is_open = false;
    uint64_t first = UINT64_MAX;
    for (uint32_t p = 0; p < PHASES; p++) {
        n[p] = spans_of(r, session, p, spans[p]);
        for (unsigned i = 0; i < n[p]; i++) {
            const model_span_t *s = &spans[p][i];
            first = s->start < first ? s->start : first;
            is_open |= final && s->start <= final->ns && (!s->end || s->end > final->ns);
        }
    }
    if (submit->number == NO_ID) {
        perftrace__strbuf_puts(b, "{\"task_id\": null");
    } else {
        perftrace__strbuf_printf(b, "{\"task_id\": %lld", (long long)submit->number);
    }
    perftrace__strbuf_printf(b, ", \"session_id\": %lld, \"rank\": 3, \"role\": \"actor\"",
                             (long long)session);
    perftrace__strbuf_printf(b, ", \"status\": \"%s\"",
                             !final          ? "pending"
                             : final->status ? final->status
                             : is_open       ? "failed"
                                             : "accepted");
    if (final && final->reason) {
        perftrace__strbuf_printf(b, ", \"reason\": \"%s\"", final->reason);
    }
    perftrace__strbuf_puts(b, ", \"submit_ts\": ");
    put_seconds(b, FOLD_EPOCH + submit->ns);
    if (final) {
        perftrace__strbuf_puts(b, ", \"finalized_ts\": ");
        put_seconds(b, FOLD_EPOCH + final->ns);
        perftrace__strbuf_puts(b, ", \"total_s\": ");
        put_seconds(b, final->ns - submit->ns);
    }
    for (uint32_t p = 0; p < PHASES; p++) {
        uint64_t sum = 0;
        bool any = false;
        for (unsigned i = 0; i < n[p]; i++) {
            sum += spans[p][i].end ? spans[p][i].end - spans[p][i].start : 0;
            any |= spans[p][i].end != 0;
        }
        if (any) {
            put_key(b, ", ", phase_names[p], "_s");
            put_seconds(b, sum);
        }
    }
    put_phases(b, spans, n);
    put_counters(b, r, session);
    const event_t *task = submit->number == NO_ID ? NULL : find(r, TASK, submit->number);
    if (task) {
        perftrace__strbuf_printf(b, ", \"parent_task\": %lld", (long long)task->number);
    }
    if (first != UINT64_MAX) {
        perftrace__strbuf_puts(b, ", \"queue_s\": ");
        put_seconds(b, first - submit->ns);
    }
    const char *before = ", \"unfinished\": {";
    for (uint32_t p = 0; p < PHASES; p++) {
        for (unsigned i = 0; i < n[p]; i++) {
            if (!spans[p][i].end) {
                uint64_t until = final ? final->ns : now;
                put_key(b, before, phase_names[p], "");
                put_seconds(b, until > spans[p][i].start ? until - spans[p][i].start : 0);
                before = ", ";
                break;
            }
        }
    }
    perftrace__strbuf_puts(b, before[2] == '"' ? "}\n" : "}}\n");
}

/* ---- the run through the fold ---- */

static void feed(perftrace__session_fold_t *f, const event_t *e) {
    char text[32];
    perftrace__text_t p = text_of(NULL);
    if (e->number != NO_ID) {
        snprintf(text, sizeof(text), "\"p\": %lld", (long long)e->number);
        p = text_of(text);
    }
    bool ok = false;
    switch (e->kind) {
    case SUBMIT:
        ok = perftrace__session_fold_session(f, e->id, e->number, e->ns);
        break;
    case TASK:
        ok = perftrace__session_fold_task(f, e->id, e->number);
        break;
    case BEGIN:
        ok = perftrace__session_fold_phase_begin(
            f, e->id, perftrace__session_fold_phase(f, text_of(phase_names[e->phase])), e->ns, p);
        break;
    case END:
        ok = perftrace__session_fold_phase_end(
            f, e->id, perftrace__session_fold_phase(f, text_of(phase_names[e->phase])), e->began,
            e->ns, p);
        break;
    case COUNT:
        ok = perftrace__session_fold_counter(f, e->id, text_of("tokens"), e->number);
        break;
    case FINAL:
        ok = perftrace__session_fold_finalize(f, e->id, e->ns, text_of(e->status),
                                              text_of(e->reason));
        break;
    case TASK_FINAL:
        ok = perftrace__session_fold_finalize_task(f, e->id, e->ns, text_of(e->status),
                                                   text_of(e->reason));
        break;
    }
    assert_true(ok);
}

static void shuffle(uint64_t *seed, unsigned *order, unsigned n) {
    for (unsigned i = n; i > 1; i--) {
        unsigned j = base_random_below(seed, i);
        unsigned t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
}

static void check_lines(const run_t *r, const perftrace__strbuf_t *out, uint64_t now) {
    bool seen[SESSIONS] = {false};
    unsigned lines = 0;
    perftrace__strbuf_t want = PERFTRACE__STRBUF_INIT;
    for (const char *p = perftrace__strbuf_cstr(out); *p; lines++) {
        const char *end = strchr(p, '\n') + 1;
        char *line = strndup(p, (size_t)(end - p));
        assert_non_null(line);
        long id = strtol(strstr(line, "\"session_id\": ") + 14, NULL, 10);
        assert_false(seen[id]);
        seen[id] = true;
        perftrace__strbuf_clear(&want);
        model_record(r, id, now, &want);
        assert_string_equal(line, perftrace__strbuf_cstr(&want));
        free(line);
        p = end;
    }
    assert_int_equal(lines, r->registered);
    perftrace__strbuf_free(&want);
}

static void check_run(uint64_t seed) {
    static run_t r;
    make_run(&r, seed);
    uint64_t rng = seed + 77;
    perftrace__session_fold_t *f = fold_make(1 + base_random_below(&rng, 20), 0);
    uint32_t phase = 0;
    for (uint32_t p = 0; p < PHASES; p++) {
        if (p == SINGLE) {
            assert_true(perftrace__session_fold_declare(f, text_of(phase_names[p]), false, false));
        }
        phase = perftrace__session_fold_phase(f, text_of(phase_names[p]));
    }
    assert_int_equal(phase, 5);
    unsigned interval[EVENTS];
    for (unsigned i = 0; i < r.n; i++) {
        interval[i] = r.events[i].interval + base_random_below(&rng, 2);
    }
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    for (unsigned k = 0; k <= r.n / INTERVAL + 1; k++) {
        unsigned order[EVENTS];
        unsigned n = 0;
        for (unsigned i = 0; i < r.n; i++) {
            if (interval[i] == k) {
                order[n++] = i;
            }
        }
        shuffle(&rng, order, n);
        for (unsigned i = 0; i < n; i++) {
            feed(f, &r.events[order[i]]);
        }
        perftrace__session_fold_tick(f);
        assert_true(perftrace__session_fold_take(
            f, k % 5 ? PERFTRACE__TAKE_DUE : PERFTRACE__TAKE_READY, r.now, &out));
        fold_counts(f);
    }
    assert_true(perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, r.now, &out));
    perftrace__fold_counts_t c = fold_counts(f);
    assert_int_equal(c.late, r.late);
    assert_int_equal(c.orphans, 0);
    assert_int_equal(c.clamped, 0);
    assert_int_equal(c.sessions, r.registered);
    assert_int_equal(c.written, r.registered);
    assert_int_equal(c.tasks, 0);
    check_lines(&r, &out, r.now);
    perftrace__strbuf_free(&out);
    perftrace__session_fold_free(f);
}

static void any_order_within_two_ticks_gives_the_same_records(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        check_run(seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_within_two_ticks_gives_the_same_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
