/* convert_main.c: perf-trace-convert, from the command line to the exit status.
 * SPDX-License-Identifier: MIT */
#include "convert_account.h"
#include "convert_apart.h"
#include "convert_bundle.h"
#include "convert_pass.h"
#include "convert_recover.h"
#include "convert_run.h"
#include "convert_target.h"
#include "grow.h"
#include "message.h"
#include "open_limit.h"
#include "os.h"
#include "path_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_FILES_NAMED 4 /* of one kind of problem */

/* What a left-over ring file is answered with: its events are in no file yet. */
static void ring_input(const pt_convert_input_t *in) {
    pt_warn("%s: is the ring file of a program that is running or was killed; perf-trace-recover "
            "completes its trace first",
            in->name);
}

/* A pass over those inputs for which it is wanted. */
static pt_exit_t pass(pt_convert_input_t *inputs, size_t count, unsigned threads,
                      bool (*wanted)(const pt_convert_input_t *), pt_convert_look_t *look) {
    pt_convert_input_t **some = calloc(count + 1, sizeof(pt_convert_input_t *));
    size_t needed = 0;
    for (size_t i = 0; some != NULL && i < count; i++) {
        if (wanted(&inputs[i])) {
            some[needed++] = &inputs[i];
        }
    }
    pt_exit_t status =
        some != NULL ? pt_convert_pass(some, needed, threads, look) : PT_EXIT_INTERNAL;
    free(some);
    return status;
}

static bool can_be_read_again(const pt_convert_input_t *in) {
    return in->path->regular && !in->path->is_stdin;
}

static bool is_read_once(const pt_convert_input_t *in) {
    return !can_be_read_again(in);
}

static bool needs_survey(const pt_convert_input_t *in) {
    return !in->source.ours && in->source.shape != PT_SHAPE_NONE;
}

/* What opening them came to, in their order: PT_EXIT_OK, or the first failure, which is told. */
static pt_exit_t opened(const pt_convert_input_t *inputs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].opened != PT_EXIT_OK) {
            pt_error("%s", perftrace__strbuf_cstr(&inputs[i].problem));
            return inputs[i].opened;
        }
    }
    return PT_EXIT_OK;
}

/* Opens all inputs and looks into those that need it. Files that are no trace drop out. Who writes
 * to several FIFOs may do so one after another: they are opened in their order. */
static pt_exit_t open_inputs(pt_convert_input_t *inputs, const pt_paths_t *paths,
                             const pt_convert_options_t *options, pt_problems_t *book,
                             unsigned threads) {
    size_t count = paths->count;
    pt_convert_machines_t machines = {.first = 0};
    for (size_t i = 0; i < count; i++) {
        const pt_path_t *path = &paths->items[i];
        unsigned number = pt_problems_add_file(book, pt_path_shown(path));
        pt_convert_input_init(&inputs[i], path, number, options, book, &machines);
        pt_tracks_init(&inputs[i].tracks, number, (unsigned)count);
    }
    pt_exit_t status = pass(inputs, count, threads, can_be_read_again, pt_convert_input_open);
    status = status == PT_EXIT_OK ? opened(inputs, count) : status;
    status =
        status == PT_EXIT_OK ? pass(inputs, count, 1, is_read_once, pt_convert_input_open) : status;
    status = status == PT_EXIT_OK ? opened(inputs, count) : status;
    for (size_t i = 0; i < count && status == PT_EXIT_OK; i++) {
        if (pt_convert_is_mixed(&inputs[i])) {
            return PT_CONVERT_MIXED;
        }
        if (inputs[i].source.shape == PT_SHAPE_RING) {
            ring_input(&inputs[i]);
            inputs[i].source.shape = PT_SHAPE_NONE;
            inputs[i].source.why = NULL;
        }
    }
    if (status == PT_EXIT_OK) {
        status = pass(inputs, count, threads, needs_survey, pt_convert_input_survey);
    }
    size_t skipped = 0;
    for (size_t i = 0; i < count && status == PT_EXIT_OK; i++) {
        pt_convert_input_t *in = &inputs[i];
        in->used = in->source.shape != PT_SHAPE_NONE && (in->source.ours || in->survey.events > 0);
        if (!in->used && in->source.shape != PT_SHAPE_NONE) {
            in->source.why = "no trace event is in it";
        }
        if (!in->used && in->source.why != NULL) {
            pt_warn_some(&skipped, "%s: skipped: %s", in->name, in->source.why);
        }
    }
    pt_warn_more(skipped, "files were skipped");
    return status;
}

/* What the exit status says about the input. */
static pt_exit_t verdict(const pt_convert_account_t *account, const pt_convert_options_t *options) {
    uint64_t faults = pt_problems_total(account->book, PT_PROBLEM_MENDED);
    bool bad = (options->strict || options->check) && faults > 0;
    return bad || (options->check && account->lost > 0) ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
}

static void report(const pt_convert_account_t *account, const pt_convert_doc_t *doc,
                   const pt_convert_options_t *options) {
    pt_convert_account_print(account, doc);
    pt_problems_print(account->book, options->strict, MAX_FILES_NAMED);
    if (options->json) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_puts(&text, "{");
        pt_convert_account_json(account, true, &text);
        perftrace__strbuf_puts(&text, "}\n");
        fputs(perftrace__strbuf_cstr(&text), stdout);
        perftrace__strbuf_free(&text);
    }
}

static pt_exit_t check_missing(const pt_convert_plan_t *plan, const pt_convert_options_t *options) {
    if (!options->require_all || plan->missing_count == 0) {
        return PT_EXIT_OK;
    }
    pt_error("%zu rank%s of the world missing (--require-all)", plan->missing_count,
             plan->missing_count == 1 ? " is" : "s are");
    return PT_EXIT_PROBLEMS;
}

static pt_exit_t open_output(pt_convert_doc_t *doc, pt_convert_bundle_t *bundle,
                             const pt_convert_plan_t *plan, const pt_paths_t *paths,
                             const pt_convert_options_t *options, const char *target) {
    if (!options->bundle || target == NULL) {
        return pt_convert_doc_open(doc, options, paths, target);
    }
    pt_exit_t status = pt_convert_doc_open(doc, options, paths, NULL);
    if (status == PT_EXIT_OK) {
        status = pt_convert_bundle_open(bundle, plan, paths, target);
        doc->bundle = bundle;
        doc->target = target;
    }
    return status;
}

static pt_exit_t commit(pt_convert_doc_t *doc, const pt_convert_account_t *account) {
    if (doc->bundle != NULL) {
        return pt_convert_bundle_commit(doc->bundle, &doc->written);
    }
    perftrace__strbuf_t metadata = PERFTRACE__STRBUF_INIT;
    pt_convert_account_json(account, false, &metadata);
    pt_exit_t status = metadata.failed
                           ? PT_EXIT_INTERNAL
                           : pt_convert_doc_commit(doc, perftrace__strbuf_cstr(&metadata));
    perftrace__strbuf_free(&metadata);
    return status;
}

/* What the paths are taken for, what is kept from being replaced, and what it is all about. */
typedef struct job {
    const pt_convert_options_t *options;
    const pt_paths_t *kept;
    const char *target;
    unsigned threads;
    uint64_t start;
} job_t;

/* From the opened inputs to the output under its name. */
static pt_exit_t run(const job_t *job, pt_convert_input_t *inputs, const pt_paths_t *paths,
                     pt_problems_t *book) {
    const pt_convert_options_t *options = job->options;
    const char *target = job->target;
    pt_convert_plan_t plan = {.order = NULL};
    pt_convert_doc_t doc = {.target = NULL};
    pt_convert_bundle_t bundle = {.plan = &plan};
    pt_convert_account_t account;
    pt_exit_t status = pt_convert_plan_make(&plan, inputs, paths->count, options, job->threads);
    status = status == PT_EXIT_OK ? check_missing(&plan, options) : status;
    if (status == PT_EXIT_OK) {
        status = open_output(&doc, &bundle, &plan, job->kept, options, target);
    }
    if (status == PT_EXIT_OK) {
        status = pt_convert_run(&plan, &doc, options, job->threads, pt_paths_total_size(paths));
    }
    if (status == PT_EXIT_OK) {
        pt_convert_account_make(&account, &plan, book);
        pt_exit_t judged = verdict(&account, options);
        bool write = judged == PT_EXIT_OK && target != NULL;
        status = write ? commit(&doc, &account) : PT_EXIT_OK;
        account.elapsed_ns = perftrace__os_mono_ns() - job->start;
        if (status == PT_EXIT_OK) {
            report(&account, write ? &doc : NULL, options);
            status = judged;
        }
        if (judged != PT_EXIT_OK && target != NULL) {
            pt_error("nothing is written: the input has problems (--strict)");
        }
    }
    pt_convert_doc_free(&doc);
    pt_convert_bundle_free(&bundle);
    pt_convert_plan_free(&plan);
    return status;
}

static pt_exit_t convert(const job_t *job, const pt_paths_t *paths) {
    size_t room = paths->count + 1;
    pt_convert_input_t *inputs = calloc(room, sizeof *inputs);
    (void)pt_huge(inputs, room * sizeof *inputs); /* none of it was touched yet */
    pt_problems_t *book = pt_problems_new(pt_trace_problem_kinds(), PT_TRACE_PROBLEM_COUNT);
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (inputs != NULL && book != NULL) {
        status = open_inputs(inputs, paths, job->options, book, job->threads);
        if (status == PT_EXIT_OK) {
            status = run(job, inputs, paths, book);
        }
    }
    if (status == PT_CONVERT_MIXED) {
        pt_paths_t apart;
        pt_fd_list_t fds;
        status = pt_convert_apart(inputs, paths->count, &apart, &fds);
        if (status == PT_EXIT_OK) {
            status = convert(job, &apart);
        }
        pt_paths_free(&apart);
        pt_fd_list_free(&fds);
    }
    for (size_t i = 0; inputs != NULL && i < paths->count; i++) {
        pt_convert_input_free(&inputs[i]);
    }
    free(inputs);
    pt_problems_free(book);
    return status;
}

int main(int argc, char **argv) {
    pt_convert_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    pt_paths_t paths = PT_PATHS_INIT;
    perftrace__strbuf_t target = PERFTRACE__STRBUF_INIT;
    pt_paths_request_t request = {.filter = pt_convert_target_wanted,
                                  .looked_for = "*.jsonl, *.json or *.json.gz"};
    pt_message_init(pt_convert_tool.name, argc > 0 ? argv[0] : NULL, PT_NORMAL);
    int status = pt_convert_options_parse(&options, argc, argv, &operands);
    size_t given = operands.count;
    if (status == PT_OPTION_GO_ON) {
        status = pt_convert_target_split(&options, &operands);
    }
    if (status == PT_OPTION_GO_ON) {
        pt_convert_recover_operands(&operands, !options.check);
        status = (int)pt_paths_collect(&request, operands.items, operands.count, &paths);
        pt_convert_recover_inputs(&paths, !options.check);
        status = status == PT_EXIT_OK ? (int)pt_path_parts_join(&paths) : status;
        if (status == PT_EXIT_OK && !options.check) {
            if (options.output != NULL) {
                perftrace__strbuf_puts(&target, options.output);
            } else {
                pt_convert_target_infer(&operands, &paths, &options, &target);
            }
        }
        if (status == PT_EXIT_OK) {
            pt_convert_target_prune(&paths, options.check ? NULL : perftrace__strbuf_cstr(&target));
            (void)pt_open_limit_raise(); /* every input open at once and every part need one */
            pt_output_catch_signals();
            job_t job = {.options = &options,
                         .kept = &paths,
                         .target = options.check ? NULL : perftrace__strbuf_cstr(&target),
                         .threads = options.jobs > 0 ? (unsigned)options.jobs
                                                     : PT_MIN(perftrace__os_cpu_count(), 16U),
                         .start = perftrace__os_mono_ns()};
            status = (int)convert(&job, &paths);
        }
    }
    operands.count = given;
    pt_paths_free(&paths);
    pt_string_list_free(&operands);
    pt_convert_options_free(&options);
    perftrace__strbuf_free(&target);
    return status;
}
