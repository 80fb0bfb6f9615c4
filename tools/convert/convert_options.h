/* convert_options.h: the command line of perf-trace-convert. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_OPTIONS_H
#define PERFTRACE_CONVERT_OPTIONS_H
#include "number_ranges.h"
#include "option.h"

typedef enum pt_overlap { PT_OVERLAP_LANES, PT_OVERLAP_ASYNC, PT_OVERLAP_KEEP } pt_overlap_t;

typedef struct pt_convert_options {
    const char *output; /* NULL: derived from the inputs */
    bool gzip, bundle, check, json;
    int64_t level;  /* of gzip */
    uint64_t split; /* bytes; 0: one file */
    int overlap;    /* pt_overlap_t */
    const char *display_time_unit;
    const char *from, *to; /* durations; NULL: open */
    uint64_t from_ns, to_ns;
    const char *steps, *ranks;
    pt_string_list_t names, categories;
    uint64_t min_dur_ns;
    bool args, keep_outliers, strict, require_all;
    int64_t jobs; /* 0: one for each processor */

    /* Decoded from steps and ranks. */
    bool has_steps;
    int64_t first_step, last_step;
    pt_number_ranges_t rank_ranges;
} pt_convert_options_t;

extern const pt_tool_t pt_convert_tool;

/* Parses and checks; PT_OPTION_GO_ON, or the status to end with. Free with pt_convert_options_free
 * in every case. */
int pt_convert_options_parse(pt_convert_options_t *options, int argc, char *const *argv,
                             pt_string_list_t *ret_operands);
void pt_convert_options_free(pt_convert_options_t *options);

/* Whether --ranks takes the rank. */
bool pt_convert_options_rank(const pt_convert_options_t *options, int64_t rank);

#endif
