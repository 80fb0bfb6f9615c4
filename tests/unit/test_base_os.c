/* test_base_os.c: the contract with the system. SPDX-License-Identifier: MIT */
#include "os.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void this_process_has_a_start_time_and_a_dead_one_has_none(void **state) {
    (void)state;
    assert_true(perftrace__os_process_start(perftrace__os_pid()) != 0);
    assert_int_equal(perftrace__os_process_start(perftrace__os_pid()),
                     perftrace__os_process_start((uint32_t)getpid()));
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(perftrace__os_process_start((uint32_t)pid), 0); /* a zombie */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(perftrace__os_process_start((uint32_t)pid), 0);
}

static void directories_are_made_with_their_parents(void **state) {
    (void)state;
    char dir[] = "/tmp/perftrace-os-XXXXXX";
    char path[256];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/a/b//c", dir);
    assert_int_equal(perftrace__os_mkdirs(path), 0);
    assert_int_equal(perftrace__os_mkdirs(path), 0);
    struct stat st;
    assert_true(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    snprintf(path, sizeof(path), "%s/a/b/c/file", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_true(perftrace__os_mkdirs(path) < 0);
    snprintf(path, sizeof(path), "%s/a/b/c/file/d", dir);
    assert_int_equal(perftrace__os_mkdirs(path), -ENOTDIR);
    assert_int_equal(perftrace__os_mkdirs(""), -ENOENT);
    char longer[5000];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[0] = '/';
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(perftrace__os_mkdirs(longer), -ENAMETOOLONG);
    snprintf(path, sizeof(path), "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}

static void expands_to(const char *path, const char *want, const char *unset) {
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    const char *missing = NULL;
    perftrace__os_expand_path(&b, path, &missing);
    assert_string_equal(perftrace__strbuf_cstr(&b), want);
    assert_true((missing == NULL) == (unset == NULL));
    assert_true(!unset || strncmp(missing, unset, strlen(unset)) == 0);
    perftrace__strbuf_free(&b);
}

static void variables_and_home_are_expanded(void **state) {
    (void)state;
    setenv("PT_TEST_A", "one", 1);
    setenv("HOME", "/home/me", 1);
    unsetenv("PT_TEST_B");
    expands_to("/x/$PT_TEST_A/${PT_TEST_A}y", "/x/one/oney", NULL);
    expands_to("~/t", "/home/me/t", NULL);
    expands_to("a~", "a~", NULL);
    expands_to("/$PT_TEST_B/z", "//z", "PT_TEST_B");
    expands_to("$", "$", NULL);
    expands_to("${PT_TEST_A", "${PT_TEST_A", NULL);
    expands_to("$1", "$1", NULL);
}

typedef struct wait {
    uint32_t word;
} wait_t;

static void *wake(void *arg) {
    wait_t *w = arg;
    __atomic_store_n(&w->word, 1, __ATOMIC_RELEASE);
    perftrace__os_futex_wake_all(&w->word);
    return NULL;
}

static void a_futex_ends_its_wait_by_a_wake_a_change_or_time(void **state) {
    (void)state;
    wait_t w = {0};
    perftrace__os_futex_wait(&w.word, 7, UINT64_MAX); /* differs: at once */
    perftrace__os_futex_wait(&w.word, 0, 1000);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, wake, &w), 0);
    while (!__atomic_load_n(&w.word, __ATOMIC_ACQUIRE)) {
        perftrace__os_futex_wait(&w.word, 0, UINT64_MAX);
    }
    pthread_join(t, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_has_a_start_time_and_a_dead_one_has_none),
        cmocka_unit_test(directories_are_made_with_their_parents),
        cmocka_unit_test(variables_and_home_are_expanded),
        cmocka_unit_test(a_futex_ends_its_wait_by_a_wake_a_change_or_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
