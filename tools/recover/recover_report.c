/* recover_report.c. SPDX-License-Identifier: MIT */
#include "recover_report.h"

#include "human.h"
#include "json_writer.h"
#include "message.h"
#include "status_text.h"

#include <perftrace/perftrace.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const drop_names[] = {
#define X(name, text) #name,
    PERFTRACE_DROP_LIST(X)
#undef X
};

void pt_recover_report_fail(pt_recover_report_t *r, pt_exit_t exit) {
    r->worst = exit > r->worst ? exit : r->worst;
}

static pt_exit_t exit_of(int status) {
    switch (status) {
    case PERFTRACE_OK:
        return PT_EXIT_OK;
    case PERFTRACE_ERR_NOT_FOUND:
        return PT_EXIT_PROBLEMS; /* the ring is gone, what the file has stays */
    case PERFTRACE_ERR_NOMEM:
        return PT_EXIT_INTERNAL;
    case PERFTRACE_ERR_IO:
    case PERFTRACE_ERR_FULL:
        return PT_EXIT_OUTPUT;
    default:
        return PT_EXIT_INPUT;
    }
}

static const char *state_of(const pt_recover_report_t *r, int status,
                            const perftrace__recovered_t *result) {
    if (result->running) {
        return "running";
    }
    if (status) {
        return "failed";
    }
    if (r->options->list || r->options->dry_run) {
        return result->complete ? "complete" : "left over";
    }
    return result->complete ? "complete" : "recovered";
}

/* ---- as JSON ------------------------------------------------------------------------------------
 */

static void put_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    perftrace__strbuf_printf(out, ", \"%s\": ", key);
    perftrace__strbuf_json_cstr(out, text && *text ? text : NULL);
}

static void put_json(pt_recover_report_t *r, int status, const perftrace__recovered_t *result) {
    perftrace__strbuf_t *out = &r->out;
    perftrace__strbuf_puts(out, r->rings > 1 ? ",\n" : "[\n");
    perftrace__strbuf_printf(out, "{\"state\": \"%s\"", state_of(r, status, result));
    put_text(out, "trace", result->trace_path);
    put_text(out, "ring", result->ring_path);
    put_text(out, "sessions_file", result->session_path);
    put_text(out, "host", result->host);
    if (result->rank >= 0) {
        perftrace__strbuf_printf(out, ", \"rank\": %d", result->rank);
    } else {
        perftrace__strbuf_puts(out, ", \"rank\": null");
    }
    perftrace__strbuf_printf(
        out,
        ", \"pid\": %u, \"events\": %llu, \"written\": %llu, "
        "\"unfinished\": %llu, \"sessions\": %llu, \"dropped\": {",
        result->pid, (unsigned long long)result->events, (unsigned long long)result->written,
        (unsigned long long)result->unfinished, (unsigned long long)result->sessions);
    const char *comma = "";
    for (size_t i = 0; i < PT_ARRAY_LEN(drop_names); i++) {
        if (result->drops[i]) {
            perftrace__strbuf_printf(out, "%s\"%s\": %llu", comma, drop_names[i],
                                     (unsigned long long)result->drops[i]);
            comma = ", ";
        }
    }
    perftrace__strbuf_puts(out, "}");
    put_text(out, "error", status ? perftrace__status_text(status) : NULL);
    put_text(out, "problem", result->problem);
    perftrace__strbuf_puts(out, "}");
}

/* ---- as text ------------------------------------------------------------------------------------
 */

static void put_count(perftrace__strbuf_t *out, uint64_t n, const char *one, const char *many) {
    char text[PT_HUMAN_COUNTED_MAX];
    perftrace__strbuf_puts(out, pt_human_counted(text, n, one, many));
}

static void put_losses(perftrace__strbuf_t *out, const perftrace__recovered_t *result) {
    if (result->dropped == 0) {
        perftrace__strbuf_puts(out, ", nothing lost");
        return;
    }
    perftrace__strbuf_puts(out, ", ");
    put_count(out, result->dropped, "event lost", "events lost");
    const char *comma = " (";
    for (size_t i = 0; i < PT_ARRAY_LEN(drop_names); i++) {
        if (result->drops[i]) {
            char text[PT_HUMAN_MAX];
            perftrace__strbuf_printf(out, "%s%s %s", comma, drop_names[i],
                                     pt_human_exact(text, result->drops[i]));
            comma = ", ";
        }
    }
    perftrace__strbuf_puts(out, ")");
}

static void put_line(pt_recover_report_t *r, const perftrace__recovered_t *result) {
    perftrace__strbuf_t *out = &r->out;
    perftrace__strbuf_printf(out, "%s: ", result->trace_path);
    if (result->rank >= 0) {
        perftrace__strbuf_printf(out, "rank %d, ", result->rank);
    }
    perftrace__strbuf_printf(out, "pid %u: ", result->pid);
    bool look = r->options->list || r->options->dry_run;
    if (result->running) {
        perftrace__strbuf_puts(out, "running, ");
        put_count(out, result->unfinished, "scope open", "scopes open");
    } else if (result->complete) {
        perftrace__strbuf_puts(out, look ? "complete; only its ring is left over"
                                         : "was complete; its ring is removed");
    } else {
        put_count(out, result->events, look ? "event to add" : "event added",
                  look ? "events to add" : "events added");
        perftrace__strbuf_puts(out, ", ");
        put_count(out, result->unfinished, "scope unfinished", "scopes unfinished");
        put_losses(out, result);
        if (result->sessions) {
            perftrace__strbuf_puts(out, ", ");
            put_count(out, result->sessions, "session record added", "session records added");
        }
    }
    perftrace__strbuf_puts(out, "\n");
}

static bool seen_before(pt_recover_report_t *r, const char *ring_path) {
    if (pt_string_list_has(&r->seen, ring_path)) {
        return true;
    }
    if (!pt_string_list_add(&r->seen, ring_path)) {
        pt_recover_report_fail(r, PT_EXIT_INTERNAL);
    }
    return false;
}

void pt_recover_report_add(pt_recover_report_t *r, const char *ring, int status,
                           const perftrace__recovered_t *result, bool named) {
    if (seen_before(r, result->ring_path)) {
        return;
    }
    r->rings++;
    bool fine = result->running && !named;
    if (r->options->json) {
        put_json(r, status, result);
    } else if (status == PERFTRACE_OK || (result->running && r->options->list)) {
        put_line(r, result);
    }
    if (status && !fine) {
        pt_exit_t exit = exit_of(status);
        const char *why = result->problem ? result->problem : perftrace__status_text(status);
        if (exit == PT_EXIT_PROBLEMS) {
            pt_warn("%s: %s", ring, why);
        } else {
            pt_error("%s: %s", result->trace_path[0] ? result->trace_path : ring, why);
        }
        pt_recover_report_fail(r, exit);
    } else if (status == PERFTRACE_OK && (result->problem || result->damaged)) {
        pt_warn("%s: %s", result->trace_path,
                result->problem ? result->problem : "some records of the ring were damaged");
        pt_recover_report_fail(r, PT_EXIT_PROBLEMS);
    }
}

pt_exit_t pt_recover_report_end(pt_recover_report_t *r) {
    if (r->options->json) {
        perftrace__strbuf_puts(&r->out, r->rings ? "\n]\n" : "[]\n");
    } else if (r->rings == 0 && r->worst == PT_EXIT_OK) {
        pt_note(r->options->list ? "there are no rings" : "there is nothing to recover");
    }
    if (r->out.failed) {
        pt_error("out of memory");
        pt_recover_report_fail(r, PT_EXIT_INTERNAL);
    }
    if (r->out.len &&
        (fwrite(r->out.data, 1, r->out.len, stdout) != r->out.len || fflush(stdout) != 0)) {
        pt_error("standard output: %s", strerror(errno));
        pt_recover_report_fail(r, PT_EXIT_OUTPUT);
    }
    perftrace__strbuf_free(&r->out);
    pt_string_list_free(&r->seen);
    return r->worst;
}
