/* markdown.h: tables in Markdown, set to the width of their cells. SPDX-License-Identifier: MIT
 *
 * Pure but for memory; not thread-safe. */
#ifndef PERFTRACE_STACKS_MARKDOWN_H
#define PERFTRACE_STACKS_MARKDOWN_H
#include "strbuf.h"

typedef struct pt_markdown {
    const char *const *title; /* of the columns; must live on */
    const char *align;        /* a letter a column: l or r */
    size_t columns;
    perftrace__strbuf_t text; /* all cells, each with a NUL behind it */
    size_t cells;
} pt_markdown_t;

#define PT_MARKDOWN_INIT(titles, align_)                                                           \
    { .title = (titles), .align = (align_), .columns = sizeof(align_) - 1 }

/* The next cell, row after row. A line end in it is shown as \x0a, a bar is escaped. */
void pt_markdown_cell(pt_markdown_t *m, const char *text);
void pt_markdown_cellf(pt_markdown_t *m, const char *fmt, ...) PT_PRINTF(2, 3);
/* Appends the table to out, and frees it. */
void pt_markdown_end(pt_markdown_t *m, perftrace__strbuf_t *out);

#endif
