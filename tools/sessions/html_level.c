/* html_level.c: how many intervals cover a moment, in buckets of time. SPDX-License-Identifier: MIT
 */
#include "html_level.h"

#include "session_stats.h"

#include <math.h>
#include <stdlib.h>

static double nice_width(double least) {
    static const double seconds[] = {1,   2,   5,   10,   15,   20,   30,    60,    120,
                                     300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400};
    if (least > 0.5 && least <= 86400) {
        size_t i = 0;
        while (seconds[i] < least) {
            i++;
        }
        return seconds[i];
    }
    double unit = least > 86400 ? 86400 : 1;
    double power = pow(10, floor(log10(least / unit)));
    for (unsigned i = 0; i < 3; i++) {
        static const double times[] = {1, 2, 5};
        if (times[i] * power * unit >= least * (1 - 1e-9)) {
            return times[i] * power * unit;
        }
    }
    return 10 * power * unit;
}

pt_buckets_t pt_buckets_over(double first, double last, size_t most) {
    /* Two more buckets than the span itself needs may be touched at its ends. */
    double width = nice_width(fmax((last - first) / (double)PT_MAX(most - 2, (size_t)1), 1e-6));
    double from = floor(first / width) * width;
    double count = floor((last - from) / width) + 1;
    return (pt_buckets_t){from, width, PT_MIN((size_t)fmax(count, 1), most)};
}

size_t pt_bucket_of(const pt_buckets_t *b, double time) {
    double at = (time - b->from) / b->width;
    return at > 0 ? PT_MIN((size_t)fmin(at, (double)b->count), b->count - 1) : 0;
}

/* Adds a level that lasts from one time to another. */
static void add_level(const pt_buckets_t *b, double from, double to, double level, double *mean,
                      double *most) {
    double end = b->from + (double)b->count * b->width;
    from = fmax(from, b->from);
    to = fmin(to, end);
    while (from < to) {
        size_t i = pt_bucket_of(b, from);
        double until = i + 1 < b->count ? b->from + (double)(i + 1) * b->width : end;
        if (until <= from) { /* rounding: the limit belongs to the next bucket */
            i++;
            until = b->from + (double)(i + 1) * b->width;
        }
        double stop = fmin(to, until);
        mean[i] += level * (stop - from) / b->width;
        most[i] = fmax(most[i], level);
        from = stop;
    }
}

bool pt_level(pt_intervals_t *v, const pt_buckets_t *b, double *mean, double *most) {
    double *scratch = malloc((v->n + 1) * sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    pt_sort_doubles(v->begin, v->n, scratch);
    pt_sort_doubles(v->end, v->n, scratch);
    free(scratch);
    for (size_t i = 0; i < b->count; i++) {
        mean[i] = most[i] = 0;
    }
    double before = b->from;
    for (size_t begun = 0, ended = 0; ended < v->n;) {
        bool begins = begun < v->n && v->begin[begun] < v->end[ended];
        double time = begins ? v->begin[begun] : v->end[ended];
        add_level(b, before, time, (double)(begun - ended), mean, most);
        before = time;
        begun += begins;
        ended += !begins;
    }
    return true;
}
