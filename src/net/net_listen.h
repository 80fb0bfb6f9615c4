/* net_listen.h: a listening socket on a loop. SPDX-License-Identifier: MIT
 *
 * The loop's thread only. */
#ifndef PERFTRACE_NET_NET_LISTEN_H
#define PERFTRACE_NET_NET_LISTEN_H

#include "listen_address.h"
#include "net_loop.h"

/* A listener or a connection, over TCP or a socket in the file system. */
typedef union perftrace__net_stream {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
} perftrace__net_stream_t;

/* Makes a handle of the address' kind. 0 or libuv's code; then there is nothing to be closed. */
int perftrace__net_stream_init(perftrace__net_loop_t *loop,
                               const perftrace__listen_address_t *address,
                               perftrace__net_stream_t *io);
/* Binds and listens. A socket file that nobody listens on any more is replaced; its mode becomes
 * 0600. 0 or libuv's code; the handle is the caller's to close in either case. */
int perftrace__net_listen(perftrace__net_stream_t *listener,
                          const perftrace__listen_address_t *address,
                          uv_connection_cb on_connection);
/* The port it listens on; 0 for a socket file. */
unsigned perftrace__net_listen_port(const perftrace__net_stream_t *listener,
                                    const perftrace__listen_address_t *address);

#endif
