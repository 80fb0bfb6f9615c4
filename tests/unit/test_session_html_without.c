/* test_session_html_without.c: a build that found no chart library. SPDX-License-Identifier: MIT */
#include "html_asset.h"
#include "html_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned char some[] = "x";
const pt_html_asset_t pt_html_asset_body = {some, 1};
const pt_html_asset_t pt_html_asset_style = {some, 1};
const pt_html_asset_t pt_html_asset_script = {some, 1};
const pt_html_asset_t pt_html_asset_charts = {some, 0};
const pt_html_asset_t pt_html_asset_license = {some, 0};

static void the_package_is_named_and_no_page_is_made(void **state) {
    (void)state;
    pt_session_model_t model = {.rows = 0};
    pt_selection_t selection = {.model = &model};
    pt_report_t tables = PT_REPORT_INIT;
    pt_phase_styles_t styles = {.count = 0};
    pt_html_options_t options = {.timelines = 1, .points = 1, .maker = "x", .styles = &styles};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_false(pt_html_has_charts());
    assert_non_null(strstr(pt_html_how_to_get_charts(), "libjs-chart.js"));
    assert_false(pt_html_page(&selection, NULL, 0, &tables, &options, &out));
    assert_int_equal(out.len, 0);
    perftrace__strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_package_is_named_and_no_page_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
