/* http_client.c: many requests at once, each with its deadline. SPDX-License-Identifier: MIT */
#include "http_client.h"

#include "os.h"

#include <signal.h>
#include <stdlib.h>
#include <uv.h>

#define REPLY_MAX  (16u << 20)
#define REPLY_TEXT "16 MiB"

typedef struct exchange {
    perftrace__http_call_t *call;
    perftrace__http_url_t url;
    uv_timer_t timer;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } io;
    uv_getaddrinfo_t lookup;
    uv_connect_t connect;
    uv_write_t write;
    perftrace__strbuf_t request;
    perftrace__http_reply_t *reply;
    uint64_t begin;
    struct addrinfo *addresses, *next_address;
    bool ended;
    bool connected;
    char buffer[8192];
} exchange_t;

static void end(exchange_t *x, perftrace__http_outcome_t outcome, const char *problem) {
    if (x->ended) {
        return;
    }
    x->ended = true;
    x->call->outcome = outcome;
    x->call->problem = problem;
    x->call->seconds = (double)(uv_hrtime() - x->begin) / 1e9;
    if (outcome == PERFTRACE__HTTP_ANSWERED) {
        x->call->status = perftrace__http_reply_status(x->reply);
        x->call->reply = *perftrace__http_reply_body(x->reply);
        *perftrace__http_reply_body(x->reply) = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    }
    uv_cancel((uv_req_t *)&x->lookup);
    uv_close((uv_handle_t *)&x->timer, NULL);
    if (x->io.handle.type != UV_UNKNOWN_HANDLE && !uv_is_closing(&x->io.handle)) {
        uv_close(&x->io.handle, NULL);
    }
}

static void on_timeout(uv_timer_t *timer) {
    exchange_t *x = timer->data;
    end(x, PERFTRACE__HTTP_TIMEOUT, x->connected ? "no answer in time" : "no connection in time");
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
    exchange_t *x = handle->data;
    (void)suggested;
    *buf = uv_buf_init(x->buffer, sizeof x->buffer);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    exchange_t *x = stream->data;
    if (n == 0) {
        return;
    }
    if (n < 0 && n != UV_EOF) {
        end(x, PERFTRACE__HTTP_BROKEN, uv_strerror((int)n));
        return;
    }
    bool good = perftrace__http_reply_feed(x->reply, buf->base, n > 0 ? (size_t)n : 0);
    if (perftrace__http_reply_complete(x->reply)) {
        end(x, PERFTRACE__HTTP_ANSWERED, "");
    } else if (!good) {
        end(x, PERFTRACE__HTTP_BROKEN,
            n <= 0                                     ? "the connection ended before the answer"
            : perftrace__http_reply_too_long(x->reply) ? "the answer is longer than " REPLY_TEXT
                                                       : "what came is no HTTP answer");
    }
}

/* A server may answer and close before it has read all: what it said is read all the same. */
static void on_written(uv_write_t *write, int status) {
    (void)write;
    (void)status;
}

static void on_connect(uv_connect_t *connect, int status);

static void try_address(exchange_t *x) {
    const struct addrinfo *a = x->next_address;
    x->next_address = a->ai_next;
    int rc = uv_tcp_init(x->timer.loop, &x->io.tcp);
    x->io.handle.data = x;
    if (rc == 0) {
        rc = uv_tcp_connect(&x->connect, &x->io.tcp, a->ai_addr, on_connect);
    }
    if (rc != 0) {
        end(x, PERFTRACE__HTTP_NO_CONNECTION, uv_strerror(rc));
    }
}

static void on_failed_closed(uv_handle_t *handle) {
    exchange_t *x = handle->data;
    if (!x->ended) {
        try_address(x);
    }
}

static void on_connect(uv_connect_t *connect, int status) {
    exchange_t *x = connect->data;
    if (x->ended) {
        return;
    }
    if (status != 0) {
        if (x->next_address != NULL) {
            uv_close(&x->io.handle, on_failed_closed);
        } else {
            end(x, PERFTRACE__HTTP_NO_CONNECTION, uv_strerror(status));
        }
        return;
    }
    x->connected = true;
    uv_buf_t buf = uv_buf_init(x->request.data, (unsigned)x->request.len);
    int rc = uv_write(&x->write, &x->io.stream, &buf, 1, on_written);
    if (rc == 0) {
        rc = uv_read_start(&x->io.stream, on_alloc, on_read);
    }
    if (rc != 0) {
        end(x, PERFTRACE__HTTP_BROKEN, uv_strerror(rc));
    }
}

static void on_lookup(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found) {
    exchange_t *x = lookup->data;
    x->addresses = x->next_address = found;
    if (x->ended) {
        return;
    }
    if (status != 0 || found == NULL) {
        end(x, PERFTRACE__HTTP_NO_CONNECTION,
            status != 0 ? uv_strerror(status) : "the host has no address");
        return;
    }
    try_address(x);
}

static void begin(exchange_t *x, uv_loop_t *loop) {
    perftrace__http_call_t *call = x->call;
    const char *problem = "";
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    x->begin = uv_hrtime();
    x->timer.data = x->lookup.data = x->connect.data = x->write.data = x;
    uv_timer_init(loop, &x->timer);
    if (!perftrace__http_url_parse(call->url, &x->url, &problem)) {
        end(x, PERFTRACE__HTTP_BAD_URL, problem);
        return;
    }
    perftrace__http_request_put(&x->request, &x->url, call->method, call->path, call->body,
                                call->token);
    x->reply = perftrace__http_reply_new(REPLY_MAX);
    if (x->request.failed || x->reply == NULL) {
        end(x, PERFTRACE__HTTP_BROKEN, "out of memory");
        return;
    }
    uv_timer_start(&x->timer, on_timeout, call->timeout_ms, 0);
    if (x->url.is_unix) {
        uv_pipe_init(loop, &x->io.pipe, 0);
        x->io.handle.data = x;
        uv_pipe_connect(&x->connect, &x->io.pipe, x->url.host, on_connect);
        return;
    }
    int rc = uv_getaddrinfo(loop, &x->lookup, on_lookup, x->url.host, x->url.port, &hints);
    if (rc != 0) {
        end(x, PERFTRACE__HTTP_NO_CONNECTION, uv_strerror(rc));
    }
}

bool perftrace__http_calls(perftrace__http_call_t *calls, size_t count) {
    uv_loop_t loop;
    exchange_t *all = calloc(count > 0 ? count : 1, sizeof *all);
    perftrace__os_take_streams();
    if (all == NULL || uv_loop_init(&loop) != 0) {
        free(all);
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* a server that goes away is an outcome */
    for (size_t i = 0; i < count; i++) {
        all[i].call = &calls[i];
        begin(&all[i], &loop);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    for (size_t i = 0; i < count; i++) {
        perftrace__strbuf_free(&all[i].request);
        perftrace__http_reply_free(all[i].reply);
        uv_freeaddrinfo(all[i].addresses);
    }
    free(all);
    return true;
}
