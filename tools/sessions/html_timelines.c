/* html_timelines.c: the sessions of which the page shows each phase. SPDX-License-Identifier: MIT
 *
 * Three orders: first to end, longest, and unfinished ones by age. Of each order the first ones
 * over all ranks are held, and of each rank its first ones; the page sorts what it holds. */
#include "html_frame.h"
#include "html_json.h"

#include <math.h>
#include <stdlib.h>

#define OF_RANKS_MOST 2000U /* sessions of one order that all ranks together may hold */
#define SPANS_MOST    500U  /* of one session */

typedef struct ordered {
    double key; /* the smallest come first */
    uint32_t index;
} ordered_t;

static int by_key(const void *a, const void *b) {
    const ordered_t *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

typedef double (*key_fn)(const pt_html_frame_t *f, const pt_session_row_t *row);

static double first_to_end(const pt_html_frame_t *f, const pt_session_row_t *row) {
    return pt_html_since(f, row, row->finalized);
}

static double slowest(const pt_html_frame_t *f, const pt_session_row_t *row) {
    (void)f;
    return row->submit - row->finalized;
}

static double unfinished(const pt_html_frame_t *f, const pt_session_row_t *row) {
    return isnan(row->finalized) || (row->flags & PT_ROW_OPEN) != 0
               ? row->submit - pt_html_until(f, row)
               : (double)NAN;
}

typedef struct choice {
    ordered_t *order;
    size_t *of_rank;
    bool *held; /* by index in the selection */
    size_t most_of_rank;
} choice_t;

/* Holds the first ones of an order. Rows whose key is NAN are not in it. */
static size_t hold(const pt_html_frame_t *f, choice_t *c, key_fn key) {
    size_t n = 0;
    for (size_t i = 0; i < f->selection->rows; i++) {
        double k = key(f, pt_html_row(f, i));
        if (!isnan(k) && !isnan(pt_html_row(f, i)->submit)) {
            c->order[n++] = (ordered_t){k, (uint32_t)i};
        }
    }
    qsort(c->order, n, sizeof *c->order, by_key);
    for (size_t r = 0; r < f->ranks; r++) {
        c->of_rank[r] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t rank = pt_html_rank(f, pt_html_row(f, c->order[i].index));
        if (i < f->options->timelines || c->of_rank[rank] < c->most_of_rank) {
            c->held[c->order[i].index] = true;
        }
        c->of_rank[rank]++;
    }
    return n;
}

/* [phase, start, end, ...], an end of null is open; null: phases, but no times of them. */
static bool put_spans(const pt_html_frame_t *f, const pt_session_row_t *row,
                      perftrace__strbuf_t *out) {
    const pt_session_model_t *m = f->model;
    size_t spans = 0;
    for (unsigned c = 0; c < row->cells; c++) {
        spans += m->cell[row->first_cell + c].spans;
    }
    spans = m->keep_spans ? PT_MIN(spans, m->spans - PT_MIN(m->spans, row->first_span)) : 0;
    if (spans == 0 && row->cells > 0) {
        perftrace__strbuf_puts(out, "null");
        return false;
    }
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < PT_MIN(spans, (size_t)SPANS_MOST); i++) {
        const pt_session_span_t *span = &m->span[row->first_span + i];
        (void)pt_html_comma(out, i == 0);
        pt_html_count(out, span->phase);
        perftrace__strbuf_putc(out, ',');
        pt_html_moment(out, pt_html_since(f, row, span->start));
        perftrace__strbuf_putc(out, ',');
        pt_html_moment(out, pt_html_since(f, row, span->end));
    }
    perftrace__strbuf_putc(out, ']');
    return spans > SPANS_MOST;
}

/* Returns whether spans had to be left out. */
static bool put_row(const pt_html_frame_t *f, const pt_session_row_t *row,
                    perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "\n[%zu,%u,", pt_html_rank(f, row), (unsigned)row->role);
    pt_html_task_id(out, f->model, row);
    perftrace__strbuf_putc(out, ',');
    pt_html_session_id(out, f->model, row);
    perftrace__strbuf_printf(out, ",%u,%u,", (unsigned)row->status, (unsigned)row->reason);
    pt_html_moment(out, pt_html_since(f, row, row->submit));
    perftrace__strbuf_putc(out, ',');
    pt_html_moment(out, pt_html_since(f, row, row->finalized));
    perftrace__strbuf_putc(out, ',');
    pt_html_moment(out, pt_html_since(f, row, pt_html_until(f, row)));
    perftrace__strbuf_putc(out, ',');
    bool cut = put_spans(f, row, out);
    perftrace__strbuf_putc(out, ']');
    return cut;
}

static void put_rows(const pt_html_frame_t *f, const choice_t *c, perftrace__strbuf_t *out) {
    bool first = true;
    size_t cut = 0;
    perftrace__strbuf_puts(out, "\"rows\":[");
    for (size_t i = 0; i < f->selection->rows; i++) {
        if (c->held[i]) {
            first = pt_html_comma(out, first);
            cut += put_row(f, pt_html_row(f, i), out);
        }
    }
    perftrace__strbuf_printf(out, "],\"cut\":%zu,\"spansMost\":%u", cut, SPANS_MOST);
}

bool pt_html_timelines(const pt_html_frame_t *f, perftrace__strbuf_t *out) {
    static const struct {
        const char *name;
        key_fn key;
    } orders[] = {{"first", first_to_end}, {"slowest", slowest}, {"unfinished", unfinished}};
    size_t rows = f->selection->rows;
    choice_t c = {.order = malloc((rows + 1) * sizeof *c.order),
                  .of_rank = calloc(f->ranks + 1, sizeof *c.of_rank),
                  .held = calloc(rows + 1, sizeof *c.held)};
    bool ok = c.order != NULL && c.of_rank != NULL && c.held != NULL;
    if (ok) {
        c.most_of_rank = PT_MIN(f->options->timelines, OF_RANKS_MOST / PT_MAX(f->ranks, (size_t)1));
        perftrace__strbuf_printf(out, "\"timeline\":{\"most\":%zu,\"mostOfRank\":%zu,\"of\":{",
                                 f->options->timelines, c.most_of_rank);
        for (size_t i = 0; i < PT_ARRAY_LEN(orders); i++) {
            (void)pt_html_comma(out, i == 0);
            perftrace__strbuf_printf(out, "\"%s\":%zu", orders[i].name, hold(f, &c, orders[i].key));
        }
        perftrace__strbuf_puts(out, "},");
        put_rows(f, &c, out);
        perftrace__strbuf_putc(out, '}');
    }
    free(c.order);
    free(c.of_rank);
    free(c.held);
    return ok;
}
