/* test_runtime_life.c: start, save, statistics, stop, and again. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static size_t entries_of(const char *path) {
    DIR *d = opendir(path);
    size_t n = 0;
    while (d && readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

/* A thread that was joined may be listed for a moment longer. */
static size_t threads_settled(void) {
    size_t least = entries_of("/proc/self/task");
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        size_t now = entries_of("/proc/self/task");
        least = now < least ? now : least;
    }
    return least;
}

/* Sanitizers and valgrind have books of their own, which grow. */
static bool memory_is_the_programs(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return false;
#else
    return traced_scale(100) == 100;
#endif
}

static uint64_t resident_kb(void) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kb = 0;
    while (f && fgets(line, sizeof(line), f)) {
        (void)sscanf(line, "VmRSS: %llu", &kb);
    }
    fclose(f);
    return kb;
}

/* ---- the file ---- */

static void ask_for_the_path(const char *where) {
    char path[4096] = "";
    CHILD_CHECK(perftrace_trace_path(path, sizeof(path)) == PERFTRACE_ERR_DISABLED);
    traced_start(where);
    CHILD_CHECK(perftrace_trace_path(NULL, 0) == PERFTRACE_ERR_INVALID);
    int len = perftrace_trace_path(path, sizeof(path));
    CHILD_CHECK(len == (int)strlen(path) && access(path, F_OK) == 0);
    CHILD_CHECK(strcmp(path + len - 16, "/traces-r0.jsonl") == 0);
    CHILD_CHECK(perftrace_trace_path(path, (size_t)len) == PERFTRACE_ERR_TOO_LONG);
    CHILD_CHECK(perftrace_trace_path(path, (size_t)len + 1) == len);
    perftrace_shutdown();
    CHILD_CHECK(perftrace_trace_path(path, sizeof(path)) == PERFTRACE_ERR_DISABLED);
}

static void the_path_of_the_file_is_told(void **state) {
    (void)state;
    traced_run(ask_for_the_path, dir);
}

/* ---- cycles ---- */

static void *emit_one(void *arg) {
    (void)arg;
    PERFTRACE_INSTANT("thread");
    return NULL;
}

static void cycle(const char *where) {
    size_t files = 0;
    size_t threads = 0; /* a sanitizer may have one of its own */
    uint64_t kb = 0;
    for (int i = 0; i < 100; i++) {
        traced_start(where);
        CHILD_CHECK(perftrace_is_active());
        CHILD_CHECK(perftrace_init(NULL) == PERFTRACE_ERR_STATE);
        PERFTRACE_INSTANT("cycle", "compute", PERFTRACE_INT("i", i));
        pthread_t t;
        CHILD_CHECK(pthread_create(&t, NULL, emit_one, NULL) == 0);
        pthread_join(t, NULL);
        CHILD_CHECK(perftrace_shutdown() == 0);
        CHILD_CHECK(perftrace_shutdown() == 0);
        CHILD_CHECK(!perftrace_is_active());
        CHILD_CHECK(perftrace_save(-1, 1) == PERFTRACE_ERR_DISABLED);
        if (i == 9) {
            files = entries_of("/proc/self/fd");
            threads = threads_settled();
            kb = resident_kb();
        }
    }
    CHILD_CHECK(entries_of("/proc/self/fd") == files);
    CHILD_CHECK(threads_settled() == threads);
    /* A late thread may hold a slot for ever: its pages stay, two a ring and one a thread. */
    CHILD_CHECK(!memory_is_the_programs() || resident_kb() < kb + 90 * 48);
}

static void it_can_be_started_again_and_again(void **state) {
    (void)state;
    traced_run(cycle, dir);
    assert_int_equal(traced_files(dir, "traces-r0*.jsonl"), 100);
    assert_int_equal(traced_files(dir, "*.ring"), 0);
    for (int i = 0; i < 100; i++) {
        char name[64];
        snprintf(name, sizeof(name), i ? "traces-r0.%d.jsonl" : "traces-r0.jsonl", i);
        traced_file_t f = traced_read(dir, name);
        assert_int_equal(traced_count(&f, "cycle"), 1);
        assert_int_equal(traced_arg_number(traced_line(&f, "cycle", 0), "i"), i);
        assert_int_equal(traced_count(&f, "thread"), 1);
        assert_true(traced_footer(&f, "written") == 2 && traced_footer(&f, "emitted") == 2);
        traced_free(&f);
    }
}

/* A thread that lives through several runs, with scopes open across their ends. */
static void *live_on(void *arg) {
    const int *stop = arg;
    while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
        PERFTRACE_SCOPE("outer");
        for (int i = 0; i < 20; i++) {
            PERFTRACE_SCOPE("inner", "compute", PERFTRACE_INT("i", i));
            PERFTRACE_INSTANT("point");
        }
    }
    return NULL;
}

static void cycle_under_load(const char *where) {
    int stop = 0;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, live_on, &stop) == 0);
    }
    for (size_t i = 0; i < traced_scale(40); i++) {
        perftrace_config_t c = traced_config(where);
        c.ring_size = i % 2 ? 65536 : 1048576;
        c.overflow = i % 3 ? PERFTRACE_OVERFLOW_DROP : PERFTRACE_OVERFLOW_BLOCK;
        CHILD_CHECK(perftrace_init(&c) == 0);
        usleep(2000);
        CHILD_CHECK(perftrace_shutdown() == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], NULL);
    }
}

static void threads_may_emit_across_runs(void **state) {
    (void)state;
    traced_run(cycle_under_load, dir);
    double written = 0;
    for (int i = 0; i < (int)traced_scale(40); i++) {
        char name[64];
        snprintf(name, sizeof(name), i ? "traces-r0.%d.jsonl" : "traces-r0.jsonl", i);
        traced_file_t f = traced_read(dir, name);
        assert_true(traced_dropped(&f, "damaged") == 0);
        written += traced_footer(&f, "written");
        traced_free(&f);
    }
    assert_true(written > 0);
}

/* ---- saving ---- */

static uint64_t size_of(const char *where) {
    char path[128];
    struct stat st;
    snprintf(path, sizeof(path), "%s/traces-r0.jsonl", where);
    CHILD_CHECK(stat(path, &st) == 0);
    return (uint64_t)st.st_size;
}

static void save_every_third(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.save_interval = 3;
    c.flush_ms = 60000; /* nothing is written by itself */
    CHILD_CHECK(perftrace_init(&c) == 0);
    usleep(50000);
    for (int64_t step = 0; step < 10; step++) {
        uint64_t before = size_of(where);
        PERFTRACE_INSTANT("step", "compute", PERFTRACE_INT("step", step));
        CHILD_CHECK(perftrace_save(step, 0) == 0);
        bool wrote = size_of(where) > before;
        CHILD_CHECK(wrote == (step == 2 || step == 5 || step == 8));
    }
    uint64_t before = size_of(where);
    CHILD_CHECK(perftrace_save(0, 1) == 0); /* force */
    CHILD_CHECK(size_of(where) > before);
    before = size_of(where);
    PERFTRACE_INSTANT("more");
    CHILD_CHECK(perftrace_save(-1, 0) == 0); /* no step */
    CHILD_CHECK(size_of(where) > before);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == 11 && s.emitted == 11 && s.pending_bytes == 0);
}

static void a_save_of_step_k_writes_at_its_interval(void **state) {
    (void)state;
    traced_file_t f = run(save_every_third);
    assert_int_equal(traced_count(&f, "step"), 10);
    traced_free(&f);
}

static void *save_often(void *arg) {
    (void)arg;
    for (int i = 0; i < 200; i++) {
        PERFTRACE_INSTANT("from.saver");
        CHILD_CHECK(perftrace_save(-1, i % 20 == 0) == 0);
    }
    return NULL;
}

static void save_from_many(const char *where) {
    traced_start(where);
    pthread_t t[6];
    for (int i = 0; i < 6; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, save_often, NULL) == 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(t[i], NULL);
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.written == 1200 && s.pending_bytes == 0);
}

static void many_threads_may_save(void **state) {
    (void)state;
    traced_file_t f = run(save_from_many);
    assert_int_equal(traced_count(&f, "from.saver"), 1200);
    traced_free(&f);
}

static int save_stop;

static void *save_until_told(void *arg) {
    (void)arg;
    while (!__atomic_load_n(&save_stop, __ATOMIC_RELAXED)) {
        PERFTRACE_INSTANT("x");
        int status = perftrace_save(-1, 0);
        CHILD_CHECK(status == 0 || status == PERFTRACE_ERR_DISABLED);
        perftrace_stats_t s = {.struct_size = sizeof(s)};
        CHILD_CHECK(perftrace_get_stats(&s) == 0);
    }
    return NULL;
}

static void stop_during_saves(const char *where) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, save_until_told, NULL) == 0);
    }
    for (size_t i = 0; i < traced_scale(60); i++) {
        traced_start(where);
        usleep(500);
        CHILD_CHECK(perftrace_shutdown() == 0);
    }
    __atomic_store_n(&save_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
}

static void a_stop_does_not_wait_for_those_who_save(void **state) {
    (void)state;
    traced_run(stop_during_saves, dir);
    assert_int_equal(traced_files(dir, "traces-r0*.jsonl"), traced_scale(60));
    assert_int_equal(traced_files(dir, "*.ring"), 0);
}

/* ---- ranks ---- */

static void be_unselected(const char *where) {
    char inner[128];
    snprintf(inner, sizeof(inner), "%s/out", where);
    perftrace_config_t c = traced_config(inner);
    c.ring_dir = where;
    size_t files = entries_of("/proc/self/fd");
    size_t threads = threads_settled();
    static const char *const lists[] = {"1,3-5", "none"};
    for (int i = 0; i < 3; i++) {
        c.ranks = i < 2 ? lists[i] : NULL;
        c.enabled = i < 2;
        CHILD_CHECK(perftrace_init(&c) == 0);
        CHILD_CHECK(!perftrace_is_active());
        PERFTRACE_SCOPE("nothing");
        PERFTRACE_STEP(3);
        CHILD_CHECK(perftrace_save(-1, 1) == PERFTRACE_ERR_DISABLED);
        CHILD_CHECK(perftrace_set_rank(1, 2) == PERFTRACE_ERR_DISABLED);
        CHILD_CHECK(perftrace_set_enabled(1) == PERFTRACE_ERR_DISABLED);
        CHILD_CHECK(entries_of("/proc/self/fd") == files);
        CHILD_CHECK(threads_settled() == threads);
        CHILD_CHECK(perftrace_shutdown() == 0);
    }
}

static void an_unselected_rank_makes_nothing(void **state) {
    (void)state;
    traced_run(be_unselected, dir);
    assert_int_equal(entries_of(dir), 2); /* . and .. */
}

static void learn_the_rank(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.world_size = 2;
    c.role = "actor";
    CHILD_CHECK(perftrace_init(&c) == 0);
    PERFTRACE_INSTANT("before");
    CHILD_CHECK(perftrace_save(-1, 0) == 0);
    CHILD_CHECK(perftrace_set_rank(-2, 1) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_set_rank(1, 0) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_set_rank(5, -1) == 0);
    PERFTRACE_INSTANT("after");
    CHILD_CHECK(perftrace_set_rank(-1, 8) == 0);
}

static void a_rank_may_be_known_later(void **state) {
    (void)state;
    traced_file_t f = run(learn_the_rank);
    assert_int_equal(traced_count(&f, "perftrace_header"), 3);
    assert_int_equal(traced_arg_number(traced_line(&f, "perftrace_header", 0), "rank"), 0);
    assert_int_equal(traced_arg_number(traced_line(&f, "perftrace_header", 1), "rank"), 5);
    assert_int_equal(traced_arg_number(traced_line(&f, "perftrace_header", 1), "world_size"), 2);
    assert_int_equal(traced_arg_number(traced_line(&f, "perftrace_header", 2), "world_size"), 8);
    assert_int_equal(traced_arg_number(traced_line(&f, "before", 0), "rank"), 0);
    assert_int_equal(traced_arg_number(traced_line(&f, "after", 0), "rank"), 5);
    assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "after", 0), "role")),
                        "actor");
    traced_free(&f);
}

/* ---- the account ---- */

static void ask_for_statistics(const char *where) {
    perftrace_stats_t s;
    memset(&s, 0, sizeof(s));
    CHILD_CHECK(perftrace_get_stats(NULL) == PERFTRACE_ERR_INVALID);
    CHILD_CHECK(perftrace_get_stats(&s) == PERFTRACE_ERR_INVALID);
    s.struct_size = sizeof(s);
    CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.emitted == 0 && s.threads == 0);
    perftrace_config_t c = traced_config(where);
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    usleep(50000);
    for (int i = 0; i < 10; i++) {
        PERFTRACE_INSTANT("x");
    }
    PERFTRACE_SCOPE("open");
    CHILD_CHECK(perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == 0 && s.pending_bytes == 160 && s.threads == 1 && s.unfinished == 1);
    CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == 10 && s.pending_bytes == 0 && s.emitted == 10);
    /* An older program's smaller structure is not written beyond its end. */
    struct {
        perftrace_stats_t s;
    } old;
    memset(&old, 0x55, sizeof(old));
    old.s.struct_size = offsetof(perftrace_stats_t, pending_bytes);
    CHILD_CHECK(perftrace_get_stats(&old.s) == 0);
    CHILD_CHECK(old.s.written == 10 && old.s.pending_bytes == 0x5555555555555555u);
}

static void statistics_tell_where_the_events_are(void **state) {
    (void)state;
    traced_file_t f = run(ask_for_statistics);
    traced_free(&f);
}

/* ---- others' files ---- */

static void start_beside_a_torn_file(const char *where) {
    char path[128];
    snprintf(path, sizeof(path), "%s/traces-r0.jsonl", where);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHILD_CHECK(fd >= 0 && write(fd, "{\"name\": \"to", 12) == 12);
    close(fd);
    traced_start(where);
    PERFTRACE_INSTANT("mine");
}

static void no_byte_of_an_older_file_is_touched(void **state) {
    (void)state;
    traced_run(start_beside_a_torn_file, dir);
    char path[128];
    char text[64] = "";
    snprintf(path, sizeof(path), "%s/traces-r0.jsonl", dir);
    FILE *f = fopen(path, "r");
    assert_int_equal(fread(text, 1, sizeof(text), f), 12);
    fclose(f);
    assert_string_equal(text, "{\"name\": \"to");
    traced_file_t t = traced_read(dir, "traces-r0.1.jsonl");
    assert_int_equal(traced_count(&t, "mine"), 1);
    traced_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_path_of_the_file_is_told),
        CASE(it_can_be_started_again_and_again),
        CASE(threads_may_emit_across_runs),
        CASE(a_save_of_step_k_writes_at_its_interval),
        CASE(many_threads_may_save),
        CASE(a_stop_does_not_wait_for_those_who_save),
        CASE(an_unselected_rank_makes_nothing),
        CASE(a_rank_may_be_known_later),
        CASE(statistics_tell_where_the_events_are),
        CASE(no_byte_of_an_older_file_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
