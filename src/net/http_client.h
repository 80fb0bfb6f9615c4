/* http_client.h: many requests at once, each with its deadline. SPDX-License-Identifier: MIT
 *
 * For tools: it runs a loop of its own on the calling thread and blocks until all have ended. */
#ifndef PERFTRACE_NET_HTTP_CLIENT_H
#define PERFTRACE_NET_HTTP_CLIENT_H

#include "http_reply.h"

typedef enum perftrace__http_outcome {
    PERFTRACE__HTTP_ANSWERED,
    PERFTRACE__HTTP_BAD_URL,
    PERFTRACE__HTTP_NO_CONNECTION, /* nobody listens there, or the name is unknown */
    PERFTRACE__HTTP_BROKEN,        /* the connection ended, or what came was no HTTP */
    PERFTRACE__HTTP_TIMEOUT
} perftrace__http_outcome_t;

typedef struct perftrace__http_call {
    const char *url;    /* see perftrace__http_url_t */
    const char *method; /* "GET", "POST" */
    const char *path;
    const char *body;  /* NULL: none */
    const char *token; /* NULL: none */
    uint32_t timeout_ms;

    perftrace__http_outcome_t outcome;
    const char *problem; /* in words; static storage */
    unsigned status;
    perftrace__strbuf_t reply; /* the body; freed by the caller */
    double seconds;
} perftrace__http_call_t;

/* Makes all calls at the same time. False without memory (then some have no outcome). */
bool perftrace__http_calls(perftrace__http_call_t *calls, size_t count);

#endif
