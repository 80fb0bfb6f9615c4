/* sessions_util.h: text to a model, for the tests of sessions. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_SESSIONS_UTIL_H
#define PERFTRACE_TESTS_SESSIONS_UTIL_H
#include "session_batch.h"
#include "session_finish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A text with the pad that readers need. Free with free(). */
static inline char *padded(const char *text, size_t len) {
    char *copy = calloc(1, len + PT_SESSION_PAD);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

/* Several files, as whole texts, into a finished model; problems are counted in the book. */
static inline void load_files(pt_session_model_t *m, pt_problems_t *book, const char *const *file,
                              size_t files, bool lines) {
    pt_session_batch_t batch = {.failed = false};
    uint64_t overflow;
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < files; i++) {
        size_t len = strlen(file[i]);
        char *text = padded(file[i], len);
        unsigned number = pt_problems_add_file(book, "file");
        pt_session_batch_read(&batch, text, len, lines);
        assert_false(batch.failed);
        assert_true(pt_session_model_append(m, &batch, (uint16_t)number, 1, &overflow));
        for (unsigned kind = 0; kind < PT_SESSION_PROBLEM_COUNT; kind++) {
            const pt_batch_problem_t *p = &batch.problem[kind];
            pt_problems_add_many(book, kind, number, 1 + p->line, p->offset, p->detail, p->count);
        }
        free(text);
    }
    pt_session_batch_free(&batch);
    assert_true(pt_session_model_finish(m, book));
}

static inline pt_problems_t *new_book(void) {
    pt_problems_t *book = pt_problems_new(pt_session_problem_kinds(), PT_SESSION_PROBLEM_COUNT);
    assert_non_null(book);
    return book;
}

/* Whether a name of the model is this text. */
static inline bool name_is(const pt_session_model_t *m, pt_names_t kind, uint32_t id,
                           const char *text) {
    pt_name_t name = pt_session_name(m, kind, id);
    return name.len == strlen(text) && memcmp(name.p, text, name.len) == 0;
}

#endif
