/* clock_result.c: the map of a file's times, and how sure it is. SPDX-License-Identifier: MIT */
#include "clock_scratch.h"

#include <math.h>
#include <stdlib.h>

#define MONO_BOUND_NS 1000                   /* two reads of one clock on different cores */
#define OUTSIDE_NS    INT64_C(1000000000000) /* so far out a map is looked at for its slope */
#define STRAIGHT_NS   3.0                    /* corners within this of a line are on it */
#define MIN_DRIFT_NS  1000000000             /* over less the mean drift is not worked out */

const char *pt_clock_method_text(pt_clock_method_t method) {
    static const char *const texts[] = {
#define PT_I_CLOCK_TEXT(name, text) text,
        PT_CLOCK_METHOD_LIST(PT_I_CLOCK_TEXT)
#undef PT_I_CLOCK_TEXT
    };
    return texts[method];
}

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
static bool set_map(const pt_clock_scratch_t *s, size_t file, int64_t *corner, size_t n,
                    double *ret_worst) {
    const pt_clock_in_t *f = &s->in[file];
    pt_clock_out_t *out = &s->out[file];
    size_t node = s->node[file], bends = 0;
    int64_t from = pt_clock_within(pt_clock_add(s->zero[file], pt_clock_within(f->first_ts)));
    int64_t to =
        PT_MAX(from, pt_clock_within(pt_clock_add(s->zero[file], pt_clock_within(f->last_ts))));
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
    out->shift_ns = pt_clock_add(s->zero[file], at.at - from);
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
static void set_difference(const pt_clock_scratch_t *s, size_t file) {
    pt_clock_out_t *out = &s->out[file];
    size_t node = s->node[file];
    int64_t near = s->graph.near, own = near;
    for (unsigned i = 0; i < 4; i++) {
        own = pt_clock_add(near, -(pt_clock_graph_place(&s->graph, node, own).at - own));
    }
    double rate = out->rate;
    int64_t length = pt_clock_within(s->in[file].last_ts) - pt_clock_within(s->in[file].first_ts);
    if (out->bends > 0 && length >= MIN_DRIFT_NS) {
        int64_t from = pt_clock_within(s->in[file].first_ts);
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
    for (size_t i = 0; f->notes != NULL && pt_clock_is_known(f) && i < f->notes->pairs; i++) {
        const pt_clock_pair_t *p = &f->notes->pair[i];
        int64_t off = p->ts != 0 ? pt_clock_add(p->mono_ns - f->mono_ns, -p->ts) : 0;
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
static void set_method(const pt_clock_scratch_t *s, size_t file) {
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

bool pt_clock_set_result(const pt_clock_scratch_t *s, size_t file) {
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
