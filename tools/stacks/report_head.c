/* report_head.c: what is looked at, and its threads. SPDX-License-Identifier: MIT */
#include "human.h"
#include "markdown.h"
#include "stacks_report.h"

#include <math.h>
#include <stdlib.h>

void pt_stacks_report_free(pt_stacks_report_t *r) {
    perftrace__strbuf_free(&r->text);
    pt_report_free(&r->tables);
}

bool pt_stacks_report_failed(const pt_stacks_report_t *r) {
    return r->text.failed || pt_report_failed(&r->tables);
}

void pt_weight_put(perftrace__strbuf_t *out, double weight, pt_profile_unit_t unit) {
    if (unit == PT_UNIT_SECONDS) {
        perftrace__strbuf_printf(out, "%.2fs", weight);
    } else {
        bool whole = weight == floor(weight) && fabs(weight) < 1e15;
        perftrace__strbuf_printf(out, whole ? "%.0f" : "%.2f", weight);
        perftrace__strbuf_puts(out, unit == PT_UNIT_BYTES ? " B" : "");
    }
}

void pt_weight_cell(pt_markdown_t *m, double weight, pt_profile_unit_t unit, bool change) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&text, change && weight > 0 ? "+" : "");
    pt_weight_put(&text, weight, unit);
    pt_markdown_cell(m, perftrace__strbuf_cstr(&text));
    m->text.failed |= text.failed;
    perftrace__strbuf_free(&text);
}

static void put_name(perftrace__strbuf_t *out, const char *name) {
    pt_table_visible(out, name, 0);
}

/* Names joined, for programs. */
static void fact_inputs(pt_table_t *t, const char *const *input, size_t inputs) {
    perftrace__strbuf_t all = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < inputs; i++) {
        perftrace__strbuf_puts(&all, i > 0 ? ", " : "");
        perftrace__strbuf_puts(&all, input[i]);
    }
    pt_table_fact_text(t, "input", "Profile", perftrace__strbuf_cstr(&all));
    t->failed |= all.failed;
    perftrace__strbuf_free(&all);
}

void pt_report_head(pt_stacks_report_t *r, const char *const *input, size_t inputs,
                    const char *filter) {
    const pt_stack_view_t *v = r->view;
    char count[PT_HUMAN_MAX];
    pt_table_t *t = pt_report_table(&r->tables, "profile", "Profile", true);
    fact_inputs(t, input, inputs);
    pt_table_fact_text(t, "filter", "Thread filter", filter);
    pt_table_fact(t, "threads", "Threads", PT_COLUMN_COUNT, (double)v->p->threads);
    pt_table_fact(t, "matching", "Matching threads", PT_COLUMN_COUNT, (double)v->matching);
    pt_table_fact_text(t, "unit", "Unit", pt_unit_name(v->unit));
    pt_table_fact(t, "samples", "Samples", PT_COLUMN_COUNT, (double)v->samples);
    pt_table_fact(t, "weight", "Weight", PT_COLUMN_NUMBER, v->weight);
    for (size_t i = 0; i < inputs; i++) {
        perftrace__strbuf_puts(&r->text, "Profile: ");
        put_name(&r->text, input[i]);
        perftrace__strbuf_putc(&r->text, '\n');
    }
    perftrace__strbuf_puts(&r->text, "Thread filter: ");
    put_name(&r->text, filter != NULL ? filter : "none");
    perftrace__strbuf_printf(&r->text, "\nMatching threads: %zu\n", v->matching);
    for (size_t i = 0; i < v->p->threads; i++) {
        if (v->wanted[i]) {
            perftrace__strbuf_puts(&r->text, "  - ");
            put_name(&r->text, pt_thread_name(v->p, i));
            perftrace__strbuf_puts(&r->text, v->taken[i] ? "\n" : " (of another unit: left out)\n");
        }
    }
    perftrace__strbuf_printf(&r->text, "Samples: %s\n%s: ", pt_human_exact(count, v->samples),
                             v->unit == PT_UNIT_SECONDS ? "CPU time"
                             : v->unit == PT_UNIT_BYTES ? "Bytes"
                                                        : "Weight");
    pt_weight_put(&r->text, v->weight, v->unit);
    perftrace__strbuf_puts(&r->text, ", the base of all shares that name no other\n");
}

/* ---- threads ---- */

typedef struct ranked {
    double rank;
    size_t thread;
} ranked_t;

static int compare(const void *a, const void *b) {
    const ranked_t *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank > y->rank ? -1 : 1;
    }
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void put_thread(pt_stacks_report_t *r, pt_table_t *t, pt_markdown_t *m, size_t i,
                       double base) {
    const pt_profile_thread_t *thread = &r->view->p->thread[i];
    double share = pt_share(thread->weight, base);
    pt_markdown_cellf(m, "%llu", (unsigned long long)thread->samples);
    pt_weight_cell(m, thread->weight, thread->unit, false);
    pt_markdown_cellf(m, "%.1f%%", 100 * share);
    pt_markdown_cell(m, pt_thread_name(r->view->p, i));
    pt_table_number(t, (double)thread->samples);
    pt_table_number(t, thread->weight);
    pt_table_cstr(t, pt_unit_name(thread->unit));
    pt_table_number(t, share);
    pt_table_text(t, pt_thread_name(r->view->p, i), thread->name_len);
}

bool pt_report_threads(pt_stacks_report_t *r) {
    static const char *const in_seconds[] = {"Samples", "CPU time", "% total", "Thread name"};
    static const char *const plain[] = {"Samples", "Weight", "% total", "Thread name"};
    const pt_stack_view_t *v = r->view;
    pt_markdown_t m = PT_MARKDOWN_INIT(v->unit == PT_UNIT_SECONDS ? in_seconds : plain, "rrrl");
    pt_table_t *t = pt_report_table(&r->tables, "threads", "Threads", false);
    double base[PT_UNIT_BYTES + 1] = {0};
    size_t n = 0;
    ranked_t *order = calloc(v->p->threads + 1, sizeof *order);
    if (order == NULL) {
        return false;
    }
    pt_table_column(t, "samples", "Samples", PT_COLUMN_COUNT);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_NUMBER);
    pt_table_column(t, "unit", "Unit", PT_COLUMN_TEXT);
    pt_table_column(t, "share_of_total", "% total", PT_COLUMN_SHARE);
    pt_table_column(t, "thread", "Thread name", PT_COLUMN_TEXT);
    for (size_t i = 0; i < v->p->threads; i++) {
        base[v->p->thread[i].unit] += v->p->thread[i].weight;
        if (v->wanted[i]) {
            order[n++] = (ranked_t){pt_stack_rank(v, v->p->thread[i].weight), i};
        }
    }
    qsort(order, n, sizeof *order, compare);
    for (size_t i = 0; i < n; i++) {
        put_thread(r, t, &m, order[i].thread, base[v->p->thread[order[i].thread].unit]);
    }
    pt_markdown_end(&m, &r->text);
    free(order);
    return !pt_stacks_report_failed(r);
}
