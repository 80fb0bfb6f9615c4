/* html_page.c: the report as one page for a browser. SPDX-License-Identifier: MIT */
#include "html_page.h"

#include "html_asset.h"
#include "html_json.h"

/* Whatever the page might be made to do, it may load nothing. */
#define HEAD                                                                                       \
    "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n" \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "                  \
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"                    \
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"                   \
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"   \
    "<title>Sessions</title>\n<style>\n"

bool pt_html_has_charts(void) {
    return pt_html_asset_charts.size > 0;
}

const char *pt_html_how_to_get_charts(void) {
    return "this program was built without its chart library: install the package libjs-chart.js "
           "(Debian, Ubuntu) or set PERFTRACE_CHART_JS to a chart.min.js of Chart.js 3, and build "
           "it again";
}

static void put_asset(perftrace__strbuf_t *out, const pt_html_asset_t *asset) {
    perftrace__strbuf_append(out, asset->data, asset->size);
}

bool pt_html_page(const pt_selection_t *selection, const char *const *file, size_t files,
                  const pt_report_t *tables, const pt_html_options_t *options,
                  perftrace__strbuf_t *out) {
    perftrace__strbuf_t data = PERFTRACE__STRBUF_INIT;
    bool ok = pt_html_has_charts() &&
              pt_html_data(selection, file, files, tables, options, &data) && !data.failed;
    if (ok) {
        perftrace__strbuf_puts(out, HEAD);
        put_asset(out, &pt_html_asset_style);
        perftrace__strbuf_puts(out, "</style>\n</head>\n<body>\n");
        put_asset(out, &pt_html_asset_body);
        perftrace__strbuf_puts(out, "<script type=\"application/json\" id=\"data\">\n");
        pt_html_embed(out, data.data, data.len);
        perftrace__strbuf_puts(out, "\n</script>\n<script type=\"text/plain\" "
                                    "id=\"chart-license\">\n");
        put_asset(out, &pt_html_asset_license);
        perftrace__strbuf_puts(out, "</script>\n<script>\n");
        put_asset(out, &pt_html_asset_charts);
        perftrace__strbuf_puts(out, "\n</script>\n<script>\n");
        put_asset(out, &pt_html_asset_script);
        perftrace__strbuf_puts(out, "</script>\n</body>\n</html>\n");
    }
    perftrace__strbuf_free(&data);
    return ok && !out->failed;
}
