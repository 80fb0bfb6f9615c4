/* profiler_finish.c: what happens when all windows are over: reports of other profilers are brought
 * home, a command is run. SPDX-License-Identifier: MIT */
#include "os.h"
#include "perf_process.h"
#include "profiler_state.h"
#include "status_text.h"

#include <perftrace/status.h>

#include <inttypes.h>
#include <stdio.h>

#define DEFAULT_LIMIT_MS 60000

/* ---- reports ---- */

void perftrace__finish_relocate(perftrace_profiler_t *p, const char *dir,
                                const perftrace_trace_name_t *name) {
    const int moved =
        perftrace_trace_relocate(p->opt.relocate_from, dir, name, (int64_t)perftrace__os_pid());
    if (moved < 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "reports of this process stay in %s: they cannot be moved to %s: "
                                "%s",
                                p->opt.relocate_from, dir, perftrace__status_text(moved));
    } else if (moved > 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_NOTE, "moved %d report%s from %s to %s", moved,
                                moved == 1 ? "" : "s", p->opt.relocate_from, dir);
    }
}

/* ---- the command ---- */

/* "NAME=value" for env(1), which sets it for the command alone. */
typedef char variable_t[4200];

static void run_command(perftrace_profiler_t *p, int64_t windows, const char *file) {
    variable_t dir, back_ends, rank, role, pid, count, last;
    snprintf(dir, sizeof(dir), "PERFTRACE_PROFILE_DIR=%s", p->dir);
    snprintf(back_ends, sizeof(back_ends), "PERFTRACE_PROFILE_BACK_ENDS=");
    for (size_t i = 0; i < p->nrecorders; i++) {
        const size_t used = strlen(back_ends);
        snprintf(back_ends + used, sizeof(back_ends) - used, "%s%s", i ? "," : "",
                 p->recorders[i].calls.name);
    }
    snprintf(rank, sizeof(rank), "PERFTRACE_PROFILE_RANK=%d", p->opt.name.rank);
    snprintf(role, sizeof(role), "PERFTRACE_PROFILE_ROLE=%s",
             p->opt.name.role ? p->opt.name.role : "");
    snprintf(pid, sizeof(pid), "PERFTRACE_PROFILE_PID=%u", perftrace__os_pid());
    snprintf(count, sizeof(count), "PERFTRACE_PROFILE_WINDOWS=%" PRId64, windows);
    snprintf(last, sizeof(last), "PERFTRACE_PROFILE_FILE=%s", file);
    const char *const args[] = {
        "env", dir, back_ends, rank, role, pid, count, last, "/bin/sh", "-c", p->opt.finish_command,
        NULL};
    const uint32_t limit = p->opt.finish_limit_ms ? p->opt.finish_limit_ms : DEFAULT_LIMIT_MS;
    perftrace__perf_process_t process;
    char said[256];
    perftrace__perf_process_init(&process);
    const int err = perftrace__perf_process_start(&process, args);
    const int ended =
        err ? 0 : perftrace__perf_process_end(&process, (int)PT_MIN(limit, (uint32_t)INT32_MAX));
    perftrace__perf_process_said(&process, said, sizeof(said));
    const char *what = said[0] ? ": " : "";
    if (err) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING, "the finish command cannot be run: %s",
                                strerror(err));
    } else if (ended < 0) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "the finish command was killed after %" PRIu32 " ms%s%s", limit,
                                what, said);
    } else if (ended) {
        perftrace__profiler_log(p, PERFTRACE_LOG_WARNING,
                                "the finish command failed with status %d%s%s", ended, what, said);
    } else {
        perftrace__profiler_log(p, PERFTRACE_LOG_NOTE, "the finish command has run%s%s", what,
                                said);
    }
    perftrace__perf_process_forget(&process);
}

/* Whether the last recorded step of the plan lies behind. */
static bool is_over(const perftrace_profiler_t *p) {
    const bool gated = p->gate.form == PERFTRACE__SCHEDULE_STEPS;
    perftrace_schedule_window_t w;
    if (gated) {
        const perftrace__number_list_t *list = &p->gate.list;
        return list->count > 0 && p->global_step > list->item[list->count - 1].last;
    }
    const int64_t windows = perftrace__schedule_windows(&p->schedule, NULL);
    if (!p->armed.on || windows <= 0 || p->armed.position < 0) {
        return false;
    }
    perftrace__schedule_action(&p->schedule, p->armed.position, &w);
    return w.index < 0 && p->armed.done_with + 1 == windows;
}

void perftrace__finish_step(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    if (!p->finishes || p->finish_done || p->inherited || !is_over(p) || g->owner == p ||
        (p->selected && p->recorded + p->absorbed == 0)) {
        return;
    }
    perftrace__finish_run(p);
}

void perftrace__finish_run(perftrace_profiler_t *p) {
    perftrace__window_t *g = &perftrace__window;
    char file[sizeof(g->last_path)];
    if (!p->finishes || p->finish_done) {
        return;
    }
    p->finish_done = true;
    const int64_t windows = p->recorded;
    memcpy(file, g->last_path, sizeof(file));
    pthread_mutex_unlock(&g->lock);
    run_command(p, windows, file);
    pthread_mutex_lock(&g->lock);
}
