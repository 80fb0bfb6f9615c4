/* session_report.c: what is said about a selection of sessions. SPDX-License-Identifier: MIT */
#include "session_report.h"

#include "ordered.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

uint32_t pt_report_status(const pt_session_report_t *r, const char *status) {
    pt_name_t name = {status, strlen(status)};
    return pt_name_table_find(&r->selection->model->names[PT_NAMES_STATUS], name);
}

bool pt_report_has_roles(const pt_session_report_t *r) {
    const pt_name_table_t *roles = &r->selection->model->names[PT_NAMES_ROLE];
    return roles->count > 1 || (roles->count == 1 && pt_name_table_get(roles, 0).len > 0);
}

void pt_report_name(const pt_session_report_t *r, pt_table_t *t, pt_names_t kind, uint32_t id) {
    pt_name_t name = pt_session_name(r->selection->model, kind, id);
    if (name.len == 0) {
        pt_table_cstr(t, NULL);
    } else {
        pt_table_text(t, name.p, name.len);
    }
}

void pt_report_session_columns(const pt_session_report_t *r, pt_table_t *t) {
    const pt_session_model_t *m = r->selection->model;
    if (m->runs > 1) {
        pt_table_column(t, "run", "run", PT_COLUMN_COUNT);
    }
    if (pt_report_has_roles(r)) {
        pt_table_column(t, "role", "role", PT_COLUMN_TEXT);
    }
    pt_table_column(t, "rank", "rank", PT_COLUMN_COUNT);
    pt_table_column(t, "task", "task", PT_COLUMN_TEXT);
    pt_table_column(t, "session", "session", PT_COLUMN_TEXT);
}

void pt_report_session_cells(const pt_session_report_t *r, pt_table_t *t,
                             const pt_session_row_t *row) {
    const pt_session_model_t *m = r->selection->model;
    char text[256];
    if (m->runs > 1) {
        pt_table_number(t, row->run);
    }
    if (pt_report_has_roles(r)) {
        pt_report_name(r, t, PT_NAMES_ROLE, row->role);
    }
    pt_table_number(t, row->rank >= 0 ? row->rank : (double)NAN);
    pt_table_cstr(t, (row->flags & PT_ROW_NO_TASK) != 0
                         ? NULL
                         : pt_session_task_text(m, row, text, sizeof text));
    pt_table_cstr(t, pt_session_id_text(m, row, text, sizeof text));
}

void pt_report_place(const pt_session_report_t *r, pt_table_t *t, const pt_session_row_t *row) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_puts(&text, r->file[row->file]);
    if (row->line > 0) {
        perftrace__strbuf_printf(&text, ":%" PRIu32, row->line);
    }
    pt_table_text(t, perftrace__strbuf_cstr(&text), text.len);
    perftrace__strbuf_free(&text);
}

/* ---- all parts, side by side ---- */

enum { SUMMARY, DURATIONS, RANKS, TASKS, SLOWEST, UNFINISHED, STEPS, PARTS }; /* as printed */

/* A part of the report. */
typedef struct job {
    bool (*part)(pt_session_report_t *report);
    pt_session_report_t report;
    pt_report_t out;
} job_t;

static int job_work(void *ctx, void *task, unsigned worker) {
    job_t *job = task;
    (void)ctx;
    (void)worker;
    return job->part(&job->report) ? 0 : -1;
}

/* Runs what needs no metrics while they are summed up, then the rest. */
static int run_jobs(pt_ordered_t *pipe, job_t *part, pt_session_metrics_t *x) {
    static const unsigned first[] = {SUMMARY, RANKS, TASKS};
    static const unsigned then[] = {DURATIONS, SLOWEST, UNFINISHED, STEPS};
    int status = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(first) && status == 0; i++) {
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &part[first[i]]);
    }
    const pt_session_report_t *r = &part->report;
    bool ok = status == 0 && pt_session_metrics_sum_up(r->selection, r->top, x);
    int end = pt_ordered_finish(pipe);
    status = status != 0 ? status : !ok ? -1 : end;
    for (size_t i = 0; i < PT_ARRAY_LEN(then) && status == 0; i++) {
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &part[then[i]]);
    }
    end = pt_ordered_finish(pipe);
    return status != 0 ? status : end;
}

bool pt_session_report_make(const pt_selection_t *selection, const char *const *file, size_t top,
                            unsigned threads, pt_report_t *out) {
    static bool (*const parts[PARTS])(pt_session_report_t *) = {
        [SUMMARY] = pt_report_summary, [DURATIONS] = pt_report_durations,
        [RANKS] = pt_report_ranks,     [TASKS] = pt_report_tasks,
        [SLOWEST] = pt_report_slowest, [UNFINISHED] = pt_report_unfinished,
        [STEPS] = pt_report_steps,
    };
    pt_session_metrics_t metrics = {.metric = NULL};
    job_t job[PARTS];
    pt_ordered_options_t how = {
        .threads = threads > 1 ? threads : 0, .in_flight = 64, .work = job_work};
    pt_ordered_t *pipe = pt_ordered_new(&how);
    for (unsigned i = 0; i < PARTS; i++) {
        job[i] = (job_t){.part = parts[i], .out = PT_REPORT_INIT};
        job[i].report = (pt_session_report_t){selection, &metrics, file, top, &job[i].out};
    }
    bool ok = pipe != NULL && run_jobs(pipe, job, &metrics) == 0;
    pt_ordered_free(pipe);
    for (unsigned i = 0; i < PARTS; i++) {
        pt_report_move(out, &job[i].out);
    }
    pt_session_metrics_free(&metrics);
    return ok && !pt_report_failed(out);
}
