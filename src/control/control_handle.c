/* control_handle.c: from a request to its answer. SPDX-License-Identifier: MIT */
#include "control_handle.h"

#include "control_answer.h"
#include "control_guard.h"
#include "control_hold.h"
#include "control_report.h"
#include "control_route.h"
#include "json_doc.h"
#include "json_writer.h"

#include <perftrace/perftrace.h>
#include <stdlib.h>

#define OFF_SETTING "PERFTRACE_ENABLED (perf_tracer.enabled)"

/* ---- what takes its time runs beside the loop ---- */

typedef struct task {
    perftrace__http_exchange_t *exchange;
    perftrace__control_answer_t answer;
    bool force;
} task_t;

static void task_done(void *ctx, bool alive) {
    task_t *task = ctx;
    if (!alive) {
        /* The server is gone, and the connection with it. */
        task->answer.status = 503;
    }
    perftrace__control_send(task->exchange, &task->answer);
    free(task);
}

static void flush_work(void *ctx) {
    task_t *task = ctx;
    int status = perftrace_save(-1, task->force);
    if (status == PERFTRACE_OK) {
        perftrace__strbuf_puts(&task->answer.body, "{\"flushed\": true}\n");
    } else if (status == PERFTRACE_ERR_DISABLED) {
        perftrace__control_refuse(&task->answer, 409, OFF_SETTING, "nothing is recorded");
    } else {
        perftrace__control_refuse(&task->answer, 503, NULL, "not written (tried again later): %s",
                                  perftrace_status_text(status));
    }
}

static void start_task(perftrace__control_scene_t *scene, perftrace__http_exchange_t *exchange,
                       void (*work)(void *), bool force) {
    perftrace__control_answer_t failed = PERFTRACE__CONTROL_ANSWER_INIT;
    task_t *task = malloc(sizeof *task);
    if (task != NULL) {
        *task = (task_t){exchange, PERFTRACE__CONTROL_ANSWER_INIT, force};
        if (perftrace__net_job_start(scene->loop, work, task_done, task) == PERFTRACE_OK) {
            return;
        }
        free(task);
    }
    perftrace__control_refuse(&failed, 503, NULL, "no memory or no thread");
    perftrace__control_send(exchange, &failed);
}

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
    }
    return doc;
}

/* ---- routes ---- */

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
    start_task(scene, exchange, flush_work, force);
    return true;
}

static void set_hold(perftrace__control_answer_t *answer, bool on) {
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
static void answer_route(perftrace__control_route_t route, perftrace__control_answer_t *answer) {
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
        set_hold(answer, true);
        break;
    case PERFTRACE__CONTROL_resume:
        set_hold(answer, false);
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
    unsigned refused = perftrace__control_guard(request, scene->token);
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
    } else {
        answer_route(route, &answer);
    }
    perftrace__control_send(exchange, &answer);
}
