/* number_ranges.h: lists such as 0,8-9, under the names of the tools. SPDX-License-Identifier: MIT
 *
 * The library reads the same lists (number_list.h); here is nothing but names. */
#ifndef PERFTRACE_COMMON_NUMBER_RANGES_H
#define PERFTRACE_COMMON_NUMBER_RANGES_H

#include "number_list.h"

typedef perftrace__number_range_t pt_number_range_t;
typedef perftrace__number_list_t pt_number_ranges_t;

static inline bool pt_number_range_parse(const char *text, size_t len, pt_number_range_t *ret) {
    return perftrace__number_range_parse(text, len, ret);
}

/* False for a text that is no list, or without memory. */
static inline bool pt_number_ranges_parse(pt_number_ranges_t *ranges, const char *text) {
    return perftrace__number_list_parse(ranges, text, NULL);
}

static inline bool pt_number_ranges_has(const pt_number_ranges_t *ranges, int64_t number) {
    return perftrace__number_list_has(ranges, number);
}

static inline void pt_number_ranges_free(pt_number_ranges_t *ranges) {
    perftrace__number_list_free(ranges);
}

#endif
