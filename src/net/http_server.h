/* http_server.h: HTTP/1.1 on a loop. SPDX-License-Identifier: MIT
 *
 * Everything runs on the loop's thread. A connection serves one request at a time; what a client
 * sends meanwhile waits in the system's buffers. */
#ifndef PERFTRACE_NET_HTTP_SERVER_H
#define PERFTRACE_NET_HTTP_SERVER_H

#include "http_parse.h"
#include "http_response.h"
#include "listen_address.h"
#include "net_loop.h"

typedef struct perftrace__http_server perftrace__http_server_t;
/* A request that waits for its answer. */
typedef struct perftrace__http_exchange perftrace__http_exchange_t;

typedef struct perftrace__http_server_options {
    perftrace__listen_address_t address;
    perftrace__http_limits_t limits;
    unsigned max_connections; /* beyond, a connection is answered 503 and closed */
    uint32_t idle_ms;         /* a connection without a request is closed after this time */
    uint32_t request_ms;      /* a request that is not complete after this time: 408 */
    uint32_t write_ms;        /* a client that does not take its answer in this time is dropped */
    /* Takes a request; valid during the call only. It answers the exchange now or later, once. */
    void (*handle)(void *ctx, const perftrace__http_request_t *request,
                   perftrace__http_exchange_t *exchange);
    void *ctx;
} perftrace__http_server_options_t;

/* Listens. NULL on failure: *ret_uv_code is libuv's code. A socket file that nobody listens on any
 * more is replaced; its mode becomes 0600. */
perftrace__http_server_t *perftrace__http_server_open(perftrace__net_loop_t *loop,
                                                      const perftrace__http_server_options_t *o,
                                                      int *ret_uv_code);
/* Begins to close listener and connections, removes the socket file; the memory goes when all are
 * closed. Exchanges stay valid until they are answered. Accepts NULL. */
void perftrace__http_server_close(perftrace__http_server_t *server);
/* The port it listens on; 0 for a socket file. */
unsigned perftrace__http_server_port(const perftrace__http_server_t *server);
/* Connections that are open. */
unsigned perftrace__http_server_connections(const perftrace__http_server_t *server);
/* In a forked child: closes the descriptors, which belong to the parent. NULL: nothing. */
void perftrace__http_server_orphan(perftrace__http_server_t *server);

/* Sends the answer and frees the exchange; nothing is sent when the client is gone. head_only and
 * close are filled in. When the loop has ended it may be called from any thread. */
void perftrace__http_exchange_answer(perftrace__http_exchange_t *exchange,
                                     const perftrace__http_response_t *response);

#endif
