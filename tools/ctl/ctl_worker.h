/* ctl_worker.h: whom the tool asks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CTL_WORKER_H
#define PERFTRACE_CTL_WORKER_H

#include "ctl_options.h"

#include <stddef.h>

typedef struct pt_ctl_worker {
    char *url;    /* owned */
    int64_t rank; /* of its endpoint file; else its place in the list */
    bool has_rank;
    int64_t world_size; /* of its endpoint file; -1 unknown */
    bool unhealthy;     /* says the router */
} pt_ctl_worker_t;

typedef struct pt_ctl_workers {
    pt_ctl_worker_t *worker;
    size_t count, cap;
    bool silent;
} pt_ctl_workers_t;

/* Finds the workers that the options name, in the order of their ranks. What cannot be asked is
 * told, unless silent. PT_EXIT_OK (with 0 workers a message was given); PT_EXIT_INPUT,
 * PT_EXIT_INTERNAL. */
pt_exit_t pt_ctl_workers_find(pt_ctl_workers_t *ret, const pt_ctl_options_t *options, bool silent);
/* Whether those are all there will be: every rank of their world that --ranks does not leave out.
 * Workers that tell no world are all. */
bool pt_ctl_workers_all(const pt_ctl_workers_t *workers, const pt_ctl_options_t *options);
void pt_ctl_workers_free(pt_ctl_workers_t *workers);

#endif
