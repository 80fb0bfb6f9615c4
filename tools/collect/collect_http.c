/* collect_http.c: the collector's state over HTTP. SPDX-License-Identifier: MIT */
#include "collect_http.h"

#include "http_guard.h"

static void answer(perftrace__http_exchange_t *x, unsigned status, const char *type,
                   const perftrace__strbuf_t *body) {
    const perftrace__http_response_t r = {.status = status,
                                          .content_type = type,
                                          .allow = status == 405 ? "GET, HEAD" : NULL,
                                          .challenge = status == 401,
                                          .body = body->data,
                                          .body_len = body->len};
    perftrace__http_exchange_answer(x, &r);
}

static unsigned status_of(const pt_collect_http_t *h, const perftrace__http_request_t *r) {
    unsigned refused = perftrace__http_guard(r, h->token);
    const char *path = perftrace__strbuf_cstr(&r->path);
    return refused != 0                                                      ? refused
           : strcmp(path, "/status") != 0 && strcmp(path, "/metrics") != 0   ? 404
           : strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0 ? 405
                                                                             : 200;
}

static bool put_status(const pt_collect_view_t *view, perftrace__strbuf_t *out) {
    pt_report_t report = PT_REPORT_INIT;
    bool good = pt_collect_show(view, true, &report);
    perftrace__strbuf_puts(out, "{");
    pt_report_print_json(&report, out);
    perftrace__strbuf_puts(out, "}\n");
    pt_report_free(&report);
    return good && !out->failed;
}

static void handle(void *ctx, const perftrace__http_request_t *request,
                   perftrace__http_exchange_t *exchange) {
    const pt_collect_http_t *h = ctx;
    perftrace__strbuf_t body = PERFTRACE__STRBUF_INIT;
    bool metrics = strcmp(perftrace__strbuf_cstr(&request->path), "/metrics") == 0;
    unsigned status = status_of(h, request);
    if (status == 200) {
        pt_collect_view_t view = {0};
        h->look(h->ctx, &view);
        bool good = metrics ? pt_collect_show_metrics(&view, &body) : put_status(&view, &body);
        status = good ? 200 : 500;
    }
    if (status != 200) {
        perftrace__strbuf_clear(&body);
        perftrace__strbuf_printf(&body, "{\"error\": \"%s\"}\n", perftrace__http_reason(status));
    }
    answer(exchange, status, status == 200 && metrics ? "text/plain; version=0.0.4" : NULL, &body);
    perftrace__strbuf_free(&body);
}

bool pt_collect_http_open(pt_collect_http_t *h, perftrace__net_loop_t *loop,
                          const perftrace__listen_address_t *address, int *ret_uv_code) {
    const perftrace__http_server_options_t o = {
        .address = *address,
        .limits = {.target = 1024, .header = 16384, .body = 1024},
        .max_connections = 64,
        .idle_ms = 60000,
        .request_ms = 10000,
        .write_ms = 10000,
        .handle = handle,
        .ctx = h};
    h->server = perftrace__http_server_open(loop, &o, ret_uv_code);
    return h->server != NULL;
}

void pt_collect_http_close(pt_collect_http_t *h) {
    perftrace__http_server_close(h->server);
    h->server = NULL;
}
