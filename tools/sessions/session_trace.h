/* session_trace.h: the sessions that a trace of ours tells. SPDX-License-Identifier: MIT
 *
 * Reads a trace file (traces-*.jsonl) through a feed and makes the records of its sessions with the
 * fold that the traced program uses (docs/formats/SESSIONS.md), so that what follows is the same as
 * for a file of records. Several traces one after the other (standard input) are several runs; one
 * in which they take turns is not read on (see take_apart.h). One thread at a time. */
#ifndef PERFTRACE_SESSIONS_SESSION_TRACE_H
#define PERFTRACE_SESSIONS_SESSION_TRACE_H
#include "event_json.h"
#include "mixed_ranks.h"
#include "session_feed.h"
#include "session_replay.h"

typedef struct pt_session_trace {
    pt_session_feed_t *feed;
    /* Its own. */
    perftrace__trace_header_t header; /* of the run that is being read */
    perftrace__session_fold_t *fold;
    perftrace__session_replay_t replay;
    perftrace__strbuf_t records; /* that are not in a piece yet, from `given` on */
    size_t given;
    pt_session_piece_t text; /* of the trace */
    uint64_t line;           /* of the text's first byte */
    bool ended;
    bool guessed; /* the header is lost */
    pt_event_reader_t reader;
    pt_mixed_ranks_t ranks; /* ranks.found: processes take turns */
} pt_session_trace_t;

/* The header of the trace that an opened input holds, from the first bytes, which are not taken. Of
 * one that is lost, what a reading of the clock tells: all but the run id, which is empty. False:
 * it is no trace of ours, or there is no memory. The caller frees *ret_header (which must be valid)
 * in every case. */
bool pt_session_trace_header(pt_input_t *input, perftrace__trace_header_t *ret_header);

/* Starts with an opened feed, whose shape is PT_SESSIONS_TRACE, which remains the caller's. False
 * without memory, or when it has no header. */
bool pt_session_trace_open(pt_session_trace_t *trace, pt_session_feed_t *feed);
/* Fills the next piece with records (piece->made is set): see pt_session_feed_next. What is wrong
 * with the trace's lines is counted in the feed's book. */
int pt_session_trace_next(pt_session_trace_t *trace, pt_session_piece_t *piece);
void pt_session_trace_close(pt_session_trace_t *trace); /* all zero is accepted */

#endif
