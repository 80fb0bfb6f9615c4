/* run_launch.c. SPDX-License-Identifier: MIT */
#include "run_launch.h"

#include "exit_code.h"
#include "human.h"
#include "message.h"
#include "os.h"
#include "run_rank.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LINGER_MS 500 /* for output of processes that outlive their worker */

static const struct {
    int number;
    const char *name;
} forwarded[] = {{SIGINT, "SIGINT"},   {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"},
                 {SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}};
#define SIGNALS PT_ARRAY_LEN(forwarded)

typedef struct loop_state {
    pt_launch_t launch; /* first: a handle's launch is the state */
    uv_signal_t signals[SIGNALS];
    uv_timer_t kill_timer;
    uv_timer_t linger;
    uv_async_t room;
    bool ended;
} loop_state_t;

/* ---- the end ------------------------------------------------------------------------------------
 */

static void close_handle(uv_handle_t *handle, void *arg) {
    (void)arg;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* Everything is done: no handle keeps the loop. */
static void end(loop_state_t *s) {
    s->ended = true;
    uv_walk(&s->launch.loop, close_handle, NULL);
}

static void on_linger(uv_timer_t *timer) {
    loop_state_t *s = timer->data;
    if (s->launch.paused) {
        uv_timer_start(timer, on_linger, LINGER_MS, 0); /* it is our reader who is slow */
    } else {
        end(s);
    }
}

static void end_when_done(loop_state_t *s) {
    if (s->ended || s->launch.done < s->launch.request->plan->count) {
        return;
    }
    if (s->launch.streams == 0) {
        end(s);
    } else {
        uv_timer_start(&s->linger, on_linger, LINGER_MS, 0);
    }
}

void pt_launch_stream_closed(pt_launch_t *launch) {
    launch->streams--;
    end_when_done((loop_state_t *)launch);
}

/* ---- a rank fails -------------------------------------------------------------------------------
 */

static void on_kill(uv_timer_t *timer) {
    loop_state_t *s = timer->data;
    for (size_t i = 0; i < s->launch.request->plan->count; i++) {
        pt_rank_t *rank = &s->launch.ranks[i];
        if (!rank->done && !rank->worker_ended) {
            pt_warn("rank %" PRId64 ": the worker does not end, it is killed", rank->plan->rank);
            pt_rank_signal(rank, SIGKILL);
        }
    }
}

/* Whether there were any. */
static bool stop_others(loop_state_t *s) {
    size_t running = 0;
    s->launch.stopping = true;
    for (size_t i = 0; i < s->launch.request->plan->count; i++) {
        pt_rank_t *rank = &s->launch.ranks[i];
        if (!rank->done && !rank->worker_ended) {
            running += pt_rank_signal(rank, SIGTERM);
        }
    }
    if (running) {
        uv_timer_start(&s->kill_timer, on_kill, s->launch.request->kill_after_ns / 1000000, 0);
    }
    return running > 0;
}

void pt_launch_rank_done(pt_launch_t *launch, pt_rank_t *rank) {
    loop_state_t *s = (loop_state_t *)launch;
    launch->done++;
    if (rank->status != 0) {
        bool ended = pt_rank_was_ended(rank);
        bool stops = launch->status == 0 && !launch->request->keep_going && !launch->stopping &&
                     stop_others(s);
        launch->status = launch->status ? launch->status : rank->status;
        if (!ended || stops) {
            pt_warn("rank %" PRId64 " has %s (status %d)%s", rank->plan->rank,
                    ended ? "ended" : "failed", rank->status,
                    stops ? ": the other workers are asked to end" : "");
        }
    }
    end_when_done(s);
}

/* ---- signals ------------------------------------------------------------------------------------
 */

static void on_signal(uv_signal_t *handle, int signum) {
    loop_state_t *s = handle->data;
    const pt_launch_request_t *q = s->launch.request;
    size_t running = 0;
    size_t writing = 0;
    for (size_t i = 0; i < q->plan->count; i++) {
        const pt_rank_t *rank = &s->launch.ranks[i];
        running += !rank->done && !rank->worker_ended;
        writing += !rank->done && rank->worker_ended;
    }
    if (running) {
        pt_detail("%s goes to %zu worker%s", forwarded[handle - s->signals].name, running,
                  PT_PLURAL(running));
    } else if (writing && s->launch.asked++ == 0) {
        char span[PT_HUMAN_MAX];
        pt_note(
            "the workers have ended; %s may write its report for %s: signal again to do without",
            q->plan->title, pt_human_duration(span, q->grace_ns));
        return;
    }
    for (size_t i = 0; i < q->plan->count; i++) {
        pt_rank_signal(&s->launch.ranks[i], signum);
    }
}

/* ---- the run ------------------------------------------------------------------------------------
 */

static void on_room(uv_async_t *async) {
    loop_state_t *s = async->data;
    s->launch.paused = false;
    for (size_t i = 0; i < s->launch.request->plan->count; i++) {
        pt_rank_resume(&s->launch.ranks[i]);
    }
}

static void tell_room(void *user) {
    uv_async_send(&((loop_state_t *)user)->room);
}

static bool set_up(loop_state_t *s) {
    uv_loop_t *loop = &s->launch.loop;
    if (uv_timer_init(loop, &s->kill_timer) != 0 || uv_timer_init(loop, &s->linger) != 0 ||
        uv_async_init(loop, &s->room, on_room) != 0) {
        return false;
    }
    s->kill_timer.data = s->linger.data = s->room.data = s;
    for (size_t i = 0; i < SIGNALS; i++) {
        s->signals[i].data = s;
        if (uv_signal_init(loop, &s->signals[i]) != 0 ||
            uv_signal_start(&s->signals[i], on_signal, forwarded[i].number) != 0) {
            return false;
        }
    }
    if (s->launch.request->prefix && !s->launch.request->log_dir) {
        s->launch.writer = pt_writer_start(tell_room, s);
        return s->launch.writer != NULL;
    }
    return true;
}

/* Starts all; the first that cannot be started ends the others. */
static int start_all(loop_state_t *s) {
    const pt_plan_t *plan = s->launch.request->plan;
    int status = PT_EXIT_OK;
    for (size_t i = 0; i < plan->count; i++) {
        pt_rank_t *rank = &s->launch.ranks[i];
        rank->launch = &s->launch;
        rank->plan = &plan->ranks[i];
        if (status == PT_EXIT_OK) {
            status = pt_rank_start(rank);
        }
        if (!rank->started) {
            rank->done = true;
            s->launch.done++;
        }
    }
    if (status != PT_EXIT_OK) {
        s->launch.status = status;
        s->launch.stopping = true;
        for (size_t i = 0; i < plan->count; i++) {
            pt_rank_signal(&s->launch.ranks[i], SIGKILL);
        }
        end_when_done(s);
    }
    return status;
}

/* Says which ranks have no report. */
static bool name_missing(const pt_launch_t *launch) {
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    const pt_rank_t *first = NULL;
    size_t missing = 0;
    for (size_t i = 0; i < launch->request->plan->count; i++) {
        const pt_rank_t *rank = &launch->ranks[i];
        if (rank->missing) {
            perftrace__strbuf_printf(&names, "%s%" PRId64, missing ? ", " : "", rank->plan->rank);
            first = first ? first : rank;
            missing++;
        }
    }
    if (first) {
        pt_error("there is no report of %s from rank%s %s: no finished file %s/%s*",
                 launch->request->plan->title, PT_PLURAL(missing), perftrace__strbuf_cstr(&names),
                 first->plan->report_dir, first->plan->report_start);
    }
    perftrace__strbuf_free(&names);
    return missing > 0;
}

int pt_launch(const pt_launch_request_t *request) {
    loop_state_t *s = calloc(1, sizeof(*s));
    int status = PT_EXIT_INTERNAL;
    perftrace__os_take_streams();
    if (!s || uv_loop_init(&s->launch.loop) != 0) {
        pt_error("out of memory");
        free(s);
        return status;
    }
    s->launch.request = request;
    s->launch.ranks = calloc(request->plan->count, sizeof(*s->launch.ranks));
    /* Workers whose profiler dies, and what profilers leave behind, come to us. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    if (s->launch.ranks && set_up(s)) {
        start_all(s);
    } else {
        pt_error("out of memory, or of descriptors");
        s->launch.status = PT_EXIT_INTERNAL;
        end(s);
    }
    uv_run(&s->launch.loop, UV_RUN_DEFAULT);
    if (!pt_writer_end(s->launch.writer)) {
        pt_warn("some output of the workers could not be written");
    }
    status = s->launch.status;
    if (s->launch.ranks && name_missing(&s->launch) && status == 0) {
        status = PT_RUN_EXIT_NO_REPORT;
    }
    for (size_t i = 0; s->launch.ranks && i < request->plan->count; i++) {
        if (s->launch.ranks[i].started && s->launch.ranks[i].pidfd >= 0) {
            close(s->launch.ranks[i].pidfd);
        }
        pt_rank_free(&s->launch.ranks[i]);
    }
    uv_loop_close(&s->launch.loop);
    free(s->launch.ranks);
    free(s);
    return status;
}
