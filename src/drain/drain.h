/* drain.h: from the rings of this process to its sinks. SPDX-License-Identifier: MIT
 *
 * A sweep takes what all rings hold, in order of time, hands it to the sinks, flushes them, then
 * commits: the ring header says what is in the file, and the producers get their room back. A kill
 * at any instant leaves file and ring in a state that recovery finishes without a gap or a
 * repetition. */
#ifndef PERFTRACE_DRAIN_DRAIN_H
#define PERFTRACE_DRAIN_DRAIN_H

#include "merge.h"
#include "ring_file.h"
#include "sink.h"

#include <pthread.h>

#define PERFTRACE__DRAIN_SINKS 4

typedef struct perftrace__drain_lane_state {
    uint64_t pos;        /* words handed to the sinks */
    uint64_t drops[2];   /* of the slot, reported */
    uint64_t too_long;   /* likewise */
    uint32_t generation; /* thread that was announced */
    uint32_t name_seq;
} perftrace__drain_lane_state_t;

typedef struct perftrace__drain {
    perftrace__ring_t *ring;
    /* [0] is the trace file's, whose offset is committed; [1], if there, the sessions file's. */
    perftrace__sink_t *sinks[PERFTRACE__DRAIN_SINKS];
    unsigned nsinks;
    perftrace__site_table_t sites;
    perftrace__drain_lane_state_t *states; /* by slot */
    perftrace__lane_t *lanes;
    uint32_t *heap;
    uint32_t cap; /* places in the three arrays */
    uint64_t written;
    uint64_t committed; /* of written, what is in the present file */
    uint64_t left;      /* scopes that ended threads left open, told as unfinished */
    uint64_t dropped[PERFTRACE__RING_DROPS];
    uint64_t no_slot;   /* reported */
    uint64_t no_memory; /* events of this sweep without a line */
    bool closed;        /* the footer has been made */
    bool pending;       /* text that is not in the file, positions that are not committed */
    int last_status;
    uint64_t write_errors;
    uint64_t next_clock; /* monotonic time of the next clock line */
    void (*anchor)(void);
    void (*clock_pair)(uint64_t *ret_ns, uint64_t *ret_mono, uint64_t *ret_epoch);
    bool (*take_reference)(perftrace__reference_t *ret); /* NULL: there are none */
    uint64_t (*ticks)(void); /* the clock of the records; NULL: sweeps take all there is */

    /* The thread; see drain_thread.c. */
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* held during a sweep; fork takes it */
    pthread_cond_t done;
    uint32_t stop;
    uint64_t asked; /* sweeps requested */
    uint64_t finished;
    bool sync_wanted;
    bool sweeping;
    uint64_t flush_ns;
    void (*failed)(void *user, int status); /* a flush failed (once until it works again) */
    void (*recovered)(void *user);          /* flushing works again */
    void *user;
    uint32_t finish_asked; /* by a signal handler: the thread calls finish once */
    void (*finish)(void *user);
    void (*committed_to)(void *user); /* after each commit; NULL: of no interest */
    bool finish_at_stop;              /* the thread's last act is perftrace__drain_finish */
    uint64_t late;
    uint32_t ended; /* release: the thread has ended and touches nothing any more */
} perftrace__drain_t;

/* Prepares a drain over a ring; sinks are added to ->sinks by the caller. Nothing is owned but the
 * drain's own arrays. */
void perftrace__drain_init(perftrace__drain_t *d, perftrace__ring_t *ring);
void perftrace__drain_free(perftrace__drain_t *d);

/* One sweep: takes what happened before it began. sync: files are on disk afterwards. 0, or the
 * status of the flush that failed: then events wait in the rings. Lock held (or no other thread
 * there). */
int perftrace__drain_sweep(perftrace__drain_t *d, bool sync);

/* The last words: unfinished scopes, footer, flush, ring marked as closed. late: events after stop.
 * 0 or the status of the flush. */
int perftrace__drain_finish(perftrace__drain_t *d, uint64_t late);

/* Words in the rings that are not in the file yet. Any thread. */
uint64_t perftrace__drain_backlog(const perftrace__ring_t *ring);
/* The same in events. Only when no producer is at work any more. */
uint64_t perftrace__drain_backlog_events(const perftrace__ring_t *ring);

/* ---- the thread ---- */

/* Starts the thread: sweeps every flush_ns, earlier when a producer wakes it. 0 or a status. */
int perftrace__drain_thread_start(perftrace__drain_t *d, uint64_t flush_ns);
/* Asks for a sweep that begins after this call and waits for it, so for the disk, without a limit.
 * Returns its status. Without a thread it sweeps itself. */
int perftrace__drain_request(perftrace__drain_t *d, bool sync);
/* Wakes the thread; async-signal-safe. */
void perftrace__drain_wake(perftrace__drain_t *d);
/* Lets the thread finish the file (perftrace__drain_finish with late) and end, waiting at most
 * timeout_ns; without a thread does it itself and may block longer. True: done, *ret_status is what
 * finishing gave. False: the thread hangs in the disk; the drain must not be touched any more
 * before
 * ->ended is set. */
bool perftrace__drain_thread_finish(perftrace__drain_t *d, uint64_t late, uint64_t timeout_ns,
                                    int *ret_status);

#endif
