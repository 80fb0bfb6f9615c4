/* report_device.c: how the devices' time was spent. SPDX-License-Identifier: MIT */
#include "analyze_report.h"

#include <math.h>
#include <stdlib.h>

static void breakdown(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "breakdown", "Where the devices' time went", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "range_s", "Range", PT_COLUMN_SECONDS);
    pt_table_column(t, "compute_s", "Compute", PT_COLUMN_SECONDS);
    pt_table_column(t, "communication_s", "Comm", PT_COLUMN_SECONDS);
    pt_table_column(t, "memory_s", "Memory", PT_COLUMN_SECONDS);
    pt_table_column(t, "busy_s", "Busy", PT_COLUMN_SECONDS);
    pt_table_column(t, "idle_s", "Idle", PT_COLUMN_SECONDS);
    pt_table_column(t, "idle_share", "Idle", PT_COLUMN_SHARE);
    pt_table_column(t, "overlap_s", "Comm overlapped", PT_COLUMN_SECONDS);
    pt_table_column(t, "overlap_share", "of comm", PT_COLUMN_SHARE);
    pt_table_column(t, "exposed_s", "Comm exposed", PT_COLUMN_SECONDS);
    pt_table_note(t,
                  "Each is a union of stretches of time, so they may overlap; busy is the union "
                  "of all. Records of synchronisation are no work, but widen the range. Overlapped "
                  "is communication while something is computed.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t range = pt_fact_between(r, PT_FACT_range_first_ns, PT_FACT_range_last_ns);
        int64_t busy = r->fact[PT_FACT_busy_ns];
        int64_t idle = range == PT_NOT_RECORDED ? PT_NOT_RECORDED : range - busy;
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_seconds(range));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_compute_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_communication_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_memory_ns));
        pt_table_number(t, pt_seconds(busy));
        pt_table_number(t, pt_seconds(idle));
        pt_table_number(t, pt_share(idle, range));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_hidden_ns));
        pt_table_number(t, pt_fact_share(r, PT_FACT_hidden_ns, PT_FACT_communication_ns));
        pt_table_number(
            t, pt_seconds(pt_fact_between(r, PT_FACT_hidden_ns, PT_FACT_communication_ns)));
    }
    t = pt_report_table(report, "idle", "Why the devices were idle", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "host_wait_s", "Host wait", PT_COLUMN_SECONDS);
    pt_table_column(t, "kernel_wait_s", "Kernel wait", PT_COLUMN_SECONDS);
    pt_table_column(t, "other_s", "Other", PT_COLUMN_SECONDS);
    pt_table_note(t,
                  "Host wait: the next work was launched after the device fell idle. Kernel wait: "
                  "it was launched before, and began within --kernel-wait. Other: anything else.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_idle_host_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_idle_kernel_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_idle_other_ns));
    }
}

/* A row of a result's table; for lists over all ranks. */
typedef struct ref {
    const pt_rank_result_t *result;
    const int64_t *cell;
    int64_t key;
} ref_t;

static int by_key(const void *a, const void *b) {
    const ref_t *x = a, *y = b;
    if (x->key != y->key) {
        return (x->key < y->key) - (x->key > y->key);
    }
    int64_t p = x->result->fact[PT_FACT_rank], q = y->result->fact[PT_FACT_rank];
    return p != q ? (p > q) - (p < q) : (x->cell > y->cell) - (x->cell < y->cell);
}

/* All rows of a table, by a column, largest first. NULL without memory. */
static ref_t *collect(const pt_results_t *l, pt_result_table_t table, size_t column,
                      size_t *ret_count) {
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++) {
        count += pt_result_rows(&l->result[i], table);
    }
    ref_t *ref = malloc((count + 1) * sizeof *ref);
    *ret_count = 0;
    for (size_t i = 0; ref != NULL && i < l->count; i++) {
        for (size_t row = 0; row < pt_result_rows(&l->result[i], table); row++) {
            const int64_t *cell = pt_result_at(&l->result[i], table, row);
            ref[(*ret_count)++] = (ref_t){&l->result[i], cell, cell[column]};
        }
    }
    if (ref != NULL && count > 1) {
        qsort(ref, count, sizeof *ref, by_key);
    }
    return ref;
}

static void gaps(const pt_analyze_report_t *how, pt_report_t *report) {
    size_t count, most = how->top == 0 ? SIZE_MAX : how->top;
    ref_t *ref = collect(how->results, PT_RT_gaps, 1, &count);
    pt_table_t *t = pt_report_table(report, "gaps", "Longest gaps", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "start_s", "At", PT_COLUMN_SECONDS);
    pt_table_column(t, "duration_s", "Gap", PT_COLUMN_SECONDS);
    pt_table_column(t, "cause", "Meanwhile on the host", PT_COLUMN_LONG);
    pt_table_column(t, "cause_category", "Category", PT_COLUMN_TEXT);
    pt_table_note(t, "Between two stretches of work of a device. The scope of the host that covers "
                     "most of the gap; of several, the shortest.");
    t->failed |= ref == NULL;
    for (size_t i = 0; ref != NULL && i < PT_MIN(count, most); i++) {
        const pt_rank_result_t *r = ref[i].result;
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_seconds(pt_result_time(r, ref[i].cell[0])));
        pt_table_number(t, pt_seconds(ref[i].cell[1]));
        pt_report_text(t, pt_result_text_of(r, ref[i].cell[2]));
        pt_report_text(t, pt_result_text_of(r, ref[i].cell[3]));
    }
    free(ref);
}

/* What a stream mostly carries. */
static const char *role_of(const int64_t *cell, double utilisation) {
    if (cell[3] == 0) {
        return "empty";
    }
    const char *what = cell[8] * 2 > cell[3]   ? "communication"
                       : cell[9] * 2 > cell[3] ? "copies"
                       : cell[7] * 2 > cell[3] ? "compute"
                                               : "mixed";
    return utilisation < 0.02 ? "rare" : what;
}

static void streams(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "streams", "Streams", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "device", "Device", PT_COLUMN_TEXT);
    pt_table_column(t, "stream", "Stream", PT_COLUMN_TEXT);
    pt_table_column(t, "events", "Events", PT_COLUMN_COUNT);
    pt_table_column(t, "time_s", "Time", PT_COLUMN_SECONDS);
    pt_table_column(t, "span_s", "Span", PT_COLUMN_SECONDS);
    pt_table_column(t, "utilisation", "Util", PT_COLUMN_SHARE);
    pt_table_column(t, "role", "Carries", PT_COLUMN_TEXT);
    pt_table_column(t, "host_wait_s", "Host wait", PT_COLUMN_SECONDS);
    pt_table_column(t, "kernel_wait_s", "Kernel wait", PT_COLUMN_SECONDS);
    pt_table_column(t, "other_idle_s", "Other idle", PT_COLUMN_SECONDS);
    pt_table_detail(t, "busy_s", PT_COLUMN_SECONDS);
    pt_table_note(t, "Carries: what makes up more than half of its time; rare: busy for less than "
                     "2 % of its span.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t row = 0; row < pt_result_rows(r, PT_RT_streams); row++) {
            const int64_t *cell = pt_result_at(r, PT_RT_streams, row);
            double util = pt_share(cell[4], cell[6] - cell[5]);
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_report_text(t, pt_result_text_of(r, cell[0]));
            pt_report_text(t, pt_result_text_of(r, cell[1]));
            pt_table_number(t, (double)cell[2]);
            pt_table_number(t, pt_seconds(cell[3]));
            pt_table_number(t, pt_seconds(cell[6] - cell[5]));
            pt_table_number(t, util);
            pt_table_cstr(t, role_of(cell, isfinite(util) ? util : 0));
            pt_table_number(t, pt_seconds(cell[10]));
            pt_table_number(t, pt_seconds(cell[11]));
            pt_table_number(t, pt_seconds(cell[12]));
            pt_table_number(t, pt_seconds(cell[4]));
        }
    }
}

static void over_time(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "utilisation", "Utilisation over time", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "from_s", "From", PT_COLUMN_SECONDS);
    pt_table_column(t, "length_s", "Length", PT_COLUMN_SECONDS);
    pt_table_column(t, "busy", "Busy", PT_COLUMN_SHARE);
    pt_table_column(t, "compute", "Compute", PT_COLUMN_SHARE);
    pt_table_column(t, "communication", "Comm", PT_COLUMN_SHARE);
    pt_table_column(t, "memory", "Memory", PT_COLUMN_SHARE);
    pt_table_column(t, "queue_max", "Queue", PT_COLUMN_COUNT);
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        size_t rows = pt_result_rows(r, PT_RT_bins);
        double length =
            (double)pt_fact_between(r, PT_FACT_work_first_ns, PT_FACT_work_last_ns) / (double)rows;
        double first = (double)pt_result_time(r, r->fact[PT_FACT_work_first_ns]);
        for (size_t row = 0; row < rows; row++) {
            const int64_t *cell = pt_result_at(r, PT_RT_bins, row);
            double from = first + length * (double)cell[0];
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, from / 1e9);
            pt_table_number(t, length / 1e9);
            for (size_t c = 1; c <= 4; c++) {
                pt_table_number(t, fmin((double)cell[c] / length, 1));
            }
            pt_table_number(t, cell[5] == PT_NOT_RECORDED ? (double)NAN : (double)cell[5]);
        }
    }
}

#define LINE 60U /* characters of a time line: two pieces of time each */

/* What a stretch of time is shown as: what most of it is, where at least half of it is busy. */
static char glyph(const double share[4]) {
    if (share[0] < 0.5) {
        return share[0] < 0.05 ? '.' : '-';
    }
    return share[1] >= share[2] && share[1] >= share[3] ? '#' : share[2] >= share[3] ? '=' : '+';
}

static void time_lines(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "timeline", "Time line", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "from_s", "From", PT_COLUMN_SECONDS);
    pt_table_column(t, "length_s", "a character", PT_COLUMN_SECONDS);
    pt_table_column(t, "line", "What the devices did", PT_COLUMN_LONG);
    pt_table_note(t, "At least half of the time busy: # most with compute, = with communication, + "
                     "with copies; - busy for less, . for less than 5 %.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t span = pt_fact_between(r, PT_FACT_work_first_ns, PT_FACT_work_last_ns);
        double share[LINE][4] = {{0}}, length = (double)span / LINE;
        char line[LINE + 1] = "";
        if (pt_result_rows(r, PT_RT_bins) == 0 || span == PT_NOT_RECORDED || span <= 0) {
            continue;
        }
        for (size_t row = 0; row < pt_result_rows(r, PT_RT_bins); row++) {
            const int64_t *cell = pt_result_at(r, PT_RT_bins, row);
            for (size_t c = 0; c < 4 && cell[0] >= 0 && cell[0] < (int64_t)(2 * LINE); c++) {
                share[cell[0] / 2][c] += (double)cell[c + 1] / length;
            }
        }
        for (size_t c = 0; c < LINE; c++) {
            line[c] = glyph(share[c]);
        }
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_seconds(pt_result_time(r, r->fact[PT_FACT_work_first_ns])));
        pt_table_number(t, length / 1e9);
        pt_table_cstr(t, line);
    }
}

void pt_report_device(const pt_analyze_report_t *how, pt_report_t *report) {
    breakdown(how->results, report);
    time_lines(how->results, report);
    gaps(how, report);
    streams(how->results, report);
    if (how->details) {
        over_time(how->results, report);
    }
}
