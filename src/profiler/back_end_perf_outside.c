/* back_end_perf_outside.c: a perf record that was started around this process.
 * SPDX-License-Identifier: MIT
 *
 * It samples the process, and what this starts, from the beginning, with its events off (-D -1),
 * and takes commands from one named pipe and acknowledges them in another (--control=fifo:...). A
 * window is "enable" and "disable". The file is perf's own and holds all windows.
 *
 * perf switches everything that it watches: of the processes below it one may do so, the first that
 * opens a window. It is told from others by a lock of the pipe, which lasts as long as it has the
 * pipe open. Both ends of the commands are open here, so that a perf that has ended raises no
 * SIGPIPE; its end is seen in the answers. */
#include "back_end_perf.h"
#include "os.h"
#include "perf_process.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_LIMIT_MS 10000

typedef struct outside {
    char *commands_path, *answers_path;
    int commands, answers; /* -1 */
    uint32_t made_by;      /* process that opened them */
    char text[512];
} outside_t;

static void disconnect(outside_t *s) {
    if (s->commands >= 0) {
        close(s->commands);
    }
    if (s->answers >= 0) {
        close(s->answers);
    }
    s->commands = s->answers = -1;
}

static void outside_close(void *user) {
    outside_t *s = user;
    disconnect(s);
    free(s->commands_path);
    free(s->answers_path);
    free(s);
}

static void *outside_open(const perftrace_profiler_options_t *o) {
    outside_t *s = calloc(1, sizeof(*s));
    const char *paths = strncmp(o->perf_control, "fifo:", 5) == 0 ? o->perf_control + 5 : "";
    const char *comma = strchr(paths, ',');
    if (!s) {
        return NULL;
    }
    s->commands = s->answers = -1;
    if (!comma || comma == paths || !comma[1]) {
        snprintf(s->text, sizeof(s->text), "perf_control must be fifo:COMMANDS,ANSWERS, not %.300s",
                 o->perf_control);
        return s; /* told when a window is to be opened */
    }
    s->commands_path = strndup(paths, (size_t)(comma - paths));
    s->answers_path = strdup(comma + 1);
    if (!s->commands_path || !s->answers_path) {
        outside_close(s);
        return NULL;
    }
    snprintf(s->text, sizeof(s->text), "perf record behind %.400s", s->commands_path);
    return s;
}

/* A pipe of that name; -1 and errno. */
static int open_pipe(const char *path, int flags) {
    struct stat st;
    int fd = perftrace__os_open(path, flags | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        fd = -1;
    }
    return fd;
}

static int refuse(outside_t *s, const char *path, const char *why, int status) {
    snprintf(s->text, sizeof(s->text), "%.300s: %s", path, why);
    disconnect(s);
    return status;
}

static int connect_to_perf(outside_t *s) {
    if (!s->commands_path) {
        return PERFTRACE_ERR_INVALID;
    }
    if (s->commands >= 0 && s->made_by == perftrace__os_pid()) {
        return PERFTRACE_OK;
    }
    disconnect(s); /* a forked child's are its parent's */
    int reader = open_pipe(s->commands_path, O_WRONLY);
    if (reader < 0) {
        const int err = errno;
        return refuse(s, s->commands_path, err == ENXIO ? "perf record has ended" : strerror(err),
                      PERFTRACE_ERR_NOT_FOUND);
    }
    close(reader);
    s->made_by = perftrace__os_pid();
    s->commands = open_pipe(s->commands_path, O_RDWR);
    s->answers = s->commands >= 0 ? open_pipe(s->answers_path, O_RDONLY) : -1;
    if (s->answers < 0) {
        return refuse(s, s->commands < 0 ? s->commands_path : s->answers_path, strerror(errno),
                      PERFTRACE_ERR_IO);
    }
    if (flock(s->commands, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return refuse(s, s->commands_path, "another process switches this perf record",
                      PERFTRACE_ERR_STATE);
    }
    return PERFTRACE_OK;
}

/* Sends a command and waits for its answer. */
static int tell(outside_t *s, const char *command) {
    char old[64];
    size_t written;
    while (read(s->answers, old, sizeof(old)) > 0) {
        /* an answer that came too late, or the rest of the last one */
    }
    if (perftrace__os_write_all(s->commands, command, strlen(command), &written) != 0 ||
        !perftrace__perf_answered(s->answers, ANSWER_LIMIT_MS)) {
        return refuse(s, s->commands_path, "perf record does not answer, or has ended",
                      PERFTRACE_ERR_IO);
    }
    return PERFTRACE_OK;
}

static int outside_start(void *user, const perftrace_profiler_window_t *w) {
    outside_t *s = user;
    (void)w;
    int status = connect_to_perf(s);
    return status ? status : tell(s, "enable\n");
}

static int outside_stop(void *user, const perftrace_profiler_window_t *w) {
    (void)w;
    return tell(user, "disable\n");
}

static int outside_describe(void *user, char *ret_text, size_t size) {
    const outside_t *s = user;
    return snprintf(ret_text, size, "%s", s->text);
}

const perftrace__back_end_t perftrace__back_end_perf_outside = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "perf",
              .start = outside_start,
              .stop = outside_stop,
              .describe = outside_describe},
    .open = outside_open,
    .close = outside_close,
};
