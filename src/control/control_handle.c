/* control_handle.c: from a request to its answer. SPDX-License-Identifier: MIT */
#include "control_handle.h"

#include "control_answer.h"
#include "control_hold.h"
#include "control_profile.h"
#include "control_report.h"
#include "control_route.h"
#include "control_task.h"
#include "http_guard.h"
#include "json_doc.h"
#include "json_writer.h"

#include <perftrace/perftrace.h>
#include <stdlib.h>

#define OFF_SETTING "PERFTRACE_ENABLED (perf_tracer.enabled)"

/* ---- bodies ---- */

/* The body as an object; an empty one is {}. NULL: refused in the answer. */
static perftrace__json_doc_t *read_body(const perftrace__strbuf_t *body,
                                        perftrace__control_answer_t *answer) {
    perftrace__json_doc_error_t error = {0};
    const char *text = body->len > 0 ? body->data : "{}";
    size_t len = body->len > 0 ? body->len : 2;
    perftrace__json_doc_t *doc = perftrace__json_doc_load(text, len, 0, &error);
    if (doc == NULL) {
        perftrace__control_refuse(answer, 400, NULL,
                                  "the body is no JSON: offset %zu, line %zu, column %zu",
                                  error.offset, error.line, error.column);
    } else if (perftrace__json_node_type(perftrace__json_doc_root(doc)) != PERFTRACE__JSON_OBJECT) {
        perftrace__control_refuse(answer, 400, NULL, "the body is no JSON object");
        perftrace__json_doc_free(doc);
        doc = NULL;
    } else if (perftrace__json_doc_has_nul(doc)) {
        perftrace__control_refuse(answer, 400, NULL, "the body has a text with \\u0000 in it");
        perftrace__json_doc_free(doc);
        doc = NULL;
    }
    return doc;
}

/* ---- routes ---- */

static void flush_work(void *ctx) {
    perftrace__control_task_t *task = ctx;
    int status = perftrace_save(-1, task->input != NULL);
    if (status == PERFTRACE_OK) {
        perftrace__strbuf_puts(&task->answer.body, "{\"flushed\": true}\n");
    } else if (status == PERFTRACE_ERR_DISABLED) {
        perftrace__control_refuse(&task->answer, 409, OFF_SETTING, "nothing is recorded");
    } else {
        perftrace__control_refuse(&task->answer, 503, NULL, "not written (tried again later): %s",
                                  perftrace_status_text(status));
    }
}

static bool flush(perftrace__control_scene_t *scene, const perftrace__http_request_t *request,
                  perftrace__http_exchange_t *exchange, perftrace__control_answer_t *answer) {
    bool force = false;
    perftrace__json_doc_t *doc = read_body(&request->body, answer);
    if (doc == NULL) {
        return false;
    }
    const perftrace__json_node_t *root = perftrace__json_doc_root(doc);
    bool good = perftrace__json_node_member(root, "force") == NULL ||
                perftrace__json_get_bool(root, "force", &force);
    perftrace__json_doc_free(doc);
    if (!good) {
        perftrace__control_refuse(answer, 422, NULL, "force is true or false");
        return false;
    }
    static char forced; /* its address says so */
    perftrace__control_task_start(scene->loop, exchange, flush_work, force ? &forced : NULL, NULL);
    return true;
}

static bool profile(perftrace__control_scene_t *scene, perftrace__control_route_t route,
                    const perftrace__http_request_t *request, perftrace__http_exchange_t *exchange,
                    perftrace__control_answer_t *answer) {
    perftrace__json_doc_t *doc = read_body(&request->body, answer);
    if (doc == NULL) {
        return false;
    }
    bool taken = route == PERFTRACE__CONTROL_start_profile
                     ? perftrace__control_start_profile(scene->loop, perftrace__json_doc_root(doc),
                                                        exchange, answer)
                     : perftrace__control_stop_profile(scene->loop, exchange, answer);
    perftrace__json_doc_free(doc);
    return taken;
}

static void set_hold(const perftrace__http_request_t *request, perftrace__control_answer_t *answer,
                     bool on) {
    perftrace__json_doc_t *doc = read_body(&request->body, answer);
    if (doc == NULL) {
        return;
    }
    perftrace__json_doc_free(doc); /* there are no options */
    unsigned freed = perftrace__hold_set(on);
    perftrace__strbuf_puts(&answer->body, "{\"hold\": ");
    perftrace__hold_put(&answer->body);
    if (!on) {
        perftrace__strbuf_printf(&answer->body, ", \"resumed\": %u", freed);
    }
    perftrace__strbuf_puts(&answer->body, "}\n");
}

static void scopes(perftrace__control_answer_t *answer) {
    int status = perftrace__control_scopes(&answer->body);
    if (status == PERFTRACE_ERR_DISABLED) {
        perftrace__control_refuse(answer, 409, OFF_SETTING, "nothing is recorded");
    } else if (status != PERFTRACE_OK) {
        perftrace__control_refuse(answer, 503, NULL, "%s", perftrace_status_text(status));
    }
}

/* Routes that are answered at once. */
static void answer_route(perftrace__control_route_t route, const perftrace__http_request_t *request,
                         perftrace__control_answer_t *answer) {
    switch (route) {
    case PERFTRACE__CONTROL_help:
        answer->content_type = "text/plain; charset=utf-8";
        perftrace__control_route_help(&answer->body);
        break;
    case PERFTRACE__CONTROL_health:
        perftrace__strbuf_puts(&answer->body, "{\"status\": \"ok\"}\n");
        break;
    case PERFTRACE__CONTROL_status:
        perftrace__control_status(&answer->body);
        break;
    case PERFTRACE__CONTROL_stats:
        perftrace__control_stats(&answer->body);
        break;
    case PERFTRACE__CONTROL_metrics:
        answer->content_type = "text/plain; version=0.0.4; charset=utf-8";
        perftrace__control_metrics(&answer->body);
        break;
    case PERFTRACE__CONTROL_scopes:
        scopes(answer);
        break;
    case PERFTRACE__CONTROL_hold:
        set_hold(request, answer, true);
        break;
    case PERFTRACE__CONTROL_resume:
        set_hold(request, answer, false);
        break;
    default:
        break;
    }
}

static void refuse_guard(unsigned status, perftrace__control_answer_t *answer) {
    if (status == 401) {
        perftrace__control_refuse(answer, 401,
                                  "PERFTRACE_CONTROL_TOKEN (perf_tracer.control.token)",
                                  "the request must bring the token: Authorization: Bearer ...");
    } else {
        perftrace__control_refuse(answer, 403, NULL,
                                  "requests of web pages, and under host names, need a token");
    }
}

void perftrace__control_handle(void *ctx, const perftrace__http_request_t *request,
                               perftrace__http_exchange_t *exchange) {
    perftrace__control_scene_t *scene = ctx;
    perftrace__control_answer_t answer = PERFTRACE__CONTROL_ANSWER_INIT;
    const char *path = perftrace__strbuf_cstr(&request->path);
    unsigned refused = perftrace__http_guard(request, scene->token);
    perftrace__control_route_t route =
        perftrace__control_route(request->method, path, &answer.allow);
    if (refused != 0) {
        answer.allow = NULL;
        refuse_guard(refused, &answer);
    } else if (route == PERFTRACE__CONTROL_NO_PATH) {
        perftrace__control_refuse(&answer, 404, NULL, "there is no %s; GET / lists what there is",
                                  path);
    } else if (route == PERFTRACE__CONTROL_NO_METHOD) {
        perftrace__control_refuse(&answer, 405, NULL, "%s takes %s", path, answer.allow);
    } else if (route == PERFTRACE__CONTROL_flush) {
        if (flush(scene, request, exchange, &answer)) {
            return;
        }
    } else if (route == PERFTRACE__CONTROL_start_profile ||
               route == PERFTRACE__CONTROL_stop_profile) {
        if (profile(scene, route, request, exchange, &answer)) {
            return;
        }
    } else {
        answer_route(route, request, &answer);
    }
    perftrace__control_send(exchange, &answer);
}
