/* number_ranges.c: lists such as 0,8-9. SPDX-License-Identifier: MIT */
#include "number_ranges.h"

#include "human.h"

#include <stdlib.h>
#include <string.h>

bool pt_number_range_parse(const char *text, size_t len, pt_number_range_t *ret) {
    char part[64];
    uint64_t first, last;
    if (len >= sizeof part) {
        return false;
    }
    memcpy(part, text, len);
    part[len] = '\0';
    char *dash = strchr(part, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!pt_parse_uint64(part, &first) || first > INT64_MAX) {
        return false;
    }
    last = first;
    if (dash != NULL && (!pt_parse_uint64(dash + 1, &last) || last > INT64_MAX)) {
        return false;
    }
    *ret = (pt_number_range_t){(int64_t)first, (int64_t)last};
    return first <= last;
}

bool pt_number_ranges_parse(pt_number_ranges_t *r, const char *text) {
    for (const char *p = text; p != NULL; p = *p == ',' ? p + 1 : NULL) {
        size_t len = strcspn(p, ",");
        pt_number_range_t *more = realloc(r->item, (r->count + 1) * sizeof *more);
        if (more == NULL) {
            return false;
        }
        r->item = more;
        if (!pt_number_range_parse(p, len, &more[r->count])) {
            return false;
        }
        r->count++;
        p += len;
    }
    return true;
}

bool pt_number_ranges_has(const pt_number_ranges_t *r, int64_t number) {
    for (size_t i = 0; i < r->count; i++) {
        if (number >= r->item[i].first && number <= r->item[i].last) {
            return true;
        }
    }
    return false;
}

void pt_number_ranges_free(pt_number_ranges_t *r) {
    if (r != NULL) {
        free(r->item);
        memset(r, 0, sizeof *r);
    }
}
