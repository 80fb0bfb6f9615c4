/* session_report.c: what is said about a selection of sessions. SPDX-License-Identifier: MIT */
#include "session_report.h"

#include <inttypes.h>
#include <math.h>

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
    perftrace__strbuf_printf(&text, "%s:%" PRIu32, r->file[row->file], row->line);
    pt_table_text(t, perftrace__strbuf_cstr(&text), text.len);
    perftrace__strbuf_free(&text);
}

bool pt_session_report_make(const pt_selection_t *selection, const char *const *file, size_t top,
                            unsigned threads, pt_report_t *out) {
    pt_session_report_t r = {.selection = selection, .file = file, .top = top, .out = out};
    bool ok = pt_session_metrics_make(selection, threads, &r.metrics) && pt_report_summary(&r) &&
              pt_report_durations(&r) && pt_report_ranks(&r) && pt_report_tasks(&r) &&
              pt_report_slowest(&r) && pt_report_unfinished(&r) && pt_report_steps(&r) &&
              !pt_report_failed(out);
    pt_session_metrics_free(&r.metrics);
    return ok;
}
