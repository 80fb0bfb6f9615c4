/* analyze_options.h: the command line of perf-trace-analyze. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_ANALYZE_ANALYZE_OPTIONS_H
#define PERFTRACE_ANALYZE_ANALYZE_OPTIONS_H
#include "number_ranges.h"
#include "option.h"

/* What the first operand may say. */
typedef enum pt_analyze_command {
    PT_ANALYZE_REPORT,
    PT_ANALYZE_MERGE, /* results that --partial wrote, only */
    PT_ANALYZE_DIFF   /* two runs */
} pt_analyze_command_t;

typedef struct pt_analyze_options {
    const char *output; /* NULL: standard output */
    bool json, csv, strict, all_ranks, require_all, keep_outliers;
    pt_string_list_t tables, profile_dirs, rank_map;
    uint64_t top;
    const char *html, *partial, *rules, *ranks; /* NULL: none */
    const char *sequences_of;                   /* NULL: all of torch's operators */
    uint64_t sequence_min;
    uint64_t launches_per_step; /* 0: told by the data */
    uint64_t kernel_wait_ns;
    int64_t jobs; /* 0: one for each processor */

    /* Decoded. */
    pt_analyze_command_t command;
    pt_number_ranges_t rank_ranges;
} pt_analyze_options_t;

extern const pt_tool_t pt_analyze_tool;

/* Parses and checks; PT_OPTION_GO_ON, or the status to end with. The word of the command is taken
 * off the operands and --profile-dir added to them. Free with pt_analyze_options_free in every
 * case. */
int pt_analyze_options_parse(pt_analyze_options_t *options, int argc, char *const *argv,
                             pt_string_list_t *ret_operands);
void pt_analyze_options_free(pt_analyze_options_t *options);

#endif
