/* http_parse.c: HTTP/1 requests out of a stream of bytes. SPDX-License-Identifier: MIT */
#include "http_parse.h"

#include <http_parser.h>
#include <stdlib.h>
#include <strings.h>

#define HOST_SEEN 1u
#define PIECE     4096

struct perftrace__http_parser {
    http_parser http;
    perftrace__http_limits_t limits;
    perftrace__http_request_t request;
    perftrace__strbuf_t target;
    perftrace__strbuf_t field; /* name of the header whose value comes now */
    perftrace__strbuf_t expect;
    perftrace__strbuf_t *kept; /* where that value goes; NULL: nowhere */
    size_t header_bytes;
    unsigned status; /* of a refusal; 0 none */
    unsigned seen;   /* which of the kept headers came, a bit each */
    bool in_value;
    bool in_body; /* headers behind it (trailers) mean nothing */
    bool within;
    bool complete;
    bool tell_continue;
};

static perftrace__http_parser_t *self(http_parser *http) {
    return http->data;
}

/* The code that a callback gives to stop the parser. Not 1: of on_headers that would mean that no
 * body follows. */
static int refuse(perftrace__http_parser_t *p, unsigned status) {
    p->status = status;
    return -1;
}

static int take(perftrace__http_parser_t *p, perftrace__strbuf_t *out, const char *at, size_t len,
                size_t max, unsigned status) {
    if (len > max || out->len > max - len) {
        return refuse(p, status);
    }
    perftrace__strbuf_append(out, at, len);
    return out->failed ? refuse(p, 500) : 0;
}

static int on_begin(http_parser *http) {
    perftrace__http_parser_t *p = self(http);
    perftrace__strbuf_clear(&p->target);
    perftrace__strbuf_clear(&p->field);
    perftrace__strbuf_clear(&p->request.path);
    perftrace__strbuf_clear(&p->request.query);
    perftrace__strbuf_clear(&p->request.authorization);
    perftrace__strbuf_clear(&p->request.host);
    perftrace__strbuf_clear(&p->request.origin);
    perftrace__strbuf_clear(&p->request.body);
    perftrace__strbuf_clear(&p->expect);
    p->kept = NULL;
    p->header_bytes = 0;
    p->seen = 0;
    p->in_value = p->in_body = p->tell_continue = false;
    p->within = true;
    return 0;
}

static int on_url(http_parser *http, const char *at, size_t len) {
    return take(self(http), &self(http)->target, at, len, self(http)->limits.target, 414);
}

static int count_header(perftrace__http_parser_t *p, size_t len) {
    p->header_bytes += len;
    return p->header_bytes > p->limits.header ? refuse(p, 431) : 0;
}

static int on_field(http_parser *http, const char *at, size_t len) {
    perftrace__http_parser_t *p = self(http);
    if (p->in_value) {
        perftrace__strbuf_clear(&p->field);
        p->in_value = false;
    }
    return count_header(p, len) ? -1 : take(p, &p->field, at, len, p->limits.header, 431);
}

/* The name of a header is complete. Two hosts, or two tokens, would be read differently by everyone
 * that the request passes. */
static int choose(perftrace__http_parser_t *p) {
    const struct {
        const char *name;
        perftrace__strbuf_t *to;
    } known[] = {{"host", &p->request.host}, /* HOST_SEEN */
                 {"authorization", &p->request.authorization},
                 {"origin", &p->request.origin},
                 {"expect", &p->expect}};
    p->kept = NULL;
    if (strcspn(perftrace__strbuf_cstr(&p->field), " \t") != p->field.len) {
        return refuse(p, 400); /* "Content-Length : 5": some take it for the header, some do not */
    }
    for (unsigned i = 0; i < PT_ARRAY_LEN(known) && !p->in_body; i++) {
        if (strcasecmp(perftrace__strbuf_cstr(&p->field), known[i].name) == 0) {
            if ((p->seen & 1u << i) != 0) {
                return refuse(p, 400);
            }
            p->seen |= 1u << i;
            p->kept = known[i].to;
        }
    }
    return 0;
}

static int on_value(http_parser *http, const char *at, size_t len) {
    perftrace__http_parser_t *p = self(http);
    if (!p->in_value) {
        p->in_value = true;
        if (choose(p)) {
            return -1;
        }
    }
    if (count_header(p, len)) {
        return -1;
    }
    return p->kept != NULL ? take(p, p->kept, at, len, p->limits.header, 431) : 0;
}

/* Before anything of a body is taken. */
static unsigned refusal_of_headers(const perftrace__http_parser_t *p) {
    bool first_version = p->http.http_minor == 0;
    if (p->http.http_major != 1) {
        return 505;
    }
    if (!first_version && (p->seen & HOST_SEEN) == 0) {
        return 400;
    }
    if (!first_version && p->expect.len > 0 &&
        strcasecmp(perftrace__strbuf_cstr(&p->expect), "100-continue") != 0) {
        return 417;
    }
    bool announced = (p->http.flags & F_CONTENTLENGTH) != 0;
    return announced && p->http.content_length > p->limits.body ? 413 : 0;
}

/* http-parser leaves the blanks behind a value. */
static void trim(perftrace__strbuf_t *value) {
    while (value->len > 0 &&
           (value->data[value->len - 1] == ' ' || value->data[value->len - 1] == '\t')) {
        value->data[--value->len] = '\0';
    }
}

static int on_headers(http_parser *http) {
    perftrace__http_parser_t *p = self(http);
    trim(&p->request.authorization);
    trim(&p->request.host);
    trim(&p->request.origin);
    trim(&p->expect);
    unsigned status = refusal_of_headers(p);
    if (status != 0) {
        return refuse(p, status);
    }
    p->in_body = true;
    p->tell_continue = http->http_minor > 0 && p->expect.len > 0;
    if (http->method != HTTP_CONNECT) {
        http->upgrade = 0; /* an offer to speak something else is not taken up */
    }
    return 0;
}

static int on_body(http_parser *http, const char *at, size_t len) {
    self(http)->tell_continue = false; /* it does not wait to be told */
    return take(self(http), &self(http)->request.body, at, len, self(http)->limits.body, 413);
}

static int on_complete(http_parser *http) {
    perftrace__http_parser_t *p = self(http);
    p->complete = true;
    p->within = false;
    p->tell_continue = false;
    http_parser_pause(http, 1);
    return 0;
}

static const http_parser_settings settings = {
    .on_message_begin = on_begin,
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

perftrace__http_parser_t *perftrace__http_parser_new(const perftrace__http_limits_t *limits) {
    perftrace__http_parser_t *p = calloc(1, sizeof *p);
    if (p != NULL) {
        http_parser_init(&p->http, HTTP_REQUEST);
        p->http.data = p;
        p->limits = *limits;
    }
    return p;
}

void perftrace__http_parser_free(perftrace__http_parser_t *p) {
    if (p == NULL) {
        return;
    }
    perftrace__strbuf_free(&p->request.path);
    perftrace__strbuf_free(&p->request.query);
    perftrace__strbuf_free(&p->request.authorization);
    perftrace__strbuf_free(&p->request.host);
    perftrace__strbuf_free(&p->request.origin);
    perftrace__strbuf_free(&p->request.body);
    perftrace__strbuf_free(&p->target);
    perftrace__strbuf_free(&p->field);
    perftrace__strbuf_free(&p->expect);
    free(p);
}

/* Takes the target apart; absolute ones (as sent to a proxy) lose scheme and host. */
static bool split_target(perftrace__http_parser_t *p) {
    struct http_parser_url url;
    const char *text = perftrace__strbuf_cstr(&p->target);
    if (strcmp(text, "*") == 0) {
        perftrace__strbuf_puts(&p->request.path, "*");
        return true;
    }
    http_parser_url_init(&url);
    if (http_parser_parse_url(text, p->target.len, 0, &url) != 0) {
        return false;
    }
    if ((url.field_set & 1U << UF_PATH) != 0) {
        perftrace__strbuf_append(&p->request.path, text + url.field_data[UF_PATH].off,
                                 url.field_data[UF_PATH].len);
    } else {
        perftrace__strbuf_puts(&p->request.path, "/");
    }
    if ((url.field_set & 1U << UF_QUERY) != 0) {
        perftrace__strbuf_append(&p->request.query, text + url.field_data[UF_QUERY].off,
                                 url.field_data[UF_QUERY].len);
    }
    return true;
}

static perftrace__http_found_t completed(perftrace__http_parser_t *p) {
    p->complete = false;
    p->request.method = http_method_str((enum http_method)p->http.method);
    p->request.keep_alive = http_should_keep_alive(&p->http) != 0;
    if (p->http.method == HTTP_CONNECT || !split_target(p)) {
        p->status = 400;
        return PERFTRACE__HTTP_REFUSED;
    }
    if (p->request.path.failed || p->request.query.failed) {
        p->status = 500;
        return PERFTRACE__HTTP_REFUSED;
    }
    return PERFTRACE__HTTP_REQUEST;
}

perftrace__http_found_t perftrace__http_parser_feed(perftrace__http_parser_t *p, const char *data,
                                                    size_t len, size_t *ret_used) {
    *ret_used = 0;
    if (p->status != 0) {
        return PERFTRACE__HTTP_REFUSED;
    }
    if (len == 0) {
        return PERFTRACE__HTTP_MORE; /* to http-parser it would be the end of the stream */
    }
    http_parser_pause(&p->http, 0);
    /* In pieces: http-parser's own limit comes before ours when it sees all at once. */
    while (*ret_used < len && !p->complete && HTTP_PARSER_ERRNO(&p->http) == HPE_OK) {
        *ret_used += http_parser_execute(&p->http, &settings, data + *ret_used,
                                         PT_MIN(len - *ret_used, (size_t)PIECE));
    }
    if (p->complete) {
        return completed(p);
    }
    enum http_errno problem = HTTP_PARSER_ERRNO(&p->http);
    if (problem != HPE_OK) {
        if (p->status == 0) {
            p->status = problem == HPE_HEADER_OVERFLOW ? 431 : 400;
        }
        return PERFTRACE__HTTP_REFUSED;
    }
    if (p->tell_continue) {
        p->tell_continue = false;
        return PERFTRACE__HTTP_CONTINUE;
    }
    return PERFTRACE__HTTP_MORE;
}

const perftrace__http_request_t *perftrace__http_parser_request(const perftrace__http_parser_t *p) {
    return &p->request;
}

bool perftrace__http_parser_within(const perftrace__http_parser_t *p) {
    return p->within;
}

unsigned perftrace__http_parser_status(const perftrace__http_parser_t *p) {
    return p->status;
}
