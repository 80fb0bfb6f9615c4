/* report_self.c: tables of functions. SPDX-License-Identifier: MIT */
#include "human.h"
#include "markdown.h"
#include "stacks_report.h"

#include <math.h>
#include <stdlib.h>

static const char *weight_word(const pt_stacks_report_t *r) {
    return r->view->unit == PT_UNIT_SECONDS ? "time"
           : r->view->unit == PT_UNIT_BYTES ? "bytes"
                                            : "weight";
}

/* Samples, share and weight of a row, for people and for programs. */
static void put_sums(pt_stacks_report_t *r, pt_markdown_t *m, pt_table_t *t, uint64_t samples,
                     double weight) {
    char count[PT_HUMAN_MAX];
    double share = pt_share(weight, r->view->weight);
    pt_markdown_cell(m, pt_human_exact(count, samples));
    pt_markdown_cellf(m, "%.1f%%", 100 * share);
    pt_weight_cell(m, weight, r->view->unit, false);
    pt_table_number(t, (double)samples);
    pt_table_number(t, share);
    pt_table_number(t, weight);
}

static void sum_columns(pt_table_t *t) {
    pt_table_column(t, "samples", "Samples", PT_COLUMN_COUNT);
    pt_table_column(t, "share_of_all", "Share", PT_COLUMN_SHARE);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_NUMBER);
}

/* The last part of a path. */
static const char *base_name(const char *file, size_t len) {
    const char *slash = len > 0 ? memrchr(file, '/', len) : NULL;
    return slash != NULL ? slash + 1 : file;
}

static void put_place(const pt_profile_t *p, const pt_profile_frame_t *f, pt_markdown_t *m,
                      pt_table_t *t) {
    const char *file = pt_profile_text(p, f->file);
    const char *base = base_name(file, f->file_len);
    if (f->line >= 0) {
        pt_markdown_cellf(m, "%s:%lld", base, (long long)f->line);
    } else {
        pt_markdown_cellf(m, "%s:?", base);
    }
    pt_table_cstr(t, f->file_len > 0 ? file : NULL);
    pt_table_number(t, f->line >= 0 ? (double)f->line : (double)NAN);
}

bool pt_report_self(pt_stacks_report_t *r, const pt_tally_t *self, uint64_t top) {
    static const char *const title[3][5] = {
        {"Samples", "Self %", "Self weight", "Function", "Location"},
        {"Samples", "Self %", "Self time", "Function", "Location"},
        {"Samples", "Self %", "Self bytes", "Function", "Location"}};
    const pt_profile_t *p = r->view->p;
    pt_markdown_t m = PT_MARKDOWN_INIT(title[r->view->unit], "rrrll");
    pt_table_t *t = pt_report_table(&r->tables, "self", "Self", false);
    sum_columns(t);
    pt_table_column(t, "function", "Function", PT_COLUMN_TEXT);
    pt_table_column(t, "file", "File", PT_COLUMN_TEXT);
    pt_table_column(t, "line", "Line", PT_COLUMN_COUNT);
    size_t rows = pt_rows_shown(self->rows, top);
    for (size_t i = 0; i < rows; i++) {
        const pt_profile_frame_t *f = &p->frame[self->row[i].what];
        put_sums(r, &m, t, self->row[i].samples, self->row[i].weight);
        pt_markdown_cell(&m, pt_profile_text(p, f->name));
        pt_table_text(t, pt_profile_text(p, f->name), f->name_len);
        put_place(p, f, &m, t);
    }
    perftrace__strbuf_printf(&r->text, "\n## Functions by self %s, top %zu of %zu\n\n",
                             weight_word(r), rows, self->rows);
    pt_markdown_end(&m, &r->text);
    return !pt_stacks_report_failed(r);
}

/* ---- categories ---- */

static void join_names(const pt_stack_view_t *v, const pt_category_row_t *row,
                       perftrace__strbuf_t *out) {
    perftrace__strbuf_clear(out);
    for (size_t i = 0; i < PT_MIN(row->names, (size_t)PT_CATEGORY_NAMES); i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        perftrace__strbuf_puts(out, pt_stack_name_text(v, row->name[i]));
    }
    perftrace__strbuf_puts(out, row->names > PT_CATEGORY_NAMES ? ", ..." : "");
}

bool pt_report_categories(pt_stacks_report_t *r, const pt_category_table_t *table) {
    static const char *const title[3][4] = {{"Self %", "Self weight", "Category", "Functions"},
                                            {"Self %", "Self time", "Category", "Functions"},
                                            {"Self %", "Self bytes", "Category", "Functions"}};
    pt_markdown_t m = PT_MARKDOWN_INIT(title[r->view->unit], "rrll");
    pt_table_t *t = pt_report_table(&r->tables, "categories", "Categories", false);
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    pt_table_column(t, "share_of_all", "Share", PT_COLUMN_SHARE);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_NUMBER);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "functions", "Functions", PT_COLUMN_TEXT);
    for (size_t i = 0; i < table->rows; i++) {
        const pt_category_row_t *row = &table->row[i];
        double share = pt_share(row->weight, r->view->weight);
        join_names(r->view, row, &names);
        pt_markdown_cellf(&m, "%.1f%%", 100 * share);
        pt_weight_cell(&m, row->weight, r->view->unit, false);
        pt_markdown_cell(&m, row->title);
        pt_markdown_cell(&m, perftrace__strbuf_cstr(&names));
        pt_table_number(t, share);
        pt_table_number(t, row->weight);
        pt_table_cstr(t, row->title);
        pt_table_cstr(t, perftrace__strbuf_cstr(&names));
    }
    perftrace__strbuf_printf(&r->text, "\n## Categories by self %s\n\n", weight_word(r));
    pt_markdown_end(&m, &r->text);
    r->text.failed |= names.failed;
    perftrace__strbuf_free(&names);
    return !pt_stacks_report_failed(r);
}

/* ---- inclusive ---- */

static const char *const inclusive_title[3][4] = {
    {"Samples", "Inclusive %", "Inclusive weight", "Function"},
    {"Samples", "Inclusive %", "Inclusive time", "Function"},
    {"Samples", "Inclusive %", "Inclusive bytes", "Function"}};

static pt_table_t *inclusive_table(pt_stacks_report_t *r) {
    pt_table_t *t = pt_report_table(&r->tables, "inclusive", "Inclusive", false);
    sum_columns(t);
    pt_table_column(t, "function", "Function", PT_COLUMN_TEXT);
    return t;
}

static void put_inclusive(pt_stacks_report_t *r, pt_markdown_t *m, pt_table_t *t,
                          const pt_tally_row_t *row) {
    put_sums(r, m, t, row->samples, row->weight);
    pt_markdown_cell(m, pt_stack_name_text(r->view, row->what));
    pt_table_cstr(t, pt_stack_name_text(r->view, row->what));
}

bool pt_report_inclusive(pt_stacks_report_t *r, const pt_tally_t *inclusive, uint64_t top) {
    pt_markdown_t m = PT_MARKDOWN_INIT(inclusive_title[r->view->unit], "rrrl");
    pt_table_t *t = inclusive_table(r);
    size_t rows = pt_rows_shown(inclusive->rows, top);
    for (size_t i = 0; i < rows; i++) {
        put_inclusive(r, &m, t, &inclusive->row[i]);
    }
    perftrace__strbuf_printf(&r->text, "\n## Functions by inclusive %s, top %zu of %zu\n\n",
                             weight_word(r), rows, inclusive->rows);
    pt_markdown_end(&m, &r->text);
    return !pt_stacks_report_failed(r);
}

static int compare_texts(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* The parts of a comma list, sorted and each once; NULL without memory. */
static char **split_list(const char *list, char *copy, size_t *ret_count) {
    size_t count = 1, kept = 0;
    memcpy(copy, list, strlen(list) + 1);
    for (const char *p = list; *p != '\0'; p++) {
        count += *p == ',';
    }
    char **part = calloc(count, sizeof *part);
    for (size_t i = 0; part != NULL && i < count; i++) {
        part[i] = strsep(&copy, ",");
    }
    if (part != NULL) {
        qsort(part, count, sizeof *part, compare_texts);
        for (size_t i = 0; i < count; i++) {
            if (i == 0 || strcmp(part[i], part[kept - 1]) != 0) {
                part[kept++] = part[i];
            }
        }
    }
    *ret_count = kept;
    return part;
}

static void put_missing(pt_stacks_report_t *r, pt_markdown_t *m, pt_table_t *t, const char *name) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&text, "%s (not found)", name);
    put_sums(r, m, t, 0, 0);
    pt_markdown_cell(m, perftrace__strbuf_cstr(&text));
    pt_table_cstr(t, name);
    m->text.failed |= text.failed;
    perftrace__strbuf_free(&text);
}

bool pt_report_inclusive_of(pt_stacks_report_t *r, const pt_tally_t *inclusive, const char *list) {
    pt_markdown_t m = PT_MARKDOWN_INIT(inclusive_title[r->view->unit], "rrrl");
    pt_table_t *t = inclusive_table(r);
    size_t count = 0;
    char *copy = malloc(strlen(list) + 1);
    char **name = copy != NULL ? split_list(list, copy, &count) : NULL;
    bool ok = name != NULL;
    for (size_t i = 0; ok && i < inclusive->rows; i++) {
        const char *text = pt_stack_name_text(r->view, inclusive->row[i].what);
        if (bsearch(&text, name, count, sizeof *name, compare_texts) != NULL) {
            put_inclusive(r, &m, t, &inclusive->row[i]);
        }
    }
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t number = pt_stack_name(r->view, name[i]);
        if (number == PT_PROFILE_NONE || pt_tally_find(inclusive, number) == NULL) {
            put_missing(r, &m, t, name[i]);
        }
    }
    perftrace__strbuf_printf(&r->text, "\n## Inclusive %s of functions\n\n", weight_word(r));
    pt_markdown_end(&m, &r->text);
    free(name);
    free(copy);
    return ok && !pt_stacks_report_failed(r);
}
