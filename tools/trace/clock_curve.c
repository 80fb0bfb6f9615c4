/* clock_curve.c. SPDX-License-Identifier: MIT */
#include "clock_curve.h"

#include "compiler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_ERROR_NS 100.0                  /* reading a clock takes its time, too */
#define MAX_ERROR_NS INT64_C(1000000000000) /* a reading worse than that says nothing */
#define MAX_READINGS 8192U                  /* more are thinned out */
#define RATE_POINTS  64U                    /* readings whose pairs tell the drift */
#define NEAR         8U                     /* neighbours that vote about a reading */
#define FEW          5U                     /* fewer readings cannot outvote one */
#define STEPS        10U                    /* wander is doubled at most so many times */

/* A reading with its difference, both from the first one, and from the straight line. */
typedef struct item {
    double t, d, e; /* instant, difference less the mean drift, error */
    bool out;
} item_t;

typedef struct slope {
    double rate, weight;
} slope_t;

typedef struct fit {
    item_t *item;
    size_t count;
    double rate, wander;
    unsigned refused;
} fit_t;

bool pt_clock_reading_ok(const pt_clock_reading_t *r) {
    return r->mono_ns >= 0 && r->mono_ns < PT_CLOCK_LIMIT && r->ref_ns >= 0 &&
           r->ref_ns < PT_CLOCK_LIMIT && r->error_ns >= 0 && r->error_ns <= MAX_ERROR_NS;
}

/* ---- preparation ---- */

static int by_time(const void *a, const void *b) {
    const pt_clock_reading_t *x = a, *y = b;
    if (x->mono_ns != y->mono_ns) {
        return x->mono_ns > y->mono_ns ? 1 : -1;
    }
    if (x->ref_ns != y->ref_ns) {
        return x->ref_ns > y->ref_ns ? 1 : -1;
    }
    return (x->error_ns > y->error_ns) - (x->error_ns < y->error_ns);
}

/* Of each of `cells` equal stretches the reading with the least error; indices to ret. */
static size_t best_of_cells(const item_t *p, size_t n, size_t cells, size_t *ret) {
    double from = p[0].t, cell = (p[n - 1].t - from) / (double)cells;
    size_t kept = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = cell > 0 ? PT_MIN((size_t)((p[i].t - from) / cell), cells - 1) : 0;
        if (kept == 0 || at != last) {
            ret[kept++] = i;
            last = at;
        } else if (p[i].e < p[ret[kept - 1]].e) {
            ret[kept - 1] = i;
        }
    }
    return kept;
}

static void drop_out(fit_t *f) {
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (!f->item[i].out) {
            f->item[kept++] = f->item[i];
        }
    }
    f->count = kept;
}

static bool thin(fit_t *f) {
    if (f->count <= MAX_READINGS) {
        return true;
    }
    size_t *keep = calloc(MAX_READINGS, sizeof *keep);
    if (keep == NULL) {
        return false;
    }
    size_t n = best_of_cells(f->item, f->count, MAX_READINGS, keep);
    for (size_t i = 0; i < n; i++) {
        f->item[i] = f->item[keep[i]];
    }
    f->count = n;
    free(keep);
    return true;
}

/* ---- mean drift ---- */

static int by_rate(const void *a, const void *b) {
    const slope_t *x = a, *y = b;
    return (x->rate > y->rate) - (x->rate < y->rate);
}

/* The weighted median of the slopes of pairs: what is wrong in a minority does not move it. */
static bool median_rate(fit_t *f) {
    size_t pick[RATE_POINTS] = {0}, n = best_of_cells(f->item, f->count, RATE_POINTS, pick),
           slopes = 0;
    double half = 0;
    slope_t *s = calloc(n * n / 2 + 1, sizeof *s);
    if (s == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            const item_t *a = &f->item[pick[i]], *b = &f->item[pick[k]];
            double rate = b->t > a->t ? (b->d - a->d) / (b->t - a->t) : INFINITY;
            double slack = (a->e + b->e) / PT_MAX(b->t - a->t, 1);
            if (fabs(rate) - slack <= PT_CLOCK_MAX_RATE) {
                rate = PT_MIN(PT_MAX(rate, -PT_CLOCK_MAX_RATE), PT_CLOCK_MAX_RATE);
                s[slopes++] = (slope_t){rate, 1 / slack};
                half += 0.5 / slack;
            }
        }
    }
    qsort(s, slopes, sizeof *s, by_rate);
    f->rate = 0;
    for (size_t i = 0; i < slopes && half > 0; i++) {
        half -= s[i].weight;
        f->rate = s[i].rate;
    }
    free(s);
    return true;
}

/* How far the drift may be from f->rate by the readings that are left. */
static double rate_doubt(const fit_t *f) {
    size_t pick[RATE_POINTS] = {0}, n = best_of_cells(f->item, f->count, RATE_POINTS, pick);
    double lo = -PT_CLOCK_MAX_RATE - f->rate, hi = PT_CLOCK_MAX_RATE - f->rate;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            const item_t *a = &f->item[pick[i]], *b = &f->item[pick[k]];
            if (b->t > a->t) {
                double rate = (b->d - a->d) / (b->t - a->t), slack = (a->e + b->e) / (b->t - a->t);
                lo = PT_MAX(lo, rate - slack);
                hi = PT_MIN(hi, rate + slack);
            }
        }
    }
    return PT_MAX(0, PT_MAX(hi, -lo));
}

/* ---- what is wrong ---- */

static bool agree(const item_t *a, const item_t *b, double wander) {
    return fabs(a->d - b->d) <= a->e + b->e + wander * fabs(a->t - b->t);
}

static unsigned votes(const fit_t *f, size_t i, double wander) {
    unsigned n = 0, seen = 0;
    for (size_t k = i; k > 0 && seen < NEAR; k--) {
        seen += !f->item[k - 1].out;
        n += !f->item[k - 1].out && agree(&f->item[k - 1], &f->item[i], wander);
    }
    seen = 0;
    for (size_t k = i + 1; k < f->count && seen < NEAR; k++) {
        seen += !f->item[k].out;
        n += !f->item[k].out && agree(&f->item[k], &f->item[i], wander);
    }
    return n;
}

/* The first pair that cannot both be true; false: there is none. Whoever reaches highest at the
 * floor and lowest at the ceiling of the tube so far is all that a reading need be compared with.
 */
static bool find_conflict(const fit_t *f, double wander, size_t *ret_a, size_t *ret_b) {
    size_t low = SIZE_MAX, high = SIZE_MAX; /* who makes the ceiling, the floor */
    for (size_t i = 0; i < f->count; i++) {
        const item_t *p = &f->item[i];
        if (p->out) {
            continue;
        }
        if (low == SIZE_MAX) {
            low = high = i;
            continue;
        }
        const item_t *l = &f->item[low], *h = &f->item[high];
        double ceiling = l->d + l->e + wander * (p->t - l->t);
        double floor_at = h->d - h->e - wander * (p->t - h->t);
        if (p->d - p->e > ceiling || p->d + p->e < floor_at) {
            *ret_a = p->d - p->e > ceiling ? low : high;
            *ret_b = i;
            return true;
        }
        low = p->d + p->e < ceiling ? i : low;
        high = p->d - p->e > floor_at ? i : high;
    }
    return false;
}

/* Sets aside at most `most` readings so that the others agree; false: that is not enough. */
static bool set_aside(fit_t *f, double wander, size_t most) {
    size_t a, b, n = 0;
    for (size_t i = 0; i < f->count; i++) {
        f->item[i].out = false;
    }
    for (; find_conflict(f, wander, &a, &b); n++) {
        unsigned of_a = votes(f, a, wander), of_b = votes(f, b, wander);
        if (n == most) {
            return false;
        }
        bool first = of_a != of_b ? of_a < of_b : f->item[a].e > f->item[b].e;
        f->item[first ? a : b].out = true;
    }
    f->refused += (unsigned)n;
    return true;
}

/* The least wander at which all but a few readings agree. */
static bool find_wander(fit_t *f) {
    size_t few = f->count < FEW ? 0 : PT_MAX(f->count / 8, 1);
    for (unsigned i = 0; i < STEPS; i++) {
        f->wander = PT_CLOCK_WANDER * (double)(1U << i);
        bool last = i + 1 == STEPS;
        if (set_aside(f, f->wander, last ? (f->count - 1) / 2 : few)) {
            drop_out(f);
            return true;
        }
    }
    return false;
}

/* ---- the tube ---- */

/* The best straight line through the readings, those with a small error above all. */
static void straight_line(const fit_t *f, double *ret_at, double *ret_slope) {
    double w = 0, mean_t = 0, mean_d = 0, tt = 0, td = 0;
    for (size_t i = 0; i < f->count; i++) {
        double of = 1 / (f->item[i].e * f->item[i].e);
        w += of;
        mean_t += of * f->item[i].t;
        mean_d += of * f->item[i].d;
    }
    mean_t /= w;
    mean_d /= w;
    for (size_t i = 0; i < f->count; i++) {
        double of = 1 / (f->item[i].e * f->item[i].e), t = f->item[i].t - mean_t;
        tt += of * t * t;
        td += of * t * (f->item[i].d - mean_d);
    }
    *ret_slope = tt > 0 ? PT_MIN(PT_MAX(td / tt, -f->wander), f->wander) : 0;
    *ret_at = mean_d - *ret_slope * mean_t;
}

static void add_knot(pt_clock_curve_t *c, double t, double lo, double hi) {
    if (c->count == 0 || t > c->knot[c->count - 1].t) {
        c->knot[c->count++] = (pt_clock_knot_t){t, (lo + hi) / 2, (hi - lo) / 2};
    }
}

/* Where two lines that rise from (a.t, at_a) and fall to (b.t, at_b) by w meet. */
static double meeting(double a, double at_a, double b, double at_b, double w) {
    return (a + b) / 2 + (at_b - at_a) / (2 * w);
}

/* The tube's corners: knots relative to the mean drift. hi and lo have count values each. */
static void make_tube(const fit_t *f, double *hi, double *lo, pt_clock_curve_t *c) {
    const item_t *p = f->item;
    double w = f->wander;
    size_t n = f->count;
    for (size_t i = 0; i < n; i++) {
        double step = i > 0 ? w * (p[i].t - p[i - 1].t) : 0;
        hi[i] = i > 0 ? PT_MIN(p[i].d + p[i].e, hi[i - 1] + step) : p[i].d + p[i].e;
        lo[i] = i > 0 ? PT_MAX(p[i].d - p[i].e, lo[i - 1] - step) : p[i].d - p[i].e;
    }
    for (size_t i = n - 1; i > 0; i--) {
        double step = w * (p[i].t - p[i - 1].t);
        hi[i - 1] = PT_MIN(hi[i - 1], hi[i] + step);
        lo[i - 1] = PT_MAX(lo[i - 1], lo[i] - step);
    }
    for (size_t i = 0; i < n; i++) {
        add_knot(c, p[i].t, lo[i], hi[i]);
        if (i + 1 == n) {
            break;
        }
        double turn[2] = {meeting(p[i].t, hi[i], p[i + 1].t, hi[i + 1], w),
                          meeting(p[i].t, -lo[i], p[i + 1].t, -lo[i + 1], w)};
        if (turn[0] > turn[1]) {
            double swap = turn[0];
            turn[0] = turn[1];
            turn[1] = swap;
        }
        for (size_t k = 0; k < 2; k++) {
            double t = PT_MIN(PT_MAX(turn[k], p[i].t), p[i + 1].t);
            add_knot(c, t, PT_MAX(lo[i] - w * (t - p[i].t), lo[i + 1] - w * (p[i + 1].t - t)),
                     PT_MIN(hi[i] + w * (t - p[i].t), hi[i + 1] + w * (p[i + 1].t - t)));
        }
    }
}

/* Takes the line for the middle where it stays in the middle half, and puts the mean drift back. */
static void choose_middle(const fit_t *f, pt_clock_curve_t *c) {
    double at, slope;
    bool straight = true;
    straight_line(f, &at, &slope);
    for (size_t i = 0; i < c->count; i++) {
        const pt_clock_knot_t *k = &c->knot[i];
        straight &= fabs(at + slope * k->t - k->delta) <= k->bound / 2;
    }
    c->rate = f->rate + (straight ? slope : 0);
    c->grow = f->wander + (straight ? fabs(slope) : 0);
    for (size_t i = 0; i < c->count; i++) {
        pt_clock_knot_t *k = &c->knot[i];
        if (straight) {
            double line = at + slope * k->t;
            k->bound += fabs(line - k->delta);
            k->delta = line;
        }
        k->delta += f->rate * k->t;
    }
}

static bool make_curve(const fit_t *f, pt_clock_curve_t *c) {
    double *edge = calloc(2 * f->count, sizeof *edge);
    c->knot = calloc(3 * f->count, sizeof *c->knot);
    bool ok = edge != NULL && c->knot != NULL;
    if (ok) {
        make_tube(f, edge, edge + f->count, c);
        choose_middle(f, c);
        c->used = (unsigned)f->count;
    }
    free(edge);
    return ok;
}

bool pt_clock_curve_fit(pt_clock_reading_t *r, size_t count, pt_clock_curve_t *c) {
    fit_t f = {calloc(count + 1, sizeof *f.item), 0, 0, 0, 0};
    bool ok = f.item != NULL;
    *c = (pt_clock_curve_t){0};
    if (ok && count > 0) {
        qsort(r, count, sizeof *r, by_time);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (!pt_clock_reading_ok(&r[i])) {
            f.refused++;
            continue;
        }
        if (f.count == 0) {
            c->origin_ns = r[i].mono_ns;
            c->base_ns = r[i].ref_ns - r[i].mono_ns;
        }
        f.item[f.count++] = (item_t){(double)(r[i].mono_ns - c->origin_ns),
                                     (double)(r[i].ref_ns - r[i].mono_ns - c->base_ns),
                                     PT_MAX((double)r[i].error_ns, MIN_ERROR_NS), false};
    }
    ok = ok && thin(&f) && (f.count < 2 || median_rate(&f));
    if (ok && f.count > 0) {
        size_t all = f.count;
        for (size_t i = 0; i < f.count; i++) {
            f.item[i].d -= f.rate * f.item[i].t;
        }
        if (find_wander(&f)) {
            f.wander = PT_MAX(f.wander, PT_CLOCK_WANDER + rate_doubt(&f));
            ok = make_curve(&f, c);
        } else {
            f.refused += (unsigned)all;
        }
    }
    c->refused = f.refused;
    free(f.item);
    return ok;
}

void pt_clock_curve_free(pt_clock_curve_t *c) {
    free(c->knot);
    c->knot = NULL;
    c->count = 0;
}

/* ---- use ---- */

/* The knot before which t lies; count: behind all. */
static size_t find_knot(const pt_clock_curve_t *c, double t) {
    size_t lo = 0, hi = c->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->knot[mid].t <= t) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

pt_clock_delta_t pt_clock_curve_at(const pt_clock_curve_t *c, int64_t own_ns) {
    double t = (double)(own_ns - c->origin_ns), delta, bound;
    size_t i = find_knot(c, t);
    if (i == 0 || i == c->count) {
        const pt_clock_knot_t *k = &c->knot[i == 0 ? 0 : i - 1];
        delta = k->delta + c->rate * (t - k->t);
        bound = k->bound + c->grow * fabs(t - k->t);
    } else {
        const pt_clock_knot_t *a = &c->knot[i - 1], *b = &c->knot[i];
        double part = (t - a->t) / (b->t - a->t);
        delta = a->delta + part * (b->delta - a->delta);
        bound = a->bound + part * (b->bound - a->bound);
    }
    return (pt_clock_delta_t){c->base_ns + (int64_t)llround(delta), bound};
}

int64_t pt_clock_curve_own(const pt_clock_curve_t *c, int64_t other_ns) {
    int64_t own = other_ns - c->base_ns;
    /* The difference moves by less than a thousandth of the time: three turns are exact. */
    for (unsigned i = 0; i < 4; i++) {
        own = other_ns - pt_clock_curve_at(c, own).ns;
    }
    return own;
}
