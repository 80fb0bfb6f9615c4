/* collect_tally.h: what went by in the lines of a file (pure). SPDX-License-Identifier: MIT
 *
 * Looks at each line's first words and reads only the few lines that are told about: header,
 * losses, footer, and the last event of what is given. Not thread-safe. */
#ifndef PERFTRACE_TOOL_COLLECT_TALLY_H
#define PERFTRACE_TOOL_COLLECT_TALLY_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

typedef struct pt_collect_tally {
    uint64_t lines;
    uint64_t events;   /* lines that are no metadata; of a sessions file all */
    uint64_t dropped;  /* told by lines of losses */
    uint64_t epoch_ns; /* of the header: ts 0; 0: none came */
    uint64_t last_ns;  /* ts of the last event */
    int64_t rank;      /* of the header; -1 unknown */
    int64_t world_size;
    int64_t step; /* the last global_step; -1: none */
    int64_t pid;
    char host[64];
    bool footer;
    bool recovered;   /* after a kill */
    uint64_t emitted; /* what the footer says */
    uint64_t written;
    uint64_t unfinished;        /* scopes that had no end: lines that are not among the written */
    uint64_t left_out;          /* all it says was dropped */
    size_t header_at;           /* the last header in what was given last: where it began */
    size_t header_len;          /* with its '\n'; 0: none came in it */
    perftrace__strbuf_t *names; /* NULL, or takes the lines that name things: header, process,
                                   threads; bytes ahead of events that need them */
} pt_collect_tally_t;

#define PT_COLLECT_TALLY_INIT                                                                      \
    { .rank = -1, .world_size = -1, .step = -1 }

/* Counts whole lines. */
void pt_collect_tally_add(pt_collect_tally_t *tally, const char *data, size_t len);

/* What does not balance in a file that has ended: appended as a clause; nothing when all does. */
void pt_collect_tally_judge(const pt_collect_tally_t *tally, perftrace__strbuf_t *out);

/* The rank that the line of an event tells; -1: none, as for counters. */
int64_t pt_collect_tally_line_rank(const char *line, size_t len);
/* The rank that a session's record tells; -1: none. */
int64_t pt_collect_tally_session_rank(const char *line, size_t len);

#endif
