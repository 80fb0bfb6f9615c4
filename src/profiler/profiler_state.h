/* profiler_state.h: what the files of the state machine share. SPDX-License-Identifier: MIT
 *
 * There is one window in the process, `perftrace__window`. Its lock also guards the runs and counts
 * of all profilers. It is never held while a back end works or a message is given out: the thread
 * that opens or ends a window puts the state to STARTING or SAVING, lets the lock go, and everybody
 * else sees that and goes on. The options of a profiler do not change after open. */
#ifndef PERFTRACE_PROFILER_PROFILER_STATE_H
#define PERFTRACE_PROFILER_PROFILER_STATE_H

#include "back_end.h"
#include "schedule.h"
#include "strbuf.h"
#include "trace_name.h"

#include <perftrace/profiler.h>
#include <pthread.h>
#include <stdbool.h>

#define PERFTRACE__BACK_ENDS_MAX  8
#define PERFTRACE__STAGE_MAX      256 /* bytes kept of a label */
#define PERFTRACE__DIR_MAX        4096
#define PERFTRACE__CATEGORIES_MAX 1024
#define PERFTRACE__PROBLEM_MAX    512

typedef enum perftrace__trigger {
    PERFTRACE__BY_SCHEDULE, /* armed from the start */
    PERFTRACE__BY_GATE,     /* a listed step */
    PERFTRACE__BY_REQUEST,  /* a call of start */
    PERFTRACE__BY_STAGE
} perftrace__trigger_t;

/* What a request wants beside its steps. All zero: nothing. */
typedef struct perftrace__wishes {
    char dir[PERFTRACE__DIR_MAX]; /* absolute; "": the profiler's */
    char categories[PERFTRACE__CATEGORIES_MAX];
    unsigned activities;
    bool by_stage;
} perftrace__wishes_t;

/* A schedule that is being followed. */
typedef struct perftrace__run {
    bool on;
    bool stages; /* with by_stage: stages of this step are windows */
    perftrace__wishes_t wishes;
    perftrace__trigger_t by;
    perftrace__schedule_t plan; /* the list, if any, is the profiler's or request_plan's */
    int64_t position;           /* step of the plan; -1: before the first */
    int64_t done_with;          /* index of the last window, which is not opened again */
    char label[PERFTRACE__STAGE_MAX];
} perftrace__run_t;

typedef struct perftrace__recorder {
    perftrace_profiler_back_end_t calls;
    void (*close)(void *user); /* of one of the library's; NULL */
    unsigned activities;
    bool told; /* that it does not start */
} perftrace__recorder_t;

struct perftrace_profiler {
    struct perftrace_profiler *next;
    bool selected;                    /* this rank profiles */
    bool finishes;                    /* it runs the finish command */
    perftrace_profiler_options_t opt; /* strings are owned, or NULL; the lists are below */
    char *dir;                        /* absolute */
    perftrace__schedule_t schedule;
    perftrace__schedule_t gate; /* of the form STEPS; ALWAYS: none */
    perftrace__recorder_t recorders[PERFTRACE__BACK_ENDS_MAX];
    size_t nrecorders;
    /* Under the window's lock. */
    perftrace__run_t armed;
    perftrace__run_t collect; /* of gate, request or stage; goes before the armed one */
    int64_t global_step;      /* the last number that step was given; -1 */
    int64_t gate_index;       /* of the listed steps that were met last; -1 */
    int64_t recorded;         /* windows */
    int64_t absorbed;         /* listed steps that another profiler's window holds */
    int64_t stage_token;      /* of the stage that has the window; 0 */
    bool inherited;           /* by a forked child, which has told no step of its own */
    bool finish_done;         /* the finish command has run, or is running */
    bool finished;            /* closed, or the process ends: nothing opens any more */
};

/* How a window ends. */
typedef enum perftrace__ending {
    PERFTRACE__ENDING_NONE,
    PERFTRACE__ENDING_STOP,
    PERFTRACE__ENDING_ABORT
} perftrace__ending_t;

typedef struct perftrace__window {
    pthread_mutex_t lock;
    pthread_mutex_t calls;            /* one back end's function at a time; taken before the lock */
    pthread_cond_t settled;           /* the state is neither STARTING nor SAVING any more */
    perftrace_profiler_state_t state; /* never WAITING */
    perftrace_profiler_t *owner;      /* NULL: IDLE */
    perftrace_profiler_t *current;    /* whose run by gate or request is on; NULL */
    perftrace_profiler_t *all;
    perftrace__trigger_t by;
    perftrace__ending_t wanted; /* asked for while it could not be done at once */
    uint32_t tid;               /* of the thread that opened it */
    uint32_t busy;              /* of the thread that starts or saves it */
    uint32_t telling;           /* of the thread that tells back ends of a step: it has `calls` */
    unsigned started;           /* bits of the recorders that record */
    int64_t index;              /* in the plan */
    bool pending;               /* a step told by NEXT has begun in it */
    int64_t pending_step;
    int64_t mb_first, mb_last; /* mini-batches; -1 */
    int64_t mb_pending;
    perftrace_profiler_window_t info;
    perftrace__wishes_t wishes; /* dir is set */
    char problem[PERFTRACE__PROBLEM_MAX];
    char stage[PERFTRACE__STAGE_MAX];
    char mark[64];
    int64_t tokens;
    int64_t saved;
    int last_aborted;
    char last_mark[64];
    char last_path[1024];
    bool told_idle; /* that there was nothing to stop */
    unsigned forks; /* between this process and the first: a back end's function may fork */
} perftrace__window_t;

extern perftrace__window_t perftrace__window;

/* Gives one message to the program. Not with the lock. */
void perftrace__profiler_log(const perftrace_profiler_t *p, int level, const char *fmt, ...)
    PT_PRINTF(3, 4);

/* Ends what a lock of `calls` began when there were `forks`: in the child of a fork since then it
 * is another mutex, which nobody has locked. */
void perftrace__window_unlock_calls(unsigned forks);

/* ---- profiler_window.c; with the lock, which is let go and taken again meanwhile ---- */

/* Opens a window of p. step: that begins in it, which back ends are told; -1 unknown. w: its place
 * in the plan. wishes, label: NULL none. 0; ERR_STATE when one is open. */
int perftrace__window_open(perftrace_profiler_t *p, perftrace__trigger_t by, int64_t step,
                           const perftrace_schedule_window_t *w, const perftrace__wishes_t *wishes,
                           const char *label);
/* Ends it, when one records and this thread may: else it is done by whoever may. */
void perftrace__window_end(perftrace__ending_t ending);
/* Ends it when that was asked for meanwhile and this thread may. */
void perftrace__window_settle(void);
/* Waits until no other thread starts or saves. Not for the calling thread itself: a back end may
 * call exit(). */
void perftrace__window_wait(void);

/* ---- profiler_step.c; with the lock likewise ---- */

/* Puts a run on; the first step has not begun. */
void perftrace__run_begin(perftrace_profiler_t *p, perftrace__trigger_t by,
                          const perftrace__schedule_t *plan, const char *label);
/* Moves a run to its next step, or to `step` when that is not negative and the run is the armed
 * one. 0, or why its window did not open. *ret_action may be NULL. */
int perftrace__run_step(perftrace_profiler_t *p, perftrace__run_t *run, int64_t step,
                        int *ret_action);
/* Ends the collecting run of p and its window. */
void perftrace__run_end(perftrace_profiler_t *p, perftrace__ending_t ending);

/* ---- profiler_finish.c ---- */

/* Brings home what other profilers wrote for this process. Not with the lock. */
void perftrace__finish_relocate(perftrace_profiler_t *p, const char *dir,
                                const perftrace_trace_name_t *name);
/* Runs the finish command when the plan is over; with the lock, which is let go meanwhile. */
void perftrace__finish_step(perftrace_profiler_t *p);
/* Runs it unless it was run; likewise. */
void perftrace__finish_run(perftrace_profiler_t *p);

#endif
