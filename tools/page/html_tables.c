/* html_tables.c: the tables of the report as data of the page. SPDX-License-Identifier: MIT */
#include "html_page_frame.h"
#include "json_writer.h"

#include <math.h>

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
            perftrace__strbuf_puts(out, first ? "" : ",");
            first = false;
            perftrace__strbuf_puts(out, "{\"id\":");
            perftrace__strbuf_json_cstr(out, t->column[i].id);
            perftrace__strbuf_puts(out, ",\"title\":");
            perftrace__strbuf_json_cstr(out, t->column[i].title);
            perftrace__strbuf_printf(out, ",\"kind\":\"%s\"}", kind_name(t->column[i].kind));
        }
    }
}

/* Up to here each whole number is a double. */
#define EXACT_MAX 9007199254740992.0

void pt_html_number(perftrace__strbuf_t *out, double v) {
    char text[PERFTRACE__I64_MAX];
    if (fabs(v) < EXACT_MAX && v == (double)(int64_t)v && (v != 0 || !signbit(v))) {
        perftrace__strbuf_append(out, text, (size_t)(perftrace__put_i64(text, (int64_t)v) - text));
    } else {
        perftrace__strbuf_double(out, v);
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
        perftrace__strbuf_puts(out, first ? "" : ",");
        first = false;
        if (cell->kind == PT_CELL_TEXT) {
            perftrace__strbuf_json_cstr(out, cell->text);
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
    perftrace__strbuf_json_cstr(out, t->id);
    perftrace__strbuf_puts(out, ",\"title\":");
    perftrace__strbuf_json_cstr(out, t->title);
    perftrace__strbuf_puts(out, ",\"note\":");
    perftrace__strbuf_json_cstr(out, t->note != NULL ? t->note : "");
    perftrace__strbuf_printf(out, ",\"facts\":%s,\"columns\":[", t->facts ? "true" : "false");
    put_columns(t, out);
    perftrace__strbuf_puts(out, "],\"rows\":[");
    for (size_t row = 0; row < pt_table_rows(t); row++) {
        perftrace__strbuf_puts(out, row == 0 ? "" : ",");
        put_row(t, row, out);
    }
    perftrace__strbuf_puts(out, "]}");
}

bool pt_html_tables(const pt_report_t *report, perftrace__strbuf_t *out) {
    bool first = true;
    perftrace__strbuf_puts(out, "\"tables\":[");
    for (size_t i = 0; i < report->tables; i++) {
        if (!report->table[i].left_out && pt_table_rows(&report->table[i]) > 0) {
            perftrace__strbuf_puts(out, first ? "" : ",");
            first = false;
            put_table(&report->table[i], out);
        }
    }
    perftrace__strbuf_putc(out, ']');
    return !out->failed;
}
