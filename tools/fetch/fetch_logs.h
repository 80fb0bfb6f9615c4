/* fetch_logs.h: the log command. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FETCH_LOGS_H
#define PERFTRACE_TOOL_FETCH_LOGS_H

#include "fetch_options.h"
#include "fetch_store.h"

/* X(NAME, word) */
#define PT_LOG_STATES(X)                                                                           \
    X(NOT_ASKED, "not asked for")                                                                  \
    X(DONE, "fetched")                                                                             \
    X(FAILED, "failed")                                                                            \
    X(DRY, "not run")

typedef enum pt_log_state {
#define X(name, word) PT_LOG_##name,
    PT_LOG_STATES(X)
#undef X
} pt_log_state_t;

const char *pt_log_state_word(pt_log_state_t state);

/* Runs the command, in the folder above the job's. What it prints goes to a file in the job's
 * folder: job_output.log when it did well, job_output.incomplete.log when not; neither where it
 * printed nothing. Says what went wrong. Blocks. */
pt_log_state_t pt_fetch_logs(const pt_fetch_options_t *options, const pt_store_t *store);

#endif
