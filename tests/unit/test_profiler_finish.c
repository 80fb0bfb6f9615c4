/* test_profiler_finish.c: what comes after the last window. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include <inttypes.h>
#include <sys/wait.h>

/* Folders beside the profiles: of reports, and of what commands write. */
static char reports[128];
static char notes[128];

static int set_up(void **state) {
    if (book_set_up(state)) {
        return -1;
    }
    snprintf(reports, sizeof(reports), "%s/reports", dir);
    snprintf(notes, sizeof(notes), "%s/notes", dir);
    return mkdir(reports, 0700);
}

static int tear_down(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

/* The case's own, so that the folders above are not in the way of files_of. */
static perftrace_profiler_options_t options(void) {
    static char profiles[128];
    perftrace_profiler_options_t o = book_options();
    snprintf(profiles, sizeof(profiles), "%s/profiles", dir);
    o.dir = profiles;
    o.name.role = "actor";
    return o;
}

static const char *slurp(const char *path) {
    static char text[4096];
    text[0] = '\0';
    FILE *f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

static void steps(perftrace_profiler_t *p, int64_t first, int64_t last) {
    for (int64_t step = first; step <= last; step++) {
        perftrace_profiler_step(p, step);
    }
}

/* ---- the command ---- */

static char command[512];

/* One that notes what it was told, a line a run. */
static const char *noting(void) {
    snprintf(command, sizeof(command),
             "echo \"$PERFTRACE_PROFILE_DIR|$PERFTRACE_PROFILE_BACK_ENDS|$PERFTRACE_PROFILE_RANK|"
             "$PERFTRACE_PROFILE_ROLE|$PERFTRACE_PROFILE_PID|$PERFTRACE_PROFILE_WINDOWS|"
             "${PERFTRACE_PROFILE_FILE##*/}\" >> %s",
             notes);
    return command;
}

static void it_runs_once_after_the_last_listed_step(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    o.steps = "2,5-6";
    o.finish_command = noting();
    perftrace_profiler_t *p = book_open(&o);
    steps(p, 0, 6);
    assert_string_equal(slurp(notes), ""); /* the last listed step is not over */
    steps(p, 7, 7);
    char want[600];
    const char *got = slurp(notes);
    snprintf(want, sizeof(want), "%s|book|0|actor|%d|2|actor_step5-6_rank0_", o.dir, (int)getpid());
    assert_int_equal(strncmp(got, want, strlen(want)), 0);
    steps(p, 8, 12);
    perftrace_profiler_close(p);
    assert_ptr_equal(strchr(slurp(notes), '\n') + 1, strrchr(slurp(notes), '\n') + 1); /* one */
    assert_int_equal(told("the finish command has run"), 1);
}

static void it_runs_at_the_close_else(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    o.finish_command = noting();
    /* The final step of the training is a listed one. */
    o.steps = "3";
    perftrace_profiler_t *p = book_open(&o);
    steps(p, 0, 3);
    assert_string_equal(slurp(notes), "");
    perftrace_profiler_close(p);
    assert_non_null(strstr(slurp(notes), "|1|actor_step3_rank0_"));
    /* No window: nothing to finish. */
    unlink(notes);
    p = book_open(&o);
    steps(p, 0, 2);
    perftrace_profiler_close(p);
    assert_string_equal(slurp(notes), "");
    /* A schedule that ends, before the close. */
    o.steps = NULL;
    o.schedule.wait = 1;
    o.schedule.active = 1;
    o.schedule.repeat = 2;
    p = book_open(&o);
    steps(p, 0, 3);
    assert_string_equal(slurp(notes), "");
    steps(p, 4, 4);
    assert_non_null(strstr(slurp(notes), "|2|actor_step3_rank0_"));
    perftrace_profiler_close(p);
    /* One without an end, and a start by hand. */
    unlink(notes);
    o.schedule.repeat = 0;
    p = book_open(&o);
    steps(p, 0, 20);
    assert_string_equal(slurp(notes), "");
    perftrace_profiler_close(p);
    assert_non_null(strstr(slurp(notes), "|10|"));
    unlink(notes);
    o.schedule = (perftrace_schedule_t)PERFTRACE_SCHEDULE_INIT;
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    perftrace_profiler_close(p);
    assert_non_null(strstr(slurp(notes), "|1|"));
}

static void ranks_that_run_it_need_not_profile(void **state) {
    (void)state;
    static const struct {
        int rank, all;
        const char *ranks;
        int profiles, runs;
    } cases[] = {{0, 0, NULL, 1, 1},  {1, 0, NULL, 0, 0},  {1, 1, NULL, 0, 1},
                 {1, 0, "1-2", 0, 1}, {0, 0, "1-2", 1, 0}, {-1, 0, NULL, 1, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        perftrace_profiler_options_t o = options();
        const int starts = book.starts;
        unlink(notes);
        o.name.rank = cases[i].rank;
        o.finish_all_ranks = cases[i].all;
        o.finish_ranks = cases[i].ranks;
        o.finish_command = noting();
        o.steps = "1-2";
        perftrace_profiler_t *p = book_open(&o);
        steps(p, 0, 2);
        assert_string_equal(slurp(notes), "");
        steps(p, 3, 3);
        assert_int_equal(slurp(notes)[0] != '\0', cases[i].runs);
        perftrace_profiler_close(p);
        assert_int_equal(book.starts - starts, cases[i].profiles);
        /* Steps that were never reached are no reason on any rank. */
        unlink(notes);
        p = book_open(&o);
        steps(p, 0, 0);
        perftrace_profiler_close(p);
        assert_string_equal(slurp(notes), "");
    }
    perftrace_profiler_options_t off = options();
    unlink(notes);
    off.enable = 0;
    off.finish_all_ranks = 1;
    off.finish_command = noting();
    off.steps = "1";
    perftrace_profiler_t *p = book_open(&off);
    steps(p, 0, 3);
    perftrace_profiler_close(p);
    assert_string_equal(slurp(notes), "");
    off.finish_ranks = "x";
    assert_int_equal(perftrace_profiler_open(&off, &p), PERFTRACE_ERR_INVALID);
    assert_int_equal(told("finish_ranks is no list"), 1);
}

static void its_failures_change_nothing(void **state) {
    (void)state;
    static const struct {
        const char *command, *says;
    } cases[] = {{"echo so it is; exit 3", "the finish command failed with status 3: so it is"},
                 {"exec no-such-program-here", "the finish command failed with status 127"},
                 {"echo before; sleep 100 & echo $! > $PERFTRACE_PROFILE_DIR/../notes; wait",
                  "the finish command was killed after 3000 ms: before"},
                 {"kill -9 $$", "the finish command failed with status 137"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        perftrace_profiler_options_t o = options();
        o.steps = "1";
        o.finish_command = cases[i].command;
        o.finish_limit_ms = i == 2 ? 3000 : 0; /* a busy machine is slow to begin */
        messages[0] = '\0';
        perftrace_profiler_t *p = book_open(&o);
        steps(p, 0, 5);
        if (told(cases[i].says) != 1) {
            fail_msg("%s: %s", cases[i].command, messages);
        }
        assert_int_equal(perftrace_profiler_close(p), 0);
    }
    /* What it started ends with it. */
    char stat_path[64];
    snprintf(stat_path, sizeof(stat_path), "/proc/%ld/stat", strtol(slurp(notes), NULL, 10));
    for (int i = 0; i < 500 && slurp(stat_path)[0] && !strstr(slurp(stat_path), ") Z"); i++) {
        usleep(10000);
    }
    assert_true(!slurp(stat_path)[0] || strstr(slurp(stat_path), ") Z"));
    assert_int_equal(book.stops, 4);
    assert_true(waitpid(-1, NULL, WNOHANG) <= 0);
}

static void a_forked_child_does_not_run_it(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    int status = -1;
    o.steps = "1";
    o.finish_command = noting();
    perftrace_profiler_t *p = book_open(&o);
    steps(p, 0, 1);
    pid_t pid = fork();
    if (pid == 0) {
        perftrace_profiler_close(p);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(slurp(notes), "");
    perftrace_profiler_close(p);
    assert_non_null(strstr(slurp(notes), "|1|"));
}

/* ---- reports ---- */

static void write_report(const char *where, const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", where, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool is_there(const char *where, const char *name) {
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", where, name);
    return access(path, F_OK) == 0;
}

static const char *own_name(const char *before, const char *after) {
    static char name[8][200];
    static int next;
    char *text = name[next++ % 8];
    snprintf(text, 200, "%s%d%s", before, (int)getpid(), after);
    return text;
}

/* The name of the one file of a folder that holds `text`. */
static const char *found(const char *where, const char *text) {
    static char name[300];
    DIR *d = opendir(where);
    name[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strstr(e->d_name, text)) {
            assert_string_equal(name, "");
            snprintf(name, sizeof(name), "%s", e->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
    return name;
}

static void reports_of_this_process_are_moved(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    o.relocate_from = reports;
    o.steps = "1-2";
    perftrace_profiler_t *p = book_open(&o);
    steps(p, 0, 2);
    write_report(reports, own_name("nsys_", ".nsys-rep"), "window");
    write_report(reports, own_name("nsys_1", ".nsys-rep"), "another process");
    write_report(reports, own_name("nsys_", "1.nsys-rep"), "another process");
    write_report(reports, own_name("x.", ".qdstrm"), "to be converted");
    write_report(reports, own_name("y.", ".tmp"), "being written");
    write_report(reports, own_name(".z.", ".rep"), "hidden");
    write_report(reports, own_name("empty.", ".rep"), "");
    steps(p, 3, 3); /* the stop moves it */
    assert_int_equal(told("moved 1 report from "), 1);
    assert_false(is_there(reports, own_name("nsys_", ".nsys-rep")));
    const char *name = found(o.dir, ".nsys-rep");
    perftrace_trace_name_t read = PERFTRACE_TRACE_NAME_INIT;
    char text[PERFTRACE_TRACE_NAME_MAX + 1];
    assert_int_equal(perftrace_trace_describe(name, &read, text, sizeof(text)), 0);
    assert_string_equal(read.role, "actor");
    assert_int_equal(read.first_step, 1);
    assert_int_equal(read.last_step, 2);
    assert_string_equal(read.suffix, own_name("nsys-", "")); /* what it was called */
    char path[500];
    snprintf(path, sizeof(path), "%s/%s", o.dir, name);
    assert_string_equal(slurp(path), "window");
    /* One that comes after the window, by the close. */
    write_report(reports, own_name("late.", ".json.gz"), "late");
    perftrace_profiler_close(p);
    assert_int_equal(told("moved 1 report from "), 2);
    assert_non_null(strstr(found(o.dir, ".json.gz"), "_late-"));
    assert_true(is_there(reports, own_name("nsys_1", ".nsys-rep")));
    assert_true(is_there(reports, own_name("nsys_", "1.nsys-rep")));
    assert_true(is_there(reports, own_name("x.", ".qdstrm")));
    assert_true(is_there(reports, own_name("y.", ".tmp")));
    assert_true(is_there(reports, own_name(".z.", ".rep")));
    assert_true(is_there(reports, own_name("empty.", ".rep")));
}

static void none_and_nowhere_are_nothing(void **state) {
    (void)state;
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    char to[200];
    snprintf(to, sizeof(to), "%s/to", dir);
    n.rank = 3;
    n.pid = 42;
    n.time_ms = 1000;
    assert_int_equal(perftrace_trace_relocate(NULL, to, &n, 42), 0);
    assert_int_equal(perftrace_trace_relocate("", to, &n, 42), 0);
    assert_int_equal(perftrace_trace_relocate("/nonexistent/reports", to, &n, 42), 0);
    assert_int_equal(perftrace_trace_relocate(reports, to, &n, 42), 0);
    assert_int_not_equal(access(to, F_OK), 0); /* not made for nothing */
    write_report(reports, "a_42.rep", "a");
    write_report(reports, "b.42.sqlite", "b");
    write_report(reports, "42", "c");
    assert_int_equal(perftrace_trace_relocate(reports, reports, &n, 42), 0);
    assert_int_equal(perftrace_trace_relocate(reports, to, &n, 7), 0);
    assert_int_equal(perftrace_trace_relocate(reports, to, NULL, 42), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_trace_relocate(reports, to, &n, -1), PERFTRACE_ERR_INVALID);
    assert_int_equal(perftrace_trace_relocate(reports, to, &n, 42), 3);
    assert_non_null(strstr(found(to, ".sqlite"), "rank3_pid42_"));
    assert_string_equal(found(reports, "42"), "");
    /* Where it cannot be moved it stays, and the reason is told. */
    write_report(reports, "d_42.rep", "d");
    write_report(dir, "file", "no directory");
    char wrong[200];
    snprintf(wrong, sizeof(wrong), "%s/file/to", dir);
    assert_true(perftrace_trace_relocate(reports, wrong, &n, 42) < 0);
    assert_true(is_there(reports, "d_42.rep"));
}

/* To another file system it is copied. */
static void other_file_systems(void **state) {
    (void)state;
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    char to[64] = "/dev/shm/perftrace-relocate-XXXXXX";
    struct stat here;
    struct stat there;
    if (!mkdtemp(to) || stat(to, &there) || stat(reports, &here) || here.st_dev == there.st_dev) {
        rmdir(to);
        print_message("there is no second file system to write to\n");
        skip();
    }
    n.pid = 42;
    n.time_ms = 1000;
    write_report(reports, "a_42.rep", "across");
    assert_int_equal(perftrace_trace_relocate(reports, to, &n, 42), 1);
    assert_false(is_there(reports, "a_42.rep"));
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", to, found(to, ".rep"));
    assert_string_equal(slurp(path), "across");
    unlink(path);
    rmdir(to);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(it_runs_once_after_the_last_listed_step),
        CASE(it_runs_at_the_close_else),
        CASE(ranks_that_run_it_need_not_profile),
        CASE(its_failures_change_nothing),
        CASE(a_forked_child_does_not_run_it),
        CASE(reports_of_this_process_are_moved),
        CASE(none_and_nowhere_are_nothing),
        CASE(other_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
