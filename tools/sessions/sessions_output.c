/* sessions_output.c: reports to their files. SPDX-License-Identifier: MIT */
#include "sessions_output.h"

#include "report_output.h"

static void make_json(const pt_report_t *r, const pt_problems_t *book, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, "{\"perftrace_sessions\": {\"version\": \"" PERFTRACE_TOOL_VERSION
                                "\"},\n");
    pt_report_print_json(r, out);
    perftrace__strbuf_puts(out, ",\n\"problems\": ");
    pt_problems_json(book, out);
    perftrace__strbuf_puts(out, "}\n");
}

pt_exit_t pt_sessions_output_write(const pt_report_t *r, const pt_problems_t *book,
                                   const pt_paths_t *inputs, const pt_sessions_options_t *o) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (o->json) {
        make_json(r, book, &text);
    } else if (o->csv) {
        pt_report_print_csv(r, &text);
    } else {
        pt_report_print_text(r, pt_output_wants_color(o->output), &text);
    }
    pt_exit_t status = pt_output_text(o->output, inputs, &text);
    perftrace__strbuf_free(&text);
    return status;
}
