/* open_limit.h: how many files a tool may have open. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_OPEN_LIMIT_H
#define PERFTRACE_TOOL_OPEN_LIMIT_H

#include <stdbool.h>

/* Raises the soft limit of open files (RLIMIT_NOFILE) of this process to the hard one. False: it
 * was there already, or cannot be raised. Any thread. */
bool pt_open_limit_raise(void);

#endif
