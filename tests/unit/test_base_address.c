/* test_base_address.c: addresses to forward to. SPDX-License-Identifier: MIT */
#include "address_form.h"
#include "address_shown.h"
#include "compiler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void good_forms_have_no_problem(void **state) {
    (void)state;
    static const char *const good[] = {
        "tcp:host:1",
        "tcp://host:65535",
        "tcp:[::1]:7400",
        "tcp:10.0.0.1:7400",
        "tcp:unix:/s",
        "tcp://unix:s",
        "nats://a",
        "nats://u:p@a:4222,b,c:1",
        "tls://a:4222",
        "tls://a,b",
        "tcp:collector:00400",
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(good); i++) {
        const char *problem = perftrace__address_problem(good[i]);
        assert_null(problem);
    }
}

static void bad_forms_are_told(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"", "begins with none"},       {"host:1", "begins with none"},
        {"http://host:1", "nats://"},   {"TCP:host:1", "begins with none"},
        {"tcp:", "tcp:HOST:PORT"},      {"tcp:host", "tcp:HOST:PORT"},
        {"tcp:host:", "tcp:HOST:PORT"}, {"tcp::1", "tcp:HOST:PORT"},
        {"tcp:[::1]", "tcp:HOST:PORT"}, {"tcp:[::1:5", "tcp:HOST:PORT"},
        {"tcp:[]:5", "tcp:HOST:PORT"},  {"tcp:host:0", "65535"},
        {"tcp:host:65536", "65535"},    {"tcp:host:123456", "65535"},
        {"tcp:host:1x", "65535"},       {"tcp:host:-1", "65535"},
        {"tcp:unix:", "path"},          {"nats://", "host is missing"},
        {"tls://", "host is missing"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        const char *problem = perftrace__address_problem(bad[i][0]);
        assert_non_null(problem);
        assert_non_null(strstr(problem, bad[i][1]));
    }
}

static void hosts_are_split_from_ports(void **state) {
    (void)state;
    char host[256];
    char text[300];
    const char *port = NULL;
    assert_true(perftrace__address_split("[fe80::1%eth0]:7400", host, &port));
    assert_string_equal(host, "fe80::1%eth0");
    assert_string_equal(port, "7400");
    memset(text, 'h', sizeof text);
    memcpy(text + 255, ":1", 3);
    assert_true(perftrace__address_split(text, host, &port));
    assert_int_equal(strlen(host), 255);
    memset(text, 'h', sizeof text);
    memcpy(text + 256, ":1", 3);
    assert_false(perftrace__address_split(text, host, &port));
}

static void secrets_are_not_shown(void **state) {
    (void)state;
    static const char *const shown[][2] = {
        {"nats://u:p@a:1,token@b,c", "nats://...@a:1,...@b,c"},
        {"nats://a", "nats://a"},
        {"tcp:host:1", "tcp:host:1"},
        {"tcp:[::1]:1", "tcp:[::1]:1"},
        {"tcp:unix:/run/a@b,c", "tcp:unix:/run/a@b,c"},
        {"tls://[::1],[::2]:4222,a:1/", "tls://[::1],[::2]:4222,a:1/"},
        {"nats://a:1,nats://b,nats://u:p@c", "nats://a:1,nats://b,...@c"},
        /* Mistaken ones: */
        {"u:secret@host:1", "...@host:1"},
        {"tcp:u:secret@host:1", "tcp:...@host:1"},
        {"nats://u:se,cret@host:1", "nats://...,...@host:1"},
        {"no address at all", "no address at all"},
        {"", ""},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(shown); i++) {
        char out[64];
        perftrace__address_shown(shown[i][0], out, sizeof out);
        assert_string_equal(out, shown[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_forms_have_no_problem),
        cmocka_unit_test(bad_forms_are_told),
        cmocka_unit_test(hosts_are_split_from_ports),
        cmocka_unit_test(secrets_are_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
