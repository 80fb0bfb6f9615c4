/* back_end_perf.h: a perf that was started from outside. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_PROFILER_BACK_END_PERF_H
#define PERFTRACE_PROFILER_BACK_END_PERF_H

#include "back_end.h"

/* What the back end perf is when the option perf_control is set; back_end_perf_outside.c. */
extern const perftrace__back_end_t perftrace__back_end_perf_outside;

#endif
