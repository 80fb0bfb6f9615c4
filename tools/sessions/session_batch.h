/* session_batch.h: the sessions of one piece of a file. SPDX-License-Identifier: MIT
 *
 * What a worker makes out of a chunk, in the model's own form but with names and positions that
 * count within the batch. Appending it to the model is little work, so that chunks are read in
 * parallel. Pure but for memory. Not thread-safe; one a task. */
#ifndef PERFTRACE_SESSIONS_SESSION_BATCH_H
#define PERFTRACE_SESSIONS_SESSION_BATCH_H
#include "session_json.h"
#include "session_model.h"
#include "session_problem.h"

/* Times below this are no times since the epoch (it is September 2001, or 31 years of uptime). */
#define PT_SESSION_EPOCH_MIN 1e9

typedef struct pt_batch_problem {
    uint64_t count;
    uint64_t line;   /* of the first; within the chunk, from 0 */
    uint64_t offset; /* likewise; PT_NO_OFFSET: not known */
    char detail[96]; /* "" is none */
} pt_batch_problem_t;

typedef struct pt_session_batch {
    pt_session_model_t part; /* rows, cells, counters, opens, spans, names of the batch */
    pt_batch_problem_t problem[PT_SESSION_PROBLEM_COUNT];
    uint64_t lines; /* line feeds in the chunk */
    bool failed;    /* out of memory */
    /* Its own. */
    pt_session_reader_t reader;
    struct pt_interval *interval; /* scratch: spans of one session */
    unsigned interval_cap;
} pt_session_batch_t;

/* Empties it for the next chunk. */
void pt_session_batch_clear(pt_session_batch_t *batch);
void pt_session_batch_free(pt_session_batch_t *batch); /* accepts NULL; usable again */

/* Adds a record that begins in the chunk's line `line` at `offset` (both from 0). */
void pt_session_batch_add(pt_session_batch_t *batch, const pt_parsed_session_t *session,
                          uint64_t line, uint64_t offset);
/* Counts a problem, likewise. detail may be NULL. */
void pt_session_batch_problem(pt_session_batch_t *batch, unsigned kind, uint64_t line,
                              uint64_t offset, const char *detail);

/* Reads all records of text[0..len), which holds whole records only (PT_SESSION_PAD readable bytes
 * behind it). lines: one a line; else values with white space and commas between them, the brackets
 * of an array around them passed over. */
void pt_session_batch_read(pt_session_batch_t *batch, const char *text, size_t len, bool lines);

/* Makes room for `more` times what the model holds, so that it need not grow step by step. Only a
 * hint: nothing is told when it fails. */
void pt_session_model_expect(pt_session_model_t *model, double more);

/* Appends a batch to the model. `file` and `line` (of the chunk's first line, from 1) go to its
 * rows. False without memory. One thread at a time. *ret_overflow: names that came to "(others)".
 */
bool pt_session_model_append(pt_session_model_t *model, const pt_session_batch_t *batch,
                             uint16_t file, uint64_t line, uint64_t *ret_overflow);

#endif
