/* event_write.h: events as lines of a Chrome trace. SPDX-License-Identifier: MIT
 *
 * Each event is one line, followed by ",\n". Pure but for the buffer's memory. */
#ifndef PERFTRACE_TRACE_EVENT_WRITE_H
#define PERFTRACE_TRACE_EVENT_WRITE_H
#include "scope_text.h"
#include "strbuf.h"
#include "trace_event.h"
#include "track.h"

/* What is said of an event in the output. Empty texts leave their member out. */
typedef struct pt_put {
    pt_str_t name, cat, args; /* JSON */
    pt_str_t id;              /* JSON, used when has_number is false */
    pt_str_t s, scope;        /* JSON */
    pt_str_t rest;            /* `, "key": value` ... */
    const pt_track_text_t *track;
    int64_t ts, dur;  /* ns; ts at least 0 unless ph is M; dur is written for X */
    pt_touch_t touch; /* of an X */
    uint32_t number;  /* id as a number */
    bool has_number, bind_enclosing;
    char ph;
} pt_put_t;

void pt_event_put(perftrace__strbuf_t *out, const pt_put_t *put);

/* The same for an event in our writer's layout: what is unchanged is copied as it stands. new_dur:
 * the duration is not the text's any more. touch: of an X. */
void pt_event_put_verbatim(perftrace__strbuf_t *out, const pt_event_t *event,
                           const pt_track_text_t *track, int64_t ts, int64_t dur, bool new_dur,
                           pt_touch_t touch);

/* `, "pid": P, "tid": T`. */
void pt_track_text_set(pt_track_text_t *text, uint32_t pid, uint32_t tid);

#endif
