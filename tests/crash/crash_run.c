/* crash_run.c. SPDX-License-Identifier: MIT */
#include "crash_run.h"

#include "crash_sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Together, and of one case. */
#define KEEP_BYTES (12u << 20)
#define KEEP_ONE   (1u << 20)

_Noreturn void crash_fail(const crash_place_t *p, const crash_case_t *c, const char *what) {
    fprintf(stderr, "case %u %s: %s\n", p->cases, c->name, what);
    fprintf(stderr,
            "  %u threads, %s, flush %u ms, ring %u KiB, %llu events, life %u, pace %u us, "
            "ending %s, point %s; left in %s\n",
            c->threads, c->drop ? "drop" : "block", c->flush_ms, c->ring_kib,
            (unsigned long long)c->events, c->life, c->pace_us, c->ending,
            c->point ? c->point : "none", p->work);
    exit(1);
}

static void empty(const char *dir) {
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] != '.') {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
    }
    mkdir(dir, 0777);
}

void crash_begin(crash_place_t *p) {
    p->cases++;
    snprintf(p->dir, sizeof(p->dir), "%s/traces", p->work);
    snprintf(p->rings, sizeof(p->rings), "%s/rings", p->work);
    snprintf(p->side, sizeof(p->side), "%s/side", p->work);
    empty(p->dir);
    empty(p->rings);
    unlink(p->side);
}

static void set_number(const char *name, unsigned value) {
    char text[32];
    snprintf(text, sizeof(text), "%u", value);
    setenv(name, text, 1);
}

pid_t crash_start(const crash_place_t *p, const crash_case_t *c, const char *side) {
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    char threads[16];
    char events[32];
    char life[16];
    char pace[16];
    char ring[32];
    snprintf(threads, sizeof(threads), "%u", c->threads);
    snprintf(events, sizeof(events), "%llu", (unsigned long long)c->events);
    snprintf(life, sizeof(life), "%u", c->life);
    snprintf(pace, sizeof(pace), "%u", c->pace_us);
    snprintf(ring, sizeof(ring), "%llu", (unsigned long long)c->ring_kib << 10);
    setenv("PERFTRACE_DIR", p->dir, 1);
    setenv("PERFTRACE_RING_DIR", p->rings, 1);
    setenv("PERFTRACE_RING_SIZE", ring, 1);
    setenv("PERFTRACE_RANK", "5", 1);
    setenv("PERFTRACE_OVERFLOW", c->drop ? "drop" : "block", 1);
    setenv("PERFTRACE_SESSION_ENABLED", "1", 1);
    setenv("PERFTRACE_SESSION_FLUSH_THRESHOLD", "5", 1);
    set_number("PERFTRACE_FLUSH_MS", c->flush_ms);
    if (c->point) {
        setenv("PERFTRACE_TEST_KILL", c->point, 1);
    }
    execl(p->writer, p->writer, side, threads, events, life, pace, c->ending, (char *)NULL);
    _exit(127);
}

int crash_wait(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void crash_read_side(const char *path, crash_side_t *ret) {
    memset(ret, 0, sizeof(*ret));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
            memset(ret, 0, sizeof(*ret));
        }
        close(fd);
    }
}

static void silence(void) {
    int fd = open("/dev/null", O_RDWR);
    dup2(fd, 1);
    dup2(fd, 2);
}

pid_t crash_start_recover(const crash_place_t *p, const char *point) {
    pid_t pid = fork();
    if (pid == 0) {
        if (point) {
            setenv("PERFTRACE_TEST_KILL", point, 1);
        }
        if (!getenv("PERFTRACE_TEST_VERBOSE")) {
            silence();
        }
        execl(p->recover, p->recover, "--ring-dir", p->rings, p->dir, (char *)NULL);
        _exit(127);
    }
    return pid;
}

int crash_recover(const crash_place_t *p) {
    int status = crash_wait(crash_start_recover(p, NULL));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int crash_run(const char *const *argv) {
    pid_t pid = fork();
    if (pid == 0) {
        if (!getenv("PERFTRACE_TEST_VERBOSE")) {
            silence();
        }
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = crash_wait(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void crash_sleep_us(unsigned us) {
    struct timespec ts = {us / 1000000u, (long)(us % 1000000u) * 1000};
    nanosleep(&ts, NULL);
}

/* Keeps the file under a name of its own while there is room. */
static void keep(crash_place_t *p, const char *file) {
    struct stat st;
    char name[PATH_MAX];
    if (p->keep && stat(file, &st) == 0 && st.st_size > 0 && st.st_size < (off_t)KEEP_ONE &&
        p->kept_bytes + (uint64_t)st.st_size < KEEP_BYTES) {
        snprintf(name, sizeof(name), "%s/%06u-%s", p->keep, p->cases, strrchr(file, '/') + 1);
        const char *argv[] = {"/bin/cp", file, name, NULL};
        if (crash_run(argv) == 0) {
            p->kept_bytes += (uint64_t)st.st_size;
        }
    }
}

void crash_check(crash_place_t *p, const crash_case_t *c, const char *file, const char *side_path,
                 bool exact) {
    crash_count_t count;
    crash_side_t side;
    crash_read_side(side_path, &side);
    if (access(file, F_OK) != 0) {
        if (side.started) {
            crash_fail(p, c, "there is no trace file");
        }
        return;
    }
    if (!crash_check_file(file, c->drop, &count) ||
        !crash_check_side(&count, &side, c->threads, c->drop, exact)) {
        crash_fail(p, c, "the recovered file is wrong");
    }
    if (!crash_check_sessions(p->dir, count.run_id, &side, c->threads, c->drop, exact)) {
        crash_fail(p, c, "the records of sessions are wrong");
    }
    keep(p, file);
}

/* A file without the magic number in front. */
static bool is_unfinished(int dir, const char *name) {
    char magic[8] = "x";
    int fd = openat(dir, name, O_RDONLY);
    bool yes = fd >= 0 && read(fd, magic, 8) >= 0 && memcmp(magic, "PTRING01", 8) != 0;
    if (fd >= 0) {
        close(fd);
    }
    return yes;
}

void crash_check_clean(const crash_place_t *p, const crash_case_t *c, bool early) {
    const char *dirs[2] = {p->dir, p->rings};
    for (unsigned i = 0; i < 2; i++) {
        DIR *d = opendir(dirs[i]);
        for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
            if (strstr(e->d_name, ".ring") && !(early && is_unfinished(dirfd(d), e->d_name))) {
                fprintf(stderr, "%s/%s\n", dirs[i], e->d_name);
                crash_fail(p, c, "a ring or a link is left");
            }
        }
        if (d) {
            closedir(d);
        }
    }
}

void crash_recover_and_check(crash_place_t *p, const crash_case_t *c, bool exact) {
    char file[PATH_MAX];
    snprintf(file, sizeof(file), "%s/traces-r5.jsonl", p->dir);
    /* 1: somebody has meddled with the files; it is told. */
    int rc = crash_recover(p);
    if (rc != 0 && !(rc == 1 && c->meddled)) {
        crash_fail(p, c, "perf-trace-recover failed");
    }
    crash_side_t side;
    crash_read_side(p->side, &side);
    crash_check_clean(p, c, side.started == 0);
    uint64_t before = crash_hash(p->dir);
    if (crash_recover(p) != 0 || crash_hash(p->dir) != before) {
        crash_fail(p, c, "a second recovery changes something");
    }
    crash_check(p, c, file, p->side, exact);
}
