/* collect_nats_worker.h: one run's stream of a NATS server, taken by one thread.
 * SPDX-License-Identifier: MIT
 *
 * For the collect_nats files alone, the only ones of the tools that know libnats. Messages are
 * asked for and answered by hand (docs.nats.io, "JetStream wire API"): natsSubscription_Fetch of
 * libnats 3.4 writes behind the end of its list when messages of an earlier request are still on
 * their way. */
#ifndef PERFTRACE_TOOL_COLLECT_NATS_WORKER_H
#define PERFTRACE_TOOL_COLLECT_NATS_WORKER_H

#include "atomics.h"
#include "collect_nats.h"

#include <nats/nats.h>
#include <pthread.h>

#define PT_NATS_STREAM_PREFIX "perftrace_"
#define PT_NATS_CONSUMER      "collect"
#define PT_NATS_BATCH         256
#define PT_NATS_RETRY_MS      250

/* A message on its way to the loop's thread. */
typedef struct piece {
    perftrace__stream_message_t m;
    const char *plain;   /* NULL: it does not unpack, or is only looked at */
    const char *problem; /* why it is no piece; NULL: it is one */
    pt_collect_result_t result;
    bool no_room; /* AGAIN, but only of its stream: there is no room for it here */
} pt_nats_piece_t;

typedef struct held {
    natsMsg *msg;
    uint64_t stream;
    size_t len;
} pt_nats_held_t;

typedef struct pt_nats_worker {
    pt_collect_nats_t *nats;
    char *stream;
    const char *run; /* behind the prefix */
    pthread_t thread;
    natsSubscription *sub;
    natsInbox *inbox;
    natsMsg *list[2 * PT_NATS_BATCH]; /* the batch at hand; NULL: ended */
    int count;
    int expected; /* messages that the last request may still bring */
    uint64_t asked_ns;
    perftrace__stream_unpacker_t *unpacker;
    char *plain;            /* PERFTRACE__STREAM_PIECE_MAX bytes, of one piece or several */
    pt_nats_piece_t *piece; /* PT_NATS_BATCH of them, and one for those that were held */
    pt_nats_held_t *held;
    size_t held_count, held_cap, held_bytes;
    uint64_t progress_ns; /* when time was asked for last */
    uint32_t empty;       /* atomic */
    uint64_t held_told;   /* atomic */
    uint64_t gone;        /* the run's files that were, as far as the server was told */
    uint64_t gone_seen;   /* and as far as the store told */
    bool told;
    bool crowded; /* that there is no room for a stream was told */
    bool stalled; /* the last piece could not be written: one at a time is tried */
    natsSubscription *clock[2];
    struct pt_nats_worker *next;
} pt_nats_worker_t;

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
    pt_nats_worker_t *workers;
    uint32_t stop;      /* atomic */
    uint32_t connected; /* atomic */
};

static inline bool pt_nats_is_stopped(const pt_collect_nats_t *n) {
    return pt_load_relaxed(&n->stop) != 0;
}

void pt_nats_nap(long ms);

/* collect_nats_batch.c, on the worker's thread: */

/* Hands the batch at hand to the store and answers the server. */
void pt_nats_take_batch(pt_nats_worker_t *w);
/* Those that wait, of one stream or (all) of each, as long as one of them goes through. */
void pt_nats_try_held(pt_nats_worker_t *w, uint64_t stream, bool all);
/* For those that are held, and those of the batch that have not ended, when it is due. */
void pt_nats_ask_for_time(pt_nats_worker_t *w);
/* How many files of the run are gone, as the store knows. */
void pt_nats_look_for_gone(pt_nats_worker_t *w);
/* Ends a message. */
void pt_nats_settle(const pt_nats_worker_t *w, natsMsg *msg, pt_collect_result_t result);

/* collect_nats_worker.c: */

/* Takes what came meanwhile into the batch at hand, as far as there is room. */
void pt_nats_take_queued(pt_nats_worker_t *w);
/* The thread, until the collector is stopped; arg is the worker. */
void *pt_nats_worker_main(void *arg);
/* Answers who asks for the time in the worker's run. */
void pt_nats_answer_clock(pt_nats_worker_t *w);

#endif
