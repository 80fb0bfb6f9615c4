/* run_process.c. SPDX-License-Identifier: MIT */
#include "run_process.h"

#include "last_part.h"
#include "os.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CMDLINE_MAX (128U * 1024U)

typedef struct entry {
    pid_t pid, parent;
} entry_t;

typedef struct table {
    entry_t *items;
    size_t count, cap;
} table_t;

/* The parent of a process; 0 when it is gone. A name may hold blanks and brackets: the last bracket
 * ends it. */
static pid_t parent_of(pid_t pid) {
    char path[64];
    char text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    char state = '\0';
    int parent = 0;
    if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2) { // NOLINT(cert-err34-c)
        return 0;
    }
    return state == 'Z' && !perftrace__os_process_start((uint32_t)pid) ? 0 : (pid_t)parent;
}

/* All living processes. */
static table_t list_processes(void) {
    table_t t = {NULL, 0, 0};
    DIR *d = opendir("/proc");
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char *end;
        long pid = strtol(e->d_name, &end, 10);
        pid_t parent = *end == '\0' && pid > 0 ? parent_of((pid_t)pid) : 0;
        if (parent <= 0) {
            continue;
        }
        if (t.count == t.cap) {
            size_t cap = t.cap ? t.cap * 2 : 256;
            entry_t *more = realloc(t.items, cap * sizeof(*more));
            if (!more) {
                break;
            }
            t.items = more;
            t.cap = cap;
        }
        t.items[t.count++] = (entry_t){(pid_t)pid, parent};
    }
    if (d) {
        closedir(d);
    }
    return t;
}

static char *read_cmdline(pid_t pid, size_t *ret_len) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    *ret_len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? malloc(CMDLINE_MAX) : NULL;
    for (ssize_t n = 1; text && n > 0 && *ret_len < CMDLINE_MAX;) {
        n = read(fd, text + *ret_len, CMDLINE_MAX - *ret_len);
        *ret_len += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

bool pt_process_is_command(const char *cmdline, size_t len, const pt_string_list_t *command) {
    if (len == 0 || cmdline[len - 1] != '\0' || command->count == 0) {
        return false;
    }
    size_t words = 0;
    for (size_t i = 0; i < len; i++) {
        words += cmdline[i] == '\0';
    }
    if (words < command->count || words > command->count + 2) {
        return false;
    }
    for (size_t skip = words - command->count; skip > 0; skip--) {
        cmdline += strlen(cmdline) + 1;
    }
    bool same = strcmp(pt_last_part(cmdline), pt_last_part(command->items[0])) == 0;
    for (size_t i = 1; i < command->count && same; i++) {
        cmdline += strlen(cmdline) + 1;
        same = strcmp(cmdline, command->items[i]) == 0;
    }
    return same;
}

static pt_process_t process_of(pid_t pid) {
    pt_process_t found = {pid, perftrace__os_process_start((uint32_t)pid)};
    return found.start ? found : (pt_process_t){0, 0};
}

/* Whether pid runs the command, and is no copy of the profiler (whose command line is `own`). */
static bool runs(pid_t pid, const pt_string_list_t *command, const char *own, size_t own_len) {
    size_t len;
    char *text = read_cmdline(pid, &len);
    bool copy = text && own && len == own_len && memcmp(text, own, len) == 0;
    bool same = text && !copy && (!command || pt_process_is_command(text, len, command));
    free(text);
    return same;
}

pt_process_t pt_process_find(pid_t profiler, const pt_string_list_t *command) {
    table_t t = list_processes();
    size_t own_len;
    char *own = read_cmdline(profiler, &own_len);
    pid_t *level = calloc(t.count + 1, sizeof(*level)); /* descendants, nearest first */
    size_t count = 0;
    pt_process_t found = {0, 0};
    if (level && own) {
        level[count++] = profiler;
    }
    for (size_t at = 0; at < count && !found.pid; at++) {
        for (size_t i = 0; i < t.count && count <= t.count && !found.pid; i++) {
            if (t.items[i].parent == level[at]) {
                level[count++] = t.items[i].pid;
                if (runs(t.items[i].pid, command, own, own_len)) {
                    found = process_of(t.items[i].pid);
                }
            }
        }
    }
    free(level);
    free(own);
    free(t.items);
    return found;
}

pt_process_t pt_process_find_orphan(const pt_string_list_t *command, const pt_process_t *taken,
                                    size_t count) {
    table_t t = list_processes();
    pt_process_t found = {0, 0};
    for (size_t i = 0; i < t.count && !found.pid; i++) {
        bool mine = t.items[i].parent == getpid();
        for (size_t k = 0; k < count && mine; k++) {
            mine = taken[k].pid != t.items[i].pid;
        }
        if (mine && runs(t.items[i].pid, command, NULL, 0)) {
            found = process_of(t.items[i].pid);
        }
    }
    free(t.items);
    return found;
}

pt_process_t pt_process_only_child(pid_t parent) {
    table_t t = list_processes();
    size_t own_len;
    char *own = read_cmdline(parent, &own_len);
    pid_t child = 0;
    size_t children = 0;
    for (size_t i = 0; i < t.count; i++) {
        if (t.items[i].parent == parent && runs(t.items[i].pid, NULL, own, own_len)) {
            child = t.items[i].pid;
            children++;
        }
    }
    free(own);
    free(t.items);
    return children == 1 ? process_of(child) : (pt_process_t){0, 0};
}

bool pt_process_is_alive(const pt_process_t *process) {
    return process->pid && perftrace__os_process_start((uint32_t)process->pid) == process->start;
}

bool pt_process_signal(const pt_process_t *process, int signum) {
    return pt_process_is_alive(process) && kill(process->pid, signum) == 0;
}

void pt_process_kill_tree(pid_t root) {
    table_t t = list_processes();
    pid_t *doomed = calloc(t.count + 1, sizeof(*doomed));
    size_t count = 0;
    if (doomed) {
        doomed[count++] = root;
    }
    kill(root, SIGKILL);
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < t.count && count <= t.count; i++) {
            if (t.items[i].parent == doomed[at]) {
                doomed[count++] = t.items[i].pid;
                kill(t.items[i].pid, SIGKILL);
            }
        }
    }
    free(doomed);
    free(t.items);
}

size_t pt_process_orphans(const pid_t *children, size_t count) {
    table_t t = list_processes();
    size_t orphans = 0;
    for (size_t i = 0; i < t.count; i++) {
        bool orphan = t.items[i].parent == getpid();
        for (size_t k = 0; k < count && orphan; k++) {
            orphan = children[k] != t.items[i].pid;
        }
        orphans += orphan;
    }
    free(t.items);
    return orphans;
}
