/* stacks_lines.h: a model and a view of it out of collapsed lines, for the tests of tools/stacks.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TEST_STACKS_LINES_H
#define PERFTRACE_TEST_STACKS_LINES_H
#include "collapsed_read.h"
#include "stack_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A view points at its model: neither moves until both are freed. */
typedef struct seen {
    pt_profile_t p;
    pt_stack_view_t v;
} seen_t;

static inline void read_into(pt_profile_t *p, const char *lines) {
    const pt_collapsed_how_t how = {.leaves_only = false};
    pt_profile_notes_t *notes = calloc(1, sizeof *notes);
    assert_non_null(notes);
    pt_profile_init(p);
    pt_collapsed_read(p, lines, strlen(lines), &how, notes);
    free(notes);
    assert_false(p->failed);
}

static inline void see(seen_t *s, const char *lines, const char *filter) {
    read_into(&s->p, lines);
    assert_true(pt_stack_view_make(&s->p, filter, &s->v));
}

static inline void unsee(seen_t *s) {
    pt_stack_view_free(&s->v);
    pt_profile_free(&s->p);
}

#endif
