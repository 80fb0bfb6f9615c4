/* utf8.h: strict UTF-8. SPDX-License-Identifier: MIT
 *
 * Source of the rules: RFC 3629 (no surrogates, no overlong forms, nothing above U+10FFFF). */
#ifndef PERFTRACE_BASE_UTF8_H
#define PERFTRACE_BASE_UTF8_H

#include "compiler.h"

#include <stdbool.h>

/* The length in bytes (1 to 4) of the valid sequence at p, or 0 when the bytes at p are no valid
 * sequence. left is the number of readable bytes and must be at least 1. */
unsigned perftrace__utf8_sequence(const unsigned char *p, size_t left);

/* How many bytes at p one replacement character stands for when the sequence there is invalid: the
 * longest prefix of a valid sequence, at least 1 (Unicode chapter 3.9, "maximal subpart"). */
unsigned perftrace__utf8_bad_prefix(const unsigned char *p, size_t left);

/* True when all len bytes are valid. */
bool perftrace__utf8_valid(const void *data, size_t len);

/* The largest length not above `limit` that does not cut a character of data[0..len). */
size_t perftrace__utf8_cut(const void *data, size_t len, size_t limit);

#endif
