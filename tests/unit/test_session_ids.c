/* test_session_ids.c: the table of ids and its map against plain arrays. SPDX-License-Identifier:
 * MIT
 */
#include "base_random.h"
#include "session_ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS 600

static void the_map_holds_what_an_array_would_hold(void **state) {
    (void)state;
    perftrace__session_map_t m = {NULL, 0, 0, 0};
    uint32_t there[KEYS] = {0};
    uint64_t seed = 3;
    uint32_t count = 0;
    for (int i = 0; i < 300000; i++) {
        /* Grows and shrinks in turns. */
        bool adding = base_random_below(&seed, 100) < (i / 20000 % 2 ? 30u : 70u);
        uint32_t k = base_random_below(&seed, KEYS);
        uint64_t key = k % 3 ? k : (uint64_t)k << 40;
        assert_int_equal(perftrace__session_map_get(&m, key), there[k]);
        if (adding && !there[k]) {
            there[k] = 1 + base_random_below(&seed, 1000);
            assert_true(perftrace__session_map_put(&m, key, there[k]));
            count++;
        } else if (!adding && there[k]) {
            perftrace__session_map_remove(&m, key);
            there[k] = 0;
            count--;
        }
        assert_int_equal(m.count, count);
    }
    perftrace__session_map_free(&m);
    assert_int_equal(perftrace__session_map_get(&m, 1), 0);
}

static void the_map_gives_memory_back(void **state) {
    (void)state;
    perftrace__session_map_t m = {NULL, 0, 0, 0};
    for (uint64_t k = 0; k < 100000; k++) {
        assert_true(perftrace__session_map_put(&m, k, 1));
    }
    for (uint64_t k = 0; k < 100000; k++) {
        perftrace__session_map_remove(&m, k);
    }
    assert_true(perftrace__session_map_bytes(&m) < 10000);
    perftrace__session_map_free(&m);
}

#define IDS 20000

static void ids_are_fresh_then_live_then_done(void **state) {
    (void)state;
    perftrace__session_ids_t ids = PERFTRACE__SESSION_IDS_INIT;
    static uint32_t model[IDS]; /* as the table says it */
    memset(model, 0, sizeof(model));
    uint64_t seed = 9;
    for (uint32_t i = 0; i < 200000; i++) {
        /* Around a window that moves, sometimes anywhere. */
        uint32_t window = i / 11;
        uint32_t k = base_random_below(&seed, 50) ? window + base_random_below(&seed, 700)
                                                  : base_random_below(&seed, IDS);
        k %= IDS;
        assert_int_equal(perftrace__session_ids_find(&ids, k), model[k]);
        if (model[k] == PERFTRACE__IDS_FRESH) {
            if (base_random_below(&seed, 30) == 0) {
                assert_true(perftrace__session_ids_skip(&ids, k));
                model[k] = PERFTRACE__IDS_SKIPPED;
            } else {
                model[k] = 1 + k;
                assert_true(perftrace__session_ids_add(&ids, k, model[k]));
            }
        } else if (model[k] < PERFTRACE__IDS_SKIPPED) {
            perftrace__session_ids_done(&ids, k);
            model[k] = PERFTRACE__IDS_DONE;
        }
    }
    for (uint32_t k = 0; k < IDS; k++) {
        assert_int_equal(perftrace__session_ids_find(&ids, k), model[k]);
    }
    perftrace__session_ids_free(&ids);
}

static void use(perftrace__session_ids_t *ids, uint64_t id) {
    assert_int_equal(perftrace__session_ids_find(ids, id), PERFTRACE__IDS_FRESH);
    assert_true(perftrace__session_ids_add(ids, id, 7));
    perftrace__session_ids_done(ids, id);
    assert_int_equal(perftrace__session_ids_find(ids, id), PERFTRACE__IDS_DONE);
}

static void what_is_done_in_order_takes_no_memory(void **state) {
    (void)state;
    perftrace__session_ids_t ids = PERFTRACE__SESSION_IDS_INIT;
    use(&ids, 0);
    uint64_t bytes = perftrace__session_ids_bytes(&ids);
    for (uint64_t id = 1; id < 1000000; id++) {
        use(&ids, id);
    }
    assert_int_equal(perftrace__session_ids_bytes(&ids), bytes);
    assert_int_equal(ids.map.count, 1000000 % 64 != 0);
    assert_int_equal(perftrace__session_ids_find(&ids, 5), PERFTRACE__IDS_DONE);
    perftrace__session_ids_free(&ids);
}

/* One session that lives for ever, ids that never come, an id from nowhere. */
static void memory_is_bounded_whatever_stays_behind(void **state) {
    (void)state;
    perftrace__session_ids_t ids = PERFTRACE__SESSION_IDS_INIT;
    assert_true(perftrace__session_ids_add(&ids, 0, 77));
    assert_true(perftrace__session_ids_add(&ids, 1ull << 62, 78));
    perftrace__session_ids_done(&ids, 1ull << 62);
    const uint64_t last = 3000000;
    uint64_t most = 0;
    for (uint64_t id = 1; id < last; id++) {
        if (id % 100 != 13) { /* its events were lost */
            use(&ids, id);
        }
        most = PT_MAX(most, perftrace__session_ids_bytes(&ids));
    }
    assert_true(most < 3500000);
    assert_true(ids.dead <= PERFTRACE__IDS_DEAD_PAGES);
    assert_int_equal(perftrace__session_ids_find(&ids, 0), 77);
    /* A lost one of not so long ago may still come; one of long ago counts as done. */
    assert_int_equal(perftrace__session_ids_find(&ids, last - 87), PERFTRACE__IDS_FRESH);
    assert_int_equal(perftrace__session_ids_find(&ids, 113), PERFTRACE__IDS_DONE);
    assert_int_equal(perftrace__session_ids_find(&ids, 1ull << 62), PERFTRACE__IDS_DONE);
    perftrace__session_ids_done(&ids, 0);
    assert_int_equal(perftrace__session_ids_find(&ids, 0), PERFTRACE__IDS_DONE);
    assert_int_equal(perftrace__session_ids_find(&ids, 13), PERFTRACE__IDS_DONE);
    perftrace__session_ids_free(&ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_holds_what_an_array_would_hold),
        cmocka_unit_test(the_map_gives_memory_back),
        cmocka_unit_test(ids_are_fresh_then_live_then_done),
        cmocka_unit_test(what_is_done_in_order_takes_no_memory),
        cmocka_unit_test(memory_is_bounded_whatever_stays_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
