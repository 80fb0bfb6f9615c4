/* perf_process.c: a perf that runs beside this process. SPDX-License-Identifier: MIT */
#include "perf_process.h"

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_FD 10 /* in perf */
#define ANSWERS_FD 11
#define SAFE_FD    64 /* ours lie beyond what they become in perf */
#define POLL_MS    5

extern char **environ;

void perftrace__perf_process_init(perftrace__perf_process_t *p) {
    *p = (perftrace__perf_process_t){0, 0, -1, -1, -1};
}

static void close_one(int *fd) {
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static uint64_t now_ms(void) {
    return perftrace__os_mono_ns() / 1000000u;
}

/* Moves a descriptor out of the way of those that perf is to find. */
static int lift(int fd) {
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, SAFE_FD) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return high;
}

/* Two ends; a write to one whose other end is gone must not raise SIGPIPE, so these are sockets. */
static int make_pair(int pair[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        pair[0] = pair[1] = -1;
        return errno;
    }
    pair[0] = lift(pair[0]);
    pair[1] = lift(pair[1]);
    return pair[0] < 0 || pair[1] < 0 ? EMFILE : 0;
}

static int spawn(perftrace__perf_process_t *p, const char *const *args, int control, int answers,
                 int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    p->said = lift(perftrace__os_open_memory("perf"));
    if (p->said < 0) {
        return EMFILE;
    }
    int err = posix_spawn_file_actions_init(&actions);
    if (err) {
        return err;
    }
    err = posix_spawnattr_init(&attr);
    if (err) {
        posix_spawn_file_actions_destroy(&actions);
        return err;
    }
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    err = err ? err : posix_spawn_file_actions_adddup2(&actions, output >= 0 ? output : p->said, 1);
    err = err ? err : posix_spawn_file_actions_adddup2(&actions, p->said, 2);
    if (!err && control >= 0) {
        err = posix_spawn_file_actions_adddup2(&actions, control, CONTROL_FD);
        err = err ? err : posix_spawn_file_actions_adddup2(&actions, answers, ANSWERS_FD);
    }
    pid_t pid = 0;
    err = err ? err : posix_spawnp(&pid, args[0], &actions, &attr, (char *const *)args, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    if (!err) {
        p->pid = pid;
        p->made_by = getpid();
    }
    return err;
}

int perftrace__perf_process_record(perftrace__perf_process_t *p, const char *const *args) {
    int control[2] = {-1, -1};
    int answers[2] = {-1, -1};
    int err = make_pair(control);
    err = err ? err : make_pair(answers);
    err = err ? err : spawn(p, args, control[1], answers[1], -1);
    close_one(&control[1]);
    close_one(&answers[1]);
    p->control = control[0];
    p->answers = answers[0];
    return err;
}

int perftrace__perf_process_start(perftrace__perf_process_t *p, const char *const *args) {
    return spawn(p, args, -1, -1, -1);
}

/* Waits until something can be read, at most until `deadline`. */
static bool readable(int fd, uint64_t deadline) {
    for (;;) {
        const uint64_t now = now_ms();
        struct pollfd wait = {fd, POLLIN, 0};
        int n = poll(&wait, 1, now < deadline ? (int)(deadline - now) : 0);
        if (n > 0) {
            return true;
        }
        if (n == 0 || errno != EINTR) {
            return false;
        }
    }
}

bool perftrace__perf_answered(int answers, int limit_ms) {
    const uint64_t deadline = now_ms() + (uint64_t)limit_ms;
    char last = '\0'; /* "ack\n" and a NUL, perhaps in pieces */
    while (last != '\n' && readable(answers, deadline)) {
        char c;
        ssize_t n = read(answers, &c, 1);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
            return false;
        }
        last = n > 0 ? c : last;
    }
    return last == '\n';
}

bool perftrace__perf_process_tell(perftrace__perf_process_t *p, const char *command, int limit_ms) {
    char line[32];
    const size_t len = strlen(command);
    if (p->pid == 0 || len + 1 > sizeof(line)) {
        return false;
    }
    memcpy(line, command, len);
    line[len] = '\n';
    if (send(p->control, line, len + 1, MSG_NOSIGNAL) != (ssize_t)(len + 1)) {
        return false;
    }
    return perftrace__perf_answered(p->answers, limit_ms);
}

int perftrace__perf_process_end(perftrace__perf_process_t *p, int limit_ms) {
    if (p->pid == 0 || p->made_by != getpid()) {
        p->pid = 0;
        return 0;
    }
    const uint64_t deadline = now_ms() + (uint64_t)limit_ms;
    bool killed = false;
    int result = 0;
    for (;;) {
        int status = 0;
        pid_t ended = waitpid(p->pid, &status, killed ? 0 : WNOHANG);
        if (ended == p->pid) {
            result = killed ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            break;
        }
        if (ended < 0 && errno == ECHILD && (killed || kill(p->pid, 0) != 0)) {
            break; /* the program does not wait for its children: the system has buried it */
        }
        if (!killed && now_ms() >= deadline) {
            kill(-p->pid, SIGKILL); /* with what it started: the group is its own */
            killed = true;
            continue;
        }
        if (!killed) {
            poll(NULL, 0, POLL_MS);
        }
    }
    p->pid = 0;
    return result;
}

/* Gives whole lines to the stacks; what is left of the last one stays in the buffer. */
static void give_lines(perftrace__strbuf_t *b, perftrace__perf_stacks_t *stacks) {
    size_t done = 0;
    for (;;) {
        const char *line = b->data + done;
        const char *end = memchr(line, '\n', b->len - done);
        if (!end) {
            break;
        }
        perftrace__perf_stacks_line(stacks, line, (size_t)(end - line));
        done = (size_t)(end - b->data) + 1;
    }
    memmove(b->data, b->data + done, b->len - done);
    b->len -= done;
}

int perftrace__perf_process_read(perftrace__perf_process_t *p, const char *const *args,
                                 int limit_ms, perftrace__perf_stacks_t *stacks) {
    enum { CHUNK = 65536 };
    int pair[2] = {-1, -1};
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    const uint64_t deadline = now_ms() + (uint64_t)limit_ms;
    int err = make_pair(pair);
    err = err ? err : spawn(p, args, -1, -1, pair[1]);
    close_one(&pair[1]);
    while (!err) {
        if (!readable(pair[0], deadline)) {
            err = ETIMEDOUT;
        } else if (!perftrace__strbuf_reserve(&text, CHUNK)) {
            err = ENOMEM;
        } else {
            ssize_t n = recv(pair[0], text.data + text.len, CHUNK, 0);
            if (n == 0) {
                break;
            }
            if (n > 0) {
                text.len += (size_t)n;
                give_lines(&text, stacks);
            } else if (errno != EINTR) {
                err = errno;
            }
        }
    }
    if (!err && text.len) {
        perftrace__perf_stacks_line(stacks, text.data, text.len);
    }
    close_one(&pair[0]);
    perftrace__strbuf_free(&text);
    const int ended = perftrace__perf_process_end(p, err ? 0 : limit_ms);
    return err ? err : ended ? EIO : 0;
}

void perftrace__perf_process_said(const perftrace__perf_process_t *p, char *out, size_t size) {
    char text[2048];
    ssize_t n = p->said >= 0 ? pread(p->said, text, sizeof(text) - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    out[0] = '\0';
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        line += strspn(line, " \t");
        if (line[0]) { /* the first says what is wrong, the others how to mend it */
            size_t len = PT_MIN(strlen(line), size - 1);
            memcpy(out, line, len);
            out[len] = '\0';
            break;
        }
    }
}

void perftrace__perf_process_forget(perftrace__perf_process_t *p) {
    perftrace__perf_process_end(p, 0);
    close_one(&p->control);
    close_one(&p->answers);
    close_one(&p->said);
}
