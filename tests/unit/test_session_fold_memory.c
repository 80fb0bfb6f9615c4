/* test_session_fold_memory.c: how much memory a fold takes, and what it does without.
 * SPDX-License-Identifier: MIT
 *
 * Linked with --wrap for malloc and its like, so that a chosen allocation fails. */
#include "json_scan.h"
#include "session_fold_util.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

/* Allocations to come until one fails; negative: none does. All that follow the first to fail fail,
 * too, while `lasting` is set. */
static long countdown = -1;
static bool lasting;

static bool fails(void) {
    if (countdown < 0) {
        return false;
    }
    if (countdown == 0) {
        countdown = lasting ? 0 : -1;
        return true;
    }
    countdown--;
    return false;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size) {
    return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

#define LIVE 100000

static void a_hundred_thousand_live_sessions_fit(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(256, 0);
    uint32_t phases[4] = {GENERATE, REWARD, TOOLCALL,
                          perftrace__session_fold_phase(f, text_of("verify"))};
    for (int64_t id = 0; id < LIVE; id++) {
        fold_submit(f, id, id / 4, (uint64_t)id);
    }
    uint64_t without = fold_counts(f).bytes;
    for (unsigned p = 0; p < 4; p++) {
        for (int64_t id = 0; id < LIVE; id++) {
            fold_begin(f, id, phases[p], (uint64_t)id + 10 * p);
            fold_end(f, id, phases[p], (uint64_t)id + 10 * p, (uint64_t)id + 10 * p + 5);
        }
    }
    perftrace__fold_counts_t c = fold_counts(f);
    print_message("bytes a session: %.1f, and %.1f a span\n", (double)without / LIVE,
                  (double)(c.bytes - without) / (4 * LIVE));
    assert_true(without <= 512ull * LIVE);
    assert_true(c.bytes - without <= 33ull * 4 * LIVE);
    assert_true(c.bytes <= 40ull * 1000 * 1000);
    assert_int_equal(c.live, LIVE);
    assert_int_equal(c.tasks, LIVE / 4);
    perftrace__session_fold_free(f);
}

static void a_long_run_takes_no_more_than_what_lives(void **state) {
    (void)state;
    perftrace__session_fold_t *f = fold_make(16, 0);
    uint64_t bytes = 0;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    for (int64_t id = 0; id < 300000; id++) {
        assert_true(perftrace__session_fold_task(f, id / 4, id / 64));
        fold_submit(f, id, id / 4, 1);
        fold_begin(f, id, GENERATE, 2);
        assert_true(perftrace__session_fold_counter(f, id, text_of("tokens"), 3));
        if (id >= 64) {
            fold_end(f, id - 64, GENERATE, 2, 3);
            fold_finalize(f, id - 64, 4, "rejected", "a reason that takes more than one cell");
        }
        if (id % 8 == 0) {
            perftrace__session_fold_tick(f);
            assert_true(perftrace__session_fold_take(f, PERFTRACE__TAKE_DUE, 0, &out));
            perftrace__strbuf_clear(&out);
        }
        if (id == 100000) {
            bytes = fold_counts(f).bytes;
        }
    }
    assert_int_equal(fold_counts(f).bytes, bytes);
    perftrace__strbuf_free(&out);
    perftrace__session_fold_free(f);
}

/* A little of everything; returns how many calls said that there was no memory. */
static unsigned use_all(perftrace__session_fold_t *f, perftrace__strbuf_t *out) {
    static const char reason[] = "a reason that takes more than one cell";
    static char payload[3000] = "\"text\": \"";
    memset(payload + 9, 'x', sizeof(payload) - 10);
    payload[sizeof(payload) - 1] = '"';
    const perftrace__text_t payloads[2] = {text_of("\"a\": 1"), {payload, sizeof(payload)}};
    unsigned failed = 0;
    failed += !perftrace__session_fold_declare(f, text_of("verify"), false, true);
    uint32_t verify = perftrace__session_fold_phase(f, text_of("verify"));
    for (int64_t id = 0; id < 150; id++) {
        perftrace__text_t p = payloads[id % 2];
        failed += !perftrace__session_fold_task(f, id / 4, 1);
        failed += !perftrace__session_fold_session(f, id, id / 4, 1);
        failed += !perftrace__session_fold_phase_begin(f, id, GENERATE, 2, p);
        failed += !perftrace__session_fold_phase_end(f, id, GENERATE, 2, 3, p);
        failed += !perftrace__session_fold_phase_end(f, id, verify, 4, 5, p);
        failed += !perftrace__session_fold_counter(f, id, text_of("tokens"), 5);
        if (id % 3 == 0) {
            failed += !perftrace__session_fold_finalize(f, id, 6, text_of("some other status"),
                                                        text_of(reason));
        }
        failed += !perftrace__session_fold_skip(f, id + 10000000);
    }
    failed += !perftrace__session_fold_finalize_task(f, 3, 7, text_of("some other status"),
                                                     text_of(reason));
    failed += !perftrace__session_fold_finalize_task(f, 1000, 7, text_of("some other status"),
                                                     text_of(reason));
    failed += !perftrace__session_fold_session(f, 5000, 1000, 2);
    failed += !perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, 10, out);
    return failed;
}

static void without_memory_it_counts_and_goes_on(void **state) {
    (void)state;
    unsigned failures = 0;
    for (int forever = 0; forever < 2; forever++) {
        for (long n = 0;; n += n < 150 ? 1 : 37) {
            perftrace__session_fold_t *f = fold_make(1, 0);
            perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
            lasting = forever;
            countdown = n;
            unsigned failed = use_all(f, &out);
            bool reached_all = countdown > 0;
            countdown = -1;
            failures += failed;
            assert_int_equal(fold_counts(f).no_memory, failed);
            /* What was not taken is still there, and lines are whole. */
            assert_true(perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, 10, &out));
            unsigned lines = 0;
            for (size_t at = 0; at < out.len; lines++) {
                const char *end = memchr(out.data + at, '\n', out.len - at);
                assert_non_null(end);
                size_t len = (size_t)(end - (out.data + at));
                assert_true(perftrace__json_check(out.data + at, len, NULL, NULL));
                at += len + 1;
            }
            assert_int_equal(fold_counts(f).live, 0);
            assert_int_equal(fold_counts(f).written, lines);
            if (!failed) {
                assert_int_equal(lines, 151);
            }
            perftrace__strbuf_free(&out);
            perftrace__session_fold_free(f);
            if (reached_all) {
                break;
            }
        }
    }
    assert_true(failures > 300);
}

static void a_fold_that_cannot_be_made_is_null(void **state) {
    (void)state;
    const perftrace__fold_options_t options = {.role = "actor", .run_id = "1"};
    perftrace__session_fold_t *f = NULL;
    unsigned failed = 0;
    for (long n = 0; !f; n++) {
        countdown = n;
        f = perftrace__session_fold_new(&options);
        failed += !f;
    }
    countdown = -1;
    assert_true(failed > 5);
    perftrace__session_fold_free(f);
    perftrace__session_fold_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_live_sessions_fit),
        cmocka_unit_test(a_long_run_takes_no_more_than_what_lives),
        cmocka_unit_test(without_memory_it_counts_and_goes_on),
        cmocka_unit_test(a_fold_that_cannot_be_made_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
