/* session_bins.c: bins of a histogram. SPDX-License-Identifier: MIT */
#include "session_bins.h"

#include "session_stats.h"

#include <math.h>
#include <string.h>

#define MIN_WIDTH 0.001

static pt_bins_t bins_of_one(double v) {
    double width = PT_MAX(0.05 * PT_MAX(fabs(v), 1) / 8, MIN_WIDTH);
    return (pt_bins_t){v - width / 2, v + 1.5 * width, width};
}

pt_bins_t pt_bins_make(const double *sorted, size_t n, size_t min_bins, size_t max_bins) {
    if (n == 0) {
        return (pt_bins_t){0, 1, 0.1};
    }
    double span = sorted[n - 1] - sorted[0];
    if (span <= 0) {
        return bins_of_one(sorted[0]);
    }
    double iqr = pt_quantile(sorted, n, 0.75) - pt_quantile(sorted, n, 0.25);
    double width = 2 * iqr / cbrt((double)n);
    if (!(width > 0)) {
        width = span / (double)PT_MIN(max_bins, PT_MAX((size_t)40, n / 2));
    }
    double floor_width = PT_MAX(span / (double)max_bins, MIN_WIDTH);
    width = PT_MAX(width, floor_width);
    if (min_bins > 0) {
        width = PT_MAX(PT_MIN(width, span / (double)min_bins), floor_width);
    }
    return (pt_bins_t){sorted[0], sorted[n - 1], width};
}

pt_bins_t pt_bins_overall(const double *sorted, size_t n) {
    return pt_bins_make(sorted, n, PT_MIN((size_t)120, PT_MAX(n / 2, (size_t)96)), 120);
}

pt_bins_t pt_bins_step(const double *sorted, size_t n) {
    return pt_bins_make(sorted, n, PT_MIN((size_t)500, PT_MAX(5 * n, (size_t)200)), 800);
}

size_t pt_bins_count(const pt_bins_t *b) {
    /* A value at the end that rounding puts a hair above a border needs no bin of its own. */
    double bins = ceil((b->end - b->start) / b->width - 1e-9);
    return bins >= 1 && bins < (double)SIZE_MAX / 2 ? (size_t)bins : 1;
}

void pt_bins_fill(const pt_bins_t *b, const double *sorted, size_t n, uint64_t *count,
                  size_t bin_count) {
    memset(count, 0, bin_count * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        double at = (sorted[i] - b->start) / b->width;
        count[PT_MIN((size_t)PT_MAX(at, 0), bin_count - 1)]++;
    }
}
