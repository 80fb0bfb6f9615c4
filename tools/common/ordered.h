/* ordered.h: work in parallel, results in order. SPDX-License-Identifier: MIT
 *
 * Tasks are submitted by one thread. Workers run them in parallel, except that tasks of one lane
 * run one after another in the order of submission and never at the same time (a lane is a file
 * that is read piece by piece: its state needs no lock). Results are emitted strictly in the order
 * of submission, by one thread at a time: the worker that finishes the task whose turn it is emits
 * that and every finished one behind it. At most `in_flight` tasks exist between submission and
 * release, which bounds the memory. What is emitted never depends on timing or on the number of
 * threads.
 *
 * When a task fails, those before it (in order of submission) are still run and emitted, those
 * behind are not emitted: what was written, and the error, are the same in every run.
 *
 *     task = next free task; fill in (round, file)
 *     pt_ordered_submit(pipe, lane = file, task)     for every file, round after round
 *     status = pt_ordered_finish(pipe)
 */
#ifndef PERFTRACE_COMMON_ORDERED_H
#define PERFTRACE_COMMON_ORDERED_H

#include "compiler.h"

#include <stdbool.h>

#define PT_ORDERED_NO_LANE UINT32_MAX

typedef struct pt_ordered pt_ordered_t;

typedef struct pt_ordered_options {
    unsigned threads;   /* 0: every task is run and emitted inside submit, no thread is made */
    unsigned in_flight; /* 0: 2 * threads + 2; at least 1 */
    uint32_t lanes;     /* lanes are numbered below this; may be 0 */
    void *ctx;          /* given to the functions below */
    /* Runs a task on worker number `worker` (below threads, or 0): per-worker scratch needs no
     * lock. Returns 0, or an error of the caller's choosing that stops the pipeline. */
    int (*work)(void *ctx, void *task, unsigned worker);
    /* Emits a finished task, in order. 0 or an error, likewise. NULL: nothing to emit. */
    int (*emit)(void *ctx, void *task);
    /* Called exactly once for every submitted task when the pipeline has done with it, emitted or
     * not, never at the same time as another release or emit. NULL: nothing to release. After it
     * the task may be used again. */
    void (*release)(void *ctx, void *task);
} pt_ordered_options_t;

/* Starts the workers. NULL without memory or when not one thread can be made; fewer threads than
 * asked for are accepted. */
pt_ordered_t *pt_ordered_new(const pt_ordered_options_t *options);

/* Hands a task over; blocks while in_flight tasks exist. lane PT_ORDERED_NO_LANE: depends on
 * nothing. 0, or the error that stopped the pipeline: the task was not taken then and stays the
 * caller's. One thread only. */
int pt_ordered_submit(pt_ordered_t *ordered, uint32_t lane, void *task);

/* Waits until every task is released. Returns the error of the first task, in order of submission,
 * that failed, or 0. More tasks may be submitted afterwards. */
int pt_ordered_finish(pt_ordered_t *ordered);

/* Stops: tasks that have not started are not run. error (not 0) is what finish returns unless a
 * task failed. May be called from any thread, also from work and emit. */
void pt_ordered_cancel(pt_ordered_t *ordered, int error);

/* Threads in use; 0 when tasks run inside submit. */
unsigned pt_ordered_threads(const pt_ordered_t *ordered);

/* Finishes, ends the threads, frees. Accepts NULL. */
void pt_ordered_free(pt_ordered_t *ordered);

#endif
