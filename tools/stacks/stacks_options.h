/* stacks_options.h: the command line of perf-trace-stacks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STACKS_STACKS_OPTIONS_H
#define PERFTRACE_STACKS_STACKS_OPTIONS_H
#include "option.h"

/* X(NAME, word, operands before the inputs) */
#define PT_STACKS_COMMAND_LIST(X)                                                                  \
    X(TOP, "top", 0)                                                                               \
    X(THREADS, "threads", 0)                                                                       \
    X(CALLERS, "callers", 1)                                                                       \
    X(CALLGRAPH, "callgraph", 1)                                                                   \
    X(FULL, "full", 0)                                                                             \
    X(INCLUSIVE, "inclusive", 0)                                                                   \
    X(SUMMARY, "summary", 0)                                                                       \
    X(DIFF, "diff", 0)                                                                             \
    X(CONVERT, "convert", 0)                                                                       \
    X(MERGE, "merge", 0)                                                                           \
    X(BATCH, "batch", 0)

typedef enum pt_stacks_command {
    PT_STACKS_FLAT, /* none named: what the options ask for */
#define PT_I_STACKS_COMMAND(name, word, operands) PT_STACKS_##name,
    PT_STACKS_COMMAND_LIST(PT_I_STACKS_COMMAND)
#undef PT_I_STACKS_COMMAND
} pt_stacks_command_t;

/* Of --unit. */
typedef enum pt_weights_are {
    PT_WEIGHTS_DEFAULT, /* as they are; of convert, merge and batch PT_WEIGHTS_AUTO */
    PT_WEIGHTS_AUTO,    /* nanoseconds or counts, by their median */
    PT_WEIGHTS_NONE,
    PT_WEIGHTS_NANOSECONDS,
    PT_WEIGHTS_MICROSECONDS,
    PT_WEIGHTS_MILLISECONDS,
    PT_WEIGHTS_SECONDS,
    PT_WEIGHTS_BYTES
} pt_weights_are_t;

typedef enum pt_stacks_to { PT_TO_DEFAULT, PT_TO_SPEEDSCOPE, PT_TO_COLLAPSED } pt_stacks_to_t;

typedef struct pt_stacks_options {
    pt_stacks_command_t command;
    char *function; /* of callers and callgraph */
    const char *thread, *inclusive, *categories, *callers, *call_graph;
    bool no_categories, full, list_threads;
    uint64_t top; /* 0: as many as each list has by default */
    uint64_t depth;
    bool json, csv, strict, mend, normalize;
    const char *output, *name, *html;
    uint64_t freq;
    bool has_freq;
    int unit, to;
    int64_t jobs;
} pt_stacks_options_t;

extern const pt_tool_t pt_stacks_tool;

/* As pt_option_parse; a command is taken off the operands. Free it in every case. */
int pt_stacks_options_parse(pt_stacks_options_t *o, int argc, char *const *argv,
                            pt_string_list_t *ret_operands);
void pt_stacks_options_free(pt_stacks_options_t *o);

#endif
