/* stacks_main.c: perf-trace-stacks, from the command line to the exit status.
 * SPDX-License-Identifier: MIT */
#include "message.h"
#include "output.h"
#include "stack_page.h"
#include "stacks_convert.h"
#include "stacks_show.h"

#define MAX_FILES_NAMED 4 /* of one kind of problem */

/* Tells the problems; whether they make the run fail. */
static pt_exit_t judge(const pt_problems_t *book, const pt_stacks_options_t *o) {
    bool bad = o->strict && pt_problems_total(book, PT_PROBLEM_MENDED) > 0;
    pt_problems_print(book, o->strict, MAX_FILES_NAMED);
    if (bad) {
        pt_error(o->command == PT_STACKS_BATCH
                     ? "the input has problems (--strict)"
                     : "nothing is written: the input has problems (--strict)");
    }
    return bad ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
}

static pt_exit_t run_report(const pt_stacks_options_t *o, const pt_string_list_t *operands,
                            pt_problems_t *book) {
    pt_stacks_input_t input;
    pt_exit_t loaded = pt_stacks_input_load(o, operands->items, operands->count, book, &input);
    pt_exit_t status = loaded == PT_EXIT_INTERNAL ? loaded : judge(book, o);
    if (status == PT_EXIT_OK && input.p.threads > 0) {
        bool convert = o->command == PT_STACKS_CONVERT || o->command == PT_STACKS_MERGE;
        status = convert ? pt_stacks_convert(o, &input) : pt_stacks_show(o, &input, book);
    }
    pt_stacks_input_free(&input);
    return PT_MAX(status, loaded);
}

static pt_exit_t run_diff(const pt_stacks_options_t *o, const pt_string_list_t *operands,
                          pt_problems_t *book) {
    pt_stacks_input_t input[2];
    pt_exit_t before = pt_stacks_input_load(o, &operands->items[0], 1, book, &input[0]);
    pt_exit_t after = pt_stacks_input_load(o, &operands->items[1], 1, book, &input[1]);
    pt_exit_t status = PT_MAX(before, after);
    if (status == PT_EXIT_OK) {
        status = judge(book, o);
    } else {
        (void)judge(book, o);
    }
    if (status == PT_EXIT_OK) {
        status = pt_stacks_diff(o, input, book);
    }
    pt_stacks_input_free(&input[0]);
    pt_stacks_input_free(&input[1]);
    return status;
}

static pt_exit_t run_batch(const pt_stacks_options_t *o, const pt_string_list_t *operands,
                           pt_problems_t *book) {
    pt_exit_t status = pt_stacks_batch(o, operands->count > 0 ? operands->items[0] : ".", book);
    pt_exit_t judged = judge(book, o);
    return PT_MAX(status, judged);
}

static pt_exit_t run(const pt_stacks_options_t *o, const pt_string_list_t *operands,
                     pt_problems_t *book) {
    return o->command == PT_STACKS_DIFF    ? run_diff(o, operands, book)
           : o->command == PT_STACKS_BATCH ? run_batch(o, operands, book)
                                           : run_report(o, operands, book);
}

int main(int argc, char **argv) {
    pt_stacks_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    pt_message_init(pt_stacks_tool.name, argc > 0 ? argv[0] : NULL, PT_NORMAL);
    int status = pt_stacks_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON && options.html != NULL && !pt_stack_page_possible()) {
        pt_error("--html: %s", pt_stack_page_how());
        status = PT_EXIT_OUTPUT;
    }
    if (status == PT_OPTION_GO_ON) {
        pt_problems_t *book = pt_problems_new(pt_profile_problem_kinds(), PT_PROFILE_PROBLEM_COUNT);
        pt_output_catch_signals();
        if (book == NULL) {
            pt_error("out of memory");
            status = PT_EXIT_INTERNAL;
        } else {
            status = (int)run(&options, &operands, book);
        }
        pt_problems_free(book);
    }
    pt_string_list_free(&operands);
    pt_stacks_options_free(&options);
    return status;
}
