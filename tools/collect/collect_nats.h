/* collect_nats.h: pieces from NATS JetStream. SPDX-License-Identifier: MIT
 *
 * Each run's stream has a thread that takes what the server gives it and hands it to the loop's
 * thread, to which the store belongs. A piece is acknowledged to the server once it is written. */
#ifndef PERFTRACE_TOOL_COLLECT_NATS_H
#define PERFTRACE_TOOL_COLLECT_NATS_H

#include "collect_peer.h"
#include "net_loop.h"

typedef struct pt_collect_nats_options {
    const pt_string_list_t *urls;
    const pt_string_list_t *runs; /* empty: all that the server has */
    const char *token;            /* where the URLs have none; NULL: none */
    const char *creds;            /* files; NULL: none */
    const char *tls_ca, *tls_cert, *tls_key;
    uint64_t replicas;
} pt_collect_nats_options_t;

typedef struct pt_collect_nats pt_collect_nats_t;

/* Starts. It tries for ever to reach a server. NULL: without memory or threads, or with options
 * that libnats refuses; problem (size bytes) says which. */
pt_collect_nats_t *pt_collect_nats_start(perftrace__net_loop_t *loop, pt_collect_service_t *service,
                                         const pt_collect_nats_options_t *options, char *problem,
                                         size_t size);
/* Ends all threads, with what they have in hand. Not from the loop's thread. Accepts NULL. */
void pt_collect_nats_stop(pt_collect_nats_t *nats);
/* Whether the server has nothing more for anybody, as far as was heard a moment ago. Any thread. */
bool pt_collect_nats_is_empty(const pt_collect_nats_t *nats);
bool pt_collect_nats_is_connected(const pt_collect_nats_t *nats);
/* Pieces that wait for what is missing before them. */
uint64_t pt_collect_nats_held(const pt_collect_nats_t *nats);

#endif
