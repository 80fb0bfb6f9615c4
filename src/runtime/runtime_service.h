/* runtime_service.h: what comes up with the tracer and goes down before it.
 * SPDX-License-Identifier: MIT
 *
 * The room above this one that serves the tracer to the outside (control) fills it in; in a build
 * without it (PERFTRACE_NET=OFF) no_service.c does. */
#ifndef PERFTRACE_RUNTIME_RUNTIME_SERVICE_H
#define PERFTRACE_RUNTIME_RUNTIME_SERVICE_H

#include <perftrace/config.h>

typedef struct perftrace__runtime_service {
    /* After init has resolved the configuration, whether or not anything is recorded. No lock is
     * held. */
    void (*start)(const perftrace_config_t *options, const char *trace_dir);
    /* Before shutdown; idempotent. No lock is held. */
    void (*stop)(void);
} perftrace__runtime_service_t;

extern const perftrace__runtime_service_t perftrace__runtime_service;

#endif
