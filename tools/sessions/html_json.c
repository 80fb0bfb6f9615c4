/* html_json.c: values of the page's data as JSON. SPDX-License-Identifier: MIT */
#include "html_json.h"

#include "json_writer.h"

#include <math.h>

/* Up to here each whole number is a double. */
#define EXACT_MAX ((int64_t)1 << 53)

void pt_html_count(perftrace__strbuf_t *out, uint64_t n) {
    if (perftrace__strbuf_reserve(out, PERFTRACE__U64_MAX)) {
        out->len = (size_t)(perftrace__put_u64(out->data + out->len, n) - out->data);
        out->data[out->len] = '\0';
    }
}

void pt_html_rounded(perftrace__strbuf_t *out, double v) {
    double size = fabs(v);
    if (size > 0 && size < 1e6 && size > 1e-12) {
        double scale = pow(10, 5 - floor(log10(size)));
        v = round(v * scale) / scale;
    }
    pt_html_number(out, v);
}

void pt_html_moment(perftrace__strbuf_t *out, double seconds) {
    pt_html_number(out, fabs(seconds) < 1e9 ? round(seconds * 1e6) / 1e6 : seconds);
}

void pt_html_text(perftrace__strbuf_t *out, pt_name_t text) {
    perftrace__strbuf_json(out, text.p, text.len);
}

bool pt_html_comma(perftrace__strbuf_t *out, bool first) {
    if (!first) {
        perftrace__strbuf_putc(out, ',');
    }
    return false;
}

static void put_id(perftrace__strbuf_t *out, const pt_session_model_t *m, bool is_text,
                   int64_t id) {
    if (is_text) {
        pt_html_text(out, pt_session_name(m, PT_NAMES_TEXT, (uint32_t)id));
    } else if (id >= 0 && id <= EXACT_MAX) {
        pt_html_count(out, (uint64_t)id);
    } else {
        perftrace__strbuf_printf(out, "\"%lld\"", (long long)id);
    }
}

void pt_html_session_id(perftrace__strbuf_t *out, const pt_session_model_t *m,
                        const pt_session_row_t *row) {
    put_id(out, m, (row->flags & PT_ROW_SESSION_TEXT) != 0, row->session);
}

void pt_html_task_id(perftrace__strbuf_t *out, const pt_session_model_t *m,
                     const pt_session_row_t *row) {
    if ((row->flags & PT_ROW_NO_TASK) != 0) {
        perftrace__strbuf_puts(out, "null");
    } else {
        put_id(out, m, (row->flags & PT_ROW_TASK_TEXT) != 0, row->task_id);
    }
}
