/* number_ranges.h: lists such as 0,8-9. SPDX-License-Identifier: MIT
 *
 * Not thread-safe while it is filled. */
#ifndef PERFTRACE_COMMON_NUMBER_RANGES_H
#define PERFTRACE_COMMON_NUMBER_RANGES_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_number_range {
    int64_t first, last; /* both belong to it */
} pt_number_range_t;

typedef struct pt_number_ranges {
    pt_number_range_t *item;
    size_t count;
} pt_number_ranges_t;

/* "A" or "A-B" in text[0..len), 0 <= A <= B; false (and *ret undefined) for anything else. Pure. */
bool pt_number_range_parse(const char *text, size_t len, pt_number_range_t *ret);
/* Adds the ranges of a list, parted by commas. False for a text that is none, or without memory. */
bool pt_number_ranges_parse(pt_number_ranges_t *ranges, const char *text);
bool pt_number_ranges_has(const pt_number_ranges_t *ranges, int64_t number);
void pt_number_ranges_free(pt_number_ranges_t *ranges); /* accepts NULL; empty and usable again */

#endif
