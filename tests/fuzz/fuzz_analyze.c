/* fuzz_analyze.c: any bytes as a trace, through store and analysis to results and report.
 * SPDX-License-Identifier: MIT
 *
 * Whatever comes in, the figures agree with each other (no share above 1, parts not more than their
 * whole, nothing negative), chunks of any size give the same, and results that are written and read
 * are the same. The bytes are read as written results, too. */
#include "analyze_report.h"
#include "event_fast.h"
#include "rank_analysis.h"
#include "rank_order.h"
#include "result_json.h"
#include "store_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_analyze.c:%d: %s\n", __LINE__, #x);                              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static pt_kernel_rules_t rules;

static void read_trace(const char *text, size_t size, size_t step, pt_shape_t shape,
                       pt_results_t *results) {
    pt_rank_store_t store;
    pt_trace_reader_t reader;
    pt_store_feed_t feed;
    pt_analysis_options_t options = {.rules = &rules,
                                     .gaps = 15,
                                     .kernel_wait_ns = 30,
                                     .sequence_min = 1,
                                     .graph_per_step = PT_NOT_RECORDED};
    pt_problems_t *book = pt_problems_new(pt_trace_problem_kinds(), PT_TRACE_PROBLEM_COUNT);
    CHECK(book != NULL);
    pt_problems_add_file(book, "input");
    pt_store_init(&store);
    pt_trace_reader_init(&reader, shape);
    reader.book = book;
    store.asks_ranks = true;
    pt_store_feed_join(&feed, &store, &reader);
    for (size_t at = 0; at <= size; at += step) {
        size_t n = PT_MIN(step, size - at);
        char *chunk = malloc(n + PT_EVENT_PAD);
        CHECK(chunk != NULL);
        memcpy(chunk, text + at, n);
        memset(chunk + n, 0, PT_EVENT_PAD);
        pt_trace_reader_feed(&reader, chunk, n, at + step > size);
        free(chunk);
    }
    pt_store_feed_finish(&feed, false);
    CHECK(!store.failed);
    CHECK(pt_rank_analyze(&store, "input", &options, results));
    pt_trace_reader_free(&reader);
    pt_store_free(&store);
    pt_problems_free(book);
}

static void check_facts(const pt_rank_result_t *r) {
    const int64_t *f = r->fact;
    CHECK(f[PT_FACT_events] >= 0 && f[PT_FACT_scopes] >= 0);
    if (f[PT_FACT_busy_ns] == PT_NOT_RECORDED) {
        CHECK(f[PT_FACT_compute_ns] == PT_NOT_RECORDED && f[PT_FACT_linked] == PT_NOT_RECORDED);
        CHECK(pt_result_rows(r, PT_RT_streams) == 0 && pt_result_rows(r, PT_RT_gaps) == 0);
        return;
    }
    int64_t busy = f[PT_FACT_busy_ns], compute = f[PT_FACT_compute_ns];
    int64_t communication = f[PT_FACT_communication_ns], memory = f[PT_FACT_memory_ns];
    int64_t range = f[PT_FACT_range_last_ns] - f[PT_FACT_range_first_ns];
    CHECK(busy >= 0 && busy <= f[PT_FACT_work_last_ns] - f[PT_FACT_work_first_ns]);
    CHECK(compute <= busy && communication <= busy && memory <= busy);
    CHECK(compute + communication + memory >= busy);
    CHECK(f[PT_FACT_hidden_ns] <= PT_MIN(compute, communication) && f[PT_FACT_hidden_ns] >= 0);
    CHECK(f[PT_FACT_idle_host_ns] + f[PT_FACT_idle_kernel_ns] + f[PT_FACT_idle_other_ns] ==
          range - busy);
    if (f[PT_FACT_linked] != PT_NOT_RECORDED) {
        CHECK(f[PT_FACT_linked] + f[PT_FACT_unlinked_work] == f[PT_FACT_work]);
        CHECK(f[PT_FACT_calls] > 0 && f[PT_FACT_calls] <= f[PT_FACT_linked]);
        CHECK(f[PT_FACT_delay_p50_ns] <= f[PT_FACT_delay_p99_ns]);
        CHECK(f[PT_FACT_delay_p99_ns] <= f[PT_FACT_delay_max_ns] && f[PT_FACT_delay_p50_ns] >= 0);
        int64_t on_path = 0;
        for (size_t i = 0; i < pt_result_rows(r, PT_RT_path); i++) {
            on_path += pt_result_at(r, PT_RT_path, i)[3];
        }
        int64_t in_sequences = 0; /* work is in one of them at most */
        for (size_t i = 0; i < pt_result_rows(r, PT_RT_sequences); i++) {
            const int64_t *cell = pt_result_at(r, PT_RT_sequences, i);
            in_sequences += cell[2] * cell[3];
        }
        CHECK(in_sequences <= f[PT_FACT_linked]);
        CHECK(on_path <= PT_MAX(f[PT_FACT_path_ns], (int64_t)0));
    }
}

static void write_all(const pt_results_t *results, perftrace__strbuf_t *out) {
    pt_report_t report = PT_REPORT_INIT;
    pt_analyze_report_t how = {.results = results, .top = 0, .details = true};
    pt_results_write(results, out);
    CHECK(pt_analyze_report(&how, &report));
    perftrace__strbuf_putc(out, '{');
    pt_report_print_json(&report, out);
    perftrace__strbuf_putc(out, '}');
    pt_report_print_text(&report, false, out);
    pt_report_free(&report);
    CHECK(!out->failed);
}

static void resolve(pt_results_t *results) {
    pt_rank_twins_t twins;
    size_t made_up;
    pt_ranks_resolve(results, NULL, &made_up, &twins);
}

/* Written and read, the results are the same to the last byte. */
static void check_again(const pt_results_t *results, const perftrace__strbuf_t *want) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, again = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_results_t read = {.result = NULL};
    pt_results_write(results, &text);
    CHECK(pt_results_is(text.data, text.len));
    CHECK(pt_results_read(&read, text.data, text.len, &problem));
    resolve(&read);
    write_all(&read, &again);
    CHECK(again.len == want->len && memcmp(again.data, want->data, want->len) == 0);
    pt_results_free(&read);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&again);
    perftrace__strbuf_free(&problem);
}

static void check_trace(const char *text, size_t size, pt_shape_t shape) {
    perftrace__strbuf_t whole = PERFTRACE__STRBUF_INIT, pieces = PERFTRACE__STRBUF_INIT;
    for (unsigned pass = 0; pass < 2; pass++) {
        pt_results_t results = {.result = NULL};
        read_trace(text, size, pass == 0 ? size + 1 : 1 + size / 7, shape, &results);
        resolve(&results);
        CHECK(results.count > 0);
        for (size_t i = 0; i < results.count; i++) {
            check_facts(&results.result[i]);
        }
        write_all(&results, pass == 0 ? &whole : &pieces);
        if (pass == 0) {
            check_again(&results, &whole);
        }
        pt_results_free(&results);
    }
    CHECK(whole.len == pieces.len && memcmp(whole.data, pieces.data, whole.len) == 0);
    perftrace__strbuf_free(&whole);
    perftrace__strbuf_free(&pieces);
}

/* As results that were written by whom ever: refused with a sentence, or good for a report. */
static void check_results(const char *text, size_t size) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT, out = PERFTRACE__STRBUF_INIT;
    pt_results_t results = {.result = NULL};
    if (pt_results_read(&results, text, size, &problem)) {
        resolve(&results);
        write_all(&results, &out);
    } else {
        CHECK(problem.len > 0);
    }
    pt_results_free(&results);
    perftrace__strbuf_free(&problem);
    perftrace__strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const char *text = (const char *)data;
    pt_source_t source;
    if (rules.rules == 0) {
        CHECK(pt_kernel_rules_add(&rules, pt_kernel_rules_text(), strlen(pt_kernel_rules_text()),
                                  &problem));
    }
    pt_source_init(&source);
    pt_source_sniff(&source, text, PT_MIN(size, (size_t)PT_SOURCE_PEEK), size <= PT_SOURCE_PEEK);
    if (source.shape == PT_SHAPE_LINES || source.shape == PT_SHAPE_ARRAY ||
        source.shape == PT_SHAPE_OBJECT) {
        check_trace(text, size, source.shape);
    }
    pt_source_free(&source);
    check_results(text, size);
    pt_kernel_rules_t own = {NULL, 0, 0};
    if (pt_kernel_rules_add(&own, text, size, &problem)) {
        (void)pt_kernel_rules_find(&own, text, size);
    }
    pt_kernel_rules_free(&own);
    perftrace__strbuf_free(&problem);
    return 0;
}
