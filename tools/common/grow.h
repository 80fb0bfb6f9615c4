/* grow.h: arrays that grow. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_COMMON_GROW_H
#define PERFTRACE_COMMON_GROW_H
#include "compiler.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From here on memory is asked for in large pages: a page fault costs more than filling the page.
 */
#define PT_HUGE_FROM ((size_t)4 << 20)

/* Tells the system that memory (fresh from malloc) will be used as a whole. Returns it. */
static inline void *pt_huge(void *memory, size_t size) {
    size_t page = (size_t)2 << 20, at = (size_t)memory;
    size_t from = (at + page - 1) & ~(page - 1), end = (at + size) & ~(page - 1);
    if (memory != NULL && size >= PT_HUGE_FROM && end > from) {
        (void)madvise((char *)memory + (from - at), end - from, MADV_HUGEPAGE);
    }
    return memory;
}

/* Room for `more` elements of `size` bytes behind the first `count`; the capacity at least doubles.
 * False without memory, with nothing changed. */
static inline bool pt_grow(void **array, size_t size, size_t count, size_t more, size_t *cap) {
    if (PT_LIKELY(count + more <= *cap)) {
        return true;
    }
    size_t want = PT_MAX(*cap * 2, count + more);
    want = PT_MAX(want, (size_t)64);
    void *grown = want <= SIZE_MAX / size ? realloc(*array, want * size) : NULL;
    if (grown == NULL) {
        return false;
    }
    *array = pt_huge(grown, want * size);
    *cap = want;
    return true;
}

/* PT_GROW(struct pointer, array, count, cap, more): for the usual names of fields. */
#define PT_GROW(s, array, count, cap, more)                                                        \
    pt_grow((void **)&(s)->array, sizeof *(s)->array, (s)->count, (more), &(s)->cap)

#endif
