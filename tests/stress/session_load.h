/* session_load.h: many threads that pass sessions on to one another, and what is known of each
 * session from outside. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_SESSION_LOAD_H
#define PERFTRACE_TESTS_SESSION_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

/* What has happened for certain to a session: the call has returned. */
enum {
    LOAD_REGISTERED = 1,
    LOAD_GENERATED = 2,
    LOAD_TOOLS = 4,
    LOAD_REWARDED = 8,
    LOAD_FINAL = 16
};

/* Shared with the process that checks, and so still there when this one was killed. */
typedef struct load_book {
    int64_t sessions;     /* places in state */
    atomic_uchar state[]; /* by session id */
} load_book_t;

/* What the session with this id does, the same in the program and in the check. */
static inline unsigned load_tools(int64_t id) {
    return (unsigned)(id * 2654435761u >> 7) % 4;
}

/* Status; NULL: none is given, and every phase has ended. */
static inline const char *load_status(int64_t id) {
    static const char *const status[] = {"accepted", "accepted", "rejected", "failed", 0};
    return status[(unsigned)(id * 2246822519u >> 9) % 5];
}

/* Registers book->sessions sessions on `threads` threads (a multiple of 4) and takes each through
 * its phases; returns when all are final. The tracer is running. */
void load_run(load_book_t *book, unsigned threads);

#endif
