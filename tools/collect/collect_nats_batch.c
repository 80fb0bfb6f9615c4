/* collect_nats_batch.c: messages of NATS, from the server's hand to the store and back.
 * SPDX-License-Identifier: MIT */
#include "collect_nats_worker.h"
#include "grow.h"
#include "message.h"
#include "os.h"

/* So long that time is asked for in between; see the acknowledgement's in collect_nats_worker.c. */
#define PROGRESS_NS  UINT64_C(3000000000)
#define STALL_MS     1000
#define HELD_BYTES   (32u << 20) /* a worker's; what is more goes back to the server for a while */
#define GIVE_BACK_MS 2000
/* The loop serves others, too: on a slow disk a batch goes to it in several turns. */
#define TURN_NS UINT64_C(250000000)

/* ---- pieces, on the loop's thread --------------------------------------------------------------
 */

/* Several at once: changing threads for each would cost more than writing it. */
typedef struct handing {
    pt_nats_worker_t *worker;
    pt_nats_piece_t *piece;
    size_t count;
    size_t done; /* those before it were tried, or are not to be */
    bool look;   /* only whether something before it is missing */
} handing_t;

/* What is wrong with a message whatever is here already: such a one leaves no trace but its count.
 * Who may publish is not always who should. */
static bool refuse(const pt_nats_worker_t *w, pt_nats_piece_t *p, bool look) {
    pt_collect_store_t *store = w->nats->service->store;
    const perftrace__stream_message_t *m = &p->m;
    char name[65];
    perftrace__stream_run_name(m->key.run, name);
    if (p->problem != NULL) {
        p->result = pt_collect_store_refuse_message(store, w->stream, PT_COLLECT_REFUSED_GARBAGE,
                                                    p->problem);
    } else if (strcmp(name, w->run) != 0) {
        p->result = pt_collect_store_refuse_message(store, w->stream, PT_COLLECT_REFUSED_RUN, NULL);
    } else if (!look && p->plain == NULL) {
        p->result = pt_collect_store_refuse(store, &m->key, m->offset, PT_COLLECT_REFUSED_UNPACK);
    } else if (!look && !pt_collect_store_is_whole(p->plain, (size_t)m->size)) {
        p->result = pt_collect_store_refuse(store, &m->key, m->offset, PT_COLLECT_REFUSED_LINE);
    }
    return p->result == PT_COLLECT_REFUSED;
}

/* NULL: there is no room for it. */
static pt_collect_stream_t *stream_of(pt_nats_worker_t *w, const pt_nats_piece_t *p) {
    pt_collect_service_t *s = w->nats->service;
    const perftrace__stream_key_t *key = &p->m.key;
    bool limit = false;
    pt_collect_run_t *run = pt_collect_store_run(s->store, key->run);
    pt_collect_stream_t *stream =
        run != NULL ? pt_collect_store_stream(s->store, run, key, &limit) : NULL;
    if (stream == NULL && !w->crowded) {
        w->crowded = true;
        pt_warn("%s: %s: what comes of others waits with the server", w->stream,
                limit ? "there are more files than --max-streams allows"
                : run == NULL && pt_collect_store_has_many_runs(s->store)
                    ? "there are more runs than --max-streams allows"
                    : "out of memory");
    }
    return stream;
}

static void hand_over_one(pt_nats_worker_t *w, pt_nats_piece_t *p, bool look) {
    pt_collect_store_t *store = w->nats->service->store;
    const perftrace__stream_message_t *m = &p->m;
    if (refuse(w, p, look)) {
        return;
    }
    pt_collect_stream_t *stream = stream_of(w, p);
    p->no_room = stream == NULL;
    if (stream == NULL) { /* AGAIN: nothing is thrown away */
        return;
    }
    if (look) {
        p->result =
            pt_collect_store_is_due(store, stream, m->offset) ? PT_COLLECT_WRITTEN : PT_COLLECT_GAP;
        return;
    }
    perftrace__stream_key_t before = stream->key;
    if (!pt_collect_store_learn(store, stream, &m->key)) {
        p->result = pt_collect_store_refuse_message(store, w->stream, PT_COLLECT_REFUSED_GARBAGE,
                                                    PT_COLLECT_OTHER_KIND);
        return;
    }
    p->result = pt_collect_store_take(store, stream, m->offset, p->plain, (size_t)m->size, m->last);
    if (p->result != PT_COLLECT_WRITTEN && p->result != PT_COLLECT_KNOWN) {
        stream->key = before;
    }
}

static void look_for_gone(void *ctx) {
    pt_nats_worker_t *w = ctx;
    for (const pt_collect_run_t *run = w->nats->service->store->runs; run != NULL;
         run = run->next) {
        w->gone_seen = strcmp(run->name, w->run) == 0 ? run->gone : w->gone_seen;
    }
}

void pt_nats_look_for_gone(pt_nats_worker_t *w) {
    (void)perftrace__net_loop_call(w->nats->loop, look_for_gone, w);
}

/* What follows one that cannot be written is not tried. One that finds no room holds up nobody. */
static void hand_over(void *ctx) {
    handing_t *h = ctx;
    pt_collect_store_t *store = h->worker->nats->service->store;
    const size_t first = h->done;
    const uint64_t end_ns = perftrace__os_mono_ns() + TURN_NS;
    bool again = false, written = false, late = false;
    while (h->done < h->count && !again && !late) {
        pt_nats_piece_t *p = &h->piece[h->done++];
        hand_over_one(h->worker, p, h->look);
        again = p->result == PT_COLLECT_AGAIN && !p->no_room;
        written = written || (!h->look && p->result == PT_COLLECT_WRITTEN);
        late = perftrace__os_mono_ns() >= end_ns;
    }
    if (written && store->o.sync && pt_collect_store_sync(store) != 0) {
        for (size_t i = first; i < h->done; i++) {
            if (h->piece[i].result == PT_COLLECT_WRITTEN) {
                h->piece[i].result = PT_COLLECT_AGAIN;
            }
        }
        again = true;
    }
    h->done = again ? h->count : h->done;
}

/* ---- pieces, on the worker's -------------------------------------------------------------------
 */

static bool read_message(natsMsg *msg, perftrace__stream_message_t *m, const char **packed,
                         const char **problem) {
    const char *data = natsMsg_GetData(msg);
    size_t len = (size_t)natsMsg_GetDataLength(msg);
    const char *eol = len > 0 ? memchr(data, '\n', len) : NULL;
    *problem = "it has no line";
    if (eol == NULL) {
        memset(m, 0, sizeof *m);
        return false;
    }
    if (!perftrace__stream_parse(data, (size_t)(eol - data) + 1, m, problem)) {
        return false;
    }
    *packed = eol + 1;
    *problem = m->type != PERFTRACE__STREAM_DATA             ? "another type"
               : m->version > PERFTRACE__STREAM_VERSION      ? "another version"
               : m->packed != len - (size_t)(eol + 1 - data) ? "it is not as long as it says"
                                                             : NULL;
    return *problem == NULL;
}

/* Reads a message, and unless it is only looked at unpacks it behind the *used bytes of others.
 * False: there is no room left for it. */
static bool prepare(pt_nats_worker_t *w, natsMsg *msg, bool look, pt_nats_piece_t *p,
                    size_t *used) {
    const char *packed;
    const char *problem = NULL;
    p->plain = NULL;
    p->problem = NULL;
    p->result = PT_COLLECT_AGAIN;
    p->no_room = false;
    if (!read_message(msg, &p->m, &packed, &problem)) {
        p->problem = problem;
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

static void answer(const pt_nats_worker_t *w, natsMsg *msg, const char *text) {
    const char *reply = natsMsg_GetReply(msg);
    if (reply != NULL) {
        (void)natsConnection_PublishString(w->nats->nc, reply, text);
    }
}

void pt_nats_ask_for_time(pt_nats_worker_t *w) {
    uint64_t now = perftrace__os_mono_ns();
    if (now - w->progress_ns < PROGRESS_NS) {
        return;
    }
    w->progress_ns = now;
    for (size_t i = 0; i < w->held_count; i++) {
        answer(w, w->held[i].msg, "+WPI");
    }
    for (int i = 0; i < w->count; i++) {
        if (w->list[i] != NULL) {
            answer(w, w->list[i], "+WPI");
        }
    }
}

/* To the loop's thread. AGAIN: of all that it does not come to, when it is to be stopped, too. */
static void hand(pt_nats_worker_t *w, pt_nats_piece_t *piece, size_t count, bool look) {
    handing_t h = {.worker = w, .piece = piece, .count = count, .look = look};
    while (h.done < count && !pt_nats_is_stopped(w->nats) &&
           perftrace__net_loop_call(w->nats->loop, hand_over, &h)) {
        if (h.done < count) { /* it takes long: for those behind them, too */
            pt_nats_take_queued(w);
        }
        pt_nats_ask_for_time(w);
    }
}

/* What came of a message that was held. */
static pt_collect_result_t take(pt_nats_worker_t *w, natsMsg *msg, bool look) {
    size_t used = 0;
    pt_nats_piece_t *p = &w->piece[PT_NATS_BATCH];
    (void)prepare(w, msg, look, p, &used);
    hand(w, p, 1, look);
    return p->result;
}

void pt_nats_settle(const pt_nats_worker_t *w, natsMsg *msg, pt_collect_result_t result) {
    bool done = result == PT_COLLECT_WRITTEN || result == PT_COLLECT_KNOWN;
    answer(w, msg, result == PT_COLLECT_REFUSED ? "+TERM" : done ? "+ACK" : "-NAK");
    natsMsg_Destroy(msg);
}

/* It comes again after a while. */
static void give_back(const pt_nats_worker_t *w, natsMsg *msg) {
    char text[64];
    snprintf(text, sizeof text, "-NAK {\"delay\": %d000000}", GIVE_BACK_MS);
    answer(w, msg, text);
    natsMsg_Destroy(msg);
}

static void hold(pt_nats_worker_t *w, natsMsg *msg, uint64_t stream) {
    size_t len = (size_t)natsMsg_GetDataLength(msg);
    if (w->held_bytes + len > HELD_BYTES || !PT_GROW(w, held, held_count, held_cap, 1)) {
        give_back(w, msg);
        return;
    }
    w->held[w->held_count++] = (pt_nats_held_t){msg, stream, len};
    w->held_bytes += len;
}

void pt_nats_try_held(pt_nats_worker_t *w, uint64_t stream, bool all) {
    for (bool again = true; again && !pt_nats_is_stopped(w->nats);) {
        size_t kept = 0;
        again = false;
        for (size_t i = 0; i < w->held_count; i++) {
            pt_nats_held_t h = w->held[i];
            pt_collect_result_t result = PT_COLLECT_GAP;
            if (all || h.stream == stream) {
                result = take(w, h.msg, true);
                result = result == PT_COLLECT_WRITTEN ? take(w, h.msg, false) : result;
            }
            if (result == PT_COLLECT_GAP || result == PT_COLLECT_AGAIN) {
                w->held[kept++] = h;
            } else {
                w->held_bytes -= h.len;
                pt_nats_settle(w, h.msg, result);
                again = true;
            }
        }
        w->held_count = kept;
    }
    pt_store_relaxed(&w->held_told, (uint64_t)w->held_count);
}

/* What cannot be written here may be by another collector, or a while later. */
static void give_rest_back(pt_nats_worker_t *w, int from) {
    w->stalled = true;
    for (int i = from; i < w->count; i++) {
        give_back(w, w->list[i]);
    }
    w->count = 0;
    for (int i = 0; i < STALL_MS / PT_NATS_RETRY_MS && !pt_nats_is_stopped(w->nats); i++) {
        pt_nats_ask_for_time(w);
        pt_nats_nap(PT_NATS_RETRY_MS);
    }
}

/* Ends the messages of the batch from `from` on, whose pieces were handed over. False: one could
 * not be written, and the rest was given back. */
static bool settle_some(pt_nats_worker_t *w, int from, int count) {
    bool gap = false;
    for (int i = 0; i < count; i++) {
        pt_collect_result_t result = w->piece[i].result;
        uint64_t stream = w->piece[i].m.key.stream;
        natsMsg *msg = w->list[from + i];
        if (result == PT_COLLECT_AGAIN && !w->piece[i].no_room) {
            give_rest_back(w, from + i);
            return false;
        }
        w->list[from + i] = NULL;
        if (result == PT_COLLECT_AGAIN) {
            give_back(w, msg);
            continue;
        }
        w->stalled = false;
        if (result == PT_COLLECT_GAP) {
            hold(w, msg, stream);
            gap = true;
        } else {
            pt_nats_settle(w, msg, result);
            if (w->held_count > 0) {
                pt_nats_try_held(w, stream, false);
            }
        }
    }
    if (gap) { /* what was missing may have gone through since it was found missing */
        pt_nats_try_held(w, 0, true);
    }
    return true;
}

void pt_nats_take_batch(pt_nats_worker_t *w) {
    for (int from = 0, count; from < w->count; from += count) {
        size_t used = 0;
        count = 0;
        while (from + count < w->count && count < PT_NATS_BATCH &&
               prepare(w, w->list[from + count], false, &w->piece[count], &used)) {
            count++;
        }
        hand(w, w->piece, (size_t)count, false);
        if (!settle_some(w, from, count)) {
            return;
        }
        pt_nats_ask_for_time(w);
    }
    w->count = 0;
}
