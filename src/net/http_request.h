/* http_request.h: one HTTP/1 request as it came. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NET_HTTP_REQUEST_H
#define PERFTRACE_NET_HTTP_REQUEST_H

#include "strbuf.h"

typedef struct perftrace__http_request {
    const char *method;                /* "GET", ...; static storage */
    perftrace__strbuf_t path;          /* of the target, not decoded; "*" for OPTIONS * */
    perftrace__strbuf_t query;         /* behind the '?', "" without */
    perftrace__strbuf_t authorization; /* the header's value, "" without; so the next two */
    perftrace__strbuf_t host;
    perftrace__strbuf_t origin; /* a browser sends it for the page that asks */
    perftrace__strbuf_t body;
    bool keep_alive;
} perftrace__http_request_t;

#endif
