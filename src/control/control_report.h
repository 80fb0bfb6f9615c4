/* control_report.h: what the process tells of itself. SPDX-License-Identifier: MIT
 *
 * Each appends a whole body. */
#ifndef PERFTRACE_CONTROL_CONTROL_REPORT_H
#define PERFTRACE_CONTROL_CONTROL_REPORT_H

#include "strbuf.h"

void perftrace__control_status(perftrace__strbuf_t *out);
void perftrace__control_stats(perftrace__strbuf_t *out);
void perftrace__control_metrics(perftrace__strbuf_t *out);
/* 0 or a status: ERR_DISABLED, ERR_NOMEM. */
int perftrace__control_scopes(perftrace__strbuf_t *out);

#endif
