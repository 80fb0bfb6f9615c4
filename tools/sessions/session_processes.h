/* session_processes.h: processes of one writer that lived at the same time.
 * SPDX-License-Identifier: MIT
 *
 * The children of a fork have the role, the rank and the run id of their parent, and session ids of
 * their own that start at 0, too: each in a file of its own. Pure but for memory. */
#ifndef PERFTRACE_SESSIONS_SESSION_PROCESSES_H
#define PERFTRACE_SESSIONS_SESSION_PROCESSES_H
#include "problems.h"
#include "session_model.h"

/* In lanes whose session ids come again, files with sessions that were submitted at the same time
 * get lanes of their own; what another run begins with by that is told (book may be NULL).
 * *ret_any: some did; then the lanes are to be measured anew. False without memory. */
bool pt_session_split_processes(pt_session_model_t *model, pt_problems_t *book, bool *ret_any);

#endif
