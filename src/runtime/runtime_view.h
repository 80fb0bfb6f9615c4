/* runtime_view.h: the tracer seen by what serves it to others while it runs.
 * SPDX-License-Identifier: MIT
 *
 * Any thread. Short lock, as perftrace_get_stats; none of it waits for the disk or for a producer.
 */
#ifndef PERFTRACE_RUNTIME_RUNTIME_VIEW_H
#define PERFTRACE_RUNTIME_RUNTIME_VIEW_H

#include "run_meta.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct perftrace__runtime_view {
    bool active;     /* recording into a file */
    bool configured; /* there is a configuration at all; what follows is valid */
    bool has_step;
    int64_t step;    /* the last step that was marked */
    uint64_t now_ns; /* since ts 0; 0 when not active */
    perftrace__run_meta_t meta;
    char dir[4096]; /* of the trace files */
} perftrace__runtime_view_t;

void perftrace__runtime_look(perftrace__runtime_view_t *ret_view);

/* A thread that records now, and the scopes it is in, outermost first. */
typedef struct perftrace__runtime_scope {
    const char *name; /* not NUL-terminated */
    uint32_t name_len;
    const char *category;
    uint32_t category_len;
    uint64_t start_ns; /* since ts 0 */
} perftrace__runtime_scope_t;

typedef struct perftrace__runtime_thread {
    uint32_t tid;
    char name[64];
    bool moving; /* it changed its scopes each time it was looked at: none are told */
    size_t depth;
    const perftrace__runtime_scope_t *scopes;
} perftrace__runtime_thread_t;

/* Calls fn for each thread that records; *ret_now_ns is the time on the same clock, set before the
 * first call. 0; ERR_DISABLED when not active; ERR_NOMEM. fn must not call the library. */
int perftrace__runtime_threads(void (*fn)(void *ctx, const perftrace__runtime_thread_t *thread),
                               void *ctx, uint64_t *ret_now_ns);

#endif
