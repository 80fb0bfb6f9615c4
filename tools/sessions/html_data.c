/* html_data.c: all data of the page. SPDX-License-Identifier: MIT */
#include "html_frame.h"
#include "html_json.h"

#include <string.h>

#define FILES_NAMED 4U /* at the top of the page */

static void put_cstr(perftrace__strbuf_t *out, const char *text) {
    pt_html_text(out, (pt_name_t){text, strlen(text)});
}

static void put_about(const pt_html_frame_t *f, const char *const *file, size_t files,
                      perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "\"version\":1,\n\"about\":{\"files\":%zu,\"named\":[", files);
    for (size_t i = 0; i < PT_MIN(files, (size_t)FILES_NAMED); i++) {
        (void)pt_html_comma(out, i == 0);
        put_cstr(out, file[i]);
    }
    perftrace__strbuf_printf(out, "],\"sessions\":%zu,\"of\":%zu,\"runs\":%zu,\"maker\":",
                             f->selection->rows, f->model->rows, f->model->runs);
    put_cstr(out, f->options->maker);
    perftrace__strbuf_puts(out, "},\n\"epoch\":");
    pt_html_number(out, f->epoch);
}

static void put_names(const pt_html_frame_t *f, const char *name, pt_names_t kind,
                      perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < f->model->names[kind].count; i++) {
        (void)pt_html_comma(out, i == 0);
        pt_html_text(out, pt_session_name(f->model, kind, i));
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_styles(const pt_html_frame_t *f, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, ",\n\"phaseStyle\":[");
    for (uint32_t i = 0; i < f->model->names[PT_NAMES_PHASE].count; i++) {
        pt_name_t name = pt_session_name(f->model, PT_NAMES_PHASE, i);
        const pt_phase_style_t *style = pt_phase_styles_find(f->options->styles, name);
        (void)pt_html_comma(out, i == 0);
        perftrace__strbuf_putc(out, '{');
        if (style != NULL) {
            perftrace__strbuf_puts(out, "\"color\":");
            put_cstr(out, style->color);
        }
        if (style != NULL && style->label != NULL) {
            perftrace__strbuf_puts(out, ",\"label\":");
            put_cstr(out, style->label);
        }
        perftrace__strbuf_putc(out, '}');
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_ranks(const pt_html_frame_t *f, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, ",\n\"ranks\":[");
    for (size_t i = 0; i < f->ranks; i++) {
        (void)pt_html_comma(out, i == 0);
        if (f->rank[i] < 0) {
            perftrace__strbuf_puts(out, "null");
        } else {
            pt_html_count(out, (uint64_t)f->rank[i]);
        }
    }
    perftrace__strbuf_puts(out, "],\n");
}

bool pt_html_data(const pt_selection_t *selection, const char *const *file, size_t files,
                  const pt_report_t *tables, const pt_html_options_t *options,
                  perftrace__strbuf_t *out) {
    static const struct {
        const char *name;
        pt_names_t kind;
    } names[] = {{"role", PT_NAMES_ROLE},
                 {"status", PT_NAMES_STATUS},
                 {"reason", PT_NAMES_REASON},
                 {"phase", PT_NAMES_PHASE}};
    pt_html_frame_t f;
    pt_session_metrics_t metrics = {.metric = NULL};
    bool ok = pt_html_frame_make(selection, options, &f) &&
              pt_session_metrics_make(selection, options->threads, &metrics);
    if (ok) {
        perftrace__strbuf_putc(out, '{');
        put_about(&f, file, files, out);
        perftrace__strbuf_puts(out, ",\n\"names\":{");
        for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
            (void)pt_html_comma(out, i == 0);
            put_names(&f, names[i].name, names[i].kind, out);
        }
        perftrace__strbuf_putc(out, '}');
        put_styles(&f, out);
        put_ranks(&f, out);
        ok = pt_html_scatter(&f, &metrics, out);
        perftrace__strbuf_puts(out, ",\n");
        ok = ok && pt_html_over_time(&f, out);
        perftrace__strbuf_puts(out, ",\n");
        ok = ok && pt_html_timelines(&f, out);
        perftrace__strbuf_puts(out, ",\n");
        ok = ok && pt_html_histograms(&f, &metrics, out);
        perftrace__strbuf_puts(out, ",\n");
        ok = ok && pt_html_tables(tables, out);
        perftrace__strbuf_putc(out, '}');
    }
    pt_session_metrics_free(&metrics);
    pt_html_frame_free(&f);
    return ok && !out->failed;
}
