/* test_net_listen_address.c: where a server listens. SPDX-License-Identifier: MIT */
#include "listen_address.h"

#include <arpa/inet.h>
#include <perftrace/status.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *host_of(const perftrace__listen_address_t *a, char text[INET6_ADDRSTRLEN]) {
    return a->to.any.sa_family == AF_INET
               ? inet_ntop(AF_INET, &a->to.v4.sin_addr, text, INET6_ADDRSTRLEN)
               : inet_ntop(AF_INET6, &a->to.v6.sin6_addr, text, INET6_ADDRSTRLEN);
}

static void addresses_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *host;
        unsigned port;
        bool local;
    } cases[] = {
        {"on", "127.0.0.1", 0, true},
        {"true", "127.0.0.1", 0, true},
        {"yes", "127.0.0.1", 0, true},
        {"0", "127.0.0.1", 0, true},
        {"8080", "127.0.0.1", 8080, true},
        {"65535", "127.0.0.1", 65535, true},
        {"localhost:8080", "127.0.0.1", 8080, true},
        {"127.0.0.2:1", "127.0.0.2", 1, true},
        {"127.255.255.254:1", "127.255.255.254", 1, true},
        {"128.0.0.1:1", "128.0.0.1", 1, false},
        {"0.0.0.0:0", "0.0.0.0", 0, false},
        {"10.1.2.3:9", "10.1.2.3", 9, false},
        {"[::1]:80", "::1", 80, true},
        {"[::]:80", "::", 80, false},
        {"[fe80::1]:80", "fe80::1", 80, false},
        {"[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, false}, /* rather a token too many */
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__listen_address_t a;
        const char *problem = NULL;
        char host[INET6_ADDRSTRLEN] = "";
        assert_int_equal(perftrace__listen_address_parse(cases[i].text, &a, &problem),
                         PERFTRACE_OK);
        assert_string_equal(host_of(&a, host), cases[i].host);
        assert_int_equal(ntohs(a.to.v4.sin_port), cases[i].port);
        assert_int_equal(a.local, cases[i].local);
        assert_false(a.is_unix);
    }
}

static void hosts_are_told_as_urls_have_them(void **state) {
    (void)state;
    static const struct {
        const char *text, *host;
        bool any;
    } cases[] = {{"on", "127.0.0.1", false},
                 {"127.0.0.2:1", "127.0.0.2", false},
                 {"10.1.2.3:9", "10.1.2.3", false},
                 {"[::1]:80", "[::1]", false},
                 {"[fe80::1]:80", "[fe80::1]", false},
                 {"0.0.0.0:0", "0.0.0.0", true},
                 {"[::]:0", "[::]", true}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__listen_address_t a;
        const char *problem;
        char host[64];
        assert_int_equal(perftrace__listen_address_parse(cases[i].text, &a, &problem), 0);
        assert_int_equal(perftrace__listen_address_host(&a, host, sizeof host), cases[i].any);
        assert_string_equal(host, cases[i].host);
    }
}

static void socket_files_are_read(void **state) {
    (void)state;
    perftrace__listen_address_t a;
    const char *problem = NULL;
    assert_int_equal(perftrace__listen_address_parse("unix:/tmp/a b:1", &a, &problem), 0);
    assert_true(a.is_unix && a.local);
    assert_int_equal(a.to.un.sun_family, AF_UNIX);
    assert_string_equal(a.to.un.sun_path, "/tmp/a b:1");
    char text[200] = "unix:/";
    memset(text + 6, 'x', 106);
    assert_int_equal(perftrace__listen_address_parse(text, &a, &problem), 0); /* 107 bytes */
    assert_int_equal(strlen(a.to.un.sun_path), 107);
    text[112] = 'x';
    assert_int_equal(perftrace__listen_address_parse(text, &a, &problem), PERFTRACE_ERR_PARSE);
    assert_non_null(strstr(problem, "107"));
}

static void nonsense_is_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"", "port"},
        {"unix:", "path"},
        {"onn", "port"},
        {"-1", "port"},
        {"+1", "port"},
        {" 80", "port"},
        {"80 ", "port"},
        {"0x50", "port"},
        {"65536", "port"},
        {"99999999999999999999", "port"},
        {"127.0.0.1", "port"},
        {"127.0.0.1:", "port"},
        {"127.0.0.1:http", "port"},
        {":80", "HOST:PORT"},
        {"[]:80", "HOST:PORT"},
        {"::1:80", "HOST:PORT"},
        {"example.com:80", "host"},
        {"LOCALHOSTX:80", "host"},
        {"1.2.3:80", "host"},
        {"[::1:80", "HOST:PORT"},
        {"[::1]", "port"},
        {"http://127.0.0.1:80", "HOST:PORT"},
        {"0000000000000000000000000000000000000000000000000000000000000000:1", "HOST:PORT"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__listen_address_t a;
        const char *problem = NULL;
        if (perftrace__listen_address_parse(cases[i].text, &a, &problem) != PERFTRACE_ERR_PARSE ||
            problem == NULL || strstr(problem, cases[i].problem) == NULL) {
            print_error("%s: %s\n", cases[i].text, problem != NULL ? problem : "taken");
            fail();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(hosts_are_told_as_urls_have_them),
        cmocka_unit_test(socket_files_are_read),
        cmocka_unit_test(nonsense_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
