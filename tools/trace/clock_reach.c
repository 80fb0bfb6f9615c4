/* clock_reach.c: clocks that are placed by barriers and by wall clocks. SPDX-License-Identifier:
 * MIT */
#include "clock_scratch.h"

#include <stdlib.h>

/* ---- barrier markers ---- */

static int compare_mark(const void *a, const void *b) {
    const pt_sync_mark_t *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->ts > y->ts) - (x->ts < y->ts);
}

/* One an id: the last rank to leave says when it was over. */
static size_t last_of_each(pt_sync_mark_t *mark, size_t n) {
    size_t kept = 0;
    if (n > 1) {
        qsort(mark, n, sizeof *mark, compare_mark);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || mark[i + 1].id != mark[i].id) {
            mark[kept++] = mark[i];
        }
    }
    return kept;
}

/* Of a number that the file gives twice it is not known which one others mean. */
static size_t marks_of(const pt_clock_scratch_t *s, size_t file, pt_sync_mark_t *ret) {
    size_t n = pt_clock_mark_count(&s->in[file]), kept = 0;
    for (size_t k = 0; k < n; k++) {
        const pt_sync_mark_t *m = &s->in[file].notes->mark[k];
        ret[k] = (pt_sync_mark_t){
            m->id, pt_clock_within(pt_clock_add(pt_clock_within(m->ts), s->zero[file]))};
    }
    if (n > 1) {
        qsort(ret, n, sizeof *ret, compare_mark);
    }
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && ret[end].id == ret[k].id; end++) {
        }
        if (end == k + 1) {
            ret[kept++] = ret[k];
        }
    }
    return kept;
}

/* All marks of what is placed so far, on the root's axis. */
static void pool_marks(pt_clock_scratch_t *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t from = n;
        if (s->graph.node[s->node[i]].placed) {
            n += marks_of(s, i, s->pool + n);
        }
        for (size_t k = from; k < n && s->node[i] != 0; k++) {
            s->pool[k].ts = pt_clock_graph_place(&s->graph, s->node[i], s->pool[k].ts).at;
        }
    }
    s->pooled = last_of_each(s->pool, n);
}

/* The line from a node's axis to the root's by the barriers both passed. */
static pt_clock_line_t fit_marks(pt_clock_scratch_t *s, size_t node) {
    size_t own = 0, n = 0;
    for (size_t i = s->first[node]; i < s->count; i++) {
        own += s->node[i] == node ? marks_of(s, i, s->own + own) : 0;
    }
    own = last_of_each(s->own, own);
    for (size_t i = 0, k = 0; i < s->pooled && k < own;) {
        if (s->pool[i].id == s->own[k].id) {
            s->point[n].t = (double)(s->own[k].ts - s->graph.near);
            s->point[n++].delta = (double)(s->pool[i++].ts - s->own[k++].ts);
        } else if (s->pool[i].id < s->own[k].id) {
            i++;
        } else {
            k++;
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

void pt_clock_reach_by_marks(pt_clock_scratch_t *s) {
    for (bool more = true; more;) {
        more = false;
        pool_marks(s);
        for (size_t n = 1; n < s->graph.nodes && s->pooled > 0; n++) {
            if (s->graph.node[n].placed || s->first[n] == PT_CLOCK_NOWHERE) {
                continue;
            }
            pt_clock_line_t line = fit_marks(s, n);
            if (line.points > 0) {
                place_by_line(s, n, &line, PT_CLOCK_METHOD_BARRIER);
                more = true;
            }
        }
    }
}

/* ---- wall clocks ---- */

/* How the wall clock of a node runs against its monotonic one. */
static pt_clock_line_t fit_pairs(pt_clock_scratch_t *s, size_t node) {
    size_t n = 0, from;
    int64_t to_axis = s->graph.node[node].to_axis;
    for (size_t i = s->first[node]; i < s->count; i++) {
        const pt_clock_notes_t *notes = s->in[i].notes;
        for (size_t k = 0; s->node[i] == node && notes != NULL && pt_clock_is_known(&s->in[i]) &&
                           k < notes->pairs;
             k++) {
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
