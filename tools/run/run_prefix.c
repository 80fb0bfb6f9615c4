/* run_prefix.c. SPDX-License-Identifier: MIT */
#include "run_prefix.h"

static void put_line(pt_prefix_t *prefix, const char *data, size_t len, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, prefix->text);
    perftrace__strbuf_append(out, perftrace__strbuf_cstr(&prefix->partial), prefix->partial.len);
    perftrace__strbuf_append(out, data, len);
    perftrace__strbuf_putc(out, '\n');
    perftrace__strbuf_clear(&prefix->partial);
}

void pt_prefix_feed(pt_prefix_t *prefix, const char *data, size_t len, perftrace__strbuf_t *out) {
    while (len > 0) {
        const char *end = memchr(data, '\n', len);
        size_t n = end ? (size_t)(end - data) : len;
        if (end) {
            put_line(prefix, data, n, out);
            n++;
        } else {
            perftrace__strbuf_append(&prefix->partial, data, n);
            if (prefix->partial.len > PT_PREFIX_LINE_MAX) {
                put_line(prefix, "", 0, out);
            }
        }
        data += n;
        len -= n;
    }
}

void pt_prefix_end(pt_prefix_t *prefix, perftrace__strbuf_t *out) {
    if (prefix->partial.len) {
        put_line(prefix, "", 0, out);
    }
}

void pt_prefix_free(pt_prefix_t *prefix) {
    perftrace__strbuf_free(&prefix->partial);
}
