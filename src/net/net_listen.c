/* net_listen.c: a listening socket on a loop. SPDX-License-Identifier: MIT */
#include "net_listen.h"

#include "socket_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int perftrace__net_stream_init(perftrace__net_loop_t *loop, const perftrace__listen_address_t *a,
                               perftrace__net_stream_t *io) {
    uv_loop_t *uv = perftrace__net_loop_uv(loop);
    return a->is_unix ? uv_pipe_init(uv, &io->pipe, 0) : uv_tcp_init(uv, &io->tcp);
}

static bool has_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) + 1 : 0, path);
    return slash == NULL || access(folder, F_OK) == 0;
}

static int bind_to(perftrace__net_stream_t *listener, const perftrace__listen_address_t *a) {
    if (!a->is_unix) {
        return uv_tcp_bind(&listener->tcp, &a->to.any, 0);
    }
    int rc = uv_pipe_bind(&listener->pipe, a->to.un.sun_path);
    if (rc == UV_EACCES && !has_folder(a->to.un.sun_path)) {
        rc = UV_ENOENT; /* libuv takes the one for the other */
    }
    if (rc == 0 && chmod(a->to.un.sun_path, 0600) != 0) {
        rc = uv_translate_sys_error(errno);
    }
    return rc;
}

int perftrace__net_listen(perftrace__net_stream_t *listener, const perftrace__listen_address_t *a,
                          uv_connection_cb on_connection) {
    int lock = -1;
    int rc = a->is_unix ? perftrace__socket_file_enter(&a->to.un, &lock) : 0;
    rc = rc != 0 ? uv_translate_sys_error(-rc) : bind_to(listener, a);
    if (rc == 0) {
        rc = uv_listen(&listener->stream, 128, on_connection);
    }
    if (a->is_unix) {
        perftrace__socket_file_leave(&a->to.un, lock);
    }
    return rc;
}

unsigned perftrace__net_listen_port(const perftrace__net_stream_t *listener,
                                    const perftrace__listen_address_t *a) {
    perftrace__listen_address_t got;
    int len = sizeof got.to;
    if (a->is_unix || uv_tcp_getsockname(&listener->tcp, &got.to.any, &len) != 0) {
        return 0;
    }
    /* Both families keep the port at the same place. */
    return ntohs(got.to.v4.sin_port);
}
