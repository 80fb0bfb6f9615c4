/* control_service.h: the server of this process, started and stopped. SPDX-License-Identifier: MIT
 *
 * As perftrace__runtime_service_t has them. */
#ifndef PERFTRACE_CONTROL_CONTROL_SERVICE_H
#define PERFTRACE_CONTROL_CONTROL_SERVICE_H

#include <perftrace/config.h>

void perftrace__control_start(const perftrace_config_t *options, const char *trace_dir);
void perftrace__control_stop(void);

#endif
