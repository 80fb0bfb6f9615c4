/* session_ids.h: whether session ids come twice. SPDX-License-Identifier: MIT
 *
 * Told of the rows while they come, since they are in the cache then. Pure but for memory. Not
 * thread-safe. */
#ifndef PERFTRACE_SESSIONS_SESSION_IDS_H
#define PERFTRACE_SESSIONS_SESSION_IDS_H
#include "hashmap.h"

struct pt_session_row;

/* All zero knows of no row. */
typedef struct pt_session_ids {
    struct pt_ids_writer *writer;
    size_t writers, writer_cap, bytes;
    perftrace__hashmap_t index; /* by key, number of the writer */
    bool unsure;                /* an id came twice, or cannot be noted: no more is noted */
} pt_session_ids_t;

/* Notes rows[0..count), which have their names' numbers already. */
void pt_session_ids_note(pt_session_ids_t *ids, const struct pt_session_row *rows, size_t count);
/* Whether no session id came twice with one role, rank, run id and clock, as far as that can be
 * seen quickly: false may be wrong. */
bool pt_session_ids_differ(const pt_session_ids_t *ids);
void pt_session_ids_free(pt_session_ids_t *ids); /* accepts NULL; usable again */

#endif
