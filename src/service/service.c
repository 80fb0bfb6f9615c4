/* service.c: what serves the tracer to the outside, as the runtime calls it.
 * SPDX-License-Identifier: MIT */
#include "control_service.h"
#include "forward_service.h"
#include "runtime_service.h"

const perftrace__runtime_service_t perftrace__runtime_service = {
    .start = perftrace__control_start,
    .stop = perftrace__control_stop,
    .fork = {perftrace__forward_fork_prepare, perftrace__forward_fork_parent,
             perftrace__forward_fork_child},
    .run_begin = perftrace__forward_run_begin,
    .committed = perftrace__forward_committed,
    .limit = {perftrace__forward_trace_limit, perftrace__forward_session_limit},
    .take_reference = perftrace__forward_take_reference,
    .run_end = perftrace__forward_run_end,
};
