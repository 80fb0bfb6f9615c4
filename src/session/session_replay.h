/* session_replay.h: from the lines of a trace file to a fold. SPDX-License-Identifier: MIT
 *
 * Pure. A trace of ours tells every event of its sessions (docs/formats/JSONL.md); fed to a fold,
 * line by line in the order of the file, they give the records again. Used by recovery and by the
 * tools. Lines are not trusted: what cannot be one of ours is counted. Not thread-safe. */
#ifndef PERFTRACE_SESSION_SESSION_REPLAY_H
#define PERFTRACE_SESSION_SESSION_REPLAY_H

#include "trace_header.h"

typedef struct perftrace__session_replay {
    perftrace__session_fold_t *fold;
    perftrace__trace_header_t header; /* the one that holds for the next line */
    uint64_t last_ns;                 /* the latest time that any line told */
    uint64_t taken;                   /* lines of session events */
    uint64_t other;
    uint64_t damaged;
    uint64_t ticked;             /* taken, at the last tick */
    uint64_t lost;               /* events, of whatever kind, that the trace says were dropped */
    perftrace__strbuf_t text[2]; /* names and texts with escapes, decoded */
} perftrace__session_replay_t;

typedef enum perftrace__replayed {
    PERFTRACE__REPLAY_TAKEN,  /* a session event. The fold counts those it has no memory for. */
    PERFTRACE__REPLAY_OTHER,  /* a line of another kind, a header among them */
    PERFTRACE__REPLAY_DAMAGED /* no JSON object, or a session event without what it must have */
} perftrace__replayed_t;

/* The fold is the caller's and must outlive the replay. A trace's first line is to be given to the
 * replay as well: what the writer puts in the args of all lines (rank, role) is told apart from
 * payloads by it. */
void perftrace__session_replay_init(perftrace__session_replay_t *r,
                                    perftrace__session_fold_t *fold);
void perftrace__session_replay_free(perftrace__session_replay_t *r);

/* What is known of the trace before its header, or in place of one that is lost. False without
 * memory. */
bool perftrace__session_replay_expect(perftrace__session_replay_t *r,
                                      const perftrace__trace_header_t *header);

/* One line, with or without its line end. */
perftrace__replayed_t perftrace__session_replay_line(perftrace__session_replay_t *r,
                                                     const char *line, size_t len);

/* Between lines: ticks the fold when so many events were taken since the last time that those which
 * came out of order have found their session. True: it did, and ready sessions can be taken. */
bool perftrace__session_replay_tick(perftrace__session_replay_t *r);

#endif
