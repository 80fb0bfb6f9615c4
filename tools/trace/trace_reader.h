/* trace_reader.h: from chunks of a trace file to its events. SPDX-License-Identifier: MIT
 *
 * One per pass over a file. The same bytes give the same events, ordinals and problems, whatever
 * the chunks are cut at. Not thread-safe; readers of different files are independent. */
#ifndef PERFTRACE_TRACE_READER_H
#define PERFTRACE_TRACE_READER_H
#include "cutter.h"
#include "event_json.h"
#include "event_lean.h"
#include "event_shape.h"
#include "trace_problem.h"

typedef struct pt_trace_reader {
    /* Set by the caller. */
    void (*event)(void *ctx, pt_event_t *event);
    void (*member)(void *ctx, const char *key, size_t key_len, const char *value, size_t len);
    void *ctx;
    pt_problems_t *book; /* NULL: problems are not told (a first pass) */
    unsigned file;       /* number of the file in the book */
    bool brief;          /* events may be brief (PT_EVENT_BRIEF) */
    bool lean;           /* events need no more than event_lean.h sets */

    /* Read by the caller. */
    uint64_t ordinal; /* of the event being given out, from 1; of the last one afterwards */
    uint64_t objects; /* records that were JSON objects, events or not */

    pt_cutter_t cutter;
    pt_event_reader_t parser;
    pt_shape_set_t shapes;
    pt_lean_t lean_state;
    const char *record; /* the record that is being read; NULL: none */
} pt_trace_reader_t;

/* Starts a pass over a file of a shape. The fields that the caller sets come after. */
void pt_trace_reader_init(pt_trace_reader_t *reader, pt_shape_t shape);
/* Takes the next chunk; see pt_cutter_feed. */
void pt_trace_reader_feed(pt_trace_reader_t *reader, const char *chunk, size_t len, bool last);
/* Tells a problem of the record that is being read. detail may be NULL. */
void pt_trace_reader_problem(pt_trace_reader_t *reader, unsigned kind, const char *detail);
/* Frees memory. Accepts NULL. */
void pt_trace_reader_free(pt_trace_reader_t *reader);

#endif
