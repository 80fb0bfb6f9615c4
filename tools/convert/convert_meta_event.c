/* convert_meta_event.c: metadata events on their way through. SPDX-License-Identifier: MIT */
#include "convert_meta_event.h"

#include "convert_event.h"
#include "convert_session.h"
#include "event_write.h"

#include <stdio.h>
#include <stdlib.h>

static perftrace__json_slice_t args_of(const pt_event_t *ev) {
    return (perftrace__json_slice_t){
        ev->args.p, ev->args.len, ev->args.len > 0 ? PERFTRACE__JSON_OBJECT : PERFTRACE__JSON_NONE,
        false, 0};
}

/* NULL without memory (noted). */
static pt_convert_loss_t *loss_of(pt_convert_input_t *in, const perftrace__json_slice_t *cause) {
    char text[sizeof in->loss[0].cause];
    snprintf(text, sizeof text, "%.*s", (int)PT_MIN(cause->len, sizeof text - 1), cause->p);
    for (unsigned i = 0; i < in->loss_count; i++) {
        if (strcmp(in->loss[i].cause, text) == 0) {
            return &in->loss[i];
        }
    }
    if (in->loss_count == PT_CONVERT_LOSSES) {
        return &in->loss[in->loss_count - 1];
    }
    if (in->loss == NULL) {
        in->loss = calloc(PT_CONVERT_LOSSES, sizeof *in->loss);
        if (in->loss == NULL) {
            in->out->failed = true;
            return NULL;
        }
    }
    pt_convert_loss_t *loss = &in->loss[in->loss_count++];
    memcpy(loss->cause, text, sizeof text);
    return loss;
}

static void take_drop(pt_convert_input_t *in, const pt_event_t *ev) {
    perftrace__json_slice_t args = args_of(ev), cause, count;
    uint64_t n;
    if (perftrace__json_find(&args, "cause", &cause) &&
        perftrace__json_find(&args, "count", &count) && perftrace__json_to_u64(&count, &n)) {
        pt_convert_loss_t *loss = loss_of(in, &cause);
        *(loss != NULL ? &loss->records : &(uint64_t){0}) += n;
    }
}

static void take_footer(pt_convert_input_t *in, const pt_event_t *ev) {
    perftrace__json_slice_t args = args_of(ev), dropped, key, value;
    perftrace__json_cursor_t c;
    uint64_t n;
    in->has_footer = true;
    if (!perftrace__json_find(&args, "dropped", &dropped) ||
        dropped.type != PERFTRACE__JSON_OBJECT) {
        return;
    }
    perftrace__json_cursor_init(&c, dropped.p, dropped.len);
    bool more = perftrace__json_enter_object(&c);
    while (more && perftrace__json_next_member(&c, &key, &value) > 0) {
        if (perftrace__json_to_u64(&value, &n) && n > 0) {
            pt_convert_loss_t *loss = loss_of(in, &key);
            *(loss != NULL ? &loss->footer : &(uint64_t){0}) += n;
        }
    }
}

static void check_version(pt_convert_input_t *in, const perftrace__json_slice_t *args) {
    perftrace__json_slice_t version;
    int64_t n;
    if (perftrace__json_find(args, "version", &version) && perftrace__json_to_i64(&version, &n) &&
        n > PT_SOURCE_VERSION) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_NEWER);
    }
}

/* A second header: the file is several runs laid end to end. Its times count from its own zero. */
static void take_header(pt_convert_input_t *in, const pt_event_t *ev) {
    perftrace__json_slice_t args = args_of(ev);
    pt_source_t old = in->source, fresh;
    check_version(in, &args);
    pt_mixed_ranks_header(&in->ranks, ev);
    if (in->ranks.list.count > 1) {
        in->plain = in->reader->brief = false; /* every line is looked at whose it is */
    }
    if (!in->has_header) {
        in->has_header = true;
        return;
    }
    pt_source_init(&fresh);
    if (!pt_source_take_header(&fresh, &args)) {
        pt_source_free(&fresh);
        return;
    }
    fresh.shape = old.shape;
    fresh.ours = true;
    if (fresh.mono_ns != old.mono_ns || fresh.epoch_ns != old.epoch_ns) {
        pt_convert_session_close(in, pt_convert_last_time(in)); /* their ids begin anew */
    }
    int64_t moved = 0;
    bool same_boot = fresh.has_mono && old.has_mono && fresh.boot_id != NULL &&
                     old.boot_id != NULL && strcmp(fresh.boot_id, old.boot_id) == 0;
    if (same_boot) {
        moved = fresh.mono_ns - old.mono_ns;
    } else if (fresh.has_epoch && old.has_epoch) {
        moved = fresh.epoch_ns - old.epoch_ns;
    }
    in->clock.shift_ns += moved;
    in->clock.pivot_ns -= moved;
    in->last_ts = 0;
    if (!fresh.has_rank) {
        fresh.has_rank = old.has_rank;
        fresh.rank = old.rank;
    }
    in->source = fresh;
    pt_source_free(&old);
}

/* Names of a file of our writer come before the events of their thread, as a rule. */
static void take_name(pt_convert_input_t *in, const pt_event_t *ev) {
    if (PT_STR_IS(ev->name, "\"thread_name\"") || PT_STR_IS(ev->name, "\"thread_sort_index\"")) {
        pt_thread_t *th = pt_tracks_thread(&in->tracks, &ev->pid, &ev->tid);
        if (th == NULL) {
            return;
        }
        if (!th->used) {
            pt_convert_first_use(in, th);
        }
        if (!th->named) {
            pt_thread_put_metadata(th, 0, in->meta);
            th->named = true;
        }
    }
}

void pt_convert_meta_event(pt_convert_input_t *in, const pt_event_t *ev) {
    bool name = PT_STR_IS(ev->name, "\"thread_name\"") || PT_STR_IS(ev->name, "\"process_name\"") ||
                PT_STR_IS(ev->name, "\"thread_sort_index\"") ||
                PT_STR_IS(ev->name, "\"process_sort_index\"");
    if (in->source.ours && name) {
        pt_survey_metadata(&in->tracks, ev);
        take_name(in, ev);
    } else if (in->source.ours && PT_STR_IS(ev->name, "\"perftrace_header\"")) {
        take_header(in, ev);
    } else if (in->source.ours && PT_STR_IS(ev->name, "\"perftrace_drop\"")) {
        take_drop(in, ev);
    } else if (in->source.ours && PT_STR_IS(ev->name, "\"perftrace_footer\"")) {
        take_footer(in, ev);
    } else if (!name && !PT_STR_IS(ev->name, "\"perftrace_clock\"") &&
               !(in->source.ours && PT_STR_IS(ev->name, "\"perftrace_reference\""))) {
        pt_thread_t *th = pt_tracks_thread(&in->tracks, &ev->pid, &ev->tid);
        if (th == NULL) {
            return;
        }
        if (!th->used) {
            pt_convert_first_use(in, th);
        }
        pt_put_t put = {.name = ev->name,
                        .cat = ev->cat,
                        .ph = 'M',
                        .track = &th->track,
                        .rest = ev->rest,
                        .args = in->options->args ? ev->args : (pt_str_t){NULL, 0}};
        pt_event_put(in->out, &put);
        in->counts.out['M']++;
    }
}
