/* convert_event.c: what becomes of one event. SPDX-License-Identifier: MIT */
#include "convert_event.h"

#include "args_edit.h"
#include "convert_label.h"
#include "convert_link.h"
#include "convert_meta_event.h"
#include "convert_scope.h"
#include "convert_session.h"
#include "event_fast.h"
#include "event_filter.h"
#include "held_scope.h"

#include <stdlib.h>

/* Times of our own files count from their start: nothing runs for a year. */
#define OWN_TIME_LIMIT INT64_C(31622400000000000)

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

static bool is_left_out(pt_convert_input_t *in, const pt_event_t *ev) {
    const pt_process_t *p = pt_tracks_process(&in->tracks, &ev->pid);
    return p != NULL && p->left_out;
}

static bool set_counter(pt_convert_input_t *in, const pt_event_t *ev, pt_put_t *put) {
    unsigned nonfinite = 0, not_numeric = 0;
    put->args = ev->args;
    if ((ev->has & PT_EVENT_ARGS_NUMERIC) == 0) {
        put->args = pt_args_counter(&in->scratch[0], ev->args, &nonfinite, &not_numeric);
        for (unsigned i = 0; i < nonfinite; i++) {
            pt_convert_problem(in, PT_TRACE_PROBLEM_NONFINITE);
        }
        for (unsigned i = 0; i < not_numeric; i++) {
            pt_convert_problem(in, PT_TRACE_PROBLEM_NOT_NUMERIC);
        }
        in->counts.nonfinite += nonfinite;
    }
    bool any = put->args.len > 2;
    if (!any && nonfinite + not_numeric == 0) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_NO_VALUE);
    }
    return any;
}

static void other(pt_convert_input_t *in, pt_thread_t *th, const pt_event_t *ev,
                  const pt_plan_entry_t *plan) {
    bool moved = plan != NULL && plan->what == PT_PLAN_FLOW && plan->ts != INT64_MIN;
    int64_t ts = pt_convert_time(in, moved ? plan->ts : ev->ts);
    pt_put_t put = {.name = ev->name,
                    .cat = ev->cat,
                    .args = PT_NO_STR,
                    .id = ev->id,
                    .s = ev->s,
                    .scope = ev->scope,
                    .rest = ev->rest,
                    .track = &th->track,
                    .ts = ts,
                    .ph = ev->ph};
    if (strchr("bneSTpF", ev->ph) != NULL) {
        if (!in->source.ours || !pt_convert_session(in, th, ev, &put)) {
            pt_convert_async(in, th, ev, &put);
        }
        return;
    }
    if (pt_convert_filtered(in, ev, ts, ts, false)) {
        return;
    }
    put.args = pt_convert_args(in, ev);
    switch (ev->ph) {
    case 's':
    case 't':
    case 'f':
        pt_convert_flow(in, ev, plan, &put);
        return;
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
    pt_convert_note_out(in, put.ph, ts, ts);
}

/* Whether an event of our own files can be copied but for its times and numbers. */
PT_ALWAYS_INLINE bool can_be_copied(const pt_convert_input_t *in, const pt_event_t *ev) {
    if (!in->plain || (ev->has & PT_EVENT_VERBATIM) == 0 ||
        ((ev->has & PT_EVENT_ARGS_LINKS) != 0 && in->several) || ev->ts > OWN_TIME_LIMIT) {
        return false;
    }
    return (ev->has & PT_EVENT_BRIEF) != 0 || ev->ph == 'X' || (ev->ph == 'i' && ev->s.len > 0) ||
           (ev->ph == 'C' && (ev->has & PT_EVENT_ARGS_NUMERIC) != 0 && ev->args.len > 2);
}

/* The members that a brief event leaves out: its line is read once more. */
static PT_NOINLINE void complete(pt_event_t *ev) {
    if ((ev->has & PT_EVENT_BRIEF) != 0) {
        const char *line = ev->head.p, *end = ev->tail.p + ev->tail.len;
        bool read = pt_event_read_fast(line, end, ev);
        ev->has = read ? ev->has : 0;
    }
}

PT_ALWAYS_INLINE bool copied(pt_convert_input_t *in, pt_event_t *ev) {
    if (!can_be_copied(in, ev)) {
        return false;
    }
    int64_t start = pt_clock_map(&in->clock, ev->ts), end = start;
    pt_scope_place_t place = {0, {0, 0}};
    pt_thread_t *th = thread_of(in, ev);
    if (start < 0 || th == NULL) {
        return false;
    }
    if (ev->ph == 'X') {
        end = pt_clock_map(&in->clock, ev->ts + ev->dur);
        place = pt_convert_scope_place(in, th, start, end);
        if (PT_UNLIKELY(place.lane > 0)) {
            complete(ev);
            pt_put_t put = {.name = ev->name, .cat = ev->cat, .args = ev->args};
            pt_convert_scope_put(in, th, &put, start, end, place);
            return true;
        }
    }
    pt_event_put_verbatim(in->out, ev, &th->track, start, end - start,
                          in->clock.rate < 0 || in->clock.rate > 0, place.touch);
    pt_convert_note_out(in, ev->ph, start, end);
    return true;
}

static bool time_is_good(pt_convert_input_t *in, const pt_event_t *ev) {
    if ((ev->has & PT_EVENT_HAS_TS) == 0) {
        pt_convert_problem(in, (in->reader->parser.odd & PT_EVENT_ODD_TS) != 0
                                   ? PT_TRACE_PROBLEM_BAD_TIME
                                   : PT_TRACE_PROBLEM_NO_TIME);
        return false;
    }
    bool outlier = in->source.ours ? ev->ts > OWN_TIME_LIMIT && !in->options->keep_outliers
                                   : ev->ts < in->survey.lo || ev->ts > in->survey.hi;
    if (outlier) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_OUTLIER);
    }
    return !outlier;
}

void pt_convert_event(void *ctx, pt_event_t *ev) {
    pt_convert_input_t *in = ctx;
    in->counts.in[(unsigned char)ev->ph & 127]++;
    if (PT_LIKELY(copied(in, ev))) {
        return;
    }
    complete(ev);
    if (PT_UNLIKELY(in->ranks.list.count > 1)) {
        pt_mixed_ranks_line(&in->ranks, ev);
    }
    const pt_plan_entry_t *plan =
        in->source.ours ? NULL : pt_scope_plan_find(&in->survey.plan, in->reader->ordinal);
    if (PT_UNLIKELY(in->some_left_out) && is_left_out(in, ev)) {
        in->counts.filtered += ev->ph != 'M';
        return;
    }
    if (ev->ph == 'M') {
        pt_convert_meta_event(in, ev);
        return;
    }
    if (strchr("XBEiICstfbneSTpFRPNODvVc()", ev->ph) == NULL) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_BAD_PHASE);
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
    if (ev->ph == 'X' || ev->ph == 'B' || ev->ph == 'E') {
        pt_convert_scope(in, th, ev, plan);
    } else {
        other(in, th, ev, plan);
    }
}

bool pt_convert_event_begin(pt_convert_input_t *in) {
    if (!pt_convert_input_reader(in) || !pt_convert_input_count(in)) {
        in->no_memory = true;
        return false;
    }
    in->reader->book = in->book;
    in->reader->file = in->index;
    in->reader->event = pt_convert_event;
    in->reader->ctx = in;
    pt_id_space_init(&in->ids, in->slot, in->slots);
    in->ids.next = in->survey.plan.chains % in->ids.half; /* the first numbers are the plan's */
    in->flows = in->session_flows = (pt_flow_table_t){.ids = &in->ids};
    pt_live_sessions_init(&in->sessions);
    in->filtering = pt_event_filter_active(in->options);
    in->plain = in->reader->brief = in->source.ours && !in->filtering && in->options->args;
    if (in->survey.plan.slots > 0) {
        in->held = calloc(in->survey.plan.slots, sizeof *in->held);
    }
    return (in->survey.plan.slots == 0 || in->held != NULL) && pt_convert_input_rewind(in);
}

void pt_convert_event_finish(pt_convert_input_t *in) {
    int64_t last = pt_convert_last_time(in);
    bool used = false;
    in->reader->record = NULL; /* what comes now stands at no place of the file */
    pt_convert_session_close(in, last);
    for (size_t i = 0; i < in->tracks.process_count; i++) {
        pt_process_t *p = in->tracks.process[i];
        used |= p->written;
        for (size_t k = 0; k < p->thread_count; k++) {
            pt_thread_t *th = p->thread[k];
            pt_convert_scope_close(in, th, last);
            if (th->used && !th->named) {
                pt_thread_put_metadata(th, 0, in->meta);
            }
        }
    }
    if (!used && in->tracks.process_count > 0) {
        pt_convert_label_put(in, in->tracks.process[0], in->meta);
    }
    pt_flow_table_finish(&in->flows);
    pt_flow_table_finish(&in->session_flows);
    pt_flow_wait_finish(&in->waiting);
    pt_flow_wait_finish(&in->early);
    perftrace__hashmap_free(&in->written_links);
    in->counts.flows_open = in->flows.open_starts + in->survey.plan.open_flows;
    pt_problems_add_many(in->book, PT_TRACE_PROBLEM_FLOW_OPEN, in->index, 0, PT_NO_OFFSET, NULL,
                         in->counts.flows_open);
    pt_problems_add_many(in->book, PT_TRACE_PROBLEM_FLOW_LONE, in->index, 0, PT_NO_OFFSET, NULL,
                         in->waiting.given_up);
    pt_trace_reader_free(in->reader);
}
