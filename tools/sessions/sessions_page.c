/* sessions_page.c: the page of --html to its file. SPDX-License-Identifier: MIT */
#include "sessions_page.h"

#include "html_page.h"
#include "message.h"
#include "output.h"

#include <string.h>

#define POINTS_MOST 20000U

bool pt_sessions_page_possible(void) {
    if (!pt_html_has_charts()) {
        pt_error("--html: %s", pt_html_how_to_get_charts());
    }
    return pt_html_has_charts();
}

/* 0 or a negative errno, with a sentence. */
static int put(const char *path, const pt_paths_t *inputs, const perftrace__strbuf_t *page,
               perftrace__strbuf_t *problem) {
    pt_output_options_t how = {.inputs = inputs};
    pt_output_t *output;
    int status = pt_output_open(path, &how, &output, problem);
    if (status == 0) {
        (void)pt_output_write(output, page->data, page->len);
        status = pt_output_commit(output, problem); /* tells what a write could not do, too */
    }
    return status;
}

pt_exit_t pt_sessions_page_write(const pt_selection_t *selection, const char *const *file,
                                 const pt_paths_t *inputs, const pt_report_t *report,
                                 unsigned threads, const pt_sessions_options_t *o) {
    pt_html_options_t how = {.timelines = o->lifecycle ? (size_t)o->timelines : 0,
                             .points = POINTS_MOST,
                             .batch = o->batch_size,
                             .threads = threads,
                             .maker = "perf-trace-sessions " PERFTRACE_TOOL_VERSION,
                             .styles = &o->styles};
    perftrace__strbuf_t page = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_OK;
    if (!pt_html_page(selection, file, inputs->count, report, &how, &page)) {
        pt_error("out of memory");
        status = PT_EXIT_INTERNAL;
    } else if (put(o->html, inputs, &page, &problem) != 0) {
        pt_error("%s: %s", strcmp(o->html, "-") == 0 ? "standard output" : o->html,
                 perftrace__strbuf_cstr(&problem));
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&page);
    perftrace__strbuf_free(&problem);
    return status;
}
