/* sessions_options.h: the command line of perf-trace-sessions. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSIONS_OPTIONS_H
#define PERFTRACE_SESSIONS_SESSIONS_OPTIONS_H
#include "html_style.h"
#include "number_ranges.h"
#include "option.h"

typedef struct pt_sessions_options {
    const char *output; /* NULL: standard output */
    bool json, csv, compare, strict;
    pt_string_list_t tables; /* empty: all */
    uint64_t top;
    const char *ranks, *steps;
    pt_string_list_t roles, statuses, tasks;
    const char *from, *to; /* durations; NULL: open */
    uint64_t batch_size;   /* 0: no steps */
    const char *html;      /* NULL: no page */
    bool lifecycle;        /* the page shows timelines of sessions, */
    uint64_t timelines;    /* so many of each order */
    pt_phase_styles_t styles;
    double confidence; /* percent */
    int64_t jobs;      /* 0: one for each processor */

    /* Decoded. */
    double from_s, to_s;
    pt_number_ranges_t rank_ranges;
    pt_number_range_t step_range;
} pt_sessions_options_t;

extern const pt_tool_t pt_sessions_tool;

/* Parses and checks; PT_OPTION_GO_ON, or the status to end with. Free with
 * pt_sessions_options_free in every case. */
int pt_sessions_options_parse(pt_sessions_options_t *options, int argc, char *const *argv,
                              pt_string_list_t *ret_operands);
void pt_sessions_options_free(pt_sessions_options_t *options);

#endif
