/* live_json.c: the view as JSON. SPDX-License-Identifier: MIT */
#include "json_writer.h"
#include "live_text.h"

#include <math.h>

/* ---- pieces -------------------------------------------------------------------------------------
 */

static void put_key(perftrace__strbuf_t *out, const char *key, bool first) {
    perftrace__strbuf_printf(out, "%s\"%s\": ", first ? "" : ", ", key);
}

static void put_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    put_key(out, key, false);
    perftrace__strbuf_json_cstr(out, text != NULL && *text != '\0' ? text : NULL);
}

/* Exact: all nine decimals. */
static void put_seconds(perftrace__strbuf_t *out, const char *key, uint64_t ns) {
    put_key(out, key, false);
    perftrace__strbuf_printf(out, "%llu.%09llu", (unsigned long long)(ns / 1000000000u),
                             (unsigned long long)(ns % 1000000000u));
}

static void put_number(perftrace__strbuf_t *out, const char *key, bool has, int64_t number) {
    put_key(out, key, false);
    if (has) {
        perftrace__strbuf_printf(out, "%lld", (long long)number);
    } else {
        perftrace__strbuf_puts(out, "null");
    }
}

static void put_bool(perftrace__strbuf_t *out, const char *key, bool is) {
    put_key(out, key, false);
    perftrace__strbuf_puts(out, is ? "true" : "false");
}

static void put_rate(perftrace__strbuf_t *out, double rate) {
    put_key(out, "events_per_s", false);
    perftrace__strbuf_double(out, round(rate * 10) / 10);
}

static void put_rank(perftrace__strbuf_t *out, int32_t rank) {
    put_key(out, "rank", true);
    if (rank >= 0) {
        perftrace__strbuf_printf(out, "%d", rank);
    } else {
        perftrace__strbuf_puts(out, "null");
    }
}

/* ---- processes ----------------------------------------------------------------------------------
 */

static void put_scopes(perftrace__strbuf_t *out, const pt_live_thread_t *t) {
    static const char *const kinds[] = {NULL, "collective", "peer"};
    put_key(out, "scopes", false);
    perftrace__strbuf_putc(out, '[');
    for (uint32_t i = 0; i < t->scopes; i++) {
        const pt_live_scope_t *s = &t->scope[i];
        perftrace__strbuf_puts(out, i > 0 ? ", {" : "{");
        put_key(out, "name", true);
        perftrace__strbuf_json_cstr(out, s->name);
        put_text(out, "category", s->category);
        put_seconds(out, "age_s", s->age_ns);
        put_number(out, "step", s->has_step, s->step);
        put_text(out, "waits", kinds[s->comm]);
        perftrace__strbuf_putc(out, '}');
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_thread(perftrace__strbuf_t *out, const pt_live_process_t *p,
                       const pt_live_thread_t *t, const pt_live_judge_options_t *o) {
    perftrace__strbuf_printf(out, "{\"tid\": %u", t->tid);
    put_text(out, "name", t->name);
    put_rate(out, t->rate);
    put_bool(out, "moved", t->moved);
    put_seconds(out, "still_s", t->still_ns);
    put_bool(out, "still_exact", t->still_known);
    put_bool(out, "stuck", pt_live_is_stuck(p, t, o));
    put_bool(out, "whole", t->whole);
    put_scopes(out, t);
    perftrace__strbuf_putc(out, '}');
}

static void put_losses(perftrace__strbuf_t *out, const pt_live_process_t *p) {
    static const char *const names[] = {
#define X(name, text) #name,
        PERFTRACE_DROP_LIST(X)
#undef X
    };
    bool first = true;
    put_key(out, "lost", false);
    perftrace__strbuf_putc(out, '{');
    for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
        if (p->lost[i] > 0) {
            put_key(out, names[i], first);
            perftrace__strbuf_printf(out, "%llu", (unsigned long long)p->lost[i]);
            first = false;
        }
    }
    perftrace__strbuf_putc(out, '}');
}

static void put_process(perftrace__strbuf_t *out, const pt_live_process_t *p,
                        const pt_live_judge_options_t *o) {
    perftrace__strbuf_putc(out, '{');
    put_rank(out, p->rank);
    put_number(out, "world_size", p->world_size > 0, p->world_size);
    put_text(out, "role", p->role);
    put_number(out, "pid", true, p->pid);
    put_text(out, "host", p->host);
    put_text(out, "run_id", p->run_id);
    put_text(out, "state", pt_live_state_word(p->state));
    put_seconds(out, "ran_s", p->ran_ns);
    put_number(out, "step", p->has_step, p->step);
    put_rate(out, p->rate);
    put_key(out, "written", false);
    perftrace__strbuf_printf(out, "%llu", (unsigned long long)p->written);
    put_losses(out, p);
    put_text(out, "trace", p->trace);
    put_text(out, "ring", p->ring);
    put_text(out, "problem", p->problem);
    put_key(out, "threads", false);
    perftrace__strbuf_putc(out, '[');
    for (uint32_t i = 0; i < p->threads; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_thread(out, p, &p->thread[i], o);
    }
    perftrace__strbuf_puts(out, "]}");
}

/* ---- hangs --------------------------------------------------------------------------------------
 */

static void put_member(perftrace__strbuf_t *out, const pt_live_model_t *m,
                       const pt_live_member_t *member) {
    const pt_live_process_t *p = &m->process[member->process];
    const pt_live_thread_t *t = &p->thread[member->thread];
    perftrace__strbuf_putc(out, '{');
    put_rank(out, p->rank);
    put_number(out, "pid", true, p->pid);
    put_number(out, "tid", true, t->tid);
    put_text(out, "in", t->scope[member->scope].name);
    put_seconds(out, "age_s", t->scope[member->scope].age_ns);
    put_seconds(out, "still_s", t->still_ns);
    perftrace__strbuf_putc(out, '}');
}

static void put_missing(perftrace__strbuf_t *out, const pt_live_model_t *m,
                        const pt_live_missing_t *missing) {
    const pt_live_process_t *p =
        missing->process != SIZE_MAX ? &m->process[missing->process] : NULL;
    const pt_live_thread_t *front = p != NULL ? pt_live_process_front(p) : NULL;
    const pt_live_scope_t *inner = front != NULL ? pt_live_thread_inner(front) : NULL;
    perftrace__strbuf_putc(out, '{');
    put_rank(out, missing->rank);
    put_number(out, "last_rank", true, missing->last);
    put_text(out, "state", p != NULL ? pt_live_state_word(p->state) : "not seen");
    put_number(out, "pid", p != NULL, p != NULL ? p->pid : 0);
    put_number(out, "step", p != NULL && p->has_step, p != NULL ? p->step : 0);
    put_text(out, "in", inner != NULL ? inner->name : NULL);
    if (inner != NULL) {
        put_seconds(out, "age_s", inner->age_ns);
        put_seconds(out, "still_s", front->still_ns);
    } else {
        perftrace__strbuf_puts(out, ", \"age_s\": null, \"still_s\": null");
    }
    perftrace__strbuf_putc(out, '}');
}

static void put_wait(perftrace__strbuf_t *out, const pt_live_model_t *m, const pt_live_wait_t *w) {
    perftrace__strbuf_putc(out, '{');
    put_key(out, "name", true);
    perftrace__strbuf_json_cstr(out, w->name);
    put_text(out, "category", w->category);
    put_text(out, "kind", w->comm == PT_LIVE_COMM_PEER ? "peer" : "collective");
    put_number(out, "step", w->has_step, w->step);
    put_text(out, "run", m->process[w->run].run);
    put_seconds(out, "longest_s", w->longest_ns);
    put_bool(out, "stuck", w->stuck);
    put_bool(out, "world_known", w->world_known);
    put_key(out, "waiting", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < w->waitings; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_member(out, m, &w->waiting[i]);
    }
    perftrace__strbuf_putc(out, ']');
    put_key(out, "missing", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < w->missings; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_missing(out, m, &w->missing[i]);
    }
    perftrace__strbuf_puts(out, "]}");
}

void pt_live_json(const pt_live_model_t *m, const pt_live_verdict_t *v,
                  const pt_live_judge_options_t *o, perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, "{\"version\": 1");
    put_seconds(out, "time_s", m->time_ns);
    put_seconds(out, "stuck_after_s", o->stuck_ns);
    put_key(out, "processes", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < m->processes; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_process(out, &m->process[i], o);
    }
    perftrace__strbuf_putc(out, ']');
    put_key(out, "stuck", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < v->stucks; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_member(out, m, &v->stuck[i]);
    }
    perftrace__strbuf_putc(out, ']');
    put_key(out, "waits", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < v->waits; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ", " : "");
        put_wait(out, m, &v->wait[i]);
    }
    perftrace__strbuf_putc(out, ']');
    put_key(out, "problems", false);
    perftrace__strbuf_putc(out, '[');
    for (size_t i = 0; i < m->problems; i++) {
        perftrace__strbuf_printf(out, "%s{\"ring\": ", i > 0 ? ", " : "");
        perftrace__strbuf_json_cstr(out, m->problem[i].ring);
        put_text(out, "text", m->problem[i].text);
        perftrace__strbuf_putc(out, '}');
    }
    perftrace__strbuf_puts(out, "]}\n");
    out->failed |= m->failed || v->failed;
}
