/* test_timer.c: times added up by name. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include "timer_math.h"

#include <perftrace/perftrace.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static perftrace_timer_stats_t read_it(const char *name, int reset) {
    perftrace_timer_stats_t s = PERFTRACE_TIMER_STATS_INIT;
    assert_int_equal(perftrace_timer_read(name, reset, &s), PERFTRACE_OK);
    return s;
}

/* ---- buckets ---- */

static void buckets_cover_all_times_without_a_gap(void **state) {
    (void)state;
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        uint64_t least = perftrace_timer_bucket_ns(i), next = perftrace_timer_bucket_ns(i + 1);
        assert_true(next > least);
        assert_int_equal(perftrace__timer_bucket(least), i);
        assert_int_equal(perftrace__timer_bucket(next - 1), i);
        /* A quarter of a doubling, so the middle is within 13 % of what lies in it. */
        assert_true(i < 4 || next - least <= least / 4);
    }
    assert_int_equal(perftrace__timer_bucket(UINT64_MAX), PERFTRACE_TIMER_BUCKETS - 1);
}

static void merged_is_as_if_one_had_taken_both(void **state) {
    (void)state;
    static const uint64_t times[] = {0, 1, 3, 4, 5, 900, 1000, 1000, 123456789, 7000000000};
    perftrace_timer_t *all = perftrace_timer_get("merge.all");
    perftrace_timer_t *half[2] = {perftrace_timer_get("merge.0"), perftrace_timer_get("merge.1")};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        perftrace_timer_add(all, times[i]);
        perftrace_timer_add(half[i % 2], times[i]);
    }
    perftrace_timer_stats_t a = read_it("merge.0", 0), b = read_it("merge.1", 0);
    perftrace_timer_stats_t empty = PERFTRACE_TIMER_STATS_INIT, whole = read_it("merge.all", 0);
    perftrace_timer_merge(&empty, &a);
    perftrace_timer_merge(&empty, &b);
    assert_int_equal(empty.count, whole.count);
    /* The clock's rate is known better at each reading. */
    uint64_t near = whole.sum_ns / 1000;
    assert_in_range(empty.sum_ns, whole.sum_ns - near, whole.sum_ns + near);
    assert_int_equal(empty.min_ns, whole.min_ns);
    assert_in_range(empty.max_ns, whole.max_ns - near, whole.max_ns + near);
    assert_memory_equal(empty.buckets, whole.buckets, sizeof whole.buckets);
}

static void quantiles_lie_in_their_buckets(void **state) {
    (void)state;
    perftrace_timer_t *t = perftrace_timer_get("quantiles");
    for (uint64_t ns = 1; ns <= 1000; ns++) {
        perftrace_timer_add(t, ns * 1000);
    }
    perftrace_timer_stats_t s = read_it("quantiles", 0);
    static const double shares[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double got = (double)perftrace_timer_quantile_ns(&s, shares[i]), right = shares[i] * 1e6;
        assert_true(got > right * 0.87 && got < right * 1.13);
    }
    assert_int_equal(perftrace_timer_quantile_ns(&s, 0), s.min_ns);
    assert_int_equal(perftrace_timer_quantile_ns(&s, 1), s.max_ns);
    assert_int_equal(perftrace_timer_quantile_ns(&s, -5), s.min_ns);
    perftrace_timer_stats_t none = PERFTRACE_TIMER_STATS_INIT;
    assert_int_equal(perftrace_timer_quantile_ns(&none, 0.5), 0);
    assert_int_equal(perftrace_timer_quantile_ns(NULL, 0.5), 0);
    perftrace_timer_merge(NULL, &s); /* nothing */
    perftrace_timer_merge(&none, NULL);
    assert_int_equal(none.count, 0);
    perftrace_timer_begin(NULL, t, NULL);
    perftrace_timer_end(NULL);
    perftrace_timers_read(1, NULL, NULL);
    assert_int_equal(read_it("quantiles", 0).count, 0); /* reset all the same */
}

/* ---- taking times ---- */

static void a_block_is_timed_without_tracing(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        PERFTRACE_TIMER("block", "compute");
        PERFTRACE_TIMER_ONLY("block.only");
        usleep(2000);
    }
    perftrace_timer_stats_t s = read_it("block", 0), only = read_it("block.only", 0);
    assert_int_equal(s.count, 10);
    assert_true(s.min_ns >= 2000000 && s.min_ns <= s.max_ns);
    assert_true(s.sum_ns >= 10 * s.min_ns && s.sum_ns <= 10 * s.max_ns);
    assert_int_equal(only.count, 10);
    assert_true(only.sum_ns <= s.sum_ns);
    assert_int_equal(s.lost, 0);
    assert_string_equal(s.name, "block");
}

static void wrong_use_does_nothing(void **state) {
    (void)state;
    perftrace_timer_stats_t s = PERFTRACE_TIMER_STATS_INIT;
    perftrace_timed_t timed = {.timer = NULL};
    assert_null(perftrace_timer_get(NULL));
    assert_int_equal(perftrace_timer_read("no such timer", 0, &s), PERFTRACE_ERR_NOT_FOUND);
    assert_int_equal(perftrace_timer_read(NULL, 0, &s), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_timer_read("block", 0, NULL), PERFTRACE_ERR_INVALID);
    s.struct_size = 0;
    assert_int_equal(perftrace_timer_read("block", 0, &s), PERFTRACE_ERR_INVALID);
    perftrace_timer_begin(&timed, NULL, NULL);
    perftrace_timer_end(&timed);
    perftrace_timer_add(NULL, 5);
    perftrace_timer_t *t = perftrace_timer_get("twice");
    perftrace_timer_begin(&timed, t, NULL);
    perftrace_timer_end(&timed);
    perftrace_timer_end(&timed);
    assert_int_equal(read_it("twice", 0).count, 1);
    assert_ptr_equal(perftrace_timer_get("twice"), t);
}

static void an_older_callers_structure_is_not_overrun(void **state) {
    (void)state;
    struct {
        perftrace_timer_stats_t s;
        unsigned char behind[8];
    } small;
    memset(&small, 0xA5, sizeof small);
    perftrace_timer_add(perftrace_timer_get("small"), 7);
    small.s.struct_size = offsetof(perftrace_timer_stats_t, buckets);
    assert_int_equal(perftrace_timer_read("small", 0, &small.s), PERFTRACE_OK);
    assert_int_equal(small.s.count, 1);
    assert_int_equal(small.s.struct_size, offsetof(perftrace_timer_stats_t, buckets));
    const unsigned char *rest = (const unsigned char *)small.s.buckets;
    for (size_t i = 0; i < sizeof small.s.buckets; i++) {
        assert_int_equal(rest[i], 0xA5);
    }
}

static void a_reset_begins_again_at_0(void **state) {
    (void)state;
    perftrace_timer_t *t = perftrace_timer_get("reset");
    perftrace_timer_add(t, 5000);
    perftrace_timer_add(t, 90000);
    assert_int_equal(read_it("reset", 1).count, 2);
    perftrace_timer_stats_t s = read_it("reset", 0);
    assert_true(s.count == 0 && s.sum_ns == 0 && s.min_ns == 0 && s.max_ns == 0);
    perftrace_timer_add(t, 20000);
    s = read_it("reset", 0);
    assert_int_equal(s.count, 1);
    assert_in_range(s.min_ns, 19800, 20200);
    assert_in_range(s.max_ns, 19800, 20200);
}

/* Whatever of it was sorted already, a reading has every time that was taken before it. */
static void each_reading_has_all_times_so_far(void **state) {
    (void)state;
    perftrace_timer_t *t = perftrace_timer_get("so far");
    perftrace_timer_stats_t right = PERFTRACE_TIMER_STATS_INIT;
    /* In the middle of their buckets and of many ticks (16 ns each on some machines, 40 on others),
     * so that the clock's rate does not matter. */
    static const uint64_t times[] = {4500000, 61440, 1200000000, 61440, 72000};
    uint64_t number = 0;
    right.min_ns = UINT64_MAX;
    for (unsigned i = 0; i < 700; i++) {
        uint64_t ns = times[i % (sizeof times / sizeof *times)];
        perftrace_timer_add(t, ns);
        right.count++;
        right.sum_ns += ns;
        right.min_ns = ns < right.min_ns ? ns : right.min_ns;
        right.max_ns = ns > right.max_ns ? ns : right.max_ns;
        right.buckets[perftrace__timer_bucket(ns)]++;
        bool reset = ++number % 97 == 0; /* in the midst of what is noted, each time elsewhere */
        perftrace_timer_stats_t s = read_it("so far", reset);
        assert_int_equal(s.count, right.count);
        assert_in_range(s.sum_ns, right.sum_ns - right.sum_ns / 100,
                        right.sum_ns + right.sum_ns / 100);
        assert_in_range(s.min_ns, right.min_ns - right.min_ns / 50,
                        right.min_ns + right.min_ns / 100);
        assert_in_range(s.max_ns, right.max_ns - right.max_ns / 50,
                        right.max_ns + right.max_ns / 100);
        assert_memory_equal(s.buckets, right.buckets, sizeof s.buckets);
        if (reset) {
            memset(&right, 0, sizeof right);
            right.min_ns = UINT64_MAX;
            assert_int_equal(read_it("so far", 0).count, 0);
        }
    }
}

/* ---- threads ---- */

static void *take_some(void *arg) {
    uint64_t count = *(const uint64_t *)arg;
    for (uint64_t i = 0; i < count; i++) {
        perftrace_timer_add(perftrace_timer_get("ends"), 4500);
    }
    return NULL;
}

static void what_a_thread_took_stays_when_it_ends(void **state) {
    (void)state;
    uint64_t sum = 0;
    for (uint64_t count = 1; count < 200; count += 21) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, take_some, &count), 0);
        pthread_join(thread, NULL);
        sum += count;
        perftrace_timer_stats_t s = read_it("ends", 0);
        assert_int_equal(s.count, sum);
        assert_int_equal(s.buckets[perftrace__timer_bucket(4500)], sum);
        assert_in_range(s.min_ns, 4450, 4550);
    }
}

enum { THREADS = 4 };
static size_t times_each;
static uint32_t running;

static void *take_times(void *arg) {
    (void)arg;
    for (size_t i = 0; i < times_each; i++) {
        PERFTRACE_TIMER_ONLY("threads");
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Every time is in exactly one reading, however often it is read and whoever has ended. */
static void nothing_is_lost_or_counted_twice(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    times_each = traced_scale(200000);
    __atomic_store_n(&running, THREADS, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, take_times, NULL), 0);
    }
    perftrace_timer_stats_t all = PERFTRACE_TIMER_STATS_INIT;
    perftrace_timer_get("threads");
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0) {
        perftrace_timer_stats_t s = read_it("threads", 1);
        uint64_t in_buckets = 0;
        for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
            in_buckets += s.buckets[i];
        }
        assert_int_equal(in_buckets, s.count);
        assert_true(s.count == 0 || (s.min_ns <= s.max_ns && s.sum_ns >= s.max_ns));
        perftrace_timer_merge(&all, &s);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    perftrace_timer_stats_t s = read_it("threads", 1);
    perftrace_timer_merge(&all, &s);
    assert_int_equal(all.count, THREADS * times_each);
    assert_int_equal(all.lost, 0);
}

/* ---- fork ---- */

static void a_forked_child_begins_at_0(void **state) {
    (void)state;
    perftrace_timer_t *t = perftrace_timer_get("fork");
    for (int i = 0; i < 100; i++) {
        perftrace_timer_add(t, 1000);
    }
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_timer_stats_t s = PERFTRACE_TIMER_STATS_INIT;
        bool good = perftrace_timer_read("fork", 0, &s) == PERFTRACE_OK && s.count == 0;
        perftrace_timer_add(t, 7000);
        good = good && perftrace_timer_read("fork", 0, &s) == PERFTRACE_OK && s.count == 1 &&
               s.min_ns > 6900 && s.max_ns < 7100;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read_it("fork", 0).count, 100);
}

/* ---- beside the trace ---- */

static void traced_body(const char *where) {
    traced_start(where);
    for (int i = 0; i < 3; i++) {
        PERFTRACE_TIMER("gen\"erate", "compute");
        usleep(100);
    }
    { PERFTRACE_TIMER_ONLY("quiet"); }
    perftrace_timer_get("never");
    perftrace_shutdown();
}

static cJSON *read_timers(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/timers-r0.json", dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char text[8192];
    size_t len = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[len] = '\0';
    cJSON *root = cJSON_ParseWithOpts(text, NULL, 1);
    assert_non_null(root);
    return root;
}

static void a_traced_run_leaves_scopes_and_a_file(void **state) {
    (void)state;
    traced_file_t trace = run(traced_body);
    assert_int_equal(traced_count(&trace, "gen\"erate"), 3);
    assert_int_equal(traced_count(&trace, "quiet"), 0);
    cJSON *root = read_timers();
    const cJSON *timers = cJSON_GetObjectItem(root, "timers");
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(root, "rank")), 0);
    assert_int_equal(cJSON_GetArraySize(timers), 2); /* one was never used */
    const cJSON *first = cJSON_GetArrayItem(timers, 0), *second = cJSON_GetArrayItem(timers, 1);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(first, "name")), "gen\"erate");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(second, "name")), "quiet");
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(first, "count")), 3);
    /* The same two readings make the scope and the time. */
    double sum = 0, longest = 0;
    for (size_t i = 0; i < 3; i++) {
        double dur = traced_number(traced_line(&trace, "gen\"erate", i), "dur");
        sum += dur;
        longest = dur > longest ? dur : longest;
    }
    double got = cJSON_GetNumberValue(cJSON_GetObjectItem(first, "sum")) * 1e6;
    double max = cJSON_GetNumberValue(cJSON_GetObjectItem(first, "max")) * 1e6;
    assert_true(got > sum * 0.999 - 0.01 && got < sum * 1.001 + 0.01);
    assert_true(max > longest * 0.999 - 0.01 && max < longest * 1.001 + 0.01);
    traced_free(&trace);
    cJSON_Delete(root);
}

static void untimed_body(const char *where) {
    traced_start(where);
    PERFTRACE_INSTANT("x", "compute");
    perftrace_shutdown();
}

static void a_run_without_timers_leaves_no_file(void **state) {
    (void)state;
    char path[128];
    traced_file_t trace = run(untimed_body);
    traced_free(&trace);
    snprintf(path, sizeof path, "%s/timers-r0.json", dir);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_cover_all_times_without_a_gap),
        cmocka_unit_test(merged_is_as_if_one_had_taken_both),
        cmocka_unit_test(quantiles_lie_in_their_buckets),
        cmocka_unit_test(a_block_is_timed_without_tracing),
        cmocka_unit_test(wrong_use_does_nothing),
        cmocka_unit_test(an_older_callers_structure_is_not_overrun),
        cmocka_unit_test(a_reset_begins_again_at_0),
        cmocka_unit_test(each_reading_has_all_times_so_far),
        cmocka_unit_test(what_a_thread_took_stays_when_it_ends),
        cmocka_unit_test(nothing_is_lost_or_counted_twice),
        cmocka_unit_test(a_forked_child_begins_at_0),
        CASE(a_traced_run_leaves_scopes_and_a_file),
        CASE(a_run_without_timers_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
