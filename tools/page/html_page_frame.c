/* html_page_frame.c: a page for a browser around its data. SPDX-License-Identifier: MIT */
#include "html_page_frame.h"
#include "html_asset.h"

/* Whatever the page might be made to do, it may load nothing. */
#define HEAD                                                                                       \
    "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n" \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "                  \
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"                    \
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"                   \
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"   \
    "<title>"

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

bool pt_html_frame(const char *title, const perftrace__strbuf_t *data, perftrace__strbuf_t *out) {
    if (!pt_html_has_charts() || data->failed) {
        return false;
    }
    perftrace__strbuf_puts(out, HEAD);
    perftrace__strbuf_puts(out, title);
    perftrace__strbuf_puts(out, "</title>\n<style>\n");
    put_asset(out, &pt_html_asset_style);
    perftrace__strbuf_puts(out, "</style>\n</head>\n<body>\n");
    put_asset(out, &pt_html_asset_body);
    perftrace__strbuf_puts(out, "<script type=\"application/json\" id=\"data\">\n");
    pt_html_embed(out, perftrace__strbuf_cstr(data), data->len);
    perftrace__strbuf_puts(out, "\n</script>\n<script type=\"text/plain\" "
                                "id=\"chart-license\">\n");
    put_asset(out, &pt_html_asset_license);
    perftrace__strbuf_puts(out, "</script>\n<script>\n");
    put_asset(out, &pt_html_asset_charts);
    perftrace__strbuf_puts(out, "\n</script>\n<script>\n");
    put_asset(out, &pt_html_asset_script);
    perftrace__strbuf_puts(out, "</script>\n</body>\n</html>\n");
    return !out->failed;
}
