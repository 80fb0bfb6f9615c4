/* clock_line.c. SPDX-License-Identifier: MIT */
#include "clock_line.h"

#include <math.h>
#include <stdlib.h>

#define MIN_FIT_SPAN_NS 1e9    /* a drift from a shorter stretch would be noise */
#define READ_NS         1000.0 /* two reads of a clock may be so far apart */
#define STEP_NS         10e6   /* what lies beyond a slew of 500 ppm by more was a step */

pt_clock_line_t pt_clock_line_fit(const pt_clock_point_t *p, size_t n) {
    pt_clock_line_t l = {.points = (unsigned)n, .doubt = PT_CLOCK_MAX_RATE};
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
    l.from = p[0].t + lo;
    l.to = p[0].t + hi;
    mean_t += p[0].t;
    for (size_t i = 0; i < n; i++) {
        tt += (p[i].t - mean_t) * (p[i].t - mean_t);
        td += (p[i].t - mean_t) * (p[i].delta - mean_d);
    }
    bool drifts = hi - lo >= MIN_FIT_SPAN_NS;
    /* Points that say more are wrong; then the residual tells. */
    l.drift = drifts ? fmax(fmin(td / tt, PT_CLOCK_MAX_RATE), -PT_CLOCK_MAX_RATE) : 0;
    l.pivot = mean_t;
    l.offset = mean_d;
    for (size_t i = 0; i < n; i++) {
        l.residual = fmax(l.residual, fabs(p[i].delta - l.offset - l.drift * (p[i].t - mean_t)));
    }
    if (drifts) {
        l.doubt = fmin(l.doubt, PT_CLOCK_WANDER + 2 * (l.residual + READ_NS) / (hi - lo));
    }
    return l;
}

double pt_clock_line_delta(const pt_clock_line_t *l, double t) {
    return l->offset + l->drift * (t - l->pivot);
}

double pt_clock_line_bound(const pt_clock_line_t *l, double t) {
    double beyond = fmax(0, fmax(l->from - t, t - l->to));
    return l->residual + l->doubt * beyond;
}

static int by_t(const void *a, const void *b) {
    const pt_clock_point_t *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

static bool is_step(double dt, double change) {
    return fabs(change) > STEP_NS + PT_CLOCK_MAX_RATE * fabs(dt);
}

size_t pt_clock_steady(pt_clock_point_t *p, size_t n, size_t *ret_from) {
    size_t from = 0, best = 0;
    double longest = -1;
    *ret_from = 0;
    if (n > 1) {
        qsort(p, n, sizeof *p, by_t);
    }
    for (size_t i = 1; i <= n; i++) {
        if (i == n || is_step(p[i].t - p[i - 1].t, p[i].delta - p[i - 1].delta)) {
            if (p[i - 1].t - p[from].t > longest) {
                longest = p[i - 1].t - p[from].t;
                *ret_from = from;
                best = i - from;
            }
            from = i;
        }
    }
    return best;
}

int64_t pt_clock_step(const pt_clock_pair_t *a, const pt_clock_pair_t *b) {
    int64_t change = (b->epoch_ns - b->mono_ns) - (a->epoch_ns - a->mono_ns);
    return is_step((double)(b->mono_ns - a->mono_ns), (double)change) ? change : 0;
}
