/* runtime_service.h: what comes up with the tracer and goes down before it.
 * SPDX-License-Identifier: MIT
 *
 * The room above this one that serves the tracer to the outside (control) fills it in; in a build
 * without it (PERFTRACE_NET=OFF) no_service.c does. */
#ifndef PERFTRACE_RUNTIME_RUNTIME_SERVICE_H
#define PERFTRACE_RUNTIME_RUNTIME_SERVICE_H

#include "run_meta.h"
#include "sink.h"

#include <perftrace/config.h>
#include <stdbool.h>

typedef struct perftrace__committed {
    const perftrace__run_meta_t *meta;
    const char *trace_path;   /* valid during the call */
    uint64_t trace_bytes;     /* of it that are final */
    unsigned trace_number;    /* another one: another file, also of the same path */
    const char *session_path; /* "": none yet */
    uint64_t session_bytes;
    unsigned session_number;
    bool ended; /* nothing will follow */
} perftrace__committed_t;

typedef struct perftrace__runtime_service {
    /* After init has resolved the configuration, whether or not anything is recorded. No lock is
     * held. */
    void (*start)(const perftrace_config_t *options, const char *trace_dir);
    /* Before shutdown; idempotent. No lock is held. */
    void (*stop)(void);
    /* A run begins: after its files were named, before anything is written. The runtime's lock is
     * held. */
    void (*run_begin)(const perftrace_config_t *options, const perftrace__run_meta_t *meta);
    /* What the files hold has grown, or they are others. By the thread that drains, without the
     * runtime's lock (by another one at the beginning and where no thread could be started); must
     * not block. */
    void (*committed)(const perftrace__committed_t *what);
    /* How many bytes the trace ([0]) and the sessions file may have now, when the options say that
     * they do not stay. By the thread that drains; must not block. */
    uint64_t (*limit[2])(void);
    /* A reading of another machine's clock for the trace, if there is one. By the thread that
     * drains; must not block. */
    bool (*take_reference)(perftrace__reference_t *ret);
    /* The run has ended and its files are whole (or were given up: then the last word of committed
     * was not `ended`). The runtime's lock is held. May block as long as the options say. */
    void (*run_end)(void);
    /* Around fork, as of pthread_atfork: prepare, in the parent, in the child. The runtime's lock
     * is held, and by prepare the drain's where it stood still: the order in which a run begins and
     * ends. */
    void (*fork[3])(void);
} perftrace__runtime_service_t;

extern const perftrace__runtime_service_t perftrace__runtime_service;

#endif
