/* test_net_http_parse.c: HTTP requests out of bytes, however they are cut. SPDX-License-Identifier:
 * MIT */
#include "base_random.h"
#include "http_cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: localhost\r\n"

static char *transcript(const char *data, size_t len, http_cut_fn next, void *ctx) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    http_cut_transcript(data, len, next, ctx, HTTP_CUT_STATUS, &out, NULL);
    assert_false(out.failed);
    perftrace__strbuf_putc(&out, '\0'); /* the caller's own copy, never NULL */
    return out.data;
}

typedef struct http_case {
    const char *text;
    const char *expected;
} http_case_t;

#define ON(method, path, query, body)                                                              \
    method " path=" path " query=" query " token=0: host=9:localhost origin=0: body=" body " on\n"
#define LAST(method, path, query, body)                                                            \
    method " path=" path " query=" query " token=0: host=9:localhost origin=0: body=" body " last" \
           "\n"
#define CHUNKED             "POST /flush HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
#define POST(headers, body) "POST /flush HTTP/1.1\r\nHost: localhost\r\n" headers "\r\n" body

static const http_case_t cases[] = {
    /* plain ones */
    {GET "\r\n", ON("GET", "1:/", "0:", "0:") "between\n"},
    {"\r\n\r\n" GET "\r\n", ON("GET", "1:/", "0:", "0:") "between\n"},
    {"GET /a/b?c=d&e HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "4:/a/b", "5:c=d&e", "0:") "between\n"},
    {"GET /a?b?c#d HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "2:/a", "3:b?c", "0:") "between\n"},
    {GET "Connection: close\r\n\r\nrest", LAST("GET", "1:/", "0:", "0:") "between\n"},
    {"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", LAST("GET", "1:/", "0:", "0:") "between\n"},
    {"GET / HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
     ON("GET", "1:/", "0:", "0:") "between\n"},
    {"GET / HTTP/1.0\r\n\r\n",
     "GET path=1:/ query=0: token=0: host=0: origin=0: body=0: last\nbetween\n"},
    {GET, "within\n"},
    {"", "between\n"},
    {"\r\n", "between\n"},
    {GET "X-Empty:\r\nAuthorization:   Bearer x \r\nORIGIN: http://a\r\n\r\n",
     "GET path=1:/ query=0: token=8:Bearer x host=9:localhost origin=8:http://a body=0: on\n"
     "between\n"},
    {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", ON("OPTIONS", "1:*", "0:", "0:") "between\n"},
    {"DELETE /flush HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("DELETE", "6:/flush", "0:", "0:") "between\n"},
    /* targets */
    {"GET http://localhost:80/status?x HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "7:/status", "1:x", "0:") "between\n"},
    {"GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "1:/", "0:", "0:") "between\n"},
    {"GET //status HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "8://status", "0:", "0:") "between\n"},
    {"GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
     ON("GET", "14:/../etc/passwd", "0:", "0:") "between\n"},
    {"GET status HTTP/1.1\r\nHost: localhost\r\n\r\n", "refused 400\n"},
    {"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n", "refused 400\n"},
    {"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", "refused 400\n"},
    {"CONNECT /status HTTP/1.1\r\nHost: localhost\r\n\r\n", "refused 400\n"},
    /* one behind the other */
    {GET "\r\n" GET "\r\n" GET "\r\n", ON("GET", "1:/", "0:", "0:") ON("GET", "1:/", "0:", "0:")
                                           ON("GET", "1:/", "0:", "0:") "between\n"},
    {POST("Content-Length: 2\r\n", "{}") POST("Content-Length: 3\r\n", "{ }") GET,
     ON("POST", "6:/flush", "0:", "2:{}") ON("POST", "6:/flush", "0:", "3:{ }") "within\n"},
    {GET "\r\nnonsense", ON("GET", "1:/", "0:", "0:") "refused 400\n"},
    /* bodies */
    {POST("Content-Length: 0\r\n", ""), ON("POST", "6:/flush", "0:", "0:") "between\n"},
    {POST("", ""), ON("POST", "6:/flush", "0:", "0:") "between\n"},
    {POST("Content-Length: 4\r\n", "{}"), "within\n"},
    {CHUNKED "2\r\n{}\r\n1;a=b\r\n \r\n0\r\n\r\n",
     ON("POST", "6:/flush", "0:", "3:{} ") "between\n"},
    {CHUNKED "2\r\n{}\r\n0\r\nHost: other\r\nAuthorization: Bearer y\r\n\r\n",
     ON("POST", "6:/flush", "0:", "2:{}") "between\n"},
    {CHUNKED "0\r\n\r\n" GET "\r\n",
     ON("POST", "6:/flush", "0:", "0:") ON("GET", "1:/", "0:", "0:") "between\n"},
    {CHUNKED "x\r\n", "refused 400\n"},
    {CHUNKED "2\r\n{}x", NULL}, /* as Debian builds http-parser, it does not look at these bytes */
    {CHUNKED "fffffffffffffffff\r\n", "refused 400\n"},
    {CHUNKED "-2\r\n{}\r\n", "refused 400\n"},
    {POST("Content-Length: -1\r\n", ""), "refused 400\n"},
    {POST("Content-Length: 1x\r\n", "{}"), "refused 400\n"},
    {POST("Content-Length: 1, 1\r\n", "{}"), "refused 400\n"},
    {POST("Content-Length: 99999999999999999999999\r\n", ""), "refused 400\n"},
    /* two truths about where a request ends */
    {POST("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"), "refused 400\n"},
    {POST("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), "refused 400\n"},
    {POST("Transfer-Encoding: gzip\r\n", ""), "refused 400\n"},
    {POST("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Transfer-Encoding:\vchunked\r\n", "0\r\n\r\n"), "refused 400\n"},
    {POST("Content-Length : 2\r\n", "{}"), "refused 400\n"},
    /* two hosts, two tokens; and none */
    {GET "Host: other\r\n\r\n", "refused 400\n"},
    {GET "Host:\r\n\r\n", "refused 400\n"},
    {GET "Authorization: a\r\nauthorization: b\r\n\r\n", "refused 400\n"},
    {GET "Origin: a\r\nOrigin: a\r\n\r\n", "refused 400\n"},
    {"GET / HTTP/1.1\r\n\r\n", "refused 400\n"},
    {"GET / HTTP/1.1\r\nHost:\r\n\r\n",
     "GET path=1:/ query=0: token=0: host=0: origin=0: body=0: on\nbetween\n"},
    /* a header over two lines */
    {GET "Authorization: Bearer\r\n  x\r\n\r\n", NULL},
    /* offers to speak something else */
    {GET "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n" GET
         "\r\n",
     ON("GET", "1:/", "0:", "0:") ON("GET", "1:/", "0:", "0:") "between\n"},
    {POST("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n", "{}") GET "\r\n",
     ON("POST", "6:/flush", "0:", "2:{}") ON("GET", "1:/", "0:", "0:") "between\n"},
    {POST("Connection: Upgrade\r\nUpgrade: x\r\nTransfer-Encoding: chunked\r\n",
          "1\r\n{\r\n0\r\n\r\n"),
     ON("POST", "6:/flush", "0:", "1:{") "between\n"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "refused 400\n"},
    {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", "refused 505\n"},
    {"GET / HTTP/0.9\r\nHost: localhost\r\n\r\n", "refused 505\n"},
    {"GET /\r\n\r\n", "refused 505\n"},
    {"GET / HTTP/x.1\r\nHost: localhost\r\n\r\n", "refused 400\n"},
    /* expectations */
    {POST("Expect: 100-continue\r\nContent-Length: 2\r\n", "{}"),
     ON("POST", "6:/flush", "0:", "2:{}") "between\n"},
    {POST("Expect: 200-ok\r\nContent-Length: 2\r\n", "{}"), "refused 417\n"},
    {"POST / HTTP/1.0\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n",
     LAST("POST", "1:/", "0:", "0:") "between\n"},
    /* what is no HTTP */
    {"\x16\x03\x01\x02", "refused 400\n"},
    {"get / HTTP/1.1\r\n", "refused 400\n"},
    {"GETT / HTTP/1.1\r\n", "refused 400\n"},
    {" GET / HTTP/1.1\r\n", "refused 400\n"},
    {"HTTP/1.1 200 OK\r\n\r\n", "refused 400\n"},
    {GET "no colon\r\n\r\n", "refused 400\n"},
    {GET ": empty\r\n\r\n", "refused 400\n"},
    {GET "a\x01: b\r\n\r\n", "refused 400\n"},
};

static void each_case_is_understood_however_it_is_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        const char *text = cases[i].text;
        char *whole = transcript(text, strlen(text), http_cut_whole, NULL);
        char *bytes = transcript(text, strlen(text), http_cut_bytes, NULL);
        if (cases[i].expected != NULL && strcmp(whole, cases[i].expected) != 0) {
            print_error("case %zu:\n%s\n", i, text);
            assert_string_equal(whole, cases[i].expected);
        }
        if (strcmp(whole, bytes) != 0) {
            print_error("case %zu, byte by byte:\n%s\n", i, text);
            assert_string_equal(bytes, whole);
        }
        free(whole);
        free(bytes);
    }
}

/* A NUL in a line is no HTTP; within a body it is a byte like others. */
static void nul_bytes_are_seen(void **state) {
    (void)state;
    static const char path[] = "GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char value[] = GET "Authorization: Bearer a\0b\r\n\r\n";
    static const char body[] = POST("Content-Length: 3\r\n", "a\0b");
    char *got = transcript(path, sizeof path - 1, http_cut_whole, NULL);
    assert_string_equal(got, "refused 400\n");
    free(got);
    got = transcript(value, sizeof value - 1, http_cut_whole, NULL);
    assert_string_equal(got, "refused 400\n");
    free(got);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    http_cut_transcript(body, sizeof body - 1, http_cut_whole, NULL, HTTP_CUT_STATUS, &out, NULL);
    static const char expected[] =
        "POST path=6:/flush query=0: token=0: host=9:localhost origin=0: body=3:a\0b on\nbetween\n";
    assert_int_equal(out.len, sizeof expected - 1);
    assert_memory_equal(out.data, expected, sizeof expected - 1);
    perftrace__strbuf_free(&out);
}

/* ---- limits ---- */

static char *repeated(const char *before, const char *what, size_t n, const char *after) {
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&b, before);
    for (size_t i = 0; i < n; i++) {
        perftrace__strbuf_puts(&b, what);
    }
    perftrace__strbuf_puts(&b, after);
    return b.data;
}

static bool refused_with(const char *before, const char *what, size_t n, const char *after,
                         unsigned status) {
    char *text = repeated(before, what, n, after);
    char expected[32];
    snprintf(expected, sizeof expected, "refused %u\n", status);
    char *whole = transcript(text, strlen(text), http_cut_whole, NULL);
    char *bytes = transcript(text, strlen(text), http_cut_bytes, NULL);
    assert_string_equal(whole, bytes);
    bool same = strcmp(whole, expected) == 0;
    free(text);
    free(whole);
    free(bytes);
    return same;
}

static void limits_are_exact(void **state) {
    (void)state;
    const char *rest = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_false(refused_with("GET /", "a", 63, rest, 414));
    assert_true(refused_with("GET /", "a", 64, rest, 414));
    assert_true(refused_with("GET /?", "a", 63, rest, 414));
    assert_true(refused_with("GET /", "a", 100000, "", 414)); /* it does not end */
    /* "Host" and "localhost" are 13 bytes of the 256. */
    assert_false(refused_with(GET "A: ", "b", 242, "\r\n\r\n", 431));
    assert_true(refused_with(GET "A: ", "b", 243, "\r\n\r\n", 431));
    assert_true(refused_with(GET, "b", 244, "", 431));
    assert_true(refused_with(GET, "A:\r\n", 244, "\r\n", 431));
    assert_true(refused_with(GET "A:", " ", 100000, "\r\n\r\n", 431));
    assert_true(refused_with(CHUNKED "0\r\n", "A: b\r\n", 200, "\r\n", 431));
    assert_false(refused_with(POST("Content-Length: 128\r\n", ""), "a", 128, "", 413));
    assert_true(refused_with(POST("Content-Length: 129\r\n", ""), "a", 0, "", 413));
    assert_true(refused_with(POST("Content-Length: 1073741824\r\n", ""), "a", 0, "", 413));
    assert_true(
        refused_with(POST("Expect: 100-continue\r\nContent-Length: 129\r\n", ""), "", 0, "", 413));
    assert_false(refused_with(CHUNKED, "1\r\na\r\n", 128, "0\r\n\r\n", 413));
    assert_true(refused_with(CHUNKED, "1\r\na\r\n", 129, "", 413));
    assert_true(refused_with(CHUNKED "40000000\r\n", "a", 129, "", 413));
}

/* ---- 100 ---- */

static unsigned continues_of(const char *text, size_t first) {
    perftrace__http_parser_t *p = perftrace__http_parser_new(&http_cut_limits);
    size_t used;
    unsigned n = perftrace__http_parser_feed(p, text, first, &used) == PERFTRACE__HTTP_CONTINUE;
    assert_int_equal(used, first);
    size_t more = strlen(text) - first;
    assert_int_equal(perftrace__http_parser_feed(p, text + first, more, &used),
                     PERFTRACE__HTTP_REQUEST);
    assert_int_equal(used, more);
    perftrace__http_parser_free(p);
    return n;
}

static void a_client_that_waits_is_told_to_go_on(void **state) {
    (void)state;
    const char *expects = POST("Expect: 100-Continue\r\nContent-Length: 2\r\n", "{}");
    const char *plain = POST("Content-Length: 2\r\n", "{}");
    const char *old = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}";
    assert_int_equal(continues_of(expects, strlen(expects) - 2), 1);
    assert_int_equal(continues_of(expects, strlen(expects) - 1), 0); /* it does not wait */
    assert_int_equal(continues_of(plain, strlen(plain) - 2), 0);
    assert_int_equal(continues_of(old, strlen(old) - 2), 0);
}

/* Once, and not for the request behind it. */
static void one_is_told_once(void **state) {
    (void)state;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    unsigned continues = 0;
    const char *text = POST("Expect: 100-continue\r\nContent-Length: 2\r\n", "{}")
        POST("Content-Length: 2\r\n", "{}");
    http_cut_transcript(text, strlen(text), http_cut_bytes, NULL, HTTP_CUT_STATUS, &out,
                        &continues);
    assert_int_equal(continues, 1);
    perftrace__strbuf_free(&out);
}

/* ---- after the end ---- */

static void after_a_refusal_nothing_is_taken(void **state) {
    (void)state;
    perftrace__http_parser_t *p = perftrace__http_parser_new(&http_cut_limits);
    size_t used = 99;
    assert_int_equal(perftrace__http_parser_feed(p, "!", 1, &used), PERFTRACE__HTTP_REFUSED);
    for (int i = 0; i < 3; i++) {
        used = 99;
        assert_int_equal(perftrace__http_parser_feed(p, GET "\r\n", sizeof GET + 1, &used),
                         PERFTRACE__HTTP_REFUSED);
        assert_int_equal(used, 0);
        assert_int_equal(perftrace__http_parser_status(p), 400);
    }
    perftrace__http_parser_free(p);
    perftrace__http_parser_free(NULL);
}

static void no_bytes_change_nothing(void **state) {
    (void)state;
    perftrace__http_parser_t *p = perftrace__http_parser_new(&http_cut_limits);
    size_t used = 99;
    for (size_t i = 0; i < sizeof GET - 1; i++) {
        assert_int_equal(perftrace__http_parser_feed(p, "", 0, &used), PERFTRACE__HTTP_MORE);
        assert_int_equal(used, 0);
        assert_int_equal(perftrace__http_parser_feed(p, &GET[i], 1, &used), PERFTRACE__HTTP_MORE);
    }
    assert_true(perftrace__http_parser_within(p));
    assert_int_equal(perftrace__http_parser_feed(p, "\r\n", 2, &used), PERFTRACE__HTTP_REQUEST);
    assert_false(perftrace__http_parser_within(p));
    perftrace__http_parser_free(p);
}

/* ---- property ---- */

static size_t random_piece(void *ctx) {
    uint64_t *seed = ctx;
    return base_random_below(seed, base_random_below(seed, 4) == 0 ? 200 : 8);
}

/* Cases behind each other, some bytes changed: whatever it is, cuts do not matter. */
static void random_stream(uint64_t *seed, perftrace__strbuf_t *out) {
    size_t n = 1 + base_random_below(seed, 4);
    for (size_t i = 0; i < n; i++) {
        perftrace__strbuf_puts(out, cases[base_random_below(seed, PT_ARRAY_LEN(cases))].text);
    }
    static const char odd[] = "\r\n:; \t0aF/?#*\0\x80\xff,{}";
    for (size_t k = base_random_below(seed, 4); k > 0 && out->len > 0; k--) {
        out->data[base_random_below(seed, (uint32_t)out->len)] =
            odd[base_random_below(seed, sizeof odd - 1)];
    }
}

static void cuts_do_not_matter(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 20000; round++) {
        uint64_t seed = round * 7919 + 1;
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t whole = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t cut = PERFTRACE__STRBUF_INIT;
        random_stream(&seed, &text);
        http_cut_transcript(text.data, text.len, http_cut_whole, NULL, HTTP_CUT_REFUSED, &whole,
                            NULL);
        http_cut_transcript(text.data, text.len, random_piece, &seed, HTTP_CUT_REFUSED, &cut, NULL);
        if (whole.len != cut.len || memcmp(whole.data, cut.data, whole.len) != 0) {
            print_error("round %llu: %.*s\nwhole: %s\ncut: %s\n", (unsigned long long)round,
                        (int)text.len, text.data, whole.data, cut.data);
            fail();
        }
        perftrace__strbuf_free(&text);
        perftrace__strbuf_free(&whole);
        perftrace__strbuf_free(&cut);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_is_understood_however_it_is_cut),
        cmocka_unit_test(nul_bytes_are_seen),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(a_client_that_waits_is_told_to_go_on),
        cmocka_unit_test(one_is_told_once),
        cmocka_unit_test(after_a_refusal_nothing_is_taken),
        cmocka_unit_test(no_bytes_change_nothing),
        cmocka_unit_test(cuts_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
