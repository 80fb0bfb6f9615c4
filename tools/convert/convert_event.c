/* convert_event.c: what becomes of one event. SPDX-License-Identifier: MIT */
#include "convert_event.h"

#include "args_edit.h"
#include "convert_label.h"
#include "convert_meta_event.h"
#include "event_filter.h"
#include "event_write.h"
#include "held_scope.h"

#include <stdio.h>
#include <stdlib.h>

/* Times of our own files count from their start: nothing runs for a year. */
#define OWN_TIME_LIMIT INT64_C(31622400000000000)

static const pt_str_t no_text = {NULL, 0};

static void problem(pt_convert_input_t *in, unsigned kind) {
    pt_trace_reader_problem(&in->reader, kind, NULL);
}

void pt_convert_first_use(pt_convert_input_t *in, pt_thread_t *th) {
    pt_process_t *p = th->process;
    th->used = true;
    if (p->pid == 0) {
        pt_process_number(&in->tracks, p, in->first_pid);
        in->first_pid = 0;
    }
    if (!p->written) {
        pt_convert_label_put(in, p, in->meta);
    }
    if (!in->source.ours) {
        pt_thread_put_metadata(th, 0, in->meta);
        th->named = true;
    }
}

PT_ALWAYS_INLINE pt_thread_t *thread_of(pt_convert_input_t *in, const pt_event_t *ev) {
    pt_thread_t *th = pt_tracks_thread(&in->tracks, &ev->pid, &ev->tid);
    if (PT_UNLIKELY(th != NULL && !th->used)) {
        pt_convert_first_use(in, th);
    }
    return th;
}

PT_ALWAYS_INLINE void note_out(pt_convert_input_t *in, char ph, int64_t start, int64_t end) {
    pt_convert_counts_t *c = &in->counts;
    c->out[(unsigned char)ph & 127]++;
    c->first_ns = PT_MIN(c->first_ns, start);
    c->last_ns = PT_MAX(c->last_ns, end);
}

/* The file's time in the merged trace, never below 0. */
static int64_t map_time(pt_convert_input_t *in, int64_t ts) {
    int64_t mapped = pt_clock_map(&in->clock, ts);
    if (PT_UNLIKELY(mapped < 0)) {
        problem(in, PT_TRACE_PROBLEM_NEGATIVE_TIME);
        return 0;
    }
    return mapped;
}

/* ---- scopes ---- */

static const pt_track_text_t *lane_track(pt_convert_input_t *in, pt_thread_t *th, unsigned lane,
                                         pt_track_text_t *made) {
    bool is_new = lane > th->lane_tid_count;
    if (lane == 0) {
        return &th->track;
    }
    uint32_t tid = pt_thread_lane_tid(&in->tracks, th, lane);
    if (is_new && lane <= th->lane_tid_count) {
        pt_thread_put_metadata(th, lane, in->meta);
    }
    pt_track_text_set(made, th->process->pid, tid);
    return made;
}

/* A scope that crosses another one, as two async events. */
static void put_async(pt_convert_input_t *in, pt_put_t *put, int64_t end) {
    put->number = pt_id_space_fresh(&in->ids);
    put->has_number = true;
    put->ph = 'b';
    pt_event_put(in->out, put);
    put->ph = 'e';
    put->ts = end;
    put->args = put->rest = no_text;
    pt_event_put(in->out, put);
    in->counts.out['b']++;
    note_out(in, 'e', end, end);
}

/* Writes the scope from start to end (ns of the merged trace). lane: 0, or where the plan or the
 * lane set wants it. */
static void put_scope(pt_convert_input_t *in, pt_thread_t *th, pt_put_t *put, int64_t start,
                      int64_t end, unsigned lane) {
    pt_track_text_t made;
    put->ts = start;
    put->dur = end - start;
    put->ph = 'X';
    put->track = &th->track;
    if (lane > 0 && in->options->overlap != PT_OVERLAP_KEEP) {
        in->counts.moved++;
        problem(in, PT_TRACE_PROBLEM_OVERLAP);
        if (in->options->overlap == PT_OVERLAP_ASYNC) {
            put_async(in, put, end);
            return;
        }
        put->track = lane_track(in, th, lane, &made);
    }
    pt_event_put(in->out, put);
    note_out(in, 'X', start, end);
}

static unsigned place(pt_convert_input_t *in, pt_thread_t *th, int64_t start, int64_t end) {
    if (in->options->overlap == PT_OVERLAP_KEEP || end <= start) {
        return 0;
    }
    uint64_t unsure = th->lanes.unsure;
    unsigned lane = pt_lane_set_place(&th->lanes, start, end);
    if (PT_UNLIKELY(th->lanes.unsure != unsure)) {
        in->counts.unsure++;
        problem(in, PT_TRACE_PROBLEM_UNSURE);
    }
    return lane;
}

static bool filtered(pt_convert_input_t *in, pt_str_t name, pt_str_t cat, pt_str_t args,
                     int64_t start, int64_t end, bool scope) {
    if (pt_event_filter_takes(in->options, name, cat, args, start, end, scope)) {
        return false;
    }
    in->counts.filtered++;
    return true;
}

static pt_str_t edit_args(pt_convert_input_t *in, const pt_event_t *ev) {
    if (in->options->no_args) {
        return no_text;
    }
    if ((ev->has & PT_EVENT_ARGS_LINKS) != 0 && in->several) {
        return pt_args_links(&in->scratch[1], ev->args, &in->ids);
    }
    return ev->args;
}

/* A complete scope, from an X or from a pair. ts and end are the file's. `planned`: the lane is
 * known. */
static void scope(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev, int64_t end,
                  bool planned, unsigned lane) {
    int64_t start = map_time(in, ev->ts);
    int64_t stop = PT_MAX(start, pt_clock_map(&in->clock, end));
    if (stop == start && in->source.ours) {
        stop++;
    }
    if (filtered(in, ev->name, ev->cat, ev->args, start, stop, true)) {
        return;
    }
    pt_put_t put = {.name = ev->name, .cat = ev->cat, .args = edit_args(in, ev), .rest = ev->rest};
    put_scope(in, th, &put, start, stop, planned ? lane : place(in, th, start, stop));
}

static void tell_unfinished(pt_convert_input_t *in, const pt_held_scope_t *held) {
    in->counts.unfinished++;
    if (held->line == 0) {
        problem(in, PT_TRACE_PROBLEM_UNFINISHED);
    } else {
        char detail[80];
        snprintf(detail, sizeof detail, "%.*s", (int)PT_MIN(held->name.len, (size_t)79),
                 held->name.p);
        pt_problems_add(in->reader.book, PT_TRACE_PROBLEM_UNFINISHED, in->index, held->line,
                        held->offset, detail);
    }
}

static void scope_of_held(pt_convert_input_t *in, pt_thread_t *th, const pt_held_scope_t *held,
                          const pt_event_t *end, int64_t end_ts, bool planned, unsigned lane) {
    pt_event_t ev = {.name = held->name, .cat = held->cat, .rest = held->rest, .ts = held->ts};
    ev.args = end != NULL ? pt_args_merge(&in->scratch[0], held->args, end->args) : held->args;
    if (end == NULL) {
        ev.args = pt_args_add(&in->scratch[0], held->args, "unfinished", (pt_str_t){"true", 4});
        tell_unfinished(in, held);
    }
    if (memmem(ev.args.p != NULL ? ev.args.p : "", ev.args.len, "orrelation\"", 11) != NULL) {
        ev.has |= PT_EVENT_ARGS_LINKS;
    }
    scope(in, th, &ev, end_ts, planned, lane);
}

static void complete(pt_convert_input_t *in, pt_thread_t *th, pt_event_t *ev,
                     const pt_plan_entry_t *plan) {
    if ((ev->has & PT_EVENT_HAS_DUR) == 0) {
        if ((in->reader.parser.odd & PT_EVENT_ODD_DUR) == 0) {
            problem(in, PT_TRACE_PROBLEM_NO_DUR);
        }
        ev->dur = 0;
    }
    ev->dur = ev->dur < 0 ? 0 : ev->dur;
    scope(in, th, ev, ev->ts + ev->dur, !in->source.ours, plan != NULL ? plan->lane : 0);
}

static void stray(pt_convert_input_t *in) {
    problem(in, PT_TRACE_PROBLEM_STRAY_END);
}

/* B and E of our own files: in order, so a stack does. */
static void stacked(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev) {
    if (ev->ph == 'E') {
        if (th->open_count == 0) {
            stray(in);
            return;
        }
        pt_held_scope_t *held = &th->open[--th->open_count];
        scope_of_held(in, th, held, ev, PT_MAX(held->ts, ev->ts), false, 0);
        pt_held_scope_clear(held);
        return;
    }
    if (th->open_count == th->open_cap) {
        unsigned cap = th->open_cap == 0 ? 8 : th->open_cap * 2;
        pt_held_scope_t *more = realloc(th->open, cap * sizeof *more);
        if (more == NULL) {
            return;
        }
        memset(more + th->open_cap, 0, (cap - th->open_cap) * sizeof *more);
        th->open = more;
        th->open_cap = cap;
    }
    pt_held_scope_t *held = &th->open[th->open_count];
    if (pt_held_scope_set(held, ev)) {
        pt_cutter_place(&in->reader.cutter, in->reader.record, &held->line, &held->offset);
        th->open_count++;
    }
}

/* B and E as the plan has it. */
static void paired(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev,
                   const pt_plan_entry_t *plan) {
    pt_held_scope_t alone = {.ts = ev->ts,
                             .name = ev->name,
                             .cat = ev->cat,
                             .args = ev->args,
                             .rest = ev->rest,
                             .memory = NULL};
    if (plan == NULL || plan->what == PT_PLAN_STRAY) {
        stray(in);
    } else if (plan->what == PT_PLAN_OPEN) {
        scope_of_held(in, th, &alone, NULL, plan->ts, true, plan->lane);
    } else if (plan->first) {
        pt_held_scope_set(&in->held[plan->slot], ev);
        in->held[plan->slot].lane = plan->lane;
    } else {
        pt_held_scope_t *held = &in->held[plan->slot];
        if (plan->what == PT_PLAN_END) {
            held->ts = plan->ts;
            scope_of_held(in, th, held, ev, ev->ts, true, held->lane);
        } else {
            pt_event_t end = {.args = held->args, .ts = plan->ts};
            scope_of_held(in, th, &alone, &end, plan->ts, true, plan->lane);
        }
        pt_held_scope_clear(held);
    }
}

/* ---- everything else ---- */

static void set_flow(pt_convert_input_t *in, const pt_event_t *ev, const pt_plan_entry_t *plan,
                     pt_put_t *put) {
    put->number = plan != NULL ? in->ids.base + in->ids.half + plan->slot % in->ids.half
                               : pt_flow_number(&in->flows, ev->ph, pt_event_link_key(ev), ev->ts);
    put->has_number = true;
    put->bind_enclosing = ev->ph == 'f';
    if (ev->ph == 's' && ev->id.len > 10 && !in->options->no_args) {
        put->args = pt_args_add(&in->scratch[0], put->args, "orig_id", ev->id);
    }
}

/* Async events: one number for one id. Ids local to a process must not meet those of another. */
static void set_async(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                      pt_put_t *put) {
    pt_str_t id = ev->id;
    uint64_t salt = 0;
    bool kept = true;
    if (ev->id2.len > 0) {
        id = ev->id2;
        salt = memmem(id.p, id.len, "\"local\"", 7) != NULL ? 2U + th->process->pid : 1;
    }
    put->number = pt_id_space_map(&in->ids, id, salt, &kept);
    put->has_number = true;
    if (!kept && strchr("bnS", ev->ph) != NULL && !in->options->no_args) {
        put->args = pt_args_add(&in->scratch[0], put->args, "orig_id", id);
    }
}

static bool set_counter(pt_convert_input_t *in, const pt_event_t *ev, pt_put_t *put) {
    unsigned nonfinite, not_numeric;
    put->args = ev->args;
    if ((ev->has & PT_EVENT_ARGS_NUMERIC) == 0) {
        put->args = pt_args_counter(&in->scratch[0], ev->args, &nonfinite, &not_numeric);
        for (unsigned i = 0; i < nonfinite; i++) {
            problem(in, PT_TRACE_PROBLEM_NONFINITE);
        }
        for (unsigned i = 0; i < not_numeric; i++) {
            problem(in, PT_TRACE_PROBLEM_NOT_NUMERIC);
        }
        in->counts.nonfinite += nonfinite;
    }
    return put->args.len > 2;
}

static void other(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev,
                  const pt_plan_entry_t *plan) {
    bool moved = plan != NULL && plan->what == PT_PLAN_FLOW && plan->ts != INT64_MIN;
    int64_t ts = map_time(in, moved ? plan->ts : ev->ts);
    pt_put_t put = {.name = ev->name,
                    .cat = ev->cat,
                    .args = no_text,
                    .id = ev->id,
                    .s = ev->s,
                    .scope = ev->scope,
                    .rest = ev->rest,
                    .track = &th->track,
                    .ts = ts,
                    .ph = ev->ph};
    if (filtered(in, ev->name, ev->cat, ev->args, ts, ts, false)) {
        return;
    }
    if (plan != NULL && plan->what == PT_PLAN_LONE) {
        problem(in, PT_TRACE_PROBLEM_FLOW_LONE);
        return;
    }
    put.args = edit_args(in, ev);
    switch (ev->ph) {
    case 's':
    case 't':
    case 'f':
        set_flow(in, ev, plan, &put);
        break;
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
        set_async(in, th, ev, &put);
        break;
    case 'C':
        if (!set_counter(in, ev, &put)) {
            return;
        }
        break;
    case 'i':
    case 'I':
        put.ph = 'i';
        put.s = ev->s.len > 0 ? ev->s : (pt_str_t){"\"t\"", 3};
        break;
    default:
        break;
    }
    pt_event_put(in->out, &put);
    note_out(in, put.ph, ts, ts);
}

/* Events that are copied but for their times and numbers. False: take the long way. */
PT_ALWAYS_INLINE bool copied(pt_convert_input_t *in, const pt_event_t *ev) {
    if (!in->plain || (ev->has & PT_EVENT_VERBATIM) == 0 ||
        ((ev->has & PT_EVENT_ARGS_LINKS) != 0 && in->several) || ev->ts > OWN_TIME_LIMIT) {
        return false;
    }
    bool is_scope = ev->ph == 'X';
    if (!is_scope && !(ev->ph == 'i' && ev->s.len > 0) &&
        !(ev->ph == 'C' && (ev->has & PT_EVENT_ARGS_NUMERIC) != 0 && ev->args.len > 2)) {
        return false;
    }
    int64_t start = pt_clock_map(&in->clock, ev->ts), end = start;
    pt_thread_t *th = thread_of(in, ev);
    if (start < 0 || th == NULL) {
        return false;
    }
    if (is_scope) {
        end = pt_clock_map(&in->clock, ev->ts + ev->dur);
        unsigned lane = place(in, th, start, end);
        if (PT_UNLIKELY(lane > 0)) {
            pt_put_t put = {.name = ev->name, .cat = ev->cat, .args = ev->args};
            put_scope(in, th, &put, start, end, lane);
            return true;
        }
    }
    pt_event_put_verbatim(in->out, ev, &th->track, start, end - start,
                          in->clock.rate < 0 || in->clock.rate > 0);
    note_out(in, ev->ph, start, end);
    return true;
}

static bool time_is_good(pt_convert_input_t *in, const pt_event_t *ev) {
    if ((ev->has & PT_EVENT_HAS_TS) == 0) {
        problem(in, (in->reader.parser.odd & PT_EVENT_ODD_TS) != 0 ? PT_TRACE_PROBLEM_BAD_TIME
                                                                   : PT_TRACE_PROBLEM_NO_TIME);
        return false;
    }
    bool outlier = in->source.ours ? ev->ts > OWN_TIME_LIMIT && !in->options->keep_outliers
                                   : ev->ts < in->survey.lo || ev->ts > in->survey.hi;
    if (outlier) {
        problem(in, PT_TRACE_PROBLEM_OUTLIER);
    }
    return !outlier;
}

void pt_convert_event(void *ctx, pt_event_t *ev) {
    pt_convert_input_t *in = ctx;
    in->counts.in[(unsigned char)ev->ph & 127]++;
    if (PT_LIKELY(copied(in, ev))) {
        return;
    }
    const pt_plan_entry_t *plan =
        in->source.ours ? NULL : pt_scope_plan_find(&in->survey.plan, in->reader.ordinal);
    if (ev->ph == 'M') {
        pt_convert_meta_event(in, ev);
        return;
    }
    if (strchr("XBEiICstfbneSTpFRPNODvVc()", ev->ph) == NULL) {
        problem(in, PT_TRACE_PROBLEM_BAD_PHASE);
        return;
    }
    if (!time_is_good(in, ev)) {
        return;
    }
    pt_thread_t *th = thread_of(in, ev);
    if (th == NULL) {
        return;
    }
    in->last_ts = PT_MAX(in->last_ts, ev->ts + ((ev->has & PT_EVENT_HAS_DUR) != 0 ? ev->dur : 0));
    if (ev->ph == 'X') {
        complete(in, th, ev, plan);
    } else if (ev->ph != 'B' && ev->ph != 'E') {
        other(in, th, ev, plan);
    } else if (in->source.ours) {
        stacked(in, th, ev);
    } else {
        paired(in, th, ev, plan);
    }
}

bool pt_convert_event_begin(pt_convert_input_t *in) {
    pt_problems_t *book = in->reader.book;
    pt_trace_reader_init(&in->reader, in->source.shape);
    in->reader.book = book;
    in->reader.file = in->index;
    in->reader.event = pt_convert_event;
    in->reader.ctx = in;
    pt_id_space_init(&in->ids, in->slot, in->slots);
    in->ids.next = in->survey.plan.chains % in->ids.half; /* the first numbers are the plan's */
    in->flows = (pt_flow_table_t){.ids = &in->ids};
    in->plain = in->source.ours && !pt_event_filter_active(in->options) && !in->options->no_args;
    if (in->survey.plan.slots > 0) {
        in->held = calloc(in->survey.plan.slots, sizeof *in->held);
    }
    return (in->survey.plan.slots == 0 || in->held != NULL) && pt_convert_input_rewind(in);
}

/* The last time of the file, for scopes that never ended. */
static int64_t last_time(const pt_convert_input_t *in) {
    int64_t written = in->counts.last_ns - in->clock.shift_ns;
    return in->counts.last_ns == INT64_MIN ? in->last_ts : PT_MAX(in->last_ts, written);
}

void pt_convert_event_finish(pt_convert_input_t *in) {
    int64_t last = last_time(in);
    bool used = false;
    in->reader.record = NULL; /* what comes now stands at no place of the file */
    for (size_t i = 0; i < in->tracks.process_count; i++) {
        pt_process_t *p = in->tracks.process[i];
        used |= p->written;
        for (size_t k = 0; k < p->thread_count; k++) {
            pt_thread_t *th = p->thread[k];
            while (th->open_count > 0) {
                pt_held_scope_t *held = &th->open[--th->open_count];
                scope_of_held(in, th, held, NULL, PT_MAX(last, held->ts), false, 0);
                pt_held_scope_clear(held);
            }
            if (th->used && !th->named) {
                pt_thread_put_metadata(th, 0, in->meta);
            }
        }
    }
    if (!used && in->tracks.process_count > 0) {
        pt_convert_label_put(in, in->tracks.process[0], in->meta);
    }
    pt_flow_table_finish(&in->flows);
    in->counts.flows_open = in->flows.open_starts + in->survey.plan.open_flows;
    pt_problems_add_many(in->reader.book, PT_TRACE_PROBLEM_FLOW_OPEN, in->index, 0, PT_NO_OFFSET,
                         NULL, in->counts.flows_open);
    pt_problems_add_many(in->reader.book, PT_TRACE_PROBLEM_FLOW_LONE, in->index, 0, PT_NO_OFFSET,
                         NULL, in->flows.lone_ends);
    pt_trace_reader_free(&in->reader);
}
