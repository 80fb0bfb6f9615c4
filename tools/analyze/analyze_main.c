/* analyze_main.c: perf-trace-analyze, from the command line to the exit status.
 * SPDX-License-Identifier: MIT */
#include "analyze_load.h"
#include "analyze_options.h"
#include "analyze_output.h"
#include "analyze_page.h"
#include "analyze_report.h"
#include "input.h"
#include "kept_files.h"
#include "message.h"
#include "os.h"
#include "output.h"
#include "path_parts.h"
#include "rank_order.h"
#include "report_output.h"
#include "result_clock.h"
#include "result_json.h"

#include <stdlib.h>
#include <string.h>

#define RANKS_NAMED 20U

/* One side of the work: inputs and what they give. */
typedef struct side {
    pt_paths_t paths;
    pt_results_t results;
} side_t;

static void free_side(side_t *side) {
    pt_results_free(&side->results);
    pt_paths_free(&side->paths);
}

/* ---- rules ---- */

static pt_exit_t read_rules(const char *path, pt_kernel_rules_t *rules) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *in = NULL;
    char buf[4096];
    int64_t n = 0;
    pt_exit_t status = PT_EXIT_OK;
    int rc = pt_input_open(path, NULL, &in, &problem);
    while (rc == 0 && (n = pt_input_read(in, buf, sizeof buf)) > 0) {
        perftrace__strbuf_append(&text, buf, (size_t)n);
    }
    if (rc == 0 && n < 0) {
        perftrace__strbuf_puts(&problem, pt_input_problem(in));
    }
    if (rc != 0 || n < 0 ||
        !pt_kernel_rules_add(rules, perftrace__strbuf_cstr(&text), text.len, &problem)) {
        pt_error("%s: %s", path, perftrace__strbuf_cstr(&problem));
        status = PT_EXIT_INPUT;
    }
    pt_input_close(in);
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&problem);
    return status;
}

static pt_exit_t make_rules(const pt_analyze_options_t *o, pt_kernel_rules_t *rules) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    const char *text = pt_kernel_rules_text();
    pt_exit_t status = o->rules != NULL ? read_rules(o->rules, rules) : PT_EXIT_OK;
    if (status == PT_EXIT_OK && !pt_kernel_rules_add(rules, text, strlen(text), &problem)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    }
    perftrace__strbuf_free(&problem);
    return status;
}

/* ---- ranks ---- */

static void keep_chosen(pt_results_t *l, const pt_analyze_options_t *o) {
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (pt_number_ranges_has(&o->rank_ranges, l->result[i].fact[PT_FACT_rank])) {
            pt_rank_result_t swap = l->result[kept];
            l->result[kept++] = l->result[i];
            l->result[i] = swap;
        }
    }
    for (size_t i = kept; i < l->count; i++) {
        pt_result_free(&l->result[i]);
    }
    l->count = kept;
    l->chosen = &o->rank_ranges;
}

static pt_exit_t tell_twins(const pt_results_t *l, const pt_rank_twins_t *twins) {
    const pt_rank_result_t *a = &l->result[twins->first], *b = &l->result[twins->second];
    pt_str_t x = pt_names_get(&a->texts, a->file), y = pt_names_get(&b->texts, b->file);
    pt_error("%.*s and %.*s are both of rank %lld: leave one out, or say which is which with "
             "--rank-map FILE=RANK",
             (int)x.len, x.p, (int)y.len, y.p, (long long)a->fact[PT_FACT_rank]);
    return PT_EXIT_INPUT;
}

/* A result of its own that is to be merged is meant to lack the others. */
static pt_exit_t tell_missing(const pt_results_t *l, const pt_analyze_options_t *o) {
    perftrace__strbuf_t missing = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_OK;
    size_t count = pt_ranks_missing(l, RANKS_NAMED, &missing);
    const char *ranks = perftrace__strbuf_cstr(&missing), *s = count == 1 ? "" : "s";
    if (count > 0 && (o->partial == NULL || o->require_all)) {
        if (o->ranks != NULL) {
            pt_warn("missing rank%s %s of %s", s, ranks, o->ranks);
        } else {
            pt_warn("missing rank%s %s of %lld", s, ranks, (long long)pt_ranks_world(l));
        }
        status = o->require_all ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
    }
    perftrace__strbuf_free(&missing);
    return status;
}

static pt_exit_t resolve(pt_results_t *l, const pt_analyze_options_t *o) {
    pt_rank_twins_t twins;
    size_t made_up;
    pt_exit_t status;
    pt_ranks_resolve(l, &o->rank_map, &made_up, &twins);
    if (twins.found) {
        return tell_twins(l, &twins);
    }
    if (made_up > 0) {
        pt_warn("no rank is recorded for %zu of %zu results, nor told by the file's name: numbered "
                "in the order of their names (--rank-map FILE=RANK tells)",
                made_up, l->count);
    }
    size_t odd = pt_ranks_odd_run(l);
    if (odd != SIZE_MAX) {
        const pt_rank_result_t *r = &l->result[odd];
        pt_str_t file = pt_names_get(&r->texts, r->file), run = pt_names_get(&r->texts, r->run_id);
        pt_warn("%.*s is of another run (%.*s) than the others", (int)file.len, file.p,
                (int)run.len, run.p);
    }
    if (o->ranks != NULL) {
        keep_chosen(l, o);
        if (l->count == 0) {
            pt_error("no input is of a rank in %s", o->ranks);
            return PT_EXIT_INPUT;
        }
    }
    status = tell_missing(l, o);
    if (status == PT_EXIT_OK && !pt_results_align(l)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    }
    return status;
}

/* ---- the run ---- */

static pt_exit_t load_side(side_t *side, char *const *operands, size_t count,
                           const pt_analyze_options_t *o, const pt_analysis_options_t *analysis) {
    pt_paths_request_t request = {.filter =
                                      o->command == PT_ANALYZE_MERGE ? NULL : pt_analyze_wants,
                                  .looked_for = "*.json, *.jsonl, *.json.gz"};
    pt_exit_t status = pt_paths_collect(&request, operands, count, &side->paths);
    status = status == PT_EXIT_OK ? pt_path_parts_join(&side->paths) : status;
    pt_analyze_load_t load = {.paths = &side->paths,
                              .analysis = analysis,
                              .keep_outliers = o->keep_outliers,
                              .strict = o->strict,
                              .threads = o->jobs > 0 ? (unsigned)o->jobs
                                                     : PT_MIN(perftrace__os_cpu_count(), 64U)};
    if (status == PT_EXIT_OK) {
        status = pt_analyze_load(&load, &side->results);
    }
    if (status == PT_EXIT_OK && o->strict && load.mended > 0) {
        pt_error("nothing is written: the input has problems (--strict)");
        status = PT_EXIT_PROBLEMS;
    }
    return status == PT_EXIT_OK ? resolve(&side->results, o) : status;
}

static pt_exit_t write_partial(const side_t *side, const pt_paths_t *kept,
                               const pt_analyze_options_t *o) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_results_write(&side->results, &text);
    pt_exit_t status = pt_output_text(o->partial, kept, &text);
    perftrace__strbuf_free(&text);
    return status;
}

static pt_exit_t write_page(const side_t *side, const pt_paths_t *kept,
                            const pt_analyze_options_t *o) {
    perftrace__strbuf_t page = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (!pt_analyze_page(&side->results, (size_t)o->top,
                         "perf-trace-analyze " PERFTRACE_TOOL_VERSION, &page)) {
        pt_error("out of memory");
    } else {
        status = pt_output_text(o->html, kept, &page);
    }
    perftrace__strbuf_free(&page);
    return status;
}

static pt_exit_t write_report(side_t side[2], const pt_paths_t *kept,
                              const pt_analyze_options_t *o) {
    pt_report_t report = PT_REPORT_INIT;
    bool diff = o->command == PT_ANALYZE_DIFF;
    pt_results_t lists[2] = {side[0].results, side[1].results};
    pt_analyze_report_t how = {.results = &side[0].results,
                               .top = (size_t)o->top,
                               .brief = !o->json && !o->csv,
                               .details = o->json || o->csv || o->tables.count > 0};
    bool ok = diff ? pt_analyze_diff(&side[0].results, &side[1].results, how.top, &report)
                   : pt_analyze_report(&how, &report);
    int status = ok ? pt_report_choose(&report, &o->tables, &pt_analyze_tool) : PT_EXIT_INTERNAL;
    if (!ok) {
        pt_error("out of memory");
    } else if (status == PT_EXIT_OK) {
        status = (int)pt_analyze_output_report(&report, lists, diff ? 2 : 1, kept, o);
    }
    pt_report_free(&report);
    return (pt_exit_t)status;
}

/* No output may take the place of an input of either side, or of the rules. */
static pt_exit_t write_outputs(side_t side[2], const pt_analyze_options_t *o) {
    bool page_alone = o->html != NULL && strcmp(o->html, "-") == 0 && o->output == NULL;
    pt_paths_t kept = PT_PATHS_INIT;
    pt_exit_t status = PT_EXIT_OK;
    if (!pt_kept_add(&kept, &side[0].paths) || !pt_kept_add(&kept, &side[1].paths) ||
        !pt_kept_add_file(&kept, o->rules)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    } else if (o->partial != NULL) {
        status = write_partial(&side[0], &kept, o);
    } else if (o->html != NULL) {
        status = write_page(&side[0], &kept, o);
    }
    if (status == PT_EXIT_OK && o->partial == NULL && !page_alone) {
        status = write_report(side, &kept, o);
    }
    pt_paths_free(&kept);
    return status;
}

static int run(const pt_analyze_options_t *o, const pt_string_list_t *operands) {
    side_t side[2] = {{.paths = PT_PATHS_INIT}, {.paths = PT_PATHS_INIT}};
    pt_kernel_rules_t rules = {NULL, 0, 0};
    pt_analysis_options_t analysis = {.rules = &rules,
                                      .gaps = 15,
                                      .kernel_wait_ns = o->kernel_wait_ns,
                                      .sequences_of = o->sequences_of,
                                      .sequence_min = o->sequence_min,
                                      .graph_per_step = o->launches_per_step > 0
                                                            ? (int64_t)o->launches_per_step
                                                            : PT_NOT_RECORDED};
    size_t first = o->command == PT_ANALYZE_DIFF ? 1 : operands->count;
    pt_exit_t status = make_rules(o, &rules);
    if (status == PT_EXIT_OK) {
        status = load_side(&side[0], operands->items, first, o, &analysis);
    }
    if (status == PT_EXIT_OK && o->command == PT_ANALYZE_DIFF) {
        status = load_side(&side[1], operands->items + 1, 1, o, &analysis);
    }
    if (status == PT_EXIT_OK) {
        status = write_outputs(side, o);
    }
    pt_kernel_rules_free(&rules);
    free_side(&side[0]);
    free_side(&side[1]);
    return (int)status;
}

int main(int argc, char **argv) {
    pt_analyze_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    pt_message_init(pt_analyze_tool.name, argc > 0 ? argv[0] : NULL, PT_NORMAL);
    int status = pt_analyze_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON && options.html != NULL && !pt_html_has_charts()) {
        pt_error("--html: %s", pt_html_how_to_get_charts());
        status = PT_EXIT_OUTPUT;
    }
    if (status == PT_OPTION_GO_ON) {
        pt_output_catch_signals();
        status = run(&options, &operands);
    }
    pt_string_list_free(&operands);
    pt_analyze_options_free(&options);
    return status;
}
