/* track_spans.h: the phases of one session, on their way to tracks that nest.
 * SPDX-License-Identifier: MIT
 *
 * Viewers take the async events of one id for a stack, while the phases of a session may overlap in
 * any way. Phases are held here until none is open any more (or too many are held); then each gets
 * a lane in which it nests: lane 0 is the session's own track, the others are for what crosses
 * there. Begins and ends may come in either order, as two threads gave them. Times are nanoseconds
 * of the file. Pure but for memory; one thread at a time. */
#ifndef PERFTRACE_CONVERT_TRACK_SPANS_H
#define PERFTRACE_CONVERT_TRACK_SPANS_H
#include "track.h"

/* A begin or an end. The texts are copied. */
typedef struct pt_track_mark {
    int64_t ts;
    pt_str_t name, args; /* JSON */
    const pt_thread_t *thread;
} pt_track_mark_t;

typedef struct pt_track_span {
    int64_t start, end;
    int64_t cut; /* where the next one began, if there can be one at a time; INT64_MAX: nowhere */
    pt_str_t name, begin_args, end_args;
    const pt_thread_t *begin_thread, *end_thread; /* the other one's where one is not known */
    char *memory[2];                              /* hold the texts */
    bool begun, ended;                            /* which of the two has come */
    bool unfinished;                              /* no end came: it was closed */
} pt_track_span_t;

typedef struct pt_track_spans {
    pt_track_span_t *span;
    unsigned count, cap;
    unsigned open;       /* of these, how many lack their begin or their end */
    unsigned early;      /* of these, how many lack their begin */
    unsigned given_up;   /* open ones that were closed for want of room */
    int64_t from, until; /* stretch of lane 0 that has been given out; see PT_TRACK_SPANS_INIT */
} pt_track_spans_t;

#define PT_TRACK_SPANS_INIT                                                                        \
    { NULL, 0, 0, 0, 0, 0, INT64_MAX, INT64_MIN }

/* Spans of a session that may be open at once (past it the oldest is closed), and complete ones
 * that are worth holding while another one is open. */
#define PT_TRACK_SPANS_LIMIT 4096U

typedef enum pt_track_took { PT_TRACK_TOOK, PT_TRACK_STRAY, PT_TRACK_NO_MEMORY } pt_track_took_t;

/* single: the phase allows one span at a time, so that this one ends the one before it. */
pt_track_took_t pt_track_spans_begin(pt_track_spans_t *spans, const pt_track_mark_t *mark,
                                     bool single);
/* began: the time of its begin; 0 means the open span of that name that began last, and
 * PT_TRACK_STRAY that there is none. */
pt_track_took_t pt_track_spans_end(pt_track_spans_t *spans, const pt_track_mark_t *mark,
                                   int64_t began);
/* Whether a phase of that name has begun and not ended. */
bool pt_track_spans_is_open(const pt_track_spans_t *spans, pt_str_t name);
/* Whether a span that has begun at or before a time ends later, or is open. whole: of those only
 * that pt_track_spans_take would give. */
bool pt_track_spans_run_at(const pt_track_spans_t *spans, int64_t ts, bool whole);
/* Closes what is open: at `end`, where the session ends, or at `last` if it began later. Returns
 * how many spans had no end. */
unsigned pt_track_spans_close(pt_track_spans_t *spans, int64_t end, int64_t last);

/* Gives out all complete spans, in an order in which the begins and ends of each lane nest even
 * where times are equal, and forgets them. [start, end]: where lane 0 may be used (start > end:
 * nowhere). Lanes are used in turn: a new one is the one after the last. False without memory. */
bool pt_track_spans_take(pt_track_spans_t *spans, int64_t start, int64_t end,
                         void (*put)(void *ctx, const pt_track_span_t *span, unsigned lane,
                                     bool is_end),
                         void *ctx);
/* Frees; accepts what was never used. */
void pt_track_spans_free(pt_track_spans_t *spans);

#endif
