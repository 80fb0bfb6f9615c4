/* report_summary.c: what the inputs hold. SPDX-License-Identifier: MIT */
#include "human.h"
#include "markdown.h"
#include "stacks_report.h"

#include <math.h>
#include <stdlib.h>

/* What the nodes of a thread come to. */
typedef struct thread_sums {
    uint64_t stacks, empty;
    uint32_t depth;
} thread_sums_t;

static void sum_nodes(const pt_profile_t *p, thread_sums_t *sums) {
    for (size_t i = 0; i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        thread_sums_t *s = &sums[n->thread];
        s->stacks += n->samples > 0 && n->depth > 0 ? 1 : 0;
        s->empty += n->depth == 0 ? n->samples : 0;
        s->depth = n->samples > 0 ? PT_MAX(s->depth, n->depth) : s->depth;
    }
}

static void put_source(pt_markdown_t *m, pt_table_t *t, const char *name,
                       const pt_profile_source_t *source) {
    static const char *const encoding[] = {"UTF-8", "UTF-16LE", "UTF-16BE"};
    const char *format = pt_profile_format_name(source->format);
    pt_markdown_cell(m, *format != '\0' ? format : "not read");
    pt_markdown_cell(m, encoding[source->encoding]);
    pt_markdown_cell(m, name);
    pt_table_cstr(t, name);
    pt_table_cstr(t, *format != '\0' ? format : NULL);
    pt_table_cstr(t, encoding[source->encoding]);
    pt_table_number(t, source->format == PT_PROFILE_JSON ? (double)NAN : (double)source->lines);
}

static void put_inputs(pt_stacks_report_t *r, const char *const *input,
                       const pt_profile_source_t *source, size_t inputs) {
    static const char *const title[] = {"Format", "Encoding", "Input"};
    pt_markdown_t m = PT_MARKDOWN_INIT(title, "lll");
    pt_table_t *t = pt_report_table(&r->tables, "inputs", "Inputs", false);
    pt_table_column(t, "input", "Input", PT_COLUMN_TEXT);
    pt_table_column(t, "format", "Format", PT_COLUMN_TEXT);
    pt_table_column(t, "encoding", "Encoding", PT_COLUMN_TEXT);
    pt_table_column(t, "lines", "Lines", PT_COLUMN_COUNT);
    for (size_t i = 0; i < inputs; i++) {
        put_source(&m, t, input[i], &source[i]);
    }
    perftrace__strbuf_puts(&r->text, "\n## Inputs\n\n");
    pt_markdown_end(&m, &r->text);
}

static void put_thread(pt_stacks_report_t *r, pt_markdown_t *m, pt_table_t *t, size_t i,
                       const thread_sums_t *s) {
    const pt_profile_t *p = r->view->p;
    const pt_profile_thread_t *thread = &p->thread[i];
    char count[PT_HUMAN_MAX];
    pt_markdown_cell(m, pt_human_exact(count, thread->samples));
    pt_weight_cell(m, thread->weight, thread->unit, false);
    pt_markdown_cell(m, pt_human_exact(count, s->stacks));
    pt_markdown_cell(m, pt_human_exact(count, s->empty));
    pt_markdown_cellf(m, "%u", s->depth);
    pt_markdown_cell(m, pt_thread_name(p, i));
    pt_table_number(t, (double)thread->samples);
    pt_table_number(t, thread->weight);
    pt_table_cstr(t, pt_unit_name(thread->unit));
    pt_table_number(t, (double)s->stacks);
    pt_table_number(t, (double)s->empty);
    pt_table_number(t, (double)s->depth);
    pt_table_text(t, pt_thread_name(p, i), thread->name_len);
}

static void put_threads(pt_stacks_report_t *r, const thread_sums_t *sums) {
    static const char *const title[] = {"Samples",        "Weight",  "Distinct stacks",
                                        "Without frames", "Deepest", "Thread name"};
    pt_markdown_t m = PT_MARKDOWN_INIT(title, "rrrrrl");
    pt_table_t *t = pt_report_table(&r->tables, "threads", "Threads", false);
    pt_table_column(t, "samples", "Samples", PT_COLUMN_COUNT);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_NUMBER);
    pt_table_column(t, "unit", "Unit", PT_COLUMN_TEXT);
    pt_table_column(t, "stacks", "Distinct stacks", PT_COLUMN_COUNT);
    pt_table_column(t, "without_frames", "Samples without frames", PT_COLUMN_COUNT);
    pt_table_column(t, "max_depth", "Deepest", PT_COLUMN_COUNT);
    pt_table_column(t, "thread", "Thread name", PT_COLUMN_TEXT);
    for (size_t i = 0; i < r->view->p->threads; i++) {
        if (r->view->wanted[i]) {
            put_thread(r, &m, t, i, &sums[i]);
        }
    }
    perftrace__strbuf_puts(&r->text, "\n## Threads\n\n");
    pt_markdown_end(&m, &r->text);
}

bool pt_report_summary(pt_stacks_report_t *r, const char *const *input,
                       const pt_profile_source_t *source, size_t inputs) {
    const pt_profile_t *p = r->view->p;
    thread_sums_t *sums = calloc(p->threads + 1, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    sum_nodes(p, sums);
    put_inputs(r, input, source, inputs);
    put_threads(r, sums);
    pt_table_t *t = pt_report_table(&r->tables, "frames", "Frames", true);
    pt_table_fact(t, "frames", "Frames", PT_COLUMN_COUNT, (double)p->frames);
    pt_table_fact(t, "functions", "Functions", PT_COLUMN_COUNT, (double)r->view->names);
    perftrace__strbuf_printf(&r->text, "\nFrames: %zu (%zu functions)\n", p->frames,
                             r->view->names);
    free(sums);
    return !pt_stacks_report_failed(r);
}
