/* session_fold.h: from session events to session records. SPDX-License-Identifier: MIT
 *
 * Pure: no clock, no file, no thread. One fold holds the live sessions of one run of one process;
 * its caller feeds it events and takes the records of finished sessions as lines of JSON
 * (docs/formats/SESSIONS.md). Used by the drain's session sink while a program runs, by recovery
 * and by the tools on what a trace tells.
 *
 * Events of different threads may come a little out of order: a phase may end before it began, or
 * begin before its session was registered. A session that is not known yet is made from its first
 * event and completed by its registration. Ids count from 0 in a process.
 *
 * Times are ns since ts 0; epoch_ns of the options is the Unix time of ts 0. Every bool function
 * returns false only for want of memory: the event is not in any record then, and is counted. */
#ifndef PERFTRACE_SESSION_SESSION_FOLD_H
#define PERFTRACE_SESSION_SESSION_FOLD_H

#include "strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERFTRACE__FOLD_NO_ID INT64_MIN

typedef struct perftrace__session_fold perftrace__session_fold_t;

typedef struct perftrace__fold_options {
    int32_t rank;     /* -1 unknown: written as null */
    const char *role; /* NULL or "": no key */
    const char *run_id;
    uint64_t epoch_ns;
    uint32_t flush_threshold; /* sessions that are ready before TAKE_DUE takes them; 0 is 1 */
    uint32_t max_live; /* ceiling on live sessions that are not finished, 0: none. The oldest is
                          evicted: it waits with the finished ones, to be written as pending
                          with "evicted": true, unless its finalize comes before. */
} perftrace__fold_options_t;

typedef struct perftrace__fold_counts {
    uint64_t sessions; /* ever seen */
    uint64_t live;
    uint64_t ready;   /* of live, finished and waiting to be taken */
    uint64_t written; /* taken */
    uint64_t evicted;
    uint64_t late;    /* events for sessions that were taken already */
    uint64_t orphans; /* finalizes of tasks that reached no live session */
    uint64_t clamped; /* times that ran backwards (an end before its begin): taken as no time */
    uint64_t no_memory;
    uint64_t tasks; /* that have live sessions */
    uint64_t bytes; /* memory held */
} perftrace__fold_counts_t;

/* A piece of text; data NULL: absent (JSON null or no key). Need not end in NUL. */
typedef struct perftrace__text {
    const char *data;
    size_t len;
} perftrace__text_t;

/* NULL without memory. Strings of the options are copied. */
perftrace__session_fold_t *perftrace__session_fold_new(const perftrace__fold_options_t *options);
void perftrace__session_fold_free(perftrace__session_fold_t *f);

/* Index of a phase name, made on first sight; generate, reward and toolcall are 0, 1, 2 and all
 * three allow several spans. Never fails: without memory or beyond 65534 names it is the index of a
 * phase called "other". */
uint32_t perftrace__session_fold_phase(perftrace__session_fold_t *f, perftrace__text_t name);
/* allow_multiple: spans of the phase may run in parallel; else a new one ends the one before it.
 * ready_on_complete: the end of the phase's last open span finishes a session that is not
 * finalized, as a finalize without status does. A name that was never declared is accepted as
 * allow_multiple. */
bool perftrace__session_fold_declare(perftrace__session_fold_t *f, perftrace__text_t name,
                                     bool allow_multiple, bool ready_on_complete);

/* parent, or task: PERFTRACE__FOLD_NO_ID for none. The parents of the last 4096 tasks without live
 * sessions are remembered, those of tasks with live ones all. */
bool perftrace__session_fold_task(perftrace__session_fold_t *f, int64_t task, int64_t parent);
/* task: PERFTRACE__FOLD_NO_ID for none (null in the record). */
bool perftrace__session_fold_session(perftrace__session_fold_t *f, int64_t session, int64_t task,
                                     uint64_t ns);
/* Whether the session is live and its registration has come. */
bool perftrace__session_fold_has(const perftrace__session_fold_t *f, int64_t session);
/* payload: an object's members as JSON text without the braces ("\"a\": 1, \"b\": null"). */
bool perftrace__session_fold_phase_begin(perftrace__session_fold_t *f, int64_t session,
                                         uint32_t phase, uint64_t ns, perftrace__text_t payload);
/* began: the time of the begin, which tells parallel spans apart; 0: the last one that is open, and
 * a span without length when none is. A begin that was never seen is made up from it. An end before
 * its begin ends there. */
bool perftrace__session_fold_phase_end(perftrace__session_fold_t *f, int64_t session,
                                       uint32_t phase, uint64_t began, uint64_t ns,
                                       perftrace__text_t payload);
/* Finishes a session. Without status: accepted when every span that began by then had ended by then
 * (whatever the order in which the events came), else failed. Any other status is kept as it is. Of
 * several finalizes the one with the earliest time counts, the others are late; a session that
 * ended with a phase (ready_on_complete) keeps the time of that. */
bool perftrace__session_fold_finalize(perftrace__session_fold_t *f, int64_t session, uint64_t ns,
                                      perftrace__text_t status, perftrace__text_t reason);
/* The same for all live sessions of the task that were submitted by ns and not finalized before, in
 * the order of their ids, also for those whose registration comes within two ticks. */
bool perftrace__session_fold_finalize_task(perftrace__session_fold_t *f, int64_t task, uint64_t ns,
                                           perftrace__text_t status, perftrace__text_t reason);
/* Adds to a counter; sums stop at the ends of 64 bits. */
bool perftrace__session_fold_counter(perftrace__session_fold_t *f, int64_t session,
                                     perftrace__text_t name, int64_t delta);

/* Says that everything that happened before this call has been fed to the fold, but for events that
 * come out of order: a session that was finished after the tick before this one is not taken by
 * TAKE_DUE and TAKE_READY, so that stragglers of other threads still reach it. */
void perftrace__session_fold_tick(perftrace__session_fold_t *f);

typedef enum perftrace__fold_take {
    PERFTRACE__TAKE_DUE,   /* what is ready, when the threshold (or max_live) is reached */
    PERFTRACE__TAKE_READY, /* what is ready */
    PERFTRACE__TAKE_ALL,   /* everything, at the end: also what a tick held back, then the live ones
                              as pending, with their open phases, in the order of their ids */
} perftrace__fold_take_t;

/* Appends records, one line each, in the order in which the sessions were finished, and forgets
 * them. now: what is open in a session that was not finalized has run until then; in a finalized
 * one, until its finalize. False without memory: nothing is forgotten that is
 * not in out. */
bool perftrace__session_fold_take(perftrace__session_fold_t *f, perftrace__fold_take_t what,
                                  uint64_t now, perftrace__strbuf_t *out);

/* A session whose record is in the file already (recovery): its events are ignored and not counted
 * as late. */
bool perftrace__session_fold_skip(perftrace__session_fold_t *f, int64_t session);

/* The rank of the records from now on; -1 unknown. */
void perftrace__session_fold_rank(perftrace__session_fold_t *f, int32_t rank);

void perftrace__session_fold_counts(const perftrace__session_fold_t *f,
                                    perftrace__fold_counts_t *ret_counts);

#endif
