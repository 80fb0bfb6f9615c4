/* report_launches.c: launches, and the steps of CUDA graphs. SPDX-License-Identifier: MIT */
#include "analyze_report.h"

#include <math.h>

#define SHORT_NS     INT64_C(1000000)  /* a graph launch below this is fine */
#define LONG_NS      INT64_C(5000000)  /* from here on it stalls */
#define SLOW_STEP_NS INT64_C(10000000) /* a step above this is marked */

static void launches(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "launches", "Launches", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "linked", "Linked work", PT_COLUMN_COUNT);
    pt_table_column(t, "unlinked_work", "Without call", PT_COLUMN_COUNT);
    pt_table_column(t, "unlinked_calls", "Calls without work", PT_COLUMN_COUNT);
    pt_table_column(t, "short_kernels", "Short kernels", PT_COLUMN_COUNT);
    pt_table_column(t, "slow_calls", "Slow calls", PT_COLUMN_COUNT);
    pt_table_column(t, "long_delays", "Long delays", PT_COLUMN_COUNT);
    pt_table_column(t, "delay_mean_s", "Delay", PT_COLUMN_SECONDS);
    pt_table_column(t, "delay_p50_s", "p50", PT_COLUMN_SECONDS);
    pt_table_column(t, "delay_p99_s", "p99", PT_COLUMN_SECONDS);
    pt_table_column(t, "delay_max_s", "max", PT_COLUMN_SECONDS);
    pt_table_column(t, "queue_mean", "Queue", PT_COLUMN_NUMBER);
    pt_table_column(t, "queue_max", "max", PT_COLUMN_COUNT);
    pt_table_detail(t, "sequences", PT_COLUMN_COUNT);
    pt_table_detail(t, "sequences_left_out", PT_COLUMN_COUNT);
    pt_table_note(t, "Short kernel: it took less than the call that launched it. Slow call: above "
                     "50 us. Delay: from the end of the call to the start of its work, at least 0; "
                     "long above 100 us. Queue: launched and not begun.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t linked = r->fact[PT_FACT_linked], sum = r->fact[PT_FACT_delay_sum_ns];
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_result_fact(r, PT_FACT_linked));
        pt_table_number(t, pt_result_fact(r, PT_FACT_unlinked_work));
        pt_table_number(t, pt_result_fact(r, PT_FACT_unlinked_calls));
        pt_table_number(t, pt_result_fact(r, PT_FACT_short_kernels));
        pt_table_number(t, pt_result_fact(r, PT_FACT_slow_calls));
        pt_table_number(t, pt_result_fact(r, PT_FACT_long_delays));
        pt_table_number(t, linked == PT_NOT_RECORDED || r->fact[PT_FACT_calls] <= 0
                               ? (double)NAN
                               : (double)sum / (double)r->fact[PT_FACT_calls] / 1e9);
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_delay_p50_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_delay_p99_ns));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_delay_max_ns));
        pt_table_number(t, pt_fact_share(r, PT_FACT_queue_area, PT_FACT_queue_span_ns));
        pt_table_number(t, pt_result_fact(r, PT_FACT_queue_max));
        pt_table_number(t, pt_result_fact(r, PT_FACT_sequences));
        pt_table_number(t, pt_result_fact(r, PT_FACT_sequences_left_out));
    }
}

/* ---- CUDA graphs ---- */

static void graph_row(pt_table_t *t, const pt_rank_result_t *r) {
    size_t rows = pt_result_rows(r, PT_RT_graphs), size[3] = {0, 0, 0};
    int64_t per_step = r->fact[PT_FACT_graph_per_step], sum = 0, longest = 0;
    size_t steps = per_step > 0 ? rows / (size_t)per_step : 0;
    for (size_t i = 0; i < rows; i++) {
        int64_t dur = pt_result_at(r, PT_RT_graphs, i)[1];
        size[dur < SHORT_NS ? 0 : dur < LONG_NS ? 1 : 2]++;
    }
    for (size_t s = 0; s < steps; s++) {
        const int64_t *first = pt_result_at(r, PT_RT_graphs, s * (size_t)per_step);
        const int64_t *last = pt_result_at(r, PT_RT_graphs, (s + 1) * (size_t)per_step - 1);
        int64_t span = last[0] + last[1] - first[0];
        sum += span;
        longest = PT_MAX(longest, span);
    }
    double mean = steps > 0 ? (double)sum / (double)steps / 1e9 : (double)NAN;
    pt_table_number(t, (double)r->fact[PT_FACT_rank]);
    pt_table_number(t, (double)rows);
    for (unsigned i = 0; i < 3; i++) {
        pt_table_number(t, (double)size[i]);
    }
    pt_table_number(t, per_step > 0 ? (double)per_step : (double)NAN);
    pt_table_number(t, per_step > 0 ? (double)steps : (double)NAN);
    pt_table_number(t, mean);
    pt_table_number(t, steps > 0 ? pt_seconds(longest) : (double)NAN);
    pt_table_number(t, 1 / mean);
}

static void graphs(const pt_results_t *l, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "graphs", "CUDA graphs", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "launches", "Launches", PT_COLUMN_COUNT);
    pt_table_column(t, "below_1ms", "< 1 ms", PT_COLUMN_COUNT);
    pt_table_column(t, "from_1ms", "1-5 ms", PT_COLUMN_COUNT);
    pt_table_column(t, "from_5ms", ">= 5 ms", PT_COLUMN_COUNT);
    pt_table_column(t, "launches_per_step", "a step", PT_COLUMN_COUNT);
    pt_table_column(t, "steps", "Steps", PT_COLUMN_COUNT);
    pt_table_column(t, "step_mean_s", "Mean", PT_COLUMN_SECONDS);
    pt_table_column(t, "step_max_s", "Longest", PT_COLUMN_SECONDS);
    pt_table_column(t, "steps_per_s", "Steps/s", PT_COLUMN_NUMBER);
    pt_table_note(t, "A step is so many launches, from the start of the first to the end of the "
                     "last: as many as each marked step of the trace holds, or "
                     "--launches-per-step. Steps/s is tokens/s where a step makes one token.");
    for (size_t i = 0; i < l->count; i++) {
        if (pt_result_rows(&l->result[i], PT_RT_graphs) > 0) {
            graph_row(t, &l->result[i]);
        }
    }
}

static void put_launches(pt_table_t *t, const pt_rank_result_t *r, size_t from, size_t count) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        perftrace__strbuf_printf(&text, "%s%.1f", i > 0 ? " " : "",
                                 (double)pt_result_at(r, PT_RT_graphs, from + i)[1] / 1e3);
    }
    pt_table_cstr(t, text.failed ? NULL : perftrace__strbuf_cstr(&text));
    t->failed |= text.failed;
    perftrace__strbuf_free(&text);
}

static void graph_steps(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "graph_steps", "Decode steps", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "start_s", "At", PT_COLUMN_SECONDS);
    pt_table_column(t, "span_s", "Span", PT_COLUMN_SECONDS);
    pt_table_column(t, "launches_us", "Launches (us)", PT_COLUMN_TEXT);
    pt_table_column(t, "slow", "slow", PT_COLUMN_FLAG);
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t per_step = r->fact[PT_FACT_graph_per_step];
        size_t n = per_step > 0 ? (size_t)per_step : 0;
        size_t steps = n > 0 ? pt_result_rows(r, PT_RT_graphs) / n : 0;
        size_t shown = how->brief && how->top > 0 ? PT_MIN(steps, how->top) : steps;
        for (size_t s = 0; s < shown; s++) {
            const int64_t *first = pt_result_at(r, PT_RT_graphs, s * n);
            const int64_t *last = pt_result_at(r, PT_RT_graphs, (s + 1) * n - 1);
            int64_t span = last[0] + last[1] - first[0];
            pt_table_number(t, (double)r->fact[PT_FACT_rank]);
            pt_table_number(t, (double)s + 1);
            pt_table_number(t, pt_seconds(pt_result_time(r, first[0])));
            pt_table_number(t, pt_seconds(span));
            put_launches(t, r, s * n, n);
            pt_table_number(t, span > SLOW_STEP_NS);
        }
    }
}

void pt_report_launches(const pt_analyze_report_t *how, pt_report_t *report) {
    launches(how->results, report);
    graphs(how->results, report);
    graph_steps(how, report);
}
