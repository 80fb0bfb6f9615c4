/* strbuf.h: a growing byte buffer. SPDX-License-Identifier: MIT
 *
 * Growth that fails sets `failed` and keeps what is there: a caller appends freely and looks once
 * at the end. The content is always followed by a NUL byte that `len` does not count (once
 * something was appended). Not thread-safe. */
#ifndef PERFTRACE_BASE_STRBUF_H
#define PERFTRACE_BASE_STRBUF_H

#include "compiler.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

typedef struct perftrace__strbuf {
    char *data; /* NULL while empty */
    size_t len;
    size_t cap;
    bool failed; /* an allocation failed; content is incomplete */
} perftrace__strbuf_t;

/* The end of a counted noun. */
#define PT_PLURAL(n) ((n) == 1 ? "" : "s")

#define PERFTRACE__STRBUF_INIT                                                                     \
    { NULL, 0, 0, false }

/* Makes room for `extra` more bytes and the NUL. False (and failed set) without memory. */
bool perftrace__strbuf_reserve(perftrace__strbuf_t *b, size_t extra);
void perftrace__strbuf_append(perftrace__strbuf_t *b, const void *data, size_t len);
void perftrace__strbuf_puts(perftrace__strbuf_t *b, const char *s);
void perftrace__strbuf_putc(perftrace__strbuf_t *b, char c);
void perftrace__strbuf_printf(perftrace__strbuf_t *b, const char *fmt, ...) PT_PRINTF(2, 3);
void perftrace__strbuf_vprintf(perftrace__strbuf_t *b, const char *fmt, va_list ap) PT_PRINTF(2, 0);
/* Length 0, memory and `failed` cleared but the allocation kept. */
void perftrace__strbuf_clear(perftrace__strbuf_t *b);
/* Frees; the buffer is empty and usable again. Accepts NULL. */
void perftrace__strbuf_free(perftrace__strbuf_t *b);
/* The content as a NUL-terminated string ("" when empty); valid until the next call on b. */
const char *perftrace__strbuf_cstr(const perftrace__strbuf_t *b);

#endif
