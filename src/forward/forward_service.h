/* forward_service.h: the run's files on their way to a collector. SPDX-License-Identifier: MIT
 *
 * As perftrace__runtime_service_t has them. A thread of its own sends; committed tells it what is
 * there and returns. */
#ifndef PERFTRACE_FORWARD_FORWARD_SERVICE_H
#define PERFTRACE_FORWARD_FORWARD_SERVICE_H

#include "runtime_service.h"

void perftrace__forward_run_begin(const perftrace_config_t *options,
                                  const perftrace__run_meta_t *meta);
void perftrace__forward_committed(const perftrace__committed_t *what);
uint64_t perftrace__forward_trace_limit(void);
uint64_t perftrace__forward_session_limit(void);
bool perftrace__forward_take_reference(perftrace__reference_t *ret);
void perftrace__forward_run_end(void);
void perftrace__forward_fork_prepare(void);
void perftrace__forward_fork_parent(void);
void perftrace__forward_fork_child(void);

#endif
