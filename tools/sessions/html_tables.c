/* html_tables.c: the tables of the report as data of the page. SPDX-License-Identifier: MIT */
#include "html_frame.h"
#include "html_json.h"

#include <string.h>

static pt_name_t name_of(const char *text) {
    return (pt_name_t){text, strlen(text)};
}

static const char *kind_name(pt_column_kind_t kind) {
    static const char *const names[] = {
        [PT_COLUMN_TEXT] = "text",       [PT_COLUMN_LONG] = "text",   [PT_COLUMN_COUNT] = "count",
        [PT_COLUMN_SECONDS] = "seconds", [PT_COLUMN_SHARE] = "share", [PT_COLUMN_CHANGE] = "change",
        [PT_COLUMN_NUMBER] = "number",   [PT_COLUMN_TIME] = "time",   [PT_COLUMN_FLAG] = "flag"};
    return names[kind];
}

static void put_columns(const pt_table_t *t, perftrace__strbuf_t *out) {
    bool first = true;
    for (size_t i = 0; i < t->columns; i++) {
        if (!t->column[i].detail) {
            first = pt_html_comma(out, first);
            perftrace__strbuf_puts(out, "{\"title\":");
            pt_html_text(out, name_of(t->column[i].title));
            perftrace__strbuf_printf(out, ",\"kind\":\"%s\"}", kind_name(t->column[i].kind));
        }
    }
}

static void put_row(const pt_table_t *t, size_t row, perftrace__strbuf_t *out) {
    bool first = true;
    perftrace__strbuf_puts(out, "\n[");
    for (size_t i = 0; i < t->columns; i++) {
        const pt_table_cell_t *cell = &t->cell[row * t->columns + i];
        if (t->column[i].detail) {
            continue;
        }
        first = pt_html_comma(out, first);
        if (cell->kind == PT_CELL_TEXT) {
            pt_html_text(out, name_of(cell->text));
        } else if (cell->kind == PT_CELL_NUMBER) {
            pt_html_number(out, cell->number);
        } else {
            perftrace__strbuf_puts(out, "null");
        }
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_table(const pt_table_t *t, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, "\n{\"id\":");
    pt_html_text(out, name_of(t->id));
    perftrace__strbuf_puts(out, ",\"title\":");
    pt_html_text(out, name_of(t->title));
    perftrace__strbuf_puts(out, ",\"note\":");
    pt_html_text(out, name_of(t->note != NULL ? t->note : ""));
    perftrace__strbuf_printf(out, ",\"facts\":%s,\"columns\":[", t->facts ? "true" : "false");
    put_columns(t, out);
    perftrace__strbuf_puts(out, "],\"rows\":[");
    for (size_t row = 0; row < pt_table_rows(t); row++) {
        (void)pt_html_comma(out, row == 0);
        put_row(t, row, out);
    }
    perftrace__strbuf_puts(out, "]}");
}

bool pt_html_tables(const pt_report_t *report, perftrace__strbuf_t *out) {
    bool first = true;
    perftrace__strbuf_puts(out, "\"tables\":[");
    for (size_t i = 0; i < report->tables; i++) {
        if (!report->table[i].left_out && pt_table_rows(&report->table[i]) > 0) {
            first = pt_html_comma(out, first);
            put_table(&report->table[i], out);
        }
    }
    perftrace__strbuf_putc(out, ']');
    return !out->failed;
}
