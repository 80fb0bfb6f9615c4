/* session_feed.h: a file cut into pieces of whole records. SPDX-License-Identifier: MIT
 *
 * Reads one input after the other. Pieces are about 256 KiB, larger only where a record is. One
 * thread at a time. */
#ifndef PERFTRACE_SESSIONS_SESSION_FEED_H
#define PERFTRACE_SESSIONS_SESSION_FEED_H
#include "input.h"
#include "json_split.h"
#include "problems.h"
#include "session_source.h"

/* Longer records are left out. */
#define PT_SESSION_RECORD_LIMIT ((size_t)64 << 20)

typedef struct pt_session_piece {
    char *text; /* PT_SESSION_PAD zero bytes behind len */
    size_t cap, len;
    uint64_t offset;        /* of its first byte in the file */
    uint64_t lines_dropped; /* line feeds passed over since the piece before it */
    bool lines;             /* see pt_session_batch_read */
    bool made;              /* from a trace: its records stand in no file */
} pt_session_piece_t;

typedef struct pt_session_feed {
    pt_input_t *input;
    pt_problems_t *book;
    unsigned file;
    pt_session_source_t source;
    /* Its own. */
    char *carry;
    size_t carry_len, carry_cap;
    uint64_t offset; /* of the carry in the file */
    uint64_t lines_dropped;
    perftrace__json_split_t split;
    size_t scanned; /* bytes of the carry that the split has seen */
    bool opened, closed, ended;
} pt_session_feed_t;

/* Starts with an opened input, which becomes the feed's, and sees what it is (feed->source). The
 * feed must be all zero or have been closed; problems go to the book under `file`. */
void pt_session_feed_open(pt_session_feed_t *feed, pt_input_t *input, pt_problems_t *book,
                          unsigned file);
/* Fills the next piece, whose memory is kept from one to the next (all zero at first). 1; 0 at the
 * end of the file; -1 without memory. Blocks as read does. */
int pt_session_feed_next(pt_session_feed_t *feed, pt_session_piece_t *piece);
void pt_session_feed_close(pt_session_feed_t *feed); /* the input too; usable again */
void pt_session_piece_free(pt_session_piece_t *piece);

#endif
