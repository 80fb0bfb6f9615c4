/* session_told.h: which runs are told by records already. SPDX-License-Identifier: MIT
 *
 * A traced program writes both a trace and records of its sessions. Where the records are among the
 * inputs, the trace need not be read: all it could give is what they hold. One thread at a time;
 * the model may grow once the runs are gathered. */
#ifndef PERFTRACE_SESSIONS_SESSION_TOLD_H
#define PERFTRACE_SESSIONS_SESSION_TOLD_H
#include "hashmap.h"
#include "session_model.h"
#include "trace_header.h"

typedef struct pt_session_told {
    perftrace__hashmap_t runs; /* rank, role and run id, as texts */
} pt_session_told_t;

/* Gathers the runs of all rows of a model that is not finished. False without memory. */
bool pt_session_told_find(pt_session_told_t *told, const pt_session_model_t *model);
/* Whether there are records of the process that wrote the trace with this header; where it has no
 * run id, of any of its role and rank: rather that than sessions that are counted twice. */
bool pt_session_told_has(const pt_session_told_t *told, const perftrace__trace_header_t *header);
void pt_session_told_free(pt_session_told_t *told); /* all zero is accepted */

#endif
