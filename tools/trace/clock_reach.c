/* clock_reach.c: clocks that are placed by barriers and by wall clocks. SPDX-License-Identifier:
 * MIT */
#include "clock_marks.h"

#include <stdlib.h>

/* ---- barrier markers ---- */

/* How far a round of reaching has come: nodes whose barriers count, and those that may be placed by
 * them. Every barrier makes its nodes candidates once, when it comes to be known. */
typedef struct round {
    pt_clock_marks_t marks;
    bool *counted, *candidate; /* of each node */
} round_t;

/* Lets the barriers of a placed node say when they were over on the root's axis. */
static bool count_node(const pt_clock_scratch_t *s, round_t *r, size_t node) {
    pt_clock_marks_t *m = &r->marks;
    bool news = false;
    r->counted[node] = true;
    for (size_t k = m->from[node]; k < m->from[node + 1]; k++) {
        const pt_clock_mark_t *mark = &m->mark[k];
        pt_clock_barrier_t *b = &m->barrier[mark->barrier];
        int64_t at = node == 0 ? mark->ts : pt_clock_graph_place(&s->graph, node, mark->ts).at;
        b->root_ts = b->known ? PT_MAX(b->root_ts, at) : at;
        for (size_t i = b->from; i < b[1].from && !b->known; i++) {
            r->candidate[m->beside[i]->node] = news = true;
        }
        b->known = true;
    }
    return news;
}

/* The line from a node's axis to the root's by the barriers that it and placed ones passed. */
static pt_clock_line_t fit_marks(pt_clock_scratch_t *s, const pt_clock_marks_t *m, size_t node) {
    size_t n = 0;
    for (size_t k = m->from[node]; k < m->from[node + 1]; k++) {
        const pt_clock_mark_t *mark = &m->mark[k];
        const pt_clock_barrier_t *b = &m->barrier[mark->barrier];
        if (b->known) {
            s->point[n].t = (double)(mark->ts - s->graph.near);
            s->point[n++].delta = (double)(b->root_ts - mark->ts);
        }
    }
    return pt_clock_line_fit(s->point, n);
}

static void place_by_line(pt_clock_scratch_t *s, size_t node, const pt_clock_line_t *line,
                          pt_clock_method_t method) {
    pt_clock_node_t *n = &s->graph.node[node];
    n->placed = n->by_line = true;
    n->line = *line;
    n->way = PT_CLOCK_NOWHERE;
    s->method[node] = method;
    pt_clock_graph_reach(&s->graph);
}

static void place_candidates(pt_clock_scratch_t *s, round_t *r) {
    for (size_t n = 1; n < s->graph.nodes; n++) {
        if (r->candidate[n] && !s->graph.node[n].placed) {
            pt_clock_line_t line = fit_marks(s, &r->marks, n);
            if (line.points > 0) {
                place_by_line(s, n, &line, PT_CLOCK_METHOD_BARRIER);
            }
        }
        r->candidate[n] = false;
    }
}

bool pt_clock_reach_by_marks(pt_clock_scratch_t *s, size_t most) {
    round_t r = {.counted = calloc(s->graph.nodes, sizeof(bool)),
                 .candidate = calloc(s->graph.nodes, sizeof(bool))};
    bool ok = pt_clock_marks_make(&r.marks, s, most) && r.counted != NULL && r.candidate != NULL;
    for (bool more = ok && r.marks.count > 0; more;) {
        more = false;
        for (size_t n = 0; n < s->graph.nodes; n++) {
            if (s->graph.node[n].placed && !r.counted[n]) {
                more |= count_node(s, &r, n);
            }
        }
        if (more) {
            place_candidates(s, &r);
        }
    }
    pt_clock_marks_free(&r.marks);
    free(r.counted);
    free(r.candidate);
    return ok;
}

/* ---- wall clocks ---- */

/* How the wall clock of a node runs against its monotonic one. */
static pt_clock_line_t fit_pairs(pt_clock_scratch_t *s, size_t node) {
    size_t n = 0, from;
    int64_t to_axis = s->graph.node[node].to_axis;
    for (size_t j = s->from[node]; j < s->from[node + 1]; j++) {
        size_t i = s->file[j];
        const pt_clock_notes_t *notes = s->in[i].notes;
        for (size_t k = 0; notes != NULL && pt_clock_is_known(&s->in[i]) && k < notes->pairs; k++) {
            int64_t own = notes->pair[k].mono_ns + to_axis;
            s->point[n].t = (double)(own - s->graph.near);
            s->point[n++].delta = (double)(notes->pair[k].epoch_ns - own);
        }
    }
    n = pt_clock_steady(s->point, n, &from);
    return pt_clock_line_fit(s->point + from, n);
}

/* From one axis to the other where both are known against the wall clock. */
static pt_clock_line_t line_between(const pt_clock_line_t *own, const pt_clock_line_t *ref) {
    pt_clock_line_t l = *own;
    l.offset -= pt_clock_line_delta(ref, own->pivot);
    l.drift -= ref->drift;
    return l;
}

void pt_clock_reach_by_wall(pt_clock_scratch_t *s) {
    pt_clock_line_t root = fit_pairs(s, 0);
    for (size_t n = 1; n < s->graph.nodes; n++) {
        if (!s->graph.node[n].placed && s->first[n] != PT_CLOCK_NOWHERE &&
            s->in[s->first[n]].kind == PT_CLOCK_EPOCH) {
            pt_clock_line_t own = fit_pairs(s, n), line = line_between(&own, &root);
            line.points = 0;
            place_by_line(s, n, &line, PT_CLOCK_METHOD_WALL);
        }
    }
}
