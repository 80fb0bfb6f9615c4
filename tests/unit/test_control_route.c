/* test_control_route.c: what can be asked. SPDX-License-Identifier: MIT */
#include "control_route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *method, *path;
} table[] = {
#define X(name, method, path, help) {method, path},
    PERFTRACE__CONTROL_ROUTES(X)
#undef X
};

static void each_route_takes_its_method(void **state) {
    (void)state;
    static const char *const methods[] = {"GET",    "HEAD",    "POST", "PUT",
                                          "DELETE", "OPTIONS", "PATCH"};
    for (size_t i = 0; i < PT_ARRAY_LEN(table); i++) {
        bool get = strcmp(table[i].method, "GET") == 0;
        assert_true(get || strcmp(table[i].method, "POST") == 0);
        for (size_t m = 0; m < PT_ARRAY_LEN(methods); m++) {
            const char *allow = NULL;
            bool good = strcmp(methods[m], table[i].method) == 0 ||
                        (get && strcmp(methods[m], "HEAD") == 0);
            perftrace__control_route_t r =
                perftrace__control_route(methods[m], table[i].path, &allow);
            assert_int_equal(r, good ? i : (size_t)PERFTRACE__CONTROL_NO_METHOD);
            if (good) {
                assert_null(allow);
            } else {
                assert_string_equal(allow, get ? "GET, HEAD" : "POST");
            }
        }
    }
}

static void other_paths_are_none(void **state) {
    (void)state;
    static const char *const paths[] = {"",           "*",       "//",        "/statu",
                                        "/status/",   "/STATUS", "/%73tatus", "/status?",
                                        "/../status", "status"};
    for (size_t i = 0; i < PT_ARRAY_LEN(paths); i++) {
        const char *allow = NULL;
        assert_int_equal(perftrace__control_route("GET", paths[i], &allow),
                         PERFTRACE__CONTROL_NO_PATH);
        assert_null(allow);
    }
}

static void the_help_names_all(void **state) {
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    perftrace__control_route_help(&out);
    const char *at = out.data;
    for (size_t i = 0; i < PT_ARRAY_LEN(table); i++) { /* in their order */
        char text[64];
        snprintf(text, sizeof text, "\n%-4s %s ", table[i].method, table[i].path);
        at = strstr(at, text);
        assert_non_null(at);
    }
    perftrace__strbuf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_takes_its_method),
        cmocka_unit_test(other_paths_are_none),
        cmocka_unit_test(the_help_names_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
