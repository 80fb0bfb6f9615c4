/* test_core_threads.c: threads that come, go, are renamed and emit when they die.
 * SPDX-License-Identifier: MIT */
#include "core_state.h"
#include "traced_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 64
#define ROUNDS  4
#define EVENTS  50

static int64_t tid(void) {
    return (int64_t)syscall(SYS_gettid);
}

static void *short_life(void *arg) {
    char name[32];
    snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)arg);
    perftrace_thread_set_name(name);
    for (int i = 0; i < EVENTS; i++) {
        PERFTRACE_SCOPE("work", "compute", PERFTRACE_INT("who", (intptr_t)arg),
                        PERFTRACE_INT("own", tid()));
    }
    return NULL;
}

static void run_threads(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.flush_ms = 5;
    CHILD_CHECK(perftrace_init(&c) == 0);
    uint32_t most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t t[THREADS];
        for (int i = 0; i < THREADS; i++) {
            CHILD_CHECK(pthread_create(&t[i], NULL, short_life,
                                       (void *)(intptr_t)(round * THREADS + i)) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(t[i], NULL);
        }
        perftrace_stats_t s = {.struct_size = sizeof(s)};
        CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_save(-1, 0) == 0);
        CHILD_CHECK(perftrace_get_stats(&s) == 0);
        CHILD_CHECK(s.threads <= 1 && s.written == (uint64_t)(round + 1) * THREADS * EVENTS);
        most = s.threads > most ? s.threads : most;
    }
}

static void every_thread_has_its_events_and_its_name(void **state) {
    (void)state;
    traced_file_t f = run(run_threads);
    assert_int_equal(traced_count(&f, "work"), THREADS * ROUNDS * EVENTS);
    unsigned counts[THREADS * ROUNDS] = {0};
    char last_name[THREADS * ROUNDS][32];
    memset(last_name, 0, sizeof(last_name));
    for (size_t i = 0; i < f.count; i++) {
        const cJSON *own = traced_arg(f.lines[i], "own");
        if (own) {
            assert_int_equal(own->valueint, traced_number(f.lines[i], "tid"));
            counts[traced_arg(f.lines[i], "who")->valueint]++;
        }
    }
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        assert_int_equal(counts[i], EVENTS);
        char name[64];
        snprintf(name, sizeof(name), "\"args\": {\"name\": \"worker-%d\", \"rank\": 0}", i);
        unsigned named = 0;
        for (size_t k = 0; k < f.count; k++) {
            named += strstr(f.texts[k], name) != NULL;
        }
        assert_int_equal(named, 1);
    }
    assert_int_equal(traced_footer(&f, "written"), THREADS * ROUNDS * EVENTS);
    assert_int_equal(traced_footer(&f, "emitted"), THREADS * ROUNDS * EVENTS);
    traced_free(&f);
}

static void rename_often(const char *where) {
    CHILD_CHECK(perftrace_thread_set_name(NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_thread_set_name("before init") == 0);
    traced_start(where);
    PERFTRACE_INSTANT("one");
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    CHILD_CHECK(perftrace_thread_set_name("a \"name\" with \xFF and much too long for the ring's "
                                          "sixty-three bytes of room \xE2\x82\xAC") == 0);
    PERFTRACE_INSTANT("two");
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    for (int i = 0; i < 2000; i++) { /* while the drain looks */
        char name[32];
        snprintf(name, sizeof(name), "%c%c%c%c%c%c%c%c", 'a' + i % 26, 'a' + i % 26, 'a' + i % 26,
                 'a' + i % 26, 'a' + i % 26, 'a' + i % 26, 'a' + i % 26, 'a' + i % 26);
        perftrace_thread_set_name(name);
        if (i % 10 == 0) {
            CHILD_CHECK(perftrace_save(-1, 0) == 0);
        }
    }
    perftrace_thread_set_name("last");
}

static void a_thread_may_be_renamed(void **state) {
    (void)state;
    traced_file_t f = run(rename_often);
    size_t n = traced_count(&f, "thread_name");
    assert_true(n >= 3);
    for (size_t i = 0; i < n; i++) {
        const char *name =
            cJSON_GetStringValue(traced_arg(traced_line(&f, "thread_name", i), "name"));
        if (i == 0) {
            assert_string_equal(name, "before init");
        } else if (i == 1) {
            assert_true(strlen(name) <= 66 && strncmp(name, "a \"name\" with ", 14) == 0);
        } else if (i == n - 1) {
            assert_string_equal(name, "last");
        } else {
            /* Never half of one and half of another. */
            assert_int_equal(strspn(name, (char[]){name[0], 0}), 8);
        }
    }
    traced_free(&f);
}

/* ---- the end of a thread ---- */

static pthread_key_t keys[3];

static void emit_at_end(void *value) {
    PERFTRACE_SCOPE("destructor", "compute", PERFTRACE_INT("round", (intptr_t)value));
    int64_t left = (int64_t)(intptr_t)value - 1;
    if (left > 0) {
        pthread_setspecific(keys[0], (void *)(intptr_t)left);
    }
}

static void *die_emitting(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) {
        pthread_setspecific(keys[i], (void *)(intptr_t)(i == 0 ? 3 : 1));
    }
    PERFTRACE_INSTANT("alive");
    return NULL;
}

static void run_destructors(const char *where) {
    /* One key before the library's own, two after it. */
    pthread_key_create(&keys[0], emit_at_end);
    perftrace_config_t c = traced_config(where);
    c.max_threads = 8;
    CHILD_CHECK(perftrace_init(&c) == 0);
    PERFTRACE_INSTANT("main");
    pthread_key_create(&keys[1], emit_at_end);
    pthread_key_create(&keys[2], emit_at_end);
    for (int i = 0; i < 40; i++) {
        pthread_t t;
        CHILD_CHECK(pthread_create(&t, NULL, die_emitting, NULL) == 0);
        pthread_join(t, NULL);
        CHILD_CHECK(perftrace_save(-1, 0) == 0);
    }
}

static void destructors_of_threads_may_emit(void **state) {
    (void)state;
    traced_file_t f = run(run_destructors);
    assert_int_equal(traced_count(&f, "alive"), 40);
    /* 5 a thread; a slot that a last destructor took again may be gone for good, then no_slot. */
    assert_int_equal(traced_count(&f, "destructor") + (size_t)traced_dropped(&f, "no_slot"), 200);
    assert_true(traced_dropped(&f, "no_slot") == 0);
    traced_free(&f);
}

/* ---- more threads than slots ---- */

static pthread_barrier_t gate;

static void *emit_between_gates(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        PERFTRACE_SCOPE("crowd");
    }
    pthread_barrier_wait(&gate);
    return NULL;
}

static void run_crowd(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.max_threads = 4;
    CHILD_CHECK(perftrace_init(&c) == 0);
    pthread_barrier_init(&gate, NULL, 11);
    pthread_t t[10];
    for (int i = 0; i < 10; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, emit_between_gates, NULL) == 0);
    }
    pthread_barrier_wait(&gate);
    for (int i = 0; i < 10; i++) {
        pthread_join(t[i], NULL);
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == 40 && s.dropped[PERFTRACE_DROP_no_slot] == 60 && s.emitted == 100);
}

static void threads_beyond_the_number_are_counted(void **state) {
    (void)state;
    traced_file_t f = run(run_crowd);
    assert_int_equal(traced_count(&f, "crowd"), 40);
    assert_int_equal(traced_dropped(&f, "no_slot"), 60);
    assert_int_equal(traced_footer(&f, "emitted"), 100);
    traced_free(&f);
}

/* ---- toggling under load ---- */

static int stop;

static void *emit_until_told(void *arg) {
    uint64_t n = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        PERFTRACE_SCOPE("loop", "compute", PERFTRACE_INT("n", n));
        PERFTRACE_INSTANT("point", "io", PERFTRACE_INT("n", n));
        PERFTRACE_LAP_BEGIN(lap, "first");
        PERFTRACE_LAP(lap, "second");
        n++;
    }
    *(uint64_t *)arg = n;
    return NULL;
}

static void toggle_under_load(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    CHILD_CHECK(perftrace_init(&c) == 0);
    pthread_t t[3];
    uint64_t n[3];
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, emit_until_told, &n[i]) == 0);
    }
    for (int i = 0; i < 300; i++) {
        perftrace_set_enabled(i & 1);
        perftrace_set_filter(i & 2 ? "-io" : "", i & 4 ? "-second" : "");
        perftrace_step(i);
        if (i % 50 == 0) {
            CHILD_CHECK(perftrace_save(-1, 0) == 0);
        }
        const struct timespec nap = {0, 100000};
        nanosleep(&nap, NULL);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
}

static void switching_under_load_damages_nothing(void **state) {
    (void)state;
    traced_file_t f = run(toggle_under_load);
    assert_true(traced_count(&f, "loop") > 0);
    assert_true(traced_dropped(&f, "damaged") == 0);
    assert_true(traced_footer(&f, "emitted") == traced_footer(&f, "written"));
    traced_free(&f);
}

/* ---- a shutdown that takes its time ---- */

static perftrace_i_slot_t *slot_of_thread;

static void *end_late(void *arg) {
    (void)arg;
    perftrace_span_t outer;
    perftrace_span_t inner;
    PERFTRACE_BEGIN(&outer, "outer");
    PERFTRACE_BEGIN(&inner, "inner");
    slot_of_thread = perftrace_i_thread.slot;
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    PERFTRACE_END(&inner);
    PERFTRACE_END(&outer);
    pthread_barrier_wait(&gate);
    return NULL;
}

/* Between the moment from which ends are late and the moment from which begins are off, a thread
 * may go through many scopes. None of them is open at the end. */
static void run_late_ends(const char *where) {
    traced_start(where);
    pthread_barrier_init(&gate, NULL, 2);
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, end_late, NULL) == 0);
    pthread_barrier_wait(&gate);
    perftrace_shutdown();
    CHILD_CHECK(!slot_of_thread || (uint8_t)slot_of_thread->word == 2);
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    CHILD_CHECK(!slot_of_thread || (uint8_t)slot_of_thread->word == 0);
    pthread_join(t, NULL);
}

static void a_scope_that_ends_late_is_open_no_more(void **state) {
    (void)state;
    traced_file_t f = run(run_late_ends);
    assert_true(traced_footer(&f, "unfinished") == 2);
    traced_free(&f);
}

/* ---- a thread that sleeps through restarts ---- */

static void *sleep_through(void *arg) {
    (void)arg;
    perftrace_span_t held;
    PERFTRACE_INSTANT("first");
    PERFTRACE_BEGIN(&held, "held");
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate); /* stopped and started twice meanwhile */
    PERFTRACE_END(&held);
    for (int i = 0; i < 10; i++) {
        PERFTRACE_SCOPE("after");
        PERFTRACE_INSTANT("point");
    }
    return NULL;
}

static void run_restarts(const char *where) {
    pthread_barrier_init(&gate, NULL, 2);
    traced_start(where);
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, sleep_through, NULL) == 0);
    pthread_barrier_wait(&gate);
    for (int i = 0; i < 2; i++) {
        perftrace_shutdown();
        traced_start(where);
    }
    CHILD_CHECK(perftrace__core.run <= PERFTRACE_I_RUN_MAX);
    pthread_barrier_wait(&gate);
    pthread_join(t, NULL);
}

/* The numbers of runs in site words are used up: the same by the slow way. */
static void run_restarts_at_the_last_number(const char *where) {
    perftrace__core.run = PERFTRACE_I_RUN_MAX - 2;
    run_restarts(where);
    CHILD_CHECK(perftrace__core.run == PERFTRACE_I_RUN_MAX);
}

static void check_restarts(void (*body)(const char *)) {
    traced_run(body, dir);
    traced_file_t first = traced_read(dir, "traces-r0.jsonl");
    traced_file_t second = traced_read(dir, "traces-r0.1.jsonl");
    traced_file_t third = traced_read(dir, "traces-r0.2.jsonl");
    assert_int_equal(traced_count(&first, "first"), 1);
    assert_true(traced_footer(&first, "unfinished") == 1);
    assert_true(traced_footer(&second, "emitted") == 0);
    assert_int_equal(traced_count(&third, "held"), 1);
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&third, "held", 0), "forked")));
    assert_int_equal(traced_count(&third, "after"), 10);
    assert_int_equal(traced_count(&third, "point"), 10);
    assert_true(traced_footer(&third, "emitted") == 21 && traced_footer(&third, "written") == 21);
    traced_free(&first);
    traced_free(&second);
    traced_free(&third);
}

static void a_thread_may_sleep_through_restarts(void **state) {
    (void)state;
    check_restarts(run_restarts);
}

static void restarts_never_run_out_of_numbers(void **state) {
    (void)state;
    check_restarts(run_restarts_at_the_last_number);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_thread_has_its_events_and_its_name),
        CASE(a_thread_may_be_renamed),
        CASE(destructors_of_threads_may_emit),
        CASE(threads_beyond_the_number_are_counted),
        CASE(switching_under_load_damages_nothing),
        CASE(a_scope_that_ends_late_is_open_no_more),
        CASE(a_thread_may_sleep_through_restarts),
        CASE(restarts_never_run_out_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
