/* test_profiler_nvtx.c: scopes as NVTX ranges within windows, with a profiler of our own that keeps
 * book of them. SPDX-License-Identifier: MIT */
#include "fake_nvtx.h"
#include "traced_case.h"

#include <perftrace/profiler.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char messages[4096];

static void keep(int level, const char *message, void *user) {
    (void)level;
    (void)user;
    size_t used = strlen(messages);
    snprintf(messages + used, sizeof messages - used, "%s\n", message);
}

static perftrace_profiler_t *open_nvtx(void) {
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    perftrace_profiler_t *p = NULL;
    o.back_ends = "nvtx";
    o.log = keep;
    CHILD_CHECK(perftrace_profiler_open(&o, &p) == 0);
    return p;
}

static fake_nvtx_t *load_book(void) {
    void *handle = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
    fake_nvtx_t *(*get)(void) = NULL;
    if (handle) {
        *(void **)&get = dlsym(handle, "fake_nvtx_book");
    }
    CHILD_CHECK(get != NULL);
    return get();
}

/* What a case in a child has: the fake's book, the tracer, a profiler. */
static fake_nvtx_t *book;
static perftrace_profiler_t *p;

static void set_up_with(const char *where, const char *library) {
    setenv("NVTX_INJECTION64_PATH", library, 1);
    book = load_book();
    traced_start(where);
    p = open_nvtx();
}

static void set_up(const char *where) {
    set_up_with(where, FAKE_NVTX);
}

static void open_window(void) {
    int status = perftrace_profiler_start(p, NULL);
    if (status != 0) {
        fprintf(stderr, "%s", messages);
    }
    CHILD_CHECK(status == 0);
}

static void close_window(void) {
    CHILD_CHECK(perftrace_profiler_stop(p) == 0);
}

static void expect(const char *text) {
    if (strcmp(book->text, text) != 0) {
        fprintf(stderr, "told: %s\nwanted: %s\n", book->text, text);
    }
    CHILD_CHECK(strcmp(book->text, text) == 0);
    CHILD_CHECK(book->wrong == 0);
}

/* ---- one thread ---- */

static void work(void) {
    PERFTRACE_SCOPE("outer", "compute", PERFTRACE_INT("n", 1));
    { PERFTRACE_SCOPE("inner", "comm", PERFTRACE_STRING("s", "text")); }
    PERFTRACE_SCOPE("last", "compute");
}

static void run_in_and_out(void) {
    work();
    expect("");
    for (int i = 0; i < 2; i++) {
        open_window();
        work();
        close_window();
        work();
    }
    expect("+outer +inner -inner +last -last -outer +outer +inner -inner +last -last -outer");
    CHILD_CHECK(book->initialised == 1 && strcmp(book->domain, "perftrace") == 0);
    CHILD_CHECK(strcmp(book->category_names[1], "compute") == 0 && book->categories[1] == 4);
    CHILD_CHECK(strcmp(book->category_names[2], "comm") == 0 && book->categories[2] == 2);
}

static void in_and_out(const char *where) {
    set_up(where);
    run_in_and_out();
}

static void scopes_are_ranges_within_windows_only(void **state) {
    (void)state;
    traced_file_t f = run(in_and_out);
    /* The trace is the same in windows and outside. */
    assert_int_equal(traced_count(&f, "outer"), 5);
    assert_int_equal(traced_count(&f, "inner"), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(traced_arg_number(traced_line(&f, "outer", i), "n") == 1);
        assert_string_equal(cJSON_GetStringValue(traced_arg(traced_line(&f, "inner", i), "s")),
                            "text");
    }
    assert_true(traced_footer(&f, "emitted") == traced_footer(&f, "written"));
    traced_free(&f);
}

#ifdef FAKE_NVTX_REAL
static void in_and_out_real(const char *where) {
    set_up_with(where, FAKE_NVTX_REAL);
    run_in_and_out();
}
#endif

static void a_profiler_built_with_nvtx_headers_understands_them(void **state) {
    (void)state;
#ifdef FAKE_NVTX_REAL
    traced_file_t f = run(in_and_out_real);
    assert_int_equal(traced_count(&f, "outer"), 5);
    traced_free(&f);
#else
    print_message("NVTX's headers are not here (nvtx3/nvToolsExt.h of CUDA)\n");
    skip();
#endif
}

static void across(const char *where) {
    set_up(where);
    {
        PERFTRACE_SCOPE("before", "compute"); /* begins before the window, ends in it */
        open_window();
        PERFTRACE_SCOPE("within", "compute");
    }
    expect("+within -within");
    {
        PERFTRACE_SCOPE("around", "compute"); /* begins in the window, ends after it */
        PERFTRACE_SCOPE("around too", "compute");
        close_window();
        expect("+within -within +around +around too -around too -around");
        PERFTRACE_SCOPE("after", "compute");
        open_window();
        PERFTRACE_SCOPE("again", "compute");
    }
    expect("+within -within +around +around too -around too -around +again -again");
    {
        PERFTRACE_SCOPE("held", "compute");
        CHILD_CHECK(perftrace_profiler_close(p) == 0);
    }
    CHILD_CHECK(book->pushes == 5 && book->pops == 5 && book->wrong == 0);
}

static void scopes_across_the_ends_of_a_window_balance(void **state) {
    (void)state;
    traced_file_t f = run(across);
    static const char *const names[] = {"before", "within", "around", "around too",
                                        "after",  "again",  "held"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(traced_count(&f, names[i]), 1);
    }
    traced_free(&f);
}

static void phases(void) {
    PERFTRACE_LAP_BEGIN(lap, "one", "compute");
    PERFTRACE_LAP(lap, "two", "compute");
    PERFTRACE_LAP(lap, "three", "compute");
    PERFTRACE_LAP_END(lap);
}

static void named(const char *name) {
    PERFTRACE_SCOPE_NAMED(name, "compute");
}

static void spans(void) {
    perftrace_span_t a, b;
    PERFTRACE_BEGIN(&a, "a", "compute");
    PERFTRACE_BEGIN(&b, "b", "compute");
    PERFTRACE_END(&a); /* not the last one: its range ends with that */
    PERFTRACE_END(&b);
}

static jmp_buf out;

static __attribute__((noinline)) void leave(void) {
    PERFTRACE_SCOPE("left", "compute");
    longjmp(out, 1);
}

static __attribute__((noinline)) void try_to_leave(void) {
    if (setjmp(out) == 0) {
        leave();
    }
}

static void jump(void) {
    PERFTRACE_SCOPE("jump", "compute");
    try_to_leave();
}

static void kinds(const char *where) {
    set_up(where);
    open_window();
    phases();
    expect("+one -one +two -two +three -three");
    book->text[0] = '\0';
    char name[16] = "made";
    named(name);
    memset(name, 'x', sizeof name - 1);
    spans();
    jump();
    close_window();
    expect("+made -made +a +b -b -a +jump +left -left -jump");
}

static void every_kind_of_scope_balances(void **state) {
    (void)state;
    traced_file_t f = run(kinds);
    assert_int_equal(traced_count(&f, "two"), 1);
    assert_int_equal(traced_count(&f, "made"), 1);
    assert_int_equal(traced_count(&f, "b"), 1);
    traced_free(&f);
}

static void dive(int n) {
    PERFTRACE_SCOPE("deep", "compute");
    if (n > 1) {
        dive(n - 1);
    }
}

static void deep(const char *where) {
    set_up(where);
    open_window();
    dive(300); /* the tracer keeps book of the outer 200 */
    work();
    close_window();
    CHILD_CHECK(book->pushes == 203 && book->pops == 203 && book->wrong == 0);
}

static void beyond_the_depth_that_is_kept_nothing_breaks(void **state) {
    (void)state;
    traced_file_t f = run(deep);
    assert_int_equal(traced_count(&f, "deep"), 300);
    traced_free(&f);
}

static void fails(const char *where) {
    set_up(where);
    perftrace_profiler_options_t o = PERFTRACE_PROFILER_OPTIONS_INIT;
    o.back_ends = "nvtx";
    o.discrete = 1;
    perftrace_profiler_t *stages = NULL;
    CHILD_CHECK(perftrace_profiler_open(&o, &stages) == 0);
    PERFTRACE_SCOPE("train", "compute");
    int64_t token = perftrace_profiler_stage_begin(stages, "update", 0);
    CHILD_CHECK(token > 0);
    PERFTRACE_SCOPE("apply", "compute");
    CHILD_CHECK(perftrace_profiler_stage_end(stages, token, 1) == 0);
    expect("+update +apply -apply -update"); /* the stage, and the scope in it */
    perftrace_profiler_close(stages);
}

static void a_failure_pops(void **state) {
    (void)state;
    traced_file_t f = run(fails);
    assert_int_equal(traced_count(&f, "update"), 1);
    assert_int_equal(traced_count(&f, "apply"), 1);
    traced_free(&f);
}

static void restarts(const char *where) {
    set_up(where);
    open_window();
    {
        PERFTRACE_SCOPE("old", "compute");
        CHILD_CHECK(perftrace_shutdown() == 0);
        traced_start(where);
        PERFTRACE_SCOPE("new", "compute");
    }
    close_window();
    CHILD_CHECK(book->pushes == book->pops && book->pushes >= 1 && book->wrong == 0);
}

static void a_restart_within_a_window_balances(void **state) {
    (void)state;
    traced_run(restarts, dir);
}

static void configured(const char *where) {
    setenv("NVTX_INJECTION64_PATH", FAKE_NVTX, 1);
    book = load_book();
    perftrace_config_t c = traced_config(where);
    c.profiler = "nvtx";
    c.profile_steps = "2-3";
    c.categories = "-comm"; /* what is not recorded is no range */
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (int i = 0; i < 6; i++) {
        perftrace_step(i);
        work();
    }
    expect("+outer +last -last -outer +outer +last -last -outer");
}

static void the_option_switches_it_on(void **state) {
    (void)state;
    traced_file_t f = run(configured);
    assert_int_equal(traced_count(&f, "outer"), 6);
    traced_free(&f);
}

/* ---- threads, processes ---- */

static pthread_barrier_t gate;

static void *hold_scope(void *ends) {
    PERFTRACE_SCOPE("other", "compute");
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    if (ends) {
        pthread_exit(NULL); /* within the scope: C unwinds it or not, as it was compiled */
    }
    return NULL;
}

static void *leave_span(void *unused) {
    static perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "for ever", "compute");
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    return unused;
}

static void other_thread(const char *where) {
    set_up(where);
    pthread_barrier_init(&gate, NULL, 4);
    open_window();
    pthread_t t[3];
    CHILD_CHECK(pthread_create(&t[0], NULL, hold_scope, NULL) == 0);
    CHILD_CHECK(pthread_create(&t[1], NULL, hold_scope, &t) == 0);
    CHILD_CHECK(pthread_create(&t[2], NULL, leave_span, NULL) == 0);
    pthread_barrier_wait(&gate);
    close_window();
    CHILD_CHECK(book->pushes == 3 && book->pops == 0); /* nobody can pop for another thread */
    pthread_barrier_wait(&gate);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    CHILD_CHECK(book->pushes == 3 && book->pops == 3 && book->wrong == 0 && book->left == 0);
    CHILD_CHECK(book->threads_ended == 3);
}

static void other_threads_pop_their_own(void **state) {
    (void)state;
    traced_file_t f = run(other_thread);
    assert_int_equal(traced_count(&f, "other"), 2);
    assert_int_equal(traced_count(&f, "for ever"), 1);
    traced_free(&f);
}

static int stop_all;
static uint64_t rounds_done;

static void *toil(void *arg) {
    uint64_t n = 0;
    while (!__atomic_load_n(&stop_all, __ATOMIC_ACQUIRE)) {
        PERFTRACE_SCOPE("toil", "compute");
        work();
        phases();
        spans();
        n++;
    }
    __atomic_fetch_add(&rounds_done, n, __ATOMIC_RELAXED);
    return arg;
}

static void toiling(const char *where) {
    setenv("NVTX_INJECTION64_PATH", FAKE_NVTX, 1);
    book = load_book();
    perftrace_config_t c = traced_config(where);
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    CHILD_CHECK(perftrace_init(&c) == 0);
    p = open_nvtx();
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        CHILD_CHECK(pthread_create(&t[i], NULL, toil, NULL) == 0);
    }
    for (size_t i = 0; i < traced_scale(300); i++) {
        open_window();
        usleep((useconds_t)(i % 3 * 200));
        close_window();
    }
    __atomic_store_n(&stop_all, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    CHILD_CHECK(book->wrong == 0 && book->left == 0 && book->pushes == book->pops);
    CHILD_CHECK(book->pushes > 0);
    FILE *f = fopen("rounds", "w");
    CHILD_CHECK(f && fprintf(f, "%llu\n", (unsigned long long)rounds_done) > 0 && fclose(f) == 0);
}

static void in_folder(const char *where) {
    CHILD_CHECK(chdir(where) == 0);
    toiling(where);
}

static void windows_come_and_go_beside_busy_threads(void **state) {
    (void)state;
    traced_file_t f = run(in_folder);
    char path[128];
    char text[32] = "";
    snprintf(path, sizeof path, "%s/rounds", dir);
    FILE *r = fopen(path, "r");
    assert_non_null(r);
    assert_non_null(fgets(text, sizeof text, r));
    fclose(r);
    const unsigned long long rounds = strtoull(text, NULL, 10);
    assert_int_equal(traced_count(&f, "toil"), rounds);
    assert_int_equal(traced_count(&f, "two"), rounds);
    assert_int_equal(traced_count(&f, "a"), rounds);
    traced_free(&f);
}

static void forks(const char *where) {
    set_up(where);
    open_window();
    PERFTRACE_SCOPE("parent", "compute");
    CHILD_CHECK(perftrace_save(-1, 0) == 0); /* no other thread allocates at the fork */
    pid_t pid = fork();
    if (pid == 0) {
        work(); /* the window is the parent's */
        _exit(book->pushes == 1 && book->pops == 0 && book->wrong == 0 ? 0 : 1);
    }
    int status = 1;
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    pid = fork();
    if (pid == 0) {
        open_window(); /* one of its own */
        work();
        close_window();
        _exit(book->pushes == 4 && book->pops == 3 && book->wrong == 0 ? 0 : 1);
    }
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close_window();
    expect("+parent -parent");
}

static void a_forked_child_has_no_ranges_of_its_parent(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("under ThreadSanitizer a forked child cannot start threads\n");
    skip();
#endif
    if (getenv("PERFTRACE_TEST_EMULATED")) {
        print_message("qemu-user stops a child that was forked beside a thread\n");
        skip();
    }
    traced_run(forks, dir);
}

/* ---- nobody there ---- */

static void refused(const char *where, const char *library, const char *reason) {
    if (library) {
        setenv("NVTX_INJECTION64_PATH", library, 1);
    } else {
        unsetenv("NVTX_INJECTION64_PATH");
    }
    traced_start(where);
    p = open_nvtx();
    for (int i = 0; i < 2; i++) {
        CHILD_CHECK(perftrace_profiler_start(p, NULL) != 0);
        work();
    }
    CHILD_CHECK(perftrace_profiler_stop(p) == 0);
    if (!strstr(messages, reason)) {
        fprintf(stderr, "%s", messages);
    }
    CHILD_CHECK(strstr(messages, "nvtx does not record: ") && strstr(messages, reason));
}

static void no_library(const char *where) {
    refused(where, "/nowhere/libtool.so",
            "NVTX_INJECTION64_PATH cannot be loaded: /nowhere/libtool.so");
}

static void no_entry(const char *where) {
    refused(where, FAKE_CUDA, "in which there is no InitializeInjectionNvtx2");
}

static void refuses(const char *where) {
    setenv("FAKE_NVTX_REFUSES", "1", 1);
    refused(where, FAKE_NVTX, "does not take part: its InitializeInjectionNvtx2 returned 0");
    CHILD_CHECK(load_book()->initialised == 1);
}

static void not_set(const char *where) {
    /* libnvToolsExt may be installed; then its functions are found. */
    if (dlopen("libnvToolsExt.so.1", RTLD_LAZY) || dlopen("libnvToolsExt.so", RTLD_LAZY)) {
        exit(0);
    }
    refused(where, NULL, "nobody takes NVTX ranges: NVTX_INJECTION64_PATH is not set");
}

static void an_absent_library_is_a_message(void **state) {
    (void)state;
    void (*const bodies[])(const char *) = {no_library, no_entry, refuses, not_set};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        traced_run(bodies[i], dir);
    }
}

#ifdef OWN_NVTX
static void own(const char *where) {
    refused(where, OWN_NVTX, "brings ranges into this trace: the scopes are there already");
}
#endif

static void our_own_library_is_not_fed(void **state) {
    (void)state;
#ifdef OWN_NVTX
    traced_file_t f = run(own);
    assert_int_equal(traced_count(&f, "outer"), 2);
    traced_free(&f);
#else
    print_message("libperftrace-nvtx.so is not built here\n");
    skip();
#endif
}

static void emit_within(void) {
    work();
}

/* A profiler that itself uses the tracer: its scopes are no ranges. */
static void echoes(const char *where) {
    set_up(where);
    book->within_push = emit_within;
    open_window();
    { PERFTRACE_SCOPE("once", "compute"); }
    close_window();
    expect("+once -once");
}

static void an_echo_is_not_echoed(void **state) {
    (void)state;
    traced_file_t f = run(echoes);
    assert_int_equal(traced_count(&f, "once"), 1);
    assert_int_equal(traced_count(&f, "outer"), 1);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(scopes_are_ranges_within_windows_only),
        CASE(a_profiler_built_with_nvtx_headers_understands_them),
        CASE(scopes_across_the_ends_of_a_window_balance),
        CASE(every_kind_of_scope_balances),
        CASE(beyond_the_depth_that_is_kept_nothing_breaks),
        CASE(a_failure_pops),
        CASE(a_restart_within_a_window_balances),
        CASE(the_option_switches_it_on),
        CASE(other_threads_pop_their_own),
        CASE(windows_come_and_go_beside_busy_threads),
        CASE(a_forked_child_has_no_ranges_of_its_parent),
        CASE(an_absent_library_is_a_message),
        CASE(our_own_library_is_not_fed),
        CASE(an_echo_is_not_echoed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
