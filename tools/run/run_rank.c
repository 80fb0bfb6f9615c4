/* run_rank.c. SPDX-License-Identifier: MIT */
#include "run_rank.h"

#include "exit_code.h"
#include "human.h"
#include "message.h"
#include "run_control.h"
#include "run_report.h"
#include "run_spawn.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_FIRST_MS  2  /* workers are there soon; one that changes its title is then known */
#define LOOK_MAX_MS    50 /* a worker that lives shorter is not seen */
#define REPORT_LOOK_MS 100
#define GUESS_MS       3000  /* how long a worker is looked for by its command line alone */
#define UNSEEN_MS      10000 /* when a profiler without a child has lost its worker, it seems */
#define LOOK_LATE_MS   1000  /* between looks after that time */
#define ALIVE_LOOK_MS  50    /* without pidfd */

static const char *profiler(const pt_rank_t *rank) {
    return rank->launch->request->plan->title;
}

static void on_look(uv_timer_t *timer);

static void look_again(pt_rank_t *rank, uint64_t ms) {
    rank->look_ms = ms;
    uv_timer_start(&rank->look, on_look, ms, 0);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void finish(pt_rank_t *rank) {
    if (rank->done) {
        return;
    }
    rank->done = true;
    uv_timer_stop(&rank->look);
    uv_timer_stop(&rank->grace);
    if (rank->worker_status >= 0) {
        rank->status = rank->worker_status;
    } else {
        rank->status = rank->killed ? PT_RUN_EXIT_NO_REPORT : rank->process_status;
    }
    pt_launch_rank_done(rank->launch, rank);
}

/* Whether somebody is left who could still write a report: what a profiler left behind. */
static bool has_orphans(const pt_rank_t *rank) {
    const pt_launch_t *launch = rank->launch;
    size_t n = launch->request->plan->count;
    pid_t *known = calloc(2 * n, sizeof(*known));
    size_t orphans = 0;
    if (known) {
        for (size_t i = 0; i < n; i++) {
            known[i] = launch->ranks[i].started ? launch->ranks[i].process.pid : 0;
            known[n + i] = launch->ranks[i].worker.pid;
        }
        orphans = pt_process_orphans(known, 2 * n);
    }
    free(known);
    return orphans > 0;
}

/* The end of the worker was assumed, and there it is: another child was taken for it, or it was not
 * there yet. */
static bool was_wrong(const pt_rank_t *rank) {
    const pt_string_list_t *command = rank->launch->request->command;
    return (rank->guessed && pt_process_find(rank->process.pid, command).pid != 0) ||
           (rank->unseen && pt_process_find(rank->process.pid, NULL).pid != 0);
}

static void on_grace(uv_timer_t *timer) {
    pt_rank_t *rank = timer->data;
    if (!rank->process_ended && was_wrong(rank)) {
        uv_timer_again(timer);
        return;
    }
    rank->grace_over = true;
    uv_timer_stop(timer);
    if (!rank->process_ended) {
        char span[PT_HUMAN_MAX];
        pt_warn("rank %" PRId64 ": %s has not ended within %s after its worker, it is killed",
                rank->plan->rank, profiler(rank),
                pt_human_duration(span, rank->launch->request->grace_ns));
        rank->killed = true;
        pt_process_kill_tree(rank->process.pid);
    }
}

static void start_grace(pt_rank_t *rank) {
    if (!uv_is_active((const uv_handle_t *)&rank->grace) && !rank->grace_over) {
        uint64_t grace_ms = rank->launch->request->grace_ns / 1000000;
        uv_timer_start(&rank->grace, on_grace, grace_ms, grace_ms);
    }
}

/* Worker and profiler have ended: is the report there? */
static void check_report(pt_rank_t *rank) {
    const pt_plan_rank_t *plan = rank->plan;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    if (!plan->report_dir) {
        finish(rank);
    } else if (pt_run_report_find(plan->report_dir, plan->report_start, &rank->before, &path)) {
        pt_detail("rank %" PRId64 ": %s", plan->rank, perftrace__strbuf_cstr(&path));
        if (!pt_control_was_used(plan)) {
            pt_warn("rank %" PRId64 ": %s was never switched on: none of the steps came (the "
                    "worker must call perftrace_init and perftrace_step)",
                    plan->rank, profiler(rank));
        }
        finish(rank);
    } else if (!rank->grace_over && !rank->killed && has_orphans(rank)) {
        start_grace(rank);
        look_again(rank, REPORT_LOOK_MS);
    } else {
        rank->missing = true;
        finish(rank);
    }
    perftrace__strbuf_free(&path);
}

static void worker_ended(pt_rank_t *rank) {
    if (rank->worker_ended) {
        return;
    }
    int status;
    rank->worker_ended = true;
    uv_timer_stop(&rank->look);
    /* It is ours to wait for where its profiler died before it. */
    if (rank->worker.pid && waitpid(rank->worker.pid, &status, WNOHANG) == rank->worker.pid) {
        rank->worker_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (rank->process_ended) {
        check_report(rank);
    } else {
        pt_detail("rank %" PRId64 ": the worker has ended; %s writes its report", rank->plan->rank,
                  profiler(rank));
        start_grace(rank);
    }
}

/* ---- the worker ---------------------------------------------------------------------------------
 */

static void on_watch(uv_poll_t *watch, int status, int events) {
    (void)status;
    (void)events;
    uv_poll_stop(watch);
    worker_ended(watch->data);
}

static void deliver(pt_rank_t *rank) {
    for (int signum = 1; signum < 64; signum++) {
        if (rank->pending >> signum & 1) {
            pt_process_signal(&rank->worker, signum);
        }
    }
    rank->pending = 0;
}

/* Waits for its end. */
static void found_worker(pt_rank_t *rank, pt_process_t worker, bool guessed) {
    if (rank->unseen) {
        rank->unseen = false;
        uv_timer_stop(&rank->grace);
    }
    rank->worker = worker;
    rank->guessed = guessed;
    pt_detail("rank %" PRId64 ": the worker is process %d", rank->plan->rank, (int)worker.pid);
#ifdef SYS_pidfd_open
    rank->pidfd = (int)syscall(SYS_pidfd_open, worker.pid, 0);
#endif
    if (rank->pidfd >= 0 && pt_process_is_alive(&worker) &&
        uv_poll_init(&rank->launch->loop, &rank->watch, rank->pidfd) == 0) {
        rank->watch.data = rank;
        uv_poll_start(&rank->watch, UV_READABLE, on_watch);
    } else {
        look_again(rank, ALIVE_LOOK_MS);
    }
    deliver(rank);
}

static const pt_string_list_t *command_of(const pt_rank_t *rank) {
    return rank->launch->request->command;
}

static uint64_t age_ms(const pt_rank_t *rank) {
    return uv_now(&rank->launch->loop) - rank->started_ms;
}

/* The worker below the profiler: by its command line, or, where that has changed (a shell that
 * became another program, a title), the profiler's only child. */
static bool look_for_worker(pt_rank_t *rank) {
    const pt_plan_t *plan = rank->launch->request->plan;
    pt_process_t worker = pt_process_find(rank->process.pid, command_of(rank));
    bool guessed = false;
    if (!worker.pid && !plan->in_process) {
        pt_process_t child = pt_process_only_child(rank->process.pid);
        guessed = age_ms(rank) >= GUESS_MS;
        worker = guessed ? child : worker;
        rank->child = child.pid ? child : rank->child; /* a dead profiler has none any more */
    }
    if (worker.pid) {
        found_worker(rank, worker, guessed);
    }
    return worker.pid != 0;
}

/* A signal does not wait for ever: the profiler gets it, which may be the worker itself. */
static void deliver_to_profiler(pt_rank_t *rank) {
    for (int signum = 1; signum < 64 && age_ms(rank) >= GUESS_MS; signum++) {
        if (rank->pending >> signum & 1) {
            uv_process_kill(&rank->process, signum);
            rank->pending &= ~(UINT64_C(1) << signum);
        }
    }
}

/* It is not there yet, or it lived too short to be seen and its profiler hangs. */
static void miss_worker(pt_rank_t *rank) {
    bool late = age_ms(rank) >= UNSEEN_MS;
    if (late && !rank->unseen && !rank->launch->request->plan->in_process &&
        !pt_process_find(rank->process.pid, NULL).pid) {
        rank->unseen = true;
        start_grace(rank);
    }
    if (rank->pending) {
        deliver_to_profiler(rank);
    }
    look_again(rank, PT_MIN(rank->look_ms * 2, late ? LOOK_LATE_MS : LOOK_MAX_MS));
}

static void on_look(uv_timer_t *timer) {
    pt_rank_t *rank = timer->data;
    if (rank->worker_ended) {
        check_report(rank);
    } else if (rank->worker.pid && pt_process_is_alive(&rank->worker)) {
        look_again(rank, ALIVE_LOOK_MS);
    } else if (rank->worker.pid) {
        worker_ended(rank);
    } else if (!look_for_worker(rank)) {
        miss_worker(rank);
    }
}

/* The profiler has ended. Its worker may live on: profilers die, and nsys ends its session with the
 * last window. */
static void profiler_ended(pt_rank_t *rank) {
    pt_launch_t *launch = rank->launch;
    size_t n = launch->request->plan->count;
    if (!rank->worker.pid && !rank->worker_ended) {
        pt_process_t *taken = calloc(n, sizeof(*taken));
        for (size_t i = 0; taken && i < n; i++) {
            taken[i] = launch->ranks[i].worker;
        }
        pt_process_t worker =
            taken ? pt_process_find_orphan(command_of(rank), taken, n) : (pt_process_t){0, 0};
        free(taken);
        if (worker.pid || rank->child.pid) {
            found_worker(rank, worker.pid ? worker : rank->child, !worker.pid);
        }
    }
    if (rank->worker_ended) {
        check_report(rank);
    } else if (rank->worker.pid && !rank->killed && pt_process_is_alive(&rank->worker)) {
        pt_warn("rank %" PRId64 ": %s has ended before the worker, which goes on", rank->plan->rank,
                profiler(rank));
    } else {
        worker_ended(rank);
    }
}

static void on_process_exit(uv_process_t *process, int64_t status, int signum) {
    pt_rank_t *rank = process->data;
    rank->process_ended = true;
    rank->process_status = signum ? 128 + signum : (int)status;
    if (rank->wrapped) {
        profiler_ended(rank);
    } else {
        rank->worker_status = rank->process_status;
        worker_ended(rank);
    }
}

int pt_rank_start(pt_rank_t *rank) {
    const pt_plan_rank_t *plan = rank->plan;
    uv_loop_t *loop = &rank->launch->loop;
    rank->worker_status = -1;
    rank->pidfd = -1;
    rank->wrapped = profiler(rank) != NULL;
    uv_timer_init(loop, &rank->look);
    uv_timer_init(loop, &rank->grace);
    rank->look.data = rank->grace.data = rank->process.data = rank;
    if (plan->report_dir &&
        !pt_run_report_remember(plan->report_dir, plan->report_start, &rank->before)) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    int status = pt_spawn(rank, on_process_exit);
    rank->started_ms = uv_now(loop);
    if (status == PT_EXIT_OK && rank->wrapped) {
        look_again(rank, LOOK_FIRST_MS);
    } else if (status == PT_EXIT_OK) {
        rank->worker = (pt_process_t){rank->process.pid, 0};
    }
    return status;
}

/* ---- signals ------------------------------------------------------------------------------------
 */

/* Whether a child has ended, waited for or not: its number may be another's soon. */
static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

bool pt_rank_signal(pt_rank_t *rank, int signum) {
    bool given = false;
    if (rank->done || !rank->started) {
        return false;
    }
    if (!rank->wrapped) {
        given = !has_ended(rank->process.pid) && uv_process_kill(&rank->process, signum) == 0;
    } else if (rank->worker_ended || (rank->worker.pid && !pt_process_is_alive(&rank->worker))) {
        bool give_up = rank->launch->asked > 1 && !rank->process_ended && !rank->killed;
        if (give_up) {
            pt_warn("rank %" PRId64 ": %s is killed before its report is written", rank->plan->rank,
                    profiler(rank));
            rank->killed = true;
            pt_process_kill_tree(rank->process.pid);
        } else {
            rank->grace_over = rank->grace_over || (rank->launch->asked > 1 && rank->process_ended);
        }
    } else if (rank->worker.pid) {
        given = pt_process_signal(&rank->worker, signum);
    } else if (!rank->process_ended) {
        given = true;
        rank->pending |= UINT64_C(1) << signum;
        look_again(rank, 1);
    }
    rank->given |= (uint64_t)given << signum;
    return given;
}

bool pt_rank_was_ended(const pt_rank_t *rank) {
    static const int asking[] = {SIGINT, SIGTERM, SIGQUIT, SIGKILL};
    /* Of another signal only who dies of it: to most it means something else. */
    int died_of = rank->status > 128 && rank->status < 128 + 64 ? rank->status - 128 : 0;
    bool asked = rank->given >> died_of & 1;
    for (size_t i = 0; i < PT_ARRAY_LEN(asking); i++) {
        asked = asked || (rank->given >> asking[i] & 1);
    }
    return asked || (rank->killed && rank->worker_status < 0);
}
