/* jsonl_meta.c: metadata lines. SPDX-License-Identifier: MIT
 *
 * rank and role stand in the args of every metadata line: AReaL's own converter keeps names only
 * from lines that carry the rank. */
#include "jsonl_encode.h"

#include "json_writer.h"
#include "os.h"

#include <perftrace/perftrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool perftrace__jsonl_init(perftrace__jsonl_t *j, const perftrace__run_meta_t *meta) {
    memset(j, 0, sizeof(*j));
    j->pid = meta->pid;
    j->rank = meta->rank;
    perftrace__strbuf_t closing = PERFTRACE__STRBUF_INIT;
    if (meta->rank >= 0) {
        perftrace__strbuf_printf(&closing, "\"rank\": %d", meta->rank);
    }
    j->closing_rank = closing.len;
    if (meta->role[0]) {
        perftrace__strbuf_puts(&closing, closing.len ? ", \"role\": " : "\"role\": ");
        perftrace__strbuf_json_cstr(&closing, meta->role);
        snprintf(j->role_text, sizeof(j->role_text), "%s", meta->role);
    }
    /* The encoder copies it in wide blocks. */
    perftrace__strbuf_reserve(&closing, 64);
    if (closing.failed) {
        perftrace__strbuf_free(&closing);
        return false;
    }
    j->closing = closing.data;
    j->closing_len = closing.len;
    return true;
}

void perftrace__jsonl_free(perftrace__jsonl_t *j) {
    perftrace__strbuf_free(&j->out);
    perftrace__strbuf_free(&j->scope_end);
    free(j->closing);
    j->closing = NULL;
}

static void open_meta(perftrace__jsonl_t *j, const char *name, uint32_t tid) {
    perftrace__strbuf_printf(
        &j->out, "{\"name\": \"%s\", \"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"args\": {", name,
        j->pid, tid);
}

static void close_meta(perftrace__jsonl_t *j) {
    if (j->closing_len) {
        perftrace__strbuf_puts(&j->out, ", ");
        perftrace__strbuf_append(&j->out, j->closing, j->closing_len);
    }
    perftrace__strbuf_puts(&j->out, "}}\n");
}

void perftrace__jsonl_thread(perftrace__jsonl_t *j, uint32_t tid, const char *name) {
    open_meta(j, "thread_name", tid);
    perftrace__strbuf_puts(&j->out, "\"name\": ");
    perftrace__strbuf_json_cstr(&j->out, name);
    close_meta(j);
}

void perftrace__jsonl_process(perftrace__jsonl_t *j) {
    perftrace__strbuf_t name = PERFTRACE__STRBUF_INIT;
    if (j->role_text[0]) {
        perftrace__strbuf_printf(&name, "[%s] ", j->role_text);
    }
    if (j->rank >= 0) {
        perftrace__strbuf_printf(&name, "Rank %d, Process", j->rank);
    } else {
        perftrace__strbuf_printf(&name, "Process %u", j->pid);
    }
    open_meta(j, "process_name", j->pid);
    perftrace__strbuf_puts(&j->out, "\"name\": ");
    perftrace__strbuf_json(&j->out, perftrace__strbuf_cstr(&name), name.len);
    close_meta(j);
    perftrace__strbuf_free(&name);
    if (j->rank >= 0) {
        open_meta(j, "process_sort_index", j->pid);
        perftrace__strbuf_printf(&j->out, "\"sort_index\": %d", j->rank);
        close_meta(j);
    }
}

/* A time as the lines of events have it, or null when unknown. */
static void put_ts(perftrace__strbuf_t *out, uint64_t ns) {
    char text[PERFTRACE__US_MAX + 1];
    char *end = perftrace__put_us(text, ns);
    perftrace__strbuf_append(out, text, (size_t)(end - text));
}

void perftrace__jsonl_drop(perftrace__jsonl_t *j, const perftrace__drop_t *drop) {
    open_meta(j, "perftrace_drop", drop->tid ? drop->tid : j->pid);
    perftrace__strbuf_printf(&j->out,
                             "\"cause\": \"%s\", \"count\": %llu, \"first_ts\": ", drop->cause,
                             (unsigned long long)drop->count);
    put_ts(&j->out, drop->first_ns);
    perftrace__strbuf_puts(&j->out, ", \"last_ts\": ");
    put_ts(&j->out, drop->last_ns);
    close_meta(j);
}

void perftrace__jsonl_clock(perftrace__jsonl_t *j, const perftrace__clock_reading_t *r) {
    open_meta(j, "perftrace_clock", j->pid);
    perftrace__strbuf_puts(&j->out, "\"ts\": ");
    put_ts(&j->out, r->ns);
    perftrace__strbuf_printf(&j->out, ", \"mono_ns\": \"%llu\", \"epoch_ns\": \"%llu\"",
                             (unsigned long long)r->mono_ns, (unsigned long long)r->epoch_ns);
    close_meta(j);
}

void perftrace__jsonl_reference(perftrace__jsonl_t *j, const perftrace__reference_t *r) {
    open_meta(j, "perftrace_reference", j->pid);
    perftrace__strbuf_printf(&j->out, "\"mono_ns\": \"%llu\", \"ref_ns\": \"%llu\"",
                             (unsigned long long)r->mono_ns, (unsigned long long)r->ref_ns);
    perftrace__strbuf_printf(&j->out,
                             ", \"error_ns\": %llu, \"ref\": ", (unsigned long long)r->error_ns);
    perftrace__strbuf_json_cstr(&j->out, r->ref);
    close_meta(j);
}

static void put_int_or_null(perftrace__strbuf_t *out, const char *key, int32_t v) {
    if (v >= 0) {
        perftrace__strbuf_printf(out, ", \"%s\": %d", key, v);
    } else {
        perftrace__strbuf_printf(out, ", \"%s\": null", key);
    }
}

static void put_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    perftrace__strbuf_printf(out, ", \"%s\": ", key);
    perftrace__strbuf_json_cstr(out, text);
}

void perftrace__jsonl_header(perftrace__jsonl_t *j, const perftrace__run_meta_t *m) {
    static const char *const clocks[] = {"monotonic", "tsc", "cntvct"};
    perftrace__strbuf_t *out = &j->out;
    open_meta(j, "perftrace_header", j->pid);
    perftrace__strbuf_puts(out, "\"version\": 1");
    put_text(out, "run_id", m->run_id);
    put_int_or_null(out, "rank", m->rank);
    put_int_or_null(out, "world_size", m->world_size);
    put_int_or_null(out, "local_rank", m->local_rank);
    put_text(out, "role", m->role[0] ? m->role : NULL);
    put_text(out, "host", m->host);
    put_text(out, "boot_id", m->boot_id);
    perftrace__strbuf_printf(out, ", \"pid\": %u, \"process_start\": \"%llu\"", m->pid,
                             (unsigned long long)m->process_start);
    perftrace__strbuf_printf(out, ", \"epoch_ns\": \"%llu\", \"mono_ns\": \"%llu\"",
                             (unsigned long long)m->epoch_ns, (unsigned long long)m->mono_ns);
    put_text(out, "clock",
             m->clock_kind < PT_ARRAY_LEN(clocks) ? clocks[m->clock_kind] : "unknown");
    put_text(out, "launcher", m->launcher[0] ? m->launcher : NULL);
#define X(name)                                                                                    \
    if (m->name >= 0) {                                                                            \
        perftrace__strbuf_printf(out, ", \"" #name "\": %d", m->name);                             \
    }
    PERFTRACE__TOPOLOGY_LIST(X)
#undef X
    if (m->experiment[0]) {
        put_text(out, "experiment_name", m->experiment);
    }
    if (m->trial[0]) {
        put_text(out, "trial_name", m->trial);
    }
    if (j->part > 1) {
        perftrace__strbuf_printf(out, ", \"part\": %u", j->part);
    }
    put_text(out, "library", PERFTRACE_VERSION);
    perftrace__strbuf_puts(out, "}}\n");
}

void perftrace__jsonl_footer(perftrace__jsonl_t *j, const perftrace__account_t *a) {
    static const char *const names[] = {
#define X(name, text) #name,
        PERFTRACE_DROP_LIST(X)
#undef X
    };
    uint64_t emitted = a->written;
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        emitted += a->dropped[i];
    }
    perftrace__strbuf_t *out = &j->out;
    open_meta(j, "perftrace_footer", j->pid);
    perftrace__strbuf_printf(out, "\"emitted\": %llu, \"written\": %llu, \"dropped\": {",
                             (unsigned long long)emitted, (unsigned long long)a->written);
    const char *comma = "";
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        if (a->dropped[i]) {
            perftrace__strbuf_printf(out, "%s\"%s\": %llu", comma, names[i],
                                     (unsigned long long)a->dropped[i]);
            comma = ", ";
        }
    }
    perftrace__strbuf_printf(out, "}, \"unfinished\": %llu, \"recovered\": %s",
                             (unsigned long long)a->unfinished, a->recovered ? "true" : "false");
    close_meta(j);
}
