/* report_ranks.c: what was read, and how each rank fared. SPDX-License-Identifier: MIT */
#include "analyze_report.h"
#include "rank_order.h"

#include <math.h>
#include <string.h>

#define MISSING_NAMED 100U

static void text_fact(pt_table_t *t, const char *id, const char *title, pt_str_t text) {
    char copy[512];
    size_t n = PT_MIN(text.len, sizeof copy - 1);
    memcpy(copy, text.p, n);
    copy[n] = '\0';
    pt_table_fact_text(t, id, title, n > 0 ? copy : NULL);
}

/* The lowest and highest of a figure of the ranks; NAN: none has it. */
typedef struct range {
    double low, high, sum;
    size_t count;
} range_t;

static void note(range_t *a, double v) {
    if (isfinite(v)) {
        a->low = a->count == 0 ? v : fmin(a->low, v);
        a->high = a->count == 0 ? v : fmax(a->high, v);
        a->sum += v;
        a->count++;
    }
}

void pt_report_summary(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *l = how->results;
    perftrace__strbuf_t missing = PERFTRACE__STRBUF_INIT;
    pt_table_t *t = pt_report_table(report, "summary", "Summary", true);
    int64_t world = pt_ranks_world(l), events = 0, scopes = 0, outliers = 0, unfinished = 0;
    range_t busy = {0, 0, 0, 0}, length = {0, 0, 0, 0};
    size_t lacking = pt_ranks_missing(l, MISSING_NAMED, &missing);
    pt_str_t file = {"", 0};
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        pt_str_t name = pt_names_get(&r->texts, r->file);
        /* Ranks of a merged trace share its events. */
        if (i == 0 || !pt_str_is(name, file.p, file.len)) {
            events += r->fact[PT_FACT_events];
            outliers += r->fact[PT_FACT_outliers];
            unfinished += r->fact[PT_FACT_unfinished];
        }
        file = name;
        scopes += r->fact[PT_FACT_scopes];
        note(&busy, pt_fact_utilisation(r));
        note(&length, pt_seconds(pt_fact_between(r, PT_FACT_first_ns, PT_FACT_last_ns)));
    }
    pt_table_fact(t, "ranks", "Ranks", PT_COLUMN_COUNT, (double)l->count);
    pt_table_fact(t, "world_size", "World size", PT_COLUMN_COUNT,
                  world >= 0 ? (double)world : (double)NAN);
    pt_table_fact(t, "missing", "Ranks missing", PT_COLUMN_COUNT,
                  world >= 0 ? (double)lacking : (double)NAN);
    pt_table_fact_text(t, "missing_ranks", "Which",
                       lacking > 0 ? perftrace__strbuf_cstr(&missing) : NULL);
    pt_table_fact(t, "events", "Events", PT_COLUMN_COUNT, (double)events);
    pt_table_fact(t, "scopes", "Scopes", PT_COLUMN_COUNT, (double)scopes);
    pt_table_fact(t, "outliers", "Set aside as outliers", PT_COLUMN_COUNT, (double)outliers);
    pt_table_fact(t, "unfinished", "Without an end", PT_COLUMN_COUNT, (double)unfinished);
    pt_table_fact(t, "duration_s", "Longest trace", PT_COLUMN_SECONDS,
                  length.count > 0 ? length.high : (double)NAN);
    pt_table_fact(t, "utilisation_mean", "Device utilisation", PT_COLUMN_SHARE,
                  busy.count > 0 ? busy.sum / (double)busy.count : (double)NAN);
    pt_table_fact(t, "utilisation_min", "of the idlest rank", PT_COLUMN_SHARE,
                  busy.count > 0 ? busy.low : (double)NAN);
    pt_table_fact(t, "utilisation_max", "of the busiest rank", PT_COLUMN_SHARE,
                  busy.count > 0 ? busy.high : (double)NAN);
    pt_table_fact_text(t, "device_note", "Device", busy.count == 0 ? "no GPU events" : NULL);
    if (l->count > 0) {
        const pt_rank_result_t *r = &l->result[0];
        t = pt_report_table(report, "hardware", "Hardware and versions", true);
        text_fact(t, "device", "Device", pt_names_get(&r->texts, r->device));
        pt_table_fact(t, "devices", "Devices", PT_COLUMN_COUNT, pt_result_fact(r, PT_FACT_devices));
        pt_table_fact(t, "memory_bytes", "Memory (bytes)", PT_COLUMN_COUNT,
                      pt_result_fact(r, PT_FACT_device_memory));
        pt_table_fact(t, "multiprocessors", "Multiprocessors", PT_COLUMN_COUNT,
                      pt_result_fact(r, PT_FACT_multiprocessors));
        text_fact(t, "backend", "Backend", pt_names_get(&r->texts, r->backend));
        pt_table_fact(t, "process_groups", "Process groups", PT_COLUMN_COUNT,
                      pt_result_fact(r, PT_FACT_process_groups));
        text_fact(t, "nccl_version", "NCCL", pt_names_get(&r->texts, r->nccl_version));
        text_fact(t, "runtime_version", "Runtime", pt_names_get(&r->texts, r->runtime_version));
        text_fact(t, "driver_version", "Driver", pt_names_get(&r->texts, r->driver_version));
        text_fact(t, "profiler_version", "CUPTI or roctracer",
                  pt_names_get(&r->texts, r->profiler_version));
        text_fact(t, "host", "Host", pt_names_get(&r->texts, r->host));
        pt_table_note(t, "Of the first rank.");
    }
    perftrace__strbuf_free(&missing);
}

/* Device time of a rank's kernels whose class begins so; NAN: it has none recorded. */
static double class_seconds(const pt_rank_result_t *r, const char *class) {
    int64_t sum = 0;
    size_t n = strlen(class);
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_names); i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_names, i);
        pt_str_t name = pt_result_text_of(r, cell[3]);
        bool gemm = strcmp(class, "GEMM") == 0 && memmem(name.p, name.len, "GEMM", 4) != NULL;
        if (cell[2] == PT_ROW_KERNEL &&
            (n == 0 || gemm || (name.len >= n && memcmp(name.p, class, n) == 0))) {
            sum += cell[6];
        }
    }
    return pt_fact_between(r, PT_FACT_work_first_ns, PT_FACT_work_last_ns) == PT_NOT_RECORDED
               ? (double)NAN
               : pt_seconds(sum);
}

/* How the rank's times came onto the axis of all. */
static void put_clock(pt_table_t *t, const pt_rank_result_t *r) {
    const pt_clock_out_t *c = &r->clock;
    bool known = r->aligned && c->method != PT_CLOCK_METHOD_NONE;
    pt_table_cstr(t, r->aligned ? pt_clock_method_text(c->method) : NULL);
    pt_table_number(t, known ? pt_seconds(c->offset_ns) : (double)NAN);
    pt_table_number(t, known ? c->drift_ppm : (double)NAN);
    pt_table_number(t, known && c->bound_ns >= 0 ? pt_seconds(c->bound_ns) : (double)NAN);
}

void pt_report_ranks(const pt_analyze_report_t *how, pt_report_t *report) {
    static const char *const sources[] = {"--rank-map", "distributedInfo", "header",
                                          "events",     "file name",       "made up"};
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "ranks", "Ranks", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "duration_s", "Trace", PT_COLUMN_SECONDS);
    pt_table_column(t, "span_s", "Device span", PT_COLUMN_SECONDS);
    pt_table_column(t, "busy_s", "Busy", PT_COLUMN_SECONDS);
    pt_table_column(t, "utilisation", "Util", PT_COLUMN_SHARE);
    pt_table_column(t, "kernel_s", "Kernels", PT_COLUMN_SECONDS);
    pt_table_column(t, "deepep_s", "DeepEP", PT_COLUMN_SECONDS);
    pt_table_column(t, "gemm_s", "GEMM", PT_COLUMN_SECONDS);
    pt_table_column(t, "nccl_s", "NCCL", PT_COLUMN_SECONDS);
    pt_table_column(t, "start_s", "Start", PT_COLUMN_SECONDS);
    pt_table_column(t, "role", "Role", PT_COLUMN_TEXT);
    pt_table_column(t, "rank_source", "Rank from", PT_COLUMN_TEXT);
    pt_table_column(t, "file", "File", PT_COLUMN_LONG);
    pt_table_detail(t, "host", PT_COLUMN_TEXT);
    pt_table_detail(t, "run_id", PT_COLUMN_TEXT);
    pt_table_detail(t, "events", PT_COLUMN_COUNT);
    pt_table_detail(t, "scopes", PT_COLUMN_COUNT);
    pt_table_detail(t, "scopes_s", PT_COLUMN_SECONDS);
    pt_table_detail(t, "work", PT_COLUMN_COUNT);
    pt_table_detail(t, "clock", PT_COLUMN_TEXT);
    pt_table_detail(t, "clock_offset_s", PT_COLUMN_SECONDS);
    pt_table_detail(t, "clock_drift_ppm", PT_COLUMN_NUMBER);
    pt_table_detail(t, "clock_bound_s", PT_COLUMN_SECONDS);
    pt_table_note(t,
                  "Busy is the union of kernels, copies and sets; utilisation is its share of the "
                  "span from the first start to the last end of these. Kernel times are sums.");
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t source = r->fact[PT_FACT_rank_source];
        pt_table_number(t, (double)r->fact[PT_FACT_rank]);
        pt_table_number(t, pt_seconds(pt_fact_between(r, PT_FACT_first_ns, PT_FACT_last_ns)));
        pt_table_number(
            t, pt_seconds(pt_fact_between(r, PT_FACT_work_first_ns, PT_FACT_work_last_ns)));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_busy_ns));
        pt_table_number(t, pt_fact_utilisation(r));
        pt_table_number(t, class_seconds(r, ""));
        pt_table_number(t, class_seconds(r, "DeepEP"));
        pt_table_number(t, class_seconds(r, "GEMM"));
        pt_table_number(t, class_seconds(r, "NCCL"));
        pt_table_number(t, r->fact[PT_FACT_first_ns] == PT_NOT_RECORDED
                               ? (double)NAN
                               : pt_seconds(pt_result_time(r, r->fact[PT_FACT_first_ns])));
        pt_report_text(t, pt_names_get(&r->texts, r->role));
        pt_table_cstr(t, source >= 0 && source <= PT_RANK_MADE_UP ? sources[source] : NULL);
        pt_report_text(t, pt_names_get(&r->texts, r->file));
        pt_report_text(t, pt_names_get(&r->texts, r->host));
        pt_report_text(t, pt_names_get(&r->texts, r->run_id));
        pt_table_number(t, pt_result_fact(r, PT_FACT_events));
        pt_table_number(t, pt_result_fact(r, PT_FACT_scopes));
        pt_table_number(t, pt_fact_seconds(r, PT_FACT_scopes_ns));
        pt_table_number(t, pt_result_fact(r, PT_FACT_work));
        put_clock(t, r);
    }
}

/* What a figure covers, and of how many ranks it is recorded. */
void pt_report_coverage(const pt_analyze_report_t *how, pt_report_t *report) {
    static const struct {
        const char *figure, *covers;
        pt_fact_t fact;
    } figure[] = {
        {"ranks.utilisation", "union of kernels, copies and sets, first start to last end",
         PT_FACT_busy_ns},
        {"breakdown", "the same, and records of synchronisation widen the range",
         PT_FACT_range_first_ns},
        {"launches", "work joined to its call by correlation; first of each call", PT_FACT_linked},
        {"launches.queue", "calls whose work begins after them", PT_FACT_queue_max},
        {"graphs", "calls of cudaGraphLaunch and hipGraphLaunch", PT_FACT_graph_launches},
        {"graphs.steps", "as many launches a step as marked steps hold, or as was told",
         PT_FACT_graph_per_step},
        {"copies", "aten::copy_ on the host", PT_FACT_copies},
        {"sequences", "work joined to its call, by the outermost operator that holds this",
         PT_FACT_sequences},
        {"critical_path", "first to last step, or the device's work", PT_FACT_path_ns}};
    static const struct {
        const char *figure, *covers;
        pt_result_table_t table;
    } list[] = {{"steps", "ProfilerStep#N, or the longest scope of each global_step", PT_RT_steps},
                {"stragglers", "collectives whose kernels name their group", PT_RT_collectives},
                {"transfers", "copies and sets of the device", PT_RT_transfers},
                {"counters", "counter events, and torch's memory records", PT_RT_counters},
                {"operator_counters",
                 "ranges of hardware counters, joined in their order to as "
                 "many launches of kernels",
                 PT_RT_operator_counters}};
    const pt_results_t *l = how->results;
    pt_table_t *t = pt_report_table(report, "coverage", "What the figures cover", false);
    pt_table_column(t, "figure", "Figure", PT_COLUMN_TEXT);
    pt_table_column(t, "recorded_ranks", "Ranks with it", PT_COLUMN_COUNT);
    pt_table_column(t, "ranks", "of", PT_COLUMN_COUNT);
    pt_table_column(t, "covers", "Covers", PT_COLUMN_LONG);
    for (size_t f = 0; f < PT_ARRAY_LEN(figure); f++) {
        size_t n = 0;
        for (size_t i = 0; i < l->count; i++) {
            n += l->result[i].fact[figure[f].fact] != PT_NOT_RECORDED;
        }
        pt_table_cstr(t, figure[f].figure);
        pt_table_number(t, (double)n);
        pt_table_number(t, (double)l->count);
        pt_table_cstr(t, figure[f].covers);
    }
    for (size_t f = 0; f < PT_ARRAY_LEN(list); f++) {
        size_t n = 0;
        for (size_t i = 0; i < l->count; i++) {
            n += pt_result_rows(&l->result[i], list[f].table) > 0;
        }
        pt_table_cstr(t, list[f].figure);
        pt_table_number(t, (double)n);
        pt_table_number(t, (double)l->count);
        pt_table_cstr(t, list[f].covers);
    }
}
