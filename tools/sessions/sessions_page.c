/* sessions_page.c: the page of --html to its file. SPDX-License-Identifier: MIT */
#include "sessions_page.h"

#include "html_page.h"
#include "message.h"
#include "report_output.h"

#define POINTS_MOST 20000U

bool pt_sessions_page_possible(void) {
    if (!pt_html_has_charts()) {
        pt_error("--html: %s", pt_html_how_to_get_charts());
    }
    return pt_html_has_charts();
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
    perftrace__strbuf_t page = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = PT_EXIT_INTERNAL;
    if (!pt_html_page(selection, file, inputs->count, report, &how, &page)) {
        pt_error("out of memory");
    } else {
        status = pt_output_text(o->html, inputs, &page);
    }
    perftrace__strbuf_free(&page);
    return status;
}
