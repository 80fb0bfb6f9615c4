/* collect_nats.c: pieces from NATS JetStream. SPDX-License-Identifier: MIT
 *
 * The only file of the tools that knows libnats. Messages are asked for and answered by hand
 * (docs.nats.io, "JetStream wire API"): natsSubscription_Fetch of libnats 3.4 writes behind the end
 * of its list when messages of an earlier request are still on their way. */
#include "collect_nats.h"

#include "address_shown.h"
#include "atomics.h"
#include "grow.h"
#include "message.h"
#include "os.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define STREAM_PREFIX "perftrace_"
#define CONSUMER      "collect"

/* What a collector that was killed had in hand comes again to the others after this time. */
#define ACK_WAIT_NS INT64_C(10000000000)
/* So long that time is asked for in between. */
#define PROGRESS_NS UINT64_C(3000000000)
/* Messages that all collectors together have in hand. Those that wait for what is missing count,
 * so it is many. */
#define ACK_PENDING  20000
#define BATCH        256
#define FETCH_BYTES  (8 << 20)            /* of a batch, packed; no message is larger */
#define FETCH_MS     100                  /* for the first message of a batch */
#define ASK_NS       UINT64_C(1000000000) /* how long the server keeps a request */
#define LOST_NS      UINT64_C(3000000000) /* then one without an answer is lost */
#define RETRY_MS     250
#define STALL_MS     1000
#define LIST_MS      2000
#define HELD_BYTES   (32u << 20) /* a worker's; what is more goes back to the server for a while */
#define GIVE_BACK_MS 2000
#define REPLY_MS     5000

/* A message on its way to the loop's thread. */
typedef struct piece {
    perftrace__stream_message_t m;
    const char *plain; /* NULL: it does not unpack, or is only looked at */
    pt_collect_result_t result;
} piece_t;

typedef struct held {
    natsMsg *msg;
    uint64_t stream;
    size_t len;
} held_t;

typedef struct worker {
    pt_collect_nats_t *nats;
    char *stream;
    const char *run; /* behind the prefix */
    pthread_t thread;
    natsSubscription *sub;
    natsInbox *inbox;
    natsMsg *list[BATCH]; /* the batch at hand; NULL: ended */
    int count;
    int expected; /* messages that the last request may still bring */
    uint64_t asked_ns;
    perftrace__stream_unpacker_t *unpacker;
    char *plain;    /* PERFTRACE__STREAM_PIECE_MAX bytes, of one piece or several */
    piece_t *piece; /* BATCH of them, and one for those that were held */
    held_t *held;
    size_t held_count, held_cap, held_bytes;
    uint64_t progress_ns; /* when time was asked for last */
    uint32_t empty;       /* atomic */
    uint64_t held_told;   /* atomic */
    bool told;
    bool stalled; /* the last piece could not be written: one at a time is tried */
    natsSubscription *clock[2];
    struct worker *next;
} worker_t;

struct pt_collect_nats {
    perftrace__net_loop_t *loop;
    pt_collect_service_t *service;
    pt_collect_nats_options_t o;
    natsOptions *options;
    natsOptions *clock_options;
    natsConnection *nc;
    natsConnection *clock_nc; /* its own: a question does not wait behind pieces */
    jsCtx *js;
    pthread_t thread;
    pthread_mutex_t lock; /* of the list of workers */
    worker_t *workers;
    uint32_t stop;      /* atomic */
    uint32_t connected; /* atomic */
};

static bool is_stopped(const pt_collect_nats_t *n) {
    return pt_load_relaxed(&n->stop) != 0;
}

static void nap(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- the clock ---------------------------------------------------------------------------------
 */

/* On a thread of libnats. */
static void on_clock(natsConnection *nc, natsSubscription *sub, natsMsg *msg, void *closure) {
    uint64_t t2 = perftrace__os_mono_ns();
    pt_collect_nats_t *n = closure;
    perftrace__stream_message_t m;
    const char *problem;
    const char *reply = natsMsg_GetReply(msg);
    (void)sub;
    if (reply != NULL &&
        perftrace__stream_parse(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), &m,
                                &problem) &&
        m.type == PERFTRACE__STREAM_CLOCK) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        perftrace__stream_put_clock_answer(&out, m.t1, t2, perftrace__os_mono_ns(),
                                           n->service->ref);
        if (!out.failed) {
            (void)natsConnection_Publish(nc, reply, out.data, (int)out.len);
        }
        perftrace__strbuf_free(&out);
    }
    natsMsg_Destroy(msg);
}

/* One of several collectors answers. */
static void answer_clock(worker_t *w) {
    char subject[160];
    for (int i = 0; i < 2; i++) {
        snprintf(subject, sizeof subject, "perftrace.%s.clock%s%s", w->run, i > 0 ? "." : "",
                 i > 0 ? w->nats->service->ref : "");
        (void)natsConnection_QueueSubscribe(&w->clock[i], w->nats->clock_nc, subject, CONSUMER,
                                            on_clock, w->nats);
    }
}

/* ---- pieces, on the loop's thread --------------------------------------------------------------
 */

/* Several at once: changing threads for each would cost more than writing it. */
typedef struct handing {
    worker_t *worker;
    piece_t *piece;
    size_t count;
    bool look; /* only whether something before it is missing */
} handing_t;

static pt_collect_stream_t *stream_of(worker_t *w, piece_t *p) {
    pt_collect_service_t *s = w->nats->service;
    const perftrace__stream_key_t *key = &p->m.key;
    char name[65];
    bool limit = false;
    perftrace__stream_run_name(key->run, name);
    if (strcmp(name, w->run) != 0) {
        s->ended[PT_COLLECT_ENDED_RUN]++;
        p->result = PT_COLLECT_REFUSED;
        return NULL;
    }
    pt_collect_run_t *run = pt_collect_store_run(s->store, key->run);
    pt_collect_stream_t *stream =
        run != NULL ? pt_collect_store_stream(s->store, run, key, &limit) : NULL;
    p->result = PT_COLLECT_AGAIN; /* also beyond the limit: nothing is thrown away */
    if (limit && !w->told) {
        w->told = true;
        pt_warn("%s: there are more files than --max-streams allows: what comes of others waits",
                w->stream);
    }
    return stream;
}

static void hand_over_one(worker_t *w, piece_t *p, bool look) {
    pt_collect_store_t *store = w->nats->service->store;
    const perftrace__stream_message_t *m = &p->m;
    if (m->type == PERFTRACE__STREAM_NONE) {
        w->nats->service->ended[PT_COLLECT_ENDED_GARBAGE]++;
        p->result = PT_COLLECT_REFUSED;
        return;
    }
    pt_collect_stream_t *stream = stream_of(w, p);
    if (stream == NULL) {
        return;
    }
    if (look) {
        p->result =
            pt_collect_store_is_due(store, stream, m->offset) ? PT_COLLECT_WRITTEN : PT_COLLECT_GAP;
        return;
    }
    p->result =
        p->plain == NULL
            ? pt_collect_store_refuse(store, stream, m->offset, PT_COLLECT_REFUSED_UNPACK)
            : pt_collect_store_take(store, stream, m->offset, p->plain, (size_t)m->size, m->last);
}

/* What follows one that cannot be written is not tried. */
static void hand_over(void *ctx) {
    const handing_t *h = ctx;
    pt_collect_store_t *store = h->worker->nats->service->store;
    bool again = false, written = false;
    for (size_t i = 0; i < h->count && !again; i++) {
        hand_over_one(h->worker, &h->piece[i], h->look);
        again = h->piece[i].result == PT_COLLECT_AGAIN;
        written = written || (!h->look && h->piece[i].result == PT_COLLECT_WRITTEN);
    }
    if (written && store->o.sync && pt_collect_store_sync(store) != 0) {
        for (size_t i = 0; i < h->count; i++) {
            if (h->piece[i].result == PT_COLLECT_WRITTEN) {
                h->piece[i].result = PT_COLLECT_AGAIN;
            }
        }
    }
}

/* ---- pieces, on the worker's -------------------------------------------------------------------
 */

static bool read_message(natsMsg *msg, perftrace__stream_message_t *m, const char **packed,
                         const char **problem) {
    const char *data = natsMsg_GetData(msg);
    size_t len = (size_t)natsMsg_GetDataLength(msg);
    const char *eol = len > 0 ? memchr(data, '\n', len) : NULL;
    *problem = "a message without a line";
    if (eol == NULL) {
        memset(m, 0, sizeof *m);
        return false;
    }
    if (!perftrace__stream_parse(data, (size_t)(eol - data) + 1, m, problem)) {
        return false;
    }
    *packed = eol + 1;
    *problem = "a message that is no piece";
    return m->type == PERFTRACE__STREAM_DATA && m->packed == len - (size_t)(eol + 1 - data);
}

/* Reads a message, and unless it is only looked at unpacks it behind the *used bytes of others.
 * False: there is no room left for it. */
static bool prepare(worker_t *w, natsMsg *msg, bool look, piece_t *p, size_t *used) {
    const char *packed;
    const char *problem;
    p->plain = NULL;
    p->result = PT_COLLECT_AGAIN;
    if (!read_message(msg, &p->m, &packed, &problem)) {
        pt_warn("%s: %s is refused", w->stream, problem);
        p->m.type = PERFTRACE__STREAM_NONE;
        return true;
    }
    if (*used > 0 && p->m.size > PERFTRACE__STREAM_PIECE_MAX - *used) {
        return false;
    }
    if (!look &&
        (p->m.size == 0 || perftrace__stream_unpack(w->unpacker, packed, (size_t)p->m.packed,
                                                    w->plain + *used, (size_t)p->m.size))) {
        p->plain = w->plain + *used;
        *used += (size_t)p->m.size;
    }
    return true;
}

/* AGAIN: of all, also when it is to be stopped. */
static void hand(worker_t *w, piece_t *piece, size_t count, bool look) {
    handing_t h = {.worker = w, .piece = piece, .count = count, .look = look};
    (void)perftrace__net_loop_call(w->nats->loop, hand_over, &h);
}

/* What came of a message that was held. */
static pt_collect_result_t take(worker_t *w, natsMsg *msg, bool look) {
    size_t used = 0;
    piece_t *p = &w->piece[BATCH];
    (void)prepare(w, msg, look, p, &used);
    hand(w, p, 1, look);
    return p->result;
}

static void answer(const worker_t *w, natsMsg *msg, const char *text) {
    const char *reply = natsMsg_GetReply(msg);
    if (reply != NULL) {
        (void)natsConnection_PublishString(w->nats->nc, reply, text);
    }
}

/* For those that are held, and those of the batch from `from` on. */
static void ask_for_time(worker_t *w, int from) {
    uint64_t now = perftrace__os_mono_ns();
    if (now - w->progress_ns < PROGRESS_NS) {
        return;
    }
    w->progress_ns = now;
    for (size_t i = 0; i < w->held_count; i++) {
        answer(w, w->held[i].msg, "+WPI");
    }
    for (int i = from; i < w->count; i++) {
        if (w->list[i] != NULL) {
            answer(w, w->list[i], "+WPI");
        }
    }
}

/* Ends a message. */
static void settle(const worker_t *w, natsMsg *msg, pt_collect_result_t result) {
    bool done = result == PT_COLLECT_WRITTEN || result == PT_COLLECT_KNOWN;
    answer(w, msg, result == PT_COLLECT_REFUSED ? "+TERM" : done ? "+ACK" : "-NAK");
    natsMsg_Destroy(msg);
}

/* It comes again after a while. */
static void give_back(const worker_t *w, natsMsg *msg) {
    char text[64];
    snprintf(text, sizeof text, "-NAK {\"delay\": %d000000}", GIVE_BACK_MS);
    answer(w, msg, text);
    natsMsg_Destroy(msg);
}

static void hold(worker_t *w, natsMsg *msg, uint64_t stream) {
    size_t len = (size_t)natsMsg_GetDataLength(msg);
    if (w->held_bytes + len > HELD_BYTES || !PT_GROW(w, held, held_count, held_cap, 1)) {
        give_back(w, msg);
        return;
    }
    w->held[w->held_count++] = (held_t){msg, stream, len};
    w->held_bytes += len;
}

/* Those that wait, of one stream or (all) of each, as long as one of them goes through. */
static void try_held(worker_t *w, uint64_t stream, bool all) {
    for (bool again = true; again && !is_stopped(w->nats);) {
        size_t kept = 0;
        again = false;
        for (size_t i = 0; i < w->held_count; i++) {
            held_t h = w->held[i];
            pt_collect_result_t result = PT_COLLECT_GAP;
            if (all || h.stream == stream) {
                result = take(w, h.msg, true);
                result = result == PT_COLLECT_WRITTEN ? take(w, h.msg, false) : result;
            }
            if (result == PT_COLLECT_GAP || result == PT_COLLECT_AGAIN) {
                w->held[kept++] = h;
            } else {
                w->held_bytes -= h.len;
                settle(w, h.msg, result);
                again = true;
            }
        }
        w->held_count = kept;
    }
    pt_store_relaxed(&w->held_told, (uint64_t)w->held_count);
}

/* What cannot be written here may be by another collector, or a while later. */
static void give_rest_back(worker_t *w, int from) {
    w->stalled = true;
    for (int i = from; i < w->count; i++) {
        give_back(w, w->list[i]);
    }
    w->count = 0;
    for (int i = 0; i < STALL_MS / RETRY_MS && !is_stopped(w->nats); i++) {
        ask_for_time(w, 0);
        nap(RETRY_MS);
    }
}

/* Ends the messages of the batch from `from` on, whose pieces were handed over. False: one could
 * not be written, and the rest was given back. */
static bool settle_some(worker_t *w, int from, int count) {
    bool gap = false;
    for (int i = 0; i < count; i++) {
        pt_collect_result_t result = w->piece[i].result;
        uint64_t stream = w->piece[i].m.key.stream;
        if (result == PT_COLLECT_AGAIN) {
            give_rest_back(w, from + i);
            return false;
        }
        w->stalled = false;
        natsMsg *msg = w->list[from + i];
        w->list[from + i] = NULL;
        if (result == PT_COLLECT_GAP) {
            hold(w, msg, stream);
            gap = true;
        } else {
            settle(w, msg, result);
            if (w->held_count > 0) {
                try_held(w, stream, false);
            }
        }
    }
    if (gap) { /* what was missing may have gone through since it was found missing */
        try_held(w, 0, true);
    }
    return true;
}

static void take_batch(worker_t *w) {
    for (int from = 0, count; from < w->count; from += count) {
        size_t used = 0;
        count = 0;
        while (from + count < w->count &&
               prepare(w, w->list[from + count], false, &w->piece[count], &used)) {
            count++;
        }
        hand(w, w->piece, (size_t)count, false);
        if (!settle_some(w, from, count)) {
            return;
        }
        ask_for_time(w, from + count);
    }
    w->count = 0;
}

/* ---- asking for messages -----------------------------------------------------------------------
 */

static void ask(worker_t *w) {
    char subject[160], text[128];
    w->expected = w->stalled ? 1 : BATCH;
    w->asked_ns = perftrace__os_mono_ns();
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.%s." CONSUMER, w->stream);
    snprintf(text, sizeof text, "{\"batch\": %d, \"max_bytes\": %d, \"expires\": %llu}",
             w->expected, FETCH_BYTES, (unsigned long long)ASK_NS);
    if (natsConnection_PublishRequestString(w->nats->nc, subject, w->inbox, text) != NATS_OK) {
        w->expected = 0;
    }
}

/* A message that only tells of the request's end: it has a status in its header. */
static bool ends_request(natsMsg *msg) {
    const char *status = NULL;
    return natsMsg_GetDataLength(msg) == 0 && natsMsgHeader_Get(msg, "Status", &status) == NATS_OK;
}

/* What is there, or comes soon. Asks for more before it is needed: the server sends while we
 * write. */
static natsStatus fetch(worker_t *w) {
    natsStatus s = NATS_OK;
    w->count = 0;
    while (s == NATS_OK && w->count < BATCH) {
        int queued = 0;
        int bytes = 0;
        natsMsg *msg = NULL;
        if (w->expected <= 0 || perftrace__os_mono_ns() - w->asked_ns > LOST_NS) {
            ask(w);
        }
        if (w->count > 0 &&
            (natsSubscription_GetPending(w->sub, &queued, &bytes) != NATS_OK || queued == 0)) {
            return NATS_OK;
        }
        s = natsSubscription_NextMsg(&msg, w->sub, FETCH_MS);
        if (s == NATS_OK && ends_request(msg)) {
            natsMsg_Destroy(msg);
            w->expected = 0;
        } else if (s == NATS_OK) {
            w->list[w->count++] = msg;
            w->expected--;
        } else if (s != NATS_TIMEOUT) { /* nobody takes the request */
            w->expected = 0;
        }
    }
    return w->count > 0 ? NATS_OK : s;
}

/* ---- the server's stream and consumer ----------------------------------------------------------
 */

static void tell(worker_t *w, const char *what, natsStatus s, jsErrCode code) {
    if (!w->told) {
        w->told = true;
        pt_warn("%s: %s (%s, %d): it is tried again", w->stream, what, natsStatus_GetText(s),
                (int)code);
    }
}

/* Makes what is not there and begins to take. */
static bool subscribe(worker_t *w) {
    jsStreamInfo *si = NULL;
    jsConsumerInfo *ci = NULL;
    jsErrCode code = 0;
    char subject[128];
    const char *subjects[1] = {subject};
    snprintf(subject, sizeof subject, "perftrace.%s.data.>", w->run);
    natsStatus s = js_GetStreamInfo(&si, w->nats->js, w->stream, NULL, &code);
    if (s == NATS_NOT_FOUND) {
        jsStreamConfig c;
        jsStreamConfig_Init(&c);
        c.Name = w->stream;
        c.Subjects = subjects;
        c.SubjectsLen = 1;
        c.Storage = js_FileStorage;
        c.Replicas = (int64_t)w->nats->o.replicas;
        s = js_AddStream(&si, w->nats->js, &c, NULL, &code);
    }
    if (s != NATS_OK) {
        tell(w, "the server's stream cannot be used", s, code);
        return false;
    }
    s = js_GetConsumerInfo(&ci, w->nats->js, w->stream, CONSUMER, NULL, &code);
    if (s == NATS_NOT_FOUND) {
        jsConsumerConfig c;
        jsConsumerConfig_Init(&c);
        c.Durable = CONSUMER;
        c.AckPolicy = js_AckExplicit;
        c.AckWait = ACK_WAIT_NS;
        c.MaxAckPending = ACK_PENDING;
        s = js_AddConsumer(&ci, w->nats->js, w->stream, &c, NULL, &code);
    }
    if (s == NATS_OK) {
        natsInbox_Destroy(w->inbox);
        w->inbox = NULL;
        w->expected = 0;
        s = natsInbox_Create(&w->inbox);
        s = s == NATS_OK ? natsConnection_SubscribeSync(&w->sub, w->nats->nc, w->inbox) : s;
    }
    if (s == NATS_OK) {
        (void)natsSubscription_SetPendingLimits(w->sub, -1, -1);
        w->told = false;
    } else {
        tell(w, "the server's consumer cannot be used", s, code);
    }
    jsStreamInfo_Destroy(si);
    jsConsumerInfo_Destroy(ci);
    return s == NATS_OK;
}

/* Whether anything is on its way to anybody. False: the server does not know the consumer. */
static bool look_whether_empty(worker_t *w) {
    jsConsumerInfo *ci = NULL;
    jsErrCode code = 0;
    natsStatus s = js_GetConsumerInfo(&ci, w->nats->js, w->stream, CONSUMER, NULL, &code);
    bool empty = s == NATS_OK && ci->NumPending == 0 && ci->NumAckPending == 0;
    jsConsumerInfo_Destroy(ci);
    pt_store_relaxed(&w->empty, empty);
    return s != NATS_NOT_FOUND;
}

static void work(worker_t *w) {
    natsStatus s = fetch(w);
    if (s == NATS_OK) {
        pt_store_relaxed(&w->empty, 0);
        take_batch(w);
        return;
    }
    ask_for_time(w, 0);
    if (w->held_count > 0) {
        try_held(w, 0, true);
    }
    if (s != NATS_TIMEOUT) {
        nap(RETRY_MS);
    }
    if (!look_whether_empty(w)) {
        natsSubscription_Destroy(w->sub);
        w->sub = NULL;
    }
}

static void *run_worker(void *arg) {
    worker_t *w = arg;
    while (!is_stopped(w->nats)) {
        if (w->sub != NULL) {
            work(w);
        } else if (!subscribe(w)) {
            nap(RETRY_MS);
        }
    }
    for (size_t i = 0; i < w->held_count; i++) {
        settle(w, w->held[i].msg, PT_COLLECT_AGAIN);
    }
    if (w->sub != NULL) { /* what came and was not taken is the next collector's */
        natsMsg *msg = NULL;
        while (natsSubscription_NextMsg(&msg, w->sub, 1) == NATS_OK) {
            settle(w, msg, PT_COLLECT_AGAIN);
        }
    }
    natsSubscription_Destroy(w->sub);
    return NULL;
}

static void free_worker(worker_t *w) {
    perftrace__stream_unpacker_free(w->unpacker);
    free(w->plain);
    free(w->piece);
    free(w->held);
    natsInbox_Destroy(w->inbox);
    free(w->stream);
    free(w);
}

/* A thread for a stream of the server, where there is none yet. */
static void start_worker(pt_collect_nats_t *n, const char *stream) {
    for (const worker_t *w = n->workers; w != NULL; w = w->next) {
        if (strcmp(w->stream, stream) == 0) {
            return;
        }
    }
    worker_t *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return;
    }
    w->nats = n;
    w->stream = strdup(stream);
    w->run = w->stream != NULL ? w->stream + strlen(STREAM_PREFIX) : NULL;
    w->unpacker = perftrace__stream_unpacker_new();
    w->plain = malloc(PERFTRACE__STREAM_PIECE_MAX);
    w->piece = calloc(BATCH + 1, sizeof *w->piece);
    if (w->stream == NULL || w->unpacker == NULL || w->plain == NULL || w->piece == NULL ||
        pthread_create(&w->thread, NULL, run_worker, w) != 0) {
        free_worker(w);
        return;
    }
    answer_clock(w);
    pthread_mutex_lock(&n->lock);
    w->next = n->workers;
    n->workers = w;
    pthread_mutex_unlock(&n->lock);
}

/* ---- connecting --------------------------------------------------------------------------------
 */

static void on_disconnected(natsConnection *nc, void *closure) {
    pt_collect_nats_t *n = closure;
    (void)nc;
    if (!is_stopped(n)) {
        pt_store_relaxed(&n->connected, 0);
        pt_warn("the connection to the NATS server is lost; it is tried again");
    }
}

static void tell_connected(natsConnection *nc, const char *what) {
    char url[1024] = "";
    char shown[1024];
    (void)natsConnection_GetConnectedUrl(nc, url, sizeof url); /* with its password */
    perftrace__address_shown(url, shown, sizeof shown);
    pt_note("%s %s", what, shown);
}

static void on_reconnected(natsConnection *nc, void *closure) {
    pt_collect_nats_t *n = closure;
    pt_store_relaxed(&n->connected, 1);
    tell_connected(nc, "connected again to");
}

/* A slow consumer and the like: what is lost comes again. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *closure) {
    (void)nc;
    (void)sub;
    (void)closure;
    pt_detail("NATS: %s", natsStatus_GetText(s));
}

static natsStatus set_tls(natsOptions *opts, const pt_collect_nats_options_t *o) {
    natsStatus s = NATS_OK;
    bool tls = o->tls_ca != NULL || o->tls_cert != NULL;
    for (size_t i = 0; i < o->urls->count; i++) {
        tls = tls || strncmp(o->urls->items[i], "tls://", 6) == 0;
    }
    if (tls) {
        s = natsOptions_SetSecure(opts, true);
    }
    if (s == NATS_OK && o->tls_ca != NULL) {
        s = natsOptions_LoadCATrustedCertificates(opts, o->tls_ca);
    }
    if (s == NATS_OK && o->tls_cert != NULL) {
        s = natsOptions_LoadCertificatesChain(opts, o->tls_cert,
                                              o->tls_key != NULL ? o->tls_key : o->tls_cert);
    }
    return s;
}

static natsStatus make_options(pt_collect_nats_t *n, bool clock, natsOptions **ret) {
    const pt_collect_nats_options_t *o = &n->o;
    natsStatus s = natsOptions_Create(ret);
    natsOptions *opts = *ret;
    s = s == NATS_OK
            ? natsOptions_SetServers(opts, (const char **)o->urls->items, (int)o->urls->count)
            : s;
    s = s == NATS_OK ? natsOptions_SetName(opts, "perf-trace-collect") : s;
    s = s == NATS_OK ? natsOptions_SetMaxReconnect(opts, -1) : s;
    s = s == NATS_OK ? natsOptions_SetReconnectWait(opts, RETRY_MS) : s;
    s = s == NATS_OK ? natsOptions_SetPingInterval(opts, 5000) : s;
    s = s == NATS_OK ? natsOptions_SetTimeout(opts, REPLY_MS) : s;
    s = s == NATS_OK ? natsOptions_SetErrorHandler(opts, on_error, n) : s;
    s = s == NATS_OK ? set_tls(opts, o) : s;
    if (s == NATS_OK && o->creds != NULL) {
        s = natsOptions_SetUserCredentialsFromFiles(opts, o->creds, NULL);
    }
    if (s == NATS_OK && o->token != NULL && o->token[0] != '\0') {
        s = natsOptions_SetToken(opts, o->token);
    }
    if (s == NATS_OK && clock) {
        s = natsOptions_SetSendAsap(opts, true);
    } else if (s == NATS_OK) {
        s = natsOptions_SetDisconnectedCB(opts, on_disconnected, n);
        s = s == NATS_OK ? natsOptions_SetReconnectedCB(opts, on_reconnected, n) : s;
    }
    return s;
}

static bool connect_all(pt_collect_nats_t *n) {
    bool told = false;
    while (!is_stopped(n)) {
        natsStatus s = n->nc == NULL ? natsConnection_Connect(&n->nc, n->options) : NATS_OK;
        s = s == NATS_OK && n->clock_nc == NULL
                ? natsConnection_Connect(&n->clock_nc, n->clock_options)
                : s;
        s = s == NATS_OK ? natsConnection_JetStream(&n->js, n->nc, NULL) : s;
        if (s == NATS_OK) {
            pt_store_relaxed(&n->connected, 1);
            tell_connected(n->nc, "connected to");
            return true;
        }
        if (!told) {
            told = true;
            pt_warn("no NATS server is reached (%s); it is tried again", natsStatus_GetText(s));
        }
        nap(RETRY_MS);
    }
    return false;
}

static void look_for_streams(pt_collect_nats_t *n) {
    jsStreamNamesList *list = NULL;
    jsErrCode code = 0;
    if (n->o.runs->count > 0) {
        for (size_t i = 0; i < n->o.runs->count; i++) {
            char name[65], stream[80];
            perftrace__stream_run_name(n->o.runs->items[i], name);
            snprintf(stream, sizeof stream, STREAM_PREFIX "%s", name);
            start_worker(n, stream);
        }
    } else if (js_StreamNames(&list, n->js, NULL, &code) == NATS_OK) {
        for (int i = 0; i < list->Count; i++) {
            if (strncmp(list->List[i], STREAM_PREFIX, strlen(STREAM_PREFIX)) == 0) {
                start_worker(n, list->List[i]);
            }
        }
        jsStreamNamesList_Destroy(list);
    }
}

static void *run_nats(void *arg) {
    pt_collect_nats_t *n = arg;
    if (!connect_all(n)) {
        return NULL;
    }
    while (!is_stopped(n)) {
        look_for_streams(n);
        for (int i = 0; i < LIST_MS / RETRY_MS && !is_stopped(n); i++) {
            nap(RETRY_MS);
        }
    }
    return NULL;
}

/* libnats may call back until it is closed. */
static void free_nats(pt_collect_nats_t *n) {
    for (worker_t *w = n->workers; w != NULL; w = w->next) {
        for (int i = 0; i < 2; i++) {
            natsSubscription_Destroy(w->clock[i]);
        }
    }
    jsCtx_Destroy(n->js);
    natsConnection_Destroy(n->nc);
    natsConnection_Destroy(n->clock_nc);
    natsOptions_Destroy(n->options);
    natsOptions_Destroy(n->clock_options);
    (void)nats_CloseAndWait(2000);
    for (worker_t *w = n->workers, *next; w != NULL; w = next) {
        next = w->next;
        free_worker(w);
    }
    pthread_mutex_destroy(&n->lock);
    free(n);
}

pt_collect_nats_t *pt_collect_nats_start(perftrace__net_loop_t *loop, pt_collect_service_t *service,
                                         const pt_collect_nats_options_t *options,
                                         const char **ret_problem) {
    pt_collect_nats_t *n = calloc(1, sizeof *n);
    if (n == NULL) {
        *ret_problem = "out of memory";
        return NULL;
    }
    n->loop = loop;
    n->service = service;
    n->o = *options;
    pthread_mutex_init(&n->lock, NULL);
    natsStatus s = make_options(n, false, &n->options);
    s = s == NATS_OK ? make_options(n, true, &n->clock_options) : s;
    *ret_problem = s != NATS_OK ? nats_GetLastError(NULL) : "no thread can be started";
    if (s != NATS_OK || pthread_create(&n->thread, NULL, run_nats, n) != 0) {
        free_nats(n);
        return NULL;
    }
    return n;
}

void pt_collect_nats_stop(pt_collect_nats_t *n) {
    if (n == NULL) {
        return;
    }
    pt_store_relaxed(&n->stop, 1);
    pthread_join(n->thread, NULL);
    for (worker_t *w = n->workers; w != NULL; w = w->next) {
        pthread_join(w->thread, NULL);
    }
    if (n->nc != NULL) {
        (void)natsConnection_FlushTimeout(n->nc, 2000); /* acknowledgements */
    }
    free_nats(n);
}

bool pt_collect_nats_is_connected(const pt_collect_nats_t *n) {
    return pt_load_relaxed(&n->connected) != 0;
}

bool pt_collect_nats_is_empty(const pt_collect_nats_t *n) {
    pt_collect_nats_t *mine = (pt_collect_nats_t *)(uintptr_t)n;
    pthread_mutex_lock(&mine->lock);
    bool empty = n->workers != NULL;
    for (const worker_t *w = n->workers; w != NULL; w = w->next) {
        empty = empty && pt_load_relaxed(&w->empty) != 0;
    }
    pthread_mutex_unlock(&mine->lock);
    return empty;
}

uint64_t pt_collect_nats_held(const pt_collect_nats_t *n) {
    pt_collect_nats_t *mine = (pt_collect_nats_t *)(uintptr_t)n;
    uint64_t held = 0;
    pthread_mutex_lock(&mine->lock);
    for (const worker_t *w = n->workers; w != NULL; w = w->next) {
        held += pt_load_relaxed(&w->held_told);
    }
    pthread_mutex_unlock(&mine->lock);
    return held;
}
