/* http_reply.c: the client's half of HTTP/1. SPDX-License-Identifier: MIT */
#include "http_reply.h"

#include <http_parser.h>
#include <stdlib.h>

/* ---- where to ---- */

static bool take(char *out, size_t size, const char *from, size_t len) {
    if (len >= size || memchr(from, '\0', len) != NULL) {
        return false;
    }
    memcpy(out, from, len);
    out[len] = '\0';
    return true;
}

static bool refuse(const char **ret_problem, const char *text) {
    *ret_problem = text;
    return false;
}

static bool parse_http(const char *text, perftrace__http_url_t *ret, const char **ret_problem) {
    struct http_parser_url url;
    http_parser_url_init(&url);
    if (http_parser_parse_url(text, strlen(text), 0, &url) != 0 ||
        (url.field_set & 1U << UF_HOST) == 0) {
        return refuse(ret_problem, "it is no URL: http://HOST:PORT or unix:PATH");
    }
    if ((url.field_set & 1U << UF_USERINFO) != 0) {
        return refuse(ret_problem, "a name and password in a URL are not used; see --token");
    }
    if (!take(ret->host, sizeof ret->host, text + url.field_data[UF_HOST].off,
              url.field_data[UF_HOST].len)) {
        return refuse(ret_problem, "the host's name is too long");
    }
    if ((url.field_set & 1U << UF_PORT) != 0 &&
        !take(ret->port, sizeof ret->port, text + url.field_data[UF_PORT].off,
              url.field_data[UF_PORT].len)) {
        return refuse(ret_problem, "the port is too long");
    }
    if ((url.field_set & 1U << UF_PATH) != 0) {
        size_t len = url.field_data[UF_PATH].len;
        const char *path = text + url.field_data[UF_PATH].off;
        while (len > 0 && path[len - 1] == '/') {
            len--;
        }
        if (!take(ret->base, sizeof ret->base, path, len)) {
            return refuse(ret_problem, "the path is too long");
        }
    }
    return true;
}

bool perftrace__http_url_parse(const char *text, perftrace__http_url_t *ret,
                               const char **ret_problem) {
    memset(ret, 0, sizeof *ret);
    memcpy(ret->port, "80", 3);
    if (strncmp(text, "unix:", 5) == 0) {
        ret->is_unix = true;
        return take(ret->host, 108, text + 5, strlen(text + 5)) && ret->host[0] != '\0'
                   ? true
                   : refuse(ret_problem, "the path of a socket has 1 to 107 bytes");
    }
    if (strncmp(text, "https:", 6) == 0) {
        return refuse(ret_problem, "https is not spoken: use the worker's own http address");
    }
    if (strstr(text, "://") != NULL) {
        return strncmp(text, "http://", 7) == 0
                   ? parse_http(text, ret, ret_problem)
                   : refuse(ret_problem, "only http:// and unix: are spoken");
    }
    perftrace__strbuf_t full = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&full, "http://%s", text);
    bool good = parse_http(perftrace__strbuf_cstr(&full), ret, ret_problem);
    perftrace__strbuf_free(&full);
    return good;
}

/* ---- what is sent ---- */

void perftrace__http_request_put(perftrace__strbuf_t *out, const perftrace__http_url_t *url,
                                 const char *method, const char *path, const char *body,
                                 const char *token) {
    bool v6 = !url->is_unix && strchr(url->host, ':') != NULL;
    perftrace__strbuf_printf(out, "%s %s%s HTTP/1.1\r\n", method, url->base, path);
    if (url->is_unix) {
        perftrace__strbuf_puts(out, "Host: localhost\r\n");
    } else {
        perftrace__strbuf_printf(out, "Host: %s%s%s:%s\r\n", v6 ? "[" : "", url->host,
                                 v6 ? "]" : "", url->port);
    }
    perftrace__strbuf_puts(out, "User-Agent: perf-trace-ctl\r\nAccept: application/json\r\n"
                                "Connection: close\r\n");
    if (token != NULL && token[0] != '\0') {
        perftrace__strbuf_printf(out, "Authorization: Bearer %s\r\n", token);
    }
    if (body != NULL) {
        perftrace__strbuf_printf(out,
                                 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                                 strlen(body), body);
    } else {
        perftrace__strbuf_puts(out, "\r\n");
    }
}

/* ---- what comes back ---- */

struct perftrace__http_reply {
    http_parser http;
    perftrace__strbuf_t body;
    size_t limit;
    bool complete, too_long;
};

static int on_body(http_parser *http, const char *at, size_t len) {
    perftrace__http_reply_t *r = http->data;
    if (len > r->limit - r->body.len) {
        r->too_long = true;
        return 1;
    }
    perftrace__strbuf_append(&r->body, at, len);
    return r->body.failed ? 1 : 0;
}

static int on_complete(http_parser *http) {
    perftrace__http_reply_t *r = http->data;
    /* "100 Continue" and the like come before the answer itself. */
    r->complete = http->status_code >= 200;
    return 0;
}

static const http_parser_settings settings = {.on_body = on_body,
                                              .on_message_complete = on_complete};

perftrace__http_reply_t *perftrace__http_reply_new(size_t limit) {
    perftrace__http_reply_t *r = calloc(1, sizeof *r);
    if (r != NULL) {
        http_parser_init(&r->http, HTTP_RESPONSE);
        r->http.data = r;
        r->limit = limit;
    }
    return r;
}

void perftrace__http_reply_free(perftrace__http_reply_t *r) {
    if (r != NULL) {
        perftrace__strbuf_free(&r->body);
        free(r);
    }
}

bool perftrace__http_reply_feed(perftrace__http_reply_t *r, const char *data, size_t len) {
    if (r->complete) {
        return true;
    }
    size_t used = http_parser_execute(&r->http, &settings, data, len);
    return r->complete || (used == len && len > 0 && r->http.upgrade == 0);
}

bool perftrace__http_reply_complete(const perftrace__http_reply_t *r) {
    return r->complete;
}

bool perftrace__http_reply_too_long(const perftrace__http_reply_t *r) {
    return r->too_long;
}

unsigned perftrace__http_reply_status(const perftrace__http_reply_t *r) {
    return r->http.status_code;
}

perftrace__strbuf_t *perftrace__http_reply_body(perftrace__http_reply_t *r) {
    return &r->body;
}
