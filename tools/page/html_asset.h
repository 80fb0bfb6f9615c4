/* html_asset.h: the fixed parts of a page, embedded at build time. SPDX-License-Identifier: MIT
 *
 * Made by html_embed.cmake from a tool's html/, from this one's, and from the chart library where
 * the build has found it. Each tool has its own. */
#ifndef PERFTRACE_PAGE_HTML_ASSET_H
#define PERFTRACE_PAGE_HTML_ASSET_H
#include <stddef.h>

typedef struct pt_html_asset {
    const unsigned char *data;
    size_t size; /* 0: there is none */
} pt_html_asset_t;

extern const pt_html_asset_t pt_html_asset_body;    /* the markup */
extern const pt_html_asset_t pt_html_asset_style;   /* CSS */
extern const pt_html_asset_t pt_html_asset_script;  /* our JavaScript */
extern const pt_html_asset_t pt_html_asset_charts;  /* Chart.js */
extern const pt_html_asset_t pt_html_asset_license; /* that of Chart.js */

#endif
