/* stacks_show.c. SPDX-License-Identifier: MIT */
#include "stacks_show.h"

#include "input.h"
#include "kept_files.h"
#include "message.h"
#include "report_output.h"
#include "stack_page.h"

#include <string.h>

#define TOP_FUNCTIONS 20
#define TOP_STACKS    5
#define MOST_BOXES    100000 /* of a page: more take a browser seconds */

pt_exit_t pt_stacks_write_report(const pt_stacks_options_t *o, const pt_stacks_report_t *r,
                                 const pt_problems_t *book, const pt_paths_t *inputs) {
    if (!o->json && !o->csv) {
        return pt_output_text(o->output, inputs, &r->text);
    }
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (o->json) {
        perftrace__strbuf_puts(
            &text, "{\"perftrace_stacks\": {\"version\": \"" PERFTRACE_TOOL_VERSION "\"},\n");
        pt_report_print_json(&r->tables, &text);
        perftrace__strbuf_puts(&text, ",\n\"problems\": ");
        pt_problems_json(book, &text);
        perftrace__strbuf_puts(&text, "}\n");
    } else {
        pt_report_print_csv(&r->tables, &text);
    }
    pt_exit_t status = pt_output_text(o->output, inputs, &text);
    perftrace__strbuf_free(&text);
    return status;
}

/* ---- categories ---- */

static bool read_file(const char *path, perftrace__strbuf_t *text) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input;
    int64_t got = -1;
    if (pt_input_open(path, NULL, &input, &problem) == 0) {
        do {
            got = perftrace__strbuf_reserve(text, 65536)
                      ? pt_input_read(input, text->data + text->len, 65536)
                      : -1;
            text->len += got > 0 ? (size_t)got : 0;
        } while (got > 0);
        if (got < 0) {
            perftrace__strbuf_puts(&problem,
                                   text->failed ? "out of memory" : pt_input_problem(input));
        }
        pt_input_close(input);
    }
    if (got < 0) {
        pt_error("%s: %s", path, perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return got == 0;
}

static pt_exit_t load_categories(const char *path, pt_categories_t *c) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__json_error_t error = {0, 0};
    const char *problem = "";
    bool ok = read_file(path, &text);
    if (ok) {
        ok = pt_categories_parse(perftrace__strbuf_cstr(&text), text.len, c, &error, &problem);
        if (!ok && error.code != PERFTRACE__JSON_E_OK) {
            pt_error("%s: byte %zu: %s", path, error.offset,
                     perftrace__json_error_text(error.code));
        } else if (!ok) {
            pt_error("%s: %s", path, problem);
        }
    }
    perftrace__strbuf_free(&text);
    return ok ? PT_EXIT_OK : PT_EXIT_INPUT;
}

/* ---- sections ---- */

static uint64_t top_of(const pt_stacks_options_t *o, uint64_t otherwise) {
    return o->top > 0 ? o->top : otherwise;
}

static pt_exit_t ran_out(bool ok) {
    if (!ok) {
        pt_error("out of memory");
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

/* Of chains: they may be more than can be shown, too. */
static pt_exit_t chains_ran_out(const pt_stacks_report_t *r, bool ok) {
    if (!r->too_long) {
        return ran_out(ok);
    }
    pt_error("the stacks are too deep to be shown whole: they have more than %llu frames together",
             (unsigned long long)PT_CHAINS_MOST_NAMES);
    pt_note("top and inclusive do without them, callers and callgraph with a --depth");
    return PT_EXIT_PROBLEMS;
}

static pt_exit_t show_categories(pt_stacks_report_t *r, const pt_stacks_options_t *o,
                                 const pt_tally_t *self) {
    pt_categories_t c = {.title = NULL};
    pt_category_table_t table = {NULL, 0};
    pt_exit_t status = o->categories != NULL ? load_categories(o->categories, &c)
                                             : ran_out(pt_categories_builtin(&c));
    if (status == PT_EXIT_OK) {
        status =
            ran_out(pt_category_sum(&c, r->view, self, &table) && pt_report_categories(r, &table));
    }
    pt_category_table_free(&table);
    pt_categories_free(&c);
    return status;
}

static pt_exit_t show_self(pt_stacks_report_t *r, const pt_stacks_options_t *o) {
    pt_tally_t self;
    pt_exit_t status = ran_out(pt_tally_self(r->view, &self) &&
                               pt_report_self(r, &self, top_of(o, TOP_FUNCTIONS)));
    if (status == PT_EXIT_OK && !o->no_categories) {
        status = show_categories(r, o, &self);
    }
    pt_tally_free(&self);
    return status;
}

static pt_exit_t show_inclusive(pt_stacks_report_t *r, const pt_stacks_options_t *o) {
    pt_tally_t inclusive;
    bool ok = pt_tally_inclusive(r->view, &inclusive) &&
              (o->inclusive != NULL ? pt_report_inclusive_of(r, &inclusive, o->inclusive)
                                    : pt_report_inclusive(r, &inclusive, top_of(o, TOP_FUNCTIONS)));
    pt_tally_free(&inclusive);
    return ran_out(ok);
}

/* A function that is nowhere is told; it is no failure. */
static pt_exit_t show_function(pt_stacks_report_t *r, const pt_stacks_options_t *o,
                               const char *function, bool graph) {
    bool found = true;
    uint64_t top = top_of(o, TOP_STACKS);
    bool ok = graph ? pt_report_callgraph(r, function, o->depth, top, &found)
                    : pt_report_callers(r, function, o->depth, top, &found);
    if (ok && !found) {
        pt_warn("the function '%s' is in no stack that is looked at", function);
    }
    return chains_ran_out(r, ok);
}

/* What is asked for, in the order in which it is shown. */
typedef struct wanted {
    bool self, threads, full, inclusive;
    const char *callers, *graph;
} wanted_t;

static wanted_t wanted_of(const pt_stacks_options_t *o) {
    wanted_t w = {.threads = o->command == PT_STACKS_THREADS,
                  .full = o->command == PT_STACKS_FULL || o->full,
                  .inclusive = o->command == PT_STACKS_INCLUSIVE || o->inclusive != NULL,
                  .callers = o->command == PT_STACKS_CALLERS ? o->function : o->callers,
                  .graph = o->command == PT_STACKS_CALLGRAPH ? o->function : o->call_graph};
    bool stacks = w.full || w.callers != NULL || w.graph != NULL;
    w.self = o->command == PT_STACKS_TOP ||
             (o->command == PT_STACKS_FLAT && (!stacks || o->inclusive != NULL));
    return w;
}

static pt_exit_t show_sections(pt_stacks_report_t *r, const pt_stacks_options_t *o,
                               const pt_stacks_input_t *in) {
    wanted_t w = wanted_of(o);
    if (o->command == PT_STACKS_SUMMARY) {
        return ran_out(pt_report_summary(r, in->name, in->source, in->paths.count));
    }
    pt_exit_t status = w.self ? show_self(r, o) : PT_EXIT_OK;
    if (status == PT_EXIT_OK && w.threads) {
        perftrace__strbuf_putc(&r->text, '\n');
        status = ran_out(pt_report_threads(r));
    }
    if (status == PT_EXIT_OK && w.callers != NULL) {
        status = show_function(r, o, w.callers, false);
    }
    if (status == PT_EXIT_OK && w.graph != NULL) {
        status = show_function(r, o, w.graph, true);
    }
    if (status == PT_EXIT_OK && w.full) {
        status = chains_ran_out(r, pt_report_full(r, o->top));
    }
    if (status == PT_EXIT_OK && w.inclusive) {
        status = show_inclusive(r, o);
    }
    return status;
}

static pt_exit_t show_threads(pt_stacks_report_t *r, const pt_stacks_input_t *in) {
    for (size_t i = 0; i < in->paths.count; i++) {
        perftrace__strbuf_puts(&r->text, i == 0 ? "Threads in " : ", ");
        pt_table_visible(&r->text, in->name[i], 0);
    }
    perftrace__strbuf_puts(&r->text, ":\n\n");
    return ran_out(pt_report_threads(r));
}

/* Whether the report is to follow: not where the page took its place. */
static pt_exit_t write_page(const pt_stacks_options_t *o, const pt_stacks_input_t *in,
                            const pt_paths_t *kept, const pt_stack_view_t *view, bool *ret_go_on) {
    perftrace__strbuf_t title = PERFTRACE__STRBUF_INIT, page = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_INTERNAL;
    *ret_go_on = o->output != NULL || strcmp(o->html, "-") != 0;
    for (size_t i = 0; i < in->paths.count; i++) {
        perftrace__strbuf_puts(&title, i > 0 ? ", " : "");
        perftrace__strbuf_puts(&title, in->name[i]);
    }
    pt_stack_page_t how = {.title = perftrace__strbuf_cstr(&title),
                           .maker = "perf-trace-stacks " PERFTRACE_TOOL_VERSION,
                           .most_nodes = MOST_BOXES};
    if (pt_stack_page(view, &how, &page) && !title.failed) {
        status = pt_output_text(o->html, kept, &page);
    } else {
        pt_error("out of memory");
    }
    perftrace__strbuf_free(&title);
    perftrace__strbuf_free(&page);
    return status;
}

pt_exit_t pt_stacks_show(const pt_stacks_options_t *o, const pt_stacks_input_t *in,
                         pt_problems_t *book) {
    pt_stack_view_t view;
    pt_stacks_report_t report = {
        .view = &view, .text = PERFTRACE__STRBUF_INIT, .tables = PT_REPORT_INIT};
    pt_paths_t kept = PT_PATHS_INIT;
    pt_exit_t status =
        ran_out(pt_stack_view_make(&in->p, o->thread, &view) && pt_kept_add(&kept, &in->paths) &&
                pt_kept_add_file(&kept, o->categories));
    bool list = o->list_threads && o->command == PT_STACKS_FLAT;
    if (status == PT_EXIT_OK && view.matching == 0) {
        pt_error("no thread's name holds '%s'", o->thread);
        pt_note("perf-trace-stacks threads lists the threads there are");
        status = PT_EXIT_PROBLEMS;
    }
    if (status == PT_EXIT_OK && view.left_out > 0) {
        pt_warn("%zu thread%s left out of the sums: %s weights are not of the unit %s",
                view.left_out, view.left_out == 1 ? " is" : "s are",
                view.left_out == 1 ? "its" : "their", pt_unit_name(view.unit));
    }
    if (status == PT_EXIT_OK && (list || o->command == PT_STACKS_THREADS)) {
        status = show_threads(&report, in);
    } else if (status == PT_EXIT_OK) {
        pt_report_head(&report, in->name, in->paths.count, o->thread);
        status = show_sections(&report, o, in);
    }
    bool go_on = true;
    if (status == PT_EXIT_OK && o->html != NULL) {
        status = write_page(o, in, &kept, &view, &go_on);
    }
    if (status == PT_EXIT_OK && go_on) {
        status = pt_stacks_write_report(o, &report, book, &kept);
    }
    pt_paths_free(&kept);
    pt_stacks_report_free(&report);
    pt_stack_view_free(&view);
    return status;
}
