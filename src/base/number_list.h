/* number_list.h: lists of numbers such as 1,3,5-7. SPDX-License-Identifier: MIT
 *
 * Not thread-safe while it is filled. */
#ifndef PERFTRACE_BASE_NUMBER_LIST_H
#define PERFTRACE_BASE_NUMBER_LIST_H

#include "compiler.h"

#include <stdbool.h>

typedef struct perftrace__number_range {
    int64_t first, last; /* both belong to it */
} perftrace__number_range_t;

typedef struct perftrace__number_list {
    perftrace__number_range_t *item;
    size_t count;
} perftrace__number_list_t;

/* "A" or "A-B" in text[0..len), decimal, 0 <= A <= B <= INT64_MAX, blanks around the numbers
 * ignored; false (and *ret as it was) for anything else. Pure. */
bool perftrace__number_range_parse(const char *text, size_t len, perftrace__number_range_t *ret);

/* Adds the ranges of a list, parted by commas, in the order of the text. False for a text that is
 * none (*ret_bad, which may be NULL, is where), or without memory (*ret_bad NULL). */
bool perftrace__number_list_parse(perftrace__number_list_t *list, const char *text,
                                  const char **ret_bad);
/* Sorts the ranges and joins those that overlap or touch. */
void perftrace__number_list_merge(perftrace__number_list_t *list);
bool perftrace__number_list_has(const perftrace__number_list_t *list, int64_t number);
/* Accepts NULL; empty and usable again. */
void perftrace__number_list_free(perftrace__number_list_t *list);

#endif
