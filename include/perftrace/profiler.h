/* perftrace/profiler.h: heavy profilers for chosen steps and ranks. SPDX-License-Identifier: MIT
 *
 * A window is a stretch of a run that a profiler records. When one opens is told by a schedule (the
 * one of torch.profiler, a list of steps, a number of iterations), by annotated stages or by a
 * call. What records are back ends: the tracer itself, nsys, rocprof, perf, or functions of the
 * program.
 *
 *     perftrace_profiler_options_t options = PERFTRACE_PROFILER_OPTIONS_INIT;
 *     options.back_ends = "cuda";
 *     options.steps = "10-12";
 *     perftrace_profiler_t *profiler;
 *     perftrace_profiler_open(&options, &profiler);
 *     for (int64_t step = 0; step < steps; step++) {
 *         perftrace_profiler_step(profiler, step);
 *         train();
 *     }
 *     perftrace_profiler_close(profiler);
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

/* Moves what another profiler wrote for a process: the files of the directory `from` whose names
 * hold `pid` as a number of its own, to `dir` (made when there is one), each under the name `name`
 * with its old name as the label and its old extension. Hidden and empty files, streams still to be
 * converted (.qdstrm) and temporary ones (.tmp) stay, and so does one that grows while it is copied
 * to another file system. Returns how many were moved, 0 also where there is no `from` (NULL, "",
 * absent, or dir itself); ERR_INVALID, ERR_DENIED, ERR_FULL, ERR_IO: the others stay where they
 * are. Any thread; blocks for the disk. */
PERFTRACE_API int perftrace_trace_relocate(const char *from, const char *dir,
                                           const perftrace_trace_name_t *name, int64_t pid);

/* ---- back ends ----------------------------------------------------------------------------------
 */

/* A window as back ends see it. The strings are valid during the call only. */
typedef struct perftrace_profiler_window {
    size_t struct_size;
    const char *dir;      /* of the profiler, absolute; "" none */
    const char *path;     /* the file to write, empty and nobody else's; "" at the start, and for
                             back ends without an extension */
    const char *role;     /* of the profiler, as it was given; "" none */
    const char *stage;    /* label of the request or stage; "" none */
    const char *mark;     /* "", "partial 2/3", "aborted at step 2 of 3"; "" at the start */
    int64_t first_step;   /* -1: not known */
    int64_t last_step;    /* of those that are recorded so far */
    int64_t steps_done;   /* steps that began or, told by NEXT, ended in the window */
    int64_t steps_wanted; /* -1: no number is set */
    int64_t number;       /* of the profiler's windows, from 0 */
    int64_t time_ms;      /* when it opened, ms since the epoch */
    int aborted;
    const char *categories; /* that the request asked for; "" none */
} perftrace_profiler_window_t;

/* What records. Functions that are NULL do nothing. They are called one at a time, without locks,
 * by whichever thread calls step, start, stop, a stage or close (see same_thread). They return:
 * after an exception or longjmp out of one no other window would open; exit() in a step saves the
 * window. They may call the library, but not close the profiler they belong to. Within them no
 * window opens (ERR_STATE), and a stop takes effect when they have returned. */
typedef struct perftrace_profiler_back_end {
    size_t struct_size;
    const char *name;      /* for messages */
    const char *extension; /* ".json.gz": a file is made for each window; NULL: none */
    int gpu;               /* not 0: it uses the GPU's one profiling interface */
    /* Begins recording. Not 0: the window is not opened (by this back end); the program goes on. */
    int (*start)(void *user, const perftrace_profiler_window_t *window);
    /* Ends recording and writes the file. Not 0: told in a message. Called once for each start that
     * returned 0. */
    int (*stop)(void *user, const perftrace_profiler_window_t *window);
    /* A step begins: its number (-1: it has none, as mini-batches) and a
     * perftrace_profiler_action_t; also outside of windows. */
    void (*step)(void *user, int64_t step, int action);
    /* Writes, as snprintf does, what it records, or why its start failed. */
    int (*describe)(void *user, char *ret_text, size_t size);
    void *user;
    /* A stage begins and ends within a window that this back end records: "role.stage". By the
     * stage's own thread, several at once, and for stages that were begun also when the window has
     * ended meanwhile. For NVTX and the like, whose ranges are of threads. */
    void (*range_begin)(void *user, const char *label);
    void (*range_end)(void *user);
} perftrace_profiler_back_end_t;

/* ---- profilers ----------------------------------------------------------------------------------
 *
 * A profiler belongs to a role of the process. However many there are, one window at a time is open
 * in a process: a request that comes while one is open is ignored.
 *
 * All functions: any thread, also several at once, but for open and close; not from a signal
 * handler; profiler NULL: nothing is done, ERR_INVALID. They block as the back ends do. In the
 * child of a fork no window is open. A profiler that is left open is closed at exit(). */

typedef struct perftrace_profiler perftrace_profiler_t;

/* Initialise with PERFTRACE_PROFILER_OPTIONS_INIT. Strings are copied. */
typedef struct perftrace_profiler_options {
    size_t struct_size;
    /* Names of the library's back ends, "self,cuda": self (detail_categories are recorded by the
     * tracer in windows only), cuda (cudaProfilerStart and Stop, for nsys), roc
     * (roctxProfilerResume and Pause, for rocprof), perf (Linux perf samples this process), nvtx
     * (scopes are NVTX ranges, for nsys). NULL or "": none. */
    const char *back_ends;
    const perftrace_profiler_back_end_t *callback; /* the program's own; NULL: none */
    /* Steps of the run that are profiled, "1,3,5-7". NULL: no gate. With a gate the schedule counts
     * the calls of step with NEXT within a listed step (mini-batches). */
    const char *steps;
    int steps_apart;               /* not 0: adjacent listed steps are a window each */
    int discrete;                  /* not 0: each stage is a window; start does nothing */
    perftrace_schedule_t schedule; /* the form ALWAYS: none */
    const char *dir;               /* for files; made at the first window. NULL: "." */
    /* Prefix, role, host, rank, world size and parallel ranks for the names. host NULL: the
     * machine's. */
    perftrace_trace_name_t name;
    /* Which ranks profile: enable 0 none; all_ranks all; else those of the list ranks; without a
     * list rank 0 (and an unknown rank). Others do nothing in every call. */
    int enable;
    int all_ranks;
    const char *ranks; /* "0,8-15" */
    /* not 0: back ends are called by the thread that calls step, stages and close alone: a start by
     * another thread takes effect at the next step, and so does a stop. */
    int same_thread;
    const char *detail_categories; /* of self, as perftrace_config_t.categories */
    const char *cuda_library;      /* file with cudaProfilerStart. NULL: the usual ones */
    const char *roc_library;       /* file with roctxProfilerResume. NULL: the usual ones */
    const char *perf_command;      /* NULL: "perf" */
    uint32_t perf_hz;              /* samples a second; 0: 99 */
    perftrace_log_fn log;          /* receives messages; NULL: none are given out */
    void *log_user;
    /* "fifo:COMMANDS,ANSWERS": a perf record that samples this process already, started with
     * --control of the same value and -D -1. The back end perf then switches it on and off for its
     * windows; what is recorded goes to that perf's file. NULL or "": perf is started for each
     * window. */
    const char *perf_control;
    /* Directory in which a profiler that watches from outside (nsys, rocprof) leaves its reports:
     * after each window and at the close those of this process are moved to dir, as
     * perftrace_trace_relocate does. NULL or "": they stay. */
    const char *relocate_from;
    /* Command of /bin/sh that is run once, when the last window of steps or schedule is over, else
     * at the close; not when no window was recorded. Its variables: PERFTRACE_PROFILE_DIR,
     * _BACK_ENDS, _RANK, _ROLE, _PID, _WINDOWS (how many), _FILE (the last; "" none). It is waited
     * for; that it failed, or took longer and was killed, is told to log and changes nothing. NULL
     * or "": none. */
    const char *finish_command;
    int finish_all_ranks;     /* ranks that run it, as all_ranks and ranks; also such as do not */
    const char *finish_ranks; /* profile: for these it is run when the steps are over */
    uint32_t finish_limit_ms; /* 0: 60000 */
} perftrace_profiler_options_t;

#define PERFTRACE_PROFILER_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(perftrace_profiler_options_t), NULL, NULL, NULL, 0, 0, PERFTRACE_SCHEDULE_INIT,     \
            NULL, PERFTRACE_TRACE_NAME_INIT, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, \
            NULL, NULL, NULL, 0, NULL, 0                                                           \
    }

/* Options of two roles of a process as one: *ret, which needs its struct_size, is *a with the ranks
 * that profile by either (union) or by both (intersect), written to ret_ranks[0..size), which must
 * live as long as *ret is used. Ranks are the sets that they mean: without a list rank 0, with
 * enable 0 nobody. ERR_INVALID: the back ends differ, a list is none, a NULL; ERR_TOO_LONG for
 * ret_ranks; ERR_NOMEM. Pure. */
PERFTRACE_API int perftrace_profiler_options_union(const perftrace_profiler_options_t *a,
                                                   const perftrace_profiler_options_t *b,
                                                   perftrace_profiler_options_t *ret,
                                                   char *ret_ranks, size_t size);
PERFTRACE_API int perftrace_profiler_options_intersect(const perftrace_profiler_options_t *a,
                                                       const perftrace_profiler_options_t *b,
                                                       perftrace_profiler_options_t *ret,
                                                       char *ret_ranks, size_t size);

/* Makes a profiler; *ret is NULL after an error. A schedule without a gate is armed at once. Errors
 * are told to log: ERR_INVALID (no back end, an unknown one, a schedule or list that is none),
 * ERR_NOMEM. */
PERFTRACE_API int perftrace_profiler_open(const perftrace_profiler_options_t *options,
                                          perftrace_profiler_t **ret);
/* Ends its window, says in one line when windows of the schedule were never reached, frees it. No
 * other call of the same profiler may be under way. NULL: nothing. */
PERFTRACE_API int perftrace_profiler_close(perftrace_profiler_t *profiler);

#define PERFTRACE_PROFILER_NEXT ((int64_t)-1)

/* Says that a step begins, and thereby that the one before has ended. step >= 0: its number.
 * PERFTRACE_PROFILER_NEXT: the one after the last (0 at first), for programs that call it at the
 * end of each step, as torch.profiler's step(), and once before the first: such a step counts when
 * the next call ends it, a numbered one at once. NEXT of any profiler advances the one whose window
 * is open. Returns what happens in the step, a perftrace_profiler_action_t. */
PERFTRACE_API int perftrace_profiler_step(perftrace_profiler_t *profiler, int64_t step);

/* What back ends look at: the CPU those without `gpu` (self, perf), the GPU those with it (cuda,
 * roc); nvtx serves both. */
#define PERFTRACE_PROFILER_CPU 1u
#define PERFTRACE_PROFILER_GPU 2u

/* What a start asks for. */
typedef struct perftrace_profiler_request {
    size_t struct_size;
    const char *label; /* for the name of the file; NULL: none */
    /* Cycles or iterations, counted by the calls of step from the start on. The form ALWAYS: the
     * profiler's schedule, if it has cycles, else until the stop. repeat 0 is taken as 1. */
    perftrace_schedule_t schedule;
    int at_next_step; /* not 0: it begins with the next call of step */
    /* Directory of its files, relative to the profiler's or absolute; made at the first window.
     * NULL or "": the profiler's. */
    const char *dir;
    /* Which of the back end self's detail_categories its windows record, as
     * perftrace_config_t.categories. NULL or "": all of them. */
    const char *categories;
    unsigned activities; /* PERFTRACE_PROFILER_CPU, _GPU: back ends that record; 0: all */
    /* not 0: each annotated stage of its recorded steps is a window, as in discrete mode. */
    int by_stage;
} perftrace_profiler_request_t;

#define PERFTRACE_PROFILER_REQUEST_INIT                                                            \
    { sizeof(perftrace_profiler_request_t), NULL, PERFTRACE_SCHEDULE_INIT, 0, NULL, NULL, 0, 0 }

/* Starts by hand. request NULL: as PERFTRACE_PROFILER_REQUEST_INIT. 0 when it was taken, also on
 * ranks that do not profile and in discrete mode, where nothing is done; ERR_STATE when a window is
 * open or a request is running (it is ignored); ERR_INVALID for its schedule or categories,
 * ERR_TOO_LONG for its directory; ERR_NOT_FOUND when no back end is for its activities; the code of
 * a directory that cannot be written to, or ERR_UNSUPPORTED when no back end starts (the reason in
 * the log and in the status): the program goes on without. */
PERFTRACE_API int perftrace_profiler_start(perftrace_profiler_t *profiler,
                                           const perftrace_profiler_request_t *request);
/* Ends the window that is open, whoever's it is, and the request of this profiler. A window that
 * has not seen all its steps is saved and marked partial. 0, also when there is nothing to stop
 * (told once in a note) or another thread is saving. */
PERFTRACE_API int perftrace_profiler_stop(perftrace_profiler_t *profiler);

#define PERFTRACE_PROFILER_STAGE_SCHEDULED                                                         \
    1 /* in discrete mode the schedule rules in the stage                                          \
       */

/* An annotated stage of a step (generate, update). In discrete mode it is a window of its own, or
 * several with STAGE_SCHEDULED, on the steps of the gate. Within a window of the process, its own
 * or the one of a continuous profiler, it is a range: a scope of the trace, "role.stage" of the
 * category instr (which the back end nvtx shows as an NVTX range), and what back ends make of it.
 * Returns a token for stage_end, which the same thread calls: above 0 when it has opened a window
 * or begun a range, 0 when it is as good as absent (no window is open: another rank or step, a
 * start that failed; or nothing is told of ranges). */
PERFTRACE_API int64_t perftrace_profiler_stage_begin(perftrace_profiler_t *profiler,
                                                     const char *stage, int flags);
/* Ends the stage. failed not 0: its body failed; the window is saved and marked aborted, in
 * continuous mode the one that is open. */
PERFTRACE_API int perftrace_profiler_stage_end(perftrace_profiler_t *profiler, int64_t token,
                                               int failed);
/* Calls body(arg) once, as a stage, and returns what it returned; not 0 is a failure. A C++
 * exception passes unchanged, as a failure. profiler NULL: the body alone. body NULL: 0. */
PERFTRACE_API int perftrace_profiler_run(perftrace_profiler_t *profiler, const char *stage,
                                         int flags, int (*body)(void *arg), void *arg);

typedef enum perftrace_profiler_state {
    PERFTRACE_PROFILER_IDLE = 0,
    PERFTRACE_PROFILER_WAITING = 1, /* a request runs, its window is not open */
    PERFTRACE_PROFILER_STARTING = 2,
    PERFTRACE_PROFILER_RECORDING = 3,
    PERFTRACE_PROFILER_SAVING = 4
} perftrace_profiler_state_t;

/* What the process' profilers do. */
typedef struct perftrace_profiler_status {
    size_t struct_size;
    int state;          /* a perftrace_profiler_state_t */
    int aborted;        /* of the last window: it ended by a failure */
    int64_t first_step; /* of the window that is open, as in perftrace_profiler_window_t */
    int64_t last_step;
    int64_t steps_done;
    int64_t steps_wanted;
    int64_t saved;        /* windows of all profilers that were saved */
    char role[64];        /* whose window it is, or whose request waits; cut */
    char stage[64];       /* label of the request or stage */
    char last_mark[64];   /* of the last window that was saved */
    char last_path[1024]; /* its last file; "" none, or too long */
    /* What of the last window did not start or was lost, and why; "" nothing. Cut. */
    char problem[512];
} perftrace_profiler_status_t;

/* Fills *ret; ERR_INVALID when struct_size is not set. Does not wait for a window that starts or is
 * saved. */
PERFTRACE_API int perftrace_profiler_get_status(perftrace_profiler_status_t *ret);

/* The profiler that requests from outside start (perftrace/control.h): the one that the option
 * `profiler` made at perftrace_init, which perftrace_step drives, or the one that was set. NULL:
 * none. Wait-free. */
PERFTRACE_API perftrace_profiler_t *perftrace_profiler_main(void);
/* Sets it; NULL: none. Before it is closed it must not be the one that is set. Wait-free. */
PERFTRACE_API void perftrace_profiler_set_main(perftrace_profiler_t *profiler);

#ifdef __cplusplus
}
#endif

#endif
