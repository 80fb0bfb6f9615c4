/* http_cut.h: what the parser makes of a stream that comes in pieces. SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_TESTS_HTTP_CUT_H
#define PERFTRACE_TESTS_HTTP_CUT_H

#include "http_parse.h"

#include <stdlib.h>

/* Small, so that a test reaches them. */
static const perftrace__http_limits_t http_cut_limits = {.target = 64, .header = 256, .body = 128};

/* The size of the next piece; 0 ends up as 1. */
typedef size_t (*http_cut_fn)(void *ctx);

static inline void http_cut_put(perftrace__strbuf_t *out, const char *name,
                                const perftrace__strbuf_t *text) {
    perftrace__strbuf_printf(out, " %s=%zu:", name, text->len);
    perftrace__strbuf_append(out, perftrace__strbuf_cstr(text), text->len);
}

/* Whether a refusal's status stands in the transcript. Of two faults in one stream the cuts decide
 * which is seen first. */
typedef enum http_cut_detail { HTTP_CUT_REFUSED, HTTP_CUT_STATUS } http_cut_detail_t;

/* Appends a line for each request, and for what ended them. Where a server would close, it ends:
 * what is behind that is of no interest. *ret_continues (may be NULL): how often the client was to
 * be told to go on, which depends on the cuts. */
static inline void http_cut_transcript(const char *data, size_t len, http_cut_fn next, void *ctx,
                                       http_cut_detail_t detail, perftrace__strbuf_t *out,
                                       unsigned *ret_continues) {
    perftrace__http_parser_t *p = perftrace__http_parser_new(&http_cut_limits);
    unsigned continues = 0;
    size_t at = 0;
    size_t end = 0;
    if (p == NULL) {
        abort();
    }
    while (at < len) {
        if (at == end) {
            size_t piece = next(ctx);
            end = at + PT_MIN(piece > 0 ? piece : 1, len - at);
        }
        /* Exactly as large as the piece, so that a sanitizer sees a read behind it. */
        char *copy = malloc(end - at);
        if (copy == NULL) {
            abort();
        }
        memcpy(copy, data + at, end - at);
        size_t used;
        perftrace__http_found_t found = perftrace__http_parser_feed(p, copy, end - at, &used);
        free(copy);
        if (used > end - at) {
            abort();
        }
        at += used;
        if (found == PERFTRACE__HTTP_REFUSED) {
            perftrace__strbuf_printf(out, "refused %u\n",
                                     detail == HTTP_CUT_STATUS ? perftrace__http_parser_status(p)
                                                               : 0);
            perftrace__http_parser_free(p);
            return;
        }
        if (found == PERFTRACE__HTTP_REQUEST) {
            const perftrace__http_request_t *r = perftrace__http_parser_request(p);
            perftrace__strbuf_puts(out, r->method);
            http_cut_put(out, "path", &r->path);
            http_cut_put(out, "query", &r->query);
            http_cut_put(out, "token", &r->authorization);
            http_cut_put(out, "host", &r->host);
            http_cut_put(out, "origin", &r->origin);
            http_cut_put(out, "body", &r->body);
            perftrace__strbuf_puts(out, r->keep_alive ? " on\n" : " last\n");
            if (!r->keep_alive) {
                break;
            }
        } else {
            continues += found == PERFTRACE__HTTP_CONTINUE;
            if (at != end) {
                abort(); /* neither a request nor all of the piece */
            }
        }
    }
    perftrace__strbuf_puts(out, perftrace__http_parser_within(p) ? "within\n" : "between\n");
    if (ret_continues != NULL) {
        *ret_continues = continues;
    }
    perftrace__http_parser_free(p);
}

static inline size_t http_cut_whole(void *ctx) {
    (void)ctx;
    return (size_t)1 << 30;
}

static inline size_t http_cut_bytes(void *ctx) {
    (void)ctx;
    return 1;
}

#endif
