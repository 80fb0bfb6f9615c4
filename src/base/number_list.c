/* number_list.c: lists of numbers such as 1,3,5-7. SPDX-License-Identifier: MIT */
#include "number_list.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    return p;
}

/* Reads digits at *p and moves past them and the blanks around them. */
static bool take_number(const char **p, const char *end, int64_t *ret) {
    const char *s = skip_blanks(*p, end);
    const char *first = s;
    int64_t v = 0;
    for (; s < end && *s >= '0' && *s <= '9'; s++) {
        int digit = *s - '0';
        if (v > (INT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *p = skip_blanks(s, end);
    *ret = v;
    return s > first;
}

bool perftrace__number_range_parse(const char *text, size_t len, perftrace__number_range_t *ret) {
    const char *p = text;
    const char *end = text + len;
    perftrace__number_range_t r;
    if (!take_number(&p, end, &r.first)) {
        return false;
    }
    r.last = r.first;
    if (p < end && *p == '-') {
        p++;
        if (!take_number(&p, end, &r.last)) {
            return false;
        }
    }
    if (p != end || r.first > r.last) {
        return false;
    }
    *ret = r;
    return true;
}

bool perftrace__number_list_parse(perftrace__number_list_t *list, const char *text,
                                  const char **ret_bad) {
    const char *bad = NULL;
    bool ok = true;
    for (const char *p = text; ok && p; p = *p == ',' ? p + 1 : NULL) {
        size_t len = strcspn(p, ",");
        perftrace__number_range_t *more = realloc(list->item, (list->count + 1) * sizeof(*more));
        ok = more != NULL;
        if (ok) {
            list->item = more;
            ok = perftrace__number_range_parse(p, len, &more[list->count]);
            bad = ok ? NULL : p;
        }
        list->count += ok;
        p += len;
    }
    if (ret_bad) {
        *ret_bad = bad;
    }
    return ok;
}

static int by_first(const void *a, const void *b) {
    const perftrace__number_range_t *x = a;
    const perftrace__number_range_t *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

void perftrace__number_list_merge(perftrace__number_list_t *list) {
    if (list->count < 2) {
        return;
    }
    qsort(list->item, list->count, sizeof(*list->item), by_first);
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++) {
        perftrace__number_range_t *last = &list->item[kept];
        const perftrace__number_range_t *next = &list->item[i];
        if (last->last == INT64_MAX || next->first <= last->last + 1) {
            last->last = PT_MAX(last->last, next->last);
        } else {
            list->item[++kept] = *next;
        }
    }
    list->count = kept + 1;
}

bool perftrace__number_list_has(const perftrace__number_list_t *list, int64_t number) {
    for (size_t i = 0; i < list->count; i++) {
        if (number >= list->item[i].first && number <= list->item[i].last) {
            return true;
        }
    }
    return false;
}

void perftrace__number_list_free(perftrace__number_list_t *list) {
    if (list) {
        free(list->item);
        *list = (perftrace__number_list_t){NULL, 0};
    }
}
