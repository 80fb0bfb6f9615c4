/* clock_graph.h: clocks and the ways between them. SPDX-License-Identifier: MIT
 *
 * A node is a clock: one boot of one machine, with files or without (a collector's). A way is what
 * readings of one clock say of another, or a line straight to the axis of the root. Each node has
 * an axis of its own; node 0 is the root, onto whose axis the others are placed by the way with the
 * least bound. Pure. */
#ifndef PERFTRACE_TRACE_CLOCK_GRAPH_H
#define PERFTRACE_TRACE_CLOCK_GRAPH_H
#include "clock_line.h"

#define PT_CLOCK_NOWHERE SIZE_MAX
#define PT_CLOCK_ROOM    4U /* for so many more there is room behind the corners */

/* Readings of the clock of node `ref` by files of node `own`. */
typedef struct pt_clock_way {
    size_t own, ref;
    pt_clock_curve_t curve;
    double cost; /* its bound over the events of own, and 1: fewer steps are better */
} pt_clock_way_t;

typedef struct pt_clock_node {
    int64_t to_axis;     /* axis minus clock */
    int64_t first, last; /* range of the files' events on the axis; first > last: no files */
    bool placed;
    bool by_line; /* by `line`, on times less `near` */
    pt_clock_line_t line;
    size_t way;  /* else by this, to the node at its other end; the root: NOWHERE */
    double cost; /* the bound in between */
} pt_clock_node_t;

typedef struct pt_clock_graph {
    pt_clock_node_t *node;
    pt_clock_way_t *way;
    size_t nodes, ways;
    int64_t near; /* lines are on times less this, so that doubles hold them exactly */
} pt_clock_graph_t;

typedef struct pt_clock_place {
    int64_t at;   /* on the root's axis */
    double bound; /* how far off */
} pt_clock_place_t;

/* Sets what a way costs, by its curve and the events of its own node. */
void pt_clock_graph_cost(const pt_clock_graph_t *graph, pt_clock_way_t *way);
/* Places all nodes to which ways lead from placed ones. */
void pt_clock_graph_reach(pt_clock_graph_t *graph);
/* Where an instant of a placed node's axis lies on the root's. */
pt_clock_place_t pt_clock_graph_place(const pt_clock_graph_t *graph, size_t node, int64_t at);
/* Instants of the node's axis at which the map to the root's or its bound may bend, unordered;
 * *ret_count of them; NULL without memory, to be freed by the caller. */
int64_t *pt_clock_graph_corners(const pt_clock_graph_t *graph, size_t node, size_t *ret_count);
void pt_clock_graph_free(pt_clock_graph_t *graph);

#endif
