/* test_profiler_clash.c: PT-36, windows of many processes within one millisecond.
 * SPDX-License-Identifier: MIT
 *
 * Linked so that perftrace__os_pid is ours: four processes with one pid, as containers have them.
 */
#include <perftrace/profiler.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PROCESSES 4
#define CYCLES    50

static char dir[64];

uint32_t __wrap_perftrace__os_pid(void);  /* NOLINT(bugprone-reserved-identifier) */
uint32_t __wrap_perftrace__os_pid(void) { /* NOLINT(bugprone-reserved-identifier) */
    return 7;
}

typedef struct writer {
    int process, rank;
} writer_t;

static int write_window(void *user, const perftrace_profiler_window_t *w) {
    const writer_t *me = user;
    struct stat st;
    FILE *f = fopen(w->path, "r+");
    if (!f || fstat(fileno(f), &st) != 0 || st.st_size != 0) {
        return -1; /* somebody else's */
    }
    fprintf(f, "%d %d %lld %lld %lld\n", me->process, me->rank, (long long)w->number,
            (long long)w->first_step, (long long)w->last_step);
    return fclose(f);
}

static int run_process(int process) {
    writer_t me = {process, process / 2}; /* pairs have all in common */
    perftrace_profiler_back_end_t calls = {
        .struct_size = sizeof calls, .name = "writer", .extension = ".txt", .stop = write_window};
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *p = NULL;
    calls.user = &me;
    o.callback = &calls;
    o.dir = dir;
    o.all_ranks = 1;
    o.name.rank = me.rank;
    o.name.host = "same";
    o.schedule.active = 1;
    o.schedule.repeat = CYCLES;
    if (perftrace_profiler_open(&o, &p) != 0) {
        return 1;
    }
    for (int step = 0; step < CYCLES; step++) {
        perftrace_profiler_step(p, step);
        usleep(200);
    }
    return perftrace_profiler_close(p);
}

typedef struct found {
    char name[256];
    long long process, rank, cycle, first, last; /* of the content */
} found_t;

static int by_name(const void *a, const void *b) {
    return strverscmp(((const found_t *)a)->name, ((const found_t *)b)->name);
}

static void read_window(const char *name, found_t *ret) {
    char path[400], line[100] = "", *at = line;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_null(fgets(path + 300, 50, f)); /* of one window */
    fclose(f);
    snprintf(ret->name, sizeof ret->name, "%s", name);
    long long *const fields[] = {&ret->process, &ret->rank, &ret->cycle, &ret->first, &ret->last};
    for (size_t i = 0; i < 5; i++) {
        *fields[i] = strtoll(at, &at, 10);
    }
    assert_string_equal(at, "\n");
}

/* What the name says is what is in the file. */
static void check_name(const found_t *f) {
    char text[PERFTRACE_TRACE_NAME_MAX + 1];
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    assert_int_equal(perftrace_trace_describe(f->name, &n, text, sizeof text), 0);
    assert_int_equal(n.rank, f->rank);
    assert_int_equal(n.first_step, f->first);
    assert_int_equal(n.last_step < 0 ? n.first_step : n.last_step, f->last);
    assert_int_equal(n.cycle < 0 ? 0 : n.cycle, f->cycle); /* of the second window on */
    assert_int_equal(n.pid, 7);
    assert_string_equal(n.host, "same");
}

static void pt36_windows_within_a_millisecond_never_share_a_name(void **state) {
    static found_t all[PROCESSES * CYCLES + 1];
    size_t count = 0;
    pid_t pids[PROCESSES];
    (void)state;
    strcpy(dir, "/tmp/perftrace-clash-XXXXXX");
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(run_process(i) != 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_true(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    }
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d)) && count <= (size_t)PROCESSES * CYCLES;) {
        if (e->d_name[0] != '.') {
            read_window(e->d_name, &all[count]);
            check_name(&all[count++]);
        }
    }
    closedir(d);
    assert_int_equal(count, PROCESSES * CYCLES);
    /* In the order that numbers in names have (sort -V), cycles of a process are in order. */
    qsort(all, count, sizeof *all, by_name);
    long long next[PROCESSES] = {0};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i].cycle, next[all[i].process]++);
        char path[400];
        snprintf(path, sizeof path, "%.63s/%.255s", dir, all[i].name);
        unlink(path);
    }
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pt36_windows_within_a_millisecond_never_share_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
