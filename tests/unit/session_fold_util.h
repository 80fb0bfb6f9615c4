/* session_fold_util.h: what the tests of the fold share. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_SESSION_FOLD_UTIL_H
#define PERFTRACE_TESTS_SESSION_FOLD_UTIL_H

#include "session_fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLD_EPOCH 1760000000000000000ull /* 1760000000 s */
#define FOLD_MS    1000000ull
#define NO_ID      PERFTRACE__FOLD_NO_ID

enum { GENERATE, REWARD, TOOLCALL };

static inline perftrace__text_t text_of(const char *s) {
    return (perftrace__text_t){s, s ? strlen(s) : 0};
}

/* Rank 3, role actor, no run id. */
static inline perftrace__session_fold_t *fold_make(uint32_t threshold, uint32_t max_live) {
    const perftrace__fold_options_t options = {.rank = 3,
                                               .role = "actor",
                                               .epoch_ns = FOLD_EPOCH,
                                               .flush_threshold = threshold,
                                               .max_live = max_live};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    assert_non_null(f);
    return f;
}

static inline void fold_submit(perftrace__session_fold_t *f, int64_t session, int64_t task,
                               uint64_t ms) {
    assert_true(perftrace__session_fold_session(f, session, task, ms * FOLD_MS));
}

static inline void fold_begin(perftrace__session_fold_t *f, int64_t session, uint32_t phase,
                              uint64_t ms) {
    assert_true(
        perftrace__session_fold_phase_begin(f, session, phase, ms * FOLD_MS, text_of(NULL)));
}

static inline void fold_end(perftrace__session_fold_t *f, int64_t session, uint32_t phase,
                            uint64_t began_ms, uint64_t ms) {
    assert_true(perftrace__session_fold_phase_end(f, session, phase, began_ms * FOLD_MS,
                                                  ms * FOLD_MS, text_of(NULL)));
}

static inline void fold_finalize(perftrace__session_fold_t *f, int64_t session, uint64_t ms,
                                 const char *status, const char *reason) {
    assert_true(perftrace__session_fold_finalize(f, session, ms * FOLD_MS, text_of(status),
                                                 text_of(reason)));
}

static inline perftrace__fold_counts_t fold_counts(const perftrace__session_fold_t *f) {
    perftrace__fold_counts_t c;
    perftrace__session_fold_counts(f, &c);
    assert_true(c.sessions == c.live + c.written);
    assert_true(c.ready <= c.live);
    return c;
}

/* What a take gives, to be freed; "" for nothing. */
static inline char *fold_take_text(perftrace__session_fold_t *f, perftrace__fold_take_t what,
                                   uint64_t now_ms) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_true(perftrace__session_fold_take(f, what, now_ms * FOLD_MS, &out));
    char *text = strdup(perftrace__strbuf_cstr(&out));
    assert_non_null(text);
    perftrace__strbuf_free(&out);
    return text;
}

/* Takes everything, compares it with the lines, frees the fold. */
static inline void fold_expect(perftrace__session_fold_t *f, uint64_t now_ms, const char *lines) {
    char *text = fold_take_text(f, PERFTRACE__TAKE_ALL, now_ms);
    assert_string_equal(text, lines);
    free(text);
    assert_int_equal(fold_counts(f).live, 0);
    assert_int_equal(fold_counts(f).tasks, 0);
    perftrace__session_fold_free(f);
}

/* The session ids of the lines of a text as "5 7 ". */
static inline const char *fold_ids(const char *lines) {
    static char ids[4096];
    size_t n = 0;
    static const char key[] = "\"session_id\": ";
    ids[0] = '\0';
    for (const char *p = lines; (p = strstr(p, key)) != NULL;) {
        p += sizeof(key) - 1;
        n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%ld ", strtol(p, NULL, 10));
        assert_true(n < sizeof(ids));
    }
    return ids;
}

/* Takes what is due or ready; the ids must be these. */
static inline void fold_expect_ids(perftrace__session_fold_t *f, perftrace__fold_take_t what,
                                   const char *ids) {
    char *text = fold_take_text(f, what, 0);
    assert_string_equal(fold_ids(text), ids);
    free(text);
}

#endif
