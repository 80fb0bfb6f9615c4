/* collect_show.h: the state of all ranks, for people, programs and Prometheus.
 * SPDX-License-Identifier: MIT
 *
 * Pure: from what store and service know. */
#ifndef PERFTRACE_TOOL_COLLECT_SHOW_H
#define PERFTRACE_TOOL_COLLECT_SHOW_H

#include "collect_peer.h"
#include "table.h"

typedef struct pt_collect_view {
    const pt_collect_store_t *store;
    const pt_collect_service_t *service;
    uint64_t world_size;  /* 0: what the senders say */
    uint64_t now_ns;      /* since the epoch */
    unsigned connections; /* over TCP */
    uint64_t held;        /* pieces from NATS that wait for others */
} pt_collect_view_t;

/* Works out how many events a second came since the last call. */
void pt_collect_show_rates(pt_collect_store_t *store, uint64_t mono_ns);
/* Fills the tables: ranks, and, detailed, all else. False without memory. */
bool pt_collect_show(const pt_collect_view_t *view, bool detailed, pt_report_t *report);
/* Appends the text format of Prometheus. False without memory. */
bool pt_collect_show_metrics(const pt_collect_view_t *view, perftrace__strbuf_t *out);

#endif
