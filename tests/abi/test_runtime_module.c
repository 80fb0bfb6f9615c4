/* test_runtime_module.c: call sites in a module that is loaded and unloaded.
 * SPDX-License-Identifier: MIT */
#include "traced_child.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

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

static void *load(void (**ret_emit)(int)) {
    void *module = dlopen(PERFTRACE_TEST_MODULE, RTLD_NOW);
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
    }
    CHILD_CHECK(module);
    void *found = dlsym(module, "module_emit");
    CHILD_CHECK(found);
    memcpy(ret_emit, &found, sizeof(found));
    return module;
}

static void load_and_unload(const char *where) {
    traced_start(where);
    for (int i = 0; i < 20; i++) {
        void (*emit)(int);
        void *module = load(&emit);
        emit(i);
        CHILD_CHECK(perftrace_set_enabled(0) == 0);
        emit(1000);
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
        emit(100 + i);
        CHILD_CHECK(dlclose(module) == 0);
        /* The sites are gone; switching must not touch them, even when others live there now. */
        CHILD_CHECK(perftrace_set_enabled(0) == 0);
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
        CHILD_CHECK(perftrace_set_filter("-none", "") == 0);
        CHILD_CHECK(perftrace_save(-1, 0) == 0);
        void *other =
            mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHILD_CHECK(other != MAP_FAILED);
        memset(other, 0x5A, 1 << 20);
        CHILD_CHECK(perftrace_set_enabled(0) == 0);
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
        for (size_t k = 0; k < 1 << 20; k++) {
            CHILD_CHECK(((const char *)other)[k] == 0x5A);
        }
        munmap(other, 1 << 20);
    }
}

static void sites_of_modules_that_are_gone_are_left_alone(void **state) {
    (void)state;
    traced_run(load_and_unload, dir);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_int_equal(traced_count(&f, "module.scope"), 40);
    assert_int_equal(traced_count(&f, "module.point"), 40);
    assert_int_equal(traced_count(&f, "module.counter"), 40);
    for (size_t i = 0; i < 40; i++) {
        const cJSON *n = traced_arg(traced_line(&f, "module.scope", i), "n");
        assert_int_equal(n->valueint, (int)(i / 2 + (i % 2 ? 100 : 0)));
    }
    traced_free(&f);
}

static int stop;

static void *toggle(void *arg) {
    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        perftrace_set_enabled(0);
        perftrace_set_enabled(1);
    }
    return NULL;
}

static void unload_while_switching(const char *where) {
    traced_start(where);
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, toggle, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        void (*emit)(int);
        void *module = load(&emit);
        emit(i);
        CHILD_CHECK(dlclose(module) == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
}

static void a_module_may_go_while_sites_are_switched(void **state) {
    (void)state;
    traced_run(unload_while_switching, dir);
    traced_file_t f = traced_read(dir, "traces-r0.jsonl");
    assert_true(traced_dropped(&f, "damaged") == 0);
    traced_free(&f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_dir, drop_dir)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(sites_of_modules_that_are_gone_are_left_alone),
        CASE(a_module_may_go_while_sites_are_switched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
