/* test_recover_sessions.c: the sessions of a killed process, whatever became of their file.
 * SPDX-License-Identifier: MIT
 *
 * tests/crash kills at every point; here the process always leaves the same and what differs is the
 * file that recovery finds. */
#include "recover.h"
#include "recover_sessions.h"
#include "traced_child.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FINISHED 30
#define OPEN     3 /* the last of them, in a phase */

static char dir[64];

static int make_dir(void **state) {
    (void)state;
    traced_dir_make(dir);
    return 0;
}

static int drop_dir(void **state) {
    (void)state;
    traced_dir_remove(dir);
    return 0;
}

static void record(const char *where, bool flushed) {
    perftrace_config_t c = traced_config(where);
    c.session_enabled = 1;
    c.session_flush_threshold = 1;
    c.run_id = "of-a-job";
    c.flush_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < FINISHED + OPEN; i++) {
        int64_t s = perftrace_session_register(i / 4);
        perftrace_phase_t p;
        PERFTRACE_SESSION_PHASE_BEGIN(&p, s, "generate", PERFTRACE_INT("i", i));
        if (i < FINISHED) {
            PERFTRACE_SESSION_PHASE_END(&p);
            CHILD_CHECK(perftrace_session_finalize(s, i % 2 ? "accepted" : NULL, NULL) == 0);
        }
        if (flushed && i == FINISHED / 2) {
            /* Ready sessions wait for two sweeps. */
            for (int k = 0; k < 4; k++) {
                CHILD_CHECK(perftrace_save(-1, 1) == 0);
            }
        }
    }
    kill(getpid(), SIGKILL);
}

static void record_flushed(const char *where) {
    record(where, true);
}

static void record_unflushed(const char *where) {
    record(where, false);
}

static void run(void (*body)(const char *where)) {
    int status = traced_wait_status(body, dir);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static perftrace__recovered_t recover(const char *where) {
    char link[160];
    perftrace__recovered_t r;
    snprintf(link, sizeof(link), "%s/traces-r0.ring", where);
    assert_int_equal(perftrace__recover_ring(link, 0, &r), 0);
    return r;
}

/* Every session of the run is in the files, once, with what became of it. */
static void expect_all(const char *where, const char *const names[], unsigned n) {
    unsigned seen[FINISHED + OPEN] = {0};
    for (unsigned k = 0; k < n; k++) {
        traced_file_t f = traced_read(where, names[k]);
        for (size_t i = 0; i < f.count; i++) {
            const cJSON *id = cJSON_GetObjectItemCaseSensitive(f.lines[i], "session_id");
            const cJSON *status = cJSON_GetObjectItemCaseSensitive(f.lines[i], "status");
            assert_true(cJSON_IsNumber(id) && id->valueint < FINISHED + OPEN);
            seen[id->valueint]++;
            bool open = id->valueint >= FINISHED;
            assert_string_equal(status->valuestring, open ? "pending" : "accepted");
            assert_int_equal(cJSON_HasObjectItem(f.lines[i], "unfinished"), open);
        }
        traced_free(&f);
    }
    for (unsigned i = 0; i < FINISHED + OPEN; i++) {
        assert_int_equal(seen[i], 1);
    }
}

static size_t read_file(const char *name, char *out, size_t size) {
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, out, size);
    assert_true(n >= 0 && (size_t)n < size);
    close(fd);
    out[n] = '\0';
    return (size_t)n;
}

static void write_file(const char *name, const char *text, size_t len) {
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    close(fd);
}

static const char *const usual[] = {"sessions-r0.jsonl"};

static void a_file_that_was_begun_is_completed(void **state) {
    (void)state;
    run(record_flushed);
    static char before[65536];
    static char after[65536];
    size_t len = read_file(usual[0], before, sizeof(before));
    assert_true(len > 0);
    perftrace__recovered_t r = recover(dir);
    expect_all(dir, usual, 1);
    assert_string_equal(strrchr(r.session_path, '/') + 1, usual[0]);
    assert_in_range(r.sessions, OPEN, FINISHED + OPEN - 1);
    read_file(usual[0], after, sizeof(after));
    assert_memory_equal(before, after, len);
    assert_int_equal(traced_files(dir, "*.jsonl"), 2);
    assert_int_equal(traced_files(dir, "*ring*"), 0);
}

static void where_none_was_made_one_is(void **state) {
    (void)state;
    run(record_unflushed);
    assert_int_equal(traced_files(dir, "sessions*"), 0);
    perftrace__recovered_t r = recover(dir);
    assert_int_equal(r.sessions, FINISHED + OPEN);
    assert_null(r.problem);
    expect_all(dir, usual, 1);
}

static void one_that_is_gone_is_made_again(void **state) {
    (void)state;
    run(record_flushed);
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", dir, usual[0]);
    assert_int_equal(unlink(path), 0);
    perftrace__recovered_t r = recover(dir);
    assert_int_equal(r.sessions, FINISHED + OPEN);
    assert_non_null(r.problem);
    expect_all(dir, usual, 1);
}

static void one_that_was_cut_is_mended(void **state) {
    (void)state;
    run(record_flushed);
    static char text[65536];
    size_t len = read_file(usual[0], text, sizeof(text));
    for (unsigned k = 0; k < 2; k++) {
        /* In the middle of a line, then to nothing; the ring lasts for one recovery. */
        if (k) {
            drop_dir(NULL);
            make_dir(NULL);
            run(record_flushed);
        }
        write_file(usual[0], text, k ? 0 : len / 2);
        recover(dir);
        expect_all(dir, usual, 1);
    }
}

/* Uncommitted text, whole lines or half ones, is cut off. */
static void what_was_not_committed_is_made_again(void **state) {
    (void)state;
    run(record_flushed);
    static char text[65536];
    size_t len = read_file(usual[0], text, sizeof(text) / 2);
    const char *line = strchr(text, '\n') + 1;
    size_t more = strlen(line) / 2;
    memcpy(text + len, line, more); /* as if written twice, torn */
    write_file(usual[0], text, len + more);
    recover(dir);
    expect_all(dir, usual, 1);
}

/* The name was given to another run meanwhile. */
static void another_run_s_file_is_not_touched(void **state) {
    (void)state;
    static const char *const others[] = {
        /* Another id; the same id (the job's) and later; no record at all. */
        "{\"task_id\": 0, \"session_id\": 0, \"rank\": 0, \"status\": \"accepted\", \"submit_ts\": "
        "1760000000.1, \"run_id\": \"another\"}\n",
        "{\"task_id\": 0, \"session_id\": 0, \"rank\": 0, \"status\": \"accepted\", \"submit_ts\": "
        "9760000000.1, \"run_id\": \"of-a-job\"}\n",
        "something else\n"};
    for (unsigned i = 0; i < 3; i++) {
        if (i) {
            drop_dir(NULL);
            make_dir(NULL);
        }
        run(record_flushed);
        static char text[65536];
        size_t len = 0;
        for (unsigned k = 0; k < 200; k++) { /* longer than what was committed */
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", others[i]);
        }
        write_file(usual[0], text, len);
        perftrace__recovered_t r = recover(dir);
        static const char *const second[] = {"sessions-r0.1.jsonl"};
        static char after[65536];
        assert_int_equal(read_file(usual[0], after, sizeof(after)), len);
        assert_memory_equal(text, after, len);
        expect_all(dir, second, 1);
        assert_int_equal(r.sessions, FINISHED + OPEN);
    }
}

static void no_link_is_followed(void **state) {
    (void)state;
    run(record_flushed);
    char path[160];
    char target[160];
    snprintf(path, sizeof(path), "%s/%s", dir, usual[0]);
    snprintf(target, sizeof(target), "%s/precious", dir);
    write_file("precious", "precious\n", 9);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(target, path), 0);
    perftrace__recovered_t r;
    char link[160];
    snprintf(link, sizeof(link), "%s/traces-r0.ring", dir);
    assert_int_not_equal(perftrace__recover_ring(link, 0, &r), 0);
    static char text[64];
    assert_int_equal(read_file("precious", text, sizeof(text)), 9);
    /* The ring is kept, so nothing is lost for good. */
    assert_int_equal(unlink(path), 0);
    recover(dir);
    expect_all(dir, usual, 1);
}

static void a_directory_that_was_moved_keeps_its_files(void **state) {
    (void)state;
    char sub[80];
    char moved[80];
    snprintf(sub, sizeof(sub), "%s/a", dir);
    snprintf(moved, sizeof(moved), "%s/b", dir);
    assert_int_equal(mkdir(sub, 0777), 0);
    int status = traced_wait_status(record_flushed, sub);
    assert_true(WIFSIGNALED(status));
    /* The ring lies in there, too, so the link has to be mended. */
    char link[160];
    char ring[256];
    snprintf(link, sizeof(link), "%s/traces-r0.ring", sub);
    ssize_t n = readlink(link, ring, sizeof(ring) - 1);
    assert_true(n > 0);
    ring[n] = '\0';
    char now[512];
    snprintf(now, sizeof(now), "%s/%s", moved, strrchr(ring, '/') + 1);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(now, link), 0);
    assert_int_equal(rename(sub, moved), 0);
    recover(moved);
    expect_all(moved, usual, 1);
    assert_int_not_equal(access(sub, F_OK), 0);
}

static void moved_paths(void **state) {
    (void)state;
    static const struct {
        const char *path, *stored, *found, *want;
    } cases[] = {
        {"/x/s.jsonl", "/x/t.jsonl", "/x/t.jsonl", "/x/s.jsonl"},
        {"/x/s.jsonl", "/x/t.jsonl", "/y/t.jsonl", "/y/s.jsonl"},
        {"/x/e/session_tracer/a/s.jsonl", "/x/e/perf_tracer/a/t.jsonl",
         "/mnt/z/e/perf_tracer/a/t.jsonl", "/mnt/z/e/session_tracer/a/s.jsonl"},
        {"/elsewhere/s.jsonl", "/x/t.jsonl", "/y/t.jsonl", "/elsewhere/s.jsonl"},
        {"/xy/s.jsonl", "/x/t.jsonl", "/y/t.jsonl", "/xy/s.jsonl"},
        {"/x/s.jsonl", "/x/t.jsonl", "t.jsonl", "/x/s.jsonl"},
        {"", "/x/t.jsonl", "/y/t.jsonl", ""},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        assert_true(perftrace__recover_moved(cases[i].path, cases[i].stored, cases[i].found, out,
                                             sizeof(out)));
        assert_string_equal(out, cases[i].want);
    }
    char small[4];
    assert_false(perftrace__recover_moved("/x/s.jsonl", "/x/t", "/x/t", small, sizeof(small)));
}

static void a_dry_run_makes_nothing(void **state) {
    (void)state;
    run(record_unflushed);
    char link[160];
    perftrace__recovered_t r;
    snprintf(link, sizeof(link), "%s/traces-r0.ring", dir);
    assert_int_equal(perftrace__recover_ring(link, PERFTRACE__RECOVER_DRY, &r), 0);
    assert_int_equal(traced_files(dir, "sessions*"), 0);
    recover(dir);
    expect_all(dir, usual, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_that_was_begun_is_completed),
        CASE(where_none_was_made_one_is),
        CASE(one_that_is_gone_is_made_again),
        CASE(one_that_was_cut_is_mended),
        CASE(what_was_not_committed_is_made_again),
        CASE(another_run_s_file_is_not_touched),
        CASE(no_link_is_followed),
        CASE(a_directory_that_was_moved_keeps_its_files),
        cmocka_unit_test(moved_paths),
        CASE(a_dry_run_makes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
