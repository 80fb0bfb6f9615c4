/* convert_link.c: events that belong together by an id: flows and async events.
 * SPDX-License-Identifier: MIT */
#include "convert_link.h"

#include "args_edit.h"

/* ---- flows ---- */

static void set_orig_id(pt_convert_input_t *in, const pt_event_t *ev, pt_put_t *put) {
    if (ev->ph == 's' && ev->id.len > 10 && in->options->args) {
        put->args = pt_args_add(&in->scratch[0], put->args, "orig_id", ev->id);
    }
}

/* Whether events of this number have been written; `write`: they are from now on. */
static bool was_written(pt_convert_input_t *in, uint32_t number, bool write) {
    if (write) {
        perftrace__hashmap_put_u64(&in->written_links, number, 1, NULL);
        return true;
    }
    return perftrace__hashmap_get_u64(&in->written_links, number) != NULL;
}

/* Keeps the line that was just written until the start of its chain comes. */
static void hold_back(pt_convert_input_t *in, pt_flow_wait_t *wait, const pt_put_t *put,
                      size_t from) {
    pt_flow_wait_add(wait, put->number, put->ph, in->out->data + from, in->out->len - from);
    in->out->len = from;
}

/* The arrow from where a session was submitted to where it was consumed. */
static bool is_of_session(const pt_event_t *ev) {
    return PT_STR_IS(ev->cat, "\"session\"") && PT_STR_IS(ev->name, "\"session\"");
}

/* A number for each chain. A step may stand before its start: in our own files by a race of the
 * writer, in a window because the start lies outside. */
void pt_convert_flow(pt_convert_input_t *in, const pt_event_t *ev, const pt_plan_entry_t *plan,
                     pt_put_t *put) {
    bool started = true;
    size_t from = in->out->len;
    if (plan != NULL && plan->what == PT_PLAN_LONE) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_FLOW_LONE);
        return;
    }
    if (plan != NULL) {
        put->number = in->ids.base + in->ids.half + plan->slot % in->ids.half;
        started = !in->filtering || was_written(in, put->number, ev->ph == 's');
    } else {
        pt_flow_table_t *flows = is_of_session(ev) ? &in->session_flows : &in->flows;
        put->number = pt_flow_number(flows, ev->ph, pt_event_link_key(ev), ev->ts, &started);
    }
    put->has_number = true;
    put->bind_enclosing = ev->ph == 'f';
    set_orig_id(in, ev, put);
    pt_event_put(in->out, put);
    if (!started) {
        hold_back(in, &in->waiting, put, from);
        return;
    }
    pt_convert_note_out(in, ev->ph, put->ts, put->ts);
    if (ev->ph == 's' && in->waiting.count > 0) {
        pt_flow_wait_take(&in->waiting, put->number, in->out, in->counts.out);
    }
}

/* ---- async events ---- */

/* One number for one id. Ids local to a process must not meet those of another. */
static void set_async_id(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
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
    if (!kept && strchr("bnS", ev->ph) != NULL && in->options->args) {
        put->args = pt_args_add(&in->scratch[0], put->args, "orig_id", id);
    }
}

/* An event before the window waits for one of its id that is in the window or behind it. */
static void async_in_window(pt_convert_input_t *in, const pt_event_t *ev, pt_put_t *put) {
    int64_t at = put->ts + in->window_shift_ns;
    bool before = at < (int64_t)in->options->from_ns;
    bool behind = in->options->to_ns < INT64_MAX && at > (int64_t)in->options->to_ns;
    bool begins = ev->ph == 'b' || ev->ph == 'S', ends = ev->ph == 'e' || ev->ph == 'F';
    size_t from = in->out->len;
    uint32_t number = put->number;
    if (before && ends) {
        perftrace__strbuf_t *gone = &in->scratch[1];
        uint64_t none[128] = {0};
        perftrace__strbuf_clear(gone);
        pt_flow_wait_take(&in->early, number, gone, none);
        in->counts.filtered += 1 + none['b'] + none['S'];
    } else if (before && begins) {
        pt_event_put(in->out, put);
        hold_back(in, &in->early, put, from);
    } else if (before || (behind && !ends)) {
        in->counts.filtered++;
    } else {
        uint64_t written = in->counts.out['b'] + in->counts.out['S'];
        if (in->early.count > 0) {
            pt_flow_wait_take(&in->early, number, in->out, in->counts.out);
        }
        written = in->counts.out['b'] + in->counts.out['S'] - written;
        if (behind && written == 0 && !was_written(in, number, false)) {
            in->counts.filtered++; /* the whole of it lies behind the window */
            return;
        }
        was_written(in, number, true);
        pt_event_put(in->out, put);
        pt_convert_note_out(in, put->ph, put->ts, put->ts);
    }
}

void pt_convert_async(pt_convert_input_t *in, const pt_thread_t *th, const pt_event_t *ev,
                      pt_put_t *put) {
    bool window = in->options->from != NULL || in->options->to != NULL;
    int64_t inside = (int64_t)in->options->from_ns - in->window_shift_ns;
    /* The window is looked at below, for the whole scope. */
    if (pt_convert_filtered(in, ev, window ? inside : put->ts, window ? inside : put->ts, false)) {
        return;
    }
    put->args = pt_convert_args(in, ev);
    set_async_id(in, th, ev, put);
    if (window) {
        async_in_window(in, ev, put);
        return;
    }
    pt_event_put(in->out, put);
    pt_convert_note_out(in, put->ph, put->ts, put->ts);
}
