/* control_answer.c: an answer that is being made. SPDX-License-Identifier: MIT */
#include "control_answer.h"

#include "json_writer.h"

void perftrace__control_refuse(perftrace__control_answer_t *a, unsigned status, const char *setting,
                               const char *fmt, ...) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    a->status = status;
    perftrace__strbuf_clear(&a->body);
    perftrace__strbuf_puts(&a->body, "{\"error\": ");
    perftrace__strbuf_json(&a->body, perftrace__strbuf_cstr(&text), text.len);
    if (setting != NULL) {
        perftrace__strbuf_puts(&a->body, ", \"setting\": ");
        perftrace__strbuf_json_cstr(&a->body, setting);
    }
    perftrace__strbuf_puts(&a->body, "}\n");
    perftrace__strbuf_free(&text);
}

void perftrace__control_send(perftrace__http_exchange_t *exchange, perftrace__control_answer_t *a) {
    perftrace__http_response_t r = {.status = a->body.failed ? 500 : a->status,
                                    .content_type = a->content_type,
                                    .allow = a->allow,
                                    .challenge = a->status == 401,
                                    .body = a->body.data,
                                    .body_len = a->body.failed ? 0 : a->body.len};
    perftrace__http_exchange_answer(exchange, &r);
    perftrace__strbuf_free(&a->body);
}
