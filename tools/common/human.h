/* human.h: numbers as people write and read them. SPDX-License-Identifier: MIT
 *
 * Pure; thread-safe. The printers return out, which must have PT_HUMAN_MAX bytes. */
#ifndef PERFTRACE_COMMON_HUMAN_H
#define PERFTRACE_COMMON_HUMAN_H

#include "compiler.h"

#include <stdbool.h>

#define PT_HUMAN_MAX         32
#define PT_HUMAN_COUNTED_MAX 96

/* 999 B, 1.2 kB, 34 MB, 1.2 GB: powers of 1000, three figures at most. */
const char *pt_human_bytes(char out[PT_HUMAN_MAX], uint64_t bytes);
/* 999, 3.4 k, 3.4 M. */
const char *pt_human_count(char out[PT_HUMAN_MAX], uint64_t count);
/* 1,234,567. */
const char *pt_human_exact(char out[PT_HUMAN_MAX], uint64_t count);
/* 1 event, 1,234 events: out has PT_HUMAN_COUNTED_MAX bytes, what does not fit is cut off. */
const char *pt_human_counted(char out[PT_HUMAN_COUNTED_MAX], uint64_t count, const char *one,
                             const char *many);
/* 12 ns, 3.4 us, 56 ms, 7.8 s, 3 min 5 s, 2 h 10 min. */
const char *pt_human_duration(char out[PT_HUMAN_MAX], uint64_t ns);

/* The parsers take the whole text; false when it is empty, has anything left over, or is out of
 * range; *ret is then unchanged. No blanks in front, no thousands separators. */

/* Decimal, or hexadecimal after 0x. */
bool pt_parse_uint64(const char *text, uint64_t *ret);
bool pt_parse_int64(const char *text, int64_t *ret);
/* Finite, in the C locale whatever the locale is. */
bool pt_parse_double(const char *text, double *ret);
/* Bytes: 4096, 64k, 1.5M, 2G, 1T (powers of 1000), 64Ki, 1Mi, 2Gi (powers of 1024); a B may follow.
 */
bool pt_parse_size(const char *text, uint64_t *ret_bytes);
/* Nanoseconds: 250ns, 1.5us, 20ms, 3s, 2m or 2min, 1h; a bare 0 needs no unit, other numbers do. */
bool pt_parse_duration(const char *text, uint64_t *ret_ns);

#endif
