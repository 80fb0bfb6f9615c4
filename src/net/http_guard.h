/* http_guard.h: who may ask (pure). SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_NET_HTTP_GUARD_H
#define PERFTRACE_NET_HTTP_GUARD_H

#include "http_request.h"

/* 0: the request may pass; 401: it lacks the token or brings a wrong one; 403: it comes by way of a
 * web page (a browser names the page, or was led here under another name than this machine's).
 *   token  NULL or "": none is needed; with a token, pages that know it may ask. */
unsigned perftrace__http_guard(const perftrace__http_request_t *request, const char *token);

/* Whether a[0..a_len) is the secret b; takes the same time wherever the two differ. */
bool perftrace__same_secret(const char *a, size_t a_len, const char *b);

#endif
