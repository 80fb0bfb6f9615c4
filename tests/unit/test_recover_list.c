/* test_recover_list.c: which names are found, also without memory. SPDX-License-Identifier: MIT */
#include "recover_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"

/* Allocations that still work; the linker leads the calls here, see recover.cmake. */
static size_t left = SIZE_MAX;

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool works(void) {
    if (left == SIZE_MAX) {
        return true;
    }
    if (left == 0) {
        return false;
    }
    left--;
    return true;
}

void *__wrap_malloc(size_t size) {
    return works() ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *p, size_t size) {
    return works() ? __real_realloc(p, size) : NULL;
}

static void make(const char *name) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fclose(f);
}

static int make_all(void **state) {
    (void)state;
    temp_enter();
    static const char *const names[] = {"traces-r1.ring",        "traces-r0.ring",
                                        "traces-r0.jsonl",       "traces-.ring",
                                        "traces-r0.ring.more",   "traces-r.ring.2.ring",
                                        ".traces-r0.ring",       "xtraces-r0.ring",
                                        "perftrace-7-1-a.ring",  "perftrace-7-1-a.ring.claim-2-3",
                                        "perftrace-77-1-a.ring", "perftrace-7-ring",
                                        "perftrace-8-1-a.ring",  "traces-[r*]?.ring"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        make(names[i]);
    }
    return 0;
}

static int drop_all(void **state) {
    (void)state;
    temp_leave();
    return 0;
}

static void expect(const perftrace__path_list_t *list, size_t count, const char *const *paths) {
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(list->paths[i], paths[i]);
    }
}

static void names_of_one_form_are_listed_in_order(void **state) {
    (void)state;
    perftrace__path_list_t list = perftrace__path_list_read(".", "traces-", false);
    static const char *const links[] = {"./traces-.ring", "./traces-[r*]?.ring",
                                        "./traces-r.ring.2.ring", "./traces-r0.ring",
                                        "./traces-r1.ring"};
    expect(&list, 5, links);
    perftrace__path_list_free(&list);
    assert_int_equal(list.count, 0);
    list = perftrace__path_list_read(".", "perftrace-7-", true);
    static const char *const rings[] = {"./perftrace-7-1-a.ring",
                                        "./perftrace-7-1-a.ring.claim-2-3"};
    expect(&list, 2, rings);
    perftrace__path_list_free(&list);
}

static void a_directory_that_cannot_be_read_has_none(void **state) {
    (void)state;
    static const char *const dirs[] = {"", "no/such", "traces-r0.jsonl"};
    for (size_t i = 0; i < 3; i++) {
        perftrace__path_list_t list = perftrace__path_list_read(dirs[i], "traces-", true);
        assert_int_equal(list.count, 0);
        perftrace__path_list_free(&list);
    }
}

static void without_memory_the_list_ends(void **state) {
    (void)state;
    size_t most = 0;
    for (size_t n = 0; n < 20; n++) {
        left = n;
        perftrace__path_list_t list = perftrace__path_list_read(".", "traces-", false);
        left = SIZE_MAX;
        assert_true(list.count <= n && list.count <= 5);
        most = list.count > most ? list.count : most;
        for (size_t i = 0; i < list.count; i++) {
            assert_int_equal(strncmp(list.paths[i], "./traces-", 9), 0);
        }
        perftrace__path_list_free(&list);
    }
    assert_int_equal(most, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_of_one_form_are_listed_in_order, make_all, drop_all),
        cmocka_unit_test_setup_teardown(a_directory_that_cannot_be_read_has_none, make_all,
                                        drop_all),
        cmocka_unit_test_setup_teardown(without_memory_the_list_ends, make_all, drop_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
