/* crash_sessions.c. SPDX-License-Identifier: MIT */
#include "crash_sessions.h"

#include "json_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBERS 1000000u /* sessions a thread, at most */

typedef struct found {
    const char *run_id;
    unsigned char *task[CRASH_THREADS]; /* by number: 0 no record, 1 not accepted, 2 accepted */
    uint64_t top[CRASH_THREADS];        /* one more than the highest number */
    unsigned char *ids;
    uint64_t records;
} found_t;

static bool bad(const char *what, const char *line) {
    fprintf(stderr, "%s: %.300s\n", what, line);
    return false;
}

/* The number behind a key, -1 when there is none. */
static long long number(const char *line, const char *key) {
    const char *p = strstr(line, key);
    return p && p[strlen(key)] >= '0' && p[strlen(key)] <= '9' ? strtoll(p + strlen(key), NULL, 10)
                                                               : -1;
}

static bool take_line(found_t *f, const char *line, size_t len, bool gaps) {
    char run[128];
    if (len == 0 || line[len - 1] != '\n' || !perftrace__json_check(line, len - 1, NULL, NULL)) {
        return bad("a torn or bad line", line);
    }
    snprintf(run, sizeof(run), "\"run_id\": \"%s\"", f->run_id);
    if (!strstr(line, run)) {
        return true; /* another run's */
    }
    long long id = number(line, "\"session_id\": ");
    long long task = number(line, "\"task_id\": ");
    if (id < 0 || id >= CRASH_THREADS * NUMBERS || (task < 0 && !gaps) ||
        task >= (long long)CRASH_THREADS * NUMBERS) {
        return bad("a session of nobody", line);
    }
    if (f->ids[id]++) {
        return bad("a session twice", line);
    }
    f->records++;
    if (task < 0) {
        return true; /* its registration was lost */
    }
    uint64_t t = (uint64_t)task / NUMBERS;
    uint64_t m = (uint64_t)task % NUMBERS;
    if (f->task[t][m]) {
        return bad("a task twice", line);
    }
    f->task[t][m] = strstr(line, "\"status\": \"accepted\"") ? 2 : 1;
    f->top[t] = m >= f->top[t] ? m + 1 : f->top[t];
    if (!gaps && !strstr(line, "\"phases\": {\"generate\": [{\"start_ts\": ") &&
        strstr(line, "accepted")) {
        return bad("a session without its phase", line);
    }
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_jsonl(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 6 && strcmp(e->d_name + n - 6, ".jsonl") == 0;
}

static bool read_files(found_t *f, const char *dir, bool gaps) {
    struct dirent **names;
    int n = scandir(dir, &names, is_jsonl, by_name);
    bool good = true;
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
        FILE *in = strncmp(names[i]->d_name, "sessions-", 9) == 0 ? fopen(path, "re") : NULL;
        char *line = NULL;
        size_t cap = 0;
        for (ssize_t len; in && good && (len = getline(&line, &cap, in)) > 0;) {
            good = take_line(f, line, (size_t)len, gaps);
        }
        if (in) {
            fclose(in);
        }
        free(line);
        free(names[i]);
    }
    if (n >= 0) {
        free(names);
    }
    return good;
}

static bool check_thread(const found_t *f, unsigned t, const crash_thread_t *s, bool exact) {
    if (f->top[t] < s->submitted || f->top[t] > s->submitted + (exact ? 0 : 1)) {
        fprintf(stderr, "thread %u: submitted %llu sessions, found up to %llu\n", t,
                (unsigned long long)s->submitted, (unsigned long long)f->top[t]);
        return false;
    }
    for (uint64_t m = 0; m < f->top[t]; m++) {
        int want = CRASH_STAYS_OPEN(m) ? 1 : m < s->finished ? 2 : 0;
        if (!f->task[t][m] || (want && f->task[t][m] != want)) {
            fprintf(stderr, "thread %u: session %llu: %d, not %d\n", t, (unsigned long long)m,
                    f->task[t][m], want);
            return false;
        }
    }
    return true;
}

bool crash_check_sessions(const char *dir, const char *run_id, const crash_side_t *side,
                          unsigned threads, bool gaps, bool exact) {
    found_t f = {.run_id = run_id, .ids = calloc(CRASH_THREADS, NUMBERS)};
    bool good = f.ids != NULL;
    for (unsigned t = 0; t < CRASH_THREADS; t++) {
        f.task[t] = calloc(1, NUMBERS);
        good = good && f.task[t];
    }
    good = good && read_files(&f, dir, gaps);
    for (unsigned t = 0; t < threads && good && !gaps; t++) {
        good = check_thread(&f, t, &side->thread[t], exact);
    }
    for (unsigned t = 0; t < CRASH_THREADS; t++) {
        free(f.task[t]);
    }
    free(f.ids);
    return good;
}

uint64_t crash_hash(const char *dir) {
    static unsigned char buf[65536];
    uint64_t h = 0xcbf29ce484222325u;
    struct dirent **names;
    int files = scandir(dir, &names, is_jsonl, by_name);
    for (int k = 0; k < files; k++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s", dir, names[k]->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        for (ssize_t n; fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0;) {
            for (ssize_t i = 0; i < n; i++) {
                h = (h ^ buf[i]) * 0x100000001b3u;
            }
        }
        if (fd >= 0) {
            close(fd);
        }
        free(names[k]);
    }
    if (files >= 0) {
        free(names);
    }
    return h;
}
