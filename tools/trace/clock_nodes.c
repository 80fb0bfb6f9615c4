/* clock_nodes.c: the clocks of files and the ways between them. SPDX-License-Identifier: MIT */
#include "clock_scratch.h"

#include <stdlib.h>
#include <string.h>

static size_t new_node(pt_clock_scratch_t *s, size_t first_file) {
    size_t n = s->graph.nodes++;
    s->first[n] = first_file;
    s->graph.node[n] =
        (pt_clock_node_t){.first = INT64_MAX, .last = INT64_MIN, .way = PT_CLOCK_NOWHERE};
    return n;
}

/* The node of the clock of this name, made when new; NOWHERE without memory. */
static size_t node_of_name(pt_clock_scratch_t *s, perftrace__hashmap_t *names, uint64_t name,
                           size_t file) {
    bool is_new = false;
    const uint64_t *slot = perftrace__hashmap_put_u64(names, name, s->graph.nodes, &is_new);
    if (slot == NULL) {
        return PT_CLOCK_NOWHERE;
    }
    return is_new ? new_node(s, file) : (size_t)*slot;
}

bool pt_clock_scratch_nodes(pt_clock_scratch_t *s, perftrace__hashmap_t *names) {
    for (size_t i = 0; i < s->count; i++) {
        const pt_clock_in_t *f = &s->in[i];
        size_t n = pt_clock_is_known(f)
                       ? node_of_name(s, names, pt_clock_name(f->boot_id, strlen(f->boot_id)), i)
                       : new_node(s, i);
        if (n == PT_CLOCK_NOWHERE) {
            return false;
        }
        s->node[i] = n;
        const pt_clock_in_t *first = &s->in[s->first[n]];
        int64_t epoch = first->kind == PT_CLOCK_EPOCH ? first->epoch_ns : 0;
        pt_clock_node_t *node = &s->graph.node[n];
        s->zero[i] = s->first[n] == i ? epoch : pt_clock_add(epoch, f->mono_ns - first->mono_ns);
        node->to_axis = pt_clock_is_known(first) ? epoch - first->mono_ns : 0;
        node->first = PT_MIN(
            node->first, pt_clock_within(pt_clock_add(s->zero[i], pt_clock_within(f->first_ts))));
        node->last = PT_MAX(node->last,
                            pt_clock_within(pt_clock_add(s->zero[i], pt_clock_within(f->last_ts))));
    }
    return true;
}

/* Puts the files of each node side by side, in their order; afterwards no node gets one. */
void pt_clock_scratch_files(pt_clock_scratch_t *s) {
    for (size_t i = 0; i < s->count; i++) {
        s->from[s->node[i] + 1]++;
    }
    for (size_t n = 0; n < s->graph.nodes; n++) {
        s->from[n + 1] += s->from[n];
    }
    for (size_t i = s->count; i-- > 0;) { /* from[n + 1] runs back from n's end to its start */
        s->file[--s->from[s->node[i] + 1]] = i;
    }
    for (size_t n = 0; n < s->graph.nodes; n++) {
        s->from[n] = s->from[n + 1];
    }
    s->from[s->graph.nodes] = s->count;
}

typedef struct tagged {
    size_t own, ref;
    pt_clock_reading_t r;
} tagged_t;

static int by_way(const void *a, const void *b) {
    const tagged_t *x = a, *y = b;
    return x->own != y->own ? (x->own > y->own) - (x->own < y->own)
                            : (x->ref > y->ref) - (x->ref < y->ref);
}

static size_t collect(pt_clock_scratch_t *s, perftrace__hashmap_t *names, tagged_t *all, bool *ok) {
    size_t n = 0;
    for (size_t i = 0; i < s->count && *ok; i++) {
        const pt_clock_notes_t *notes = s->in[i].notes;
        for (size_t k = 0; notes != NULL && pt_clock_is_known(&s->in[i]) && k < notes->readings;
             k++) {
            size_t ref = node_of_name(s, names, notes->reading[k].ref, PT_CLOCK_NOWHERE);
            *ok &= ref != PT_CLOCK_NOWHERE;
            if (*ok && ref != s->node[i]) { /* of its own clock a file need not be told */
                all[n++] = (tagged_t){s->node[i], ref, notes->reading[k]};
            }
        }
    }
    return n;
}

bool pt_clock_scratch_ways(pt_clock_scratch_t *s, perftrace__hashmap_t *names, size_t readings) {
    tagged_t *all = calloc(readings + 1, sizeof *all);
    pt_clock_reading_t *some = calloc(readings + 1, sizeof *some);
    s->graph.way = calloc(readings + 1, sizeof *s->graph.way);
    bool ok = all != NULL && some != NULL && s->graph.way != NULL;
    size_t n = ok ? collect(s, names, all, &ok) : 0;
    if (n > 1) {
        qsort(all, n, sizeof *all, by_way);
    }
    for (size_t i = 0, end; i < n && ok; i = end) {
        for (end = i; end < n && by_way(&all[i], &all[end]) == 0; end++) {
            some[end - i] = all[end].r;
        }
        pt_clock_way_t *w = &s->graph.way[s->graph.ways];
        *w = (pt_clock_way_t){.own = all[i].own, .ref = all[i].ref};
        ok = pt_clock_curve_fit(some, end - i, &w->curve);
        if (w->curve.count > 0) {
            pt_clock_graph_cost(&s->graph, w);
            s->graph.ways++;
        }
    }
    free(all);
    free(some);
    return ok;
}
