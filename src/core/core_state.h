/* core_state.h: what the files of the core share. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CORE_CORE_STATE_H
#define PERFTRACE_CORE_CORE_STATE_H

#include "core.h"

#include <pthread.h>

struct perftrace__core_detail {
    struct perftrace__core_detail *next;
    char *categories; /* NULL: none */
    char *chosen;     /* of these in the window; NULL: all */
    bool open;        /* a window that wants them */
};

typedef struct perftrace__core {
    pthread_mutex_t lock;
    /* Counts starts, stops and forks: a thread whose generation differs has no slot here.
     * Written under lock, read relaxed by slow paths. */
    uint32_t generation;
    /* Number of the present run in site words, from 1 on. It stays at RUN_MAX when a process has
     * started as often, and no thread's slot has that number: every event takes the slow way then,
     * since a thread that slept through a whole round could not tell its old slot. Under lock. */
    uint32_t run;
    bool active;     /* a ring is there; written under lock, read relaxed */
    bool enabled;    /* under lock */
    bool sessions;   /* session events are recorded; under lock */
    bool after_fork; /* in a child that starts at its first event; under lock, read relaxed */
    bool stopped;    /* after a stop: what comes now is late; under lock, read relaxed */
    bool has_step;   /* step is the ambient step; both under lock */
    int64_t step;
    bool warned_memory; /* under lock */
    /* These four are written by a start and read relaxed, also by threads that are late for the run
     * before. */
    bool fast_clock;
    bool block; /* overflow policy, with a bound above 0 */
    uint32_t string_max;
    uint64_t block_ns;
    int64_t next_session; /* id of the next one; relaxed */
    uint64_t late;
    char *categories;
    char *names;
    struct perftrace__core_detail *details;  /* lists of categories that are off outside windows */
    const perftrace__mirror_t *scope_mirror; /* NULL: nobody is told; release, written under lock */
    perftrace__ring_t ring; /* under lock, or between start and retire by the drain's thread */
    /* The ring's header for slow paths without the lock, where a late thread may meet the next
     * start; release. */
    perftrace__ring_header_t *header;
    uint64_t born; /* ticks of the start; read relaxed */
    void (*first_event_after_fork)(void);
    void (*warn)(const char *text);
} perftrace__core_t;

extern perftrace__core_t perftrace__core;

/* sites.c */
/* Sets the words of all sites by enabled and filters; after a stop the wanted ones lead to the slow
 * path, which counts. Lock held. */
void perftrace__sites_refresh(void);
/* Appends everything known to a new ring's log. Lock held. */
bool perftrace__sites_log_all(perftrace__ring_t *ring);
/* Remembers a log entry for later rings and appends it to the present one. Lock held. */
bool perftrace__sites_log(const void *entry, size_t len);

/* emit.c */
/* Ends the last open span of a phase, named at run time, when nobody kept the handle of its begin.
 * site: one of PHASE_BEGIN. */
void perftrace__phase_end_last(int64_t session, perftrace_i_site_t *site, uint32_t name);

/* thread.c */
/* The calling thread's slot in the running tracer, attached on first use; NULL when there is none
 * (the loss is counted by the caller through perftrace__thread_count_lost). */
perftrace_i_slot_t *perftrace__thread_slot(void);
void perftrace__thread_count_lost(void);
/* The slot the calling thread had last, also when its run has ended (its memory stays); NULL when
 * it has none. */
perftrace__slot_t *perftrace__thread_last_slot(void);
/* Makes the hook for the end of threads: early, so that it runs before those of the libraries that
 * are told of scopes. */
void perftrace__threads_prepare(void);
void perftrace__threads_forget(void);

/* sites.c: whether perftrace_site_create takes them. */
bool perftrace__site_can_be(int kind, uint32_t nargs, const perftrace_i_arg_t *args);

/* emit.c: tells of the scopes that the calling thread, whose slot this is, leaves open at its end,
 * and closes them. May block as emitting does. */
void perftrace__emit_left_open(perftrace__slot_t *slot);

/* names.c: the text of a run-time name; any thread. NULL: there is none of that id. */
const char *perftrace__name_text(uint32_t id);

/* mirror.c, all for the calling thread. A scope of a site whose word has the number of no run, at
 * that depth of the open-scope stack. */
void perftrace__mirror_begin(const perftrace_i_site_t *site, uint32_t name, uint32_t depth);
/* The stack is only that deep any more: what was deeper ends. */
void perftrace__mirror_settle(uint32_t depth);
/* In the child of a fork: who was told is told no more. */
void perftrace__mirror_forget(void);

/* clock.c */
void perftrace__clock_start(bool slow);
void perftrace__clock_first_anchor(perftrace__ring_header_t *h);

#endif
