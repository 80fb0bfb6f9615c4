/* test_profiler_gpu.c: the switches of GPU profilers, with libraries of our own.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profiler_book.h"

#include <dlfcn.h>

typedef struct fake {
    int *starts, *stops, *result;
    uint64_t *thread;
} fake_t;

static fake_t load(const char *file) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fail_msg("%s", dlerror());
    }
    fake_t f = {dlsym(handle, "fake_gpu_starts"), dlsym(handle, "fake_gpu_stops"),
                dlsym(handle, "fake_gpu_result"), dlsym(handle, "fake_gpu_thread")};
    assert_true(f.starts && f.stops && f.result && f.thread);
    *f.starts = *f.stops = *f.result = 0;
    return f;
}

static perftrace_profiler_options_t options(const char *back_ends) {
    perftrace_profiler_options_t o = book_options();
    o.callback = NULL;
    o.back_ends = back_ends;
    o.cuda_library = FAKE_CUDA;
    o.roc_library = FAKE_ROC;
    o.schedule.wait = 1;
    o.schedule.active = 2;
    o.schedule.repeat = 2;
    return o;
}

static void switches_follow_the_windows(void **state) {
    (void)state;
    static const char *const names[] = {"cuda", "roc"};
    for (size_t i = 0; i < 2; i++) {
        fake_t f = load(i ? FAKE_ROC : FAKE_CUDA);
        perftrace_profiler_options_t o = options(names[i]);
        perftrace_profiler_t *p = book_open(&o);
        for (int step = 0; step < 8; step++) {
            perftrace_profiler_step(p, step);
            assert_int_equal(*f.starts, step < 1 ? 0 : step < 4 ? 1 : 2);
            assert_int_equal(*f.stops, step < 3 ? 0 : step < 6 ? 1 : 2);
        }
        perftrace_profiler_close(p);
        assert_true(*f.starts == 2 && *f.stops == 2);
        assert_int_equal(*f.thread, i ? 0 : 77); /* all threads */
    }
    assert_int_equal(files_of(0), 0); /* theirs, not ours */
    assert_int_equal(told("cuda recorded step 1 to 2\n"), 1);
}

/* Starts and stops in any number: each switch is used once. */
static void starts_and_stops_are_idempotent(void **state) {
    (void)state;
    fake_t f = load(FAKE_CUDA);
    perftrace_profiler_options_t o = options("cuda");
    o.schedule = (perftrace_schedule_t)PERFTRACE_SCHEDULE_INIT;
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_stop(p), 0); /* without a start */
    assert_true(*f.starts == 0 && *f.stops == 0);
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    perftrace_profiler_status_t s = {.struct_size = sizeof(s)};
    assert_int_equal(perftrace_profiler_get_status(&s), 0);
    assert_int_equal(s.state, PERFTRACE_PROFILER_RECORDING);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_STATE);
    assert_true(*f.starts == 1 && *f.stops == 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(perftrace_profiler_stop(p), 0);
    perftrace_profiler_close(p);
    assert_true(*f.starts == 1 && *f.stops == 1);
}

static void two_at_once_are_warned_of(void **state) {
    (void)state;
    fake_t cuda = load(FAKE_CUDA);
    fake_t roc = load(FAKE_ROC);
    perftrace_profiler_options_t o = options("cuda, roc");
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(
        told("1 profiler: roc and cuda both use") + told("1 profiler: cuda and roc both use"), 1);
    perftrace_profiler_step(p, 1);
    perftrace_profiler_close(p);
    assert_true(*cuda.starts == 1 && *cuda.stops == 1 && *roc.starts == 1 && *roc.stops == 1);
    /* In two profilers, one of them the program's own. */
    messages[0] = '\0';
    perftrace_profiler_back_end_t torch = book_calls;
    torch.name = "torch.profiler";
    torch.gpu = 1;
    o = options("cuda");
    p = book_open(&o);
    perftrace_profiler_t *same = book_open(&o); /* of another role: no two */
    assert_int_equal(message_count > 0 && told("both use"), 0);
    o.back_ends = NULL;
    o.callback = &torch;
    perftrace_profiler_t *q = book_open(&o);
    assert_int_equal(told("torch.profiler and cuda both use"), 1);
    perftrace_profiler_close(q);
    perftrace_profiler_close(same);
    perftrace_profiler_close(p);
}

static void an_absent_library_is_told_once(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options("cuda,roc");
    o.cuda_library = "/nonexistent/libcudart.so";
    o.roc_library = FAKE_CUDA; /* a library without the functions */
    perftrace_profiler_t *p = book_open(&o);
    for (int step = 0; step < 8; step++) {
        assert_true(perftrace_profiler_step(p, step) >= 0);
    }
    assert_int_equal(perftrace_profiler_stop(p), 0);
    perftrace_profiler_close(p);
    assert_int_equal(told("cuda does not record: /nonexistent/libcudart.so cannot be used"), 1);
    assert_int_equal(told("roc does not record: "), 1);
    assert_int_equal(told("there is no roctxProfilerResume in it"), 1);
}

static void the_usual_names_are_tried(void **state) {
    (void)state;
    perftrace_profiler_options_t o = options("roc");
    o.roc_library = NULL;
    o.schedule.wait = 0;
    perftrace_profiler_t *p = book_open(&o);
    int status = perftrace_profiler_start(p, NULL);
    perftrace_profiler_close(p);
    if (status == 0) {
        print_message("a roctx library is installed: its absence was not tested\n");
        return;
    }
    assert_int_equal(status, PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(told("roctxProfilerResume is not found: the program has not loaded it, and "
                          "there is none of librocprofiler-sdk-roctx.so.1"),
                     1);
}

static void what_they_return_is_told(void **state) {
    (void)state;
    fake_t f = load(FAKE_CUDA);
    *f.result = 35;
    perftrace_profiler_options_t o = options("cuda");
    o.schedule.wait = 0;
    perftrace_profiler_t *p = book_open(&o);
    assert_int_equal(perftrace_profiler_start(p, NULL), PERFTRACE_ERR_UNSUPPORTED);
    assert_int_equal(
        told("cuda does not record: cudaProfilerStart returned 35: the driver is too old\n"), 1);
    assert_int_equal(*f.stops, 0);
    *f.result = 0;
    assert_int_equal(perftrace_profiler_start(p, NULL), 0);
    *f.result = 36;
    assert_int_equal(perftrace_profiler_stop(p), 0);
    assert_int_equal(told("cuda lost the window"), 1);
    assert_int_equal(told("cudaProfilerStop returned 36"), 1);
    assert_int_equal(told("returned 36:"), 0); /* without a word for it */
    perftrace_profiler_close(p);
}

/* One of several back ends that does not start does not hinder the others. */
static void the_others_record(void **state) {
    (void)state;
    fake_t f = load(FAKE_CUDA);
    perftrace_profiler_options_t o = options("roc,cuda");
    o.roc_library = "/nonexistent";
    o.callback = &book_calls;
    perftrace_profiler_t *p = book_open(&o);
    for (int step = 0; step < 8; step++) {
        perftrace_profiler_step(p, step);
    }
    perftrace_profiler_close(p);
    assert_true(*f.starts == 2 && *f.stops == 2 && book.starts == 2 && book.stops == 2);
    assert_int_equal(files_of(0), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BOOK_CASE(switches_follow_the_windows), BOOK_CASE(starts_and_stops_are_idempotent),
        BOOK_CASE(two_at_once_are_warned_of),   BOOK_CASE(an_absent_library_is_told_once),
        BOOK_CASE(the_usual_names_are_tried),   BOOK_CASE(what_they_return_is_told),
        BOOK_CASE(the_others_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
