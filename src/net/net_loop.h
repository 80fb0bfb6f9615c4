/* net_loop.h: one libuv loop on one thread. SPDX-License-Identifier: MIT
 *
 * The thread takes no signals and sleeps in the system until something happens. What belongs to
 * the loop is touched on its thread only; other threads hand it work by perftrace__net_loop_call,
 * and what would keep it busy for long runs beside it as a job. */
#ifndef PERFTRACE_NET_NET_LOOP_H
#define PERFTRACE_NET_NET_LOOP_H

#include "compiler.h"

#include <stdbool.h>
#include <uv.h>

typedef struct perftrace__net_loop perftrace__net_loop_t;

/* Starts the thread, named as told (at most 15 bytes). NULL on failure, *ret_status says why. */
perftrace__net_loop_t *perftrace__net_loop_start(const char *name, int *ret_status);
/* The loop itself, for handles. Its thread only. */
uv_loop_t *perftrace__net_loop_uv(perftrace__net_loop_t *loop);
/* Runs fn(ctx) on the loop's thread and waits until it has returned. From any other thread. False,
 * as from the other calls below: the program has closed all descriptors, this loop's too. Then it
 * serves nobody any more, and its thread and memory stay as they are. */
bool perftrace__net_loop_call(perftrace__net_loop_t *loop, void (*fn)(void *), void *ctx);
/* Ends the loop once all handles are closed (the caller has begun to close them), joins its thread
 * and drops the loop. Does not wait for jobs. False: it is left, see above. */
bool perftrace__net_loop_stop(perftrace__net_loop_t *loop);
/* Lets the loop's thread stand still between two events until resume: what belongs to the loop may
 * then be looked at, and is whole. Waits for the handler that runs. One at a time, not on the
 * loop's thread. False: see above. NULL: nothing, true. */
bool perftrace__net_loop_pause(perftrace__net_loop_t *loop);
void perftrace__net_loop_resume(perftrace__net_loop_t *loop);
/* In a forked child, which has no such thread: closes the loop's own descriptor. The memory stays
 * as it is; the loop must not be used again. NULL: nothing. */
void perftrace__net_loop_orphan(perftrace__net_loop_t *loop);

/* Runs work(ctx) on a short-lived thread without signals, then done(ctx, true) on the loop's
 * thread; or, when the loop has ended meanwhile, done(ctx, false) on the job's own: then only ctx
 * itself may be touched. From the loop's thread. 0 or a status: then neither is called. */
int perftrace__net_job_start(perftrace__net_loop_t *loop, void (*work)(void *),
                             void (*done)(void *ctx, bool alive), void *ctx);

/* The status that means what libuv's code means. */
int perftrace__net_status(int uv_code);

#endif
