/* local_time.h: local time, for names. SPDX-License-Identifier: MIT
 *
 * The C library's own calls, under a lock that a fork takes: their lock is none that it takes, and
 * a child that was forked while another thread was in one of them would wait for that thread for
 * ever. */
#ifndef PERFTRACE_PROFILER_LOCAL_TIME_H
#define PERFTRACE_PROFILER_LOCAL_TIME_H

#include <stdbool.h>
#include <time.h>

/* localtime_r and mktime. Any thread; not in signal handlers. */
bool perftrace__local_time(time_t seconds, struct tm *ret);
time_t perftrace__local_seconds(struct tm *tm); /* -1: there is no such time */

#endif
