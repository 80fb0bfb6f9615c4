/* live_judge.h: who stands still, and who waits for whom. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. docs/LIVE.md tells the rules to people. */
#ifndef PERFTRACE_LIVE_LIVE_JUDGE_H
#define PERFTRACE_LIVE_LIVE_JUDGE_H

#include "live_model.h"

typedef struct pt_live_judge_options {
    uint64_t stuck_ns; /* nothing has happened for so long */
    bool main_only;    /* other threads than a process' first are not judged */
} pt_live_judge_options_t;

/* A thread, by its place in the model. */
typedef struct pt_live_member {
    size_t process;
    uint32_t thread;
    uint32_t scope; /* of a waiting one: the scope in which it waits */
} pt_live_member_t;

/* A rank that is not where others wait; of ranks of which nothing was found, a run of them. */
typedef struct pt_live_missing {
    int32_t rank;
    int32_t last;   /* of the run; else the same */
    size_t process; /* SIZE_MAX: no process of these ranks was found */
} pt_live_missing_t;

/* Ranks of one run that are in the same collective: same name, same step. */
typedef struct pt_live_wait {
    size_t run;       /* a process of the run */
    const char *name; /* the model's */
    const char *category;
    pt_live_comm_t comm;
    bool has_step;
    int64_t step;
    pt_live_member_t *waiting; /* by rank */
    size_t waitings, waiting_cap;
    uint64_t longest_ns;
    bool stuck;                 /* one of them has been there for stuck_ns */
    bool world_known;           /* how many ranks there are is known: `missing` is complete */
    pt_live_missing_t *missing; /* of collectives only; by rank */
    size_t missings, missing_cap;
} pt_live_wait_t;

typedef struct pt_live_verdict {
    pt_live_member_t *stuck;
    size_t stucks, stuck_cap;
    pt_live_wait_t *wait; /* those that wait for longest first */
    size_t waits, wait_cap;
    bool failed; /* memory ran out */
} pt_live_verdict_t;

/* Whether a thread of a process is stuck. */
bool pt_live_is_stuck(const pt_live_process_t *process, const pt_live_thread_t *thread,
                      const pt_live_judge_options_t *options);
/* The verdict points into the model, which must be sorted and stay as it is. */
void pt_live_judge(const pt_live_model_t *model, const pt_live_judge_options_t *options,
                   pt_live_verdict_t *ret_verdict);
void pt_live_verdict_free(pt_live_verdict_t *verdict); /* accepts NULL; usable again */

#endif
