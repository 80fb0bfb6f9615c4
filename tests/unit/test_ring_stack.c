/* test_ring_stack.c: open scopes of a thread that is at work. SPDX-License-Identifier: MIT
 *
 * The entries that the thread here makes tell what lies below them, so that a stack that never was
 * cannot pass for one. */
#include "atomics.h"
#include "base_random.h"
#include "slot_stack.h"

#include <perftrace/inline.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LOOKS 3000000

static perftrace__slot_t slot;
static uint32_t stop;

/* Site and name of an entry follow from its own start and that of the entry below. */
static uint32_t site_of(uint64_t start) {
    return (uint32_t)(start * 7 + 1);
}

static uint32_t name_of(uint64_t start, uint64_t below) {
    return (uint32_t)(start * 13 + below * 5);
}

/* Begins and ends scopes as inline code does, some of the ends without a record, as where the ring
 * is full: then the word returns to what it was. */
static void *work(void *arg) {
    perftrace_i_thread_t *t = &perftrace_i_thread;
    uint64_t random = 42, clock = 1, starts[PERFTRACE_I_MAX_DEPTH];
    (void)arg;
    t->slot = &slot.hot;
    while (!pt_load_relaxed(&stop)) {
        uint32_t depth = (uint8_t)t->word;
        uint64_t dice = base_random(&random);
        clock++;
        if (depth == 0 || (depth < 6 && dice % 2 == 0)) {
            starts[depth] = clock;
            perftrace_i_open_set(perftrace_i_open_at(t->slot, depth), clock, site_of(clock),
                                 name_of(clock, depth ? starts[depth - 1] : 0));
            perftrace_i_publish(t, t->word + 1);
        } else if (dice % 3 == 0) {
            perftrace_i_publish(t, t->word - 1);
        } else {
            perftrace_i_publish(t, t->word + (3u << 8) - 1);
        }
    }
    return NULL;
}

static void check(const perftrace__slot_stack_t *s) {
    uint64_t below = 0;
    assert_true(s->depth <= 6);
    for (uint32_t i = 0; i < s->depth; i++) {
        const perftrace_i_open_t *e = &s->open[i];
        assert_true(e->start > below);
        assert_int_equal(e->site, site_of(e->start));
        assert_int_equal(e->name, name_of(e->start, below));
        below = e->start;
    }
}

static void no_stack_is_shown_that_never_was(void **state) {
    (void)state;
    pthread_t thread;
    perftrace__slot_stack_t s;
    uint64_t whole = 0, last = 0, others = 0;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    for (int i = 0; i < LOOKS; i++) {
        perftrace__slot_stack(&slot, i % 2 ? 100 : 1, &s);
        check(&s);
        assert_true(s.word >> 8 >= last >> 8);
        others += s.word != last;
        last = s.word;
        whole += s.whole;
    }
    pt_store_relaxed(&stop, 1);
    pthread_join(thread, NULL);
    assert_true(whole > 0);
    assert_true(others > 1); /* it was at work */
}

static void a_stack_at_rest_is_whole(void **state) {
    (void)state;
    perftrace__slot_stack_t s;
    perftrace__slot_t *quiet = calloc(1, sizeof(*quiet));
    assert_non_null(quiet);
    for (uint32_t i = 0; i < PERFTRACE_I_MAX_DEPTH; i++) {
        quiet->open[i] = (perftrace_i_open_t){100 + i, i % 3, i};
    }
    quiet->hot.word = (uint64_t)77 << 8 | PERFTRACE_I_MAX_DEPTH;
    perftrace__slot_stack(quiet, 1, &s);
    assert_true(s.whole);
    assert_int_equal(s.depth, PERFTRACE_I_MAX_DEPTH);
    assert_memory_equal(s.open, quiet->open, sizeof(quiet->open));
    assert_int_equal(s.word >> 8, 77);
    free(quiet);
}

static void an_impossible_depth_is_none(void **state) {
    (void)state;
    perftrace__slot_stack_t s;
    perftrace__slot_t *bad = malloc(sizeof(*bad));
    assert_non_null(bad);
    memset(bad, 0xFF, sizeof(*bad));
    perftrace__slot_stack(bad, 0, &s);
    assert_int_equal(s.depth, 0);
    bad->hot.word = PERFTRACE_I_MAX_DEPTH + 1;
    perftrace__slot_stack(bad, 3, &s);
    assert_int_equal(s.depth, 0);
    free(bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_stack_is_shown_that_never_was),
        cmocka_unit_test(a_stack_at_rest_is_whole),
        cmocka_unit_test(an_impossible_depth_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
