/* survey.h: the first pass over a file that is not of our writer. SPDX-License-Identifier: MIT
 *
 * Finds out what the second pass must know beforehand: the range of times and what lies far outside
 * it, the rank, the clock, the names of processes and threads, and the plan for the scopes. Not
 * thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_SURVEY_H
#define PERFTRACE_TRACE_SURVEY_H
#include "clock_notes.h"
#include "scope_plan.h"
#include "trace_event.h"
#include "track.h"

/* Events of one hour of the file's clock. */
typedef struct pt_survey_hour {
    int64_t first, last, last_end; /* ns */
    uint64_t count;
} pt_survey_hour_t;

typedef struct pt_survey {
    uint64_t events;
    int64_t lo, hi;   /* times outside are outliers; after _finish */
    int64_t first_ts; /* of the events inside; 0 when there are none */
    int64_t last_ts;  /* the last time at which something inside ends */
    uint64_t outliers;
    bool has_rank;
    int64_t rank;       /* args.rank or distributedInfo.rank */
    bool rank_of_file;  /* it is distributedInfo's: what processes say of ranks means nothing */
    bool several_ranks; /* a merged trace: its processes are of different ranks; after _finish */
    int64_t world_size; /* distributedInfo.world_size; -1: not given */
    bool has_base;
    int64_t base_ns;        /* baseTimeNanoseconds */
    pt_clock_notes_t clock; /* what its lines say of its clock */
    pt_scope_plan_t plan;

    pt_survey_hour_t *hour;
    size_t hour_count, hour_cap;
    perftrace__hashmap_t hour_map;
    struct pt_scope_lists *lists;
    bool failed; /* out of memory */
} pt_survey_t;

void pt_survey_init(pt_survey_t *survey);
void pt_survey_free(pt_survey_t *survey); /* accepts NULL */

/* Takes an event; `thread` is the one it stands on. */
void pt_survey_event(pt_survey_t *survey, pt_thread_t *thread, const pt_event_t *event,
                     uint64_t ordinal);
/* Takes a member of the trace object beside traceEvents. */
void pt_survey_member(pt_survey_t *survey, const char *key, size_t key_len, const char *value,
                      size_t len);
/* Ends the pass; tracks: those that the events stand on. keep_outliers: none are set aside. False
 * without memory. */
bool pt_survey_finish(pt_survey_t *survey, const pt_tracks_t *tracks, bool keep_outliers);

/* Takes names and sort indexes from a metadata event. True when it was one of the four that viewers
 * know (it is then not to be copied: the writer makes its own). */
bool pt_survey_metadata(pt_tracks_t *tracks, const pt_event_t *event);
/* A hash of what joins the events of a flow: category, name and id. */
uint64_t pt_event_link_key(const pt_event_t *event);

#endif
