/* collect_peer.h: one sender's side of the protocol, bytes to bytes. SPDX-License-Identifier: MIT
 *
 * docs/formats/STREAM.md. No sockets: what came is fed, what is to be sent stands in `out`. One
 * thread. */
#ifndef PERFTRACE_TOOL_COLLECT_PEER_H
#define PERFTRACE_TOOL_COLLECT_PEER_H

#include "collect_store.h"
#include "collect_wire.h"
#include "stream_pack.h"
#include "string_list.h"

/* X(name, word, text): why a connection is ended. */
#define PT_COLLECT_ENDED_LIST(X)                                                                   \
    X(TOKEN, "token", "a wrong token")                                                             \
    X(RUN, "run", "a run that is not collected here")                                              \
    X(VERSION, "version", "another version of the protocol")                                       \
    X(GARBAGE, "garbage", "bytes that are no message")                                             \
    X(ORDER, "order", "a message that does not belong there")                                      \
    X(PIECE, "piece", "a piece that is refused")                                                   \
    X(SLOW, "slow", "nothing in the time allowed")                                                 \
    X(MANY, "many", "too many connections, runs or streams")                                       \
    X(MEMORY, "memory", "out of memory")

typedef enum pt_collect_ended {
#define X(name, word, text) PT_COLLECT_ENDED_##name,
    PT_COLLECT_ENDED_LIST(X)
#undef X
        PT_COLLECT_ENDED_COUNT
} pt_collect_ended_t;

/* What all connections share. */
typedef struct pt_collect_service {
    pt_collect_store_t *store;
    const char *token;            /* NULL: none is needed */
    const pt_string_list_t *runs; /* empty: all */
    char ref[40];                 /* whose clock */
    perftrace__stream_unpacker_t *unpacker;
    char *plain; /* PERFTRACE__STREAM_PIECE_MAX bytes */
    uint64_t clocks;
    uint64_t ended[PT_COLLECT_ENDED_COUNT];
} pt_collect_service_t;

/* False without memory. */
bool pt_collect_service_init(pt_collect_service_t *service, pt_collect_store_t *store,
                             const char *token, const pt_string_list_t *runs);
void pt_collect_service_free(pt_collect_service_t *service);
const char *pt_collect_ended_word(pt_collect_ended_t cause);

/* A stream that a connection has asked for or sent. */
typedef struct pt_collect_asked {
    pt_collect_stream_t *stream;
    bool ack_due;
    uint64_t gap_at; /* where a gap was told, plus 1; 0: none */
} pt_collect_asked_t;

typedef enum pt_collect_peer_state {
    PT_COLLECT_PEER_OPEN,
    PT_COLLECT_PEER_STALLED, /* something cannot be written: see retry */
    PT_COLLECT_PEER_ENDED    /* out is to be sent, then the connection closed */
} pt_collect_peer_state_t;

typedef struct pt_collect_peer {
    pt_collect_service_t *service;
    pt_collect_peer_state_t state;
    bool greeted;
    bool urgent; /* out holds an answer of the clock */
    bool acks;   /* some are due */
    pt_collect_run_t *run;
    pt_collect_wire_t wire;
    perftrace__strbuf_t rest; /* what came behind the message that is stalled */
    perftrace__strbuf_t out;
    pt_collect_asked_t *asked;
    size_t asked_count, asked_cap, asked_last;
    uint64_t received_ns;
    char name[64]; /* for messages */
} pt_collect_peer_t;

/* NULL without memory. name: of the other side, for messages. */
pt_collect_peer_t *pt_collect_peer_new(pt_collect_service_t *service, const char *name);
void pt_collect_peer_free(pt_collect_peer_t *peer); /* accepts NULL */
/* Takes what came at received_ns (CLOCK_MONOTONIC_RAW). Not to be called while stalled. */
void pt_collect_peer_feed(pt_collect_peer_t *peer, const char *data, size_t len,
                          uint64_t received_ns);
/* Tries again what is stalled. */
void pt_collect_peer_retry(pt_collect_peer_t *peer);
/* Puts the acknowledgements that are due. */
void pt_collect_peer_put_acks(pt_collect_peer_t *peer);
/* Ends it, counted, and told to both sides. */
void pt_collect_peer_end(pt_collect_peer_t *peer, pt_collect_ended_t cause, const char *text);
/* Bytes of memory that grow with what it sends. */
size_t pt_collect_peer_held(const pt_collect_peer_t *peer);

#endif
