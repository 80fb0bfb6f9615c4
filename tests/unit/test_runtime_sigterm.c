/* test_runtime_sigterm.c: SIGTERM where the program has a handler of its own.
 * SPDX-License-Identifier: MIT
 *
 * What it asked of the system must hold as if there were no handler of ours before its own. */
#include "traced_case.h"

#include "drain.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- between the library and the system ---- */

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

static bool raise_at_install;

/* The signal comes when the new handler is there and before the caller is told of the old one. */
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
    struct sigaction before;
    const int rc = __real_sigaction(sig, act, &before);
    if (raise_at_install && act) {
        raise_at_install = false;
        raise(sig);
    }
    if (old) {
        *old = before;
    }
    return rc;
}

void __real_perftrace__drain_wake(perftrace__drain_t *d);
void __wrap_perftrace__drain_wake(perftrace__drain_t *d);
void __real_perftrace__drain_free(perftrace__drain_t *d);
void __wrap_perftrace__drain_free(perftrace__drain_t *d);

static pthread_t waker; /* its next look at a drain lasts until it may go */
static int hold, held, go;
static unsigned freed;

void __wrap_perftrace__drain_wake(perftrace__drain_t *d) {
    if (__atomic_load_n(&hold, __ATOMIC_ACQUIRE) && pthread_equal(pthread_self(), waker)) {
        __atomic_store_n(&hold, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
            usleep(1000);
        }
    }
    __real_perftrace__drain_wake(d);
}

void __wrap_perftrace__drain_free(perftrace__drain_t *d) {
    freed++;
    __real_perftrace__drain_free(d);
}

static void await(const int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        usleep(1000);
    }
}

/* ---- the program ---- */

static int handled;

static void own_handler(int sig) {
    (void)sig;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED); /* other threads look at it */
}

static void handle_with(void (*handler)(int), int flags, int blocked) {
    struct sigaction sa = {.sa_flags = flags};
    sa.sa_handler = handler;
    if (blocked) {
        sigaddset(&sa.sa_mask, blocked);
    }
    CHILD_CHECK(sigaction(SIGTERM, &sa, NULL) == 0);
}

static void start_with_sigterm(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.shutdown_ms = 60000; /* a busy machine and sanitizers take longer than the default */
    CHILD_CHECK(perftrace_init(&c) == 0);
}

static void handle_sigterm(const char *where) {
    handle_with(own_handler, 0, 0);
    start_with_sigterm(where);
    raise(SIGTERM);
    CHILD_CHECK(handled == 1);
    raise(SIGTERM);
    CHILD_CHECK(handled == 2);
    PERFTRACE_INSTANT("after");
}

static void the_programs_own_handler_decides(void **state) {
    (void)state;
    traced_file_t f = run(handle_sigterm);
    assert_int_equal(traced_count(&f, "after"), 1);
    traced_free(&f);
}

static void handle_while_starting(const char *where) {
    handle_with(own_handler, 0, 0);
    raise_at_install = true;
    start_with_sigterm(where);
    CHILD_CHECK(!raise_at_install && handled == 1);
    PERFTRACE_INSTANT("after");
}

static void a_signal_at_the_start_finds_the_programs_handler(void **state) {
    (void)state;
    traced_file_t f = run(handle_while_starting);
    assert_int_equal(traced_count(&f, "after"), 1);
    traced_free(&f);
}

/* ---- calls that wait ---- */

static int ends[2]; /* of a pipe */
static int has_read;
static bool restarts;

/* Signals to the reader until it returns; it is to go on: a byte after some of them. */
static void *disturb(void *arg) {
    (void)arg;
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ours, NULL); /* it comes to the reader */
    while (!__atomic_load_n(&has_read, __ATOMIC_ACQUIRE)) {
        kill(getpid(), SIGTERM);
        usleep(10000);
        if (restarts && __atomic_load_n(&handled, __ATOMIC_RELAXED) >= 5) {
            CHILD_CHECK(write(ends[1], "x", 1) == 1);
            break;
        }
    }
    return NULL;
}

static void read_disturbed(const char *where, int flags) {
    handle_with(own_handler, flags, 0);
    start_with_sigterm(where);
    CHILD_CHECK(pipe(ends) == 0);
    restarts = flags & SA_RESTART;
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, disturb, NULL) == 0);
    char byte;
    ssize_t n = read(ends[0], &byte, 1);
    int error = errno;
    __atomic_store_n(&has_read, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    CHILD_CHECK(handled > 0);
    CHILD_CHECK(restarts ? n == 1 && byte == 'x' : n == -1 && error == EINTR);
}

static void read_without_restart(const char *where) {
    read_disturbed(where, 0);
}

static void read_with_restart(const char *where) {
    read_disturbed(where, SA_RESTART);
}

/* ThreadSanitizer delivers signals in its own way: behind calls, on its own stack, by nobody. */
static void need_plain_signals(void) {
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static void calls_are_interrupted_as_the_program_asked(void **state) {
    (void)state;
    need_plain_signals();
    traced_run(read_without_restart, dir);
    drop_dir(NULL);
    traced_dir_make(dir);
    traced_run(read_with_restart, dir);
}

/* ---- mask and flags ---- */

static volatile sig_atomic_t inside, usr_inside, usr_handled;

static void raise_the_other(int sig) {
    inside = 1;
    raise(SIGUSR1);
    inside = 0;
    own_handler(sig);
}

static void handle_usr(int sig) {
    (void)sig;
    usr_inside += inside;
    usr_handled = usr_handled + 1;
}

static void block_the_other(const char *where) {
    signal(SIGUSR1, handle_usr);
    handle_with(raise_the_other, 0, SIGUSR1);
    start_with_sigterm(where);
    raise(SIGTERM);
    CHILD_CHECK(handled == 1 && usr_handled == 1 && usr_inside == 0);
    raise(SIGUSR1); /* not blocked any more */
    CHILD_CHECK(usr_handled == 2);
}

static void what_the_handler_blocks_waits_for_its_end(void **state) {
    (void)state;
    traced_run(block_the_other, dir);
}

static _Alignas(16) char other_stack[65536];
static volatile sig_atomic_t on_other_stack, depth, deepest;

static void look_at_stack(int sig) {
    stack_t now;
    on_other_stack = sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK);
    deepest = ++depth > deepest ? depth : deepest;
    own_handler(sig);
    if (handled == 1) {
        raise(sig); /* comes at once */
    }
    depth = depth - 1;
}

static void on_another_stack(const char *where) {
    const stack_t other = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
    CHILD_CHECK(sigaltstack(&other, NULL) == 0);
    handle_with(look_at_stack, SA_ONSTACK | SA_NODEFER, 0);
    start_with_sigterm(where);
    raise(SIGTERM);
    CHILD_CHECK(on_other_stack && handled == 2 && deepest == 2);
}

static void stack_and_nesting_are_the_programs(void **state) {
    (void)state;
    need_plain_signals();
    if (getenv("PERFTRACE_TEST_MEMCHECK") != NULL) {
        skip(); /* it takes the program's stack for unused memory, in one run of twenty */
    }
    traced_run(on_another_stack, dir);
}

static volatile sig_atomic_t sender;

static void look_at_sender(int sig, siginfo_t *info, void *context) {
    (void)context;
    sender = sig == SIGTERM && info->si_pid == getpid();
    errno = EBADF;
}

static void who_sent_it(const char *where) {
    struct sigaction sa = {.sa_flags = SA_SIGINFO};
    sa.sa_sigaction = look_at_sender;
    CHILD_CHECK(sigaction(SIGTERM, &sa, NULL) == 0);
    start_with_sigterm(where);
    kill(getpid(), SIGTERM);
    CHILD_CHECK(sender && errno == EBADF);
}

static void the_handler_is_told_who_sent_it(void **state) {
    (void)state;
    need_plain_signals();
    traced_run(who_sent_it, dir);
}

/* ---- the default ---- */

static void handle_only_once(const char *where) {
    handle_with(own_handler, (int)SA_RESETHAND, 0);
    start_with_sigterm(where);
    raise(SIGTERM);
    CHILD_CHECK(handled == 1);
    for (int i = 0; i < 200; i++) {
        PERFTRACE_INSTANT("i");
    }
    raise(SIGTERM);
    for (;;) {
        CHILD_CHECK(handled == 1);
        usleep(1000);
    }
}

/* To the system that is the default. */
static void default_with_flags(const char *where) {
    handle_with(SIG_DFL, SA_SIGINFO, SIGUSR1);
    start_with_sigterm(where);
    for (int i = 0; i < 200; i++) {
        PERFTRACE_INSTANT("i");
    }
    raise(SIGTERM);
    for (;;) {
        usleep(1000);
    }
}

static void where_it_kills_the_file_is_whole(void **state) {
    (void)state;
    void (*const programs[])(const char *) = {handle_only_once, default_with_flags};
    for (size_t i = 0; i < 2; i++) {
        int status = traced_wait_status(programs[i], dir);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        traced_file_t f = traced_read(dir, "traces-r0.jsonl");
        assert_int_equal(traced_count(&f, "i"), 200);
        assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
        assert_int_equal(traced_files(dir, "*.ring"), 0);
        traced_free(&f);
        drop_dir(NULL);
        traced_dir_make(dir);
    }
}

static void ignore_it(const char *where) {
    signal(SIGTERM, SIG_IGN);
    start_with_sigterm(where);
    struct sigaction now;
    CHILD_CHECK(sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
    raise(SIGTERM);
    CHILD_CHECK(perftrace_shutdown() == 0);
    /* The next run of a program that has thought better of it. */
    handle_with(own_handler, 0, 0);
    start_with_sigterm(where);
    CHILD_CHECK(sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler != own_handler);
    raise(SIGTERM);
    CHILD_CHECK(handled == 1);
}

static void where_it_is_ignored_it_stays_ignored(void **state) {
    (void)state;
    traced_run(ignore_it, dir);
}

/* ---- a run that ends meanwhile ---- */

static void *be_held(void *arg) {
    (void)arg;
    __atomic_store_n(&hold, 1, __ATOMIC_RELEASE);
    raise(SIGTERM);
    return NULL;
}

static void end_while_looked_at(const char *where) {
    handle_with(own_handler, 0, 0);
    start_with_sigterm(where);
    PERFTRACE_INSTANT("i");
    CHILD_CHECK(pthread_create(&waker, NULL, be_held, NULL) == 0);
    await(&held);
    CHILD_CHECK(perftrace_shutdown() == 0); /* does not wait for the handler */
    CHILD_CHECK(freed == 0);
    start_with_sigterm(where); /* nor does this take away what it looks at */
    CHILD_CHECK(freed == 0);
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    pthread_join(waker, NULL);
    CHILD_CHECK(handled == 1);
    CHILD_CHECK(perftrace_shutdown() == 0);
    CHILD_CHECK(freed == 1); /* the second run's */
    start_with_sigterm(where);
    CHILD_CHECK(freed == 2); /* the first one's, now */
}

static void a_run_may_end_while_a_handler_looks_at_it(void **state) {
    (void)state;
    traced_file_t f = run(end_while_looked_at);
    assert_int_equal(traced_count(&f, "i"), 1);
    assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
    traced_free(&f);
}

static sigjmp_buf back;

static void jump(int sig) {
    (void)sig;
    siglongjmp(back, 1);
}

static void jump_out(const char *where) {
    handle_with(jump, 0, 0);
    start_with_sigterm(where);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            raise(SIGTERM);
            CHILD_CHECK(false);
        }
    }
    CHILD_CHECK(perftrace_shutdown() == 0);
    CHILD_CHECK(freed == 1); /* no handler counts as looking at it */
}

static void a_handler_may_jump_out(void **state) {
    (void)state;
    traced_run(jump_out, dir);
}

/* The thread that ends the run is stopped in the middle of it. */
static void raise_at_end(int level, const char *message, void *user) {
    (void)level;
    (void)user;
    if (strstr(message, "wrote ")) {
        raise(SIGTERM);
    }
}

static void handle_while_ending(const char *where) {
    handle_with(own_handler, 0, 0);
    perftrace_config_t c = traced_config(where);
    c.sigterm = 1;
    c.log = raise_at_end;
    CHILD_CHECK(perftrace_init(&c) == 0);
    PERFTRACE_INSTANT("i");
    CHILD_CHECK(perftrace_shutdown() == 0);
    CHILD_CHECK(handled == 1 && freed == 1);
}

static void the_handler_runs_in_the_middle_of_the_end(void **state) {
    (void)state;
    traced_file_t f = run(handle_while_ending);
    assert_int_equal(traced_count(&f, "i"), 1);
    assert_int_equal(traced_count(&f, "perftrace_footer"), 1);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_programs_own_handler_decides),
        CASE(a_signal_at_the_start_finds_the_programs_handler),
        CASE(calls_are_interrupted_as_the_program_asked),
        CASE(what_the_handler_blocks_waits_for_its_end),
        CASE(stack_and_nesting_are_the_programs),
        CASE(the_handler_is_told_who_sent_it),
        CASE(where_it_kills_the_file_is_whole),
        CASE(where_it_is_ignored_it_stays_ignored),
        CASE(a_run_may_end_while_a_handler_looks_at_it),
        CASE(a_handler_may_jump_out),
        CASE(the_handler_runs_in_the_middle_of_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
