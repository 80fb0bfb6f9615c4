/* test_drain_merge.c: many lanes in one order of time. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LANES 70
#define MOST  300 /* records of a lane */

/* A record whose site id is its number within the lane. */
static uint32_t put(uint64_t *at, bool scope, uint64_t time, uint32_t number) {
    uint32_t n = scope ? 3 : 2;
    at[0] = PERFTRACE_I_RECORD_HEAD(scope ? PERFTRACE_I_KIND_SCOPE : PERFTRACE_I_KIND_INSTANT, 0, n,
                                    number);
    at[1] = scope ? time / 2 : time;
    at[n - 1] = time;
    return n;
}

typedef struct lanes {
    uint64_t *words[LANES];
    uint32_t counts[LANES]; /* records that can be read */
    bool damaged[LANES];
    perftrace__lane_t lane[LANES];
    uint32_t n;
} lanes_t;

static void make(lanes_t *l, uint64_t *seed, uint32_t n, uint32_t spread, bool damage) {
    memset(l, 0, sizeof(*l));
    l->n = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t records = base_random_below(seed, MOST);
        uint64_t *w = malloc((size_t)MOST * 3 * sizeof(*w));
        uint64_t time = base_random_below(seed, spread);
        uint32_t len = 0;
        uint32_t bad = damage && i % 3 == 1 && records ? base_random_below(seed, records) : records;
        for (uint32_t k = 0; k < records; k++) {
            /* Bursts: mostly close together, at times far. */
            time += base_random_below(seed, 10) ? base_random_below(seed, 3)
                                                : base_random_below(seed, spread);
            uint32_t at = len;
            len += put(w + len, base_random_below(seed, 2), time, k);
            if (k == bad) {
                w[at] = base_random_below(seed, 2) ? 0 : w[at] | 0xFFFF0000u;
            }
        }
        l->words[i] = realloc(w, len ? len * sizeof(*w) : 1); /* exact */
        l->counts[i] = bad;
        l->damaged[i] = bad < records;
        l->lane[i] = (perftrace__lane_t){.p = l->words[i], .end = l->words[i] + len, .slot = i};
    }
}

static void check(lanes_t *l) {
    uint32_t heap[LANES + 1];
    uint32_t seen[LANES] = {0};
    uint64_t last = 0;
    perftrace__merge_t m;
    perftrace__merge_begin(&m, l->lane, l->n, heap);
    for (perftrace__lane_t *lane; (lane = perftrace__merge_next(&m)) != NULL;) {
        uint64_t time;
        uint32_t n = perftrace__record_peek(lane->p, (uint64_t)(lane->end - lane->p), &time);
        assert_true(n > 0);
        assert_true(time >= last);
        last = time;
        assert_int_equal((uint32_t)(lane->p[0] >> 32), seen[lane->slot]);
        seen[lane->slot]++;
        perftrace__merge_advance(&m, lane, n);
    }
    for (uint32_t i = 0; i < l->n; i++) {
        assert_int_equal(seen[i], l->counts[i]);
        assert_int_equal(l->lane[i].damaged, l->damaged[i]);
        assert_ptr_equal(l->lane[i].p, l->lane[i].end);
        free(l->words[i]);
    }
}

static void the_output_is_sorted_and_complete(void **state) {
    (void)state;
    uint64_t seed = 30;
    static lanes_t l;
    for (int round = 0; round < 400; round++) {
        make(&l, &seed, base_random_below(&seed, LANES + 1), round % 2 ? 50 : 100000, false);
        check(&l);
    }
}

static void damage_of_one_lane_does_not_touch_the_others(void **state) {
    (void)state;
    uint64_t seed = 31;
    static lanes_t l;
    for (int round = 0; round < 400; round++) {
        make(&l, &seed, 1 + base_random_below(&seed, LANES), 1000, true);
        check(&l);
    }
}

static void equal_times_keep_the_order_of_the_lanes(void **state) {
    (void)state;
    uint64_t words[3][4];
    perftrace__lane_t lanes[3];
    uint32_t heap[3];
    for (uint32_t i = 0; i < 3; i++) {
        put(words[i], false, 7, 0);
        put(words[i] + 2, false, 7, 1);
        lanes[i] = (perftrace__lane_t){.p = words[i], .end = words[i] + 4, .slot = i};
    }
    perftrace__merge_t m;
    perftrace__merge_begin(&m, lanes, 3, heap);
    uint32_t n = 0;
    for (perftrace__lane_t *lane; (lane = perftrace__merge_next(&m)) != NULL; n++) {
        assert_int_equal(lane->slot, n / 2);
        perftrace__merge_advance(&m, lane, 2);
    }
    assert_int_equal(n, 6);
}

static void a_lane_can_be_given_up_by_the_reader(void **state) {
    (void)state;
    uint64_t a[4];
    uint64_t b[2];
    put(a, false, 1, 0);
    put(a + 2, false, 3, 1);
    put(b, false, 2, 0);
    perftrace__lane_t lanes[2] = {{.p = a, .end = a + 4}, {.p = b, .end = b + 2}};
    uint32_t heap[2];
    perftrace__merge_t m;
    perftrace__merge_begin(&m, lanes, 2, heap);
    assert_ptr_equal(perftrace__merge_next(&m), &lanes[0]);
    perftrace__merge_advance(&m, &lanes[0], 0);
    assert_true(lanes[0].damaged);
    assert_ptr_equal(perftrace__merge_next(&m), &lanes[1]);
    perftrace__merge_advance(&m, &lanes[1], 2);
    assert_null(perftrace__merge_next(&m));
    perftrace__merge_begin(&m, lanes, 0, heap);
    assert_null(perftrace__merge_next(&m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_is_sorted_and_complete),
        cmocka_unit_test(damage_of_one_lane_does_not_touch_the_others),
        cmocka_unit_test(equal_times_keep_the_order_of_the_lanes),
        cmocka_unit_test(a_lane_can_be_given_up_by_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
