/* control_handle.h: from a request to its answer. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_HANDLE_H
#define PERFTRACE_CONTROL_CONTROL_HANDLE_H

#include "http_server.h"

typedef struct perftrace__control_scene {
    perftrace__net_loop_t *loop;
    char *token; /* "" none; owned */
} perftrace__control_scene_t;

/* The server's handler; ctx is the scene. On the loop's thread. */
void perftrace__control_handle(void *ctx, const perftrace__http_request_t *request,
                               perftrace__http_exchange_t *exchange);

#endif
