/* strbuf.c. SPDX-License-Identifier: MIT */
#include "strbuf.h"

#include <stdio.h>
#include <stdlib.h>

bool perftrace__strbuf_reserve(perftrace__strbuf_t *b, size_t extra) {
    if (extra >= SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    size_t need = b->len + extra + 1;
    if (need <= b->cap) {
        return true;
    }
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need) {
        cap += cap / 2 + 64;
    }
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void perftrace__strbuf_append(perftrace__strbuf_t *b, const void *data, size_t len) {
    if (!perftrace__strbuf_reserve(b, len)) {
        return;
    }
    if (len) {
        memcpy(b->data + b->len, data, len);
    }
    b->len += len;
    b->data[b->len] = '\0';
}

void perftrace__strbuf_puts(perftrace__strbuf_t *b, const char *s) {
    perftrace__strbuf_append(b, s, strlen(s));
}

void perftrace__strbuf_putc(perftrace__strbuf_t *b, char c) {
    perftrace__strbuf_append(b, &c, 1);
}

void perftrace__strbuf_vprintf(perftrace__strbuf_t *b, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0 || !perftrace__strbuf_reserve(b, (size_t)n)) {
        b->failed = true;
    } else {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void perftrace__strbuf_printf(perftrace__strbuf_t *b, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(b, fmt, ap);
    va_end(ap);
}

void perftrace__strbuf_clear(perftrace__strbuf_t *b) {
    b->len = 0;
    b->failed = false;
    if (b->data) {
        b->data[0] = '\0';
    }
}

void perftrace__strbuf_free(perftrace__strbuf_t *b) {
    if (!b) {
        return;
    }
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
    b->failed = false;
}

const char *perftrace__strbuf_cstr(const perftrace__strbuf_t *b) {
    return b->data ? b->data : "";
}
