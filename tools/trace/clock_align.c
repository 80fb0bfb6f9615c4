/* clock_align.c: puts the clocks of several trace files onto one axis. SPDX-License-Identifier: MIT
 *
 * Files of one boot form a group; a group has one clock. Each group gets a line from its own axis
 * (the wall clock that its first file claims) to the axis of the first group. */
#include "clock_align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MONO_BOUND_NS   1000             /* two reads of one clock on different cores */
#define SHARED_SPAN_NS  3600000000000    /* unknown clocks this close together are taken as one */
#define EXACT_DOUBLE_NS 9007199254740992 /* doubles are exact to the nanosecond below 2^53 */
#define MIN_FIT_SPAN_NS 1000000000.0     /* a drift from a shorter stretch would be noise */

/* target = at + (t - at) + offset + drift * (t - pivot), with a fitted offset and drift. */
typedef struct line {
    double offset, drift, pivot, residual;
    unsigned points;
} line_t;

typedef struct point {
    double t, delta; /* delta: reference minus own */
} point_t;

const char *pt_clock_method_text(pt_clock_method_t method) {
    static const char *const texts[] = {
#define PT_I_CLOCK_TEXT(name, text) text,
        PT_CLOCK_METHOD_LIST(PT_I_CLOCK_TEXT)
#undef PT_I_CLOCK_TEXT
    };
    return texts[method];
}

static bool same_group(const pt_clock_in_t *a, const pt_clock_in_t *b) {
    return a->has_mono && b->has_mono && a->boot_id != NULL && b->boot_id != NULL &&
           a->boot_id[0] != '\0' && strcmp(a->boot_id, b->boot_id) == 0;
}

/* Least squares; one point gives an offset only. */
static line_t fit(const point_t *p, size_t n) {
    line_t l = {0, 0, 0, 0, (unsigned)n};
    double mean_t = 0, mean_d = 0, tt = 0, td = 0, lo = 0, hi = 0;
    for (size_t i = 0; i < n; i++) {
        mean_t += (p[i].t - p[0].t) / (double)n;
        mean_d += p[i].delta / (double)n;
        lo = fmin(lo, p[i].t - p[0].t);
        hi = fmax(hi, p[i].t - p[0].t);
    }
    if (n == 0) {
        return l;
    }
    mean_t += p[0].t;
    for (size_t i = 0; i < n; i++) {
        tt += (p[i].t - mean_t) * (p[i].t - mean_t);
        td += (p[i].t - mean_t) * (p[i].delta - mean_d);
    }
    l.drift = hi - lo >= MIN_FIT_SPAN_NS ? td / tt : 0;
    l.pivot = mean_t;
    l.offset = mean_d;
    for (size_t i = 0; i < n; i++) {
        l.residual = fmax(l.residual, fabs(p[i].delta - l.offset - l.drift * (p[i].t - mean_t)));
    }
    return l;
}

static int compare_mark(const void *a, const void *b) {
    const pt_sync_mark_t *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->ts > y->ts) - (x->ts < y->ts);
}

/* One group's marks on its own axis, one an id: the last rank to leave says when it was over. */
static size_t group_marks(const pt_clock_in_t *in, size_t count, const size_t *group, size_t g,
                          const int64_t *zero, pt_sync_mark_t *out) {
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; group[i] == g && k < in[i].mark_count; k++) {
            out[n++] = (pt_sync_mark_t){in[i].marks[k].id, in[i].marks[k].ts + zero[i]};
        }
    }
    qsort(out, n, sizeof *out, compare_mark);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || out[i + 1].id != out[i].id) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

/* The line from group g's axis to the reference's by the barriers both passed. Own times are kept
 * relative to `near` so that a double holds them to the nanosecond. */
static line_t fit_marks(const pt_sync_mark_t *ref, size_t ref_count, const pt_sync_mark_t *own,
                        size_t own_count, int64_t near, point_t *points) {
    size_t n = 0;
    for (size_t i = 0, k = 0; i < ref_count && k < own_count;) {
        if (ref[i].id == own[k].id) {
            points[n].t = (double)(own[k].ts - near);
            points[n++].delta = (double)(ref[i++].ts - own[k++].ts);
        } else if (ref[i].id < own[k].id) {
            i++;
        } else {
            k++;
        }
    }
    return fit(points, n);
}

/* How the wall clock of group g runs against its monotonic one. */
static line_t fit_pairs(const pt_clock_in_t *in, size_t count, const size_t *group, size_t g,
                        int64_t near, point_t *points) {
    size_t n = 0;
    int64_t mono_to_axis = in[g].epoch_ns - in[g].mono_ns;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; group[i] == g && k < in[i].pair_count; k++) {
            int64_t own = in[i].pairs[k].mono_ns + mono_to_axis;
            points[n].t = (double)(own - near);
            points[n++].delta = (double)(in[i].pairs[k].epoch_ns - own);
        }
    }
    return fit(points, n);
}

/* From one axis to the other where both are known against the wall clock. */
static line_t line_between(const line_t *own, const line_t *ref) {
    line_t l = *own;
    l.offset -= ref->offset + ref->drift * (own->pivot - ref->pivot);
    l.drift -= ref->drift;
    return l;
}

static void set_line(pt_clock_out_t *out, const line_t *l, int64_t zero, int64_t near,
                     pt_clock_method_t method) {
    out->method = method;
    out->shift_ns = zero + (int64_t)llround(l->offset);
    out->rate = l->drift;
    out->pivot_ns = near + (int64_t)llround(l->pivot) - zero;
    out->bound_ns = (int64_t)ceil(l->residual) + MONO_BOUND_NS;
    /* Of the own clock against the reference's, when the reference reads `near`. */
    out->offset_ns = -(int64_t)llround((l->offset - l->drift * l->pivot) / (1 + l->drift));
    out->drift_ppm = -l->drift / (1 + l->drift) * 1e6;
    out->marks = l->points;
}

typedef struct scratch {
    size_t *group; /* of each file: index of the group's first file */
    int64_t *zero; /* of each file: its ts 0 on its group's axis */
    pt_sync_mark_t *ref, *own;
    point_t *points;
    size_t ref_count;
} scratch_t;

/* Everything but the common base. Group g's axis: the wall clock as its first file read it. */
static void align_groups(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out, scratch_t *s) {
    bool barrier = false;
    for (size_t i = 0; i < count; i++) {
        s->group[i] = i;
        for (size_t k = 0; k < i && s->group[i] == i; k++) {
            s->group[i] = same_group(&in[k], &in[i]) ? s->group[k] : i;
        }
        const pt_clock_in_t *first = &in[s->group[i]];
        int64_t epoch = first->kind == PT_CLOCK_EPOCH ? first->epoch_ns : 0;
        s->zero[i] = s->group[i] == i ? epoch : epoch + (in[i].mono_ns - first->mono_ns);
    }
    s->ref_count = group_marks(in, count, s->group, 0, s->zero, s->ref);
    for (size_t i = 0; i < count; i++) {
        size_t g = s->group[i];
        const pt_clock_in_t *first = &in[g];
        int64_t near = s->zero[0];
        out[i] = (pt_clock_out_t){.method = i == 0 ? PT_CLOCK_METHOD_REFERENCE
                                                   : PT_CLOCK_METHOD_MONOTONIC,
                                  .shift_ns = s->zero[i],
                                  .bound_ns = i == 0 ? 0 : MONO_BOUND_NS};
        if (g == 0) {
            continue;
        }
        size_t own = group_marks(in, count, s->group, g, s->zero, s->own);
        line_t l = fit_marks(s->ref, s->ref_count, s->own, own, near, s->points);
        if (l.points > 0) {
            set_line(&out[i], &l, s->zero[i], near, PT_CLOCK_METHOD_BARRIER);
        } else if (first->kind == PT_CLOCK_EPOCH && in[0].kind == PT_CLOCK_EPOCH) {
            line_t own_wall = fit_pairs(in, count, s->group, g, near, s->points);
            line_t ref_wall = fit_pairs(in, count, s->group, 0, near, s->points);
            l = line_between(&own_wall, &ref_wall);
            set_line(&out[i], &l, s->zero[i], near, PT_CLOCK_METHOD_WALL);
            out[i].bound_ns = -1;
            out[i].marks = 0;
        } else {
            out[i].method = PT_CLOCK_METHOD_NONE;
            out[i].bound_ns = -1;
        }
    }
    /* A reference that nothing was measured against, and that knows no time of day, is none. */
    for (size_t i = 0; i < count; i++) {
        barrier |= out[i].method == PT_CLOCK_METHOD_BARRIER;
    }
    for (size_t i = 0; i < count && !barrier && in[0].kind == PT_CLOCK_OWN_ZERO; i++) {
        out[i].method = s->group[i] == 0 ? PT_CLOCK_METHOD_NONE : out[i].method;
    }
}

static bool is_placed(const pt_clock_in_t *in, const pt_clock_out_t *out) {
    return in->kind == PT_CLOCK_EPOCH || out->method == PT_CLOCK_METHOD_BARRIER ||
           out->method == PT_CLOCK_METHOD_REFERENCE || out->method == PT_CLOCK_METHOD_MONOTONIC;
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

bool pt_clock_align(const pt_clock_in_t *in, size_t count, pt_clock_out_t *out,
                    int64_t *ret_base_epoch_ns) {
    size_t marks = 0, points = 0;
    *ret_base_epoch_ns = INT64_MIN;
    if (count == 0) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        marks += in[i].mark_count;
        points += in[i].mark_count + in[i].pair_count;
    }
    scratch_t s = {calloc(count, sizeof *s.group),       calloc(count, sizeof *s.zero),
                   calloc(marks + 1, sizeof *s.ref),     calloc(marks + 1, sizeof *s.own),
                   calloc(points + 1, sizeof *s.points), 0};
    bool ok =
        s.group != NULL && s.zero != NULL && s.ref != NULL && s.own != NULL && s.points != NULL;
    if (ok) {
        align_groups(in, count, out, &s);
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
            out[i].shift_ns -= base;
        }
        *ret_base_epoch_ns = known ? base : INT64_MIN;
    }
    free(s.group);
    free(s.zero);
    free(s.ref);
    free(s.own);
    free(s.points);
    return ok;
}
