/* table_print.c: reports as text, JSON and CSV. SPDX-License-Identifier: MIT */
#include "json_writer.h"
#include "table.h"
#include "text_wrap.h"

#include <stdlib.h>

#define TEXT_COLUMNS 40U /* longer texts are cut for people */
#define LONG_COLUMNS 90U /* of a column that is meant to be long */
#define NOTE_WIDTH   100U
#define HEAD         "\033[1m"
#define MARK         "\033[33m"
#define PLAIN        "\033[0m"

static const pt_table_cell_t *cell_at(const pt_table_t *t, size_t row, size_t column) {
    return &t->cell[row * t->columns + column];
}

/* ---- text ---- */

static void put_cell(perftrace__strbuf_t *out, const pt_table_column_t *column,
                     const pt_table_cell_t *cell) {
    if (column->kind == PT_COLUMN_FLAG) {
        bool set = cell->kind == PT_CELL_NUMBER && cell->number != 0;
        perftrace__strbuf_puts(out, set ? column->title : "");
    } else if (cell->kind == PT_CELL_TEXT) {
        pt_table_visible(out, cell->text,
                         column->kind == PT_COLUMN_LONG ? LONG_COLUMNS : TEXT_COLUMNS);
    } else if (cell->kind == PT_CELL_NUMBER) {
        pt_table_format(out, column->kind, cell->number);
    } else {
        perftrace__strbuf_putc(out, '-');
    }
}

static bool is_left(const pt_table_column_t *column) {
    return column->kind == PT_COLUMN_TEXT || column->kind == PT_COLUMN_LONG ||
           column->kind == PT_COLUMN_FLAG;
}

static unsigned columns_of(const perftrace__strbuf_t *text) {
    return pt_text_columns(perftrace__strbuf_cstr(text), text->len);
}

static void put_padded(perftrace__strbuf_t *out, const perftrace__strbuf_t *text, unsigned width,
                       bool left, bool last) {
    unsigned pad = width - PT_MIN(columns_of(text), width);
    if (!left) {
        pt_text_pad(out, pad);
    }
    perftrace__strbuf_append(out, perftrace__strbuf_cstr(text), text->len);
    if (left && !last) {
        pt_text_pad(out, pad);
    }
}

/* The text of a heading (row SIZE_MAX) or a cell. */
static void make_text(perftrace__strbuf_t *text, const pt_table_t *t, size_t row, size_t column) {
    perftrace__strbuf_clear(text);
    if (row != SIZE_MAX) {
        put_cell(text, &t->column[column], cell_at(t, row, column));
    } else if (t->column[column].kind != PT_COLUMN_FLAG) {
        pt_table_visible(text, t->column[column].title, TEXT_COLUMNS);
    }
}

static bool is_marked(const pt_table_t *t, size_t row) {
    for (size_t c = 0; c < t->columns; c++) {
        const pt_table_cell_t *cell = cell_at(t, row, c);
        if (t->column[c].kind == PT_COLUMN_FLAG && cell->kind == PT_CELL_NUMBER &&
            cell->number != 0) {
            return true;
        }
    }
    return false;
}

static void print_rows(perftrace__strbuf_t *out, const pt_table_t *t, bool color) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    unsigned *width = calloc(t->columns, sizeof *width);
    if (width == NULL) {
        out->failed = true;
        return;
    }
    size_t rows = pt_table_rows(t);
    for (size_t i = 0; i <= rows; i++) {
        for (size_t c = 0; c < t->columns; c++) {
            make_text(&text, t, i == rows ? SIZE_MAX : i, c);
            width[c] = PT_MAX(width[c], columns_of(&text));
        }
    }
    for (size_t i = 0; i <= rows; i++) {
        size_t row = i == 0 ? SIZE_MAX : i - 1;
        bool mark = color && i > 0 && is_marked(t, row);
        perftrace__strbuf_puts(out, mark ? MARK : "");
        for (size_t c = 0; c < t->columns; c++) {
            if (t->column[c].detail || width[c] == 0) {
                continue;
            }
            perftrace__strbuf_puts(out, "  ");
            make_text(&text, t, row, c);
            put_padded(out, &text, width[c], is_left(&t->column[c]), c + 1 == t->columns);
        }
        while (out->len > 0 && out->data[out->len - 1] == ' ') {
            out->len--; /* what an empty flag leaves at the end */
        }
        perftrace__strbuf_puts(out, mark ? PLAIN "\n" : "\n");
    }
    free(width);
    out->failed |= text.failed;
    perftrace__strbuf_free(&text);
}

static void print_facts(perftrace__strbuf_t *out, const pt_table_t *t) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    unsigned width = 0;
    for (size_t c = 0; c < t->columns; c++) {
        make_text(&text, t, SIZE_MAX, c);
        width = PT_MAX(width, columns_of(&text));
    }
    for (size_t c = 0; c < t->columns; c++) {
        if (t->column[c].detail) {
            continue;
        }
        perftrace__strbuf_puts(out, "  ");
        make_text(&text, t, SIZE_MAX, c);
        put_padded(out, &text, width, true, false);
        perftrace__strbuf_puts(out, "  ");
        put_cell(out, &t->column[c], cell_at(t, 0, c));
        perftrace__strbuf_putc(out, '\n');
    }
    out->failed |= text.failed;
    perftrace__strbuf_free(&text);
}

void pt_report_print_text(const pt_report_t *r, bool color, perftrace__strbuf_t *out) {
    const char *gap = "";
    for (size_t i = 0; i < r->tables; i++) {
        const pt_table_t *t = &r->table[i];
        if (t->left_out || pt_table_rows(t) == 0) {
            continue;
        }
        perftrace__strbuf_puts(out, gap);
        perftrace__strbuf_printf(out, "%s%s%s\n", color ? HEAD : "", t->title, color ? PLAIN : "");
        if (t->facts) {
            print_facts(out, t);
        } else {
            print_rows(out, t, color);
        }
        if (t->note != NULL) {
            perftrace__strbuf_puts(out, "  ");
            pt_text_wrap(out, t->note, NOTE_WIDTH, 2, 2);
        }
        gap = "\n";
    }
}

/* ---- JSON ---- */

static void json_cell(perftrace__strbuf_t *out, const pt_table_column_t *column,
                      const pt_table_cell_t *cell) {
    char number[PERFTRACE__I64_MAX];
    if (column->kind == PT_COLUMN_FLAG) {
        bool set = cell->kind == PT_CELL_NUMBER && cell->number != 0;
        perftrace__strbuf_puts(out, set ? "true" : "false");
    } else if (cell->kind == PT_CELL_TEXT) {
        perftrace__strbuf_json_cstr(out, cell->text);
    } else if (cell->kind == PT_CELL_MISSING) {
        perftrace__strbuf_puts(out, "null");
    } else if (column->kind == PT_COLUMN_COUNT && cell->number > -0x1p53 && cell->number < 0x1p53) {
        perftrace__strbuf_append(
            out, number, (size_t)(perftrace__put_i64(number, (int64_t)cell->number) - number));
    } else {
        perftrace__strbuf_double(out, cell->number);
    }
}

static void json_row(perftrace__strbuf_t *out, const pt_table_t *t, size_t row) {
    perftrace__strbuf_putc(out, '{');
    for (size_t c = 0; c < t->columns; c++) {
        perftrace__strbuf_puts(out, c > 0 ? ", " : "");
        perftrace__strbuf_json_cstr(out, t->column[c].id);
        perftrace__strbuf_puts(out, ": ");
        json_cell(out, &t->column[c], cell_at(t, row, c));
    }
    perftrace__strbuf_putc(out, '}');
}

void pt_report_print_json(const pt_report_t *r, perftrace__strbuf_t *out) {
    const char *comma = "";
    for (size_t i = 0; i < r->tables; i++) {
        const pt_table_t *t = &r->table[i];
        if (t->left_out) {
            continue;
        }
        perftrace__strbuf_puts(out, comma);
        comma = ",\n";
        perftrace__strbuf_json_cstr(out, t->id);
        perftrace__strbuf_puts(out, t->facts ? ": " : ": [");
        for (size_t row = 0; row < pt_table_rows(t); row++) {
            perftrace__strbuf_puts(out, t->facts ? "" : row > 0 ? ",\n  " : "\n  ");
            json_row(out, t, row);
        }
        if (t->facts && pt_table_rows(t) == 0) {
            perftrace__strbuf_puts(out, "{}");
        }
        perftrace__strbuf_puts(out, t->facts ? "" : "]");
    }
}

/* ---- CSV ---- */

static void csv_text(perftrace__strbuf_t *out, const char *text) {
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        perftrace__strbuf_puts(out, text);
        return;
    }
    perftrace__strbuf_putc(out, '"');
    for (const char *p = text; *p != '\0'; p++) {
        perftrace__strbuf_puts(out, *p == '"' ? "\"" : "");
        perftrace__strbuf_putc(out, *p);
    }
    perftrace__strbuf_putc(out, '"');
}

/* Names come from files of others, and a spreadsheet computes what begins like a formula. A quote
 * keeps it a text; texts that look as if they had got one get another, so that it can be taken off
 * again. */
static void csv_name(perftrace__strbuf_t *out, const char *text) {
    const char *first = text + strspn(text, "'");
    if (*first == '\0' || strchr("=+-@\t\r", *first) == NULL) {
        csv_text(out, text);
        return;
    }
    perftrace__strbuf_t kept = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&kept, "'%s", text);
    csv_text(out, perftrace__strbuf_cstr(&kept));
    out->failed = out->failed || kept.failed;
    perftrace__strbuf_free(&kept);
}

static void csv_cell(perftrace__strbuf_t *out, const pt_table_column_t *column,
                     const pt_table_cell_t *cell) {
    if (cell->kind == PT_CELL_TEXT) {
        csv_name(out, cell->text);
    } else if (cell->kind == PT_CELL_NUMBER || column->kind == PT_COLUMN_FLAG) {
        json_cell(out, column, cell);
    }
}

static void csv_wide(perftrace__strbuf_t *out, const pt_table_t *t) {
    for (size_t c = 0; c < t->columns; c++) {
        perftrace__strbuf_puts(out, c > 0 ? "," : "");
        csv_text(out, t->column[c].id);
    }
    perftrace__strbuf_putc(out, '\n');
    for (size_t row = 0; row < pt_table_rows(t); row++) {
        for (size_t c = 0; c < t->columns; c++) {
            perftrace__strbuf_puts(out, c > 0 ? "," : "");
            csv_cell(out, &t->column[c], cell_at(t, row, c));
        }
        perftrace__strbuf_putc(out, '\n');
    }
}

static void csv_long(perftrace__strbuf_t *out, const pt_table_t *t) {
    for (size_t row = 0; row < pt_table_rows(t); row++) {
        for (size_t c = 0; c < t->columns; c++) {
            csv_text(out, t->id);
            perftrace__strbuf_printf(out, ",%zu,", row);
            csv_text(out, t->column[c].id);
            perftrace__strbuf_putc(out, ',');
            csv_cell(out, &t->column[c], cell_at(t, row, c));
            perftrace__strbuf_putc(out, '\n');
        }
    }
}

void pt_report_print_csv(const pt_report_t *r, perftrace__strbuf_t *out) {
    size_t printed = 0, last = 0;
    for (size_t i = 0; i < r->tables; i++) {
        last = r->table[i].left_out ? last : i;
        printed += !r->table[i].left_out;
    }
    if (printed == 1) {
        csv_wide(out, &r->table[last]);
        return;
    }
    perftrace__strbuf_puts(out, "table,row,column,value\n");
    for (size_t i = 0; i < r->tables; i++) {
        if (!r->table[i].left_out) {
            csv_long(out, &r->table[i]);
        }
    }
}
