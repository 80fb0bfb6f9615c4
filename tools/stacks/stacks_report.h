/* stacks_report.h: what a profile says, as Markdown and as tables for programs.
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACKS_REPORT_H
#define PERFTRACE_STACKS_STACKS_REPORT_H
#include "markdown.h"
#include "profile_load.h"
#include "stack_category.h"
#include "stack_chain.h"
#include "stack_view.h"
#include "table.h"

/* Both forms grow together. */
typedef struct pt_stacks_report {
    const pt_stack_view_t *view;
    perftrace__strbuf_t text;
    pt_report_t tables;
    bool too_long; /* stacks could not be shown: see pt_chains_t */
} pt_stacks_report_t;

void pt_stacks_report_free(pt_stacks_report_t *r);
/* Whether memory ran out in it. */
bool pt_stacks_report_failed(const pt_stacks_report_t *r);

/* A weight with its unit: "2.31s", "12", "1.50 B". */
void pt_weight_put(perftrace__strbuf_t *out, double weight, pt_profile_unit_t unit);
/* The same as the next cell of a table; change: with a plus sign where it grew. */
void pt_weight_cell(pt_markdown_t *m, double weight, pt_profile_unit_t unit, bool change);
/* How many of so many rows are shown; top 0: all. */
static inline size_t pt_rows_shown(size_t rows, uint64_t top) {
    return top > 0 && top < rows ? (size_t)top : rows;
}

/* What is looked at: inputs, filter (NULL: none), threads, samples, weight. */
void pt_report_head(pt_stacks_report_t *r, const char *const *input, size_t inputs,
                    const char *filter);
/* Each appends a section; false without memory. top 0: all. */
bool pt_report_threads(pt_stacks_report_t *r);
bool pt_report_self(pt_stacks_report_t *r, const pt_tally_t *self, uint64_t top);
bool pt_report_categories(pt_stacks_report_t *r, const pt_category_table_t *table);
/* Of functions by name, in a comma list that is not trimmed: those that are missing come last. */
bool pt_report_inclusive_of(pt_stacks_report_t *r, const pt_tally_t *inclusive, const char *list);
bool pt_report_inclusive(pt_stacks_report_t *r, const pt_tally_t *inclusive, uint64_t top);
/* *ret_found: whether the function occurs in any stack. */
bool pt_report_callers(pt_stacks_report_t *r, const char *function, uint64_t depth, uint64_t top,
                       bool *ret_found);
bool pt_report_callgraph(pt_stacks_report_t *r, const char *function, uint64_t depth, uint64_t top,
                         bool *ret_found);
bool pt_report_full(pt_stacks_report_t *r, uint64_t top);
/* What the inputs are, and their threads. */
bool pt_report_summary(pt_stacks_report_t *r, const char *const *input,
                       const pt_profile_source_t *source, size_t inputs);

#endif
