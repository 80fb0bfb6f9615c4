/* child.c. SPDX-License-Identifier: MIT */
#include "child.h"

#include "human.h"
#include "os.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ERR_KEPT  8192U
#define KILL_NS   UINT64_C(5000000000) /* from asked to killed */
#define LINGER_NS UINT64_C(1000000000) /* from its end to that of its pipes */
#define NEVER     UINT64_MAX

extern char **environ;

/* ---- signals ------------------------------------------------------------------------------------
 */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t caught;

static void on_signal(int signum) {
    if (signum != SIGCHLD && caught == 0) {
        caught = signum;
    }
}

void pt_child_catch_signals(void) {
    struct sigaction act = {.sa_handler = on_signal}, old;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < PT_ARRAY_LEN(ending); i++) {
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(ending[i], &act, NULL);
        }
    }
}

int pt_child_signal(void) {
    return caught;
}

/* ---- start --------------------------------------------------------------------------------------
 */

typedef struct child {
    const pt_child_request_t *request;
    pt_child_result_t *result;
    pid_t pid;
    int pipes[2];      /* what comes from its standard output and standard error; -1: closed */
    sigset_t old_mask; /* of our thread, with which it is waited */
    uint64_t deadline, kill_at, leave_at;
    bool asked, ended;
} child_t;

static int set_actions(const pt_child_request_t *q, int out, int err,
                       posix_spawn_file_actions_t *actions) {
    int e = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    e = e ? e : posix_spawn_file_actions_adddup2(actions, out, 1);
    e = e ? e : posix_spawn_file_actions_adddup2(actions, err, 2);
    if (!e && q->held_fd >= 0) {
        e = posix_spawn_file_actions_adddup2(actions, q->held_fd, q->held_fd);
    }
    return !e && q->dir ? posix_spawn_file_actions_addchdir_np(actions, q->dir) : e;
}

static int set_attributes(const sigset_t *mask, posix_spawnattr_t *attributes) {
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    int e = posix_spawnattr_setflags(
        attributes,
        (short)(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    e = e ? e : posix_spawnattr_setpgroup(attributes, 0);
    e = e ? e : posix_spawnattr_setsigmask(attributes, mask);
    return e ? e : posix_spawnattr_setsigdefault(attributes, &defaults);
}

/* 0 or an errno. */
static int spawn(child_t *c, int out, int err) {
    const pt_string_list_t *words = c->request->argv;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **argv = calloc(words->count + 1, sizeof(*argv));
    if (!argv) {
        return ENOMEM;
    }
    memcpy(argv, words->items, words->count * sizeof(*argv));
    int e = posix_spawn_file_actions_init(&actions);
    if (e == 0) {
        e = posix_spawnattr_init(&attributes);
        if (e == 0) {
            e = set_actions(c->request, out, err, &actions);
            e = e ? e : set_attributes(&c->old_mask, &attributes);
            e = e ? e : posix_spawnp(&c->pid, argv[0], &actions, &attributes, argv, environ);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(argv);
    return e;
}

static int start(child_t *c) {
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    bool own = c->request->out_fd < 0;
    int e = (own && pipe2(out, O_CLOEXEC) != 0) || pipe2(err, O_CLOEXEC) != 0 ? errno : 0;
    e = e ? e : spawn(c, own ? out[1] : c->request->out_fd, err[1]);
    c->pipes[0] = out[0];
    c->pipes[1] = err[0];
    for (int i = 0; i < 2; i++) {
        int writer = i == 0 ? out[1] : err[1];
        if (writer >= 0) {
            close(writer);
        }
        if (e && c->pipes[i] >= 0) {
            close(c->pipes[i]);
        }
    }
    return e;
}

/* ---- run ----------------------------------------------------------------------------------------
 */

static void signal_group(const child_t *c, int signum) {
    kill(-c->pid, signum);
    kill(-c->pid, SIGCONT); /* one that is stopped hears nothing else */
}

static void ask_to_end(child_t *c, uint64_t now) {
    if (!c->asked) {
        signal_group(c, SIGTERM);
        c->asked = true;
        c->kill_at = now + KILL_NS;
    }
}

static void take(child_t *c, int which) {
    char buffer[65536];
    ssize_t n = read(c->pipes[which], buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) {
        return;
    }
    if (n <= 0) {
        close(c->pipes[which]);
        c->pipes[which] = -1;
        return;
    }
    perftrace__strbuf_t *to = which == 0 ? &c->result->out : &c->result->err;
    perftrace__strbuf_append(to, buffer, (size_t)n);
    if (which == 1 && to->len > ERR_KEPT) {
        size_t cut = to->len - ERR_KEPT;
        memmove(to->data, to->data + cut, ERR_KEPT + 1);
        to->len = ERR_KEPT;
    }
    if (which == 0 && (to->len > c->request->out_max || to->failed)) {
        c->result->too_much = true;
    }
}

/* Looks whether it has ended. It stays a zombie, so that its group's number stays its own. */
static void look(child_t *c, uint64_t now) {
    siginfo_t info = {.si_pid = 0};
    if (!c->ended && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == c->pid) {
        c->ended = true;
        c->leave_at = now + LINGER_NS;
    }
    if (!c->ended && now >= c->deadline && !c->asked) {
        c->result->timed_out = true;
        ask_to_end(c, now);
    }
    if (!c->ended && caught && !c->result->interrupted) {
        c->result->interrupted = true;
        ask_to_end(c, now);
    }
    if (c->result->too_much) {
        ask_to_end(c, now);
    }
    if (!c->ended && now >= c->kill_at) {
        signal_group(c, SIGKILL);
        c->kill_at = NEVER;
    }
}

static bool is_over(const child_t *c, uint64_t now) {
    return c->ended && ((c->pipes[0] < 0 && c->pipes[1] < 0) || now >= c->leave_at);
}

static void wait_for_news(child_t *c, uint64_t now) {
    struct pollfd fds[2] = {{.fd = c->pipes[0], .events = POLLIN},
                            {.fd = c->pipes[1], .events = POLLIN}};
    uint64_t until = c->ended ? c->leave_at : c->asked ? c->kill_at : c->deadline;
    uint64_t ns = until == NEVER ? 0 : until > now ? until - now : 0;
    struct timespec wait = {.tv_sec = (time_t)(ns / 1000000000U),
                            .tv_nsec = (long)(ns % 1000000000U)};
    /* Signals come only in here: none is missed between the look and the wait. */
    if (ppoll(fds, 2, until == NEVER ? NULL : &wait, &c->old_mask) > 0) {
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd >= 0 && fds[i].revents) {
                take(c, i);
            }
        }
    }
}

static void follow(child_t *c) {
    uint64_t now = perftrace__os_mono_ns();
    c->deadline = c->request->timeout_ns ? now + c->request->timeout_ns : NEVER;
    c->kill_at = c->leave_at = NEVER;
    for (look(c, now); !is_over(c, now); look(c, now)) {
        wait_for_news(c, now);
        now = perftrace__os_mono_ns();
    }
    int status = 0;
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
    }
    c->result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    for (int i = 0; i < 2; i++) {
        if (c->pipes[i] >= 0) {
            close(c->pipes[i]);
        }
    }
}

bool pt_child_run(const pt_child_request_t *request, pt_child_result_t *ret) {
    child_t c = {.request = request, .result = ret, .pipes = {-1, -1}};
    sigset_t mask;
    struct sigaction act = {.sa_handler = on_signal}, old;
    *ret = (pt_child_result_t){.out = PERFTRACE__STRBUF_INIT, .err = PERFTRACE__STRBUF_INIT};
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    for (size_t i = 0; i < PT_ARRAY_LEN(ending); i++) {
        sigaddset(&mask, ending[i]);
    }
    pthread_sigmask(SIG_BLOCK, &mask, &c.old_mask);
    sigemptyset(&act.sa_mask);
    sigaction(SIGCHLD, &act, &old); /* one that is ignored would not end a wait */
    ret->error = start(&c);
    if (ret->error == 0) {
        follow(&c);
    }
    sigaction(SIGCHLD, &old, NULL);
    pthread_sigmask(SIG_SETMASK, &c.old_mask, NULL);
    return ret->error == 0 && ret->status == 0 && !ret->timed_out && !ret->interrupted &&
           !ret->too_much;
}

void pt_child_result_free(pt_child_result_t *result) {
    if (result) {
        perftrace__strbuf_free(&result->out);
        perftrace__strbuf_free(&result->err);
    }
}

/* ---- what became of it --------------------------------------------------------------------------
 */

void pt_child_put_end(const pt_child_request_t *request, const pt_child_result_t *result,
                      perftrace__strbuf_t *out) {
    char time[PT_HUMAN_MAX];
    if (result->error) {
        perftrace__strbuf_printf(out, "could not be started: %s", strerror(result->error));
    } else if (result->interrupted) {
        perftrace__strbuf_puts(out, "was interrupted");
    } else if (result->timed_out) {
        perftrace__strbuf_printf(out, "did not end within %s and was stopped",
                                 pt_human_duration(time, request->timeout_ns));
    } else if (result->too_much) {
        perftrace__strbuf_puts(out, "printed more than fits into memory");
    } else if (result->status > 128 && result->status <= 128 + SIGRTMAX) {
        perftrace__strbuf_printf(out, "was ended by signal %d", result->status - 128);
    } else if (result->status != 0) {
        perftrace__strbuf_printf(out, "ended with status %d", result->status);
    }
}

void pt_child_err_lines(const pt_child_result_t *result, void (*line)(const char *text, void *user),
                        void *user) {
    const char *text = perftrace__strbuf_cstr(&result->err);
    perftrace__strbuf_t raw = PERFTRACE__STRBUF_INIT, shown = PERFTRACE__STRBUF_INIT;
    const char *end = text + result->err.len;
    for (const char *at = text; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((feed ? feed : end) - at);
        perftrace__strbuf_clear(&raw);
        perftrace__strbuf_clear(&shown);
        perftrace__strbuf_append(&raw, at, n);
        pt_table_visible(&shown, perftrace__strbuf_cstr(&raw), 400);
        if (shown.len) {
            line(perftrace__strbuf_cstr(&shown), user);
        }
        at += n + 1;
    }
    perftrace__strbuf_free(&raw);
    perftrace__strbuf_free(&shown);
}
