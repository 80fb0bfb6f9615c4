/* control_report.c: what the process tells of itself. SPDX-License-Identifier: MIT */
#include "control_report.h"

#include "control_hold.h"
#include "control_profile.h"
#include "json_writer.h"
#include "runtime_view.h"
#include "utf8.h"

#include <perftrace/perftrace.h>
#include <stdlib.h>

/* ---- status ---- */

static void put_member(perftrace__strbuf_t *out, const char *key, const char *text) {
    perftrace__strbuf_printf(out, ", \"%s\": ", key);
    perftrace__strbuf_json_cstr(out, text);
}

static void put_known(perftrace__strbuf_t *out, const char *key, int64_t value) {
    if (value >= 0) {
        perftrace__strbuf_printf(out, ", \"%s\": %lld", key, (long long)value);
    }
}

static void put_who(perftrace__strbuf_t *out, const perftrace__run_meta_t *m) {
    perftrace__strbuf_printf(out, "\"pid\": %u", m->pid);
    put_known(out, "rank", m->rank);
    put_known(out, "world_size", m->world_size);
    put_known(out, "local_rank", m->local_rank);
#define X(name) put_known(out, #name, m->name);
    PERFTRACE__TOPOLOGY_LIST(X)
#undef X
    put_member(out, "role", m->role);
    put_member(out, "host", m->host);
    put_member(out, "run_id", m->run_id);
}

void perftrace__control_status(perftrace__strbuf_t *out) {
    perftrace__runtime_view_t *v = malloc(sizeof *v);
    if (v == NULL) {
        out->failed = true;
        return;
    }
    perftrace__runtime_look(v);
    perftrace__strbuf_puts(out, "{");
    put_who(out, &v->meta);
    perftrace__strbuf_puts(out, ", \"version\": \"" PERFTRACE_VERSION "\"");
    perftrace__strbuf_printf(out, ", \"active\": %s, \"enabled\": %s", v->active ? "true" : "false",
                             v->active && perftrace_get_enabled() ? "true" : "false");
    put_member(out, "dir", v->dir);
    if (v->active) {
        put_member(out, "trace", v->meta.trace_path);
        perftrace__strbuf_printf(out, ", \"seconds\": %.3f", (double)v->now_ns / 1e9);
    }
    if (v->has_step) {
        perftrace__strbuf_printf(out, ", \"global_step\": %lld", (long long)v->step);
    }
    perftrace__strbuf_puts(out, ", \"profiler\": ");
    perftrace__control_put_profiler(out);
    perftrace__strbuf_puts(out, ", \"hold\": ");
    perftrace__hold_put(out);
    perftrace__strbuf_puts(out, "}\n");
    free(v);
}

/* ---- statistics ---- */

/* X(field, type, help): of perftrace_stats_t. */
#define NUMBERS(X)                                                                                 \
    X(emitted, "counter", "events that were recorded, written or lost")                            \
    X(written, "counter", "events in the file")                                                    \
    X(pending_bytes, "gauge", "bytes in the rings that are not in the file yet")                   \
    X(write_errors, "counter", "failed attempts to write")                                         \
    X(unfinished, "gauge", "scopes that are open")                                                 \
    X(threads, "gauge", "threads that record")                                                     \
    X(sessions, "counter", "sessions that were seen")                                              \
    X(sessions_live, "gauge", "sessions without a record yet")                                     \
    X(sessions_written, "counter", "sessions with a record")                                       \
    X(sessions_evicted, "counter", "sessions written early for want of room")                      \
    X(session_late, "counter", "events of sessions that had their record")

static const char *const causes[] = {
#define X(name, text) #name,
    PERFTRACE_DROP_LIST(X)
#undef X
};

void perftrace__control_stats(perftrace__strbuf_t *out) {
    perftrace_stats_t s = {.struct_size = sizeof s};
    perftrace_get_stats(&s);
    perftrace__strbuf_puts(out, "{\"dropped\": {");
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        perftrace__strbuf_printf(out, "%s\"%s\": %llu", i > 0 ? ", " : "", causes[i],
                                 (unsigned long long)s.dropped[i]);
    }
    perftrace__strbuf_puts(out, "}");
#define X(field, type, help)                                                                       \
    perftrace__strbuf_printf(out, ", \"%s\": %llu", #field, (unsigned long long)s.field);
    NUMBERS(X)
#undef X
    perftrace__strbuf_puts(out, "}\n");
}

/* A label's value: Prometheus' text form is UTF-8 and escapes these three. */
static void put_label(perftrace__strbuf_t *out, const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    for (size_t left = strlen(text); left > 0;) {
        unsigned n = perftrace__utf8_sequence(p, left);
        if (n == 0) {
            n = perftrace__utf8_bad_prefix(p, left);
            perftrace__strbuf_puts(out, "\xef\xbf\xbd"); /* U+FFFD, as in JSON */
        } else if (*p == '\n') {
            perftrace__strbuf_puts(out, "\\n");
        } else {
            if (*p == '"' || *p == '\\') {
                perftrace__strbuf_putc(out, '\\');
            }
            perftrace__strbuf_append(out, p, n);
        }
        p += n;
        left -= n;
    }
}

static void put_number(perftrace__strbuf_t *out, const char *name, const char *type,
                       const char *labels, uint64_t value, const char *help) {
    const char *end = strcmp(type, "counter") == 0 ? "_total" : "";
    perftrace__strbuf_printf(out, "# HELP perftrace_%s%s %s\n# TYPE perftrace_%s%s %s\n", name, end,
                             help, name, end, type);
    perftrace__strbuf_printf(out, "perftrace_%s%s{%s} %llu\n", name, end, labels,
                             (unsigned long long)value);
}

void perftrace__control_metrics(perftrace__strbuf_t *out) {
    perftrace__runtime_view_t *v = malloc(sizeof *v);
    perftrace__strbuf_t labels = PERFTRACE__STRBUF_INIT;
    perftrace_stats_t s = {.struct_size = sizeof s};
    if (v == NULL) {
        out->failed = true;
        return;
    }
    perftrace__runtime_look(v);
    perftrace_get_stats(&s);
    perftrace__strbuf_printf(&labels, "rank=\"%d\",role=\"", v->meta.rank);
    put_label(&labels, v->meta.role);
    perftrace__strbuf_putc(&labels, '"');
    const char *l = perftrace__strbuf_cstr(&labels);
#define X(field, type, help) put_number(out, #field, type, l, s.field, help);
    NUMBERS(X)
#undef X
    put_number(out, "active", "gauge", l, v->active, "whether events are recorded");
    perftrace__strbuf_puts(out, "# HELP perftrace_dropped_total events lost, by cause\n"
                                "# TYPE perftrace_dropped_total counter\n");
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        perftrace__strbuf_printf(out, "perftrace_dropped_total{%s,cause=\"%s\"} %llu\n", l,
                                 causes[i], (unsigned long long)s.dropped[i]);
    }
    out->failed |= labels.failed;
    perftrace__strbuf_free(&labels);
    free(v);
}

/* ---- what each thread is in ---- */

typedef struct scopes_text {
    perftrace__strbuf_t *out;
    uint64_t now_ns;
    bool any;
} scopes_text_t;

static void put_seconds(perftrace__strbuf_t *out, const char *key, uint64_t ns) {
    perftrace__strbuf_printf(out, "\"%s\": %llu.%09llu", key,
                             (unsigned long long)(ns / 1000000000u),
                             (unsigned long long)(ns % 1000000000u));
}

static void put_thread(void *ctx, const perftrace__runtime_thread_t *t) {
    scopes_text_t *text = ctx;
    perftrace__strbuf_t *out = text->out;
    perftrace__strbuf_printf(out, "%s{\"tid\": %u, \"name\": ", text->any ? ", " : "", t->tid);
    text->any = true;
    perftrace__strbuf_json_cstr(out, t->name);
    perftrace__strbuf_printf(out, ", \"moving\": %s, \"scopes\": [", t->moving ? "true" : "false");
    for (size_t i = 0; i < t->depth; i++) {
        const perftrace__runtime_scope_t *s = &t->scopes[i];
        perftrace__strbuf_puts(out, i > 0 ? ", {\"name\": " : "{\"name\": ");
        perftrace__strbuf_json(out, s->name, s->name_len);
        perftrace__strbuf_puts(out, ", \"category\": ");
        perftrace__strbuf_json(out, s->category, s->category_len);
        perftrace__strbuf_puts(out, ", ");
        put_seconds(out, "since", s->start_ns);
        perftrace__strbuf_puts(out, ", ");
        /* It may have begun after the clock was read. */
        put_seconds(out, "seconds", text->now_ns > s->start_ns ? text->now_ns - s->start_ns : 0);
        perftrace__strbuf_putc(out, '}');
    }
    perftrace__strbuf_puts(out, "]}");
}

int perftrace__control_scopes(perftrace__strbuf_t *out) {
    scopes_text_t text = {out, 0, false};
    perftrace__strbuf_puts(out, "{\"threads\": [");
    int status = perftrace__runtime_threads(put_thread, &text, &text.now_ns);
    perftrace__strbuf_puts(out, "], ");
    put_seconds(out, "now", text.now_ns);
    perftrace__strbuf_puts(out, "}\n");
    return status;
}
