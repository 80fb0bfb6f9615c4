/* collect_tcp.h: senders that connect. SPDX-License-Identifier: MIT
 *
 * All on the loop's thread. */
#ifndef PERFTRACE_TOOL_COLLECT_TCP_H
#define PERFTRACE_TOOL_COLLECT_TCP_H

#include "collect_peer.h"
#include "listen_address.h"
#include "net_loop.h"

typedef struct pt_collect_tcp pt_collect_tcp_t;

typedef struct pt_collect_tcp_options {
    perftrace__listen_address_t address;
    unsigned connections_max;
    size_t held_max;   /* bytes of pieces on their way, of all connections together */
    uint64_t hello_ms; /* to say hello */
    uint64_t piece_ms; /* between two bytes of a message, and to take an answer */
    uint64_t idle_ms;  /* between two messages */
} pt_collect_tcp_options_t;

/* Listens. NULL on failure: *ret_uv_code is libuv's code. */
pt_collect_tcp_t *pt_collect_tcp_open(perftrace__net_loop_t *loop, pt_collect_service_t *service,
                                      const pt_collect_tcp_options_t *options, int *ret_uv_code);
/* Begins to close all; the memory goes when all are closed. Accepts NULL. */
void pt_collect_tcp_close(pt_collect_tcp_t *tcp);
/* 0 for a socket file. */
unsigned pt_collect_tcp_port(const pt_collect_tcp_t *tcp);
unsigned pt_collect_tcp_connections(const pt_collect_tcp_t *tcp);

#endif
