/* stack_diff.c. SPDX-License-Identifier: MIT */
#include "stack_diff.h"

#include "markdown.h"
#include "stack_tally.h"

#include <math.h>
#include <stdlib.h>

typedef struct maker {
    pt_diff_t *diff;
    perftrace__hashmap_t of;
} maker_t;

static pt_diff_row_t *row_of(maker_t *m, const char *name) {
    bool fresh;
    const uint64_t *at = perftrace__hashmap_put(&m->of, name, strlen(name), m->diff->rows, &fresh);
    if (at == NULL) {
        return NULL;
    }
    if (fresh) {
        m->diff->row[m->diff->rows++] = (pt_diff_row_t){.name = name};
    }
    return &m->diff->row[*at];
}

static bool add_side(maker_t *m, const pt_stack_view_t *v, unsigned side, double scale) {
    pt_tally_t self = {NULL, 0}, inclusive = {NULL, 0};
    bool ok = pt_tally_self_names(v, &self) && pt_tally_inclusive(v, &inclusive);
    for (size_t i = 0; ok && i < inclusive.rows; i++) {
        pt_diff_row_t *row = row_of(m, pt_stack_name_text(v, inclusive.row[i].what));
        ok = row != NULL;
        if (ok) {
            row->inclusive[side] += inclusive.row[i].weight * scale;
        }
    }
    for (size_t i = 0; ok && i < self.rows; i++) {
        pt_diff_row_t *row = row_of(m, pt_stack_name_text(v, self.row[i].what));
        ok = row != NULL;
        if (ok) {
            row->self[side] += self.row[i].weight * scale;
        }
    }
    pt_tally_free(&self);
    pt_tally_free(&inclusive);
    return ok;
}

static int compare(const void *a, const void *b) {
    const pt_diff_row_t *x = a, *y = b;
    double p = fabs(x->self[1] - x->self[0]), q = fabs(y->self[1] - y->self[0]);
    if (p == q) {
        p = fabs(x->inclusive[1] - x->inclusive[0]);
        q = fabs(y->inclusive[1] - y->inclusive[0]);
    }
    return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

bool pt_diff_make(const pt_stack_view_t *before, const pt_stack_view_t *after, double scale,
                  pt_diff_t *diff) {
    maker_t m = {.diff = diff, .of = PERFTRACE__HASHMAP_INIT};
    *diff = (pt_diff_t){.row = calloc(before->names + after->names + 1, sizeof *diff->row)};
    bool ok = diff->row != NULL && add_side(&m, before, 0, scale) && add_side(&m, after, 1, 1);
    if (ok && diff->rows > 0) {
        qsort(diff->row, diff->rows, sizeof *diff->row, compare);
    }
    perftrace__hashmap_free(&m.of);
    return ok;
}

void pt_diff_free(pt_diff_t *diff) {
    free(diff->row);
    *diff = (pt_diff_t){NULL, 0};
}

/* ---- the report ---- */

static void put_sides(const pt_stacks_report_t *r, pt_markdown_t *m, pt_table_t *t,
                      const double weight[2]) {
    pt_weight_cell(m, weight[0], r->view->unit, false);
    pt_weight_cell(m, weight[1], r->view->unit, false);
    pt_weight_cell(m, weight[1] - weight[0], r->view->unit, true);
    pt_table_number(t, weight[0]);
    pt_table_number(t, weight[1]);
    pt_table_number(t, weight[1] - weight[0]);
}

static void put_totals(pt_stacks_report_t *r, const pt_stack_view_t *before, double scale) {
    pt_table_t *t = pt_report_table(&r->tables, "totals", "Totals", true);
    double was = before->weight * scale, is = r->view->weight;
    pt_table_fact_text(t, "unit", "Unit", pt_unit_name(r->view->unit));
    pt_table_fact(t, "before", "Before", PT_COLUMN_NUMBER, was);
    pt_table_fact(t, "after", "After", PT_COLUMN_NUMBER, is);
    pt_table_fact(t, "change", "Change", PT_COLUMN_NUMBER, is - was);
    pt_table_fact(t, "scale_of_before", "Before was multiplied by", PT_COLUMN_NUMBER, scale);
    perftrace__strbuf_puts(&r->text, "Before: ");
    pt_weight_put(&r->text, was, r->view->unit);
    if (scale != 1) {
        perftrace__strbuf_printf(&r->text, " (multiplied by %.4g)", scale);
    }
    perftrace__strbuf_puts(&r->text, "\nAfter: ");
    pt_weight_put(&r->text, is, r->view->unit);
    perftrace__strbuf_puts(&r->text, is >= was ? "\nChange: +" : "\nChange: ");
    pt_weight_put(&r->text, is - was, r->view->unit);
    if (was > 0) {
        perftrace__strbuf_printf(&r->text, " (%+.1f%% of before)", 100 * (is - was) / was);
    }
    perftrace__strbuf_putc(&r->text, '\n');
}

bool pt_report_diff(pt_stacks_report_t *r, const pt_stack_view_t *before, double scale,
                    const pt_diff_t *diff, uint64_t top) {
    static const char *const title[] = {"Self before",      "Self after",      "Self change",
                                        "Inclusive before", "Inclusive after", "Inclusive change",
                                        "Function"};
    static const char *const id[] = {"self_before",      "self_after",      "self_change",
                                     "inclusive_before", "inclusive_after", "inclusive_change"};
    size_t rows = top > 0 && top < diff->rows ? (size_t)top : diff->rows;
    pt_markdown_t m = PT_MARKDOWN_INIT(title, "rrrrrrl");
    put_totals(r, before, scale);
    pt_table_t *t = pt_report_table(&r->tables, "functions", "Functions", false);
    for (size_t i = 0; i < PT_ARRAY_LEN(id); i++) {
        pt_table_column(t, id[i], title[i], PT_COLUMN_NUMBER);
    }
    pt_table_column(t, "function", "Function", PT_COLUMN_TEXT);
    for (size_t i = 0; i < rows; i++) {
        put_sides(r, &m, t, diff->row[i].self);
        put_sides(r, &m, t, diff->row[i].inclusive);
        pt_markdown_cell(&m, diff->row[i].name);
        pt_table_cstr(t, diff->row[i].name);
    }
    perftrace__strbuf_printf(&r->text, "\n## Functions by the change of self, top %zu of %zu\n\n",
                             rows, diff->rows);
    pt_markdown_end(&m, &r->text);
    return !pt_stacks_report_failed(r);
}
