/* test_http_guard.c: who may ask. SPDX-License-Identifier: MIT */
#include "http_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static perftrace__strbuf_t view(const char *text) {
    return (perftrace__strbuf_t){(char *)(uintptr_t)text, strlen(text), strlen(text) + 1, false};
}

static unsigned guard(const char *host, const char *origin, const char *authorization,
                      const char *token) {
    perftrace__http_request_t r = {.method = "GET",
                                   .host = view(host),
                                   .origin = view(origin),
                                   .authorization = view(authorization)};
    return perftrace__http_guard(&r, token);
}

static void without_a_token_programs_may_ask_and_pages_may_not(void **state) {
    (void)state;
    static const char *const tokens[] = {NULL, ""};
    static const char *const good[] = {"",          "localhost",   "LocalHost:8080",
                                       "127.0.0.1", "127.0.0.1:1", "[::1]:80",
                                       "[::1]",     "10.0.0.1:9"};
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example:80",
                                      "localhos",
                                      "localhostx:80",
                                      "127.0.0.1.evil.example",
                                      "a",
                                      "127.0.0.1a:80",
                                      "node-1:80",
                                      "1.2.3.4x"};
    for (size_t t = 0; t < PT_ARRAY_LEN(tokens); t++) {
        for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
            assert_int_equal(guard(good[i], "", "", tokens[t]), 0);
            assert_int_equal(guard(good[i], "", "Bearer of nothing", tokens[t]), 0);
            assert_int_equal(guard(good[i], "http://evil.example", "", tokens[t]), 403);
            assert_int_equal(guard(good[i], "null", "", tokens[t]), 403);
        }
        for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
            assert_int_equal(guard(bad[i], "", "", tokens[t]), 403);
        }
    }
}

static void a_token_is_compared_whole(void **state) {
    (void)state;
    const char *token = "s3cret token";
    static const char *const good[] = {"Bearer s3cret token", "bearer s3cret token",
                                       "BEARER s3cret token"};
    static const char *const bad[] = {"",
                                      "Bearer",
                                      "Bearer ",
                                      "s3cret token",
                                      "Basic s3cret token",
                                      "Bearer s3cret toke",
                                      "Bearer s3cret token ",
                                      "Bearer s3cret tokenx",
                                      "Bearer S3cret token",
                                      "Bearer s3cret tokens3cret token",
                                      "Bearers3cret token",
                                      "Bearer\ts3cret token"};
    for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
        assert_int_equal(guard("evil.example", "http://page", good[i], token), 0);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        assert_int_equal(guard("localhost", "", bad[i], token), 401);
    }
}

/* A NUL within what was brought does not end the comparison. */
static void bytes_behind_a_nul_count(void **state) {
    (void)state;
    static char text[] = "Bearer key\0more";
    perftrace__http_request_t r = {.authorization = {text, sizeof text - 1, sizeof text, false}};
    assert_int_equal(perftrace__http_guard(&r, "key"), 401);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_token_programs_may_ask_and_pages_may_not),
        cmocka_unit_test(a_token_is_compared_whole),
        cmocka_unit_test(bytes_behind_a_nul_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
