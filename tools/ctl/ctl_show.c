/* ctl_show.c: answers as tables. SPDX-License-Identifier: MIT */
#include "ctl_show.h"

#include "json_doc.h"

#include <math.h>
#include <stdio.h>

static void show_workers(pt_report_t *report, const pt_ctl_workers_t *w,
                         const perftrace__http_call_t *calls, size_t calls_each,
                         const pt_ctl_verdict_t *verdicts) {
    pt_table_t *t = pt_report_table(report, "workers", "Workers", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "url", "Worker", PT_COLUMN_TEXT);
    pt_table_column(t, "result", "Result", PT_COLUMN_TEXT);
    pt_table_column(t, "seconds", "Time", PT_COLUMN_SECONDS);
    pt_table_column(t, "message", "Message", PT_COLUMN_TEXT);
    pt_table_detail(t, "http_status", PT_COLUMN_COUNT);
    for (size_t i = 0; i < w->count; i++) {
        const pt_ctl_verdict_t *v = &verdicts[i];
        const perftrace__http_call_t *call = &calls[i * calls_each];
        pt_table_number(t, w->worker[i].has_rank ? (double)w->worker[i].rank : NAN);
        pt_table_cstr(t, w->worker[i].url);
        pt_table_cstr(t, v->word);
        pt_table_number(t, call->seconds);
        if (v->text.len == 0 && w->worker[i].unhealthy) {
            pt_table_cstr(t, "the router calls it unhealthy");
        } else {
            pt_table_text(t, perftrace__strbuf_cstr(&v->text), v->text.len);
        }
        pt_table_number(t, call->status > 0 ? (double)call->status : NAN);
    }
}

/* ---- status ---- */

static void put_number(pt_table_t *t, const perftrace__json_node_t *root, const char *path) {
    double number = NAN;
    perftrace__json_get_double(root, path, &number);
    pt_table_number(t, number);
}

static void put_text(pt_table_t *t, const perftrace__json_node_t *root, const char *path) {
    const char *text = NULL;
    perftrace__json_get_string(root, path, &text);
    pt_table_cstr(t, text != NULL && text[0] != '\0' ? text : NULL);
}

/* A number that names something: without separators. */
static void put_id(pt_table_t *t, const perftrace__json_node_t *root, const char *path) {
    char text[24];
    int64_t number = 0;
    bool found = perftrace__json_get_i64(root, path, &number);
    snprintf(text, sizeof text, "%lld", (long long)number);
    pt_table_cstr(t, found ? text : NULL);
}

static void put_doing(pt_table_t *t, const perftrace__json_node_t *root) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    const char *where = NULL, *window = NULL;
    int64_t saved = 0;
    bool on = false, active = false;
    if (!perftrace__json_get_bool(root, "active", &active)) {
        pt_table_cstr(t, NULL); /* another server's answer */
        return;
    }
    perftrace__json_get_bool(root, "hold.on", &on);
    perftrace__strbuf_puts(&text, active ? "recording" : "recording nothing");
    if (perftrace__json_get_string(root, "hold.waiting.0.where", &where)) {
        perftrace__strbuf_printf(&text, ", held at \"%s\"", where);
    } else if (on) {
        perftrace__strbuf_puts(&text, ", will be held");
    }
    if (perftrace__json_get_string(root, "profiler.window", &window)) {
        perftrace__strbuf_printf(&text, ", profiling %s", window);
    }
    if (perftrace__json_get_i64(root, "profiler.saved", &saved) && saved > 0) {
        perftrace__strbuf_printf(&text, ", %lld window%s saved", (long long)saved,
                                 PT_PLURAL(saved));
    }
    pt_table_text(t, perftrace__strbuf_cstr(&text), text.len);
    perftrace__strbuf_free(&text);
}

static void add_status_table(pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "status", "Status", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "role", "Role", PT_COLUMN_TEXT);
    pt_table_column(t, "host", "Host", PT_COLUMN_TEXT);
    pt_table_column(t, "pid", "Process", PT_COLUMN_TEXT);
    pt_table_column(t, "global_step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "seconds", "Runs for", PT_COLUMN_SECONDS);
    pt_table_column(t, "doing", "Is", PT_COLUMN_TEXT);
}

static void show_status(pt_table_t *t, const perftrace__json_node_t *root) {
    put_number(t, root, "rank");
    put_text(t, root, "role");
    put_text(t, root, "host");
    put_id(t, root, "pid");
    put_number(t, root, "global_step");
    put_number(t, root, "seconds");
    put_doing(t, root);
}

/* ---- scopes ---- */

static void add_scopes_table(pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "scopes", "What each thread is in", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "thread", "Thread", PT_COLUMN_TEXT);
    pt_table_detail(t, "tid", PT_COLUMN_COUNT);
    pt_table_column(t, "seconds", "For", PT_COLUMN_SECONDS);
    pt_table_column(t, "scopes", "In", PT_COLUMN_TEXT);
}

/* The whole chain, outermost first; its time is that of the innermost, in which it stands now. */
static void show_thread(pt_table_t *t, double rank, const perftrace__json_node_t *thread) {
    perftrace__strbuf_t chain = PERFTRACE__STRBUF_INIT;
    double seconds = NAN;
    bool moving = false;
    const perftrace__json_node_t *list = perftrace__json_node_member(thread, "scopes");
    for (const perftrace__json_node_t *n = perftrace__json_node_first(list); n != NULL;
         n = perftrace__json_node_next(n)) {
        const char *name = "?";
        perftrace__json_get_string(n, "name", &name);
        perftrace__json_get_double(n, "seconds", &seconds);
        perftrace__strbuf_printf(&chain, "%s%s", chain.len > 0 ? " > " : "", name);
    }
    perftrace__json_get_bool(thread, "moving", &moving);
    if (chain.len == 0) {
        perftrace__strbuf_puts(&chain, moving ? "(changes too fast to be seen)" : "(no scope)");
    }
    pt_table_number(t, rank);
    put_text(t, thread, "name");
    put_number(t, thread, "tid");
    pt_table_number(t, seconds);
    pt_table_text(t, perftrace__strbuf_cstr(&chain), chain.len);
    perftrace__strbuf_free(&chain);
}

static void show_scopes(pt_table_t *t, const pt_ctl_worker_t *worker,
                        const perftrace__json_node_t *root) {
    const perftrace__json_node_t *list = perftrace__json_node_member(root, "threads");
    double rank = worker->has_rank ? (double)worker->rank : NAN;
    for (const perftrace__json_node_t *n = perftrace__json_node_first(list); n != NULL;
         n = perftrace__json_node_next(n)) {
        show_thread(t, rank, n);
    }
}

void pt_ctl_show(pt_report_t *report, pt_ctl_action_t action, const pt_ctl_workers_t *w,
                 const perftrace__http_call_t *calls, size_t calls_each,
                 const pt_ctl_verdict_t *verdicts) {
    bool detailed = action == PT_CTL_STATUS || action == PT_CTL_SCOPES;
    show_workers(report, w, calls, calls_each, verdicts);
    if (!detailed) {
        return;
    }
    if (action == PT_CTL_STATUS) {
        add_status_table(report);
    } else {
        add_scopes_table(report);
    }
    pt_table_t *t = &report->table[report->tables - 1];
    for (size_t i = 0; i < w->count; i++) {
        perftrace__json_doc_t *doc =
            verdicts[i].good
                ? perftrace__json_doc_load(calls[i].reply.data, calls[i].reply.len, 0, NULL)
                : NULL;
        if (doc != NULL && action == PT_CTL_STATUS) {
            show_status(t, perftrace__json_doc_root(doc));
        } else if (doc != NULL) {
            show_scopes(t, &w->worker[i], perftrace__json_doc_root(doc));
        }
        perftrace__json_doc_free(doc);
    }
}
