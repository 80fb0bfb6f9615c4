/* forward_tcp.c: the way to a perf-trace-collect, by TCP or a socket file.
 * SPDX-License-Identifier: MIT */
#include "address_form.h"
#include "forward_link.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OUT_MAX (2u << 20) /* bytes that wait for the system to take them */

struct perftrace__forward_link {
    const perftrace__forward_link_options_t *o;
    int fd;
    perftrace__os_file_id_t id;
    perftrace__strbuf_t out;
    size_t out_at; /* of out, taken by the system */
    perftrace__strbuf_t in;
    perftrace__strbuf_t line;
    bool greeted;
    bool broken;
    char problem[600];
};

typedef perftrace__forward_link_t link_t;

static void set_broken(link_t *l, const char *what, int err) {
    if (!l->broken) {
        l->broken = true;
        snprintf(l->problem, sizeof l->problem, "%s%s%s", what, err ? ": " : "",
                 err ? strerror(err) : "");
    }
}

/* ---- sending ------------------------------------------------------------------------------------
 */

/* False: the program closed all descriptors. Then the number may be of a file of its own, which
 * must get nothing of ours, nor lose anything to us. */
static bool is_ours(link_t *l) {
    if (!l->broken && !perftrace__os_file_is(l->fd, &l->id)) {
        l->fd = -1;
        set_broken(l, "its descriptor was closed", 0);
    }
    return !l->broken;
}

static void push(link_t *l) {
    if (l->out_at < l->out.len && !is_ours(l)) {
        return;
    }
    while (!l->broken && l->out_at < l->out.len) {
        ssize_t n = send(l->fd, l->out.data + l->out_at, l->out.len - l->out_at,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            l->out_at += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            set_broken(l, "the connection ended", errno);
        }
    }
    l->out_at = 0;
    perftrace__strbuf_clear(&l->out);
}

static perftrace__forward_sent_t room(link_t *l) {
    push(l);
    return l->broken                          ? PERFTRACE__FORWARD_BROKEN
           : l->out.len - l->out_at > OUT_MAX ? PERFTRACE__FORWARD_FULL
                                              : PERFTRACE__FORWARD_SENT;
}

static perftrace__forward_sent_t sent(link_t *l) {
    if (l->out.failed) {
        set_broken(l, "no memory", 0); /* half a message would be garbage */
    }
    push(l);
    return l->broken ? PERFTRACE__FORWARD_BROKEN : PERFTRACE__FORWARD_SENT;
}

static perftrace__forward_sent_t ask(link_t *l, const perftrace__stream_key_t *key) {
    perftrace__forward_sent_t can = room(l);
    if (can != PERFTRACE__FORWARD_SENT) {
        return can;
    }
    perftrace__stream_put_have(&l->out, key);
    return sent(l);
}

static perftrace__forward_sent_t send_piece(link_t *l, const perftrace__stream_key_t *key,
                                            uint64_t offset, uint64_t size, uint64_t acked,
                                            bool last, const void *packed, size_t packed_len) {
    perftrace__forward_sent_t can = room(l);
    if (can != PERFTRACE__FORWARD_SENT) {
        return can;
    }
    perftrace__stream_put_data(&l->out, key, offset, size, packed_len, acked, last);
    if (packed_len) {
        perftrace__strbuf_append(&l->out, packed, packed_len);
    }
    return sent(l);
}

static perftrace__forward_sent_t ask_clock(link_t *l, const char *t1) {
    perftrace__forward_sent_t can = room(l);
    if (can != PERFTRACE__FORWARD_SENT) {
        return can;
    }
    perftrace__stream_put_clock(&l->out, t1);
    return sent(l);
}

/* ---- receiving ----------------------------------------------------------------------------------
 */

static void take(link_t *l, const perftrace__stream_message_t *m) {
    switch (m->type) {
    case PERFTRACE__STREAM_HELLO:
        l->greeted = true;
        break;
    case PERFTRACE__STREAM_HAVE:
        l->o->placed(l->o->ctx, m->key.stream, m->offset, m->last);
        break;
    case PERFTRACE__STREAM_ACK:
        l->o->acked(l->o->ctx, m->key.stream, m->offset, m->last);
        break;
    case PERFTRACE__STREAM_CLOCK:
        l->o->clock(l->o->ctx, m->t1, m->t2, m->t3, m->ref);
        break;
    case PERFTRACE__STREAM_ERROR: {
        char text[560];
        snprintf(text, sizeof text, "refused: %s", m->text);
        set_broken(l, text, 0);
        break;
    }
    default:
        set_broken(l, "what answers is no perf-trace-collect", 0);
    }
}

static void take_lines(link_t *l) {
    size_t at = 0;
    while (!l->broken && at < l->in.len) {
        const char *p = l->in.data + at;
        const char *end = memchr(p, '\n', l->in.len - at);
        if (!end) {
            if (l->in.len - at > PERFTRACE__STREAM_LINE_MAX) {
                set_broken(l, "what answers is no perf-trace-collect", 0);
            }
            break;
        }
        perftrace__stream_message_t m;
        const char *problem;
        if (perftrace__stream_parse(p, (size_t)(end + 1 - p), &m, &problem)) {
            take(l, &m);
        } else {
            set_broken(l, "what answers is no perf-trace-collect", 0);
        }
        at = (size_t)(end + 1 - l->in.data);
    }
    memmove(l->in.data, l->in.data + at, l->in.len - at);
    l->in.len -= at;
}

static void pull(link_t *l) {
    while (is_ours(l)) {
        if (!perftrace__strbuf_reserve(&l->in, 16384)) {
            set_broken(l, "no memory", 0);
            return;
        }
        ssize_t n = recv(l->fd, l->in.data + l->in.len, 16384, MSG_DONTWAIT);
        if (n > 0) {
            l->in.len += (size_t)n;
            take_lines(l);
        } else if (n == 0) {
            set_broken(l, "the collector closed the connection", 0);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR) {
            set_broken(l, "the connection ended", errno);
        }
    }
}

static bool wait(link_t *l, int wake_fd, uint32_t timeout_ms) {
    push(l);
    if (!is_ours(l)) {
        return false;
    }
    bool waits = l->out_at < l->out.len;
    struct pollfd p[2] = {
        {.fd = l->fd, .events = (short)(POLLIN | (waits ? POLLOUT : 0)), .revents = 0},
        {.fd = wake_fd, .events = POLLIN, .revents = 0},
    };
    int n = poll(p, wake_fd >= 0 ? 2 : 1, (int)PT_MIN(timeout_ms, 3600000u));
    if (n > 0 && p[0].revents) {
        if (p[0].revents & POLLOUT) {
            push(l);
        }
        pull(l);
    }
    return !l->broken;
}

static const char *problem_of(const link_t *l) {
    return l->problem;
}

/* ---- connecting ---------------------------------------------------------------------------------
 */

static void close_link(link_t *l) {
    if (l) {
        perftrace__os_close_file(l->fd, &l->id);
        perftrace__strbuf_free(&l->out);
        perftrace__strbuf_free(&l->in);
        perftrace__strbuf_free(&l->line);
        free(l);
    }
}

static void orphan(link_t *l) {
    perftrace__os_close_file(l->fd, &l->id);
}

/* connect() that waits at most until the time is over. 0 or an errno. */
static int connect_to(int fd, const struct sockaddr *to, socklen_t len, uint64_t until_ns) {
    if (connect(fd, to, len) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return errno;
    }
    for (;;) {
        uint64_t now = perftrace__os_mono_ns();
        struct pollfd p = {.fd = fd, .events = POLLOUT, .revents = 0};
        if (now >= until_ns) {
            return ETIMEDOUT;
        }
        int n = poll(&p, 1, (int)((until_ns - now) / 1000000u + 1));
        if (n > 0) {
            int err = 0;
            socklen_t size = sizeof err;
            return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size) ? errno : err;
        }
    }
}

/* A descriptor that is none of 0, 1 and 2. */
static int new_socket(int family) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && fd <= 2) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        close(fd);
        fd = high;
    }
    return fd;
}

static int try_address(const struct sockaddr *to, socklen_t len, uint64_t until_ns, int *ret_fd) {
    int fd = new_socket(to->sa_family);
    if (fd < 0) {
        return errno;
    }
    perftrace__os_file_id_t id = perftrace__os_file_id(fd);
    int err = connect_to(fd, to, len, until_ns);
    if (!perftrace__os_file_is(fd, &id)) { /* the program closed all descriptors meanwhile */
        return err ? err : EBADF;
    }
    if (err) {
        close(fd);
        return err;
    }
    if (to->sa_family != AF_UNIX) {
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        /* A peer that is gone without a word (its machine, the network) is noticed after this time
         * of unacknowledged bytes. */
        const unsigned limit_ms = 20000;
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
    }
    *ret_fd = fd;
    return 0;
}

static int open_unix(const char *path, uint64_t until_ns, int *ret_fd) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof a.sun_path) {
        return ENAMETOOLONG;
    }
    memcpy(a.sun_path, path, len + 1);
    return try_address((const struct sockaddr *)&a, sizeof a, until_ns, ret_fd);
}

static const char *open_inet(const char *to, uint64_t until_ns, int *ret_fd) {
    char host[256];
    const char *port = NULL;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    if (!perftrace__address_split(to, host, &port)) {
        return "not of the form HOST:PORT";
    }
    int rc = getaddrinfo(host, port, &hints, &list);
    if (rc) {
        return rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc);
    }
    int err = ECONNREFUSED;
    unsigned count = 0;
    for (const struct addrinfo *a = list; a; a = a->ai_next) {
        count++;
    }
    /* One that does not answer leaves the others their share of the time. */
    for (const struct addrinfo *a = list; a; a = a->ai_next, count--) {
        uint64_t now = perftrace__os_mono_ns();
        uint64_t share = until_ns > now ? (until_ns - now) / count : 0;
        err = try_address(a->ai_addr, a->ai_addrlen, now + share, ret_fd);
        if (!err) {
            break;
        }
    }
    freeaddrinfo(list);
    return err ? strerror(err) : NULL;
}

static link_t *open_link(const perftrace__forward_link_options_t *o, char *problem, size_t size) {
    uint64_t until_ns = perftrace__os_mono_ns() + o->timeout_ms * 1000000ull;
    int fd = -1;
    const char *why;
    if (strncmp(o->to, "unix:", 5) == 0) {
        int err = open_unix(o->to + 5, until_ns, &fd);
        why = err ? strerror(err) : NULL;
    } else {
        why = open_inet(o->to, until_ns, &fd);
    }
    link_t *l = why ? NULL : calloc(1, sizeof *l);
    if (!l) {
        snprintf(problem, size, "%s", why ? why : "no memory");
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    l->o = o;
    l->fd = fd;
    l->id = perftrace__os_file_id(fd);
    perftrace__stream_put_hello(&l->out, o->run, o->token);
    while (!l->greeted) {
        uint64_t now = perftrace__os_mono_ns();
        if (now >= until_ns) {
            set_broken(l, "it took the connection, but says nothing", 0);
        }
        if (l->broken || !wait(l, -1, (uint32_t)((until_ns - now) / 1000000u + 1))) {
            snprintf(problem, size, "%s", l->problem);
            close_link(l);
            return NULL;
        }
    }
    return l;
}

const perftrace__forward_link_ops_t perftrace__forward_tcp = {
    .abi = PERFTRACE__FORWARD_LINK_ABI,
    .open = open_link,
    .ask = ask,
    .send = send_piece,
    .clock = ask_clock,
    .wait = wait,
    .problem = problem_of,
    .close = close_link,
    .orphan = orphan,
};
