/* session_outcome.h: status and reason of a session. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSION_SESSION_OUTCOME_H
#define PERFTRACE_SESSION_SESSION_OUTCOME_H

#include "session_cells.h"

typedef enum perftrace__status {
    PERFTRACE__STATUS_NONE, /* not told */
    PERFTRACE__STATUS_PENDING,
    PERFTRACE__STATUS_ACCEPTED,
    PERFTRACE__STATUS_REJECTED,
    PERFTRACE__STATUS_FAILED,
    PERFTRACE__STATUS_DROPPED,
    PERFTRACE__STATUS_TEXT /* any other */
} perftrace__status_t;

/* "pending" and so on; NULL for NONE and TEXT. */
const char *perftrace__status_name(perftrace__status_t status);

typedef struct perftrace__outcome {
    uint32_t status_text; /* of STATUS_TEXT, else 0 */
    uint32_t reason;      /* 0 none */
    perftrace__status_t status;
} perftrace__outcome_t;

/* Replaces what is given (data not NULL). False without memory: nothing has changed. */
bool perftrace__outcome_set(perftrace__cells_t *cells, perftrace__outcome_t *o,
                            perftrace__text_t status, perftrace__text_t reason);
/* Makes an outcome that holds nothing a copy of another. False without memory: it holds nothing. */
bool perftrace__outcome_copy(perftrace__cells_t *cells, perftrace__outcome_t *o,
                             const perftrace__outcome_t *from);
/* Lets go of the texts. */
void perftrace__outcome_drop(perftrace__cells_t *cells, perftrace__outcome_t *o);

#endif
