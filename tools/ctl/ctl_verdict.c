/* ctl_verdict.c: what a worker's answer means. SPDX-License-Identifier: MIT */
#include "ctl_verdict.h"

#include "json_doc.h"

#include <strings.h>

/* Appends what the answer says: the member error, message or detail of an object, else its start.
 */
static void put_message(perftrace__strbuf_t *out, const perftrace__strbuf_t *reply) {
    static const char *const keys[] = {"error", "message", "detail", "error.message"};
    perftrace__json_doc_t *doc =
        perftrace__json_doc_load(perftrace__strbuf_cstr(reply), reply->len, 0, NULL);
    const perftrace__json_node_t *root = doc != NULL ? perftrace__json_doc_root(doc) : NULL;
    const char *text = NULL, *setting = NULL;
    for (size_t i = 0; i < PT_ARRAY_LEN(keys) && text == NULL; i++) {
        perftrace__json_get_string(root, keys[i], &text);
    }
    if (text == NULL && root == NULL) {
        text = perftrace__strbuf_cstr(reply);
    }
    if (text != NULL) {
        perftrace__strbuf_append(out, text, strnlen(text, 300));
    }
    if (perftrace__json_get_string(root, "setting", &setting)) {
        perftrace__strbuf_printf(out, "; set %s", setting);
    }
    perftrace__json_doc_free(doc);
}

static void no_answer(pt_ctl_action_t action, const perftrace__http_call_t *call,
                      pt_ctl_verdict_t *ret) {
    ret->good = false;
    ret->word = call->outcome == PERFTRACE__HTTP_TIMEOUT         ? "timeout"
                : call->outcome == PERFTRACE__HTTP_NO_CONNECTION ? "down"
                : call->outcome == PERFTRACE__HTTP_BAD_URL       ? "bad url"
                                                                 : "broken";
    perftrace__strbuf_puts(&ret->text, call->problem);
    if (call->outcome == PERFTRACE__HTTP_TIMEOUT && action == PT_CTL_STOP) {
        perftrace__strbuf_puts(&ret->text, "; it may still be writing (see --rpc-timeout)");
    }
}

/* Servers say in many ways that there is nothing to stop. */
static bool says_idle(const perftrace__strbuf_t *reply) {
    static const char *const signs[] = {"not running",     "not started", "no profil",
                                        "not in progress", "not active",  "not been started",
                                        "hasn't started"};
    const char *text = perftrace__strbuf_cstr(reply);
    for (size_t i = 0; i < PT_ARRAY_LEN(signs); i++) {
        if (strcasestr(text, signs[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void answered(pt_ctl_action_t action, const perftrace__http_call_t *call,
                     pt_ctl_verdict_t *ret) {
    perftrace__strbuf_t said = PERFTRACE__STRBUF_INIT;
    put_message(&said, &call->reply);
    bool stop = action == PT_CTL_STOP;
    ret->good = call->status >= 200 && call->status < 300;
    if (ret->good) {
        bool stopped = true;
        perftrace__json_doc_t *doc = perftrace__json_doc_load(perftrace__strbuf_cstr(&call->reply),
                                                              call->reply.len, 0, NULL);
        perftrace__json_get_bool(doc != NULL ? perftrace__json_doc_root(doc) : NULL, "stopped",
                                 &stopped);
        perftrace__json_doc_free(doc);
        ret->word = stop && !stopped ? "idle" : call->status == 202 ? "under way" : "ok";
    } else if (stop && call->status != 404 && says_idle(&call->reply)) {
        ret->good = true;
        ret->word = "idle";
    } else if (call->status == 401 || call->status == 403) {
        ret->word = "refused";
    } else if (call->status == 404) {
        ret->word = "no route";
    } else if (call->status == 409) {
        ret->word = "conflict";
    } else {
        ret->word = "failed";
        perftrace__strbuf_printf(&ret->text, "HTTP %u%s", call->status, said.len > 0 ? ": " : "");
    }
    perftrace__strbuf_append(&ret->text, perftrace__strbuf_cstr(&said), said.len);
    perftrace__strbuf_free(&said);
}

void pt_ctl_judge(pt_ctl_action_t action, const perftrace__http_call_t *call,
                  pt_ctl_verdict_t *ret) {
    *ret = (pt_ctl_verdict_t){false, "", PERFTRACE__STRBUF_INIT};
    if (call->outcome == PERFTRACE__HTTP_ANSWERED) {
        answered(action, call, ret);
    } else {
        no_answer(action, call, ret);
    }
}

/* ---- check ---- */

static bool exists(const perftrace__http_call_t *call) {
    /* What answers a GET at all, or refuses only the method, is there. */
    return call->outcome == PERFTRACE__HTTP_ANSWERED && call->status != 404;
}

static bool is_libperftrace(const perftrace__http_call_t *home) {
    return home->outcome == PERFTRACE__HTTP_ANSWERED &&
           strncmp(perftrace__strbuf_cstr(&home->reply), "libperftrace", 12) == 0;
}

/* Its routes are always there; a process without a profiler says null. */
static bool has_no_profiler(const perftrace__http_call_t *status) {
    perftrace__json_doc_t *doc =
        status->outcome == PERFTRACE__HTTP_ANSWERED && status->status == 200
            ? perftrace__json_doc_load(perftrace__strbuf_cstr(&status->reply), status->reply.len, 0,
                                       NULL)
            : NULL;
    const perftrace__json_node_t *profiler =
        doc != NULL ? perftrace__json_node_at(perftrace__json_doc_root(doc), "profiler") : NULL;
    const bool none =
        profiler != NULL && perftrace__json_node_type(profiler) == PERFTRACE__JSON_NULL;
    perftrace__json_doc_free(doc);
    return none;
}

/* Which option a server was started without. */
static void put_missing(perftrace__strbuf_t *out, const perftrace__http_call_t *home,
                        const perftrace__http_call_t *version) {
    const char *number = NULL;
    if (is_libperftrace(home)) {
        perftrace__strbuf_puts(out, "this libperftrace is too old to be profiled");
        return;
    }
    perftrace__json_doc_t *doc =
        version->outcome == PERFTRACE__HTTP_ANSWERED && version->status == 200
            ? perftrace__json_doc_load(perftrace__strbuf_cstr(&version->reply), version->reply.len,
                                       0, NULL)
            : NULL;
    perftrace__json_get_string(doc != NULL ? perftrace__json_doc_root(doc) : NULL, "version",
                               &number);
    if (number != NULL) {
        perftrace__strbuf_printf(
            out,
            "vLLM %.40s without a profiler: start it with --profiler-config "
            "'{\"profiler\": \"torch\", \"torch_profiler_dir\": \"/absolute/dir\"}' "
            "(before 0.13: VLLM_TORCH_PROFILER_DIR=/absolute/dir)",
            number);
    } else {
        perftrace__strbuf_puts(
            out, "it has no such routes: vLLM needs --profiler-config at its start (before 0.13: "
                 "VLLM_TORCH_PROFILER_DIR), SGLang SGLANG_TORCH_PROFILER_DIR, a program with "
                 "libperftrace PERFTRACE_CONTROL");
    }
    perftrace__json_doc_free(doc);
}

void pt_ctl_judge_check(const perftrace__http_call_t calls[PT_CTL_CHECK_CALLS],
                        pt_ctl_verdict_t *ret) {
    const perftrace__http_call_t *start = &calls[0], *stop = &calls[1];
    *ret = (pt_ctl_verdict_t){false, "", PERFTRACE__STRBUF_INIT};
    if (start->outcome != PERFTRACE__HTTP_ANSWERED) {
        no_answer(PT_CTL_CHECK, start, ret);
    } else if (start->status == 401 || start->status == 403) {
        answered(PT_CTL_CHECK, start, ret);
    } else if (exists(start) && exists(stop) && is_libperftrace(&calls[2]) &&
               has_no_profiler(&calls[4])) {
        ret->word = "no profiler";
        perftrace__strbuf_puts(&ret->text, "start it with PERFTRACE_PROFILER, such as self,perf");
    } else if (exists(start) && exists(stop)) {
        ret->good = true;
        ret->word = "ok";
        perftrace__strbuf_puts(&ret->text, "/start_profile and /stop_profile are there");
    } else {
        ret->word = "no route";
        put_missing(&ret->text, &calls[2], &calls[3]);
    }
}

bool pt_ctl_worth_retrying(pt_ctl_action_t action, const perftrace__http_call_t *call) {
    return action == PT_CTL_STOP && call->outcome == PERFTRACE__HTTP_BROKEN;
}
