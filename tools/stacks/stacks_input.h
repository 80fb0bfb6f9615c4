/* stacks_input.h: the inputs of perf-trace-stacks, loaded. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STACKS_STACKS_INPUT_H
#define PERFTRACE_STACKS_STACKS_INPUT_H
#include "profile_load.h"
#include "stacks_options.h"

#define PT_STACKS_SUMMARY_FILE "perf_thread_summary.txt"

typedef struct pt_stacks_input {
    pt_paths_t paths;
    pt_profile_t p;
    pt_profile_source_t *source; /* one a path */
    const char **name;           /* as they are shown */
} pt_stacks_input_t;

/* Collects and loads what the operands name, and gives weights their unit, but those
 * that are to be written again. What is wrong is told.
 * PT_EXIT_INPUT: *input has what could be read, perhaps nothing (p.threads is 0 then). Free it in
 * every case. */
pt_exit_t pt_stacks_input_load(const pt_stacks_options_t *o, char *const *operands, size_t count,
                               pt_problems_t *book, pt_stacks_input_t *ret_input);
void pt_stacks_input_free(pt_stacks_input_t *input);

/* How many threads the work is for. */
unsigned pt_stacks_threads(const pt_stacks_options_t *o);
/* Gives weights without a unit the one that the options say, or that their median tells; a sentence
 * about that is appended to ret_said (may be NULL). False without memory. */
bool pt_stacks_set_unit(const pt_stacks_options_t *o, pt_profile_t *p,
                        perftrace__strbuf_t *ret_said);
/* Whether the unit is looked for in the weights, which needs them one by one. */
bool pt_stacks_unit_is_auto(const pt_stacks_options_t *o);

#endif
