/* stacks_diff.c: two inputs compared. SPDX-License-Identifier: MIT */
#include "kept_files.h"
#include "message.h"
#include "report_output.h"
#include "stack_diff.h"
#include "stacks_convert.h"
#include "stacks_show.h"

#include <stdlib.h>

#define TOP_FUNCTIONS 20

static pt_exit_t write_collapsed(const pt_stacks_options_t *o, const pt_stacks_input_t in[2],
                                 const pt_paths_t *inputs, pt_profile_unit_t unit) {
    pt_collapsed_weights_t how = pt_stacks_collapsed_weights(o, unit);
    pt_profile_sink_t sink = {.text = PERFTRACE__STRBUF_INIT};
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (pt_collapsed_write(&in[0].p, &in[1].p, &how, &sink)) {
        status = pt_output_text(o->output, inputs, &sink.text);
    } else {
        pt_error("out of memory");
    }
    perftrace__strbuf_free(&sink.text);
    return status;
}

static pt_exit_t compare(const pt_stacks_options_t *o, const pt_paths_t *inputs,
                         const pt_stack_view_t view[2], pt_problems_t *book) {
    double scale = o->normalize && view[0].weight > 0 ? view[1].weight / view[0].weight : 1;
    pt_diff_t diff;
    pt_stacks_report_t report = {
        .view = &view[1], .text = PERFTRACE__STRBUF_INIT, .tables = PT_REPORT_INIT};
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (pt_diff_make(&view[0], &view[1], scale, &diff) &&
        pt_report_diff(&report, &view[0], scale, &diff, o->top > 0 ? o->top : TOP_FUNCTIONS)) {
        status = pt_stacks_write_report(o, &report, book, inputs);
    } else {
        pt_error("out of memory");
    }
    pt_diff_free(&diff);
    pt_stacks_report_free(&report);
    return status;
}

/* The output must be none of the inputs of either side. */
static pt_exit_t write_either(const pt_stacks_options_t *o, const pt_stacks_input_t in[2],
                              const pt_stack_view_t view[2], pt_problems_t *book) {
    pt_paths_t kept = PT_PATHS_INIT;
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (!pt_kept_add(&kept, &in[0].paths) || !pt_kept_add(&kept, &in[1].paths)) {
        pt_error("out of memory");
    } else if (o->to != PT_TO_COLLAPSED) {
        status = compare(o, &kept, view, book);
    } else {
        status =
            pt_stacks_can_write(&in[0].p, true, NULL) && pt_stacks_can_write(&in[1].p, true, NULL)
                ? write_collapsed(o, in, &kept, view[1].unit)
                : PT_EXIT_PROBLEMS;
    }
    pt_paths_free(&kept);
    return status;
}

pt_exit_t pt_stacks_diff(const pt_stacks_options_t *o, const pt_stacks_input_t in[2],
                         pt_problems_t *book) {
    pt_stack_view_t view[2] = {{.p = NULL}, {.p = NULL}};
    pt_exit_t status = PT_EXIT_INTERNAL;
    bool ok = pt_stack_view_make(&in[0].p, o->thread, &view[0]) &&
              pt_stack_view_make(&in[1].p, o->thread, &view[1]);
    if (view[1].matching == 0) {
        view[1].unit = view[0].unit; /* of nothing */
    }
    if (!ok) {
        pt_error("out of memory");
    } else if (view[0].matching == 0 && view[1].matching == 0 && o->thread != NULL) {
        pt_error("no thread's name holds '%s'", o->thread);
        status = PT_EXIT_PROBLEMS;
    } else if (view[0].matching > 0 && view[1].matching > 0 && view[0].unit != view[1].unit) {
        pt_error("the weights of one are of unit %s, those of the other of unit %s: --unit gives "
                 "those without one a unit",
                 pt_unit_name(view[0].unit), pt_unit_name(view[1].unit));
        status = PT_EXIT_INPUT;
    } else {
        status = write_either(o, in, view, book);
    }
    pt_stack_view_free(&view[0]);
    pt_stack_view_free(&view[1]);
    return status;
}
