/* report_chains.c: stacks, frame by frame. SPDX-License-Identifier: MIT */
#include "human.h"
#include "stacks_report.h"

#define DEEPEST_INDENT 200U /* of a stack that is deeper, the rest stands below each other */

/* How the frames of a stack are shown. */
typedef enum mark { MARK_LAST, MARK_FIRST } mark_t;

static void put_count(perftrace__strbuf_t *out, uint64_t samples) {
    char count[PT_HUMAN_MAX];
    perftrace__strbuf_printf(out, "%s sample%s, ", pt_human_exact(count, samples),
                             PT_PLURAL(samples));
}

static void put_name(perftrace__strbuf_t *out, const char *name) {
    pt_table_visible(out, name, 0);
}

static void put_sums(pt_stacks_report_t *r, uint64_t samples, double weight) {
    put_count(&r->text, samples);
    pt_weight_put(&r->text, weight, r->view->unit);
}

static void put_frames(pt_stacks_report_t *r, const pt_chains_t *c, const pt_chain_t *chain,
                       mark_t mark, unsigned indent) {
    for (uint32_t i = 0; i < chain->len; i++) {
        const char *name = pt_stack_name_text(r->view, c->name[chain->at + i]);
        bool last = i + 1 == chain->len;
        bool marked = mark == MARK_LAST ? last : i == 0;
        perftrace__strbuf_printf(&r->text, "%*s%s", (int)(indent + 2 * PT_MIN(i, DEEPEST_INDENT)),
                                 "",
                                 marked                       ? "** "
                                 : mark == MARK_FIRST && last ? "-> "
                                                              : "");
        put_name(&r->text, name);
        perftrace__strbuf_puts(&r->text, marked ? " **\n" : "\n");
    }
    perftrace__strbuf_putc(&r->text, '\n');
}

/* As in collapsed stacks. */
static void put_joined(const pt_stacks_report_t *r, const pt_chains_t *c, const pt_chain_t *chain,
                       perftrace__strbuf_t *out) {
    perftrace__strbuf_clear(out);
    for (uint32_t i = 0; i < chain->len; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ";" : "");
        for (const char *p = pt_stack_name_text(r->view, c->name[chain->at + i]); *p != '\0'; p++) {
            perftrace__strbuf_putc(out, *p == ';' ? ':' : *p);
        }
    }
}

/* What stands within the last pair of double quotes: py-spy's names of threads. */
static void put_short_name(perftrace__strbuf_t *out, const char *name) {
    const char *end = strrchr(name, '"');
    const char *begin = end != NULL && end > name ? memrchr(name, '"', (size_t)(end - name)) : NULL;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    if (begin != NULL) {
        perftrace__strbuf_append(&text, begin + 1, (size_t)(end - begin - 1));
        name = perftrace__strbuf_cstr(&text);
    }
    put_name(out, name);
    out->failed |= text.failed;
    perftrace__strbuf_free(&text);
}

static pt_table_t *chain_table(pt_stacks_report_t *r, const char *id, bool of_function,
                               bool thread) {
    pt_table_t *t = pt_report_table(&r->tables, id, id, false);
    pt_table_column(t, "samples", "Samples", PT_COLUMN_COUNT);
    pt_table_column(t, "weight", "Weight", PT_COLUMN_NUMBER);
    pt_table_column(t, "share_of_all", "Share", PT_COLUMN_SHARE);
    if (of_function) {
        pt_table_column(t, "share_of_function", "Share of the function", PT_COLUMN_SHARE);
    }
    if (thread) {
        pt_table_column(t, "thread", "Thread", PT_COLUMN_TEXT);
    }
    pt_table_column(t, "stack", "Stack", PT_COLUMN_TEXT);
    return t;
}

/* base: the weight of the function; below 0: there is none. */
static void put_row(pt_stacks_report_t *r, pt_table_t *t, const pt_chains_t *c,
                    const pt_chain_t *chain, double base, bool thread) {
    perftrace__strbuf_t joined = PERFTRACE__STRBUF_INIT;
    put_joined(r, c, chain, &joined);
    pt_table_number(t, (double)chain->samples);
    pt_table_number(t, chain->weight);
    pt_table_number(t, pt_share(chain->weight, r->view->weight));
    if (base >= 0) {
        pt_table_number(t, pt_share(chain->weight, base));
    }
    if (thread) {
        pt_table_cstr(t, pt_thread_name(r->view->p, chain->thread));
    }
    pt_table_cstr(t, perftrace__strbuf_cstr(&joined));
    t->failed |= joined.failed;
    perftrace__strbuf_free(&joined);
}

static void put_share(pt_stacks_report_t *r, double weight, double base, const char *of) {
    perftrace__strbuf_printf(&r->text, "%.1f%% of ", 100 * pt_share(weight, base));
    if (of != NULL) {
        perftrace__strbuf_putc(&r->text, '\'');
        put_name(&r->text, of);
        perftrace__strbuf_putc(&r->text, '\'');
    } else {
        perftrace__strbuf_puts(&r->text, "all");
    }
}

static void put_heading(pt_stacks_report_t *r, const char *what, const char *function,
                        uint64_t depth) {
    perftrace__strbuf_printf(&r->text, "\n## %s '", what);
    put_name(&r->text, function);
    perftrace__strbuf_putc(&r->text, '\'');
    if (depth > 0) {
        perftrace__strbuf_printf(&r->text, ", %llu frame%s nearest to it",
                                 (unsigned long long)depth, PT_PLURAL(depth));
    }
    perftrace__strbuf_puts(&r->text, "\n\n");
}

bool pt_report_callers(pt_stacks_report_t *r, const char *function, uint64_t depth, uint64_t top,
                       bool *ret_found) {
    pt_chains_t c = {.chain = NULL};
    uint32_t name = pt_stack_name(r->view, function);
    bool ok = name == PT_PROFILE_NONE || pt_chains_callers(r->view, name, depth, &c);
    pt_table_t *t = chain_table(r, "callers", true, true);
    r->too_long |= c.too_long;
    *ret_found = ok && c.count > 0;
    if (*ret_found) {
        put_heading(r, "Callers of", function, depth);
        put_sums(r, c.samples, c.weight);
        perftrace__strbuf_puts(&r->text, " in it or what it calls (");
        put_share(r, c.weight, r->view->weight, NULL);
        perftrace__strbuf_puts(&r->text, ")\n\n");
    }
    for (size_t i = 0; ok && i < pt_rows_shown(c.count, top); i++) {
        const pt_chain_t *chain = &c.chain[i];
        perftrace__strbuf_printf(&r->text, "--- Stack #%zu: ", i + 1);
        put_sums(r, chain->samples, chain->weight);
        perftrace__strbuf_puts(&r->text, " (");
        put_share(r, chain->weight, r->view->weight, NULL);
        perftrace__strbuf_puts(&r->text, ", ");
        put_share(r, chain->weight, c.weight, function);
        perftrace__strbuf_puts(&r->text, ") [");
        put_short_name(&r->text, pt_thread_name(r->view->p, chain->thread));
        perftrace__strbuf_puts(&r->text, "] ---\n");
        put_frames(r, &c, chain, MARK_LAST, 4);
        put_row(r, t, &c, chain, c.weight, true);
    }
    pt_chains_free(&c);
    return ok && !pt_stacks_report_failed(r);
}

/* ---- the call graph ---- */

static void put_chain(pt_stacks_report_t *r, pt_table_t *t, const pt_chains_t *c, size_t number,
                      const pt_chain_t *chain, mark_t mark, const char *function) {
    perftrace__strbuf_printf(&r->text, "  #%zu: ", number);
    put_sums(r, chain->samples, chain->weight);
    perftrace__strbuf_puts(&r->text, " (");
    put_share(r, chain->weight, c->weight, function);
    perftrace__strbuf_puts(&r->text, ")\n");
    put_frames(r, c, chain, mark, 6);
    put_row(r, t, c, chain, c->weight, false);
}

/* The chain of the function alone: what ends in it. There is one at most. */
static const pt_chain_t *alone(const pt_chains_t *c) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->chain[i].len == 1) {
            return &c->chain[i];
        }
    }
    return NULL;
}

/* Of one frame each, all chains are of the function alone. */
static void put_callees(pt_stacks_report_t *r, pt_table_t *t, const pt_chains_t *c,
                        const char *function, uint64_t depth, uint64_t top) {
    const pt_chain_t *self = depth != 1 ? alone(c) : NULL;
    size_t count = c->count - (self != NULL ? 1 : 0), shown = 0;
    perftrace__strbuf_printf(&r->text, "--- Callees (%zu distinct chains, top %zu) ---\n\n", count,
                             pt_rows_shown(count, top));
    if (self != NULL) {
        perftrace__strbuf_puts(&r->text, "  (self): ");
        put_sums(r, self->samples, self->weight);
        perftrace__strbuf_puts(&r->text, " (");
        put_share(r, self->weight, c->weight, function);
        perftrace__strbuf_puts(&r->text, ")\n\n");
        put_row(r, t, c, self, c->weight, false);
    }
    for (size_t i = 0; i < c->count && shown < pt_rows_shown(count, top); i++) {
        if (&c->chain[i] != self) {
            put_chain(r, t, c, ++shown, &c->chain[i], MARK_FIRST, function);
        }
    }
}

static void put_graph_text(pt_stacks_report_t *r, const pt_chains_t *above,
                           const pt_tally_row_t *self) {
    uint64_t samples = self != NULL ? self->samples : 0;
    double weight = self != NULL ? self->weight : 0;
    perftrace__strbuf_puts(&r->text, "Inclusive: ");
    put_sums(r, above->samples, above->weight);
    perftrace__strbuf_puts(&r->text, " (");
    put_share(r, above->weight, r->view->weight, NULL);
    perftrace__strbuf_puts(&r->text, ")\nSelf: ");
    put_sums(r, samples, weight);
    perftrace__strbuf_puts(&r->text, " (");
    put_share(r, weight, r->view->weight, NULL);
    perftrace__strbuf_puts(&r->text, ")\n\n");
}

static void put_graph_facts(pt_stacks_report_t *r, const char *function, const pt_chains_t *above,
                            const pt_tally_row_t *self) {
    pt_table_t *t = pt_report_table(&r->tables, "callgraph", "Call graph", true);
    uint64_t samples = self != NULL ? self->samples : 0;
    double weight = self != NULL ? self->weight : 0;
    pt_table_fact_text(t, "function", "Function", function);
    pt_table_fact(t, "inclusive_samples", "Inclusive samples", PT_COLUMN_COUNT,
                  (double)above->samples);
    pt_table_fact(t, "inclusive_weight", "Inclusive weight", PT_COLUMN_NUMBER, above->weight);
    pt_table_fact(t, "inclusive_share_of_all", "Inclusive share", PT_COLUMN_SHARE,
                  pt_share(above->weight, r->view->weight));
    pt_table_fact(t, "self_samples", "Self samples", PT_COLUMN_COUNT, (double)samples);
    pt_table_fact(t, "self_weight", "Self weight", PT_COLUMN_NUMBER, weight);
    pt_table_fact(t, "self_share_of_all", "Self share", PT_COLUMN_SHARE,
                  pt_share(weight, r->view->weight));
}

bool pt_report_callgraph(pt_stacks_report_t *r, const char *function, uint64_t depth, uint64_t top,
                         bool *ret_found) {
    pt_chains_t above = {.chain = NULL}, below = {.chain = NULL};
    pt_tally_t self = {NULL, 0};
    uint32_t name = pt_stack_name(r->view, function);
    bool known = name != PT_PROFILE_NONE;
    bool ok = !known || (pt_chains_above(r->view, name, depth, &above) &&
                         pt_chains_below(r->view, name, depth, &below) &&
                         pt_tally_self_names(r->view, &self));
    r->too_long |= above.too_long || below.too_long;
    *ret_found = ok && above.count > 0;
    const pt_tally_row_t *ends = *ret_found ? pt_tally_find(&self, name) : NULL;
    size_t shown = pt_rows_shown(above.count, top);
    put_graph_facts(r, function, &above, ends);
    pt_table_t *t = chain_table(r, "callgraph_callers", true, false);
    if (*ret_found) {
        put_heading(r, "Call graph of", function, depth);
        put_graph_text(r, &above, ends);
        perftrace__strbuf_printf(&r->text, "--- Callers (%zu distinct chains, top %zu) ---\n\n",
                                 above.count, shown);
    }
    for (size_t i = 0; *ret_found && i < shown; i++) {
        put_chain(r, t, &above, i + 1, &above.chain[i], MARK_LAST, function);
    }
    t = chain_table(r, "callgraph_callees", true, false);
    if (*ret_found) {
        put_callees(r, t, &below, function, depth, top);
    }
    pt_tally_free(&self);
    pt_chains_free(&above);
    pt_chains_free(&below);
    return ok && !pt_stacks_report_failed(r);
}

bool pt_report_full(pt_stacks_report_t *r, uint64_t top) {
    pt_chains_t c;
    bool ok = pt_chains_full(r->view, &c);
    r->too_long |= c.too_long;
    pt_table_t *t = chain_table(r, "stacks", false, false);
    size_t shown = pt_rows_shown(c.count, top);
    perftrace__strbuf_printf(&r->text, "\n## Stacks by weight, top %zu of %zu\n\n", shown, c.count);
    for (size_t i = 0; ok && i < shown; i++) {
        const pt_chain_t *chain = &c.chain[i];
        perftrace__strbuf_printf(&r->text, "--- Stack #%zu: ", i + 1);
        put_sums(r, chain->samples, chain->weight);
        perftrace__strbuf_puts(&r->text, " (");
        put_share(r, chain->weight, r->view->weight, NULL);
        perftrace__strbuf_puts(&r->text, ") ---\n");
        put_frames(r, &c, chain, MARK_LAST, 4);
        put_row(r, t, &c, chain, -1, false);
    }
    pt_chains_free(&c);
    return ok && !pt_stacks_report_failed(r);
}
