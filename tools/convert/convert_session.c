/* convert_session.c: tasks and sessions as tracks that nest. SPDX-License-Identifier: MIT */
#include "convert_session.h"

#include "args_edit.h"
#include "convert_link.h"
#include "event_filter.h"
#include "trace_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT(literal) ((pt_str_t){"\"" literal "\"", sizeof(literal) + 1})

static const pt_str_t truth = {"true", 4};

/* ---- what events say ---- */

/* An id as the writer gives it: "0x1f". */
static bool read_id(pt_str_t text, uint64_t *ret_id) {
    uint64_t id = 0;
    if (text.len < 5 || text.len > 20 || memcmp(text.p, "\"0x", 3) != 0) {
        return false;
    }
    for (const char *p = text.p + 3; p < text.p + text.len - 1; p++) {
        bool decimal = *p >= '0' && *p <= '9';
        if (!decimal && (*p < 'a' || *p > 'f')) {
            return false;
        }
        id = id << 4 | (uint64_t)(decimal ? *p - '0' : *p - 'a' + 10);
    }
    *ret_id = id;
    return true;
}

static bool find_arg(pt_str_t args, const char *key, perftrace__json_slice_t *ret) {
    perftrace__json_slice_t object = {args.p, args.len, PERFTRACE__JSON_OBJECT, false, 0};
    return args.len > 0 && perftrace__json_find(&object, key, ret);
}

static bool is_true(pt_str_t args, const char *key) {
    perftrace__json_slice_t value;
    return find_arg(args, key, &value) && value.type == PERFTRACE__JSON_TRUE;
}

/* The time at which a phase that ends had begun; 0: not known. */
static int64_t began_of(pt_str_t args, bool *ret_has) {
    perftrace__json_slice_t value;
    int64_t ns = 0;
    *ret_has = find_arg(args, "began", &value);
    return *ret_has && pt_time_parse_us(value.p, value.len, &ns) && ns > 0 ? ns : 0;
}

static pt_str_t text_of(const char *text) {
    return (pt_str_t){text, text != NULL ? strlen(text) : 0};
}

/* A copy ended by NUL; NULL for no text, or without memory (then the output has failed). */
static char *copy_text(pt_convert_input_t *in, pt_str_t text) {
    char *copy = text.len > 0 ? malloc(text.len + 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, text.p, text.len);
        copy[text.len] = '\0';
    }
    in->out->failed |= text.len > 0 && copy == NULL;
    return copy;
}

/* ---- output ---- */

typedef struct giving {
    pt_convert_input_t *in;
    pt_live_session_t *session;
    unsigned lanes; /* numbered so far, besides the first */
    uint32_t first; /* number of the first of them */
} giving_t;

static void put_line(pt_convert_input_t *in, const pt_put_t *put) {
    pt_event_put(in->out, put);
    pt_convert_note_out(in, put->ph, put->ts, put->ts);
}

/* Whether the options take what lasts from start to end, in merged time. */
static bool takes(const pt_convert_input_t *in, pt_str_t name, pt_str_t args, int64_t start,
                  int64_t end) {
    return !in->filtering ||
           pt_event_filter_takes(in->options, name, TEXT("session"), args,
                                 start + in->window_shift_ns, end + in->window_shift_ns, false);
}

static pt_put_t put_of_session(pt_live_session_t *s, char ph) {
    return (pt_put_t){.name = TEXT("session"),
                      .cat = TEXT("session"),
                      .number = s->number,
                      .has_number = true,
                      .ph = ph};
}

/* Writes the session's begin unless it is there; false when the options do not take it. */
static bool put_begin(pt_convert_input_t *in, pt_live_session_t *s) {
    if (!s->asked) {
        int64_t start = pt_convert_time(in, s->start);
        int64_t end = s->ended ? PT_MAX(start, pt_clock_map(&in->clock, s->end)) : PT_TIME_LIMIT;
        s->asked = true;
        s->taken = takes(in, TEXT("session"), text_of(s->begin_args), start, end);
    }
    if (s->taken && !s->written) {
        pt_put_t put = put_of_session(s, 'b');
        put.args = text_of(s->begin_args);
        put.track = &s->begin_thread->track;
        put.ts = pt_convert_time(in, s->start);
        put_line(in, &put);
        s->written = true;
    }
    return s->taken;
}

static void put_end(pt_convert_input_t *in, pt_live_session_t *s, bool unfinished) {
    pt_put_t put = put_of_session(s, 'e');
    put.args = text_of(s->end_args);
    if (unfinished && in->options->args) {
        put.args = pt_args_add(&in->scratch[0], put.args, "unfinished", truth);
    }
    put.track = &(s->end_thread != NULL ? s->end_thread : s->begin_thread)->track;
    put.ts = PT_MAX(pt_convert_time(in, s->start), pt_clock_map(&in->clock, s->end));
    put_line(in, &put);
}

static uint32_t lane_number(giving_t *g, unsigned lane) {
    const pt_id_space_t *ids = &g->in->ids;
    if (g->lanes == 0) {
        g->first = ids->next;
    }
    while (g->lanes < lane) {
        pt_id_space_fresh(&g->in->ids);
        g->lanes++;
    }
    return ids->base + ids->half + (uint32_t)(((uint64_t)g->first + lane - 1) % ids->half);
}

/* A begin or end of a phase. */
static void put_phase(void *ctx, const pt_track_span_t *span, unsigned lane, bool is_end) {
    giving_t *g = ctx;
    pt_convert_input_t *in = g->in;
    int64_t start = pt_convert_time(in, span->start);
    int64_t end = PT_MAX(start, pt_clock_map(&in->clock, span->end));
    if (!takes(in, span->name, span->begin_args, start, end)) {
        in->counts.filtered++;
        return;
    }
    pt_put_t put = {.name = span->name,
                    .cat = TEXT("session"),
                    .args = is_end ? span->end_args : span->begin_args,
                    .track = &(is_end ? span->end_thread : span->begin_thread)->track,
                    .ts = is_end ? end : start,
                    .number = lane == 0 ? g->session->number : lane_number(g, lane),
                    .has_number = true,
                    .ph = is_end ? 'e' : 'b'};
    if (lane == 0) {
        (void)put_begin(in, g->session); /* first: at equal times it must enclose this one */
    }
    if (lane > 0 && !is_end && in->options->args) {
        char id[24];
        size_t len = (size_t)snprintf(id, sizeof id, "%" PRIu64, g->session->node.id);
        put.args = pt_args_add(&in->scratch[0], put.args, "session_id", (pt_str_t){id, len});
    }
    if (is_end && span->unfinished && in->options->args) {
        put.args = pt_args_add(&in->scratch[0], put.args, "unfinished", truth);
    }
    put_line(in, &put);
}

static void put_phases(pt_convert_input_t *in, pt_live_session_t *s) {
    giving_t giving = {.in = in, .session = s};
    int64_t start = s->begun ? s->start : INT64_MAX;
    int64_t end = s->ended ? s->end : INT64_MAX;
    s->ran_on |= s->ended && pt_track_spans_run_at(&s->spans, end, true);
    if (!pt_track_spans_take(&s->spans, start, s->begun ? end : INT64_MIN, put_phase, &giving)) {
        in->out->failed = true;
    }
}

/* ---- sessions ---- */

/* How a session ended, by what was said of it; PT_SESSION_END_COUNT: nothing. */
static pt_session_end_t end_said(pt_str_t args) {
    static const char *const names[] = {PT_SESSION_END_LIST(PT_I_SESSION_END_TEXT)};
    perftrace__json_slice_t status;
    if (!find_arg(args, "status", &status) || status.type == PERFTRACE__JSON_NULL) {
        return PT_SESSION_END_COUNT;
    }
    unsigned i = 0;
    while (i < PT_SESSION_END_other &&
           (status.len != strlen(names[i]) || memcmp(status.p, names[i], status.len) != 0)) {
        i++;
    }
    return (pt_session_end_t)i;
}

/* The same, as docs/formats/SESSIONS.md has it where nothing was said. */
static pt_session_end_t end_of(const pt_live_session_t *s) {
    if (!s->ended) {
        return PT_SESSION_END_open;
    }
    if (s->has_outcome && s->outcome != PT_SESSION_END_COUNT) {
        return s->outcome;
    }
    return s->ran_on || pt_track_spans_run_at(&s->spans, s->end, false) ? PT_SESSION_END_failed
                                                                        : PT_SESSION_END_accepted;
}

/* The whole of a session, which is forgotten. */
static void give_out(pt_convert_input_t *in, pt_live_session_t *s, int64_t last) {
    bool unfinished = s->begun && !s->ended;
    unsigned open = unfinished;
    if (s->begun) {
        in->counts.sessions[end_of(s)]++;
    } else if (s->ended) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_SESSION_LATE);
    }
    if (!s->ended) {
        s->end = PT_MAX(last, s->start);
        s->ended = true;
    }
    s->end = PT_MAX(s->end, s->spans.until); /* a phase by another thread, whose end came first */
    open += pt_track_spans_close(&s->spans, s->end, PT_MAX(last, s->end)) + s->spans.given_up;
    put_phases(in, s);
    if (s->begun && put_begin(in, s)) {
        put_end(in, s, unfinished);
    } else if (s->begun) {
        in->counts.filtered += 1U + !unfinished;
    }
    for (; open > 0; open--) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_SESSION_OPEN);
    }
    if (s->task != NULL) {
        s->task->unfinished |= unfinished;
    }
    pt_live_session_drop(&in->sessions, s);
}

/* After each event of a session: what can be written is, what has gone is forgotten. */
static void settle(pt_convert_input_t *in, pt_live_session_t *s) {
    pt_live_sessions_t *live = &in->sessions;
    unsigned complete = s->spans.count - s->spans.open;
    if (s->ended && s->begun && s->has_outcome && s->spans.open == 0) {
        give_out(in, s, in->last_ts);
        return;
    }
    if (s->spans.open == 0 || complete > PT_TRACK_SPANS_LIMIT) {
        put_phases(in, s);
    }
    if (!s->begun && !s->ended && s->spans.count == 0) {
        pt_live_session_drop(live, s);
    } else if (s->waits != (s->ended || !s->begun)) {
        pt_live_session_move(live, s, !s->waits);
    }
    if (live->waiting_count > PT_LIVE_WAITING_LIMIT) {
        give_out(in, PT_LIVE_SESSION_OF(live->waiting.next, all), in->last_ts);
    }
}

/* The session of an event, made when it is not known; NULL without memory (the output has failed).
 */
static pt_live_session_t *session_at(pt_convert_input_t *in, uint64_t id) {
    pt_live_session_t *s = pt_live_session_find(&in->sessions, id);
    s = s != NULL ? s : pt_live_session_make(&in->sessions, id);
    in->out->failed |= s == NULL;
    return s;
}

static void begin_session(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                          pt_live_session_t *s) {
    perftrace__json_slice_t value;
    int64_t task_id;
    bool kept = true;
    pt_str_t args = pt_convert_args(in, ev);
    s->begun = true;
    s->start = ev->ts;
    s->end = PT_MAX(s->end, s->start);
    s->begin_thread = th;
    s->number = pt_id_space_map(&in->ids, ev->id, 0, &kept);
    if (!kept && in->options->args) {
        args = pt_args_add(&in->scratch[0], args, "orig_id", ev->id);
    }
    s->begin_args = copy_text(in, args);
    if (!s->has_outcome && find_arg(ev->args, "task_id", &value) &&
        perftrace__json_to_i64(&value, &task_id)) {
        pt_live_task_t *task = pt_live_task_get(&in->sessions, (uint64_t)task_id);
        if (task != NULL) {
            pt_live_task_join(&in->sessions, task, s);
        }
    }
    settle(in, s);
}

/* The end of a session that it was given itself, or with its task. */
static void end_session(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                        pt_live_session_t *s) {
    if (s->has_outcome) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_SESSION_LATE);
        return;
    }
    if (!s->ended) {
        s->ended = true;
        s->end = s->begun ? PT_MAX(ev->ts, s->start) : ev->ts;
    }
    s->has_outcome = true;
    s->outcome = end_said(ev->args);
    s->end_thread = th;
    s->end_args = copy_text(in, pt_convert_args(in, ev));
    pt_live_session_leave(&in->sessions, s);
    settle(in, s);
}

/* ---- phases ---- */

static void take_phase(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                       pt_live_session_t *s, int64_t began) {
    pt_session_phase_t phase = pt_live_phase_find(&in->sessions, ev->name);
    pt_track_mark_t mark = {
        .ts = ev->ts, .name = ev->name, .args = pt_convert_args(in, ev), .thread = th};
    if (ev->ph == 'e' && mark.args.len > 0) {
        mark.args = pt_args_drop(&in->scratch[0], mark.args, "began"); /* a time of the file */
    }
    pt_track_took_t took = ev->ph == 'b' ? pt_track_spans_begin(&s->spans, &mark, phase.single)
                                         : pt_track_spans_end(&s->spans, &mark, began);
    if (took == PT_TRACK_STRAY) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_STRAY_END);
    }
    in->out->failed |= took == PT_TRACK_NO_MEMORY;
    if (ev->ph == 'e' && phase.finishes && !s->ended &&
        !pt_track_spans_is_open(&s->spans, ev->name)) {
        s->ended = true;
        s->end = PT_MAX(ev->ts, s->start);
        s->end_thread = th;
    }
    settle(in, s);
}

static bool session_event(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                          uint64_t id) {
    bool own = PT_STR_IS(ev->name, "\"session\""), has_began = false;
    in->sessions.seen |= own && ev->ph == 'b';
    if (ev->ph == 'n' || !in->sessions.seen) {
        return false;
    }
    int64_t began = ev->ph == 'e' ? began_of(ev->args, &has_began) : 0;
    pt_live_session_t *s = session_at(in, id);
    if (s == NULL) {
        return true;
    }
    /* A phase may be called "session", too. */
    if (own && ev->ph == 'b' && !s->begun) {
        begin_session(in, th, ev, s);
    } else if (own && ev->ph == 'e' && !has_began) {
        end_session(in, th, ev, s);
    } else {
        take_phase(in, th, ev, s, began);
    }
    return true;
}

/* ---- tasks ---- */

/* The end of a task's track that the file does not have. */
static void put_task_end(pt_convert_input_t *in, pt_live_task_t *t, int64_t last) {
    bool unfinished = t->unfinished || t->last_end == INT64_MIN;
    int64_t ts = t->unfinished || t->last_end == INT64_MIN ? last : t->last_end;
    char id[24];
    size_t len = (size_t)snprintf(id, sizeof id, "\"0x%" PRIx64 "\"", t->node.id);
    pt_event_t ev = {
        .name = TEXT("task"), .cat = TEXT("session.task"), .id = {id, len}, .ts = ts, .ph = 'e'};
    perftrace__strbuf_clear(&in->scratch[1]);
    if (unfinished) {
        ev.args = pt_args_add(&in->scratch[1], ev.args, "unfinished", truth);
    }
    pt_put_t put = {.name = ev.name,
                    .cat = ev.cat,
                    .track = &t->thread->track,
                    .ts = pt_convert_time(in, ts),
                    .ph = 'e'};
    pt_convert_async(in, t->thread, &ev, &put);
    t->open = false;
}

static bool task_begins(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                        uint64_t id) {
    pt_live_sessions_t *live = &in->sessions;
    pt_live_task_t *t = pt_live_task_get(live, id);
    if (t == NULL) {
        in->out->failed = true;
        return false;
    }
    if (t->open) {
        put_task_end(in, t, ev->ts); /* begun anew */
    }
    t->open = true;
    t->thread = th;
    t->last_end = INT64_MIN;
    if (live->idle_count > PT_LIVE_WAITING_LIMIT) {
        pt_live_task_t *oldest = PT_LIVE_TASK_OF(live->idle_tasks.next, all);
        put_task_end(in, oldest, in->last_ts);
        pt_live_task_settle(live, oldest);
    }
    return false;
}

/* A session of the task that had begun by a time, and that it was not said of how it ended. */
static pt_live_session_t *one_to_end(const pt_live_task_t *t, int64_t ts) {
    for (pt_link_t *l = t->sessions.next; l != &t->sessions; l = l->next) {
        pt_live_session_t *s = PT_LIVE_SESSION_OF(l, of_task);
        if (s->start <= ts) {
            return s;
        }
    }
    return NULL;
}

static bool task_ends(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                      pt_put_t *put, uint64_t id) {
    pt_live_task_t *t = pt_live_task_find(&in->sessions, id);
    bool open = t != NULL && t->open;
    if (t != NULL) {
        t->open = true; /* it stays until all is done */
        for (pt_live_session_t *s; (s = one_to_end(t, ev->ts)) != NULL;) {
            end_session(in, th, ev, s);
        }
        t->open = false;
        pt_live_task_settle(&in->sessions, t);
    }
    if (open) {
        return false;
    }
    put->ph = 'n'; /* it has no track of its own: a point */
    pt_event_t point = *ev;
    point.ph = 'n';
    pt_convert_async(in, th, &point, put);
    return true;
}

bool pt_convert_session(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                        pt_put_t *put) {
    uint64_t id;
    if (ev->cat.len < 9 || memcmp(ev->cat.p, "\"session", 8) != 0 || !read_id(ev->id, &id)) {
        return false;
    }
    if (PT_STR_IS(ev->cat, "\"session\"")) {
        return session_event(in, th, ev, id);
    }
    if (PT_STR_IS(ev->cat, "\"session.phase\"") && ev->ph == 'n') {
        pt_live_phase_declare(&in->sessions, ev->name, !is_true(ev->args, "allow_multiple"),
                              is_true(ev->args, "ready_on_complete"));
        return false;
    }
    if (!PT_STR_IS(ev->cat, "\"session.task\"") || !PT_STR_IS(ev->name, "\"task\"")) {
        return false;
    }
    in->sessions.seen = true;
    return ev->ph == 'b'   ? task_begins(in, th, ev, id)
           : ev->ph == 'e' ? task_ends(in, th, ev, put, id)
                           : false;
}

void pt_convert_session_close(pt_convert_input_t *in, int64_t last) {
    pt_live_sessions_t *live = &in->sessions;
    pt_link_t *const sessions[] = {&live->live, &live->waiting};
    pt_link_t *const tasks[] = {&live->idle_tasks, &live->tasks};
    for (size_t i = 0; i < PT_ARRAY_LEN(sessions); i++) {
        while (sessions[i]->next != sessions[i]) {
            give_out(in, PT_LIVE_SESSION_OF(sessions[i]->next, all), last);
        }
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(tasks); i++) {
        while (tasks[i]->next != tasks[i]) {
            pt_live_task_t *t = PT_LIVE_TASK_OF(tasks[i]->next, all);
            put_task_end(in, t, last);
            pt_live_task_settle(live, t);
        }
    }
    pt_live_sessions_free(live);
    pt_live_sessions_init(live);
}
