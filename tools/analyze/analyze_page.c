/* analyze_page.c: the analysis as one page for a browser. SPDX-License-Identifier: MIT */
#include "analyze_page.h"

#include "analyze_report.h"
#include "json_writer.h"
#include "rank_order.h"

#include <string.h>

#define FILES_NAMED   3U
#define MISSING_NAMED 40U

static void put_about(const pt_results_t *l, const char *maker, perftrace__strbuf_t *out) {
    perftrace__strbuf_t missing = PERFTRACE__STRBUF_INIT;
    size_t lacking = pt_ranks_missing(l, MISSING_NAMED, &missing);
    perftrace__strbuf_puts(out, "\"about\": {\"maker\": ");
    perftrace__strbuf_json_cstr(out, maker);
    perftrace__strbuf_printf(out, ", \"files\": %zu, \"named\": [", l->count);
    for (size_t i = 0; i < PT_MIN(l->count, (size_t)FILES_NAMED); i++) {
        pt_str_t file = pt_names_get(&l->result[i].texts, l->result[i].file);
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        perftrace__strbuf_json(out, file.p, file.len);
    }
    perftrace__strbuf_printf(out, "], \"world_size\": %lld, \"chosen\": %s, \"missing_ranks\": ",
                             (long long)pt_ranks_world(l), l->chosen != NULL ? "true" : "false");
    perftrace__strbuf_json_cstr(out, lacking > 0 ? perftrace__strbuf_cstr(&missing) : NULL);
    perftrace__strbuf_puts(out, "},\n");
    perftrace__strbuf_free(&missing);
}

bool pt_analyze_page_data(const pt_results_t *l, size_t top, const char *maker,
                          perftrace__strbuf_t *out) {
    /* The time line is a chart there. */
    static const char *const not_shown[] = {"names", "phases", "timeline"};
    pt_report_t report = PT_REPORT_INIT;
    pt_analyze_report_t how = {.results = l, .top = top, .details = true};
    bool ok = pt_analyze_report(&how, &report);
    for (size_t i = 0; i < report.tables; i++) {
        for (size_t k = 0; k < PT_ARRAY_LEN(not_shown); k++) {
            report.table[i].left_out |= strcmp(report.table[i].id, not_shown[k]) == 0;
        }
    }
    perftrace__strbuf_puts(out, "{");
    put_about(l, maker, out);
    ok = pt_html_tables(&report, out) && ok;
    perftrace__strbuf_puts(out, "}");
    pt_report_free(&report);
    return ok && !out->failed;
}

bool pt_analyze_page(const pt_results_t *l, size_t top, const char *maker,
                     perftrace__strbuf_t *out) {
    perftrace__strbuf_t data = PERFTRACE__STRBUF_INIT;
    bool ok = pt_html_has_charts() && pt_analyze_page_data(l, top, maker, &data) &&
              pt_html_frame("Analysis", &data, out);
    perftrace__strbuf_free(&data);
    return ok;
}
