/* sessions_main.c: perf-trace-sessions, from the command line to the exit status.
 * SPDX-License-Identifier: MIT */
#include "kept_files.h"
#include "message.h"
#include "os.h"
#include "output.h"
#include "path_parts.h"
#include "report_output.h"
#include "session_compare.h"
#include "session_load.h"
#include "session_problem.h"
#include "session_report.h"
#include "session_source.h"
#include "sessions_output.h"
#include "sessions_page.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES_NAMED 4 /* of one kind of problem */

static bool is_wanted(const char *name, void *ctx) {
    (void)ctx;
    return pt_session_file_wanted(name, NULL);
}

static unsigned thread_count(const pt_sessions_options_t *o) {
    return o->jobs > 0 ? (unsigned)o->jobs : PT_MIN(perftrace__os_cpu_count(), 16U);
}

/* The names of the inputs, by their numbers; NULL without memory. */
static const char **name_files(const pt_paths_t *paths) {
    const char **file = calloc(paths->count + 1, sizeof *file);
    for (size_t i = 0; file != NULL && i < paths->count; i++) {
        file[i] = pt_path_shown(&paths->items[i]);
    }
    return file;
}

static pt_session_filter_t filter_of(const pt_sessions_options_t *o) {
    return (pt_session_filter_t){.ranks = o->ranks != NULL ? &o->rank_ranges : NULL,
                                 .roles = &o->roles,
                                 .statuses = &o->statuses,
                                 .tasks = &o->tasks,
                                 .from = o->from_s,
                                 .to = o->to_s,
                                 .has_steps = o->steps != NULL,
                                 .steps = o->step_range};
}

/* The sessions that the options choose. Steps belong to the selection. */
static bool choose(const pt_session_model_t *model, const pt_sessions_options_t *o,
                   pt_session_steps_t *steps, pt_selection_t *selection) {
    pt_session_filter_t filter = filter_of(o);
    bool with_steps = o->batch_size > 0;
    bool ok = (!with_steps || pt_session_steps_find(model, o->batch_size, steps)) &&
              pt_session_select(model, with_steps ? steps : NULL, &filter, selection);
    if (steps->too_small > 0) {
        pt_warn("a training step of %llu tasks gives some ranks none: no steps are shown there",
                (unsigned long long)o->batch_size);
    }
    if (ok && selection->rows == 0) {
        pt_warn("no session is left by the options that choose");
    }
    return ok;
}

/* One side of the work: an input list, its model, and what is chosen of it. */
typedef struct side {
    pt_paths_t paths;
    pt_session_model_t model;
    pt_session_steps_t steps;
    pt_selection_t selection;
} side_t;

static void free_side(side_t *side) {
    pt_selection_free(&side->selection);
    pt_session_steps_free(&side->steps);
    pt_session_model_free(&side->model);
    pt_paths_free(&side->paths);
}

static pt_exit_t load_side(side_t *side, char *const *operands, size_t count,
                           const pt_sessions_options_t *o, pt_problems_t *book) {
    pt_paths_request_t request = {.filter = is_wanted, .looked_for = "*.jsonl or *.json"};
    pt_exit_t status = pt_paths_collect(&request, operands, count, &side->paths);
    status = status == PT_EXIT_OK ? pt_path_parts_join(&side->paths) : status;
    pt_session_load_t load = {.paths = &side->paths, .book = book, .threads = thread_count(o)};
    if (status == PT_EXIT_OK) {
        status = pt_session_load(&load, &side->model);
    }
    if (status == PT_EXIT_OK && !choose(&side->model, o, &side->steps, &side->selection)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    }
    return status;
}

static pt_exit_t report_one(const side_t *side, const pt_sessions_options_t *o,
                            pt_report_t *report) {
    const char **file = name_files(&side->paths);
    bool ok = file != NULL && pt_session_report_make(&side->selection, file, (size_t)o->top,
                                                     thread_count(o), report);
    free(file);
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

static pt_exit_t report_both(const side_t *a, const side_t *b, const pt_sessions_options_t *o,
                             pt_report_t *report) {
    return pt_session_compare(&a->selection, &b->selection, o->confidence, thread_count(o), report)
               ? PT_EXIT_OK
               : PT_EXIT_INTERNAL;
}

/* Tells the problems; whether they make the run fail. */
static pt_exit_t judge(const pt_problems_t *book, const pt_sessions_options_t *o) {
    bool bad = o->strict && pt_problems_total(book, PT_PROBLEM_MENDED) > 0;
    pt_problems_print(book, o->strict, MAX_FILES_NAMED);
    if (bad) {
        pt_error("nothing is written: the input has problems (--strict)");
    }
    return bad ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
}

/* The page of one side. Whether the report is to follow: not where the page took its place. */
static pt_exit_t write_page(const side_t *side, const pt_report_t *report,
                            const pt_sessions_options_t *o, bool *ret_go_on) {
    const char **file = name_files(&side->paths);
    pt_exit_t status = PT_EXIT_INTERNAL;
    *ret_go_on = o->output != NULL || strcmp(o->html, "-") != 0;
    if (file == NULL) {
        pt_error("out of memory");
    } else {
        status = pt_sessions_page_write(&side->selection, file, &side->paths, report,
                                        thread_count(o), o);
    }
    free(file);
    return status;
}

/* The output must be none of the inputs of either side. */
static pt_exit_t write_report(const pt_report_t *report, const pt_problems_t *book,
                              const side_t side[2], const pt_sessions_options_t *o) {
    pt_paths_t kept = PT_PATHS_INIT;
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (!pt_kept_add(&kept, &side[0].paths) || !pt_kept_add(&kept, &side[1].paths)) {
        pt_error("out of memory");
    } else {
        status = pt_sessions_output_write(report, book, &kept, o);
    }
    pt_paths_free(&kept);
    return status;
}

static int run(const pt_sessions_options_t *o, const pt_string_list_t *operands) {
    side_t side[2] = {{.paths = PT_PATHS_INIT}, {.paths = PT_PATHS_INIT}};
    side[0].model.keep_spans = o->html != NULL;
    pt_report_t report = PT_REPORT_INIT;
    pt_problems_t *book = pt_problems_new(pt_session_problem_kinds(), PT_SESSION_PROBLEM_COUNT);
    size_t first = o->compare ? 1 : operands->count;
    int status =
        book == NULL ? PT_EXIT_INTERNAL : (int)load_side(&side[0], operands->items, first, o, book);
    if (status == PT_EXIT_OK && o->compare) {
        status = (int)load_side(&side[1], operands->items + 1, 1, o, book);
    }
    if (status == PT_EXIT_OK) {
        status = (int)(o->compare ? report_both(&side[0], &side[1], o, &report)
                                  : report_one(&side[0], o, &report));
        if (status != PT_EXIT_OK) {
            pt_error("out of memory");
        }
    }
    if (status == PT_EXIT_OK) {
        status = pt_report_choose(&report, &o->tables, &pt_sessions_tool);
    }
    if (status == PT_EXIT_OK) {
        bool go_on = true;
        status = (int)judge(book, o);
        if (status == PT_EXIT_OK && o->html != NULL) {
            status = (int)write_page(&side[0], &report, o, &go_on);
        }
        status = status == PT_EXIT_OK && go_on ? (int)write_report(&report, book, side, o) : status;
    } else if (status == PT_EXIT_INPUT) {
        pt_problems_print(book, o->strict, MAX_FILES_NAMED);
    }
    pt_report_free(&report);
    free_side(&side[0]);
    free_side(&side[1]);
    pt_problems_free(book);
    return status;
}

/* Lists of a few megabytes come and go, one for each figure. What is freed is kept for the next
 * one: memory that is new from the system costs more than what is done in it. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_ARENA_MAX, 1);
#endif
}

int main(int argc, char **argv) {
    pt_sessions_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    keep_freed_memory();
    pt_message_init(pt_sessions_tool.name, argc > 0 ? argv[0] : NULL, PT_NORMAL);
    int status = pt_sessions_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON && options.html != NULL && !pt_sessions_page_possible()) {
        status = PT_EXIT_OUTPUT;
    }
    if (status == PT_OPTION_GO_ON) {
        pt_output_catch_signals();
        status = run(&options, &operands);
    }
    pt_string_list_free(&operands);
    pt_sessions_options_free(&options);
    return status;
}
