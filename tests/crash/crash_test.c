/* crash_test.c: kills tracing programs in every way and compares. SPDX-License-Identifier: MIT
 *
 * crash_test MODE WRITER RECOVER CONVERT WORK KEEP [COUNT]
 * The writer counts each event in a shared file after its scope has ended. After the kill the trace
 * is recovered; it must hold what was counted and at most one event more of each thread, in order,
 * nothing twice, each line strict, the account right. CONVERT and KEEP may be "-". */
#include "crash_run.h"
#include "crash_sessions.h"
#include "test_point.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t random_state;

static unsigned random_below(unsigned n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % n;
}

static const crash_case_t usual = {.name = "usual",
                                   .threads = 2,
                                   .flush_ms = 1,
                                   .ring_kib = 64,
                                   .events = 4000,
                                   .ending = "return"};

/* ---- every test point ---------------------------------------------------------------------------
 */

/* Before the recovery: nothing was written and nothing is lost, the trace is gone or cut, nothing
 * is lost of what was written, the sessions file is gone. */
enum { LOSE_NOTHING, LOSE_FILE, LOSE_END, LOSE_NOTHING_WRITTEN, LOSE_SESSIONS, LOSE_COUNT };

/* A point of the recovery: the writer is killed with a backlog, then the recovery at the point; the
 * next one must come to the same as if nothing had happened. */
static bool kill_recovery(crash_place_t *p, const char *point, int how) {
    crash_case_t c = usual;
    c.name = point;
    c.flush_ms = how < LOSE_NOTHING_WRITTEN ? 60000 : 2;
    c.ring_kib = 8192; /* little is written before the kill but for the flushes */
    c.pace_us = 100;
    c.events = 1500;
    c.ending = "_exit";
    c.drop = how == LOSE_FILE || how == LOSE_END;
    c.meddled = c.drop || how == LOSE_SESSIONS;
    crash_begin(p);
    crash_wait(crash_start(p, &c, p->side));
    char file[PATH_MAX];
    snprintf(file, sizeof(file), "%s/traces-r5.jsonl", p->dir);
    /* Numbers are missing then, and the account must say how many. */
    if (how == LOSE_FILE) {
        unlink(file);
    } else if (how == LOSE_END && truncate(file, 300) != 0) {
        crash_fail(p, &c, "the file cannot be cut");
    } else if (how == LOSE_SESSIONS) {
        snprintf(file, sizeof(file), "%s/sessions-r5.jsonl", p->dir);
        unlink(file); /* on a busy machine it was not made yet */
    }
    bool killed = WIFSIGNALED(crash_wait(crash_start_recover(p, point)));
    crash_recover_and_check(p, &c, false);
    return killed;
}

/* A point of a start that recovers what the last run left. */
static bool kill_next_start(crash_place_t *p, const char *point) {
    crash_case_t c = usual;
    c.name = point;
    c.ending = "_exit";
    crash_begin(p);
    crash_wait(crash_start(p, &c, p->side));
    crash_case_t next = usual;
    next.name = "next start";
    next.point = point;
    char side[PATH_MAX];
    char file[PATH_MAX];
    snprintf(side, sizeof(side), "%s.next", p->side);
    unlink(side);
    bool killed = WIFSIGNALED(crash_wait(crash_start(p, &next, side)));
    if (crash_recover(p) != 0) {
        crash_fail(p, &next, "perf-trace-recover failed");
    }
    crash_check_clean(p, &next, true);
    snprintf(file, sizeof(file), "%s/traces-r5.jsonl", p->dir);
    crash_check(p, &c, file, p->side, false);
    snprintf(file, sizeof(file), "%s/traces-r5.1.jsonl", p->dir);
    crash_check(p, &next, file, side, false);
    return killed;
}

static void test_points(crash_place_t *p) {
    static const unsigned passages[] = {1, 2, 5, 50};
    for (const char *const *name = perftrace__test_point_names; *name; name++) {
        unsigned kills = 0;
        for (unsigned i = 0; i < sizeof(passages) / sizeof(*passages); i++) {
            char point[64];
            snprintf(point, sizeof(point), "%s:%u", *name, passages[i]);
            for (unsigned k = 0; k < 4; k++) {
                crash_case_t c = usual;
                c.name = point;
                c.point = point;
                c.threads = k & 1 ? 4 : 1;
                c.drop = k & 2;
                c.life = k == 3 ? 700 : 0;
                crash_begin(p);
                kills += WIFSIGNALED(crash_wait(crash_start(p, &c, p->side)));
                crash_recover_and_check(p, &c, false);
            }
        }
        for (int how = 0; how < LOSE_COUNT; how++) {
            kills += kill_recovery(p, *name, how);
        }
        kills += kill_next_start(p, *name);
        printf("%s: %u kills\n", *name, kills);
        if (kills == 0) {
            fprintf(stderr, "test point %s is never passed\n", *name);
            exit(1);
        }
    }
}

/* ---- random instants under load -----------------------------------------------------------------
 */

static void test_random(crash_place_t *p, unsigned count) {
    uint64_t events = 0;
    unsigned early = 0;
    for (unsigned i = 0; i < count; i++) {
        crash_case_t c = {.name = "random instant",
                          .threads = 1 + random_below(4),
                          .drop = random_below(2),
                          .flush_ms = (const unsigned[]){1, 3, 20, 500}[random_below(4)],
                          .ring_kib = random_below(2) ? 64 : 1024,
                          .life = random_below(3) ? 0 : 1000,
                          .pace_us = random_below(3) ? 0 : 100,
                          .ending = "never"};
        crash_begin(p);
        pid_t pid = crash_start(p, &c, p->side);
        /* One in four while the process is just starting. */
        crash_sleep_us(random_below(random_below(4) ? 60000 : 6000));
        kill(pid, SIGKILL);
        crash_wait(pid);
        crash_side_t side;
        crash_read_side(p->side, &side);
        early += side.started == 0;
        for (unsigned t = 0; t < c.threads; t++) {
            events += side.thread[t].events;
        }
        crash_recover_and_check(p, &c, false);
    }
    printf("%u kills, %u of them before init returned, %llu events\n", count, early,
           (unsigned long long)events);
}

/* ---- a recovery that is killed half way ---------------------------------------------------------
 */

static void copy_file(const char *from, const char *to) {
    const char *argv[] = {"/bin/cp", "-a", "--sparse=always", from, to, NULL};
    if (crash_run(argv) != 0) {
        fprintf(stderr, "cp %s %s failed\n", from, to);
        exit(1);
    }
}

static void test_halfway(crash_place_t *p, unsigned count) {
    crash_case_t c = usual;
    c.name = "recovery killed half way";
    c.threads = 4;
    c.flush_ms = 60000;
    c.ring_kib = 2048;
    c.events = 50000;
    c.ending = "_exit";
    crash_begin(p);
    crash_wait(crash_start(p, &c, p->side));
    char saved[PATH_MAX];
    snprintf(saved, sizeof(saved), "%s/saved", p->work);
    mkdir(saved, 0777);
    char from[2][PATH_MAX];
    snprintf(from[0], PATH_MAX, "%s/.", p->dir);
    snprintf(from[1], PATH_MAX, "%s/.", p->rings);
    char to[2][PATH_MAX];
    snprintf(to[0], PATH_MAX, "%s/saved/traces", p->work);
    snprintf(to[1], PATH_MAX, "%s/saved/rings", p->work);
    for (unsigned i = 0; i < 2; i++) {
        mkdir(to[i], 0777);
        copy_file(from[i], to[i]);
    }
    crash_recover_and_check(p, &c, false);
    crash_begin(p);
    for (unsigned i = 0; i < 2; i++) {
        strcat(to[i], "/.");
        from[i][strlen(from[i]) - 2] = '\0';
        copy_file(to[i], from[i]);
    }
    struct timespec begin;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    crash_recover(p);
    clock_gettime(CLOCK_MONOTONIC, &end);
    unsigned span_us =
        (unsigned)((end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
    uint64_t whole = crash_hash(p->dir);
    unsigned killed = 0;
    for (unsigned i = 0; i < count; i++) {
        crash_begin(p);
        for (unsigned k = 0; k < 2; k++) {
            copy_file(to[k], from[k]);
        }
        for (unsigned tries = 1 + random_below(3); tries > 0; tries--) {
            pid_t pid = crash_start_recover(p, NULL);
            crash_sleep_us(random_below(span_us));
            kill(pid, SIGKILL);
            killed += WIFSIGNALED(crash_wait(pid));
        }
        if (crash_recover(p) != 0) {
            crash_fail(p, &c, "perf-trace-recover failed");
        }
        crash_check_clean(p, &c, false);
        if (crash_hash(p->dir) != whole) {
            crash_fail(p, &c, "the result differs from that of one recovery");
        }
    }
    printf("%u rounds, %u kills, each time the same file\n", count, killed);
    if (killed < count / 2) {
        fprintf(stderr, "too few of the recoveries were killed at work\n");
        exit(1);
    }
}

/* ---- other ends ---------------------------------------------------------------------------------
 */

static void test_endings(crash_place_t *p) {
    static const char *const endings[] = {"_exit", "abort", "segv", "return"};
    for (unsigned i = 0; i < 4 * 4; i++) {
        crash_case_t c = usual;
        c.name = endings[i % 4];
        c.ending = endings[i % 4];
        c.threads = i < 8 ? 1 : 4;
        c.drop = i / 4 % 2;
        c.flush_ms = 30;
        crash_begin(p);
        int status = crash_wait(crash_start(p, &c, p->side));
        bool right = i % 4 == 0   ? WIFEXITED(status) && WEXITSTATUS(status) == 7
                     : i % 4 == 1 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                     : i % 4 == 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV
                                  : status == 0;
        if (!right) {
            fprintf(stderr, "status %x\n", (unsigned)status);
            crash_fail(p, &c, "the program did not end as it should");
        }
        crash_recover_and_check(p, &c, i % 4 == 3);
    }
    /* Killed while nothing happens: every event is exactly there. */
    for (unsigned i = 0; i < 4; i++) {
        crash_case_t c = usual;
        c.name = "idle";
        c.ending = "idle";
        c.drop = i & 1;
        c.threads = 1 + i;
        c.flush_ms = i < 2 ? 60000 : 1;
        crash_begin(p);
        pid_t pid = crash_start(p, &c, p->side);
        crash_side_t side;
        do {
            crash_sleep_us(1000);
            crash_read_side(p->side, &side);
        } while (side.started != 2);
        if (crash_recover(p) != 0) {
            crash_fail(p, &c, "recovery minds a running process");
        }
        kill(pid, SIGKILL);
        crash_wait(pid);
        crash_recover_and_check(p, &c, true);
    }
    printf("%u ends\n", p->cases);
}

/* ---- by the next start, by the converter --------------------------------------------------------
 */

static void test_others(crash_place_t *p) {
    for (unsigned i = 0; i < 10; i++) {
        crash_case_t c = usual;
        c.name = "killed, then started again";
        c.ending = "_exit";
        c.flush_ms = i % 2 ? 1 : 60000;
        c.ring_kib = 1024;
        c.drop = i % 3 == 0;
        crash_begin(p);
        crash_wait(crash_start(p, &c, p->side));
        crash_case_t next = usual;
        next.name = "next start";
        char side[PATH_MAX];
        char file[PATH_MAX];
        snprintf(side, sizeof(side), "%s.next", p->side);
        unlink(side);
        bool convert = p->convert && i % 2;
        if (convert) {
            char out[PATH_MAX];
            snprintf(out, sizeof(out), "%s/merged.json", p->work);
            setenv("PERFTRACE_RING_DIR", p->rings, 1);
            const char *argv[] = {p->convert, p->dir, "-o", out, NULL};
            if (crash_run(argv) != 0) {
                crash_fail(p, &c, "perf-trace-convert failed");
            }
        } else if (crash_wait(crash_start(p, &next, side)) != 0) {
            crash_fail(p, &next, "the program failed");
        }
        crash_check_clean(p, &c, false);
        snprintf(file, sizeof(file), "%s/traces-r5.jsonl", p->dir);
        crash_check(p, &c, file, p->side, false);
        if (!convert) {
            snprintf(file, sizeof(file), "%s/traces-r5.1.jsonl", p->dir);
            crash_check(p, &next, file, side, true);
        }
    }
    printf("%u times recovered by somebody else\n", p->cases);
}

/* Rings are best in memory; the work directory's disk will do. */
static void choose_work(crash_place_t *p, const char *work) {
    char shm[] = "/dev/shm/perftrace-crash-XXXXXX";
    snprintf(p->work, sizeof(p->work), "%s", mkdtemp(shm) ? shm : work);
    mkdir(p->work, 0777);
}

int main(int argc, char **argv) {
    if (argc < 7) {
        fprintf(stderr, "usage: crash_test MODE WRITER RECOVER CONVERT WORK KEEP [COUNT]\n");
        return 2;
    }
    crash_place_t p = {.writer = argv[2],
                       .recover = argv[3],
                       .convert = strcmp(argv[4], "-") == 0 ? NULL : argv[4],
                       .keep = strcmp(argv[6], "-") == 0 ? NULL : argv[6]};
    const char *mode = argv[1];
    unsigned count = argc > 7 ? (unsigned)atoi(argv[7]) : 0;
    const char *seed = getenv("PERFTRACE_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2654435761u + 1;
    printf("PERFTRACE_TEST_SEED=%llu\n", (unsigned long long)random_state);
    fflush(stdout);
    choose_work(&p, argv[5]);
    if (strcmp(mode, "points") == 0) {
        test_points(&p);
    } else if (strcmp(mode, "random") == 0) {
        test_random(&p, count);
    } else if (strcmp(mode, "halfway") == 0) {
        test_halfway(&p, count);
    } else if (strcmp(mode, "endings") == 0) {
        test_endings(&p);
    } else if (strcmp(mode, "others") == 0) {
        test_others(&p);
    } else {
        return 2;
    }
    const char *rm[] = {"/bin/rm", "-rf", p.work, NULL};
    return crash_run(rm);
}
