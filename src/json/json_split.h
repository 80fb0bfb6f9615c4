/* json_split.h: where a value ends, over chunks of any size. SPDX-License-Identifier: MIT
 *
 * For cutting a document that does not fit memory into objects. Only structure is looked at
 * (strings, escapes, brackets), 64 bytes at a time: what is found is to be read by json_scan or,
 * when damaged, by json_repair. Brackets are counted, not matched by kind. Pure; any thread. */
#ifndef PERFTRACE_JSON_SPLIT_H
#define PERFTRACE_JSON_SPLIT_H

#include "compiler.h"

#include <stdbool.h>

/* State between chunks. All zero is a fresh state. */
typedef struct perftrace__json_split {
    uint64_t depth; /* open brackets */
    bool started;   /* the value's first byte has been seen */
    bool scalar;    /* it is a number or a word: ends before the next separator */
    bool in_string;
    bool after_backslash;
} perftrace__json_split_t;

#define PERFTRACE__JSON_SPLIT_INIT                                                                 \
    { 0, false, false, false, false }

/* Reads on in one value; buf[0] is the value's first byte (no white space before it) or, with a
 * state that has started, the byte after the last one read. Returns the number of bytes that belong
 * to the value. *ret_done: it ended there (the state is fresh again); else all len bytes belong to
 * it and more is needed. A number or word ends before white space, a comma, a colon or a bracket,
 * so at the end of the whole input such a value is complete although *ret_done is false. A
 * separator where a value should begin: 0 and done. */
size_t perftrace__json_split(perftrace__json_split_t *s, const char *buf, size_t len,
                             bool *ret_done);

/* The number of bytes of the line at buf without its newline, or len when there is none; *ret_found
 * (may be NULL) tells which. A carriage return stays part of the line (JSON takes it as space). */
size_t perftrace__json_line_end(const char *buf, size_t len, bool *ret_found);

/* Skips white space and commas; returns how many bytes. */
size_t perftrace__json_skip_separators(const char *buf, size_t len);

/* Where, in a damaged text, another object seems to begin: behind a line feed, and white space.
 * NULL: nowhere. Writers that were killed, or that share a file, leave half a value with a whole
 * one behind it. */
const char *perftrace__json_restart(const char *p, const char *end);

/* The vector path in use: "avx2", "sse2", "neon" or "portable". Static storage. */
const char *perftrace__json_split_path(void);
/* For tests: perftrace__json_split on the portable path. */
size_t perftrace__json_split_portable(perftrace__json_split_t *s, const char *buf, size_t len,
                                      bool *ret_done);

#endif
