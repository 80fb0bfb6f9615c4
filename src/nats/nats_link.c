/* nats_link.c: the way to NATS JetStream. SPDX-License-Identifier: MIT
 *
 * libperftrace-nats.so, loaded by whoever is told to forward to nats://; with nats_stream.c
 * all of the library's side that knows libnats. Reconnecting is the sender's: what is on its way
 * when a connection breaks is sent again by its offset.
 *
 * libnats calls back on threads of its own, also a moment after a connection was destroyed. So what
 * it is given is no pointer but a ticket, which is worth nothing once the link is closed; and what
 * it says is kept, under the one lock, until the sender's thread takes it in wait. */
#include "forward_link.h"
#include "json_scan.h"
#include "nats_stream.h"
#include "os.h"
#include "wake_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nats/nats.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ON_THE_WAY    256u /* messages that are not acknowledged */
#define WRITE_WAIT_MS 5000
/* So long without any acknowledgement, and the connection counts as broken: a message that was on
 * its way to a leader that died is never answered, though the server we talk to lives on. */
#define ACK_WAIT_NS 10000000000u
#define SERVERS     16
#define LINKS       256u

typedef struct sent {
    uint64_t stream;
    uint64_t end;
    bool last;
    bool done;
    char id[80]; /* of the message */
} sent_t;

struct perftrace__forward_link {
    const perftrace__forward_link_options_t *o;
    natsConnection *nc;
    jsCtx *js;
    char run[65];
    char name[80]; /* of the stream */
    char ref[40];  /* the collector that answered last; "": any */
    perftrace__strbuf_t body;
    perftrace__wake_pipe_t wake;
    uintptr_t ticket;
    uint64_t progress_ns; /* when one was acknowledged last, or the oldest one sent */
    /* Under the lock: */
    sent_t sent[ON_THE_WAY]; /* [first, first + count), in the order sent */
    unsigned first;
    unsigned count;
    bool broken;
    bool refused; /* by what the server said of a piece */
    char problem[400];
};

typedef perftrace__forward_link_t link_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static link_t *links[LINKS];          /* by ticket % LINKS */
static uintptr_t next_ticket = LINKS; /* of any place; never given twice */

/* False: all places are taken. */
static bool take_ticket(link_t *l) {
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < LINKS && !l->ticket; i++) {
        uintptr_t ticket = next_ticket++;
        if (!links[ticket % LINKS]) {
            links[ticket % LINKS] = l;
            l->ticket = ticket;
        }
    }
    pthread_mutex_unlock(&lock);
    return l->ticket != 0;
}

static void return_ticket(const link_t *l) {
    pthread_mutex_lock(&lock);
    if (l->ticket) {
        links[l->ticket % LINKS] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* Lock held. NULL: it is closed. */
static link_t *link_of(void *closure) {
    uintptr_t ticket = (uintptr_t)closure;
    link_t *l = links[ticket % LINKS];
    return l && l->ticket == ticket ? l : NULL;
}

/* Lock held. */
static void set_broken(link_t *l, const char *what, const char *why) {
    if (!l->broken) {
        l->broken = true;
        snprintf(l->problem, sizeof l->problem, "%s%s%s", what, why && *why ? ": " : "",
                 why ? why : "");
    }
}

static perftrace__forward_sent_t fails(link_t *l, const char *what, const char *why) {
    pthread_mutex_lock(&lock);
    set_broken(l, what, why);
    pthread_mutex_unlock(&lock);
    return PERFTRACE__FORWARD_BROKEN;
}

/* False: the program closed all descriptors, the pipe as well as libnats' socket, whose number
 * libnats goes on using: nothing more may be given to it. */
static bool is_ours(link_t *l) {
    if (!perftrace__wake_pipe_is_whole(&l->wake)) {
        (void)fails(l, "its descriptors were closed", NULL);
        return false;
    }
    return true;
}

/* ---- acknowledgements ---------------------------------------------------------------------------
 */

/* By a thread of libnats, for each message. */
static void on_ack(jsCtx *js, natsMsg *msg, jsPubAck *ack, jsPubAckErr *error, void *closure) {
    const char *id = NULL;
    (void)js;
    (void)ack;
    pthread_mutex_lock(&lock);
    link_t *l = link_of(closure);
    if (!l) {
        /* What it was about is sent again by another link. */
    } else if (error) {
        l->refused = l->refused || (!l->broken && error->ErrCode);
        set_broken(l, "a piece was not taken",
                   error->ErrText ? error->ErrText : natsStatus_GetText(error->Err));
    } else if (natsMsgHeader_Get(msg, "Nats-Msg-Id", &id) == NATS_OK) {
        for (unsigned i = 0; i < l->count; i++) {
            sent_t *s = &l->sent[(l->first + i) % ON_THE_WAY];
            if (!s->done && strcmp(s->id, id) == 0) {
                s->done = true;
                break;
            }
        }
    }
    if (l) {
        perftrace__wake_pipe_wake(&l->wake);
    }
    pthread_mutex_unlock(&lock);
    natsMsg_Destroy(msg);
}

static void on_closed(natsConnection *nc, void *closure) {
    const char *why = NULL;
    natsConnection_GetLastError(nc, &why);
    pthread_mutex_lock(&lock);
    link_t *l = link_of(closure);
    if (l) {
        set_broken(l, "the connection ended", why);
        perftrace__wake_pipe_wake(&l->wake);
    }
    pthread_mutex_unlock(&lock);
}

/* What the user may not do is told here only: nobody answers what the server does not let pass. So
 * the connection ends, and with it whatever waits for an answer. But without the time, and with
 * fewer replicas, everything else goes on. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *closure) {
    const char *why = perftrace__nats_error(s); /* set for this call */
    (void)sub;
    if (s != NATS_NOT_PERMITTED) {
        return;
    }
    pthread_mutex_lock(&lock);
    link_t *l = link_of(closure);
    bool ends = false;
    if (l && perftrace__wake_pipe_is_whole(&l->wake)) {
        char data[96];
        char clock[96];
        snprintf(data, sizeof data, "perftrace.%s.data.", l->run);
        snprintf(clock, sizeof clock, "perftrace.%s.clock", l->run);
        ends = !strstr(why, clock) && !strstr(why, "$JS.API.STREAM.UPDATE.");
        if (ends) {
            l->refused = l->refused || (!l->broken && strstr(why, data));
            set_broken(l, l->refused ? "a piece was not taken" : "the stream cannot be used", why);
            perftrace__wake_pipe_wake(&l->wake);
        }
    }
    pthread_mutex_unlock(&lock);
    if (ends) {
        natsConnection_Close(nc); /* ours for the call, whatever becomes of the link */
    }
}

/* Those that are done and have nothing before them that is not: what is acknowledged has no gap. */
static void take_acks(link_t *l) {
    for (;;) {
        pthread_mutex_lock(&lock);
        sent_t s = l->sent[l->first];
        bool done = l->count && s.done;
        if (done) {
            l->first = (l->first + 1) % ON_THE_WAY;
            l->count--;
            l->progress_ns = perftrace__os_mono_ns();
        }
        pthread_mutex_unlock(&lock);
        if (!done) {
            return;
        }
        l->o->acked(l->o->ctx, s.stream, s.end, s.last);
    }
}

/* How long an acknowledgement may still take; UINT64_MAX: none is due. */
static uint64_t patience_ns(const link_t *l) {
    uint64_t spent = perftrace__os_mono_ns() - l->progress_ns;
    return l->count == 0 ? UINT64_MAX : ACK_WAIT_NS - PT_MIN(spent, ACK_WAIT_NS);
}

static bool wait(link_t *l, int wake_fd, uint32_t timeout_ms) {
    if (!is_ours(l)) {
        return false;
    }
    uint64_t patience_ms = patience_ns(l) / 1000000u + 1;
    timeout_ms = (uint32_t)PT_MIN((uint64_t)timeout_ms, patience_ms);
    struct pollfd p[2] = {{.fd = l->wake.fd[0], .events = POLLIN, .revents = 0},
                          {.fd = wake_fd, .events = POLLIN, .revents = 0}};
    if (poll(p, wake_fd >= 0 ? 2 : 1, (int)PT_MIN(timeout_ms, 3600000u)) > 0 && p[0].revents) {
        perftrace__wake_pipe_take(&l->wake);
    }
    take_acks(l);
    pthread_mutex_lock(&lock);
    if (patience_ns(l) == 0) {
        set_broken(l, "no acknowledgement comes", NULL);
    }
    bool broken = l->broken;
    pthread_mutex_unlock(&lock);
    return !broken;
}

/* ---- sending ------------------------------------------------------------------------------------
 */

static void subject_of(const link_t *l, const perftrace__stream_key_t *key, char out[160]) {
    char rank[24] = "u";
    if (key->rank >= 0) {
        snprintf(rank, sizeof rank, "%" PRId64, key->rank);
    }
    snprintf(out, 160, "perftrace.%s.data.%s.%016" PRIx64, l->run, rank, key->stream);
}

/* The place is what the last message of the file says was acknowledged before it. Any rank: it may
 * have become known meanwhile. */
static perftrace__forward_sent_t ask(link_t *l, const perftrace__stream_key_t *key) {
    if (!is_ours(l)) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    char subject[160];
    natsMsg *msg = NULL;
    jsErrCode code = 0;
    jsOptions jo;
    jsOptions_Init(&jo);
    jo.Wait = l->o->timeout_ms;
    snprintf(subject, sizeof subject, "perftrace.%s.data.*.%016" PRIx64, l->run, key->stream);
    natsStatus s = js_GetLastMsg(&msg, l->js, l->name, subject, &jo, &code);
    if (s == NATS_NOT_FOUND) {
        l->o->placed(l->o->ctx, key->stream, 0, false);
        return PERFTRACE__FORWARD_SENT;
    }
    if (s != NATS_OK) {
        return fails(l, "the stream cannot be read", natsStatus_GetText(s));
    }
    const char *data = natsMsg_GetData(msg);
    size_t len = (size_t)natsMsg_GetDataLength(msg);
    const char *end = len ? memchr(data, '\n', len) : NULL;
    perftrace__stream_message_t m;
    const char *problem = NULL;
    uint64_t offset = 0;
    uint64_t stored = 0;
    bool sealed = false;
    if (end && perftrace__stream_parse(data, (size_t)(end + 1 - data), &m, &problem) &&
        m.type == PERFTRACE__STREAM_DATA && m.key.stream == key->stream) {
        offset = m.acked;
        stored = m.offset + m.size;
        sealed = m.last && m.size == 0 && m.acked == m.offset;
    }
    natsMsg_Destroy(msg);
    if (sealed) {
        l->o->placed(l->o->ctx, key->stream, offset, true);
    } else {
        l->o->placed_late(l->o->ctx, key->stream, offset, stored);
    }
    return PERFTRACE__FORWARD_SENT;
}

static bool put_on_the_way(link_t *l, const sent_t *what) {
    pthread_mutex_lock(&lock);
    bool room = l->count < ON_THE_WAY;
    if (room) {
        l->progress_ns = l->count == 0 ? perftrace__os_mono_ns() : l->progress_ns;
        l->sent[(l->first + l->count++) % ON_THE_WAY] = *what;
    }
    pthread_mutex_unlock(&lock);
    return room;
}

static void take_back(link_t *l) {
    pthread_mutex_lock(&lock);
    l->count--; /* only the sender's thread adds: it is the last one */
    pthread_mutex_unlock(&lock);
}

static perftrace__forward_sent_t send_piece(link_t *l, const perftrace__stream_key_t *key,
                                            uint64_t offset, uint64_t size, uint64_t acked,
                                            bool last, const void *packed, size_t packed_len) {
    if (!is_ours(l)) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    char subject[160];
    natsMsg *msg = NULL;
    sent_t sent = {key->stream, offset + size, last, false, ""};
    /* Only the same piece is a repetition. One that begins at the same place and goes on further is
     * not: the server would say that it has it, and drop what is new. */
    snprintf(sent.id, sizeof sent.id, "%016" PRIx64 "-%" PRIu64 "-%" PRIu64 "%s", key->stream,
             offset, size, last ? "-end" : "");
    if (!put_on_the_way(l, &sent)) {
        return PERFTRACE__FORWARD_FULL;
    }
    subject_of(l, key, subject);
    perftrace__strbuf_clear(&l->body);
    perftrace__stream_put_data(&l->body, key, offset, size, packed_len, acked, last);
    if (packed_len) {
        perftrace__strbuf_append(&l->body, packed, packed_len);
    }
    if (l->body.failed || l->body.len > INT32_MAX) {
        take_back(l);
        return PERFTRACE__FORWARD_FULL;
    }
    natsStatus s = natsMsg_Create(&msg, subject, NULL, l->body.data, (int)l->body.len);
    s = s == NATS_OK ? natsMsgHeader_Set(msg, "Nats-Msg-Id", sent.id) : s;
    s = s == NATS_OK ? js_PublishMsgAsync(l->js, &msg, NULL) : s;
    natsMsg_Destroy(msg); /* NULL when it was taken */
    if (s == NATS_OK) {
        return PERFTRACE__FORWARD_SENT;
    }
    take_back(l);
    return fails(l, "a piece cannot be published", natsStatus_GetText(s));
}

static perftrace__forward_sent_t ask_clock(link_t *l, const char *t1) {
    if (!is_ours(l)) {
        return PERFTRACE__FORWARD_BROKEN;
    }
    char subject[160];
    natsMsg *answer = NULL;
    perftrace__strbuf_t *b = &l->body;
    snprintf(subject, sizeof subject, "perftrace.%s.clock%s%s", l->run, l->ref[0] ? "." : "",
             l->ref);
    perftrace__strbuf_clear(b);
    perftrace__stream_put_clock(b, t1);
    natsStatus s = natsConnection_Request(&answer, l->nc, subject, b->data, (int)b->len,
                                          PT_MIN(l->o->timeout_ms, PERFTRACE__NATS_EXTRA_WAIT_MS));
    if (s != NATS_OK) {
        l->ref[0] = '\0'; /* that collector is gone, or there is none */
        return PERFTRACE__FORWARD_FULL;
    }
    perftrace__stream_message_t m;
    const char *problem = NULL;
    if (perftrace__stream_parse(natsMsg_GetData(answer), (size_t)natsMsg_GetDataLength(answer), &m,
                                &problem) &&
        m.type == PERFTRACE__STREAM_CLOCK && m.ref[0]) {
        l->o->clock(l->o->ctx, m.t1, m.t2, m.t3, m.ref);
        /* It is part of a subject from now on. */
        bool plain = strpbrk(m.ref, ".*> \t\r\n") == NULL;
        snprintf(l->ref, sizeof l->ref, "%s", plain ? m.ref : "");
    }
    natsMsg_Destroy(answer);
    return PERFTRACE__FORWARD_SENT;
}

static const char *problem_of(const link_t *l) {
    return l->problem;
}

static bool refuses(const link_t *l) {
    return l->refused;
}

/* ---- connecting ---------------------------------------------------------------------------------
 */

/* "nats://a,b:4223" to the URLs of all; false without memory or with too many. text is cut up. One
 * that does not answer leaves the others their share of the time. */
static bool set_servers(natsOptions *opts, char *text, bool tls, uint32_t timeout_ms,
                        natsStatus *ret) {
    char urls[SERVERS][512];
    const char *list[SERVERS];
    int count = 0;
    char *rest = NULL;
    for (char *part = strtok_r(text, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        if (count == SERVERS) {
            return false;
        }
        int len = snprintf(urls[count], sizeof urls[count], "%s%s",
                           strstr(part, "://") ? ""
                           : tls               ? "tls://"
                                               : "nats://",
                           part);
        if (len < 0 || (size_t)len >= sizeof urls[count]) {
            return false;
        }
        list[count] = urls[count];
        count++;
    }
    *ret = count ? natsOptions_SetServers(opts, list, count) : NATS_INVALID_ARG;
    if (*ret == NATS_OK) {
        *ret = natsOptions_SetTimeout(opts, PT_MAX(timeout_ms / (uint32_t)count, 1u));
    }
    return true;
}

static natsStatus set_options(link_t *l, natsOptions *opts) {
    const perftrace__forward_link_options_t *o = l->o;
    bool tls = strncmp(o->to, "tls://", 6) == 0;
    char *servers = strdup(o->to);
    natsStatus s = NATS_NO_MEMORY;
    if (!servers || !set_servers(opts, servers, tls, o->timeout_ms, &s)) {
        s = servers ? NATS_INVALID_ARG : s;
    }
    free(servers);
#define SET(call) s = s == NATS_OK ? (call) : s
    SET(natsOptions_SetAllowReconnect(opts, false));
    SET(natsOptions_SetPingInterval(opts, 5000));
    SET(natsOptions_SetMaxPingsOut(opts, 2));
    /* A write that waits keeps libnats from its pings: where the network is cut while much is on
     * its way, nobody would notice before the system gives up, a quarter of an hour later. */
    SET(natsOptions_SetWriteDeadline(opts, WRITE_WAIT_MS));
    SET(natsOptions_SetName(opts, "perftrace"));
    SET(natsOptions_SetClosedCB(opts, on_closed, (void *)l->ticket));
    SET(natsOptions_SetErrorHandler(opts, on_error, (void *)l->ticket));
    if (tls) {
        SET(natsOptions_SetSecure(opts, true));
        if (o->tls_ca[0]) {
            SET(natsOptions_LoadCATrustedCertificates(opts, o->tls_ca));
        }
    }
    if (o->token[0]) {
        SET(natsOptions_SetToken(opts, o->token));
    }
    if (o->creds[0]) {
        SET(natsOptions_SetUserCredentialsFromFiles(opts, o->creds, NULL));
    }
#undef SET
    return s;
}

static void close_link(link_t *l) {
    if (!l) {
        return;
    }
    return_ticket(l);
    if (l->nc && !perftrace__wake_pipe_is_whole(&l->wake)) {
        /* The program closed all descriptors. libnats does not know that of its socket: it would
         * close what has the number now. */
        perftrace__wake_pipe_close(&l->wake);
        return;
    }
    if (l->nc) {
        natsConnection_Close(l->nc);
    }
    jsCtx_Destroy(l->js);
    natsConnection_Destroy(l->nc);
    perftrace__wake_pipe_close(&l->wake);
    perftrace__strbuf_free(&l->body);
    free(l);
}

/* libnats, when it is opened, ignores SIGPIPE for the whole process, which is the program's to say.
 * The threads that write have all signals blocked, or are of a tool that ignores it by itself. */
static void open_library(void) {
    struct sigaction before;
    struct sigaction after;
    bool known = sigaction(SIGPIPE, NULL, &before) == 0;
    (void)nats_Open(-1);
    if (known && sigaction(SIGPIPE, NULL, &after) == 0 && after.sa_handler == SIG_IGN) {
        sigaction(SIGPIPE, &before, NULL);
    }
}

/* What a callback heard of says more than a request that was not answered. */
static void tell_broken(link_t *l, char *problem, size_t size) {
    pthread_mutex_lock(&lock);
    if (l->broken) {
        snprintf(problem, size, "%s", l->problem);
    }
    pthread_mutex_unlock(&lock);
}

static link_t *open_link(const perftrace__forward_link_options_t *o, char *problem, size_t size) {
    uint64_t until_ns = perftrace__os_mono_ns() + o->timeout_ms * UINT64_C(1000000);
    natsOptions *opts = NULL;
    link_t *l = calloc(1, sizeof *l);
    if (!l || !perftrace__wake_pipe_open(&l->wake)) {
        snprintf(problem, size, "%s", l ? strerror(errno) : "no memory");
        free(l);
        return NULL;
    }
    l->o = o;
    if (!take_ticket(l)) {
        snprintf(problem, size, "too many connections");
        close_link(l);
        return NULL;
    }
    perftrace__stream_run_name(o->run, l->run);
    snprintf(l->name, sizeof l->name, "perftrace_%s", l->run);
    open_library();
    natsStatus s = natsOptions_Create(&opts);
    s = s == NATS_OK ? set_options(l, opts) : s;
    s = s == NATS_OK ? natsConnection_Connect(&l->nc, opts) : s;
    natsOptions_Destroy(opts);
    jsOptions jo;
    jsOptions_Init(&jo);
    jo.PublishAsync.MaxPending = ON_THE_WAY * 2; /* never stalls: ours is the limit */
    jo.PublishAsync.AckHandler = on_ack;
    jo.PublishAsync.AckHandlerClosure = (void *)l->ticket;
    s = s == NATS_OK ? natsConnection_JetStream(&l->js, l->nc, &jo) : s;
    const perftrace__nats_stream_t stream = {l->run, l->name, o->replicas, until_ns};
    if (s != NATS_OK) {
        snprintf(problem, size, "%s", perftrace__nats_error(s));
    } else if (!perftrace__nats_stream_have(l->js, &stream, problem, size)) {
        tell_broken(l, problem, size);
        s = NATS_ERR;
    }
    if (s != NATS_OK) {
        close_link(l);
        return NULL;
    }
    return l;
}

/* The threads of libnats are not in the child, and its locks may be held: nothing can be done. */
static void orphan(link_t *l) {
    (void)l;
}

/* What forward_find.c looks for. */
__attribute__((
    visibility("default"))) extern const perftrace__forward_link_ops_t perftrace_nats_link;
const perftrace__forward_link_ops_t perftrace_nats_link = {
    .abi = PERFTRACE__FORWARD_LINK_ABI,
    .seals = true,
    .open = open_link,
    .ask = ask,
    .send = send_piece,
    .clock = ask_clock,
    .wait = wait,
    .problem = problem_of,
    .refuses = refuses,
    .close = close_link,
    .orphan = orphan,
};
