/* markdown.c. SPDX-License-Identifier: MIT */
#include "markdown.h"

#include "table.h"
#include "text_wrap.h"

#include <stdlib.h>

void pt_markdown_cell(pt_markdown_t *m, const char *text) {
    perftrace__strbuf_t shown = PERFTRACE__STRBUF_INIT;
    pt_table_visible(&shown, text, 0);
    for (const char *p = perftrace__strbuf_cstr(&shown); *p != '\0'; p++) {
        perftrace__strbuf_puts(&m->text, *p == '|' ? "\\" : "");
        perftrace__strbuf_putc(&m->text, *p);
    }
    perftrace__strbuf_putc(&m->text, '\0');
    m->cells++;
    m->text.failed |= shown.failed;
    perftrace__strbuf_free(&shown);
}

void pt_markdown_cellf(pt_markdown_t *m, const char *fmt, ...) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    pt_markdown_cell(m, perftrace__strbuf_cstr(&text));
    m->text.failed |= text.failed;
    perftrace__strbuf_free(&text);
}

static unsigned width_of(const char *text) {
    return pt_text_columns(text, strlen(text));
}

static void put_row(const pt_markdown_t *m, const char *const *cell, const unsigned *width,
                    perftrace__strbuf_t *out) {
    for (size_t c = 0; c < m->columns; c++) {
        unsigned pad = width[c] - width_of(cell[c]);
        perftrace__strbuf_puts(out, c == 0 ? "| " : " | ");
        pt_text_pad(out, m->align[c] == 'r' ? pad : 0);
        perftrace__strbuf_puts(out, cell[c]);
        pt_text_pad(out, m->align[c] == 'r' ? 0 : pad);
    }
    perftrace__strbuf_puts(out, " |\n");
}

static void put_rule(const pt_markdown_t *m, const unsigned *width, perftrace__strbuf_t *out) {
    for (size_t c = 0; c < m->columns; c++) {
        perftrace__strbuf_puts(out, c == 0 ? "| " : " | ");
        for (unsigned i = 0; i < width[c]; i++) {
            perftrace__strbuf_putc(out, i + 1 == width[c] && m->align[c] == 'r' ? ':' : '-');
        }
    }
    perftrace__strbuf_puts(out, " |\n");
}

/* The address of each cell. */
static void find_cells(const pt_markdown_t *m, const char **cell) {
    const char *p = m->text.data;
    for (size_t i = 0; i < m->cells; i++) {
        cell[i] = p;
        p += strlen(p) + 1;
    }
}

void pt_markdown_end(pt_markdown_t *m, perftrace__strbuf_t *out) {
    const char **cell = calloc(m->cells + 1, sizeof *cell);
    unsigned *width = calloc(m->columns + 1, sizeof *width);
    if (cell == NULL || width == NULL || m->text.failed || m->columns == 0) {
        out->failed = true;
    } else {
        find_cells(m, cell);
        for (size_t c = 0; c < m->columns; c++) {
            width[c] = width_of(m->title[c]);
        }
        for (size_t i = 0; i < m->cells; i++) {
            width[i % m->columns] = PT_MAX(width[i % m->columns], width_of(cell[i]));
        }
        put_row(m, m->title, width, out);
        put_rule(m, width, out);
        for (size_t i = 0; i + m->columns <= m->cells; i += m->columns) {
            put_row(m, cell + i, width, out);
        }
    }
    free(cell);
    free(width);
    perftrace__strbuf_free(&m->text);
    m->cells = 0;
}
