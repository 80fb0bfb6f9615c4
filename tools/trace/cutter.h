/* cutter.h: from chunks of a file to its records. SPDX-License-Identifier: MIT
 *
 * A record is a line (of JSONL) or an element of a trace's array of events, whatever the chunks are
 * cut at. Memory is one record that lies across chunks. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_CUTTER_H
#define PERFTRACE_TRACE_CUTTER_H
#include "json_split.h"
#include "strbuf.h"

typedef enum pt_shape {
    PT_SHAPE_NONE,   /* no trace */
    PT_SHAPE_LINES,  /* one JSON object a line */
    PT_SHAPE_ARRAY,  /* [ event, event ... */
    PT_SHAPE_OBJECT, /* { "traceEvents": [ event ... ], other members } */
    PT_SHAPE_RING    /* a left-over ring file */
} pt_shape_t;

/* Longer records are dropped and counted. */
#define PT_RECORD_LIMIT ((size_t)64 << 20)
/* Longer members beside traceEvents are passed over. */
#define PT_MEMBER_LIMIT ((size_t)1 << 20)

typedef struct pt_cutter pt_cutter_t;
struct pt_cutter {
    /* Set by the caller. PT_EVENT_PAD bytes behind a record are readable. plain: see pt_line_end
     * (never for records of arrays). */
    pt_shape_t shape;
    void (*record)(void *ctx, const char *p, size_t len, bool plain);
    /* Takes the line at p if it can without a look for its end: returns its newline, or NULL, upon
     * which record gets the line. May be NULL. */
    const char *(*line)(void *ctx, const char *p, const char *end);
    /* A member of the trace object other than traceEvents; key with its quotes. May be NULL. */
    void (*member)(void *ctx, const char *key, size_t key_len, const char *value, size_t len);
    void *ctx;

    /* Read by the caller. */
    uint64_t too_long;                       /* records dropped for their length */
    uint64_t too_long_line, too_long_offset; /* of the first */
    uint64_t junk;                           /* bytes outside records that belong to nothing */
    uint64_t junk_offset;                    /* of the first */
    uint64_t more_documents;                 /* traces behind the end of the first one */
    uint64_t more_offset;                    /* of the first of them */
    bool byte_order_mark;                    /* the document begins with one */
    bool saw_events;                         /* an array of events was entered (lines: always) */
    bool closed;                             /* the last one entered was closed too */

    /* Its own. */
    int state;
    bool in_object; /* the outer bracket of the document is a brace */
    bool skipping;  /* in a record or member that is too long */
    perftrace__json_split_t split;
    perftrace__strbuf_t carry, key;
    const char *chunk;
    const char *mark; /* place in the chunk whose line is known */
    uint64_t mark_line;
    uint64_t chunk_offset, chunk_line, carry_offset, carry_line;
};

/* Takes the next chunk. Chunks need PT_EVENT_PAD readable bytes behind them. last: the file ends
 * with it (len may be 0): what is left becomes a record too. */
void pt_cutter_feed(pt_cutter_t *cutter, const char *chunk, size_t len, bool last);

/* Where a record, or a place in it, lies in the file. Only inside the record function. */
void pt_cutter_place(pt_cutter_t *cutter, const char *p, uint64_t *ret_line, uint64_t *ret_offset);

/* Frees memory; accepts NULL. */
void pt_cutter_free(pt_cutter_t *cutter);

#endif
