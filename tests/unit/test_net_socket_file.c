/* test_net_socket_file.c: processes that replace the same dead socket. SPDX-License-Identifier: MIT
 */
#include "http_server.h"
#include "socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PROCESSES 6

/* Under memcheck, which looks for leaks as each process ends, a few say what all would. */
static int rounds(void) {
    const char *few = getenv("PERFTRACE_TEST_ROUNDS");
    return few && atoi(few) > 0 ? atoi(few) : 40;
}

static char folder[64];
static struct sockaddr_un address;

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/perftrace-socket-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(address.sun_path);
    return rmdir(folder); /* a lock that was left would be in the way */
}

static bool exists(const char *ending) {
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s%s", address.sun_path, ending);
    return lstat(path, &st) == 0;
}

/* A server that died: bound, closed, its file left. */
static void leave_dead_socket(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(address.sun_path);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

/* ---- one process ---- */

typedef struct opening {
    perftrace__net_loop_t *loop;
    perftrace__http_server_options_t options;
    perftrace__http_server_t *server;
    int code;
} opening_t;

static void answer_nobody(void *ctx, const perftrace__http_request_t *request,
                          perftrace__http_exchange_t *exchange) {
    perftrace__http_response_t response = {.status = 200, .body = ""};
    (void)ctx;
    (void)request;
    perftrace__http_exchange_answer(exchange, &response);
}

static void open_it(void *ctx) {
    opening_t *o = ctx;
    o->server = perftrace__http_server_open(o->loop, &o->options, &o->code);
}

static void close_it(void *ctx) {
    perftrace__http_server_close(ctx);
}

static int listen_there(opening_t *o) {
    int status;
    *o = (opening_t){.options = {.limits = {.target = 256, .header = 1024, .body = 1024},
                                 .max_connections = 4,
                                 .idle_ms = 1000,
                                 .request_ms = 1000,
                                 .write_ms = 1000,
                                 .handle = answer_nobody}};
    o->options.address.is_unix = o->options.address.local = true;
    o->options.address.to.un = address;
    o->loop = perftrace__net_loop_start("test", &status);
    if (!o->loop) {
        return UV_ENOMEM;
    }
    perftrace__net_loop_call(o->loop, open_it, o);
    return o->server ? 0 : o->code;
}

static void end_it(opening_t *o) {
    if (o->server) {
        perftrace__net_loop_call(o->loop, close_it, o->server);
    }
    perftrace__net_loop_stop(o->loop);
}

/* ---- several ---- */

typedef struct round {
    _Atomic int ready, go, opened, refused, other, leave; /* counts; shared */
} round_t;

static int count(const _Atomic int *place) {
    return atomic_load(place);
}

static void add(_Atomic int *place) {
    atomic_fetch_add(place, 1);
}

static void race(round_t *r) {
    opening_t o;
    add(&r->ready);
    while (count(&r->go) == 0) {
    }
    const int code = listen_there(&o);
    add(code == 0 ? &r->opened : code == UV_EADDRINUSE ? &r->refused : &r->other);
    while (count(&r->leave) == 0) {
        usleep(500);
    }
    if (o.loop) {
        end_it(&o);
    }
    _exit(0);
}

/* Who the kernel says listens behind the name. */
static pid_t listener(void) {
    struct ucred peer = {0, 0, 0};
    socklen_t len = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) {
        peer.pid = -errno;
    }
    close(fd);
    return peer.pid;
}

static void one_of_many_gets_it(void **state) {
    (void)state;
    round_t *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(r != MAP_FAILED);
    const int last = rounds();
    for (int round = 0; round < last; round++) {
        pid_t pids[PROCESSES];
        memset(r, 0, sizeof *r);
        leave_dead_socket();
        for (int i = 0; i < PROCESSES; i++) {
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0) {
                race(r);
            }
        }
        while (count(&r->ready) < PROCESSES) {
            usleep(200);
        }
        add(&r->go);
        while (count(&r->opened) + count(&r->refused) + count(&r->other) < PROCESSES) {
            usleep(200);
        }
        const int opened = count(&r->opened);
        const int refused = count(&r->refused);
        const pid_t pid = listener();
        add(&r->leave);
        bool known = false;
        for (int i = 0; i < PROCESSES; i++) {
            int status = -1;
            known = known || pids[i] == pid;
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_int_equal(status, 0);
        }
        /* One listens, and is reached; the others were told that the name is taken. */
        assert_int_equal(opened, 1);
        assert_int_equal(refused, PROCESSES - 1);
        assert_true(known);
        assert_false(exists(""));
        assert_false(exists(".lock"));
    }
    munmap(r, sizeof *r);
}

static void a_lock_is_waited_for_not_for_ever(void **state) {
    (void)state;
    char path[256];
    opening_t o;
    snprintf(path, sizeof path, "%s.lock", address.sun_path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(listen_there(&o), UV_EBUSY);
    end_it(&o);
    /* Left by a process that was killed, it is nobody's. */
    close(fd);
    assert_int_equal(listen_there(&o), 0);
    assert_false(exists(".lock"));
    assert_true(exists(""));
    end_it(&o);
}

/* What is in the way of the lock is in the way of the lock alone. */
static void without_a_lock_it_is_done_all_the_same(void **state) {
    (void)state;
    char path[256];
    opening_t o;
    leave_dead_socket();
    snprintf(path, sizeof path, "%s.lock", address.sun_path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(listen_there(&o), 0);
    end_it(&o);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/nonexistent/elsewhere", path), 0);
    assert_int_equal(listen_there(&o), 0);
    end_it(&o);
    assert_int_equal(unlink(path), 0);
}

static void what_lives_stays(void **state) {
    (void)state;
    opening_t first;
    opening_t second;
    assert_int_equal(listen_there(&first), 0);
    assert_int_equal(listen_there(&second), UV_EADDRINUSE);
    end_it(&second);
    assert_int_equal(listener(), getpid());
    end_it(&first);
    /* A file that is no socket is nobody's to remove. */
    int fd = open(address.sun_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(listen_there(&first), UV_EADDRINUSE);
    end_it(&first);
    assert_true(exists(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_of_many_gets_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lock_is_waited_for_not_for_ever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_lock_it_is_done_all_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_lives_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
