/* ctl_show.h: answers as tables (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_SHOW_H
#define PERFTRACE_CTL_SHOW_H

#include "ctl_verdict.h"
#include "ctl_worker.h"
#include "table.h"

/* What each worker answered: the table "workers"; for status and scopes also what they said.
 * calls_each: calls a worker; the first of each is shown. */
void pt_ctl_show(pt_report_t *report, pt_ctl_action_t action, const pt_ctl_workers_t *workers,
                 const perftrace__http_call_t *calls, size_t calls_each,
                 const pt_ctl_verdict_t *verdicts);

#endif
