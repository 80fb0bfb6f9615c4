/* live_text.c: the view as tables. SPDX-License-Identifier: MIT */
#include "live_text.h"

#include "human.h"

#include <math.h>
#include <stdio.h>

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

static void put_rank(pt_table_t *t, int32_t rank) {
    pt_table_number(t, rank >= 0 ? (double)rank : NAN);
}

/* A number that names something: without separators. */
static void put_id(pt_table_t *t, uint32_t id) {
    char text[16];
    snprintf(text, sizeof text, "%u", id);
    pt_table_cstr(t, text);
}

static void put_step(pt_table_t *t, bool has, int64_t step) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)step);
    pt_table_cstr(t, has ? text : NULL);
}

static void put_buffer(pt_table_t *t, perftrace__strbuf_t *text) {
    t->failed |= text->failed;
    pt_table_text(t, perftrace__strbuf_cstr(text), text->len);
    perftrace__strbuf_free(text);
}

/* ---- ranks --------------------------------------------------------------------------------------
 */

static void put_losses(pt_table_t *t, const pt_live_process_t *p) {
    static const char *const names[] = {
#define X(name, text) #name,
        PERFTRACE_DROP_LIST(X)
#undef X
    };
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
        if (p->lost[i] > 0) {
            char number[PT_HUMAN_MAX];
            perftrace__strbuf_printf(&text, "%s%s %s", text.len > 0 ? ", " : "", names[i],
                                     pt_human_exact(number, p->lost[i]));
        }
    }
    if (text.len == 0) {
        perftrace__strbuf_puts(&text, "nothing");
    }
    put_buffer(t, &text);
}

static bool has_stuck(const pt_live_process_t *p, const pt_live_judge_options_t *o) {
    for (uint32_t i = 0; i < p->threads; i++) {
        if (pt_live_is_stuck(p, &p->thread[i], o)) {
            return true;
        }
    }
    return false;
}

static void ranks_table(const pt_live_model_t *m, const pt_live_judge_options_t *o,
                        pt_report_t *report) {
    char title[64], shown[PT_HUMAN_COUNTED_MAX];
    snprintf(title, sizeof title, "%s",
             pt_human_counted(shown, m->processes, "traced process", "traced processes"));
    pt_table_t *t = pt_report_table(report, "ranks", title, false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "role", "Role", PT_COLUMN_TEXT);
    pt_table_column(t, "pid", "Process", PT_COLUMN_TEXT);
    pt_table_column(t, "state", "State", PT_COLUMN_TEXT);
    pt_table_column(t, "step", "Step", PT_COLUMN_TEXT);
    pt_table_column(t, "rate", "Events/s", PT_COLUMN_COUNT);
    pt_table_column(t, "written", "Written", PT_COLUMN_COUNT);
    pt_table_column(t, "lost", "Lost", PT_COLUMN_TEXT);
    pt_table_column(t, "in", "In", PT_COLUMN_TEXT);
    pt_table_column(t, "still", "Still for", PT_COLUMN_SECONDS);
    pt_table_column(t, "stuck", "stuck", PT_COLUMN_FLAG);
    for (size_t i = 0; i < m->processes; i++) {
        const pt_live_process_t *p = &m->process[i];
        const pt_live_thread_t *front = pt_live_process_front(p);
        put_rank(t, p->rank);
        pt_table_cstr(t, p->role[0] != '\0' ? p->role : NULL);
        put_id(t, p->pid);
        pt_table_cstr(t, pt_live_state_word(p->state));
        put_step(t, p->has_step, p->step);
        pt_table_number(t, round(p->rate));
        pt_table_number(t, (double)p->written);
        put_losses(t, p);
        pt_table_cstr(t, front != NULL ? pt_live_thread_inner(front)->name : NULL);
        pt_table_number(t, front != NULL ? seconds(front->still_ns) : NAN);
        pt_table_number(t, has_stuck(p, o));
    }
}

/* ---- scopes -------------------------------------------------------------------------------------
 */

static void scope_row(pt_table_t *t, const pt_live_process_t *p, const pt_live_thread_t *thread,
                      uint32_t depth, const char *name, const pt_live_scope_t *s) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&text, "%*s%s", (int)depth * 2, "", name);
    if (depth == 0) {
        put_rank(t, p->rank);
        put_id(t, p->pid);
        put_id(t, thread->tid);
        pt_table_cstr(t, thread->name);
    } else {
        for (int i = 0; i < 4; i++) {
            pt_table_text(t, "", 0);
        }
    }
    put_buffer(t, &text);
    pt_table_cstr(t, s != NULL ? s->category : "");
    if (s != NULL) {
        pt_table_number(t, seconds(s->age_ns));
    } else {
        pt_table_text(t, "", 0);
    }
}

static void scopes_table(const pt_live_model_t *m, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "scopes", "Open scopes", false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "pid", "Process", PT_COLUMN_TEXT);
    pt_table_column(t, "tid", "Thread", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_TEXT);
    pt_table_column(t, "scope", "Scope", PT_COLUMN_LONG);
    pt_table_column(t, "category", "Category", PT_COLUMN_TEXT);
    pt_table_column(t, "age", "For", PT_COLUMN_SECONDS);
    for (size_t i = 0; i < m->processes; i++) {
        const pt_live_process_t *p = &m->process[i];
        for (uint32_t k = 0; k < p->threads; k++) {
            const pt_live_thread_t *thread = &p->thread[k];
            for (uint32_t d = 0; d < thread->scopes; d++) {
                scope_row(t, p, thread, d, thread->scope[d].name, &thread->scope[d]);
            }
            if (!thread->whole) {
                scope_row(t, p, thread, thread->scopes, "(changes too fast to be told)", NULL);
            } else if (thread->scopes == 0) {
                scope_row(t, p, thread, 0, "(none)", NULL);
            }
        }
    }
}

/* ---- hangs --------------------------------------------------------------------------------------
 */

static void put_chain(pt_table_t *t, const pt_live_thread_t *thread) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (uint32_t i = 0; i < thread->scopes; i++) {
        perftrace__strbuf_printf(&text, "%s%s", i > 0 ? " > " : "", thread->scope[i].name);
    }
    put_buffer(t, &text);
}

static void stuck_table(const pt_live_model_t *m, const pt_live_verdict_t *v,
                        const pt_live_judge_options_t *o, pt_report_t *report) {
    char title[96], time[PT_HUMAN_MAX];
    snprintf(title, sizeof title, "Nothing has happened for %s or more",
             pt_human_duration(time, o->stuck_ns));
    pt_table_t *t = pt_report_table(report, "stuck", title, false);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "pid", "Process", PT_COLUMN_TEXT);
    pt_table_column(t, "tid", "Thread", PT_COLUMN_TEXT);
    pt_table_column(t, "name", "Name", PT_COLUMN_TEXT);
    pt_table_column(t, "state", "State", PT_COLUMN_TEXT);
    pt_table_column(t, "step", "Step", PT_COLUMN_TEXT);
    pt_table_column(t, "still", "Still for", PT_COLUMN_SECONDS);
    pt_table_column(t, "in", "In", PT_COLUMN_LONG);
    for (size_t i = 0; i < v->stucks; i++) {
        const pt_live_process_t *p = &m->process[v->stuck[i].process];
        const pt_live_thread_t *thread = &p->thread[v->stuck[i].thread];
        put_rank(t, p->rank);
        put_id(t, p->pid);
        put_id(t, thread->tid);
        pt_table_cstr(t, thread->name);
        pt_table_cstr(t, pt_live_state_word(p->state));
        put_step(t, p->has_step, p->step);
        pt_table_number(t, seconds(thread->still_ns));
        put_chain(t, thread);
    }
}

/* Appends 3 or 5-7 of a run of ranks. */
static void put_range(perftrace__strbuf_t *text, int32_t first, int32_t last) {
    perftrace__strbuf_printf(text, "%s%d", text->len > 0 ? "," : "", first);
    if (last > first) {
        perftrace__strbuf_printf(text, "-%d", last);
    }
}

static void put_waiting(pt_table_t *t, const pt_live_model_t *m, const pt_live_wait_t *w) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    int32_t first = 0, last = -2;
    for (size_t i = 0; i < w->waitings; i++) {
        int32_t rank = m->process[w->waiting[i].process].rank;
        if (rank < 0 || rank == last) {
            continue;
        }
        if (rank != last + 1) {
            if (last >= 0) {
                put_range(&text, first, last);
            }
            first = rank;
        }
        last = rank;
    }
    if (last >= 0) {
        put_range(&text, first, last);
    }
    put_buffer(t, &text);
}

static void missing_row(pt_table_t *t, const pt_live_model_t *m, const pt_live_missing_t *missing) {
    const pt_live_process_t *p = &m->process[missing->process];
    const pt_live_thread_t *front = pt_live_process_front(p);
    char rank[16], is[64];
    snprintf(rank, sizeof rank, "%d", missing->rank);
    snprintf(is, sizeof is, "not there: %s", pt_live_state_word(p->state));
    pt_table_text(t, "", 0);
    put_step(t, p->has_step, p->step); /* its own: it may be in the same collective of another */
    pt_table_cstr(t, rank);
    pt_table_cstr(t, is);
    pt_table_number(t, front != NULL ? seconds(pt_live_thread_inner(front)->age_ns) : NAN);
    if (front == NULL) {
        pt_table_cstr(t, "no open scope");
    } else {
        put_chain(t, front);
    }
}

static void unseen_rows(pt_table_t *t, const pt_live_wait_t *w) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < w->missings; i++) {
        if (w->missing[i].process != SIZE_MAX) {
            continue;
        }
        put_range(&text, w->missing[i].rank, w->missing[i].last);
    }
    if (text.len == 0) {
        perftrace__strbuf_free(&text);
        return;
    }
    pt_table_text(t, "", 0);
    pt_table_text(t, "", 0);
    put_buffer(t, &text);
    pt_table_cstr(t, "not seen");
    pt_table_number(t, NAN);
    pt_table_cstr(t, "no ring file here: on another machine, ended, or not started");
}

static const char *sum_up(const pt_live_wait_t *w) {
    if (w->comm == PT_LIVE_COMM_PEER) {
        return "for whom is not recorded";
    }
    if (w->missings > 0) {
        return "for those below";
    }
    return w->world_known ? "all ranks are here" : "how many ranks there are is not known";
}

static void waits_table(const pt_live_model_t *m, const pt_live_verdict_t *v, bool only_stuck,
                        pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "waits", "Who waits for whom", false);
    pt_table_column(t, "collective", "Collective", PT_COLUMN_TEXT);
    pt_table_column(t, "step", "Step", PT_COLUMN_TEXT);
    pt_table_column(t, "ranks", "Ranks", PT_COLUMN_TEXT);
    pt_table_column(t, "are", "Are", PT_COLUMN_TEXT);
    pt_table_column(t, "for", "For", PT_COLUMN_SECONDS);
    pt_table_column(t, "in", "In", PT_COLUMN_LONG);
    for (size_t i = 0; i < v->waits; i++) {
        const pt_live_wait_t *w = &v->wait[i];
        if (only_stuck && !w->stuck) {
            continue;
        }
        pt_table_cstr(t, w->name);
        put_step(t, w->has_step, w->step);
        put_waiting(t, m, w);
        pt_table_cstr(t, "waiting");
        pt_table_number(t, seconds(w->longest_ns));
        pt_table_cstr(t, sum_up(w));
        for (size_t k = 0; k < w->missings; k++) {
            if (w->missing[k].process != SIZE_MAX) {
                missing_row(t, m, &w->missing[k]);
            }
        }
        unseen_rows(t, w);
    }
}

static void problems_table(const pt_live_model_t *m, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "problems", "Ring files that cannot be read", false);
    pt_table_column(t, "ring", "Ring file", PT_COLUMN_LONG);
    pt_table_column(t, "problem", "Why", PT_COLUMN_LONG);
    for (size_t i = 0; i < m->problems; i++) {
        pt_table_cstr(t, m->problem[i].ring);
        pt_table_cstr(t, m->problem[i].text);
    }
}

void pt_live_tables(const pt_live_model_t *m, const pt_live_verdict_t *v,
                    const pt_live_judge_options_t *o, bool only_stuck, pt_report_t *report) {
    if (!only_stuck) {
        ranks_table(m, o, report);
        scopes_table(m, report);
    }
    stuck_table(m, v, o, report);
    waits_table(m, v, only_stuck, report);
    problems_table(m, report);
    report->failed |= m->failed || v->failed;
}
