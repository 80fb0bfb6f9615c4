/* recover_claim.c. SPDX-License-Identifier: MIT */
#include "recover_claim.h"

#include "os.h"
#include "status_text.h"

#include <perftrace/status.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MARK ".claim-"

/* A recovery in another container cannot be seen; no recovery takes this long. */
#define HIDDEN_SECONDS 300

/* Whether the recovery behind a claim is still at work. tail: PID-START-NAMESPACE. */
static bool at_work(const char *path, const char *tail) {
    char *end = NULL;
    unsigned long pid = strtoul(tail, &end, 10);
    unsigned long long start = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    unsigned long long space = *end == '-' ? strtoull(end + 1, &end, 10) : 0;
    if (space != perftrace__os_pid_namespace()) {
        struct stat st;
        return stat(path, &st) == 0 && time(NULL) - st.st_ctime < HIDDEN_SECONDS;
    }
    if (start == 0) {
        return kill((pid_t)pid, 0) == 0 || errno == EPERM;
    }
    return perftrace__os_process_start((uint32_t)pid) == start;
}

/* Calls fn for each claim on real until it returns true. */
static bool each_claim(const char *real, bool (*fn)(const char *path, const char *tail, void *ctx),
                       void *ctx) {
    char dir[PATH_MAX];
    const char *slash = strrchr(real, '/');
    const char *base = slash ? slash + 1 : real;
    int len = slash ? snprintf(dir, sizeof(dir), "%.*s", (int)(slash - real) + 1, real)
                    : snprintf(dir, sizeof(dir), "./");
    DIR *d = len > 0 && (size_t)len < sizeof(dir) ? opendir(dir) : NULL;
    bool stop = false;
    size_t n = strlen(base);
    for (struct dirent *e; d && !stop && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, base, n) == 0 &&
            strncmp(e->d_name + n, MARK, sizeof(MARK) - 1) == 0) {
            char path[PERFTRACE__CLAIM_MAX];
            len = snprintf(path, sizeof(path), "%s%s", dir, e->d_name);
            stop = len > 0 && (size_t)len < sizeof(path) &&
                   fn(path, e->d_name + n + sizeof(MARK) - 1, ctx);
        }
    }
    if (d) {
        closedir(d);
    }
    return stop;
}

typedef struct takeover {
    const char *claimed;
    int status;
} takeover_t;

static bool take_over(const char *path, const char *tail, void *ctx) {
    takeover_t *t = ctx;
    if (at_work(path, tail)) {
        t->status = PERFTRACE_ERR_STATE;
        return true;
    }
    if (rename(path, t->claimed) == 0) {
        t->status = PERFTRACE_OK;
    }
    return t->status == PERFTRACE_OK;
}

int perftrace__recover_claim(const char *real, char claimed[PERFTRACE__CLAIM_MAX]) {
    uint32_t pid = perftrace__os_pid();
    snprintf(claimed, PERFTRACE__CLAIM_MAX, "%s" MARK "%u-%llu-%llu", real, pid,
             (unsigned long long)perftrace__os_process_start(pid),
             (unsigned long long)perftrace__os_pid_namespace());
    if (rename(real, claimed) == 0) {
        return PERFTRACE_OK;
    }
    if (errno != ENOENT) {
        return perftrace__status_from_errno(errno);
    }
    takeover_t t = {claimed, PERFTRACE_ERR_NOT_FOUND};
    each_claim(real, take_over, &t);
    return t.status;
}

static bool take_path(const char *path, const char *tail, void *ctx) {
    (void)tail;
    snprintf(ctx, PERFTRACE__CLAIM_MAX, "%s", path);
    return true;
}

bool perftrace__recover_claim_find(const char *real, char found[PERFTRACE__CLAIM_MAX]) {
    return each_claim(real, take_path, found);
}

void perftrace__recover_claim_strip(char *path) {
    char *base = strrchr(path, '/');
    char *mark = strstr(base ? base : path, MARK);
    if (mark) {
        *mark = '\0';
    }
}
