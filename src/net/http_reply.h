/* http_reply.h: the client's half of HTTP/1: where to, what is sent, what comes back (pure).
 * SPDX-License-Identifier: MIT
 *
 * Wraps http-parser, as http_parse.h does for the server's half. Not thread-safe. */
#ifndef PERFTRACE_NET_HTTP_REPLY_H
#define PERFTRACE_NET_HTTP_REPLY_H

#include "strbuf.h"

/* A server: http://HOST[:PORT][/BASE], HOST:PORT, or unix:PATH. */
typedef struct perftrace__http_url {
    bool is_unix;
    char host[256]; /* without brackets; the socket's path */
    char port[8];
    char base[1024]; /* what stands before every path, without '/' at its end; "" */
} perftrace__http_url_t;

/* False: *ret_problem (static storage) says what is wrong. */
bool perftrace__http_url_parse(const char *text, perftrace__http_url_t *ret,
                               const char **ret_problem);

/* Appends a request that ends its connection. body NULL: none; token NULL or "": none. */
void perftrace__http_request_put(perftrace__strbuf_t *out, const perftrace__http_url_t *url,
                                 const char *method, const char *path, const char *body,
                                 const char *token);

typedef struct perftrace__http_reply perftrace__http_reply_t;

/* limit: bytes of a body that are taken. NULL without memory. */
perftrace__http_reply_t *perftrace__http_reply_new(size_t limit);
/* Accepts NULL. */
void perftrace__http_reply_free(perftrace__http_reply_t *r);
/* Takes what came; len 0: the server has closed. False: it is no HTTP, too long, or ended early. */
bool perftrace__http_reply_feed(perftrace__http_reply_t *r, const char *data, size_t len);
/* The whole answer is there. */
bool perftrace__http_reply_complete(const perftrace__http_reply_t *r);
/* Its body is longer than the limit. */
bool perftrace__http_reply_too_long(const perftrace__http_reply_t *r);
unsigned perftrace__http_reply_status(const perftrace__http_reply_t *r); /* 0: none yet */
/* The body; to be taken away by the caller, who may leave it. */
perftrace__strbuf_t *perftrace__http_reply_body(perftrace__http_reply_t *r);

#endif
