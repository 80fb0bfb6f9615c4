/* convert_out.c: what every event of an input needs on its way out. SPDX-License-Identifier: MIT */
#include "convert_out.h"

#include "args_edit.h"
#include "event_filter.h"

void pt_convert_problem(pt_convert_input_t *in, unsigned kind) {
    pt_trace_reader_problem(in->reader, kind, NULL);
}

int64_t pt_convert_time(pt_convert_input_t *in, int64_t ts) {
    int64_t mapped = pt_clock_map(&in->clock, ts);
    if (PT_UNLIKELY(mapped < 0)) {
        pt_convert_problem(in, PT_TRACE_PROBLEM_NEGATIVE_TIME);
        return 0;
    }
    return mapped;
}

int64_t pt_convert_last_time(const pt_convert_input_t *in) {
    int64_t written = in->counts.last_ns - in->clock.shift_ns;
    return in->counts.last_ns == INT64_MIN ? in->last_ts : PT_MAX(in->last_ts, written);
}

bool pt_convert_filtered(pt_convert_input_t *in, const pt_event_t *ev, int64_t start, int64_t end,
                         bool scope) {
    start += in->window_shift_ns;
    end += in->window_shift_ns;
    if (pt_event_filter_takes(in->options, ev->name, ev->cat, ev->args, start, end, scope)) {
        return false;
    }
    in->counts.filtered++;
    return true;
}

pt_str_t pt_convert_args(pt_convert_input_t *in, const pt_event_t *ev) {
    if (!in->options->args) {
        return PT_NO_STR;
    }
    if ((ev->has & PT_EVENT_ARGS_LINKS) != 0 && in->several) {
        return pt_args_links(&in->scratch[1], ev->args, &in->ids);
    }
    return ev->args;
}
