/* trace_time.h: microsecond texts and nanoseconds. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TRACE_TIME_H
#define PERFTRACE_TRACE_TIME_H
#include "compiler.h"

#include <stdbool.h>

/* Times outside +-PT_TIME_LIMIT ns (about 146 years) are no times. Sums of two still fit int64_t.
 */
#define PT_TIME_LIMIT (INT64_MAX / 2)

/* Reads a JSON number of microseconds, exponent allowed, as nanoseconds, exactly: no double is
 * involved, digits past the nanosecond are rounded half away from zero. False when the text is no
 * number or outside PT_TIME_LIMIT. Pure. */
bool pt_time_parse_us(const char *p, size_t len, int64_t *ret_ns);

#endif
