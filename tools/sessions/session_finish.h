/* session_finish.h: from records to sessions, runs and tasks. SPDX-License-Identifier: MIT
 *
 * Run once, when all batches are appended. Records given twice are dropped, runs told apart,
 * samples grouped into tasks, and names put in the order in which they are shown. */
#ifndef PERFTRACE_SESSIONS_SESSION_FINISH_H
#define PERFTRACE_SESSIONS_SESSION_FINISH_H
#include "problems.h"
#include "session_model.h"

/* What is found goes to the book (NULL: nowhere), whose files have the numbers of the rows' inputs.
 * False without memory: the model can only be freed then. */
bool pt_session_model_finish(pt_session_model_t *model, pt_problems_t *book);

/* Its parts, in this order.
 *
 * Drops rows that were given before. Two records are one session when run id, clock, role, rank,
 * session id and submit time agree; the one that ended later is kept, the first of equals. */
bool pt_session_drop_duplicates(pt_session_model_t *model, pt_problems_t *book);
/* Sets run[] and the runs of the lanes, whose rows have run ids still. A writer (role and rank)
 * starts another run with another run id, with another clock, and where its session ids, in the
 * order of submission, start again. The n-th runs of all writers are one run, except that a run id
 * that several ranks share is always one. unique: no session id comes twice, and nothing was
 * dropped. */
bool pt_session_find_runs(pt_session_model_t *model, bool unique, pt_problems_t *book);

#endif
