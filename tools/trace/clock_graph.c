/* clock_graph.c. SPDX-License-Identifier: MIT */
#include "clock_graph.h"

#include "compiler.h"

#include <math.h>
#include <stdlib.h>

/* ---- reaching ---- */

void pt_clock_graph_cost(const pt_clock_graph_t *g, pt_clock_way_t *w) {
    double bound = 0;
    const pt_clock_node_t *own = &g->node[w->own];
    const int64_t at[] = {own->first, own->first + (own->last - own->first) / 2, own->last};
    for (size_t i = 0; i < PT_ARRAY_LEN(at); i++) {
        bound = fmax(bound, pt_clock_curve_at(&w->curve, at[i] - own->to_axis).bound);
    }
    w->cost = 1 + bound;
}

static bool step(pt_clock_graph_t *g, size_t way, size_t from, size_t to) {
    pt_clock_node_t *a = &g->node[from], *b = &g->node[to];
    double cost = g->way[way].cost;
    bool better =
        a->placed &&
        (!b->placed || (!b->by_line && b->way != PT_CLOCK_NOWHERE && a->cost + cost < b->cost));
    if (better) {
        b->placed = true;
        b->way = way;
        b->cost = a->cost + cost;
    }
    return better;
}

void pt_clock_graph_reach(pt_clock_graph_t *g) {
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < g->ways; i++) {
            const pt_clock_way_t *w = &g->way[i];
            more |= step(g, i, w->own, w->ref);
            more |= step(g, i, w->ref, w->own);
        }
    }
}

/* ---- placing ---- */

/* One way along, from the node's axis to that of the node nearer to the root. */
static pt_clock_place_t along(const pt_clock_graph_t *g, size_t node, int64_t at,
                              size_t *ret_next) {
    const pt_clock_way_t *w = &g->way[g->node[node].way];
    int64_t clock = at - g->node[node].to_axis;
    pt_clock_delta_t d;
    if (w->own == node) {
        d = pt_clock_curve_at(&w->curve, clock);
        clock += d.ns;
        *ret_next = w->ref;
    } else {
        clock = pt_clock_curve_own(&w->curve, clock);
        d = pt_clock_curve_at(&w->curve, clock);
        *ret_next = w->own;
    }
    return (pt_clock_place_t){clock + g->node[*ret_next].to_axis, d.bound};
}

/* Back: from the axis of the node nearer to the root to that of `node`. */
static int64_t back(const pt_clock_graph_t *g, size_t node, int64_t at) {
    const pt_clock_way_t *w = &g->way[g->node[node].way];
    int64_t clock = at - g->node[w->own == node ? w->ref : w->own].to_axis;
    clock = w->own == node ? pt_clock_curve_own(&w->curve, clock)
                           : clock + pt_clock_curve_at(&w->curve, clock).ns;
    return clock + g->node[node].to_axis;
}

static bool is_end(const pt_clock_node_t *n) {
    return n->by_line || n->way == PT_CLOCK_NOWHERE;
}

pt_clock_place_t pt_clock_graph_place(const pt_clock_graph_t *g, size_t node, int64_t at) {
    pt_clock_place_t p = {at, 0};
    while (!is_end(&g->node[node])) {
        pt_clock_place_t next = along(g, node, p.at, &node);
        p.at = next.at;
        p.bound += next.bound;
    }
    const pt_clock_node_t *n = &g->node[node];
    if (n->by_line) {
        double t = (double)(p.at - g->near);
        p.at += (int64_t)llround(pt_clock_line_delta(&n->line, t));
        p.bound += pt_clock_line_bound(&n->line, t);
    }
    return p;
}

int64_t *pt_clock_graph_corners(const pt_clock_graph_t *g, size_t node, size_t *ret_count) {
    size_t ways = 0, knots = PT_CLOCK_ROOM, n = 0;
    for (size_t at = node; !is_end(&g->node[at]); ways++) {
        const pt_clock_way_t *w = &g->way[g->node[at].way];
        knots += w->curve.count;
        at = w->own == at ? w->ref : w->own;
    }
    int64_t *corner = calloc(knots, sizeof *corner);
    size_t *path = calloc(ways + 1, sizeof *path);
    for (size_t i = 0, at = node; corner != NULL && path != NULL && i < ways; i++) {
        const pt_clock_way_t *w = &g->way[g->node[at].way];
        path[i] = at;
        for (size_t k = 0; k < w->curve.count; k++) {
            int64_t own = w->curve.origin_ns + (int64_t)llround(w->curve.knot[k].t);
            int64_t here = w->own == at ? own : own + pt_clock_curve_at(&w->curve, own).ns;
            here += g->node[at].to_axis;
            for (size_t j = i; j > 0; j--) {
                here = back(g, path[j - 1], here);
            }
            corner[n++] = here;
        }
        at = w->own == at ? w->ref : w->own;
    }
    if (path == NULL) {
        free(corner);
        corner = NULL;
    }
    free(path);
    *ret_count = n;
    return corner;
}

void pt_clock_graph_free(pt_clock_graph_t *g) {
    for (size_t i = 0; i < g->ways; i++) {
        pt_clock_curve_free(&g->way[i].curve);
    }
    free(g->way);
    free(g->node);
}
