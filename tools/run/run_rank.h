/* run_rank.h: one worker's life, with its profiler's. SPDX-License-Identifier: MIT
 *
 *   started -> worker found -> worker ended -> (report phase) -> done
 *
 * Without a profiler the process that was started is the worker. With one, the worker is looked for
 * below it; should the profiler end first, the worker comes to us and is waited for. Everything
 * happens on the loop's thread; below run_launch.c only. */
#ifndef PERFTRACE_TOOL_RUN_RANK_H
#define PERFTRACE_TOOL_RUN_RANK_H

#include "run_launch.h"
#include "run_prefix.h"
#include "run_process.h"
#include "run_writer.h"

#include <uv.h>

typedef struct pt_rank pt_rank_t;

typedef struct pt_launch {
    const pt_launch_request_t *request;
    uv_loop_t loop;
    pt_rank_t *ranks;
    size_t done;
    size_t streams;      /* pipes that are open */
    pt_writer_t *writer; /* with request->prefix */
    bool paused;         /* the writer's queue is full: pipes are not read */
    bool stopping;       /* a rank failed, the others were asked to end */
    int status;          /* of the first rank that failed; 0: none so far */
    unsigned asked;      /* signals that found workers ended: the second one ends the profilers */
} pt_launch_t;

typedef struct pt_stream {
    uv_pipe_t pipe; /* first: the handle is the stream */
    pt_launch_t *launch;
    pt_prefix_t prefix;
    int fd; /* where it goes: 1 or 2 */
    bool open;
    char buffer[65536];
} pt_stream_t;

struct pt_rank {
    pt_launch_t *launch;
    const pt_plan_rank_t *plan;
    bool wrapped; /* the process is a profiler, the worker is below it */
    bool started;

    uv_process_t process; /* what we started */
    bool process_ended;
    int process_status;

    pt_process_t worker; /* pid 0: not found yet */
    pt_process_t child;  /* the profiler's only child, while the worker is not found */
    bool unseen;         /* it was not found, and seems to be gone */
    bool guessed;        /* not by its command line: the profiler's only child is taken for it */
    bool worker_ended;
    int worker_status; /* -1: only its profiler knows */
    int pidfd;         /* of the worker; -1 where the system has none */
    uv_poll_t watch;   /* of pidfd */

    uv_timer_t look; /* for the worker, or for the report */
    uint64_t look_ms;
    uint64_t started_ms; /* by the loop's clock */
    uint64_t pending;    /* signals that came before the worker was found: bit n is signal n */
    uint64_t given;      /* signals that the worker has got from us, those included */
    uv_timer_t grace;    /* for the report */
    bool grace_over;
    bool killed;  /* the profiler, by us */
    bool missing; /* there is no report */
    bool done;
    int status;
    pt_string_list_t before; /* reports that were there already */
    pt_stream_t *streams;    /* two, with request->prefix */
};

/* Starts it. 0 or an exit status (with a message). */
int pt_rank_start(pt_rank_t *rank);
/* Gives a signal to the worker; to its profiler only when it is the second since the worker ended.
 * False when the worker does not get it. */
bool pt_rank_signal(pt_rank_t *rank, int signum);
/* Whether its end is not its own: it was asked to end, by us or by a signal that came through us,
 * or its profiler was killed and took the status along. */
bool pt_rank_was_ended(const pt_rank_t *rank);
/* Reads the rank's pipes again. */
void pt_rank_resume(pt_rank_t *rank);
/* Frees what is not the loop's, after its handles are closed. */
void pt_rank_free(pt_rank_t *rank);

/* Of the launch: called once by each rank when nothing of it is left to be waited for. */
void pt_launch_rank_done(pt_launch_t *launch, pt_rank_t *rank);
/* A pipe was closed. */
void pt_launch_stream_closed(pt_launch_t *launch);

#endif
