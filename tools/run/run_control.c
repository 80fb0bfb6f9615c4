/* run_control.c. SPDX-License-Identifier: MIT */
#include "run_control.h"

#include "exit_code.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_make(const char *path) {
    pt_error("%s: %s", path, strerror(errno));
    return PT_EXIT_OUTPUT;
}

int pt_control_make_dir(const char *temp_dir, char *ret_path, size_t size) {
    const char *where = strchr(temp_dir, ',') ? "/tmp" : temp_dir;
    int len = snprintf(ret_path, size, "%s/" PT_PLAN_CONTROL_DIR, where);
    if (len < 0 || (size_t)len >= size) {
        ret_path[0] = '\0';
        errno = ENAMETOOLONG;
        return cannot_make(where);
    }
    if (!mkdtemp(ret_path)) {
        int status = cannot_make(where);
        ret_path[0] = '\0';
        return status;
    }
    return PT_EXIT_OK;
}

/* The two paths, of "fifo:COMMANDS,ANSWERS". */
static bool split(const pt_plan_rank_t *rank, char *commands, char *answers, size_t size) {
    const char *first = rank->perf_control ? rank->perf_control + strlen("fifo:") : NULL;
    const char *comma = first ? strchr(first, ',') : NULL;
    return comma && strlen(first) < size &&
           snprintf(commands, size, "%.*s", (int)(comma - first), first) > 0 &&
           snprintf(answers, size, "%s", comma + 1) > 0;
}

int pt_control_make_pipes(const pt_plan_t *plan) {
    static const struct timespec never[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < plan->count; i++) {
        char commands[4096];
        char answers[4096];
        if (!split(&plan->ranks[i], commands, answers, sizeof(commands))) {
            continue;
        }
        if (mkfifo(commands, 0600) != 0) {
            return cannot_make(commands);
        }
        if (mkfifo(answers, 0600) != 0) {
            return cannot_make(answers);
        }
        utimensat(AT_FDCWD, commands, never, 0); /* until somebody writes to it */
    }
    return PT_EXIT_OK;
}

bool pt_control_was_used(const pt_plan_rank_t *rank) {
    char commands[4096];
    char answers[4096];
    struct stat st;
    return !split(rank, commands, answers, sizeof(commands)) || stat(commands, &st) != 0 ||
           st.st_mtim.tv_sec != 0 || st.st_mtim.tv_nsec != 0;
}

void pt_control_remove(const pt_plan_t *plan, const char *dir) {
    for (size_t i = 0; i < plan->count; i++) {
        char commands[4096];
        char answers[4096];
        if (split(&plan->ranks[i], commands, answers, sizeof(commands))) {
            unlink(commands);
            unlink(answers);
        }
    }
    rmdir(dir);
}
