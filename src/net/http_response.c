/* http_response.c: the text of an HTTP/1.1 response. SPDX-License-Identifier: MIT */
#include "http_response.h"

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {{100, "Continue"},
               {200, "OK"},
               {202, "Accepted"},
               {400, "Bad Request"},
               {401, "Unauthorized"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {408, "Request Timeout"},
               {409, "Conflict"},
               {413, "Payload Too Large"},
               {414, "URI Too Long"},
               {417, "Expectation Failed"},
               {422, "Unprocessable Content"},
               {431, "Request Header Fields Too Large"},
               {500, "Internal Server Error"},
               {503, "Service Unavailable"},
               {505, "HTTP Version Not Supported"}};

const char *perftrace__http_reason(unsigned status) {
    for (size_t i = 0; i < PT_ARRAY_LEN(reasons); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Status";
}

void perftrace__http_response_put(perftrace__strbuf_t *out, const perftrace__http_response_t *r) {
    perftrace__strbuf_printf(out,
                             "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                             "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
                             r->status, perftrace__http_reason(r->status),
                             r->content_type != NULL ? r->content_type : "application/json",
                             r->body_len);
    if (r->allow != NULL) {
        perftrace__strbuf_printf(out, "Allow: %s\r\n", r->allow);
    }
    if (r->challenge) {
        perftrace__strbuf_puts(out, "WWW-Authenticate: Bearer\r\n");
    }
    perftrace__strbuf_puts(out, r->close ? "Connection: close\r\n\r\n" : "\r\n");
    if (!r->head_only && r->body_len > 0) {
        perftrace__strbuf_append(out, r->body, r->body_len);
    }
}
