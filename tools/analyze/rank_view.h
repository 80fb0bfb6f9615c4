/* rank_view.h: the rows of one rank, in the order of time. SPDX-License-Identifier: MIT
 *
 * What all figures of a rank stand on. Made once a rank, read by all of them. */
#ifndef PERFTRACE_ANALYZE_RANK_VIEW_H
#define PERFTRACE_ANALYZE_RANK_VIEW_H
#include "call_kind.h"
#include "kernel_rules.h"
#include "rank_result.h"
#include "span_list.h"

#define PT_NO_ROW UINT32_MAX

typedef struct pt_analysis_options {
    const pt_kernel_rules_t *rules;
    size_t gaps;              /* the longest are kept */
    uint64_t kernel_wait_ns;  /* a gap up to this between two kernels is the device's own */
    const char *sequences_of; /* a part of an operator's name; NULL: all of torch's operators */
    uint64_t sequence_min;    /* work of the shortest sequence that counts */
    int64_t graph_per_step; /* launches of CUDA graphs a step; PT_NOT_RECORDED: told by the data */
} pt_analysis_options_t;

typedef struct pt_rank_view {
    const pt_rank_store_t *store;
    const pt_analysis_options_t *options;
    const uint8_t *mine;          /* by process: it is of this rank; NULL: all are. The caller's */
    uint32_t *work, *host, *sync; /* rows, by their start */
    size_t works, hosts, syncs;
    uint32_t *call;                /* by place in work: the row that launched it, or PT_NO_ROW */
    uint8_t *first;                /* by place in work: it is the first of its call */
    size_t calls_idle;             /* launching calls that no work belongs to */
    const pt_kernel_rule_t **rule; /* by name: of names of kernels */
    uint8_t *does;                 /* by name: of names of calls, pt_call_kind_t */
    pt_span_list_t busy, compute, communication, memory;
} pt_rank_view_t;

/* False without memory. Free in every case. */
bool pt_rank_view_make(pt_rank_view_t *view, const pt_rank_store_t *store, const uint8_t *mine,
                       const pt_analysis_options_t *options);
void pt_rank_view_free(pt_rank_view_t *view);

bool pt_rank_view_has(const pt_rank_view_t *view, const pt_row_t *row);
/* The group that a row of work belongs to. */
pt_rule_group_t pt_rank_view_group(const pt_rank_view_t *view, const pt_row_t *row);
static inline const pt_row_t *pt_view_work(const pt_rank_view_t *v, size_t place) {
    return &v->store->row[v->work[place]];
}
/* What a row of the host does to the device: bits of pt_call_kind_t. */
static inline unsigned pt_view_does(const pt_rank_view_t *v, const pt_row_t *row) {
    return row->kind == PT_ROW_RUNTIME ? v->does[row->name] : 0;
}
static inline int64_t pt_row_end(const pt_row_t *row) {
    return row->ts + row->dur;
}
/* The first place in order[0..count) whose row begins at or after a time. */
size_t pt_rank_view_from(const pt_rank_view_t *view, const uint32_t *order, size_t count,
                         int64_t time);
/* A text of the store as a cell of the result. */
int64_t pt_rank_view_text(const pt_rank_view_t *view, pt_rank_result_t *result, uint32_t name);

/* The figures; each fills its facts and tables. False without memory. */
bool pt_rank_device(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_streams(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_gaps(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_launches(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_names(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_transfers(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_counters(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_steps(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_sequences(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_ranges(const pt_rank_view_t *view, pt_rank_result_t *result);
bool pt_rank_path(const pt_rank_view_t *view, pt_rank_result_t *result);

#define PT_BINS 120 /* of the range of a rank's work */

/* Why the device is idle before a row of work: since when it was, and which call launched the row
 * (NULL: not known). */
pt_fact_t pt_idle_cause(const pt_rank_view_t *view, int64_t since, int64_t until,
                        const pt_row_t *call);

#endif
