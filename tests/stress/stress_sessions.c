/* stress_sessions.c: sessions under load, to the end or killed on the way.
 * SPDX-License-Identifier: MIT
 *
 * stress_sessions whole DIR THREADS SESSIONS
 *     one process to its end; the statistics balance, the file has every session
 * stress_sessions kill DIR THREADS SESSIONS RECOVER ROUNDS
 *     a process is killed at a random instant and recovered by the program RECOVER */
#include "session_check.h"

#include <errno.h>
#include <perftrace/perftrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #what,                 \
                    strerror(errno));                                                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static load_book_t *book_make(int64_t sessions) {
    size_t size = sizeof(load_book_t) + (size_t)sessions;
    load_book_t *book = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(book != MAP_FAILED);
    book->sessions = sessions;
    return book;
}

static void start(const char *dir) {
    perftrace_config_t c = PERFTRACE_CONFIG_INIT;
    c.dir = dir;
    c.ring_dir = dir;
    c.rank = 0;
    c.session_enabled = 1;
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    c.block_ms = 600000;
    c.shutdown_ms = 600000;
    c.ring_size = 65536;
    c.flush_ms = 5;
    CHECK(perftrace_init(&c) == 0);
}

static void whole(const char *dir, unsigned threads, int64_t sessions) {
    char path[4200];
    uint64_t records = 0;
    load_book_t *book = book_make(sessions);
    start(dir);
    load_run(book, threads);
    for (int i = 0; i < 3; i++) {
        CHECK(perftrace_save(-1, 1) == 0);
    }
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHECK(perftrace_get_stats(&s) == 0);
    CHECK(s.sessions == (uint64_t)sessions && s.sessions_written == s.sessions);
    CHECK(s.sessions_live == 0 && s.sessions_evicted == 0 && s.session_late == 0);
    CHECK(s.emitted == s.written);
    CHECK(perftrace_shutdown() == 0);
    snprintf(path, sizeof(path), "%s/sessions-r0.jsonl", dir);
    CHECK(session_check(path, book, true, &records));
    CHECK(records == (uint64_t)sessions);
    printf("%llu sessions on %u threads, each with its record\n", (unsigned long long)records,
           threads);
}

static void wait_for_death(pid_t pid, int *ret_status) {
    CHECK(waitpid(pid, ret_status, 0) == pid);
}

static void recover(const char *program, const char *dir) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl(program, program, "--quiet", "--ring-dir", dir, dir, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    wait_for_death(pid, &status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Returns the number of records; *ret_killed: whether the kill came before the end. */
static uint64_t kill_once(const char *dir, unsigned threads, int64_t sessions, const char *program,
                          unsigned ms, bool *ret_killed) {
    char path[4200];
    uint64_t records = 0;
    load_book_t *book = book_make(sessions);
    CHECK(mkdir(dir, 0700) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        start(dir);
        load_run(book, threads);
        CHECK(perftrace_shutdown() == 0);
        _exit(0);
    }
    struct timespec nap = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&nap, NULL);
    kill(pid, SIGKILL);
    int status = 0;
    wait_for_death(pid, &status);
    *ret_killed = WIFSIGNALED(status);
    recover(program, dir);
    snprintf(path, sizeof(path), "%s/sessions-r0.jsonl", dir);
    CHECK(session_check(path, book, !*ret_killed, &records));
    munmap(book, sizeof(load_book_t) + (size_t)sessions);
    char command[8192];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    CHECK(system(command) == 0); /* NOLINT(cert-env33-c): a test's own folder */
    return records;
}

static void kills(const char *dir, unsigned threads, int64_t sessions, const char *program,
                  unsigned rounds) {
    uint64_t records = 0;
    unsigned killed = 0;
    for (unsigned i = 0; i < rounds; i++) {
        char place[4096];
        bool dead = false;
        snprintf(place, sizeof(place), "%s/kill-%u", dir, i);
        /* Spread over the run, early and late. */
        unsigned ms = 20 + (unsigned)(rand() % 1000); /* NOLINT(cert-msc30-c) */
        records += kill_once(place, threads, sessions, program, ms, &dead);
        killed += dead;
    }
    CHECK(killed > 0);
    printf("%u kills in %u runs, %llu records, none missing and none twice\n", killed, rounds,
           (unsigned long long)records);
}

int main(int argc, char **argv) {
    CHECK(argc >= 5);
    unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
    int64_t sessions = strtoll(argv[4], NULL, 10);
    srand((unsigned)time(NULL)); /* NOLINT(cert-msc32-c,cert-msc51-cpp) */
    if (strcmp(argv[1], "whole") == 0) {
        whole(argv[2], threads, sessions);
    } else {
        CHECK(argc == 7);
        kills(argv[2], threads, sessions, argv[5], (unsigned)strtoul(argv[6], NULL, 10));
    }
    return 0;
}
