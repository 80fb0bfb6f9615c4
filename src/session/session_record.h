/* session_record.h: a session as a line of JSON. SPDX-License-Identifier: MIT
 *
 * Pure text (docs/formats/SESSIONS.md); strict JSON in UTF-8 as long as payloads are. Not
 * thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_RECORD_H
#define PERFTRACE_SESSION_SESSION_RECORD_H

#include "session_tasks.h"
#include "session_view.h"

typedef struct perftrace__record_writer {
    const perftrace__cells_t *cells;
    const perftrace__session_names_t *phases;
    const perftrace__session_names_t *counters;
    const perftrace__session_tasks_t *tasks;
    uint64_t epoch_ns;
    perftrace__strbuf_t identity; /* from rank to status */
    perftrace__strbuf_t role;     /* the part of identity that stays */
    perftrace__strbuf_t tail;     /* from run_id to the line's end */
    perftrace__strbuf_t scratch;
    perftrace__span_t **spans; /* of the record at hand, in its order */
    size_t spans_cap;
    uint64_t second; /* the last one that was written */
    char second_text[16];
    uint32_t second_len;
    uint64_t clamped; /* records whose session was finalized before it was submitted */
} perftrace__record_writer_t;

/* The four tables must live as long as the writer. False without memory. */
bool perftrace__record_writer_init(perftrace__record_writer_t *w,
                                   const perftrace__fold_options_t *options,
                                   const perftrace__cells_t *cells,
                                   const perftrace__session_names_t *phases,
                                   const perftrace__session_names_t *counters,
                                   const perftrace__session_tasks_t *tasks);
/* The rank of the lines from now on; false without memory. */
bool perftrace__record_writer_rank(perftrace__record_writer_t *w, int32_t rank);
/* Appends the line. now: what is open in a session that is not final has run until then. False
 * without memory: out is as it was. */
bool perftrace__record_write(perftrace__record_writer_t *w, const perftrace__live_t *live,
                             uint64_t now, perftrace__strbuf_t *out);
uint64_t perftrace__record_writer_bytes(const perftrace__record_writer_t *w);
void perftrace__record_writer_free(perftrace__record_writer_t *w);

#endif
