/* test_forward_tcp.c: the way by TCP, against a server of the test that behaves badly.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_temp.h"
#include "forward_link.h"
#include "os.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HELLO  "{\"type\": \"hello\", \"v\": 1, \"ref\": \"b\"}\n"
#define STREAM "00000000000000ff"

typedef perftrace__forward_link_t link_t;

static const perftrace__forward_link_ops_t *const tcp = &perftrace__forward_tcp;

/* ---- the server: one connection, served by a function ---- */

static struct {
    pthread_t thread;
    int listener;
    char to[128];
    void (*serve)(int fd);
    perftrace__strbuf_t came;
} server;

static void *server_main(void *arg) {
    (void)arg;
    int fd = accept(server.listener, NULL, NULL);
    if (fd >= 0) {
        server.serve(fd);
        close(fd);
    }
    return NULL;
}

static void start(void (*serve)(int fd)) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(server.listener, 4), 0);
    assert_int_equal(getsockname(server.listener, (struct sockaddr *)&a, &len), 0);
    snprintf(server.to, sizeof server.to, "127.0.0.1:%u", ntohs(a.sin_port));
    server.serve = serve;
    assert_int_equal(pthread_create(&server.thread, NULL, server_main, NULL), 0);
}

static void stop(void) {
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listener);
    perftrace__strbuf_free(&server.came);
}

static void say(int fd, const char *text) {
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* Reads until so many '\n' have come or the other side is gone. */
static void hear(int fd, unsigned lines) {
    char c;
    while (lines && read(fd, &c, 1) == 1) {
        perftrace__strbuf_putc(&server.came, c);
        lines -= c == '\n';
    }
}

static void hear_all(int fd) {
    char some[65536];
    for (ssize_t n; (n = read(fd, some, sizeof some)) > 0;) {
        perftrace__strbuf_append(&server.came, some, (size_t)n);
    }
}

/* ---- this side ---- */

static struct {
    unsigned placed, acked, clock;
    uint64_t stream, offset;
    bool last;
    char t1[64], ref[64];
    uint64_t t2, t3;
} got;

static void on_placed(void *ctx, uint64_t stream, uint64_t offset, bool last) {
    (void)ctx;
    got.placed++;
    got.stream = stream;
    got.offset = offset;
    got.last = last;
}

static void on_acked(void *ctx, uint64_t stream, uint64_t offset, bool last) {
    (void)ctx;
    got.acked++;
    got.stream = stream;
    got.offset = offset;
    got.last = last;
}

static void on_clock(void *ctx, const char *t1, uint64_t t2, uint64_t t3, const char *ref) {
    (void)ctx;
    got.clock++;
    snprintf(got.t1, sizeof got.t1, "%s", t1);
    snprintf(got.ref, sizeof got.ref, "%s", ref);
    got.t2 = t2;
    got.t3 = t3;
}

static perftrace__forward_link_options_t options = {.run = "r",
                                                    .token = "",
                                                    .creds = "",
                                                    .tls_ca = "",
                                                    .placed = on_placed,
                                                    .acked = on_acked,
                                                    .clock = on_clock};
static const perftrace__stream_key_t key = {
    .run = "r", .stream = 255, .name = "traces-r0.jsonl", .rank = 0, .world_size = 1};
static char problem[300];

static link_t *open_to(const char *to, uint32_t timeout_ms) {
    options.to = to;
    options.timeout_ms = timeout_ms;
    memset(&got, 0, sizeof got);
    problem[0] = '\0';
    return tcp->open(&options, problem, sizeof problem);
}

static link_t *opened(void) {
    link_t *l = open_to(server.to, 60000);
    if (!l) {
        print_error("%s\n", problem);
    }
    assert_non_null(l);
    return l;
}

/* Waits until it is broken, and why. */
static void breaks(link_t *l, const char *why) {
    while (tcp->wait(l, -1, 60000)) {
    }
    if (!strstr(tcp->problem(l), why)) {
        print_error("%s\n", tcp->problem(l));
    }
    assert_non_null(strstr(tcp->problem(l), why));
    assert_false(tcp->wait(l, -1, 60000)); /* it stays broken, and does not wait */
    assert_int_equal(tcp->ask(l, &key), PERFTRACE__FORWARD_BROKEN);
    tcp->close(l);
}

/* ---- talk that is as it should be ---- */

static void talk(int fd) {
    hear(fd, 1);
    say(fd, "{\"type\": \"hel");
    usleep(20000); /* half a line */
    say(fd, "lo\", \"v\": 1, \"ref\": \"b\"}\n");
    hear(fd, 1);
    say(fd, "{\"type\": \"have\", \"stream\": \"" STREAM "\", \"offset\": 7, \"last\": false}\n"
            "{\"type\": \"ack\", \"stream\": \"" STREAM "\", \"offset\": 9, \"last\": false}\n");
    hear(fd, 1);
    say(fd, "{\"type\": \"clock\", \"t1\": \"then\", \"t2\": \"5\", \"t3\": \"6\", \"ref\": "
            "\"b\"}\n");
    hear(fd, 1);
    char body[3];
    (void)!recv(fd, body, 3, MSG_WAITALL);
    perftrace__strbuf_append(&server.came, body, 3);
    say(fd, "{\"type\": \"ack\", \"stream\": \"" STREAM "\", \"offset\": 12, \"last\": true}\n");
    hear_all(fd);
}

static void messages_go_there_and_back(void **state) {
    (void)state;
    start(talk);
    options.token = "se\"cret";
    link_t *l = opened();
    assert_int_equal(tcp->ask(l, &key), PERFTRACE__FORWARD_SENT);
    while (!got.acked) {
        assert_true(tcp->wait(l, -1, 60000));
    }
    assert_int_equal(got.placed, 1);
    assert_int_equal(got.stream, 255);
    assert_int_equal(got.offset, 9);
    assert_int_equal(tcp->clock(l, "then"), PERFTRACE__FORWARD_SENT);
    while (!got.clock) {
        assert_true(tcp->wait(l, -1, 60000));
    }
    assert_string_equal(got.t1, "then");
    assert_string_equal(got.ref, "b");
    assert_int_equal(got.t2, 5);
    assert_int_equal(got.t3, 6);
    assert_int_equal(tcp->send(l, &key, 9, 3, 7, true, "abc", 3), PERFTRACE__FORWARD_SENT);
    while (got.acked < 2) {
        assert_true(tcp->wait(l, -1, 60000));
    }
    assert_int_equal(got.offset, 12);
    assert_true(got.last);
    assert_true(tcp->wait(l, -1, 20)); /* nothing comes: no fault */
    tcp->close(l);
    pthread_join(server.thread, NULL);
    server.thread = pthread_self();
    const char *p = server.came.data;
    static const perftrace__stream_type_t types[] = {
        PERFTRACE__STREAM_HELLO, PERFTRACE__STREAM_HAVE, PERFTRACE__STREAM_CLOCK,
        PERFTRACE__STREAM_DATA};
    perftrace__stream_message_t m;
    const char *wrong = NULL;
    for (unsigned i = 0; i < PT_ARRAY_LEN(types); i++) {
        const char *end = strchr(p, '\n');
        assert_true(perftrace__stream_parse(p, (size_t)(end - p), &m, &wrong));
        assert_int_equal(m.type, types[i]);
        if (i == 0) {
            assert_string_equal(m.token, "se\"cret");
        }
        p = end + 1;
    }
    assert_int_equal(m.offset, 9);
    assert_int_equal(m.size, 3);
    assert_int_equal(m.packed, 3);
    assert_int_equal(m.acked, 7);
    assert_true(m.last);
    assert_string_equal(p, "abc");
    options.token = "";
    close(server.listener);
    perftrace__strbuf_free(&server.came);
}

static void a_wake_ends_the_wait(void **state) {
    (void)state;
    int fd[2];
    start(talk);
    link_t *l = opened();
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], "", 1), 1);
    assert_true(tcp->wait(l, fd[0], UINT32_MAX));
    assert_int_equal(got.placed + got.acked + got.clock, 0);
    close(fd[0]);
    close(fd[1]);
    tcp->close(l);
    stop();
}

/* ---- what is no collector ---- */

static const char *answer;

static void answer_hello(int fd) {
    hear(fd, 1);
    say(fd, answer);
    hear_all(fd);
}

static void greet_and_answer(int fd) {
    hear(fd, 1);
    say(fd, HELLO);
    hear(fd, 1);
    say(fd, answer);
    hear_all(fd);
}

static void close_at_hello(int fd) {
    hear(fd, 1);
}

static void close_at_once(int fd) {
    (void)fd;
}

static void garbage_instead_of_hello(void **state) {
    (void)state;
    static char endless[20000];
    memset(endless, 'x', sizeof endless - 1);
    const struct {
        const char *answer;
        const char *why;
    } cases[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "is no perf-trace-collect"},
        {"\n", "is no perf-trace-collect"},
        {"{}\n", "is no perf-trace-collect"},
        {"{\"type\": \"data\"}\n", "is no perf-trace-collect"},
        {endless, "is no perf-trace-collect"},
        {"{\"type\": \"error\", \"text\": \"wrong token\"}\n", "refused: wrong token"},
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(cases); i++) {
        answer = cases[i].answer;
        start(answer_hello);
        assert_null(open_to(server.to, 60000));
        if (!strstr(problem, cases[i].why)) {
            print_error("%u: %s\n", i, problem);
        }
        assert_non_null(strstr(problem, cases[i].why));
        stop();
    }
}

static void garbage_later(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        const char *why;
    } cases[] = {
        {"\x01\x02\x03\n", "is no perf-trace-collect"},
        {"{\"type\": \"have\", \"stream\": \"xyz\", \"offset\": 1}\n", "is no perf-trace-collect"},
        {"{\"type\": \"ack\", \"stream\": \"" STREAM "\", \"offset\": -1}\n",
         "is no perf-trace-collect"},
        {"{\"type\": \"error\", \"text\": \"another run\"}\n", "refused: another run"},
    };
    for (unsigned i = 0; i < PT_ARRAY_LEN(cases); i++) {
        answer = cases[i].answer;
        start(greet_and_answer);
        link_t *l = opened();
        assert_int_equal(tcp->ask(l, &key), PERFTRACE__FORWARD_SENT);
        breaks(l, cases[i].why);
        assert_int_equal(got.placed + got.acked, 0);
        stop();
    }
}

/* ---- silence, and connections that end ---- */

static void nobody_says_anything(void **state) {
    (void)state;
    start(hear_all);
    assert_null(open_to(server.to, 200));
    assert_non_null(strstr(problem, "says nothing"));
    stop();
}

static void half_a_line_and_silence(void **state) {
    (void)state;
    answer = "{\"type\": \"hello\", ";
    start(answer_hello);
    assert_null(open_to(server.to, 200));
    assert_non_null(strstr(problem, "says nothing"));
    stop();
}

static void nobody_accepts(void **state) {
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    char to[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(to, sizeof to, "127.0.0.1:%u", ntohs(a.sin_port));
    assert_null(open_to(to, 60000)); /* nobody listens */
    assert_string_equal(problem, strerror(ECONNREFUSED));
    assert_int_equal(listen(fd, 0), 0);
    /* Its queue is filled; the system of a listener that is not served lets later ones wait. */
    int more[4];
    for (unsigned i = 0; i < 4; i++) {
        more[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(more[i], (struct sockaddr *)&a, sizeof a);
    }
    assert_null(open_to(to, 300));
    assert_true(strcmp(problem, strerror(ETIMEDOUT)) == 0 || strstr(problem, "says nothing"));
    for (unsigned i = 0; i < 4; i++) {
        close(more[i]);
    }
    close(fd);
}

static void greet(int fd) {
    say(fd, HELLO);
    hear_all(fd);
}

/* With two_addresses a host has 127.0.0.2 before the one that is asked for. */
static bool two_addresses;
int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list) {
    int rc = __real_getaddrinfo(two_addresses ? "127.0.0.2" : host, port, hints, list);
    return rc || !two_addresses ? rc : __real_getaddrinfo(host, port, hints, &(*list)->ai_next);
}

/* The first address takes no connection any more: its queue is full. */
static void the_second_address_gets_its_turn(void **state) {
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002)};
    int waiting[4];
    start(greet);
    a.sin_port = htons((uint16_t)strtoul(strchr(server.to, ':') + 1, NULL, 10));
    int full = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(full, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(full, 0), 0);
    for (unsigned i = 0; i < PT_ARRAY_LEN(waiting); i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(waiting[i], (struct sockaddr *)&a, sizeof a);
    }
    two_addresses = true;
    link_t *l = open_to(server.to, 3000);
    two_addresses = false;
    assert_string_equal(problem, "");
    assert_non_null(l);
    tcp->close(l);
    for (unsigned i = 0; i < PT_ARRAY_LEN(waiting); i++) {
        close(waiting[i]);
    }
    close(full);
    stop();
}

static void it_closes(void **state) {
    (void)state;
    start(close_at_once);
    assert_null(open_to(server.to, 60000));
    assert_true(strstr(problem, "closed the connection") || strstr(problem, "connection ended"));
    stop();
    start(close_at_hello);
    assert_null(open_to(server.to, 60000));
    assert_non_null(strstr(problem, "closed the connection"));
    stop();
}

static void close_after_hello(int fd) {
    hear(fd, 1);
    say(fd, HELLO);
    hear(fd, 1);
    say(fd, "{\"type\": \"ack\", \"stream\": \"" STREAM "\", \"offset\": 5, \"last\": false}\n"
            "{\"type\": \"ack\", \"stream\"");
}

static void it_closes_within_a_line(void **state) {
    (void)state;
    start(close_after_hello);
    link_t *l = opened();
    assert_int_equal(tcp->ask(l, &key), PERFTRACE__FORWARD_SENT);
    breaks(l, "closed the connection");
    assert_int_equal(got.acked, 1); /* what came before counts */
    assert_int_equal(got.offset, 5);
    stop();
}

/* ---- a reader that is slow ---- */

static int go[2];

static void read_when_told(int fd) {
    char c;
    hear(fd, 1);
    say(fd, HELLO);
    (void)!read(go[0], &c, 1);
    hear_all(fd);
}

static void a_slow_reader_is_waited_for(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    char *body = malloc(SIZE);
    unsigned sent = 0;
    memset(body, 'b', SIZE);
    assert_int_equal(pipe(go), 0);
    start(read_when_told);
    link_t *l = opened();
    perftrace__forward_sent_t s;
    while ((s = tcp->send(l, &key, sent, 10, 0, false, body, SIZE)) == PERFTRACE__FORWARD_SENT) {
        sent++;
        assert_true(sent < 10000); /* it is bounded what waits here */
    }
    assert_int_equal(s, PERFTRACE__FORWARD_FULL);
    assert_int_equal(tcp->ask(l, &key), PERFTRACE__FORWARD_FULL);
    assert_int_equal(tcp->clock(l, "1"), PERFTRACE__FORWARD_FULL);
    assert_true(tcp->wait(l, -1, 50)); /* no longer than that */
    assert_int_equal(write(go[1], "", 1), 1);
    while ((s = tcp->send(l, &key, sent, 10, 0, false, body, SIZE)) == PERFTRACE__FORWARD_FULL) {
        assert_true(tcp->wait(l, -1, 60000));
    }
    assert_int_equal(s, PERFTRACE__FORWARD_SENT);
    sent++;
    /* What waits is taken as the other side reads. */
    for (int idle = 0; idle < 3;) {
        uint64_t before = perftrace__os_mono_ns();
        assert_true(tcp->wait(l, -1, 100));
        idle += perftrace__os_mono_ns() - before > 90000000u;
    }
    tcp->close(l);
    pthread_join(server.thread, NULL);
    /* All of it, none within another. */
    const char *p = strchr(server.came.data, '\n') + 1;
    for (unsigned i = 0; i < sent; i++) {
        perftrace__stream_message_t m;
        const char *wrong = NULL;
        const char *end = memchr(p, '\n', (size_t)(server.came.data + server.came.len - p));
        assert_non_null(end);
        assert_true(perftrace__stream_parse(p, (size_t)(end - p), &m, &wrong));
        assert_int_equal(m.offset, i);
        assert_memory_equal(end + 1, body, SIZE);
        p = end + 1 + SIZE;
    }
    assert_ptr_equal(p, server.came.data + server.came.len);
    close(server.listener);
    close(go[0]);
    close(go[1]);
    perftrace__strbuf_free(&server.came);
    free(body);
}

/* ---- addresses ---- */

static void addresses(void **state) {
    (void)state;
    static const char *const forms[] = {"", "host", "host:", ":1", "[::1]", "[::1:5", "[]:5"};
    for (unsigned i = 0; i < PT_ARRAY_LEN(forms); i++) {
        assert_null(open_to(forms[i], 1000));
        assert_true(problem[0] != '\0');
    }
    assert_null(open_to("host", 1000));
    assert_string_equal(problem, "not of the form HOST:PORT");
    assert_null(open_to("unix:none", 1000));
    assert_string_equal(problem, strerror(ENOENT));
    char path[300] = "unix:";
    memset(path + 5, 'x', 200);
    assert_null(open_to(path, 1000));
    assert_string_equal(problem, strerror(ENAMETOOLONG));
    const char *to = NULL;
    assert_ptr_equal(perftrace__forward_link_find("tcp:a:1", &to, problem, sizeof problem), tcp);
    assert_string_equal(to, "a:1");
    assert_ptr_equal(perftrace__forward_link_find("tcp://a:1", &to, problem, sizeof problem), tcp);
    assert_string_equal(to, "a:1");
    assert_null(perftrace__forward_link_find("http://a", &to, problem, sizeof problem));
    assert_non_null(strstr(problem, "tcp:, nats:// and tls://"));
}

static void a_socket_file(void **state) {
    (void)state;
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "s"};
    server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(server.listener, 1), 0);
    server.serve = greet_and_answer;
    answer = "";
    assert_int_equal(pthread_create(&server.thread, NULL, server_main, NULL), 0);
    link_t *l = open_to("unix:s", 60000);
    assert_non_null(l);
    tcp->close(l);
    stop();
}

static void all_descriptors_are_closed(void **state) {
    (void)state;
    answer = "";
    start(greet_and_answer);
    link_t *l = opened();
    int probe = dup(0);
    for (int fd = 3; fd < probe; fd++) { /* that of the link is among them */
        int type;
        socklen_t len = sizeof type;
        struct sockaddr_in peer;
        socklen_t size = sizeof peer;
        if (fd != server.listener && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
            getpeername(fd, (struct sockaddr *)&peer, &size) == 0) {
            char to[64];
            snprintf(to, sizeof to, "127.0.0.1:%u", ntohs(peer.sin_port));
            if (strcmp(to, server.to) == 0) {
                close(fd);
            }
        }
    }
    close(probe);
    breaks(l, "descriptor");
    stop();
}

static int enter(void **state) {
    (void)state;
    temp_enter();
    return 0;
}

static int leave(void **state) {
    (void)state;
    temp_leave();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_there_and_back),
        cmocka_unit_test(a_wake_ends_the_wait),
        cmocka_unit_test(garbage_instead_of_hello),
        cmocka_unit_test(garbage_later),
        cmocka_unit_test(nobody_says_anything),
        cmocka_unit_test(half_a_line_and_silence),
        cmocka_unit_test(nobody_accepts),
        cmocka_unit_test(the_second_address_gets_its_turn),
        cmocka_unit_test(it_closes),
        cmocka_unit_test(it_closes_within_a_line),
        cmocka_unit_test(a_slow_reader_is_waited_for),
        cmocka_unit_test(addresses),
        cmocka_unit_test(a_socket_file),
        cmocka_unit_test(all_descriptors_are_closed),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
