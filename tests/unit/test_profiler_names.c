/* test_profiler_names.c: names that say what is in a file. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "utf8.h"

#include <perftrace/profiler.h>
#include <perftrace/status.h>

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOM (PERFTRACE_TRACE_NAME_MAX + 1)

/* 2026-07-21 15:58:25.123 UTC */
#define WHEN_MS 1784649505123

static perftrace_trace_name_t plain(void) {
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    n.rank = 5;
    n.pid = 4242;
    n.time_ms = WHEN_MS;
    return n;
}

static const char *build(const perftrace_trace_name_t *n, const char *extension) {
    static char text[ROOM];
    int len = perftrace_trace_basename(n, extension, text, sizeof(text));
    assert_true(len > 0 && (size_t)len == strlen(text) && len <= PERFTRACE_TRACE_NAME_MAX);
    assert_null(strchr(text, '/'));
    return text;
}

static perftrace_trace_name_t described(const char *path) {
    static char text[ROOM];
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    int status = perftrace_trace_describe(path, &n, text, sizeof(text));
    if (status) {
        fail_msg("%s: %d", path, status);
    }
    return n;
}

/* ---- the form ---- */

static void the_name_of_the_reference(void **state) {
    (void)state;
    perftrace_trace_name_t n = plain();
    n.prefix = "actor";
    n.role = "train";
    n.first_step = 7;
    n.world_size = 16;
    n.tp = 1;
    n.pp = 0;
    n.dp = 2;
    n.cp = 0;
    const char *name = build(&n, ".json.gz");
    assert_string_equal(
        name, "actor_train_step7_rank5-of-16_tp1-pp0-dp2-cp0_pid4242_20260721155825123.json.gz");
    n = described(name);
    assert_string_equal(n.prefix, "actor");
    assert_string_equal(n.role, "train");
    assert_true(n.first_step == 7 && n.last_step == 7 && n.rank == 5 && n.world_size == 16);
    assert_true(n.tp == 1 && n.pp == 0 && n.dp == 2 && n.cp == 0 && n.ep == -1);
    assert_true(n.pid == 4242 && n.time_ms == WHEN_MS && n.number == -1 && !n.aborted);
}

static void what_is_not_known_is_not_told(void **state) {
    (void)state;
    perftrace_trace_name_t n = plain();
    assert_string_equal(build(&n, NULL), "rank5_pid4242_20260721155825123");
    n.rank = -1;
    n.ep = 3;
    assert_string_equal(build(&n, ".txt"), "ranku_ep3_pid4242_20260721155825123.txt");
    n.rank = 0;
    n.mb_first = 3;
    n.mb_last = 4;
    n.part = 1;
    n.steps_done = 2;
    n.steps_wanted = 3;
    n.suffix = "odd one.";
    n.number = 2;
    assert_string_equal(build(&n, ".txt"), "rank0_ep3_pid4242_20260721155825123.2_mb3-4_part1_"
                                           "partial2-of-3_odd-one.txt");
    n.aborted = 1;
    n.steps_wanted = -1;
    n.cycle = 1;
    n.part = n.mb_first = -1;
    n.suffix = NULL;
    assert_string_equal(build(&n, ""), "rank0_ep3_pid4242_20260721155825123.2_cycle1_aborted2");
}

static void pt29_the_name_tells_role_rank_step(void **state) {
    (void)state;
    perftrace_trace_name_t n = plain();
    n.role = "actor/ref v2";
    n.rank = 3;
    n.world_size = 8;
    n.host = "node-1";
    n.pid = 42;
    n.first_step = 10;
    n.last_step = 12;
    char path[512];
    snprintf(path, sizeof(path), "/some_dir/of_rank9/%s", build(&n, ".json.gz"));
    n = described(path);
    assert_true(n.rank == 3 && n.world_size == 8 && n.pid == 42);
    assert_string_equal(n.host, "node-1");
    assert_true(n.first_step == 10 && n.last_step == 12 && n.time_ms == WHEN_MS);
    assert_string_equal(n.role, "actor-ref-v2");
}

static void labels_are_made_safe(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"actor/ref v2", "actor-ref-v2"},
        {"under_score", "under-score"},
        {"--a--b--", "a--b"},
        {"a/-b", "a--b"},
        {"..", ".."},
        {"v1.2=x+y", "v1.2=x+y"},
        {" \t\n", "b2d5ba2f"},
        {"\xE8\xAE\xAD\xE7\xBB\x83", "\xE8\xAE\xAD\xE7\xBB\x83"},
        {"a\xC2\x85z", "a-z"},
        {"a\xE2\x80\xAEz", "a-z"},
        {"bad\xFF\xC0utf", "bad-utf"},
        {"$(rm -rf *)", "rm--rf"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        perftrace_trace_name_t n = plain();
        n.role = cases[i][0];
        perftrace_trace_name_t back = described(build(&n, NULL));
        if (strcmp(cases[i][0], " \t\n") == 0) { /* nothing stays: its hash */
            assert_int_equal(strlen(back.role), 8);
        } else {
            assert_string_equal(back.role, cases[i][1]);
        }
    }
    /* Roles at the same rank differ, those of which nothing stays too. */
    perftrace_trace_name_t a = plain();
    perftrace_trace_name_t b = plain();
    a.role = "//";
    b.role = "///";
    char first[ROOM];
    snprintf(first, sizeof(first), "%s", build(&a, NULL));
    assert_string_not_equal(first, build(&b, NULL));
}

static void labels_that_look_like_fields_stay_labels(void **state) {
    (void)state;
    static const char *const labels[] = {"step3",
                                         "rank1",
                                         "pid7",
                                         "tp1",
                                         "mb3-4",
                                         "cycle2",
                                         "part1",
                                         "partial2-of-3",
                                         "aborted2",
                                         "ranku",
                                         "20260721155825123",
                                         "step3-5",
                                         "rank1-of-2"};
    const size_t count = sizeof(labels) / sizeof(labels[0]);
    for (size_t i = 0; i < count * count * count * 2; i++) {
        perftrace_trace_name_t n = plain();
        n.prefix = labels[i % count];
        n.role = labels[i / count % count];
        n.suffix = labels[i / count / count % count];
        n.first_step = i & 1 ? 9 : -1;
        n.cycle = i & 2 ? 1 : -1;
        perftrace_trace_name_t back = described(build(&n, i & 4 ? ".json" : NULL));
        assert_string_equal(back.prefix, n.prefix);
        assert_string_equal(back.role, n.role);
        assert_string_equal(back.suffix, n.suffix);
        assert_true(back.first_step == n.first_step && back.cycle == n.cycle && back.rank == 5);
        assert_true(back.mb_first == -1 && back.part == -1 && back.steps_done == -1);
        n.prefix = n.suffix = NULL;
        back = described(build(&n, NULL));
        assert_null(back.prefix);
        assert_string_equal(back.role, n.role);
        assert_null(back.suffix);
    }
}

/* ---- round trip ---- */

static int64_t maybe(uint64_t *seed, uint32_t below) {
    return base_random_below(seed, 3) ? (int64_t)base_random_below(seed, below) : -1;
}

static const char *any_label(uint64_t *seed, char *out, bool dots, uint32_t longest) {
    static const char letters[] = "abcXYZ0189=+-.";
    size_t len = 1 + base_random_below(seed, longest);
    if (base_random_below(seed, 4) == 0) {
        return NULL;
    }
    for (size_t i = 0; i < len; i++) {
        bool inner = i > 0 && i + 1 < len;
        out[i] = letters[base_random_below(seed, inner ? 14 - !dots : 12)];
    }
    out[len] = '\0';
    return out;
}

static void same_label(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a) {
        assert_string_equal(a, b);
    }
}

static void what_is_built_is_read_back(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        char labels[4][64];
        perftrace_trace_name_t n = plain();
        n.prefix = any_label(&seed, labels[0], true, 20);
        n.role = any_label(&seed, labels[1], true, 20);
        n.host = any_label(&seed, labels[2], true, 12);
        n.suffix = any_label(&seed, labels[3], false, 12);
        if (!n.role) {
            n.prefix = NULL; /* one label is a role */
        }
        n.first_step = maybe(&seed, 1000000);
        n.last_step = n.first_step < 0 ? -1 : n.first_step + base_random_below(&seed, 3);
        n.rank = (int)maybe(&seed, 100000);
        n.world_size = base_random_below(&seed, 2) ? 1 + (int)base_random_below(&seed, 99999) : -1;
        int *dims[] = {&n.tp, &n.pp, &n.dp, &n.cp, &n.ep};
        for (size_t d = 0; d < 5; d++) {
            *dims[d] = (int)maybe(&seed, 1000);
        }
        n.pid = base_random_below(&seed, 4194304);
        n.time_ms = (int64_t)(base_random(&seed) % 4102444800000u); /* up to 2100 */
        n.number = maybe(&seed, 100);
        n.mb_first = maybe(&seed, 1000);
        n.mb_last = n.mb_first < 0 ? -1 : n.mb_first + base_random_below(&seed, 3);
        n.cycle = maybe(&seed, 100);
        n.part = maybe(&seed, 100);
        n.steps_done = maybe(&seed, 100);
        n.aborted = n.steps_done >= 0 && base_random_below(&seed, 2);
        n.steps_wanted = n.steps_done >= 0 ? maybe(&seed, 100) : -1;
        static const char *const extensions[] = {NULL, ".json.gz", ".collapsed.txt", ".x"};
        char name[ROOM];
        snprintf(name, sizeof(name), "%s", build(&n, extensions[base_random_below(&seed, 4)]));
        perftrace_trace_name_t back = described(name);
        same_label(n.prefix, back.prefix);
        same_label(n.role, back.role);
        same_label(n.host, back.host);
        same_label(n.suffix, back.suffix);
        assert_true(n.first_step == back.first_step && n.last_step == back.last_step);
        assert_true(n.rank == back.rank && n.world_size == back.world_size);
        assert_true(n.tp == back.tp && n.pp == back.pp && n.dp == back.dp && n.cp == back.cp);
        assert_true(n.ep == back.ep && n.pid == back.pid && n.time_ms == back.time_ms);
        assert_true(n.number == back.number && n.cycle == back.cycle && n.part == back.part);
        assert_true(n.mb_first == back.mb_first && n.mb_last == back.mb_last);
        assert_true(n.steps_done == back.steps_done && n.steps_wanted == back.steps_wanted);
        assert_int_equal(n.aborted, back.aborted);
        /* And once more to the same name. */
        char again[ROOM];
        const char *dot = strstr(name, ".json.gz");
        dot = dot ? dot : strstr(name, ".collapsed.txt");
        dot = dot ? dot : strstr(name, ".x");
        assert_true(perftrace_trace_basename(&back, dot, again, sizeof(again)) > 0);
        if (!dot || strlen(dot) <= 14) {
            assert_string_equal(again, name);
        }
    }
}

static void other_names_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "/",
                                      "trace.json",
                                      "rank5",
                                      "rank5_pid1",
                                      "rank5_pid1_2026",
                                      "rank5_pid1_20261321155825123",
                                      "rank5_pid1_20260230155825123",
                                      "a_b_c_rank5_pid1_20260721155825123",
                                      "rank5_pidx_20260721155825123",
                                      "rank99999999999_pid1_20260721155825123",
                                      "rank5_pid1_20260721155825123x",
                                      "traces-r0.jsonl",
                                      "rank5_tp1-tp2_pid1_20260721155825123",
                                      "rank5_pp1-tp2_pid1_20260721155825123",
                                      "rank5_pid1_20260721155825123_a_b_c",
                                      "rank5_pid1_20260721155825123.json_gz",
                                      "rank-1_pid1_20260721155825123",
                                      "rank5_pid1_2026072115582512_"};
    char text[ROOM];
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (perftrace_trace_describe(bad[i], &n, text, sizeof(text)) != PERFTRACE_ERR_PARSE) {
            fail_msg("%s was read", bad[i]);
        }
    }
    /* Arbitrary bytes are read or refused, no more. */
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        static const char letters[] = "_-.@0123456789rankpidstepmbcyofu\xC3\xA9";
        char name[64] = "";
        size_t len = base_random_below(&seed, 60);
        for (size_t k = 0; k < len; k++) {
            name[k] = letters[base_random_below(&seed, sizeof(letters) - 1)];
        }
        (void)perftrace_trace_describe(name, &n, text, sizeof(text));
    }
    assert_int_equal(perftrace_trace_describe("x", &n, text, 1), PERFTRACE_ERR_TOO_LONG);
    assert_int_equal(perftrace_trace_describe(NULL, &n, text, ROOM), PERFTRACE_ERR_INVALID);
    n = plain();
    assert_int_equal(perftrace_trace_basename(&n, NULL, text, 20), PERFTRACE_ERR_TOO_LONG);
    assert_int_equal(perftrace_trace_basename(&n, "json", text, ROOM), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_trace_basename(&n, "./x", text, ROOM), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_trace_basename(&n, ".7z", text, ROOM), PERFTRACE_ERR_INVALID);
    n.pid = -1;
    assert_int_equal(perftrace_trace_basename(&n, NULL, text, ROOM), PERFTRACE_ERR_INVALID);
}

/* ---- length ---- */

static void pt48_long_labels_are_cut_and_stay_apart(void **state) {
    (void)state;
    char labels[2][2048] = {"", ""};
    for (size_t which = 0; which < 2; which++) {
        for (int i = 0; i < 400; i++) {
            /* Characters of one to four bytes. */
            static const char *const letters[] = {"a", "\xC3\xA9", "\xE8\xAE\xAD",
                                                  "\xF0\x9F\x98\x80"};
            strcat(labels[which], i == 390 && which ? "b" : letters[i % 4]);
        }
    }
    static const char *const extensions[] = {NULL, ".json.gz", ".collapsed.txt"};
    for (int shift = 0; shift < 40; shift++) { /* every place of the cut within a character */
        char names[2][ROOM];
        for (size_t which = 0; which < 2; which++) {
            char role[8192];
            snprintf(role, sizeof(role), "%.*s%s", shift,
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", labels[which]);
            perftrace_trace_name_t n = plain();
            n.prefix = shift % 2 ? "short" : role;
            n.role = role;
            n.host = role;
            n.suffix = role;
            n.part = 2;
            snprintf(names[which], ROOM, "%s", build(&n, extensions[shift % 3]));
            size_t len = strlen(names[which]);
            assert_true(len > 240 && len <= 255);
            assert_true(perftrace__utf8_valid(names[which], len));
            perftrace_trace_name_t back = described(names[which]);
            assert_true(back.rank == 5 && back.part == 2 && back.pid == 4242);
            assert_int_equal(back.role[strlen(back.role) - 9], '-');
        }
        assert_string_not_equal(names[0], names[1]);
    }
    /* One long label takes all the room there is. */
    perftrace_trace_name_t n = plain();
    n.role = labels[0];
    assert_true(strlen(build(&n, ".json")) > 250);
}

/* ---- files ---- */

#define FILES 50
static char dir[64];

static void *make_files(void *arg) {
    perftrace_trace_name_t n = plain();
    n.role = "same";
    (void)arg;
    for (int i = 0; i < FILES; i++) {
        char path[512];
        int fd = perftrace_trace_create(dir, &n, ".txt", path, sizeof(path));
        if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0) {
            return (void *)1;
        }
    }
    return NULL;
}

/* Threads and processes that want the same name at once. */
static void files_are_never_shared(void **state) {
    (void)state;
    pid_t pids[3];
    strcpy(dir, "/tmp/perftrace-names-XXXXXX");
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(make_files(NULL) != NULL);
        }
    }
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_files, NULL), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        void *failed;
        int status;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_true(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    }
    DIR *d = opendir(dir);
    size_t files = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') {
            continue;
        }
        char path[400];
        struct stat st;
        perftrace_trace_name_t n = described(e->d_name);
        assert_string_equal(n.role, "same");
        assert_true(n.number < 6 * FILES);
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, 1);
        unlink(path);
        files++;
    }
    closedir(d);
    assert_int_equal(files, 6 * FILES);
    rmdir(dir);
    char path[512];
    perftrace_trace_name_t n = plain();
    assert_int_equal(perftrace_trace_create(dir, &n, NULL, path, sizeof(path)),
                     PERFTRACE_ERR_NOT_FOUND);
    assert_int_equal(perftrace_trace_create("/tmp", &n, NULL, path, 30), PERFTRACE_ERR_TOO_LONG);
}

int main(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_the_reference),
        cmocka_unit_test(what_is_not_known_is_not_told),
        cmocka_unit_test(pt29_the_name_tells_role_rank_step),
        cmocka_unit_test(labels_are_made_safe),
        cmocka_unit_test(labels_that_look_like_fields_stay_labels),
        cmocka_unit_test(what_is_built_is_read_back),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(pt48_long_labels_are_cut_and_stay_apart),
        cmocka_unit_test(files_are_never_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
