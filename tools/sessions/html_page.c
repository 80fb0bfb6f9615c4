/* html_page.c: the report as one page for a browser. SPDX-License-Identifier: MIT */
#include "html_page.h"

#include "html_page_frame.h"

bool pt_html_page(const pt_selection_t *selection, const char *const *file, size_t files,
                  const pt_report_t *tables, const pt_html_options_t *options,
                  perftrace__strbuf_t *out) {
    perftrace__strbuf_t data = PERFTRACE__STRBUF_INIT;
    bool ok = pt_html_has_charts() &&
              pt_html_data(selection, file, files, tables, options, &data) &&
              pt_html_frame("Sessions", &data, out);
    perftrace__strbuf_free(&data);
    return ok;
}
