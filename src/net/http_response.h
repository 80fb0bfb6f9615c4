/* http_response.h: the text of an HTTP/1.1 response (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NET_HTTP_RESPONSE_H
#define PERFTRACE_NET_HTTP_RESPONSE_H

#include "strbuf.h"

typedef struct perftrace__http_response {
    unsigned status;
    const char *content_type; /* NULL: application/json */
    const char *allow;        /* methods, for 405; NULL: none */
    bool challenge;           /* 401: names the scheme of the token */
    const char *body;         /* may be NULL when body_len is 0 */
    size_t body_len;
    bool head_only; /* the answer to HEAD: told, not sent */
    bool close;
} perftrace__http_response_t;

/* "Not Found" for 404; "Status" for codes that are not used here. Static storage. */
const char *perftrace__http_reason(unsigned status);
/* Appends the whole response. */
void perftrace__http_response_put(perftrace__strbuf_t *out, const perftrace__http_response_t *r);

#endif
