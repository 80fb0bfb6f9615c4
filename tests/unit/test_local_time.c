/* test_local_time.c: no fork happens within the C library's calls for local time, whose lock it
 * does not take. SPDX-License-Identifier: MIT */
#include "local_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

static atomic_int within;

struct tm *__real_localtime_r(const time_t *seconds, struct tm *ret);
struct tm *__wrap_localtime_r(const time_t *seconds, struct tm *ret);
time_t __real_mktime(struct tm *tm);
time_t __wrap_mktime(struct tm *tm);

struct tm *__wrap_localtime_r(const time_t *seconds, struct tm *ret) {
    atomic_store(&within, 1);
    usleep(300000);
    ret = __real_localtime_r(seconds, ret);
    atomic_store(&within, 0);
    return ret;
}

time_t __wrap_mktime(struct tm *tm) {
    atomic_store(&within, 1);
    usleep(300000);
    const time_t seconds = __real_mktime(tm);
    atomic_store(&within, 0);
    return seconds;
}

static void *local_time(void *ret) {
    *(bool *)ret = perftrace__local_time(1700000000, &(struct tm){0});
    return NULL;
}

static void *local_seconds(void *ret) {
    *(bool *)ret = perftrace__local_seconds(&(struct tm){.tm_year = 123, .tm_mday = 1}) > 0;
    return NULL;
}

static void fork_beside(void *(*call)(void *)) {
    if (getenv("PERFTRACE_TEST_EMULATED")) {
        skip(); /* qemu-user stops a child that was forked beside a thread */
    }
    pthread_t thread;
    bool good = false;
    int status = 1;
    assert_int_equal(pthread_create(&thread, NULL, call, &good), 0);
    while (!atomic_load(&within)) {
        usleep(1000);
    }
    pid_t pid = fork();
    if (pid == 0) {
        _exit(atomic_load(&within));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(good);
}

static void a_fork_waits_for_local_time(void **state) {
    (void)state;
    fork_beside(local_time);
}

static void a_fork_waits_for_mktime(void **state) {
    (void)state;
    fork_beside(local_seconds);
}

static void a_child_has_local_time(void **state) {
    (void)state;
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        bool good = false;
        local_time(&good);
        _exit(!good);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_waits_for_local_time),
        cmocka_unit_test(a_fork_waits_for_mktime),
        cmocka_unit_test(a_child_has_local_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
