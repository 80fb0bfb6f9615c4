/* http_guard.c: who may ask. SPDX-License-Identifier: MIT */
#include "http_guard.h"

#include <strings.h>

bool perftrace__same_secret(const char *a, size_t a_len, const char *b) {
    size_t b_len = strlen(b);
    unsigned difference = a_len != b_len;
    for (size_t i = 0; i < a_len; i++) {
        difference |= (unsigned char)a[i] ^ (unsigned char)b[b_len > 0 ? i % b_len : 0];
    }
    return difference == 0;
}

static bool brings(const perftrace__strbuf_t *authorization, const char *token) {
    static const char scheme[] = "Bearer ";
    const char *text = perftrace__strbuf_cstr(authorization);
    size_t at = sizeof scheme - 1;
    return authorization->len >= at && strncasecmp(text, scheme, at) == 0 &&
           perftrace__same_secret(text + at, authorization->len - at, token);
}

/* A name server under somebody else's control can give a page's name this machine's address; then
 * the browser lets the page ask. Numbers and localhost cannot be given away. */
static bool is_named_by_number(const char *host) {
    size_t len = strcspn(host, ":");
    if (host[0] == '[' || len == 0) {
        return true;
    }
    return (len == 9 && strncasecmp(host, "localhost", 9) == 0) ||
           strspn(host, "0123456789.") == len;
}

unsigned perftrace__http_guard(const perftrace__http_request_t *r, const char *token) {
    if (token != NULL && token[0] != '\0') {
        return brings(&r->authorization, token) ? 0 : 401;
    }
    return r->origin.len > 0 || !is_named_by_number(perftrace__strbuf_cstr(&r->host)) ? 403 : 0;
}
