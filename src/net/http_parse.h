/* http_parse.h: HTTP/1 requests out of a stream of bytes (pure). SPDX-License-Identifier: MIT
 *
 * Wraps http-parser; nothing else in the project knows it. Not thread-safe; allocates within its
 * limits only, however long what comes is. */
#ifndef PERFTRACE_NET_HTTP_PARSE_H
#define PERFTRACE_NET_HTTP_PARSE_H

#include "http_request.h"

typedef struct perftrace__http_limits {
    size_t target; /* bytes of path and query */
    size_t header; /* bytes of all header lines */
    size_t body;   /* bytes of a body, announced or sent in chunks */
} perftrace__http_limits_t;

typedef struct perftrace__http_parser perftrace__http_parser_t;

typedef enum perftrace__http_found {
    PERFTRACE__HTTP_MORE,     /* all was taken; the request goes on */
    PERFTRACE__HTTP_CONTINUE, /* the same, and the client waits for "100 Continue" */
    PERFTRACE__HTTP_REQUEST,  /* a request is complete */
    PERFTRACE__HTTP_REFUSED   /* to be answered with perftrace__http_parser_status, then closed */
} perftrace__http_found_t;

/* NULL without memory. */
perftrace__http_parser_t *perftrace__http_parser_new(const perftrace__http_limits_t *limits);
/* Accepts NULL. */
void perftrace__http_parser_free(perftrace__http_parser_t *p);

/* Takes bytes up to the end of one request; *ret_used tells how many (a request that is complete
 * may have another behind it). After REFUSED nothing more is taken. */
perftrace__http_found_t perftrace__http_parser_feed(perftrace__http_parser_t *p, const char *data,
                                                    size_t len, size_t *ret_used);
/* The complete request; valid until the next feed. */
const perftrace__http_request_t *perftrace__http_parser_request(const perftrace__http_parser_t *p);
/* Whether bytes of an incomplete request were taken. */
bool perftrace__http_parser_within(const perftrace__http_parser_t *p);
/* Why a request is refused: 400, 413, 414, 417, 431, 505 or 500 (no memory). */
unsigned perftrace__http_parser_status(const perftrace__http_parser_t *p);

#endif
