/* test_trace_touch.c: scopes that nest still do for readers that compute with doubles.
 * SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "lane_set.h"
#include "scope_plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_SCOPES 400U

typedef struct scope {
    int64_t start, end;
    size_t parent; /* index, or SIZE_MAX */
    pt_touch_t touch;
    double ts, dur; /* as read from the texts */
} scope_t;

static double read_text(char *text, const char *end) {
    char *stop;
    assert_true(end > text + 4 && end < text + PT_SCOPE_TEXT_MAX - 8);
    assert_int_equal(text[PT_SCOPE_TEXT_MAX], '#');
    text[end - text] = '\0';
    const char *point = strchr(text, '.');
    assert_int_equal(strspn(text, "0123456789."), end - text);
    assert_true(text[0] != '.' && (text[0] != '0' || text[1] == '.'));
    assert_true(point != NULL && end - point >= 4);
    double value = strtod(text, &stop);
    assert_ptr_equal(stop, end);
    return value;
}

static void write_scope(scope_t *s) {
    char text[PT_SCOPE_TEXT_MAX + 1];
    memset(text, '#', sizeof text);
    s->ts = read_text(text, pt_scope_put_start(text, s->start, s->touch));
    memset(text, '#', sizeof text);
    s->dur = read_text(text, pt_scope_put_dur(text, s->start, s->end, s->touch));
    /* The same nanoseconds, but for times so late that doubles are coarse. */
    int64_t steps = s->touch.start_late + llabs(s->touch.end_late);
    int64_t off = s->end < INT64_C(1) << 43 ? 0 : 1 + steps * (1 + (s->end >> 49));
    assert_in_range(llabs(llround(s->ts * 1000) - s->start), 0, off);
    assert_in_range(llabs(llround(s->dur * 1000) - (s->end - s->start)), 0, off);
}

/* Children before their parents, as our writer has them; of equal times the later one outside. */
static int by_end(const void *a, const void *b) {
    const scope_t *x = a, *y = b;
    if (x->end != y->end) {
        return (x->end > y->end) - (x->end < y->end);
    }
    return (x->start < y->start) - (x->start > y->start);
}

static int by_start(const void *a, const void *b) {
    const scope_t *x = a, *y = b;
    if (x->start != y->start) {
        return (x->start > y->start) - (x->start < y->start);
    }
    return (x->end < y->end) - (x->end > y->end);
}

/* Scopes that nest and touch often: a tree whose nodes begin and end with their parents and
 * siblings more often than not. */
static size_t grow_tree(scope_t *out, size_t n, int64_t start, int64_t end, int depth,
                        uint64_t *seed) {
    if (n == MAX_SCOPES || end <= start) {
        return n;
    }
    out[n++] = (scope_t){.start = start, .end = end};
    for (int64_t at = start; depth > 0 && at < end && n < MAX_SCOPES;) {
        at += base_random_below(seed, 3) == 0 ? (int64_t)base_random_below(seed, 5) : 0;
        if (at >= end) {
            break;
        }
        int64_t stop = at + 1 + (int64_t)(base_random(seed) % (uint64_t)(end - at));
        if (base_random_below(seed, 4) == 0) {
            stop = end;
        }
        if (at == start && stop == end) {
            break; /* two scopes of the same times: nobody could say which is the outer one */
        }
        n = grow_tree(out, n, at, stop, depth - 1, seed);
        at = stop;
    }
    return n;
}

/* Whether what nests in nanoseconds does so for a reader that first subtracts `base`. */
static void check_reader(scope_t *s, size_t n, double base) {
    size_t open[MAX_SCOPES], depth = 0;
    for (size_t i = 0; i < n; i++) {
        double start = s[i].ts - base, end = start + s[i].dur;
        while (depth > 0 && s[open[depth - 1]].end <= s[i].start) {
            const scope_t *before = &s[open[--depth]];
            assert_true(before->ts - base + before->dur <= start);
        }
        if (depth > 0) {
            const scope_t *outer = &s[open[depth - 1]];
            assert_true(outer->ts - base <= start);
            assert_true(end <= outer->ts - base + outer->dur);
            if (s[i].end == s[i].start && outer->start == s[i].start) {
                assert_true(outer->ts - base < start);
            }
        }
        open[depth++] = i;
    }
}

static void check(scope_t *s, size_t n) {
    qsort(s, n, sizeof *s, by_start);
    for (size_t i = 0; i < n; i++) {
        write_scope(&s[i]);
        /* Those without a length are alone at their times. */
        for (size_t j = i; j > 0 && s[j - 1].end == s[i].start && s[j - 1].start == s[i].end; j--) {
            assert_true(s[j - 1].ts != s[i].ts);
        }
    }
    check_reader(s, n, 0);
    check_reader(s, n, s[0].ts);
    check_reader(s, n, s[0].ts / 3);
    check_reader(s, n, floor(s[0].ts));
}

/* A tree at a time of at most 10 hours, short ones as likely as long ones; or at one of up to 100
 * days, where doubles are so coarse that only times of some distance stay apart. */
static size_t some_tree(scope_t *s, bool far, uint64_t *seed) {
    unsigned bits = far ? 46 : 44;
    int64_t start = (int64_t)(base_random(seed) >> (64 - bits) >> base_random_below(seed, bits));
    int64_t length = (int64_t)(base_random(seed) >> (64 - bits) >> base_random_below(seed, bits));
    size_t n = grow_tree(s, 0, start, start + length + 1, 6, seed);
    for (size_t i = 0; i < n && far; i++) {
        s[i].start *= 64;
        s[i].end *= 64;
    }
    return n;
}

static void of_our_own_files(void **state) {
    uint64_t seed = 1;
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        static scope_t s[MAX_SCOPES];
        pt_lane_set_t set = {.limit = 0};
        size_t n = some_tree(s, round % 4 == 0, &seed);
        qsort(s, n, sizeof *s, by_end);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(pt_lane_set_place(&set, s[i].start, s[i].end, &s[i].touch), 0);
        }
        check(s, n);
        pt_lane_set_free(&set);
    }
}

/* Scopes without a length, at times at which others begin and end. */
static size_t add_empty(scope_t *s, size_t n, uint64_t *seed) {
    size_t trees = n;
    for (unsigned more = base_random_below(seed, 20); more > 0 && n < MAX_SCOPES; more--) {
        const scope_t *at = &s[base_random_below(seed, (uint32_t)trees)];
        int64_t time = base_random_below(seed, 2) == 0 ? at->start : at->end;
        s[n++] = (scope_t){.start = time, .end = time};
    }
    return n;
}

static void of_other_files(void **state) {
    uint64_t seed = 2;
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        static scope_t s[MAX_SCOPES];
        pt_scope_plan_t plan = {.count = 0};
        pt_scope_list_t list = {NULL, 0, 0};
        size_t n = add_empty(s, some_tree(s, round % 4 == 0, &seed), &seed);
        for (size_t i = 0; i < n; i++) {
            size_t other = base_random_below(&seed, (uint32_t)n);
            scope_t swap = s[i];
            s[i] = s[other];
            s[other] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            assert_true(pt_scope_list_add(&list, 'X', s[i].start, s[i].end, i));
        }
        assert_true(pt_scope_plan_thread(&plan, &list, 0, INT64_MAX, 0));
        assert_true(pt_scope_plan_finish(&plan));
        for (size_t i = 0; i < n; i++) {
            const pt_plan_entry_t *e = pt_scope_plan_find(&plan, i);
            if (e != NULL) {
                assert_int_equal(e->lane, 0);
                s[i].touch.start_late = e->late;
                s[i].touch.end_late = -(int32_t)e->early;
            }
        }
        check(s, n);
        pt_scope_plan_free(&plan);
    }
}

static void known_texts(void **state) {
    static const struct {
        int64_t start, end;
        pt_touch_t touch;
        const char *ts, *dur;
    } known[] = {{0, 1, {0, 0}, "0.000", "0.001"},
                 {16003318, 16003548, {0, 0}, "16003.318", "0.230"},
                 {16003318, 16003548, {1, 0}, "16003.31800000001", "0.22999999999"},
                 {16003318, 16003548, {0, 1}, "16003.318", "0.23000000001"},
                 {16003318, 16003548, {0, -1}, "16003.318", "0.22999999999"},
                 {3600699642630, 3600700040686, {1, 0}, "3600699642.63001", "398.05599"},
                 {1000, 3600000000000, {1, 0}, "1.000000000000001", "3599999999.000"},
                 {259200846885253, 259200847105407, {1, 0}, "259200846885.2532", "220.1538"},
                 {1, 2, {1, -1}, "0.001000000000001", "0.000999999999998"},
                 {5000, 5000, {0, -1}, "5.000", "0.000"}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[PT_SCOPE_TEXT_MAX];
        *pt_scope_put_start(text, known[i].start, known[i].touch) = '\0';
        assert_string_equal(text, known[i].ts);
        *pt_scope_put_dur(text, known[i].start, known[i].end, known[i].touch) = '\0';
        assert_string_equal(text, known[i].dur);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_our_own_files),
        cmocka_unit_test(of_other_files),
        cmocka_unit_test(known_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
