/* http_parse.c: HTTP/1 requests out of a stream of bytes. SPDX-License-Identifier: MIT */
#include "http_parse.h"

#include <http_parser.h>
#include <stdlib.h>
#include <strings.h>

struct perftrace__http_parser {
    http_parser http;
    perftrace__http_limits_t limits;
    perftrace__http_request_t request;
    perftrace__strbuf_t target;
    perftrace__strbuf_t field; /* name of the header whose value comes now */
    size_t header_bytes;
    unsigned status; /* of a refusal; 0 none */
    bool in_value;
    bool within;
    bool complete;
    bool expects; /* "Expect: 100-continue" */
    bool tell_continue;
};

static perftrace__http_parser_t *self(http_parser *http) {
    return http->data;
}

/* The code that a callback gives to stop the parser. */
static int refuse(perftrace__http_parser_t *p, unsigned status) {
    p->status = status;
    return 1;
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
    p->header_bytes = 0;
    p->in_value = p->expects = false;
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
    return count_header(p, len) ? 1 : take(p, &p->field, at, len, p->limits.header, 431);
}

static bool field_is(const perftrace__http_parser_t *p, const char *name) {
    return strcasecmp(perftrace__strbuf_cstr(&p->field), name) == 0;
}

static int on_value(http_parser *http, const char *at, size_t len) {
    perftrace__http_parser_t *p = self(http);
    p->in_value = true;
    if (count_header(p, len)) {
        return 1;
    }
    if (field_is(p, "expect")) {
        /* It comes in one piece or not: what else could be expected does not exist. */
        p->expects = true;
    }
    perftrace__strbuf_t *kept = field_is(p, "authorization") ? &p->request.authorization
                                : field_is(p, "host")        ? &p->request.host
                                : field_is(p, "origin")      ? &p->request.origin
                                                             : NULL;
    return kept != NULL ? take(p, kept, at, len, p->limits.header, 431) : 0;
}

static int on_headers(http_parser *http) {
    perftrace__http_parser_t *p = self(http);
    if ((http->flags & F_CONTENTLENGTH) != 0 && http->content_length > p->limits.body) {
        return refuse(p, 413);
    }
    if (p->expects) {
        p->tell_continue = true;
    }
    return 0;
}

static int on_body(http_parser *http, const char *at, size_t len) {
    return take(self(http), &self(http)->request.body, at, len, self(http)->limits.body, 413);
}

static int on_complete(http_parser *http) {
    perftrace__http_parser_t *p = self(http);
    p->complete = true;
    p->within = false;
    p->tell_continue = false; /* the body is here already */
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
    /* What an upgrade would bring is not spoken here: the connection ends with the answer. */
    p->request.keep_alive = p->http.upgrade == 0 && http_should_keep_alive(&p->http) != 0;
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
    *ret_used = http_parser_execute(&p->http, &settings, data, len);
    if (p->complete) {
        return completed(p);
    }
    enum http_errno problem = HTTP_PARSER_ERRNO(&p->http);
    if (problem != HPE_OK || p->http.upgrade != 0) {
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
