/* flow_table.h: gives every flow chain a number of its own. SPDX-License-Identifier: MIT
 *
 * Viewers join flow events by category, name and id. Programs use ids again for the next chain, so
 * that arrows would run from the end of one chain into the next. Here each chain (start, steps,
 * end) gets a fresh number. Events may come somewhat out of order: an end that comes before its
 * start waits for it. Not thread-safe; one file at a time. */
#ifndef PERFTRACE_TRACE_FLOW_TABLE_H
#define PERFTRACE_TRACE_FLOW_TABLE_H
#include "id_space.h"

typedef struct pt_flow {
    uint64_t key; /* 0: free slot */
    int64_t ts;   /* of the start, or of what came first */
    uint32_t number;
    bool started, ended;
} pt_flow_t;

typedef struct pt_flow_table {
    pt_flow_t *slot;
    size_t cap, count;
    pt_id_space_t *ids;
    uint64_t open_starts; /* chains that started and never ended; complete after _finish */
    uint64_t forgotten;   /* chains given up because there were too many */
} pt_flow_table_t;

/* Chains held at once; past it the table is emptied, and counted. */
#define PT_FLOW_LIMIT 1048576U

/* The number of the chain that an event belongs to. ph: 's', 't' or 'f'; key: hash of what joins
 * the events; ts in ns. *ret_started: the chain has its start (it is this event, or came before).
 */
uint32_t pt_flow_number(pt_flow_table_t *table, char ph, uint64_t key, int64_t ts,
                        bool *ret_started);

/* Counts what is left open and frees. */
void pt_flow_table_finish(pt_flow_table_t *table);

#endif
