/* forward_link.h: a way to the collector, as the sender sees it. SPDX-License-Identifier: MIT
 *
 * One thread uses a link. TCP is in forward_tcp.c; NATS JetStream in a library of its own
 * (libperftrace-nats.so), since few programs want what it needs. */
#ifndef PERFTRACE_FORWARD_FORWARD_LINK_H
#define PERFTRACE_FORWARD_FORWARD_LINK_H

#include "stream_message.h"

/* Changes when the structures of this file do: the NATS library is loaded at run time. */
#define PERFTRACE__FORWARD_LINK_ABI 2

typedef struct perftrace__forward_link perftrace__forward_link_t;

typedef struct perftrace__forward_link_options {
    const char *to; /* as the option `forward` gives it, without "tcp:" */
    const char *run;
    const char *token; /* "": none; so the next two */
    const char *creds;
    const char *tls_ca;
    uint32_t replicas;
    uint32_t timeout_ms; /* of open, and of a server that says nothing; may change between calls */
    /* What comes, called by wait (and ask) on the caller's thread. */
    void (*placed)(void *ctx, uint64_t stream, uint64_t offset, bool last);
    /* It has everything before offset, and perhaps more, but nothing behind end: a sender that
     * knows of more than offset goes on there, unless that is lost. */
    void (*placed_late)(void *ctx, uint64_t stream, uint64_t offset, uint64_t end);
    void (*acked)(void *ctx, uint64_t stream, uint64_t offset, bool last);
    void (*clock)(void *ctx, const char *t1, uint64_t t2, uint64_t t3, const char *ref);
    void *ctx;
} perftrace__forward_link_options_t;

typedef enum perftrace__forward_sent {
    PERFTRACE__FORWARD_SENT,
    PERFTRACE__FORWARD_FULL,  /* later, after a wait */
    PERFTRACE__FORWARD_BROKEN /* the link is to be closed; problem says why */
} perftrace__forward_sent_t;

typedef struct perftrace__forward_link_ops {
    uint32_t abi;
    bool seals; /* a place that is asked for is what the last message says was acknowledged: so once
                   everything is, an empty last piece is to say so */
    /* Connects; blocks at most timeout_ms (and as long as the system takes to look up a name). The
     * options' texts are valid until close. NULL: problem (size bytes) says why. */
    perftrace__forward_link_t *(*open)(const perftrace__forward_link_options_t *o, char *problem,
                                       size_t size);
    /* Asks what the other side has of a file; `placed` is called, now or by a later wait. */
    perftrace__forward_sent_t (*ask)(perftrace__forward_link_t *l,
                                     const perftrace__stream_key_t *key);
    /* Takes a piece, packed (NULL when it is empty); nothing of it is needed afterwards. */
    perftrace__forward_sent_t (*send)(perftrace__forward_link_t *l,
                                      const perftrace__stream_key_t *key, uint64_t offset,
                                      uint64_t size, uint64_t acked, bool last, const void *packed,
                                      size_t packed_len);
    /* Asks for the time; the answer may come during the call. FULL: nobody can answer now. */
    perftrace__forward_sent_t (*clock)(perftrace__forward_link_t *l, const char *t1);
    /* Waits until something came, there is room again, wake_fd can be read (-1: none) or the time
     * is over. False: broken. */
    bool (*wait)(perftrace__forward_link_t *l, int wake_fd, uint32_t timeout_ms);
    /* Why it is broken. */
    const char *(*problem)(const perftrace__forward_link_t *l);
    /* The other side is there, but does not want what it is sent. NULL: it never is so. */
    bool (*refuses)(const perftrace__forward_link_t *l);
    /* Does not wait for anything. */
    void (*close)(perftrace__forward_link_t *l);
    /* In a forked child: closes what the child has of it and touches nothing else. */
    void (*orphan)(perftrace__forward_link_t *l);
} perftrace__forward_link_ops_t;

extern const perftrace__forward_link_ops_t perftrace__forward_tcp;

/* The way that a text of the option `forward` means; *ret_to is its address. NULL: problem (size
 * bytes) says why not. Loads libperftrace-nats.so where it is needed. */
const perftrace__forward_link_ops_t *
perftrace__forward_link_find(const char *forward, const char **ret_to, char *problem, size_t size);

#endif
