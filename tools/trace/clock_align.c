/* clock_align.c: puts the clocks of several trace files onto one axis. SPDX-License-Identifier: MIT
 *
 * Files of one boot share a clock: a node of the graph. Its axis is the wall clock that its first
 * file claims; the axis of the first file's clock is that of the merged trace. */
#include "clock_align.h"

#include "clock_graph.h"
#include "hashmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MONO_BOUND_NS   1000             /* two reads of one clock on different cores */
#define SHARED_SPAN_NS  3600000000000    /* unknown clocks this close together are taken as one */
#define EXACT_DOUBLE_NS 9007199254740992 /* doubles are exact to the nanosecond below 2^53 */
#define OUTSIDE_NS      INT64_C(1000000000000) /* so far out a map is looked at for its slope */
#define STRAIGHT_NS     3.0                    /* corners within this of a line are on it */
#define MIN_DRIFT_NS    1000000000             /* over less the mean drift is not worked out */

typedef struct scratch {
    const pt_clock_in_t *in;
    pt_clock_out_t *out;
    size_t count;
    size_t *node;  /* of each file */
    size_t *first; /* of each node: its first file; NOWHERE for clocks without files */
    int64_t *zero; /* of each file: its ts 0 on its node's axis */
    pt_clock_graph_t graph;
    pt_sync_mark_t *pool, *own; /* marks of what is placed, on the root's axis; of one node */
    size_t pooled;
    pt_clock_point_t *point;
    pt_clock_method_t *method; /* of each node's last step to the root's axis */
} scratch_t;

const char *pt_clock_method_text(pt_clock_method_t method) {
    static const char *const texts[] = {
#define PT_I_CLOCK_TEXT(name, text) text,
        PT_CLOCK_METHOD_LIST(PT_I_CLOCK_TEXT)
#undef PT_I_CLOCK_TEXT
    };
    return texts[method];
}

/* Sums of what files claim: what would overflow is nonsense, but must not be undefined. */
static int64_t add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t within(int64_t t) {
    return PT_MIN(PT_MAX(t, -PT_CLOCK_LIMIT), PT_CLOCK_LIMIT);
}

static bool knows_clock(const pt_clock_in_t *f) {
    return f->has_mono && f->boot_id != NULL && f->boot_id[0] != '\0' && f->mono_ns >= 0 &&
           f->mono_ns < PT_CLOCK_LIMIT &&
           (f->kind != PT_CLOCK_EPOCH || (f->epoch_ns >= 0 && f->epoch_ns < PT_CLOCK_LIMIT));
}

static size_t mark_count(const pt_clock_in_t *f) {
    return f->notes != NULL ? f->notes->marks : 0;
}

/* ---- clocks and the ways between them ---- */

static size_t new_node(scratch_t *s, size_t first_file) {
    size_t n = s->graph.nodes++;
    s->first[n] = first_file;
    s->graph.node[n] =
        (pt_clock_node_t){.first = INT64_MAX, .last = INT64_MIN, .way = PT_CLOCK_NOWHERE};
    return n;
}

/* The node of the clock of this name, made when new; NOWHERE without memory. */
static size_t node_of_name(scratch_t *s, perftrace__hashmap_t *names, uint64_t name, size_t file) {
    bool is_new = false;
    const uint64_t *slot = perftrace__hashmap_put_u64(names, name, s->graph.nodes, &is_new);
    if (slot == NULL) {
        return PT_CLOCK_NOWHERE;
    }
    return is_new ? new_node(s, file) : (size_t)*slot;
}

static bool make_nodes(scratch_t *s, perftrace__hashmap_t *names) {
    for (size_t i = 0; i < s->count; i++) {
        const pt_clock_in_t *f = &s->in[i];
        size_t n = knows_clock(f)
                       ? node_of_name(s, names, pt_clock_name(f->boot_id, strlen(f->boot_id)), i)
                       : new_node(s, i);
        if (n == PT_CLOCK_NOWHERE) {
            return false;
        }
        s->node[i] = n;
        const pt_clock_in_t *first = &s->in[s->first[n]];
        int64_t epoch = first->kind == PT_CLOCK_EPOCH ? first->epoch_ns : 0;
        pt_clock_node_t *node = &s->graph.node[n];
        s->zero[i] = s->first[n] == i ? epoch : add(epoch, f->mono_ns - first->mono_ns);
        node->to_axis = knows_clock(first) ? epoch - first->mono_ns : 0;
        node->first = PT_MIN(node->first, within(add(s->zero[i], within(f->first_ts))));
        node->last = PT_MAX(node->last, within(add(s->zero[i], within(f->last_ts))));
    }
    return true;
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

static size_t collect(scratch_t *s, perftrace__hashmap_t *names, tagged_t *all, bool *ok) {
    size_t n = 0;
    for (size_t i = 0; i < s->count && *ok; i++) {
        const pt_clock_notes_t *notes = s->in[i].notes;
        for (size_t k = 0; notes != NULL && knows_clock(&s->in[i]) && k < notes->readings; k++) {
            size_t ref = node_of_name(s, names, notes->reading[k].ref, PT_CLOCK_NOWHERE);
            *ok &= ref != PT_CLOCK_NOWHERE;
            if (*ok && ref != s->node[i]) { /* of its own clock a file need not be told */
                all[n++] = (tagged_t){s->node[i], ref, notes->reading[k]};
            }
        }
    }
    return n;
}

static bool make_ways(scratch_t *s, perftrace__hashmap_t *names, size_t readings) {
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
        s->graph.ways += w->curve.count > 0;
    }
    free(all);
    free(some);
    return ok;
}

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
static size_t marks_of(const scratch_t *s, size_t file, pt_sync_mark_t *ret) {
    size_t n = mark_count(&s->in[file]), kept = 0;
    for (size_t k = 0; k < n; k++) {
        const pt_sync_mark_t *m = &s->in[file].notes->mark[k];
        ret[k] = (pt_sync_mark_t){m->id, within(add(within(m->ts), s->zero[file]))};
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
static void pool_marks(scratch_t *s) {
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
static pt_clock_line_t fit_marks(scratch_t *s, size_t node) {
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

static void place_by_line(scratch_t *s, size_t node, const pt_clock_line_t *line,
                          pt_clock_method_t method) {
    pt_clock_node_t *n = &s->graph.node[node];
    n->placed = n->by_line = true;
    n->line = *line;
    n->way = PT_CLOCK_NOWHERE;
    s->method[node] = method;
    pt_clock_graph_reach(&s->graph);
}

static void reach_by_marks(scratch_t *s) {
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
static pt_clock_line_t fit_pairs(scratch_t *s, size_t node) {
    size_t n = 0, from;
    int64_t to_axis = s->graph.node[node].to_axis;
    for (size_t i = s->first[node]; i < s->count; i++) {
        const pt_clock_notes_t *notes = s->in[i].notes;
        for (size_t k = 0;
             s->node[i] == node && notes != NULL && knows_clock(&s->in[i]) && k < notes->pairs;
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

static void reach_by_wall(scratch_t *s) {
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

/* ---- results ---- */

static int by_instant(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Whether the corners lie on one line, from the first to the last. */
static bool on_a_line(const pt_clock_bend_t *b, size_t n, double *ret_rate) {
    *ret_rate = (b[n - 1].delta - b[0].delta) / (b[n - 1].t - b[0].t);
    for (size_t i = 0; i < n; i++) {
        if (fabs(b[0].delta + *ret_rate * (b[i].t - b[0].t) - b[i].delta) > STRAIGHT_NS) {
            return false;
        }
    }
    return true;
}

/* Corners of the map from a file's ts: those of its node, its own ends, and far out on both sides.
 */
static bool set_map(const scratch_t *s, size_t file, int64_t *corner, size_t n, double *ret_worst) {
    const pt_clock_in_t *f = &s->in[file];
    pt_clock_out_t *out = &s->out[file];
    size_t node = s->node[file], bends = 0;
    int64_t from = within(add(s->zero[file], within(f->first_ts)));
    int64_t to = PT_MAX(from, within(add(s->zero[file], within(f->last_ts))));
    corner[n++] = from;
    corner[n++] = to;
    qsort(corner, n, sizeof *corner, by_instant);
    corner[n] = corner[n - 1] + OUTSIDE_NS;
    corner[n + 1] = corner[0] - OUTSIDE_NS;
    n += 2;
    qsort(corner, n, sizeof *corner, by_instant);
    out->bend = calloc(n, sizeof *out->bend);
    if (out->bend == NULL) {
        return false;
    }
    pt_clock_place_t at = pt_clock_graph_place(&s->graph, node, from);
    out->shift_ns = add(s->zero[file], at.at - from);
    out->pivot_ns = from - s->zero[file];
    for (size_t i = 0; i < n; i++) {
        pt_clock_place_t p = pt_clock_graph_place(&s->graph, node, corner[i]);
        if (bends == 0 || corner[i] > corner[i - 1]) {
            out->bend[bends++] = (pt_clock_bend_t){(double)(corner[i] - from),
                                                   (double)((p.at - corner[i]) - (at.at - from))};
        }
        if (corner[i] >= from && corner[i] <= to) {
            *ret_worst = fmax(*ret_worst, p.bound);
        }
    }
    out->bends = bends;
    if (on_a_line(out->bend, bends, &out->rate)) {
        free(out->bend);
        out->bend = NULL;
        out->bends = 0;
    }
    return true;
}

/* How the own clock stands against the root's, when that reads `near`, and runs, over the file. */
static void set_difference(const scratch_t *s, size_t file) {
    pt_clock_out_t *out = &s->out[file];
    size_t node = s->node[file];
    int64_t near = s->graph.near, own = near;
    for (unsigned i = 0; i < 4; i++) {
        own = add(near, -(pt_clock_graph_place(&s->graph, node, own).at - own));
    }
    double rate = out->rate;
    int64_t length = within(s->in[file].last_ts) - within(s->in[file].first_ts);
    if (out->bends > 0 && length >= MIN_DRIFT_NS) {
        int64_t from = within(s->in[file].first_ts);
        rate = (double)(pt_clock_bent(out, from + length - out->pivot_ns) -
                        pt_clock_bent(out, from - out->pivot_ns)) /
               (double)length;
    }
    out->offset_ns = own - near;
    out->drift_ppm = -rate / (1 + rate) * 1e6;
}

/* What a file's events are off its machine's clock: nothing, but for how its counter is read. */
static int64_t own_bound(const pt_clock_in_t *f) {
    int64_t bound = 0;
    for (size_t i = 0; f->notes != NULL && knows_clock(f) && i < f->notes->pairs; i++) {
        const pt_clock_pair_t *p = &f->notes->pair[i];
        int64_t off = p->ts != 0 ? add(p->mono_ns - f->mono_ns, -p->ts) : 0;
        bound = PT_MAX(bound, off < 0 ? -PT_MAX(off, -PT_CLOCK_LIMIT) : off);
    }
    return bound;
}

static void set_steps(const pt_clock_in_t *f, pt_clock_out_t *out) {
    for (size_t i = 1; f->notes != NULL && i < f->notes->pairs; i++) {
        int64_t step = pt_clock_step(&f->notes->pair[i - 1], &f->notes->pair[i]);
        out->wall_steps += step != 0;
        out->wall_step_ns = llabs(step) > llabs(out->wall_step_ns) ? step : out->wall_step_ns;
    }
}

/* The weakest step on a node's way to the root. */
static void set_method(const scratch_t *s, size_t file) {
    pt_clock_out_t *out = &s->out[file];
    const pt_clock_node_t *n = &s->graph.node[s->node[file]];
    out->method = n->by_line ? s->method[s->node[file]] : PT_CLOCK_METHOD_EXCHANGE;
    out->marks = n->by_line ? n->line.points : 0;
    for (size_t at = s->node[file]; n->way != PT_CLOCK_NOWHERE;) {
        const pt_clock_way_t *w = &s->graph.way[n->way];
        if (out->readings == 0) {
            out->readings = w->curve.used;
            out->refused = w->curve.refused;
        }
        at = w->own == at ? w->ref : w->own;
        n = &s->graph.node[at];
        out->method = n->by_line ? s->method[at] : out->method;
    }
}

static bool set_result(const scratch_t *s, size_t file) {
    pt_clock_out_t *out = &s->out[file];
    size_t node = s->node[file], n;
    double worst = 0;
    *out = (pt_clock_out_t){.method =
                                file == 0 ? PT_CLOCK_METHOD_REFERENCE : PT_CLOCK_METHOD_MONOTONIC,
                            .shift_ns = s->zero[file],
                            .bound_ns = file == 0 ? 0 : MONO_BOUND_NS};
    set_steps(&s->in[file], out);
    if (node == 0) {
        return true;
    }
    if (!s->graph.node[node].placed) {
        out->method = PT_CLOCK_METHOD_NONE;
        out->bound_ns = -1;
        return true;
    }
    int64_t *corner = pt_clock_graph_corners(&s->graph, node, &n);
    bool ok = corner != NULL && set_map(s, file, corner, n, &worst);
    free(corner);
    if (ok) {
        set_method(s, file);
        set_difference(s, file);
        out->bound_ns = out->method == PT_CLOCK_METHOD_WALL || worst > (double)PT_CLOCK_LIMIT
                            ? -1
                            : (int64_t)ceil(worst) + MONO_BOUND_NS + own_bound(&s->in[file]);
    }
    return ok;
}

/* Everything but the common base. */
static bool align_nodes(scratch_t *s) {
    bool related = false;
    s->graph.near = s->zero[0];
    s->graph.node[0].placed = true;
    pt_clock_graph_reach(&s->graph);
    reach_by_marks(s);
    if (s->in[0].kind == PT_CLOCK_EPOCH) {
        reach_by_wall(s);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (!set_result(s, i)) {
            return false;
        }
        related |= s->out[i].method == PT_CLOCK_METHOD_BARRIER ||
                   s->out[i].method == PT_CLOCK_METHOD_EXCHANGE;
    }
    /* A reference that nothing was measured against, and that knows no time of day, is none. */
    for (size_t i = 0; i < s->count && !related && s->in[0].kind == PT_CLOCK_OWN_ZERO; i++) {
        s->out[i].method = s->node[i] == 0 ? PT_CLOCK_METHOD_NONE : s->out[i].method;
    }
    return true;
}

static bool is_placed(const pt_clock_in_t *in, const pt_clock_out_t *out) {
    return in->kind == PT_CLOCK_EPOCH || out->method == PT_CLOCK_METHOD_BARRIER ||
           out->method == PT_CLOCK_METHOD_EXCHANGE || out->method == PT_CLOCK_METHOD_REFERENCE ||
           out->method == PT_CLOCK_METHOD_MONOTONIC;
}

/* Files with unknown clocks: side by side as they are when their times lie close together, else
 * each from its own first event. */
static void place_unknown(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out,
                          int64_t base) {
    int64_t lo = INT64_MAX, hi_first = INT64_MIN, hi = INT64_MIN;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_placed(&in[i], &out[i])) {
            lo = PT_MIN(lo, in[i].first_ts);
            hi_first = PT_MAX(hi_first, in[i].first_ts);
            hi = PT_MAX(hi, in[i].last_ts);
            n++;
        }
    }
    bool shared = n > 1 && lo > SHARED_SPAN_NS && hi_first - lo < SHARED_SPAN_NS;
    for (size_t i = 0; i < count && n > 0; i++) {
        if (is_placed(&in[i], &out[i])) {
            continue;
        }
        int64_t first = shared || n == 1 ? lo : in[i].first_ts;
        int64_t last = shared || n == 1 ? hi : in[i].last_ts;
        bool far = first < 0 || last > EXACT_DOUBLE_NS || (n > 1 && first > SHARED_SPAN_NS);
        out[i].shift_ns = base - (far ? first : 0);
        if (shared) {
            out[i].method = PT_CLOCK_METHOD_SHARED;
        }
    }
}

static int64_t set_base(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out) {
    int64_t base = INT64_MAX;
    bool known = in[0].kind == PT_CLOCK_EPOCH;
    for (size_t i = 0; i < count; i++) {
        if (is_placed(&in[i], &out[i])) {
            base = PT_MIN(base, pt_clock_map(&out[i], in[i].first_ts));
            known |= in[i].kind == PT_CLOCK_EPOCH;
        }
    }
    base = base == INT64_MAX ? 0 : base;
    place_unknown(in, count, out, base);
    for (size_t i = 0; i < count; i++) {
        out[i].shift_ns = add(out[i].shift_ns, -base);
    }
    return known ? base : INT64_MIN;
}

static void free_scratch(scratch_t *s) {
    free(s->node);
    free(s->first);
    free(s->zero);
    free(s->pool);
    free(s->own);
    free(s->point);
    free(s->method);
    pt_clock_graph_free(&s->graph);
}

bool pt_clock_align(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out,
                    int64_t *ret_base_epoch_ns) {
    size_t marks = 0, pairs = 0, readings = 0;
    perftrace__hashmap_t names = PERFTRACE__HASHMAP_INIT;
    *ret_base_epoch_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        out[i] = (pt_clock_out_t){0};
        marks += mark_count(&in[i]);
        pairs += in[i].notes != NULL ? in[i].notes->pairs : 0;
        readings += in[i].notes != NULL ? in[i].notes->readings : 0;
    }
    if (count == 0) {
        return true;
    }
    size_t nodes = count + readings;
    scratch_t s = {.in = in,
                   .out = out,
                   .count = count,
                   .node = calloc(count, sizeof *s.node),
                   .first = calloc(nodes, sizeof *s.first),
                   .zero = calloc(count, sizeof *s.zero),
                   .pool = calloc(marks + 1, sizeof *s.pool),
                   .own = calloc(marks + 1, sizeof *s.own),
                   .point = calloc(marks + pairs + 1, sizeof *s.point),
                   .method = calloc(nodes, sizeof *s.method),
                   .graph.node = calloc(nodes, sizeof *s.graph.node)};
    bool ok = s.node != NULL && s.first != NULL && s.zero != NULL && s.pool != NULL &&
              s.own != NULL && s.point != NULL && s.method != NULL && s.graph.node != NULL &&
              make_nodes(&s, &names) && make_ways(&s, &names, readings) && align_nodes(&s);
    if (ok) {
        *ret_base_epoch_ns = set_base(in, count, out);
    }
    for (size_t i = 0; i < count && !ok; i++) {
        pt_clock_out_free(&out[i]);
    }
    perftrace__hashmap_free(&names);
    free_scratch(&s);
    return ok;
}

void pt_clock_out_free(pt_clock_out_t *out) {
    free(out->bend);
    out->bend = NULL;
    out->bends = 0;
}

int64_t pt_clock_bent(const pt_clock_out_t *c, int64_t t) {
    double at = (double)t;
    size_t lo = 1, hi = c->bends - 1;
    while (lo < hi) { /* the last corner of the piece that t is in, or next to */
        size_t mid = lo + (hi - lo) / 2;
        if (c->bend[mid].t <= at) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    const pt_clock_bend_t *a = &c->bend[lo - 1], *b = &c->bend[lo];
    return (int64_t)floor(a->delta + (b->delta - a->delta) / (b->t - a->t) * (at - a->t));
}
