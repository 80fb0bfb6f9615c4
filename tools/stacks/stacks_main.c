/* stacks_main.c: perf-trace-stacks, from the command line to the exit status.
 * SPDX-License-Identifier: MIT */
#include "message.h"
#include "output.h"
#include "stacks_show.h"

#define MAX_FILES_NAMED 4 /* of one kind of problem */

/* Tells the problems; whether they make the run fail. */
static pt_exit_t judge(const pt_problems_t *book, const pt_stacks_options_t *o) {
    bool bad = o->strict && pt_problems_total(book, PT_PROBLEM_MENDED) > 0;
    pt_problems_print(book, o->strict, MAX_FILES_NAMED);
    if (bad) {
        pt_error("nothing is written: the input has problems (--strict)");
    }
    return bad ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
}

static pt_exit_t run_report(const pt_stacks_options_t *o, const pt_string_list_t *operands,
                            pt_problems_t *book) {
    pt_stacks_input_t input;
    pt_exit_t loaded = pt_stacks_input_load(o, operands->items, operands->count, book, &input);
    pt_exit_t status = loaded == PT_EXIT_INTERNAL ? loaded : judge(book, o);
    if (status == PT_EXIT_OK && input.p.threads > 0) {
        status = pt_stacks_show(o, &input, book);
    }
    pt_stacks_input_free(&input);
    return PT_MAX(status, loaded);
}

int main(int argc, char **argv) {
    pt_stacks_options_t options;
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    pt_message_init(pt_stacks_tool.name, argc > 0 ? argv[0] : NULL, PT_NORMAL);
    int status = pt_stacks_options_parse(&options, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        pt_problems_t *book = pt_problems_new(pt_profile_problem_kinds(), PT_PROFILE_PROBLEM_COUNT);
        pt_output_catch_signals();
        if (book == NULL) {
            pt_error("out of memory");
            status = PT_EXIT_INTERNAL;
        } else {
            status = (int)run_report(&options, &operands, book);
        }
        pt_problems_free(book);
    }
    pt_string_list_free(&operands);
    return status;
}
