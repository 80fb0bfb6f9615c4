/* core.h: the tracer of this process, as the rooms above see it. SPDX-License-Identifier: MIT
 *
 * One per process, static. The core owns sites, names, threads, the clock and the ring file; it
 * knows no file format but the ring's. Locks: one mutex, taken by the slow paths (first event of a
 * site or a thread, a new name, a step, start and stop), never on an event's way. */
#ifndef PERFTRACE_CORE_CORE_H
#define PERFTRACE_CORE_CORE_H

#include "ring_file.h"

#include <perftrace/inline.h>
#include <stdbool.h>

typedef struct perftrace__core_options {
    const char *const *ring_dirs; /* tried in order */
    unsigned ring_ndirs;
    uint64_t ring_words; /* power of two */
    uint32_t max_threads;
    bool block;        /* overflow policy */
    uint64_t block_ns; /* its bound */
    uint32_t string_max;
    bool slow_clock;        /* never the processor's counter */
    const char *categories; /* filters; copied */
    const char *names;
    bool resume; /* the child of a fork goes on: switch, filters and step stay as they are */
    perftrace__run_meta_t meta; /* clock_kind, epoch_ns and mono_ns are filled in by start */
    /* Called without locks by every thread that emits after a fork until one call has returned. May
     * be NULL. */
    void (*first_event_after_fork)(void);
    bool sessions; /* session events are recorded, whatever `enabled` says */
    /* For what a person should know; may be NULL. Called with the core's lock held. */
    void (*warn)(const char *text);
} perftrace__core_options_t;

/* Creates the ring and switches sites on (when enabled). 0 or a status. */
int perftrace__core_start(const perftrace__core_options_t *options, bool enabled);
/* Lets every producer meet the slow path, which counts what comes now as late. Rings stay mapped.
 * In the child of a fork that has not started yet: it will not. */
void perftrace__core_stop(void);
/* The same for a caller that must not wait, since the thread that holds the lock may be stopped in
 * a signal handler: false, and nothing was done, when the lock is taken. */
bool perftrace__core_try_stop(void);
/* Switches all sites off for good when the child of a fork cannot or shall not record. */
void perftrace__core_give_up(void);
/* After the drain is done with them: releases the memory of the rings. */
void perftrace__core_retire(void);
/* Between start and stop. */
bool perftrace__core_active(void);
/* In the child of a fork, until its first event. */
bool perftrace__core_pending(void);
void perftrace__core_set_enabled(bool enabled);
bool perftrace__core_get_enabled(void);
void perftrace__core_set_filter(const char *categories, const char *names); /* NULL keeps */
/* Categories that are off but in windows of a profiler, in the form of a filter; NULL or "": none.
 * Each profiler has its own; one that several list is on while a window of any of them is open.
 * Kept over starts and stops. NULL without memory. */
typedef struct perftrace__core_detail perftrace__core_detail_t;
perftrace__core_detail_t *perftrace__core_add_detail(const char *categories);
void perftrace__core_remove_detail(perftrace__core_detail_t *detail); /* accepts NULL */
/* Opens or closes its window. chosen: those of the list that are on in it, in the same form; "":
 * all. Without memory for that it is all of them. */
void perftrace__core_open_detail(perftrace__core_detail_t *detail, bool open, const char *chosen);
/* Who is told of scopes as they begin and end, by the thread they are of and without locks. The
 * calls of a thread nest, one end for each begin, whatever becomes of the scopes. The tables live
 * until the process ends. */
typedef struct perftrace__mirror {
    void (*begin)(const char *name, const char *category);
    void (*end)(void);
} perftrace__mirror_t;
/* Scopes that begin from now on, of those that are recorded. In the child of a fork nobody is told.
 */
void perftrace__core_open_mirror(const perftrace__mirror_t *mirror);
/* No scope that begins from now on. Ends what the calling thread has begun; other threads end
 * theirs with the scopes. */
void perftrace__core_close_mirror(void);
/* The running tracer's ring; valid between start and retire. */
perftrace__ring_t *perftrace__core_ring(void);
/* Events that came after stop. */
uint64_t perftrace__core_late(void);
/* Adds events that reached a ring after its last sweep. */
void perftrace__core_add_late(uint64_t events);
/* Sets the calling thread's name; kept for the thread's life also before start. */
void perftrace__core_thread_name(const char *name);
void perftrace__core_step(int64_t step);
/* The clock of the records. */
uint64_t perftrace__clock_ticks(void);
/* Whether the processor's counter can be a clock at all on this machine. */
bool perftrace__clock_counter_usable(void);
/* The counter and CLOCK_MONOTONIC_RAW at one instant. */
void perftrace__clock_read_pair(uint64_t *ret_ticks, uint64_t *ret_mono);
/* Takes a new clock anchor when one is due; the drain calls it. */
void perftrace__core_anchor(void);
/* Realtime and monotonic time at one instant, with ts. */
void perftrace__core_clock_pair(uint64_t *ret_ns, uint64_t *ret_mono, uint64_t *ret_epoch);

/* Fork, in the order of pthread_atfork. The child drops the parent's ring without touching it. */
void perftrace__core_fork_prepare(void);
void perftrace__core_fork_parent(void);
void perftrace__core_fork_child(void);

#endif
