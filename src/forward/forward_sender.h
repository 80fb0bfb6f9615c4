/* forward_sender.h: brings files to the collector. SPDX-License-Identifier: MIT
 *
 * Connects, asks how much of each file is there, sends the rest in pieces, connects again when the
 * way breaks and goes on where the other side is. One thread, the caller's; the library's own
 * (forward.c) or that of perf-trace-forward. Nothing is queued but what is on its way: the files
 * are the queue. */
#ifndef PERFTRACE_FORWARD_FORWARD_SENDER_H
#define PERFTRACE_FORWARD_FORWARD_SENDER_H

#include "forward_file.h"
#include "forward_link.h"
#include "sink.h"

typedef enum perftrace__forward_news {
    /* Told once each, until something was acknowledged or there is nothing to send: */
    PERFTRACE__FORWARD_UNREACHABLE,
    PERFTRACE__FORWARD_REFUSED, /* it is reached, but does not take what is sent */
    /* And then, after the one that was last: */
    PERFTRACE__FORWARD_REACHED,
    PERFTRACE__FORWARD_TAKEN,
    PERFTRACE__FORWARD_UNREADABLE /* a file cannot be sent: text says which and why */
} perftrace__forward_news_t;

typedef struct perftrace__forward_sender_options {
    const perftrace__forward_link_ops_t *ops;
    perftrace__forward_link_options_t link; /* texts stay the caller's; callbacks are filled in */
    void (*news)(void *ctx, perftrace__forward_news_t what, const char *text);
    /* NULL: the clock is not asked for. */
    void (*reading)(void *ctx, const perftrace__reference_t *r);
    /* What the other side has of a file, as it answers (again after each connect). NULL: nobody
     * wants to know. */
    void (*has)(void *ctx, const perftrace__forward_file_t *f, uint64_t offset);
    void *ctx;
    int level;   /* of packing, 1 to 9 */
    int wake_fd; /* readable: step returns early; -1: none. The caller's */
} perftrace__forward_sender_options_t;

typedef struct perftrace__forward_totals {
    uint64_t pieces; /* sent, those that were sent again too */
    uint64_t bytes;  /* of files */
    uint64_t packed;
    uint64_t connects;
    uint64_t readings;
} perftrace__forward_totals_t;

typedef struct perftrace__forward_sender perftrace__forward_sender_t;

/* NULL without memory. */
perftrace__forward_sender_t *
perftrace__forward_sender_new(const perftrace__forward_sender_options_t *o);
/* Closes the way and frees all files. Accepts NULL. */
void perftrace__forward_sender_free(perftrace__forward_sender_t *s);
/* In a forked child: closes the child's descriptors; the memory stays. Accepts NULL. */
void perftrace__forward_sender_orphan(perftrace__forward_sender_t *s);
/* Takes over a file. Its limit and `ended` may be set at any time between two steps. */
void perftrace__forward_sender_add(perftrace__forward_sender_t *s, perftrace__forward_file_t *f);
/* Gives back a file that was added: the caller's again. */
void perftrace__forward_sender_take(perftrace__forward_sender_t *s, perftrace__forward_file_t *f);
/* From now on connecting, and each question, takes at most so long. */
void perftrace__forward_sender_limit(perftrace__forward_sender_t *s, uint32_t timeout_ms);
/* From now on this wakes; see wake_fd. */
void perftrace__forward_sender_wake_by(perftrace__forward_sender_t *s, int wake_fd);
/* Does what there is to do, then waits for more, at most timeout_ms. */
void perftrace__forward_sender_step(perftrace__forward_sender_t *s, uint32_t timeout_ms);
/* All files are done, or cannot be read. */
bool perftrace__forward_sender_done(const perftrace__forward_sender_t *s);
/* Bytes that are final and not acknowledged. */
uint64_t perftrace__forward_sender_left(const perftrace__forward_sender_t *s);
bool perftrace__forward_sender_connected(const perftrace__forward_sender_t *s);
/* What the way broke of last; "": nothing since it was reached. */
const char *perftrace__forward_sender_problem(const perftrace__forward_sender_t *s);
const perftrace__forward_file_t *
perftrace__forward_sender_files(const perftrace__forward_sender_t *s);
const perftrace__forward_totals_t *
perftrace__forward_sender_totals(const perftrace__forward_sender_t *s);

#endif
