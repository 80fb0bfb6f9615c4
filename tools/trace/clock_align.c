/* clock_align.c: puts the clocks of several trace files onto one axis. SPDX-License-Identifier: MIT
 *
 * Files of one boot share a clock: a node of the graph. Its axis is the wall clock that its first
 * file claims; the axis of the first file's clock is that of the merged trace. */
#include "clock_align.h"

#include "clock_scratch.h"

#include <stdlib.h>

#define SHARED_SPAN_NS  3600000000000    /* unknown clocks this close together are taken as one */
#define EXACT_DOUBLE_NS 9007199254740992 /* doubles are exact to the nanosecond below 2^53 */

/* Everything but the common base. */
static bool align_nodes(pt_clock_scratch_t *s, size_t marks) {
    bool related = false;
    pt_clock_scratch_files(s);
    s->graph.near = s->zero[0];
    s->graph.node[0].placed = true;
    pt_clock_graph_reach(&s->graph);
    if (!pt_clock_reach_by_marks(s, marks)) {
        return false;
    }
    if (s->in[0].kind == PT_CLOCK_EPOCH) {
        pt_clock_reach_by_wall(s);
    }
    for (size_t i = 0; i < s->count; i++) {
        if (!pt_clock_set_result(s, i)) {
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
        out[i].shift_ns = pt_clock_add(out[i].shift_ns, -base);
    }
    return known ? base : INT64_MIN;
}

static void free_scratch(pt_clock_scratch_t *s) {
    free(s->node);
    free(s->first);
    free(s->zero);
    free(s->file);
    free(s->from);
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
        marks += pt_clock_mark_count(&in[i]);
        pairs += in[i].notes != NULL ? in[i].notes->pairs : 0;
        readings += in[i].notes != NULL ? in[i].notes->readings : 0;
    }
    if (count == 0) {
        return true;
    }
    size_t nodes = count + readings;
    pt_clock_scratch_t s = {.in = in,
                            .out = out,
                            .count = count,
                            .node = calloc(count, sizeof *s.node),
                            .first = calloc(nodes, sizeof *s.first),
                            .zero = calloc(count, sizeof *s.zero),
                            .file = calloc(count, sizeof *s.file),
                            .from = calloc(nodes + 1, sizeof *s.from),
                            .point = calloc(marks + pairs + 1, sizeof *s.point),
                            .method = calloc(nodes, sizeof *s.method),
                            .graph.node = calloc(nodes, sizeof *s.graph.node)};
    bool ok = s.node != NULL && s.first != NULL && s.zero != NULL && s.file != NULL &&
              s.from != NULL && s.point != NULL && s.method != NULL && s.graph.node != NULL &&
              pt_clock_scratch_nodes(&s, &names) && pt_clock_scratch_ways(&s, &names, readings) &&
              align_nodes(&s, marks);
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
