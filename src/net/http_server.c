/* http_server.c: HTTP/1.1 on a loop. SPDX-License-Identifier: MIT */
#include "http_server.h"

#include "net_listen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES    16384
#define LINGER_MS     1000
#define SWALLOW_BYTES (4u << 20)

typedef struct connection {
    perftrace__net_stream_t io;
    uv_timer_t timer;
    uv_write_t write;
    perftrace__http_server_t *server;
    perftrace__http_parser_t *parser;
    perftrace__http_exchange_t *exchange; /* that waits for its answer; NULL: reading */
    perftrace__strbuf_t rest;             /* what came behind the request that is being served */
    perftrace__strbuf_t out;              /* the answer that is being sent */
    uv_shutdown_t shutdown;
    size_t swallowed;
    bool writing;
    bool refused; /* what the client still sends is of no interest */
    bool last;    /* closed after this answer */
    bool closing;
    unsigned open_handles;
    struct connection *next, **prev;
} connection_t;

struct perftrace__http_exchange {
    connection_t *connection; /* NULL: gone */
    bool head_only;
};

struct perftrace__http_server {
    perftrace__net_stream_t listener;
    perftrace__net_loop_t *loop;
    perftrace__http_server_options_t options;
    connection_t *connections;
    unsigned count;
    unsigned port;
    bool closing;
    bool listener_open;
    char buffer[READ_BYTES]; /* what was read is consumed before anything else is */
};

static void serve(connection_t *c, const char *data, size_t len);

/* ---- closing ---- */

static void free_server_when_empty(perftrace__http_server_t *s) {
    if (s->closing && !s->listener_open && s->count == 0) {
        free(s);
    }
}

static void on_closed(uv_handle_t *handle) {
    connection_t *c = handle->data;
    perftrace__http_server_t *s = c->server;
    if (--c->open_handles > 0) {
        return;
    }
    *c->prev = c->next;
    if (c->next != NULL) {
        c->next->prev = c->prev;
    }
    s->count--;
    perftrace__http_parser_free(c->parser);
    perftrace__strbuf_free(&c->rest);
    perftrace__strbuf_free(&c->out);
    free(c);
    free_server_when_empty(s);
}

static void close_connection(connection_t *c) {
    if (c->closing) {
        return;
    }
    c->closing = true;
    if (c->exchange != NULL) {
        c->exchange->connection = NULL;
        c->exchange = NULL;
    }
    uv_close(&c->io.handle, on_closed);
    uv_close((uv_handle_t *)&c->timer, on_closed);
}

/* ---- answering ---- */

static void on_timer(uv_timer_t *timer);
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf);

static void arm(connection_t *c, uint32_t ms) {
    uv_timer_start(&c->timer, on_timer, ms, 0);
}

static void on_swallow(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    connection_t *c = stream->data;
    (void)buf;
    c->swallowed += n > 0 ? (size_t)n : 0;
    if (n < 0 || c->swallowed > SWALLOW_BYTES) {
        close_connection(c);
    }
}

static void on_shutdown(uv_shutdown_t *shutdown, int status) {
    (void)shutdown;
    (void)status;
}

/* Bytes that nobody read would make the system reset the connection and the client lose the
 * answer: a while is given to read it and to stop sending. */
static void linger(connection_t *c) {
    if (uv_shutdown(&c->shutdown, &c->io.stream, on_shutdown) != 0 ||
        uv_read_start(&c->io.stream, on_alloc, on_swallow) != 0) {
        close_connection(c);
        return;
    }
    arm(c, LINGER_MS);
}

static void on_written(uv_write_t *write, int status) {
    connection_t *c = write->data;
    c->writing = false;
    if (c->closing) {
        return;
    }
    if (status == 0 && c->refused) {
        linger(c);
        return;
    }
    if (status != 0 || c->last) {
        close_connection(c);
        return;
    }
    perftrace__strbuf_t rest = c->rest;
    c->rest = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    serve(c, rest.data, rest.len);
    perftrace__strbuf_free(&rest);
}

static void send_answer(connection_t *c, perftrace__http_response_t response) {
    response.close = c->last;
    perftrace__strbuf_clear(&c->out);
    perftrace__http_response_put(&c->out, &response);
    uv_buf_t buf = uv_buf_init(c->out.data, (unsigned)c->out.len);
    if (c->out.failed || uv_write(&c->write, &c->io.stream, &buf, 1, on_written) != 0) {
        close_connection(c);
        return;
    }
    c->writing = true;
    arm(c, c->server->options.write_ms);
}

void perftrace__http_exchange_answer(perftrace__http_exchange_t *exchange,
                                     const perftrace__http_response_t *response) {
    connection_t *c = exchange->connection;
    if (c != NULL) {
        perftrace__http_response_t r = *response;
        r.head_only = exchange->head_only;
        c->exchange = NULL;
        send_answer(c, r);
    }
    free(exchange);
}

/* The connection ends with it: what follows cannot be told apart any more. */
static void refuse(connection_t *c, unsigned status) {
    char body[96];
    int len = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", perftrace__http_reason(status));
    c->last = c->refused = true;
    send_answer(
        c, (perftrace__http_response_t){.status = status, .body = body, .body_len = (size_t)len});
}

static void on_timer(uv_timer_t *timer) {
    connection_t *c = timer->data;
    if (!c->writing && !c->refused && perftrace__http_parser_within(c->parser)) {
        uv_read_stop(&c->io.stream);
        refuse(c, 408);
        return;
    }
    close_connection(c);
}

/* ---- reading ---- */

static void take_request(connection_t *c) {
    const perftrace__http_request_t *request = perftrace__http_parser_request(c->parser);
    perftrace__http_exchange_t *x = malloc(sizeof *x);
    c->last = !request->keep_alive || c->server->closing;
    if (x == NULL) {
        refuse(c, 503);
        return;
    }
    *x = (perftrace__http_exchange_t){c, strcmp(request->method, "HEAD") == 0};
    c->exchange = x;
    uv_timer_stop(&c->timer); /* the handler has its own deadlines */
    c->server->options.handle(c->server->options.ctx, request, x);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
    connection_t *c = handle->data;
    (void)suggested;
    *buf = uv_buf_init(c->server->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    connection_t *c = stream->data;
    if (n < 0) {
        close_connection(c);
    } else if (n > 0) {
        uv_read_stop(stream);
        serve(c, buf->base, (size_t)n);
    }
}

static void tell_continue(connection_t *c) {
    char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    uv_buf_t buf = uv_buf_init(text, sizeof text - 1);
    uv_try_write(&c->io.stream, &buf, 1); /* a client that misses it sends after a while anyway */
}

/* Reads on. A request has its time from its first byte on, however slowly the others come. */
static void wait_for_more(connection_t *c, bool was_within) {
    bool within = perftrace__http_parser_within(c->parser);
    if (!within || !was_within) {
        arm(c, within ? c->server->options.request_ms : c->server->options.idle_ms);
    }
    if (uv_read_start(&c->io.stream, on_alloc, on_read) != 0) {
        close_connection(c);
    }
}

static void serve(connection_t *c, const char *data, size_t len) {
    bool was_within = perftrace__http_parser_within(c->parser);
    while (len > 0) {
        size_t used;
        perftrace__http_found_t found = perftrace__http_parser_feed(c->parser, data, len, &used);
        data += used;
        len -= used;
        if (found == PERFTRACE__HTTP_REFUSED) {
            refuse(c, perftrace__http_parser_status(c->parser));
            return;
        }
        if (found == PERFTRACE__HTTP_REQUEST) {
            perftrace__strbuf_append(&c->rest, data, len);
            if (c->rest.failed) {
                close_connection(c);
                return;
            }
            take_request(c);
            return;
        }
        if (found == PERFTRACE__HTTP_CONTINUE) {
            tell_continue(c);
        }
    }
    wait_for_more(c, was_within);
}

/* ---- listening ---- */

static void free_handle(uv_handle_t *handle) {
    free(handle->data);
}

/* A connection beyond the limit is taken only to be ended. */
static void turn_away(perftrace__http_server_t *s) {
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 34\r\n"
                               "Content-Type: application/json\r\nConnection: close\r\n\r\n"
                               "{\"error\": \"too many connections\"}\n";
    perftrace__net_stream_t *io = malloc(sizeof *io);
    if (io == NULL || perftrace__net_stream_init(s->loop, &s->options.address, io) != 0) {
        free(io);
        return;
    }
    io->handle.data = io;
    if (uv_accept(&s->listener.stream, &io->stream) == 0) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)text, sizeof text - 1);
        uv_try_write(&io->stream, &buf, 1);
    }
    uv_close(&io->handle, free_handle);
}

static void on_connection(uv_stream_t *listener, int status) {
    perftrace__http_server_t *s = listener->data;
    if (status != 0) {
        return;
    }
    connection_t *c = s->count < s->options.max_connections ? calloc(1, sizeof *c) : NULL;
    if (c == NULL) {
        turn_away(s);
        return;
    }
    c->parser = perftrace__http_parser_new(&s->options.limits);
    if (c->parser == NULL ||
        perftrace__net_stream_init(s->loop, &s->options.address, &c->io) != 0) {
        perftrace__http_parser_free(c->parser);
        free(c);
        return;
    }
    uv_timer_init(perftrace__net_loop_uv(s->loop), &c->timer);
    c->server = s;
    c->io.handle.data = c->timer.data = c->write.data = c;
    c->open_handles = 2;
    c->next = s->connections;
    c->prev = &s->connections;
    if (c->next != NULL) {
        c->next->prev = &c->next;
    }
    s->connections = c;
    s->count++;
    if (uv_accept(listener, &c->io.stream) != 0) {
        close_connection(c);
        return;
    }
    if (!s->options.address.is_unix) {
        uv_tcp_nodelay(&c->io.tcp, 1);
    }
    serve(c, NULL, 0);
}

static void on_listener_closed(uv_handle_t *handle) {
    perftrace__http_server_t *s = handle->data;
    s->listener_open = false;
    free_server_when_empty(s);
}

perftrace__http_server_t *perftrace__http_server_open(perftrace__net_loop_t *loop,
                                                      const perftrace__http_server_options_t *o,
                                                      int *ret_uv_code) {
    perftrace__http_server_t *s = calloc(1, sizeof *s);
    if (s == NULL) {
        *ret_uv_code = UV_ENOMEM;
        return NULL;
    }
    s->loop = loop;
    s->options = *o;
    *ret_uv_code = perftrace__net_stream_init(loop, &o->address, &s->listener);
    if (*ret_uv_code != 0) {
        free(s);
        return NULL;
    }
    s->listener.handle.data = s;
    s->listener_open = true;
    *ret_uv_code = perftrace__net_listen(&s->listener, &o->address, on_connection);
    if (*ret_uv_code != 0) {
        perftrace__http_server_close(s);
        return NULL;
    }
    s->port = perftrace__net_listen_port(&s->listener, &o->address);
    return s;
}

void perftrace__http_server_close(perftrace__http_server_t *s) {
    if (s == NULL || s->closing) {
        return;
    }
    s->closing = true;
    uv_close(&s->listener.handle, on_listener_closed); /* libuv removes the socket file */
    for (connection_t *c = s->connections; c != NULL; c = c->next) {
        close_connection(c);
    }
}

unsigned perftrace__http_server_port(const perftrace__http_server_t *s) {
    return s->port;
}

unsigned perftrace__http_server_connections(const perftrace__http_server_t *s) {
    return s->count;
}

static void close_descriptor(uv_handle_t *handle) {
    uv_os_fd_t fd;
    if (uv_fileno(handle, &fd) == 0) {
        close(fd);
    }
}

void perftrace__http_server_orphan(perftrace__http_server_t *s) {
    if (s == NULL || !s->listener_open) {
        return;
    }
    close_descriptor(&s->listener.handle);
    for (connection_t *c = s->connections; c != NULL; c = c->next) {
        close_descriptor(&c->io.handle);
    }
}
