/* report_findings.c: what is worth looking at first. SPDX-License-Identifier: MIT */
#include "analyze_report.h"
#include "rank_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct finding {
    unsigned weight; /* 3 high, 2 medium, 1 low */
    double cost;     /* seconds, or a share: of equal weight the dearer comes first */
    char text[160], advice[200];
} finding_t;

#define FINDINGS_MOST 32U

typedef struct findings {
    finding_t finding[FINDINGS_MOST + 1]; /* the last is for what finds no place */
    size_t count;
} findings_t;

static finding_t *add(findings_t *l, unsigned weight, double cost) {
    finding_t *f = &l->finding[l->count];
    l->count += l->count < FINDINGS_MOST;
    *f = (finding_t){.weight = weight, .cost = cost};
    return f;
}

#define SAY(f, ...)    snprintf((f)->text, sizeof(f)->text, __VA_ARGS__)
#define ADVISE(f, ...) snprintf((f)->advice, sizeof(f)->advice, "%s", __VA_ARGS__)

static void about_utilisation(const pt_results_t *l, findings_t *out) {
    double low = (double)INFINITY, high = (double)-INFINITY;
    int64_t idlest = 0;
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        double util = pt_fact_utilisation(r);
        if (!isfinite(util)) {
            continue;
        }
        idlest = util < low ? r->fact[PT_FACT_rank] : idlest;
        low = fmin(low, util);
        high = fmax(high, util);
    }
    if (isfinite(low) && low < 0.9) {
        finding_t *f = add(out, low < 0.8 ? 3 : 2, 1 - low);
        SAY(f, "the device of rank %lld is busy for %.1f %% of its span", (long long)idlest,
            100 * low);
        ADVISE(f, "see idle and gaps: host waits ask for CUDA graphs, fewer and larger kernels, or "
                  "work moved off the launching thread");
    }
    if (isfinite(low) && 100 * high - 100 * low > 5) {
        finding_t *f = add(out, 2, high - low);
        SAY(f, "utilisation differs by %.1f points between ranks", 100 * (high - low));
        ADVISE(f, "the load is not even: see ranks, step_ranks and stragglers");
    }
}

static void about_launches(const pt_results_t *l, findings_t *out) {
    int64_t longest = 0, rank = 0, count = 0, brief = 0, calls = 0;
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_graphs); n++) {
            int64_t dur = pt_result_at(r, PT_RT_graphs, n)[1];
            count += dur >= 5000000;
            rank = dur > longest ? r->fact[PT_FACT_rank] : rank;
            longest = PT_MAX(longest, dur);
        }
        if (r->fact[PT_FACT_calls] > 0) {
            brief += r->fact[PT_FACT_short_kernels];
            calls += r->fact[PT_FACT_calls];
        }
    }
    if (count > 0) {
        finding_t *f = add(out, 3, (double)longest / 1e9);
        SAY(f, "%lld launches of CUDA graphs took 5 ms or more, up to %.1f ms (rank %lld)",
            (long long)count, (double)longest / 1e6, (long long)rank);
        ADVISE(f, "the queue was full or the host stalled: see launches and graph_steps");
    }
    if (calls > 0 && brief * 2 > calls) {
        finding_t *f = add(out, 1, (double)brief / (double)calls);
        SAY(f, "%.0f %% of the launches took longer than the work they launched",
            100 * (double)brief / (double)calls);
        ADVISE(f, "fuse small kernels, or launch them as a CUDA graph");
    }
}

static void about_classes(const pt_results_t *l, findings_t *out) {
    pt_sums_t sums;
    int64_t total = 0, dispatch = 0, routing = 0;
    unsigned tiny = 0;
    pt_sums_make(l, PT_SUM_BY_NAME, PT_ROW_KERNEL, PT_ROW_KERNEL, &sums);
    for (size_t i = 0; i < sums.count; i++) {
        const pt_sum_row_t *a = &sums.row[i];
        total += a->total;
        dispatch += PT_STR_IS(a->class, "DeepEP dispatch") ? a->total : 0;
        routing += PT_STR_IS(a->class, "Routing") ? a->total : 0;
        tiny += i < 30 && (double)a->total / (double)a->count < 3000;
    }
    pt_sums_free(&sums);
    if (total > 0 && (double)dispatch > 0.15 * (double)total) {
        finding_t *f = add(out, 2, (double)dispatch / (double)total);
        SAY(f, "DeepEP dispatch takes %.1f %% of the kernels' time",
            100 * (double)dispatch / (double)total);
        ADVISE(f, "look at expert balance, and at overlapping dispatch with compute");
    }
    if (total > 0 && (double)routing > 0.05 * (double)total) {
        finding_t *f = add(out, 2, (double)routing / (double)total);
        SAY(f, "routing (top-k) takes %.1f %% of the kernels' time",
            100 * (double)routing / (double)total);
        ADVISE(f, "a fused router kernel may help");
    }
    if (tiny > 5) {
        finding_t *f = add(out, 1, tiny);
        SAY(f, "%u of the 30 kernels with the most time average less than 3 us", tiny);
        ADVISE(f, "fuse them, or launch them as a CUDA graph");
    }
}

static void about_communication(const pt_results_t *l, findings_t *out) {
    int64_t exposed = 0, range = 0, copies = 0;
    for (size_t i = 0; i < l->count; i++) {
        const pt_rank_result_t *r = &l->result[i];
        int64_t alone = pt_fact_between(r, PT_FACT_hidden_ns, PT_FACT_communication_ns);
        int64_t length = pt_fact_between(r, PT_FACT_range_first_ns, PT_FACT_range_last_ns);
        if (alone != PT_NOT_RECORDED && length != PT_NOT_RECORDED) {
            exposed += alone;
            range += length;
        }
        copies = PT_MAX(copies, r->fact[PT_FACT_copies_ns]);
    }
    if (range > 0 && (double)exposed > 0.1 * (double)range) {
        finding_t *f = add(out, 2, (double)exposed / (double)range);
        SAY(f, "communication that nothing is computed under takes %.1f %% of the devices' time",
            100 * (double)exposed / (double)range);
        ADVISE(f, "see breakdown, collectives and stragglers: waits for late ranks count, too");
    }
    if (copies > 100000000) {
        finding_t *f = add(out, 2, (double)copies / 1e9);
        SAY(f, "aten::copy_ takes %.0f ms on the host", (double)copies / 1e6);
        ADVISE(f, "look for needless copies between devices, types and layouts");
    }
}

static void about_input(const pt_results_t *l, findings_t *out) {
    perftrace__strbuf_t ranks = PERFTRACE__STRBUF_INIT;
    size_t missing = pt_ranks_missing(l, 10, &ranks);
    if (missing > 0) {
        finding_t *f = add(out, 3, (double)missing);
        if (l->chosen != NULL) {
            SAY(f, "%zu of the chosen ranks %s missing: %s", missing, missing == 1 ? "is" : "are",
                perftrace__strbuf_cstr(&ranks));
        } else {
            SAY(f, "%zu of %lld ranks are missing: %s", missing, (long long)pt_ranks_world(l),
                perftrace__strbuf_cstr(&ranks));
        }
        ADVISE(f, "figures over ranks, and waits, are of those that are there");
    }
    size_t odd = pt_ranks_odd_run(l);
    if (odd != SIZE_MAX) {
        const pt_rank_result_t *r = &l->result[odd];
        pt_str_t file = pt_names_get(&r->texts, r->file);
        finding_t *f = add(out, 3, 0);
        SAY(f, "%.*s is of another run", (int)PT_MIN(file.len, (size_t)120), file.p);
        ADVISE(f, "leave it out");
    }
    perftrace__strbuf_free(&ranks);
}

static int by_weight(const void *a, const void *b) {
    const finding_t *x = a, *y = b;
    if (x->weight != y->weight) {
        return x->weight < y->weight ? 1 : -1;
    }
    return x->cost != y->cost ? (x->cost < y->cost ? 1 : -1) : strcmp(x->text, y->text);
}

void pt_report_findings(const pt_analyze_report_t *how, pt_report_t *report) {
    static const char *const weight[] = {"", "low", "medium", "high"};
    findings_t l = {.count = 0};
    pt_table_t *t = pt_report_table(report, "findings", "Findings", false);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_TEXT);
    pt_table_column(t, "finding", "Finding", PT_COLUMN_LONG);
    pt_table_column(t, "advice", "Advice", PT_COLUMN_LONG);
    about_input(how->results, &l);
    about_utilisation(how->results, &l);
    about_launches(how->results, &l);
    about_classes(how->results, &l);
    about_communication(how->results, &l);
    qsort(l.finding, l.count, sizeof *l.finding, by_weight);
    for (size_t i = 0; i < l.count; i++) {
        pt_table_cstr(t, weight[l.finding[i].weight]);
        pt_table_cstr(t, l.finding[i].text);
        pt_table_cstr(t, l.finding[i].advice);
    }
}
