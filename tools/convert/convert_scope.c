/* convert_scope.c: scopes on their way out: X, and B with E. SPDX-License-Identifier: MIT */
#include "convert_scope.h"

#include "args_edit.h"
#include "held_scope.h"

#include <stdio.h>
#include <stdlib.h>

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
    put->args = put->rest = PT_NO_STR;
    pt_event_put(in->out, put);
    in->counts.out['b']++;
    pt_convert_note_out(in, 'e', end, end);
}

void pt_convert_scope_put(pt_convert_input_t *in, pt_thread_t *th, const pt_put_t *texts,
                          int64_t start, int64_t end, pt_scope_place_t place) {
    pt_track_text_t made;
    pt_put_t put = *texts;
    put.ts = start;
    put.dur = end - start;
    put.ph = 'X';
    put.touch = place.touch;
    put.track = &th->track;
    if (place.lane > 0 && in->options->overlap != PT_OVERLAP_KEEP) {
        bool no_lane = place.lane >= PT_LANE_MAX && in->options->overlap == PT_OVERLAP_LANES;
        in->counts.moved += !no_lane;
        pt_convert_problem(in, no_lane ? PT_TRACE_PROBLEM_NO_LANE : PT_TRACE_PROBLEM_OVERLAP);
        if (no_lane || in->options->overlap == PT_OVERLAP_ASYNC) {
            put_async(in, &put, end);
            return;
        }
        put.track = lane_track(in, th, place.lane, &made);
    }
    pt_event_put(in->out, &put);
    pt_convert_note_out(in, 'X', start, end);
}

pt_scope_place_t pt_convert_scope_place(pt_convert_input_t *in, pt_thread_t *th, int64_t start,
                                        int64_t end) {
    pt_scope_place_t place = {0, {0, 0}};
    if (in->options->overlap == PT_OVERLAP_KEEP || end <= start) {
        return place;
    }
    uint64_t unsure = th->lanes.unsure;
    place.lane = pt_lane_set_place(&th->lanes, start, end, &place.touch);
    if (PT_UNLIKELY(th->lanes.unsure != unsure)) {
        in->counts.unsure++;
        pt_convert_problem(in, PT_TRACE_PROBLEM_UNSURE);
    }
    return place;
}

/* The place that the plan gives a scope of another writer's file. plan may be NULL. */
static pt_scope_place_t planned_place(const pt_plan_entry_t *plan) {
    pt_scope_place_t place = {0, {0, 0}};
    if (plan != NULL) {
        place.lane = plan->lane;
        place.touch.start_late = plan->late;
        place.touch.end_late = -(int32_t)plan->early;
    }
    return place;
}

/* The other form of flows: the scope itself has the id. */
static pt_str_t bind_id(pt_convert_input_t *in, const pt_event_t *ev) {
    bool kept;
    perftrace__strbuf_t *out = &in->scratch[2];
    perftrace__strbuf_clear(out);
    perftrace__strbuf_printf(out, ", \"bind_id\": %u",
                             pt_id_space_map(&in->ids, ev->bind_id, 0, &kept));
    if (ev->rest.len > 0) {
        perftrace__strbuf_append(out, ev->rest.p, ev->rest.len);
    }
    return (pt_str_t){out->data, out->failed ? 0 : out->len};
}

/* A complete scope, from an X or from a pair. ts and end are the file's. place: NULL for our own
 * files, whose scopes are placed as they come. */
static void scope(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev, int64_t end,
                  const pt_scope_place_t *place) {
    int64_t start = pt_convert_time(in, ev->ts);
    int64_t stop = PT_MAX(start, pt_clock_map(&in->clock, end));
    if (stop == start && in->source.ours) {
        stop++;
    }
    if (pt_convert_filtered(in, ev, start, stop, true)) {
        return;
    }
    pt_put_t put = {
        .name = ev->name, .cat = ev->cat, .args = pt_convert_args(in, ev), .rest = ev->rest};
    if (ev->bind_id.len > 0) {
        put.rest = bind_id(in, ev);
    }
    pt_convert_scope_put(in, th, &put, start, stop,
                         place != NULL ? *place : pt_convert_scope_place(in, th, start, stop));
}

static void tell_unfinished(pt_convert_input_t *in, const pt_held_scope_t *held) {
    in->counts.unfinished++;
    if (held->line == 0) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_UNFINISHED);
    } else {
        char detail[80];
        snprintf(detail, sizeof detail, "%.*s", (int)PT_MIN(held->name.len, (size_t)79),
                 held->name.p);
        pt_problems_add(in->book, PT_TRACE_PROBLEM_UNFINISHED, in->index, held->line, held->offset,
                        detail);
    }
}

static void scope_of_held(pt_convert_input_t *in, pt_thread_t *th, const pt_held_scope_t *held,
                          const pt_event_t *end, int64_t end_ts, const pt_scope_place_t *place) {
    pt_event_t ev = {.name = held->name, .cat = held->cat, .rest = held->rest, .ts = held->ts};
    ev.args = end != NULL ? pt_args_merge(&in->scratch[0], held->args, end->args) : held->args;
    if (end == NULL) {
        ev.args = pt_args_add(&in->scratch[0], held->args, "unfinished", (pt_str_t){"true", 4});
        tell_unfinished(in, held);
    }
    if (memmem(ev.args.p != NULL ? ev.args.p : "", ev.args.len, "orrelation\"", 11) != NULL) {
        ev.has |= PT_EVENT_ARGS_LINKS;
    }
    scope(in, th, &ev, end_ts, place);
}

static void complete(pt_convert_input_t *in, pt_thread_t *th, pt_event_t *ev,
                     const pt_plan_entry_t *plan) {
    if ((ev->has & PT_EVENT_HAS_DUR) == 0) {
        if ((in->reader->parser.odd & PT_EVENT_ODD_DUR) == 0) {
            pt_convert_problem(in, PT_TRACE_PROBLEM_NO_DUR);
        }
        ev->dur = 0;
    }
    ev->dur = ev->dur < 0 ? 0 : ev->dur;
    pt_scope_place_t place = planned_place(plan);
    scope(in, th, ev, ev->ts + ev->dur, in->source.ours ? NULL : &place);
}

static void stray(pt_convert_input_t *in) {
    pt_convert_problem(in, PT_TRACE_PROBLEM_STRAY_END);
}

/* B and E of our own files: in order, so a stack does. */
static void stacked(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev) {
    if (ev->ph == 'E') {
        if (th->open_count == 0) {
            stray(in);
            return;
        }
        pt_held_scope_t *held = &th->open[--th->open_count];
        scope_of_held(in, th, held, ev, PT_MAX(held->ts, ev->ts), NULL);
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
        pt_cutter_place(&in->reader->cutter, in->reader->record, &held->line, &held->offset);
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
    pt_scope_place_t place = planned_place(plan);
    if (plan == NULL || plan->what == PT_PLAN_STRAY) {
        stray(in);
    } else if (plan->what == PT_PLAN_OPEN) {
        scope_of_held(in, th, &alone, NULL, plan->ts, &place);
    } else if (plan->first) {
        pt_held_scope_set(&in->held[plan->slot], ev);
        in->held[plan->slot].place = place;
    } else {
        pt_held_scope_t *held = &in->held[plan->slot];
        if (plan->what == PT_PLAN_END) {
            held->ts = plan->ts;
            place = held->place;
            scope_of_held(in, th, held, ev, ev->ts, &place);
        } else {
            pt_event_t end = {.args = held->args, .ts = plan->ts};
            scope_of_held(in, th, &alone, &end, plan->ts, &place);
        }
        pt_held_scope_clear(held);
    }
}

void pt_convert_scope(pt_convert_input_t *in, pt_thread_t *th, pt_event_t *ev,
                      const pt_plan_entry_t *plan) {
    if (ev->ph == 'X') {
        complete(in, th, ev, plan);
    } else if (in->source.ours) {
        stacked(in, th, ev);
    } else {
        paired(in, th, ev, plan);
    }
}

void pt_convert_scope_close(pt_convert_input_t *in, pt_thread_t *th, int64_t last) {
    while (th->open_count > 0) {
        pt_held_scope_t *held = &th->open[--th->open_count];
        scope_of_held(in, th, held, NULL, PT_MAX(last, held->ts), NULL);
        pt_held_scope_clear(held);
    }
}
