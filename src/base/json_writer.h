/* json_writer.h: strict JSON text, piece by piece. SPDX-License-Identifier: MIT
 *
 * The pt_put_ functions write at dst and return the new end; the caller has made room (the
 * constants and functions below tell how much). They never write outside the stated bound. Output
 * is strict JSON in UTF-8: invalid bytes become U+FFFD, control bytes \u00XX, numbers never NaN. */
#ifndef PERFTRACE_BASE_JSON_WRITER_H
#define PERFTRACE_BASE_JSON_WRITER_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

#define PERFTRACE__U64_MAX    20 /* bytes of the longest uint64_t */
#define PERFTRACE__I64_MAX    20
#define PERFTRACE__US_MAX     24 /* microseconds with three decimals, written ahead of the end */
#define PERFTRACE__DOUBLE_MAX 32 /* longest double, or "-Infinity" in quotes */

/* Room that len bytes can need as a JSON string, quotes included: six bytes each at worst. */
#define PERFTRACE__JSON_STRING_ROOM(len) ((len)*6 + 2)

char *perftrace__put_u64(char *dst, uint64_t v);
char *perftrace__put_i64(char *dst, int64_t v);
/* ns as microseconds with exactly three decimals: 305125 -> 305.125. */
char *perftrace__put_us(char *dst, uint64_t ns);
/* The shortest text that reads back as the same double; non-finite ones as the JSON strings "NaN",
 * "Infinity", "-Infinity" (quotes included), or as null when nonfinite_null is set. */
char *perftrace__put_double(char *dst, double v, bool nonfinite_null);
/* The bytes as a quoted JSON string. */
char *perftrace__put_json_string(char *dst, const void *data, size_t len);
/* The same without quotes. */
char *perftrace__put_json_chars(char *dst, const void *data, size_t len);

/* Appends s[0..len) as a quoted JSON string to a buffer. */
void perftrace__strbuf_json(perftrace__strbuf_t *b, const void *s, size_t len);
/* The same for a NUL-terminated string; NULL appends null. */
void perftrace__strbuf_json_cstr(perftrace__strbuf_t *b, const char *s);
/* Appends what perftrace__put_double puts; null for a non-finite number. */
void perftrace__strbuf_double(perftrace__strbuf_t *b, double v);

#endif
