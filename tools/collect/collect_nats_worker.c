/* collect_nats_worker.c: what a worker takes from the server, and who asks it for the time.
 * SPDX-License-Identifier: MIT */
#include "collect_nats_worker.h"

#include "message.h"
#include "os.h"

#include <time.h>

/* What a collector that was killed had in hand comes again to the others after this time. */
#define ACK_WAIT_NS INT64_C(10000000000)
/* Messages that all collectors together have in hand. Those that wait for what is missing count,
 * so it is many. */
#define ACK_PENDING 20000
#define FETCH_BYTES (8 << 20)            /* of a batch, packed; no message is larger */
#define FETCH_MS    100                  /* for the first message of a batch */
#define ASK_NS      UINT64_C(1000000000) /* how long the server keeps a request */
#define LOST_NS     UINT64_C(3000000000) /* then one without an answer is lost */

void pt_nats_nap(long ms) {
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

/* One of several collectors does. */
void pt_nats_answer_clock(pt_nats_worker_t *w) {
    char subject[160];
    for (int i = 0; i < 2; i++) {
        snprintf(subject, sizeof subject, "perftrace.%s.clock%s%s", w->run, i > 0 ? "." : "",
                 i > 0 ? w->nats->service->ref : "");
        (void)natsConnection_QueueSubscribe(&w->clock[i], w->nats->clock_nc, subject,
                                            PT_NATS_CONSUMER, on_clock, w->nats);
    }
}

/* ---- asking for messages -----------------------------------------------------------------------
 */

static void ask(pt_nats_worker_t *w) {
    char subject[160], text[128];
    w->expected = w->stalled ? 1 : PT_NATS_BATCH;
    w->asked_ns = perftrace__os_mono_ns();
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.%s." PT_NATS_CONSUMER, w->stream);
    snprintf(text, sizeof text, "{\"batch\": %d, \"max_bytes\": %d, \"expires\": %llu}",
             w->expected, FETCH_BYTES, (unsigned long long)ASK_NS);
    if (natsConnection_PublishRequestString(w->nats->nc, subject, w->inbox, text) != NATS_OK) {
        w->expected = 0;
    }
}

/* A message that only tells of the request's end: it is for the inbox, and no message of the
 * stream. (A status in its header those may have, too.) */
static bool ends_request(const pt_nats_worker_t *w, const natsMsg *msg) {
    return strcmp(natsMsg_GetSubject(msg), w->inbox) == 0;
}

static bool has_queued(const pt_nats_worker_t *w) {
    int queued = 0;
    int bytes = 0;
    return natsSubscription_GetPending(w->sub, &queued, &bytes) == NATS_OK && queued > 0;
}

/* Takes a message into the batch, or waits for one. */
static natsStatus take_next(pt_nats_worker_t *w) {
    natsMsg *msg = NULL;
    natsStatus s = natsSubscription_NextMsg(&msg, w->sub, FETCH_MS);
    if (s == NATS_OK && ends_request(w, msg)) {
        natsMsg_Destroy(msg);
        w->expected = 0;
    } else if (s == NATS_OK) {
        w->list[w->count++] = msg;
        w->expected--;
    } else if (s != NATS_TIMEOUT) { /* nobody takes the request */
        w->expected = 0;
    }
    return s;
}

void pt_nats_take_queued(pt_nats_worker_t *w) {
    while (w->count < (int)PT_ARRAY_LEN(w->list) && has_queued(w) && take_next(w) == NATS_OK) {
    }
}

/* What is there, or comes soon. Asks for more before it is needed: the server sends while we
 * write. */
static natsStatus fetch(pt_nats_worker_t *w) {
    natsStatus s = NATS_OK;
    w->count = 0;
    while (s == NATS_OK && w->count < PT_NATS_BATCH) {
        if (w->expected <= 0 || perftrace__os_mono_ns() - w->asked_ns > LOST_NS) {
            ask(w);
        }
        if (w->count > 0 && !has_queued(w)) {
            return NATS_OK;
        }
        s = take_next(w);
    }
    return w->count > 0 ? NATS_OK : s;
}

/* ---- the server's stream and consumer ----------------------------------------------------------
 */

static void tell(pt_nats_worker_t *w, const char *what, natsStatus s, jsErrCode code) {
    if (!w->told) {
        w->told = true;
        pt_warn("%s: %s (%s, %d): it is tried again", w->stream, what, natsStatus_GetText(s),
                (int)code);
    }
}

/* Makes what is not there and begins to take. */
static bool subscribe(pt_nats_worker_t *w) {
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
    s = js_GetConsumerInfo(&ci, w->nats->js, w->stream, PT_NATS_CONSUMER, NULL, &code);
    if (s == NATS_NOT_FOUND) {
        jsConsumerConfig c;
        jsConsumerConfig_Init(&c);
        c.Durable = PT_NATS_CONSUMER;
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
static bool look_whether_empty(pt_nats_worker_t *w) {
    jsConsumerInfo *ci = NULL;
    jsErrCode code = 0;
    natsStatus s = js_GetConsumerInfo(&ci, w->nats->js, w->stream, PT_NATS_CONSUMER, NULL, &code);
    bool empty = s == NATS_OK && ci->NumPending == 0 && ci->NumAckPending == 0;
    jsConsumerInfo_Destroy(ci);
    pt_store_relaxed(&w->empty, empty);
    return s != NATS_NOT_FOUND;
}

/* Files were removed of which the server thinks that they were taken. It still has what it gave: a
 * consumer that is made anew is given all of it again, and knows what it has. */
static void take_all_again(pt_nats_worker_t *w) {
    jsErrCode code = 0;
    natsStatus s = js_DeleteConsumer(w->nats->js, w->stream, PT_NATS_CONSUMER, NULL, &code);
    if (s != NATS_OK && s != NATS_NOT_FOUND) {
        tell(w, "the server's consumer cannot be made anew", s, code);
        pt_nats_nap(PT_NATS_RETRY_MS);
        return;
    }
    pt_note("%s: the server is asked for all again", w->stream);
    w->gone = w->gone_seen;
    for (size_t i = 0; i < w->held_count; i++) {
        natsMsg_Destroy(w->held[i].msg);
    }
    w->held_count = w->held_bytes = 0;
    pt_store_relaxed(&w->held_told, 0);
    pt_store_relaxed(&w->empty, 0);
    natsSubscription_Destroy(w->sub);
    w->sub = NULL;
}

static void work(pt_nats_worker_t *w) {
    pt_nats_look_for_gone(w);
    if (w->gone != w->gone_seen) {
        take_all_again(w);
        return;
    }
    natsStatus s = fetch(w);
    if (s == NATS_OK) {
        pt_store_relaxed(&w->empty, 0);
        pt_nats_take_batch(w);
        return;
    }
    pt_nats_ask_for_time(w);
    if (w->held_count > 0) {
        pt_nats_try_held(w, 0, true);
    }
    if (s != NATS_TIMEOUT) {
        pt_nats_nap(PT_NATS_RETRY_MS);
    }
    if (!look_whether_empty(w)) {
        natsSubscription_Destroy(w->sub);
        w->sub = NULL;
    }
}

void *pt_nats_worker_main(void *arg) {
    pt_nats_worker_t *w = arg;
    while (!pt_nats_is_stopped(w->nats)) {
        if (w->sub != NULL) {
            work(w);
        } else if (!subscribe(w)) {
            pt_nats_nap(PT_NATS_RETRY_MS);
        }
    }
    for (size_t i = 0; i < w->held_count; i++) {
        pt_nats_settle(w, w->held[i].msg, PT_COLLECT_AGAIN);
    }
    if (w->sub != NULL) { /* what came and was not taken is the next collector's */
        natsMsg *msg = NULL;
        while (natsSubscription_NextMsg(&msg, w->sub, 1) == NATS_OK) {
            pt_nats_settle(w, msg, PT_COLLECT_AGAIN);
        }
    }
    natsSubscription_Destroy(w->sub);
    return NULL;
}
