/* clock_scratch.h: what putting clocks onto one axis works with. SPDX-License-Identifier: MIT
 *
 * For clock_align.c and its parts only. Not thread-safe. */
#ifndef PERFTRACE_TRACE_CLOCK_SCRATCH_H
#define PERFTRACE_TRACE_CLOCK_SCRATCH_H
#include "clock_align.h"
#include "clock_graph.h"
#include "hashmap.h"

typedef struct pt_clock_scratch {
    const pt_clock_in_t *in;
    pt_clock_out_t *out;
    size_t count;
    size_t *node;  /* of each file */
    size_t *first; /* of each node: its first file; NOWHERE for clocks without files */
    int64_t *zero; /* of each file: its ts 0 on its node's axis */
    pt_clock_graph_t graph;
    size_t *file; /* the files by node */
    size_t *from; /* of each node: its first place in `file`; one more at the end */
    pt_clock_point_t *point;
    pt_clock_method_t *method; /* of each node's last step to the root's axis */
} pt_clock_scratch_t;

/* Sums of what files claim: what would overflow is nonsense, but must not be undefined. */
static inline int64_t pt_clock_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Kept where sums cannot overflow. */
static inline int64_t pt_clock_within(int64_t t) {
    return PT_MIN(PT_MAX(t, -PT_CLOCK_LIMIT), PT_CLOCK_LIMIT);
}

/* Whether a file says which clock it has, and believably. */
static inline bool pt_clock_is_known(const pt_clock_in_t *f) {
    return f->has_mono && f->boot_id != NULL && f->boot_id[0] != '\0' && f->mono_ns >= 0 &&
           f->mono_ns < PT_CLOCK_LIMIT &&
           (f->kind != PT_CLOCK_EPOCH || (f->epoch_ns >= 0 && f->epoch_ns < PT_CLOCK_LIMIT));
}

static inline size_t pt_clock_mark_count(const pt_clock_in_t *f) {
    return f->notes != NULL ? f->notes->marks : 0;
}

/* clock_nodes.c: finds the clocks, files of one boot sharing one, and what was measured between
 * them. names holds the node of each name. False without memory. */
bool pt_clock_scratch_nodes(pt_clock_scratch_t *scratch, perftrace__hashmap_t *names);
bool pt_clock_scratch_ways(pt_clock_scratch_t *scratch, perftrace__hashmap_t *names,
                           size_t readings);

/* When all nodes are made. */
void pt_clock_scratch_files(pt_clock_scratch_t *scratch);

/* clock_reach.c: places clocks that nothing was measured against: by barriers that they and a
 * placed one passed, and by their wall clocks. */
/* `most`: all marks of the files. False without memory. */
bool pt_clock_reach_by_marks(pt_clock_scratch_t *scratch, size_t most);
void pt_clock_reach_by_wall(pt_clock_scratch_t *scratch);

/* clock_result.c: what is known of a file in the end. False without memory. */
bool pt_clock_set_result(const pt_clock_scratch_t *scratch, size_t file);

#endif
