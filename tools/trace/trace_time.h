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

/* Reads `digits.ddd` at p (not past end); returns the first byte after it, or NULL when the text
 * has another form or more than 15 digits before the point. Pure. */
PT_ALWAYS_INLINE const char *pt_time_read_fixed(const char *p, const char *end, int64_t *ret_ns) {
    uint64_t v = 0;
    const char *start = p;
    while (p < end && (unsigned)(*p - '0') < 10U) {
        v = v * 10 + (uint64_t)(*p++ - '0');
    }
    if (p == start || p - start > 15 || end - p < 4 || *p != '.' || (unsigned)(p[1] - '0') >= 10U ||
        (unsigned)(p[2] - '0') >= 10U || (unsigned)(p[3] - '0') >= 10U ||
        (start[0] == '0' && p - start > 1)) {
        return NULL;
    }
    *ret_ns = (int64_t)(v * 1000 + (uint64_t)(p[1] - '0') * 100 + (uint64_t)(p[2] - '0') * 10 +
                        (uint64_t)(p[3] - '0'));
    return p + 4;
}

#endif
