/* control_route.h: what can be asked (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONTROL_CONTROL_ROUTE_H
#define PERFTRACE_CONTROL_CONTROL_ROUTE_H

#include "strbuf.h"

/* X(name, method, path, help) */
#define PERFTRACE__CONTROL_ROUTES(X)                                                               \
    X(help, "GET", "/", "this text")                                                               \
    X(health, "GET", "/health", "that the process answers")                                        \
    X(status, "GET", "/status", "who this is, what is recorded, profiled, held")                   \
    X(stats, "GET", "/stats", "events written and lost, by cause")                                 \
    X(metrics, "GET", "/metrics", "the same for Prometheus")                                       \
    X(scopes, "GET", "/scopes", "what each thread is in now, for how long")                        \
    X(start_profile, "POST", "/start_profile", "opens a profiling window; body: {} or options")    \
    X(stop_profile, "POST", "/stop_profile", "closes it and saves")                                \
    X(flush, "POST", "/flush", "writes what was recorded; body: {\"force\": true} to the disk")    \
    X(hold, "POST", "/hold", "the program waits at its next perftrace_hold")                       \
    X(resume, "POST", "/resume", "lets it go on")

typedef enum perftrace__control_route {
#define X(name, method, path, help) PERFTRACE__CONTROL_##name,
    PERFTRACE__CONTROL_ROUTES(X)
#undef X
        PERFTRACE__CONTROL_ROUTE_COUNT,
    PERFTRACE__CONTROL_NO_PATH = PERFTRACE__CONTROL_ROUTE_COUNT, /* 404 */
    PERFTRACE__CONTROL_NO_METHOD                                 /* 405 */
} perftrace__control_route_t;

/* The route of a request; HEAD counts as GET. *ret_allow (static storage): what the path allows,
 * with NO_METHOD. */
perftrace__control_route_t perftrace__control_route(const char *method, const char *path,
                                                    const char **ret_allow);
/* Appends the table as text. */
void perftrace__control_route_help(perftrace__strbuf_t *out);

#endif
