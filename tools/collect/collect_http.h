/* collect_http.h: the collector's state over HTTP. SPDX-License-Identifier: MIT
 *
 * On the loop's thread. */
#ifndef PERFTRACE_TOOL_COLLECT_HTTP_H
#define PERFTRACE_TOOL_COLLECT_HTTP_H

#include "collect_show.h"
#include "http_server.h"

typedef struct pt_collect_http {
    perftrace__http_server_t *server;
    const char *token; /* NULL: none is needed */
    /* Fills the view of this moment. */
    void (*look)(void *ctx, pt_collect_view_t *ret);
    void *ctx;
} pt_collect_http_t;

/* Listens, with http's token, look and ctx set; http must live until it is closed. False:
 * *ret_uv_code is libuv's code. */
bool pt_collect_http_open(pt_collect_http_t *http, perftrace__net_loop_t *loop,
                          const perftrace__listen_address_t *address, int *ret_uv_code);
void pt_collect_http_close(pt_collect_http_t *http);

#endif
