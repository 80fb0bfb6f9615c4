/* live_model.h: what traced processes are in, at one time. SPDX-License-Identifier: MIT
 *
 * Filled by live_ring from ring files, judged by live_judge, shown by live_text and live_json. */
#ifndef PERFTRACE_LIVE_LIVE_MODEL_H
#define PERFTRACE_LIVE_LIVE_MODEL_H

#include "compiler.h"
#include "ring_layout.h"

#include <perftrace/perftrace.h>
#include <stdbool.h>

/* X(NAME, word, what it means). */
#define PT_LIVE_STATE_LIST(X)                                                                      \
    X(RUNNING, "running", "the process runs")                                                      \
    X(STOPPED, "stopped", "a signal or a debugger has stopped it")                                 \
    X(DEAD, "dead", "it was killed; its ring file is left over")                                   \
    X(ENDED, "ended", "it ended well, or was finished by a recovery")                              \
    X(UNSEEN, "unseen", "of another machine or container: whether it lives cannot be seen")

typedef enum pt_live_state {
#define X(name, word, text) PT_LIVE_##name,
    PT_LIVE_STATE_LIST(X)
#undef X
} pt_live_state_t;

const char *pt_live_state_word(pt_live_state_t state);

/* Whether a scope waits for other ranks. */
typedef enum pt_live_comm {
    PT_LIVE_COMM_NONE,
    PT_LIVE_COMM_COLLECTIVE, /* every rank of a group has to come */
    PT_LIVE_COMM_PEER        /* one other rank has to come; which is not recorded */
} pt_live_comm_t;

typedef struct pt_live_scope {
    char *name;
    char *category;
    uint64_t start_ns; /* since ts 0 */
    uint64_t age_ns;
    int64_t step;
    bool has_step;
    pt_live_comm_t comm;
} pt_live_scope_t;

typedef struct pt_live_thread {
    uint32_t tid;
    uint32_t slot;
    char name[64];
    pt_live_scope_t *scope; /* outermost first; closed ones are left out */
    uint32_t scopes;
    bool whole; /* false: it changed at each look; the inner scopes are not among them */
    /* How long nothing has happened: neither a scope begun or ended, nor any event. */
    uint64_t still_ns;
    bool still_known; /* false: the time of the last event is not to be had; it is still_ns or more
                       */
    bool moved;       /* something happened between the two looks */
    double rate;      /* events a second between them; NAN with one look */
} pt_live_thread_t;

typedef struct pt_live_process {
    char *ring;
    char *trace; /* "" none */
    char *run;   /* the directory of the trace: ranks of one run have the same */
    char *role;
    char *host;
    char *run_id;
    int32_t rank; /* -1 unknown */
    int32_t world_size;
    uint32_t pid;
    pt_live_state_t state;
    uint64_t ran_ns; /* since ts 0; of one that is gone: until its last sign of life */
    int64_t step;
    bool has_step;
    uint64_t written; /* events in the trace file */
    uint64_t lost[PERFTRACE_DROP_COUNT];
    double rate; /* of all threads; NAN with one look */
    pt_live_thread_t *thread;
    uint32_t threads;
    const char *problem; /* what is odd about the ring file; NULL: nothing */
} pt_live_process_t;

typedef struct pt_live_problem {
    char *ring;
    const char *text;
} pt_live_problem_t;

typedef struct pt_live_model {
    uint64_t time_ns;           /* realtime of the look */
    pt_live_process_t *process; /* by run, rank, pid */
    size_t processes, process_cap;
    pt_live_problem_t *problem; /* files that could not be read */
    size_t problems, problem_cap;
    bool failed; /* memory ran out: something is missing */
} pt_live_model_t;

/* A process to be filled, at the end; NULL without memory. */
pt_live_process_t *pt_live_model_add(pt_live_model_t *model);
/* Takes the last one away again. */
void pt_live_model_drop(pt_live_model_t *model);
void pt_live_model_problem(pt_live_model_t *model, const char *ring, const char *text);
/* In the order in which they are shown. */
void pt_live_model_sort(pt_live_model_t *model);
void pt_live_model_free(pt_live_model_t *model); /* accepts NULL; usable again */

/* The thread that stands for a process: the one that started it, where it has open scopes, else the
 * one that has been in its innermost scope for longest; NULL where none has any. */
const pt_live_thread_t *pt_live_process_front(const pt_live_process_t *process);
/* The innermost scope; NULL: none. */
const pt_live_scope_t *pt_live_thread_inner(const pt_live_thread_t *thread);
/* Whether the process still does, or may do, something. */
static inline bool pt_live_is_there(const pt_live_process_t *p) {
    return p->state == PT_LIVE_RUNNING || p->state == PT_LIVE_STOPPED || p->state == PT_LIVE_UNSEEN;
}

#endif
