/* perftrace/profiler.h: heavy profilers for chosen steps and ranks. SPDX-License-Identifier: MIT
 *
 * A window is a stretch of a run that a profiler records. When one opens is told by a schedule (the
 * one of torch.profiler, a list of steps, a number of iterations).
 *
 * Not included by perftrace.h. The pages are perftrace_profiler(3). */
#ifndef PERFTRACE_PROFILER_H
#define PERFTRACE_PROFILER_H

#include <perftrace/config.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- schedule -----------------------------------------------------------------------------------
 */

/* What happens in a step; the numbers are those of torch.profiler.ProfilerAction. */
typedef enum perftrace_profiler_action {
    PERFTRACE_PROFILER_NONE = 0,           /* nothing is recorded */
    PERFTRACE_PROFILER_WARMUP = 1,         /* recorded for practice; what is found is thrown away */
    PERFTRACE_PROFILER_RECORD = 2,         /* recorded */
    PERFTRACE_PROFILER_RECORD_AND_SAVE = 3 /* recorded; the window ends with this step */
} perftrace_profiler_action_t;

/* When windows open. At most one of the three forms is used: with all fields at 0 every step is
 * recorded, in one window without an end.
 *
 * 1. Cycles (active above 0), as torch.profiler.schedule has them: skip_first steps are skipped
 *    once, then come cycles of wait, warmup and active steps.
 * 2. Steps (steps not NULL).
 * 3. Iterations (delay_iterations or max_iterations above 0), counted from a start, as vLLM has
 *    them. */
typedef struct perftrace_schedule {
    size_t struct_size; /* sizeof(perftrace_schedule_t) of the program that filled it */

    int64_t skip_first;  /* steps before the first cycle */
    int64_t wait;        /* steps of a cycle in which nothing happens */
    int64_t warmup;      /* steps of a cycle that warm up */
    int64_t active;      /* steps of a cycle that are recorded: the length of a window */
    int64_t repeat;      /* number of cycles; 0: no end */
    int skip_first_wait; /* not 0: the first cycle has no wait */

    int steps_apart;   /* not 0: each of adjacent listed steps is a window; 0: they share one */
    const char *steps; /* "1,3,5-7"; "" is no step at all */

    int64_t delay_iterations; /* iterations before the window */
    int64_t max_iterations;   /* iterations of the window; 0: until it is stopped */
    /* not 0: vLLM's count. It stops when it has counted more than max_iterations calls of step, and
     * the call that ends the delay is one of them: the window is an iteration longer without a
     * delay, and as long with one. */
    int max_iterations_exceeded;
} perftrace_schedule_t;

#define PERFTRACE_SCHEDULE_INIT                                                                    \
    { sizeof(perftrace_schedule_t), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0 }

/* The window that a step belongs to. */
typedef struct perftrace_schedule_window {
    int64_t index; /* 0, 1, 2...: the cycle, or the run of listed steps; -1: none */
    int64_t first; /* its first and last step; last is -1 when the window has no end */
    int64_t last;
} perftrace_schedule_window_t;

/* Whether a schedule can be followed: 0, or ERR_INVALID with the reason in *ret_reason (static
 * text; may be NULL): a negative number, two forms at once, a list that is none, numbers whose sum
 * is beyond int64_t, a structure without struct_size. schedule NULL: ERR_INVALID. Pure. */
PERFTRACE_API int perftrace_schedule_check(const perftrace_schedule_t *schedule,
                                           const char **ret_reason);

/* What happens in a step (from 0): a perftrace_profiler_action_t, or ERR_INVALID for a negative
 * step or a schedule that perftrace_schedule_check refuses. ret_window, which may be NULL, tells
 * the window of a recorded step. Pure; any thread. The cycles are those of torch.profiler.schedule
 * (its `step` is counted from 0, too). */
PERFTRACE_API int perftrace_schedule_action(const perftrace_schedule_t *schedule, int64_t step,
                                            perftrace_schedule_window_t *ret_window);

/* How many windows the schedule has, -1 when they have no end; the first step that is recorded in
 * *ret_first (may be NULL), -1 when there is none. A schedule that cannot be followed has 0
 * windows. Pure. */
PERFTRACE_API int64_t perftrace_schedule_windows(const perftrace_schedule_t *schedule,
                                                 int64_t *ret_first);

/* Makes the schedule one of iterations for the tokens `first` to `end` - 1 of a sequence, an
 * iteration making one token each: verl's profile_token_start and profile_token_end. first -1: from
 * the start; end -1: without an end. ERR_INVALID: below -1, or end not above first. The cycles and
 * steps of *schedule are cleared. Pure. */
PERFTRACE_API int perftrace_schedule_set_tokens(perftrace_schedule_t *schedule, int64_t first,
                                                int64_t end);

/* ---- names --------------------------------------------------------------------------------------
 *
 * The name of a profile says what is in it, in verl's form:
 *
 *   [<prefix>_][<role>_][step<first>[-<last>]_]rank<r>[-of-<world>][_tp<a>-pp<b>-dp<c>-cp<d>-ep<e>]
 *   [_@<host>]_pid<pid>_<YYYYmmddHHMMSSmmm>[.<n>][_mb<first>[-<last>]][_cycle<i>][_part<i>]
 *   [_partial<done>-of-<wanted>|_aborted<done>[-of-<wanted>]][_<suffix>]
 *
 *   actor_train_step7_rank5-of-16_tp1-pp0-dp2-cp0_pid4242_20260721155825123.json.gz
 *
 * The time is local. In labels each run of characters other than letters, digits, ". = + -" and
 * those beyond ASCII becomes one '-', none at the ends; a suffix has no '.' either. */

#define PERFTRACE_TRACE_NAME_MAX 255 /* bytes of a name, extension included */

/* Initialise with PERFTRACE_TRACE_NAME_INIT. */
typedef struct perftrace_trace_name {
    size_t struct_size;     /* sizeof(perftrace_trace_name_t) */
    const char *prefix;     /* NULL or "": none, here and below */
    const char *role;       /* of a name with one label describe gives it as the role */
    const char *host;       /* of the machine */
    const char *suffix;     /* what the program likes to add */
    int64_t first_step;     /* steps that were recorded; -1: not told, here and below */
    int64_t last_step;      /* -1: as first_step */
    int rank;               /* global rank; -1 (unknown) is written ranku */
    int world_size;         /* number of ranks */
    int tp, pp, dp, cp, ep; /* tensor, pipeline, data, context and expert parallel rank */
    int64_t pid;
    int64_t time_ms;      /* when the window began, ms since the epoch */
    int64_t number;       /* tells files apart that would have the same name otherwise */
    int64_t mb_first;     /* mini-batches of a stage */
    int64_t mb_last;      /* -1: as mb_first */
    int64_t cycle;        /* of the schedule, from 1 for the second window on */
    int64_t part;         /* the same without a schedule */
    int64_t steps_done;   /* of a window that did not see all its steps */
    int64_t steps_wanted; /* -1: no number was set */
    int aborted;          /* not 0: it ended by a failure */
} perftrace_trace_name_t;

#define PERFTRACE_TRACE_NAME_INIT                                                                  \
    {                                                                                              \
        sizeof(perftrace_trace_name_t), NULL, NULL, NULL, NULL, -1, -1, -1, -1, -1, -1, -1, -1,    \
            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0                                              \
    }

/* Writes the name of a profile, with `extension` (".json.gz"; NULL: none; at most 24 bytes) and its
 * NUL, to ret[0..size). The extension begins with '.' and a letter. At most
 * PERFTRACE_TRACE_NAME_MAX bytes: longer labels are cut on a character boundary and end in a hash
 * of the whole label, everything else stays whole. Returns the length; ERR_INVALID (no structure,
 * no such extension, pid or time below 0 or beyond the year 9999), ERR_TOO_LONG when size is too
 * small (PERFTRACE_TRACE_NAME_MAX + 1 is enough) or the numbers alone do not fit, ERR_NOMEM. Any
 * thread; depends on the time zone alone. */
PERFTRACE_API int perftrace_trace_basename(const perftrace_trace_name_t *name,
                                           const char *extension, char *ret, size_t size);

/* Reads such a name back, of a path as well. *ret needs its struct_size. Labels come as
 * they stand in the name and lie in
 * ret_text[0..size), which must live as long as *ret is used. The time is taken as local. 0;
 * ERR_PARSE for a name of another kind; ERR_TOO_LONG when size is too small
 * (PERFTRACE_TRACE_NAME_MAX + 1 is enough); ERR_INVALID. Any thread. */
PERFTRACE_API int perftrace_trace_describe(const char *path, perftrace_trace_name_t *ret,
                                           char *ret_text, size_t size);

/* Creates the file of a profile in a directory, which must exist, and writes its path to
 * ret_path[0..size). Where the name is taken (by another window, process or host in the same
 * millisecond) the next number is tried: no file is ever opened twice. Returns a descriptor,
 * write-only and close-on-exec, that the caller closes; ERR_DENIED, ERR_IO, ERR_FULL...,
 * ERR_TOO_LONG (path), as perftrace_trace_basename. Blocks for the disk. */
PERFTRACE_API int perftrace_trace_create(const char *dir, const perftrace_trace_name_t *name,
                                         const char *extension, char *ret_path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
