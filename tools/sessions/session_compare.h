/* session_compare.h: two runs against each other. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_COMPARE_H
#define PERFTRACE_SESSIONS_SESSION_COMPARE_H
#include "session_select.h"
#include "table.h"

/* Intervals are of so many percent; the change of a figure is significant when its interval does
 * not hold zero. With fewer tasks than this in one of the runs there are no intervals. */
#define PT_COMPARE_TASKS_MIN 5U
/* Nor for a quantile beyond which there are fewer values than this: they are single events. */
#define PT_COMPARE_TAIL_MIN 5.0

/* Appends the tables of a comparison: durations (mean, p50, p90, p99 of the total, the queue, each
 * phase), counters (mean a session), statuses (share of the sessions), and rates a second, which
 * have no interval. False without memory. */
bool pt_session_compare(const pt_selection_t *a, const pt_selection_t *b, double confidence,
                        unsigned threads, pt_report_t *out);

#endif
