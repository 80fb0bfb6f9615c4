/* collect_tcp.c: senders that connect. SPDX-License-Identifier: MIT */
#include "collect_tcp.h"

#include "net_listen.h"
#include "os.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#define READ_BYTES  65536
#define OUT_MAX     262144u /* bytes of answers that wait for one sender */
#define TICK_MS     250     /* deadlines */
#define SYNC_MS     20
#define LINGER_MS   1000
#define KEEPALIVE_S 60
#define SWALLOW_MAX (64u << 20)

/* Why nothing is read from a sender. */
enum {
    PAUSE_STALLED = 1, /* what it sent cannot be written */
    PAUSE_OUT = 2,     /* it does not take its answers */
    PAUSE_HELD = 4     /* too much of all senders is on its way */
};

typedef struct connection {
    perftrace__net_stream_t io;
    uv_write_t write;
    uv_shutdown_t shutdown;
    pt_collect_tcp_t *tcp;
    pt_collect_peer_t *peer;
    perftrace__strbuf_t sending;
    size_t held;
    unsigned pause;
    bool writing;
    bool reading;
    bool shut;
    bool closing;
    uint64_t read_ms;  /* when something came last */
    uint64_t write_ms; /* since when it writes, or shuts down */
    size_t swallowed;
    struct connection *next, **prev;
} connection_t;

struct pt_collect_tcp {
    perftrace__net_stream_t listener;
    uv_timer_t tick, sync;
    perftrace__net_loop_t *loop;
    pt_collect_service_t *service;
    pt_collect_tcp_options_t o;
    connection_t *connections;
    connection_t *first; /* may go on beyond held_max, so that it comes to an end */
    unsigned count;
    unsigned port;
    unsigned handles;
    size_t held;
    bool unaccepted;    /* there was no memory for one: libuv waits until it is taken */
    unsigned kept_back; /* connections that PAUSE_HELD stops */
    bool closing;
    uint64_t closing_ms; /* since when */
    char buffer[READ_BYTES];
};

static uint64_t now_ms(const pt_collect_tcp_t *t) {
    return uv_now(perftrace__net_loop_uv(t->loop));
}

/* ---- closing -----------------------------------------------------------------------------------
 */

static void free_when_empty(pt_collect_tcp_t *t) {
    if (t->closing && t->handles == 0 && t->count == 0) {
        free(t);
    }
}

static void on_handle_closed(uv_handle_t *handle) {
    pt_collect_tcp_t *t = handle->data;
    t->handles--;
    free_when_empty(t);
}

/* At the end they watch over the connections that still have something to be told. */
static void stop_timers_when_empty(pt_collect_tcp_t *t) {
    if (t->closing && t->count == 0 && !uv_is_closing((uv_handle_t *)&t->tick)) {
        uv_close((uv_handle_t *)&t->tick, on_handle_closed);
        uv_close((uv_handle_t *)&t->sync, on_handle_closed);
    }
}

static void let_go_on(pt_collect_tcp_t *t);

static void on_closed(uv_handle_t *handle) {
    connection_t *c = handle->data;
    pt_collect_tcp_t *t = c->tcp;
    *c->prev = c->next;
    if (c->next != NULL) {
        c->next->prev = c->prev;
    }
    t->count--;
    pt_collect_peer_free(c->peer);
    perftrace__strbuf_free(&c->sending);
    free(c);
    stop_timers_when_empty(t);
    free_when_empty(t);
}

static void close_connection(connection_t *c) {
    pt_collect_tcp_t *t = c->tcp;
    if (c->closing) {
        return;
    }
    c->closing = true;
    t->kept_back -= (c->pause & PAUSE_HELD) != 0;
    c->pause &= ~(unsigned)PAUSE_HELD;
    t->held -= c->held;
    c->held = 0;
    if (t->first == c) {
        t->first = NULL;
    }
    uv_close(&c->io.handle, on_closed);
    let_go_on(t);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void on_shutdown(uv_shutdown_t *shutdown, int status) {
    (void)shutdown;
    (void)status;
}

/* Bytes that nobody reads would make the system reset the connection, and the sender lose what it
 * was told: for a while it is read on. */
static void shut_down(connection_t *c) {
    c->shut = true;
    c->write_ms = now_ms(c->tcp);
    if (uv_shutdown(&c->shutdown, &c->io.stream, on_shutdown) != 0) {
        close_connection(c);
    }
}

static void after(connection_t *c);

static void on_written(uv_write_t *write, int status) {
    connection_t *c = write->data;
    c->writing = false;
    if (c->closing) {
        return;
    }
    if (status != 0) {
        close_connection(c);
        return;
    }
    after(c);
}

/* Sends what waits. Acknowledgements wait for the disk where that is asked for. */
static void flush(connection_t *c) {
    pt_collect_peer_t *p = c->peer;
    if (c->writing || c->closing || c->shut) {
        return;
    }
    if (!p->service->store->o.sync) {
        pt_collect_peer_put_acks(p);
    }
    p->urgent = false;
    if (p->out.len > 0) {
        perftrace__strbuf_t sent = c->sending;
        c->sending = p->out;
        p->out = sent;
        perftrace__strbuf_clear(&p->out);
        uv_buf_t buf = uv_buf_init(c->sending.data, (unsigned)c->sending.len);
        if (uv_write(&c->write, &c->io.stream, &buf, 1, on_written) != 0) {
            close_connection(c);
            return;
        }
        c->writing = true;
        c->write_ms = now_ms(c->tcp);
    } else if (p->state == PT_COLLECT_PEER_ENDED) {
        shut_down(c);
    }
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
    connection_t *c = handle->data;
    (void)suggested;
    *buf = uv_buf_init(c->tcp->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

/* Reads or does not read, as it is to be. */
static void steer(connection_t *c) {
    if (c->closing) {
        return;
    }
    bool read = c->pause == 0;
    if (read && !c->reading && uv_read_start(&c->io.stream, on_alloc, on_read) != 0) {
        close_connection(c);
        return;
    }
    if (!read && c->reading) {
        uv_read_stop(&c->io.stream);
    }
    if (read && !c->reading) {
        c->read_ms = now_ms(c->tcp);
    }
    c->reading = read;
}

static void set_pause(connection_t *c, unsigned why, bool on) {
    if (why == PAUSE_HELD && on != ((c->pause & PAUSE_HELD) != 0)) {
        c->tcp->kept_back += on ? 1u : -1u;
    }
    c->pause = on ? c->pause | why : c->pause & ~why;
}

/* Beyond the limit one connection goes on until its piece is complete, then another one. */
static void let_go_on(pt_collect_tcp_t *t) {
    for (connection_t *c = t->connections; c != NULL && t->kept_back > 0; c = c->next) {
        if ((c->pause & PAUSE_HELD) == 0 || c->closing) {
            continue;
        }
        if (t->held > t->o.held_max && t->first != NULL) {
            return;
        }
        t->first = t->held > t->o.held_max ? c : t->first;
        set_pause(c, PAUSE_HELD, false);
        steer(c);
    }
}

static void weigh(connection_t *c) {
    pt_collect_tcp_t *t = c->tcp;
    size_t held = pt_collect_peer_held(c->peer);
    t->held = t->held - c->held + held;
    c->held = held;
    if (t->held > t->o.held_max) {
        if (t->first == c && held == 0) {
            t->first = NULL;
        }
        t->first = t->first != NULL || held == 0 ? t->first : c;
        set_pause(c, PAUSE_HELD, t->first != c && held > 0);
    } else {
        t->first = NULL;
    }
    if (t->first == NULL) {
        let_go_on(t);
    }
}

/* After the peer has taken something, or its answers were taken. */
static void after(connection_t *c) {
    flush(c);
    if (c->closing) {
        return;
    }
    set_pause(c, PAUSE_STALLED, c->peer->state == PT_COLLECT_PEER_STALLED);
    set_pause(c, PAUSE_OUT, c->peer->out.len > OUT_MAX);
    weigh(c);
    steer(c);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    connection_t *c = stream->data;
    uint64_t received_ns = perftrace__os_mono_ns();
    if (n < 0) {
        close_connection(c);
    } else if (n > 0 && c->peer->state == PT_COLLECT_PEER_ENDED) {
        c->swallowed += (size_t)n;
        if (c->swallowed > SWALLOW_MAX) {
            close_connection(c);
        }
    } else if (n > 0) {
        c->read_ms = now_ms(c->tcp);
        pt_collect_peer_feed(c->peer, buf->base, (size_t)n, received_ns);
        after(c);
    }
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void look_at(connection_t *c, uint64_t now) {
    const pt_collect_tcp_options_t *o = &c->tcp->o;
    pt_collect_peer_t *p = c->peer;
    if (c->shut) {
        if (now - c->write_ms > LINGER_MS) {
            close_connection(c);
        }
        return;
    }
    if (c->tcp->closing) {
        if (now - c->tcp->closing_ms > LINGER_MS) {
            close_connection(c);
        }
        return;
    }
    if (c->writing && now - c->write_ms > o->piece_ms) {
        pt_collect_peer_end(p, PT_COLLECT_ENDED_SLOW, "answers were not taken");
        close_connection(c);
        return;
    }
    if (p->state == PT_COLLECT_PEER_STALLED) {
        pt_collect_peer_retry(p);
        after(c);
        return;
    }
    bool within = p->wire.line_len > 0 && !p->wire.complete;
    uint64_t limit = !p->greeted ? o->hello_ms : within ? o->piece_ms : o->idle_ms;
    if (p->state == PT_COLLECT_PEER_OPEN && c->reading && now - c->read_ms > limit) {
        pt_collect_peer_end(p, PT_COLLECT_ENDED_SLOW,
                            !p->greeted ? "no hello came in time"
                            : within    ? "a message was not completed in time"
                                        : "the connection was idle for too long");
        after(c);
    }
}

/* Tells what there is to tell; when it has read that it closes the connection, and so do we. */
static void say_farewell(connection_t *c, bool with_acks) {
    if (with_acks) {
        pt_collect_peer_put_acks(c->peer);
    }
    c->peer->acks = false;
    c->peer->state = PT_COLLECT_PEER_ENDED;
    set_pause(c, PAUSE_STALLED | PAUSE_OUT, false);
    set_pause(c, PAUSE_HELD, false);
    flush(c);
    steer(c);
}

static void on_connection(uv_stream_t *listener, int status);

static void on_tick(uv_timer_t *timer) {
    pt_collect_tcp_t *t = timer->data;
    if (t->unaccepted && !t->closing) {
        t->unaccepted = false;
        on_connection(&t->listener.stream, 0);
    }
    uint64_t now = now_ms(t);
    for (connection_t *c = t->connections, *next; c != NULL; c = next) {
        next = c->next;
        if (!c->closing) {
            look_at(c, now);
        }
    }
}

static void on_sync(uv_timer_t *timer) {
    pt_collect_tcp_t *t = timer->data;
    bool due = false;
    for (connection_t *c = t->connections; c != NULL && !due; c = c->next) {
        due = c->peer->acks;
    }
    if (!due || pt_collect_store_sync(t->service->store) != 0) {
        return;
    }
    for (connection_t *c = t->connections, *next; c != NULL; c = next) {
        next = c->next;
        if (!c->closing) {
            pt_collect_peer_put_acks(c->peer);
            flush(c);
        }
    }
}

/* ---- listening ---------------------------------------------------------------------------------
 */

static void name_peer(const connection_t *c, char *out, size_t size) {
    perftrace__listen_address_t a = {0};
    int len = sizeof a.to;
    char host[64];
    if (c->tcp->o.address.is_unix || uv_tcp_getpeername(&c->io.tcp, &a.to.any, &len) != 0) {
        snprintf(out, size, "a sender");
        return;
    }
    (void)perftrace__listen_address_host(&a, host, sizeof host);
    snprintf(out, size, "%s:%u", host, (unsigned)ntohs(a.to.v4.sin_port));
}

static void on_connection(uv_stream_t *listener, int status) {
    pt_collect_tcp_t *t = listener->data;
    connection_t *c = status == 0 ? calloc(1, sizeof *c) : NULL;
    char name[80];
    if (c == NULL || perftrace__net_stream_init(t->loop, &t->o.address, &c->io) != 0) {
        free(c);
        t->unaccepted = t->unaccepted || status == 0;
        return;
    }
    c->tcp = t;
    c->io.handle.data = c->write.data = c;
    c->next = t->connections;
    c->prev = &t->connections;
    if (c->next != NULL) {
        c->next->prev = &c->next;
    }
    t->connections = c;
    t->count++;
    if (uv_accept(listener, &c->io.stream) != 0) {
        close_connection(c);
        return;
    }
    if (!t->o.address.is_unix) {
        uv_tcp_nodelay(&c->io.tcp, 1);
        uv_tcp_keepalive(&c->io.tcp, 1, KEEPALIVE_S);
    }
    name_peer(c, name, sizeof name);
    c->peer = pt_collect_peer_new(t->service, name);
    if (c->peer == NULL) {
        close_connection(c);
        return;
    }
    if (t->count > t->o.connections_max) {
        pt_collect_peer_end(c->peer, PT_COLLECT_ENDED_MANY, "too many connections");
    }
    after(c);
}

static void start_timer(pt_collect_tcp_t *t, uv_timer_t *timer, uv_timer_cb fn, uint64_t ms) {
    uv_timer_init(perftrace__net_loop_uv(t->loop), timer);
    timer->data = t;
    t->handles++;
    uv_timer_start(timer, fn, ms, ms);
}

pt_collect_tcp_t *pt_collect_tcp_open(perftrace__net_loop_t *loop, pt_collect_service_t *service,
                                      const pt_collect_tcp_options_t *options, int *ret_uv_code) {
    pt_collect_tcp_t *t = calloc(1, sizeof *t);
    if (t == NULL) {
        *ret_uv_code = UV_ENOMEM;
        return NULL;
    }
    t->loop = loop;
    t->service = service;
    t->o = *options;
    *ret_uv_code = perftrace__net_stream_init(loop, &t->o.address, &t->listener);
    if (*ret_uv_code != 0) {
        free(t);
        return NULL;
    }
    t->listener.handle.data = t;
    t->handles = 1;
    start_timer(t, &t->tick, on_tick, TICK_MS);
    start_timer(t, &t->sync, on_sync, SYNC_MS);
    *ret_uv_code = perftrace__net_listen(&t->listener, &t->o.address, on_connection);
    if (*ret_uv_code != 0) {
        pt_collect_tcp_close(t);
        return NULL;
    }
    t->port = perftrace__net_listen_port(&t->listener, &t->o.address);
    return t;
}

void pt_collect_tcp_close(pt_collect_tcp_t *t) {
    if (t == NULL || t->closing) {
        return;
    }
    t->closing = true;
    uv_close(&t->listener.handle, on_handle_closed);
    uv_update_time(perftrace__net_loop_uv(t->loop));
    t->closing_ms = now_ms(t);
    /* The last acknowledgements: a sender that does not get them looks for a collector that is
     * gone. */
    bool safe = !t->service->store->o.sync || pt_collect_store_sync(t->service->store) == 0;
    for (connection_t *c = t->connections, *next; c != NULL; c = next) {
        next = c->next;
        if (!c->closing && c->peer != NULL) {
            say_farewell(c, safe);
        }
    }
    stop_timers_when_empty(t);
}

unsigned pt_collect_tcp_port(const pt_collect_tcp_t *t) {
    return t->port;
}

unsigned pt_collect_tcp_connections(const pt_collect_tcp_t *t) {
    return t->count;
}
