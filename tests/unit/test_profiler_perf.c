/* test_profiler_perf.c: Linux perf, the real one and one that misbehaves. SPDX-License-Identifier:
 * MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include "perf_stacks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* ---- collapsing ---- */

static void collapses(const char *script, const char *want, uint64_t samples) {
    perftrace__perf_stacks_t s = {0};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    for (const char *p = script; *p;) {
        size_t len = strcspn(p, "\n");
        perftrace__perf_stacks_line(&s, p, len);
        p += len + (p[len] == '\n');
    }
    perftrace__perf_stacks_write(&s, &out);
    assert_string_equal(perftrace__strbuf_cstr(&out), want);
    assert_int_equal(s.samples, samples);
    assert_false(s.failed);
    perftrace__perf_stacks_free(&s);
    perftrace__strbuf_free(&out);
}

static void samples_become_stacks(void **state) {
    (void)state;
    collapses("", "", 0);
    collapses("main   12\n\t  ffff01 leaf (/usr/lib/libx.so)\n\t  aa root (/bin/p)\n\n"
              "main   13\n\t  ffff02 leaf (/usr/lib/libx.so)\n\t  aa root (/bin/p)\n\n"
              "two words 9\n\t 1 f(int, char) (/bin/p)\n",
              "main;root;leaf 2\ntwo words;f(int, char) 1\n", 3);
    collapses(
        "# a remark\n\nw 1\n\t7f10 [unknown] (/opt/a b/lib.so)\n\t7f11 [unknown] ([unknown])\n"
        "\t7f12 a;b (/x)\n\t7f13 operator() (/x)\n\nw 1\n\n",
        "w 1\nw;operator();a:b;unk_0x7f11;unk_lib.so@0x7f10 1\n", 2);
    collapses("12 34\n\tff x ([kernel.kallsyms])\n\n", "12;x 1\n", 1); /* a name of digits */
}

/* ---- the real one ---- */

__attribute__((noinline)) static double burn_in_this_function(double seconds) {
    struct timespec t;
    double end = 0;
    double now;
    volatile double sum = 0;
    do {
        for (int i = 0; i < 100000; i++) {
            sum += i * 0.5;
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
        end = end == 0 ? now + seconds : end;
    } while (now < end);
    return sum;
}

static perftrace_profiler_options_t options(void) {
    perftrace_profiler_options_t o = book_options();
    o.callback = NULL;
    o.back_ends = "perf";
    o.perf_hz = 999;
    return o;
}

static char *slurp(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!f || !text) {
        fail_msg("no %s", path);
        abort();
    }
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static const char *last_path(void) {
    static perftrace_profiler_status_t s;
    s.struct_size = sizeof(s);
    perftrace_profiler_get_status(&s);
    return s.last_path;
}

static void perf_samples_this_process(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    perftrace_profiler_t *p = book_open(&o);
    if (perftrace_profiler_start(p, NULL) != 0) {
        print_message("perf does not record here: %s", messages);
        perftrace_profiler_close(p);
        skip();
    }
    burn_in_this_function(1);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    perftrace_profiler_close(p);
    assert_int_equal(files_of(0), 1); /* no samples left behind */
    char *text = slurp(last_path());
    assert_non_null(strstr(last_path(), ".collapsed.txt"));
    assert_non_null(strstr(text, "burn_in_this_function"));
    /* Every line is a stack and a count. About a second's worth of them. */
    long total = 0;
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *blank = strrchr(line, ' ');
        char *end = NULL;
        assert_non_null(blank);
        long n = strtol(blank + 1, &end, 10);
        assert_true(n > 0 && *end == '\0');
        assert_int_equal(strncmp(line, "test_profiler_p", 15), 0);
        total += n;
    }
    assert_true(total > 50 && total < 20000);
    free(text);
}

static void again_with_children_ignored(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    perftrace_profiler_t *p = book_open(&o);
    for (int i = 0; i < 2; i++) {
        if (perftrace_profiler_start(p, NULL) != 0) {
            print_message("perf does not record here: %s", messages);
            perftrace_profiler_close(p);
            signal(SIGCHLD, before);
            skip();
        }
        burn_in_this_function(0.3);
        assert_int_equal(perftrace_profiler_stop(p), 0);
    }
    perftrace_profiler_close(p);
    signal(SIGCHLD, before);
    assert_int_equal(files_of(0), 2);
}

/* ---- ones that misbehave ---- */

static char script_path[128];

static void write_script(const char *body) {
    snprintf(script_path, sizeof(script_path), "%s/.fake-perf", dir);
    FILE *f = fopen(script_path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/bash\n%s\n", body);
    fclose(f);
    assert_int_equal(chmod(script_path, 0755), 0);
}

static void no_child_is_left(void) {
    int status;
    assert_true(waitpid(-1, &status, WNOHANG) <= 0);
}

static void misbehaving_ones_are_told(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    perftrace_profiler_t *p;
    o.perf_command = "/nonexistent/perf";
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(told("perf does not record: /nonexistent/perf cannot be run: No such file"),
                     1);
    perftrace_profiler_close(p);

    write_script("echo 'Access to performance monitoring is limited.' >&2; exit 255");
    o.perf_command = script_path;
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(told("perf record does not sample: Access to performance monitoring"), 1);
    perftrace_profiler_close(p);
    no_child_is_left();

    /* Records, and dies before it is stopped. */
    write_script("read -u 10 line; echo ack >&11; exit 3");
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(told("perf lost the window"), 1);
    perftrace_profiler_close(p);
    no_child_is_left();

    /* Records well; the script fails, then prints nothing, then samples. */
    const char *const record =
        "if [ \"$1\" = record ]; then while read -u 10 line; do echo ack >&11;"
        " [ $line = stop ] && exit 0; done; exit 1; fi\n";
    static const char *const script[] = {
        "echo 'cannot read it' >&2; exit 9", "exit 0",
        "printf 'w 1\\n\\t1 leaf (/x)\\n\\t2 root (/x)\\n\\n'; exit 0"};
    for (int i = 0; i < 3; i++) {
        char body[600];
        snprintf(body, sizeof(body), "%s%s", record, script[i]);
        write_script(body);
        p = book_open(&o);
        assert_int_equal(perftrace_profiler_start(p, NULL), 0);
        assert_int_equal(perftrace_profiler_stop(p), 0);
        perftrace_profiler_close(p);
        no_child_is_left();
    }
    assert_int_equal(told("perf script failed: cannot read it"), 1);
    char *text = slurp(last_path());
    assert_string_equal(text, "w;root;leaf 1\n");
    free(text);
    unlink(script_path);
}

/* Where perf says nothing, what became of it is said. */
static void silent_ones_are_told(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    write_script("exit 255");
    o.perf_command = script_path;
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(told("perf record does not sample: it ended with status 255 (is there space"),
                     1);
    perftrace_profiler_close(p);

    write_script("read -u 10 line; echo ack >&11; read -u 10 line; kill -9 $$");
    p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(told("perf lost the window: perf record failed: it was ended by signal 9"), 1);
    perftrace_profiler_close(p);
    unlink(script_path);
}

static int open_descriptors(void) {
    int n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) >= 0;
    }
    return n;
}

/* A child keeps nothing of its parent's perf once it has one itself, and does not end it. */
static void a_forked_child_has_its_own(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options();
    int status;
    write_script("if [ \"$1\" = record ]; then while read -u 10 line; do echo ack >&11;"
                 " [ $line = stop ] && exit 0; done; exit 1; fi\n"
                 "printf 'w 1\\n\\t1 leaf (/x)\\n\\n'");
    o.perf_command = script_path;
    const int before = open_descriptors();
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const bool good = perftrace_profiler_start(p, NULL) == 0 && perftrace_profiler_stop(p) == 0;
        _exit(good && open_descriptors() == before ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(told("perf lost"), 0);
    perftrace_profiler_close(p);
    assert_int_equal(open_descriptors(), before);
    unlink(script_path);
    assert_int_equal(files_of(0), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_become_stacks), BOOK_CASE(perf_samples_this_process),
        BOOK_CASE(again_with_children_ignored),  BOOK_CASE(misbehaving_ones_are_told),
        BOOK_CASE(silent_ones_are_told),         BOOK_CASE(a_forked_child_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
