/* test_profiler_ranks.c: options of two roles as one. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

/* "off", "all", "default" or a list. */
static perftrace_profiler_options_t options(const char *ranks) {
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    o.back_ends = "self,cuda";
    o.enable = strcmp(ranks, "off") != 0;
    o.all_ranks = strcmp(ranks, "all") == 0;
    o.ranks = ranks[0] >= '0' && ranks[0] <= '9' ? ranks : NULL;
    return o;
}

static const char *text_of(const perftrace_profiler_options_t *o) {
    return !o->enable ? "off" : o->all_ranks ? "all" : o->ranks ? o->ranks : "default";
}

static void ranks_are_sets(void **state) {
    (void)state;
    static const struct {
        const char *a, *b, *either, *both;
    } cases[] = {
        {"off", "off", "off", "off"},
        {"off", "all", "all", "off"},
        {"off", "3", "3", "off"},
        {"off", "default", "0", "off"},
        {"all", "all", "all", "all"},
        {"all", "3,1", "all", "1,3"},
        {"all", "default", "all", "0"},
        {"default", "default", "default", "default"},
        {"default", "3", "0,3", "off"},
        {"default", "0-2", "0-2", "0"},
        {"1,3,5-7", "2,6-9", "1-3,5-9", "6-7"},
        {"5-7,1", "1", "1,5-7", "1"},
        {"1-2", "3-4", "1-4", "off"},
        {"0-9,20-29", "5-24", "0-29", "5-9,20-24"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int swap = 0; swap < 2; swap++) {
            const perftrace_profiler_options_t a = options(swap ? cases[i].b : cases[i].a);
            const perftrace_profiler_options_t b = options(swap ? cases[i].a : cases[i].b);
            perftrace_profiler_options_t ret = PERFTRACE_PROFILER_OPTIONS_INIT;
            char ranks[64];
            assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, sizeof(ranks)),
                             0);
            assert_string_equal(text_of(&ret), cases[i].either);
            assert_int_equal(
                perftrace_profiler_options_intersect(&a, &b, &ret, ranks, sizeof(ranks)), 0);
            assert_string_equal(text_of(&ret), cases[i].both);
        }
    }
}

/* Each rank profiles by the combined options exactly when the two say so. */
static void every_rank_decides_as_the_sets_do(void **state) {
    (void)state;
    static const char *const texts[] = {"off", "all", "default", "0", "2-4", "1,3,8-9", "9,0-1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
            perftrace_profiler_options_t both[2];
            char ranks[2][64];
            const perftrace_profiler_options_t a = options(texts[i]);
            const perftrace_profiler_options_t b = options(texts[j]);
            both[0].struct_size = both[1].struct_size = sizeof(both[0]);
            assert_int_equal(perftrace_profiler_options_union(&a, &b, &both[0], ranks[0], 64), 0);
            assert_int_equal(perftrace_profiler_options_intersect(&a, &b, &both[1], ranks[1], 64),
                             0);
            for (int rank = 0; rank < 11; rank++) {
                int on[4];
                const perftrace_profiler_options_t *const given[4] = {&a, &b, &both[0], &both[1]};
                for (int k = 0; k < 4; k++) {
                    perftrace_profiler_options_t o = *given[k];
                    o.back_ends = NULL;
                    o.callback = &book_calls;
                    o.dir = dir;
                    o.name.rank = rank;
                    perftrace_profiler_t *p = book_open(&o);
                    const int starts = book.starts;
                    perftrace_profiler_start(p, NULL);
                    on[k] = book.starts - starts;
                    perftrace_profiler_close(p);
                }
                assert_int_equal(on[2], on[0] || on[1]);
                assert_int_equal(on[3], on[0] && on[1]);
            }
        }
    }
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    perftrace_profiler_options_t a = options("1,3");
    perftrace_profiler_options_t b = options("2");
    perftrace_profiler_options_t ret = PERFTRACE_PROFILER_OPTIONS_INIT;
    char ranks[16];
    b.back_ends = "cuda, self"; /* the same ones */
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, sizeof(ranks)), 0);
    assert_string_equal(ret.back_ends, "self,cuda");
    b.back_ends = "cuda";
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    b.back_ends = a.back_ends;
    b.callback = &book_calls;
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    perftrace_profiler_back_end_t copy = book_calls;
    a.callback = &copy;
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, sizeof(ranks)), 0);
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, 3),
                     PERFTRACE_ERR_TOO_LONG);
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, ranks, 4), 0); /* "1-3" */
    b.ranks = "2-1";
    assert_int_equal(perftrace_profiler_options_intersect(&a, &b, &ret, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    b.enable = 0; /* wrong all the same */
    assert_int_equal(perftrace_profiler_options_intersect(&a, &b, &ret, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    b = a;
    assert_int_equal(perftrace_profiler_options_union(NULL, &b, &ret, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_options_union(&a, &b, NULL, ranks, sizeof(ranks)),
                     PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_profiler_options_union(&a, &b, &ret, NULL, 0),
                     PERFTRACE_ERR_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_sets),
        BOOK_CASE(every_rank_decides_as_the_sets_do),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
