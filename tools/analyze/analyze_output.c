/* analyze_output.c: reports and results to their files. SPDX-License-Identifier: MIT */
#include "analyze_output.h"

#include "report_output.h"

/* The lists of problems of all results as one list. */
static void put_problems(const pt_results_t *l, size_t lists, perftrace__strbuf_t *out) {
    bool first = true;
    perftrace__strbuf_putc(out, '[');
    for (size_t k = 0; k < lists; k++) {
        for (size_t i = 0; i < l[k].count; i++) {
            const perftrace__strbuf_t *p = &l[k].result[i].problems;
            if (p->len > 2) { /* more than its brackets */
                perftrace__strbuf_puts(out, first ? "" : ", ");
                perftrace__strbuf_append(out, p->data + 1, p->len - 2);
                first = false;
            }
        }
    }
    perftrace__strbuf_putc(out, ']');
}

pt_exit_t pt_analyze_output_report(const pt_report_t *r, const pt_results_t *results, size_t lists,
                                   const pt_paths_t *inputs, const pt_analyze_options_t *o) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (o->json) {
        perftrace__strbuf_puts(
            &text, "{\"perftrace_analysis\": {\"version\": \"" PERFTRACE_TOOL_VERSION "\"},\n");
        pt_report_print_json(r, &text);
        perftrace__strbuf_puts(&text, ",\n\"problems\": ");
        put_problems(results, lists, &text);
        perftrace__strbuf_puts(&text, "}\n");
    } else if (o->csv) {
        pt_report_print_csv(r, &text);
    } else {
        pt_report_print_text(r, pt_output_wants_color(o->output), &text);
    }
    pt_exit_t status = pt_output_text(o->output, inputs, &text);
    perftrace__strbuf_free(&text);
    return status;
}
