/* stack_category.h: self weights put together by kind of function. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STACKS_STACK_CATEGORY_H
#define PERFTRACE_STACKS_STACK_CATEGORY_H
#include "json_scan.h"
#include "stack_tally.h"

#define PT_CATEGORY_NAMES 6 /* that are shown of one category */

/* Which category a function is of. */
typedef struct pt_categories {
    char **title;
    size_t count, cap;
    perftrace__hashmap_t of; /* function to category */
} pt_categories_t;

/* The built-in table. False without memory; free in every case, here and below. */
bool pt_categories_builtin(pt_categories_t *ret_categories);
/* An object {category: [function, ...]}: of a function named twice the later category counts. False
 * with ret_error set (of the JSON), or with code OK and *ret_problem set (static) when it is JSON
 * of another shape. */
bool pt_categories_parse(const char *text, size_t len, pt_categories_t *ret_categories,
                         perftrace__json_error_t *ret_error, const char **ret_problem);
void pt_categories_free(pt_categories_t *categories);

typedef struct pt_category_row {
    const char *title; /* the categories', or "Other" */
    double weight;
    uint32_t name[PT_CATEGORY_NAMES]; /* of the view, as they occur */
    size_t names;                     /* how many there are in all */
} pt_category_row_t;

typedef struct pt_category_table {
    pt_category_row_t *row; /* by weight, descending */
    size_t rows;
} pt_category_table_t;

/* Sums up a tally of frames. What is in no category is "Other", without names, where it weighs
 * anything. False without memory; free in every case. */
bool pt_category_sum(const pt_categories_t *categories, const pt_stack_view_t *view,
                     const pt_tally_t *self, pt_category_table_t *ret_table);
void pt_category_table_free(pt_category_table_t *table);

#endif
