/* stack_page.h: a flame graph as a page for a browser. SPDX-License-Identifier: MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_STACKS_STACK_PAGE_H
#define PERFTRACE_STACKS_STACK_PAGE_H
#include "stack_view.h"

typedef struct pt_stack_page {
    const char *title; /* what was read, for people; any bytes */
    const char *maker;
    size_t most_nodes; /* boxes of all threads together; where there are more, the lightest ones are
                          put into their callers, and the page says so */
} pt_stack_page_t;

/* Appends the page of a view: of each thread that is wanted, whatever its unit. False without
 * memory, or without the library that draws. */
bool pt_stack_page(const pt_stack_view_t *view, const pt_stack_page_t *page,
                   perftrace__strbuf_t *out);
/* The data alone, as JSON. False without memory. */
bool pt_stack_page_data(const pt_stack_view_t *view, const pt_stack_page_t *page,
                        perftrace__strbuf_t *out);
/* Whether the build has found the library, and how to get it. */
bool pt_stack_page_possible(void);
const char *pt_stack_page_how(void);

#endif
