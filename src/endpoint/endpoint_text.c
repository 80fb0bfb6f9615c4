/* endpoint_text.c: the endpoint file's text. SPDX-License-Identifier: MIT */
#include "endpoint.h"
#include "json_doc.h"
#include "json_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void perftrace__endpoint_put(perftrace__strbuf_t *out, const perftrace__endpoint_t *e) {
    perftrace__strbuf_puts(out, "{\"version\": 1, \"url\": ");
    perftrace__strbuf_json_cstr(out, e->url);
    /* 64-bit numbers as text: readers with doubles would round them. */
    perftrace__strbuf_printf(out,
                             ", \"rank\": %lld, \"world_size\": %lld, \"pid\": %lld, "
                             "\"process_start\": \"%lld\", \"pid_namespace\": \"%lld\", "
                             "\"token\": %s, \"role\": ",
                             (long long)e->rank, (long long)e->world_size, (long long)e->pid,
                             (long long)e->process_start, (long long)e->pid_namespace,
                             e->token ? "true" : "false");
    perftrace__strbuf_json_cstr(out, e->role);
    perftrace__strbuf_puts(out, ", \"host\": ");
    perftrace__strbuf_json_cstr(out, e->host);
    perftrace__strbuf_puts(out, ", \"boot_id\": ");
    perftrace__strbuf_json_cstr(out, e->boot_id);
    perftrace__strbuf_puts(out, "}\n");
}

static bool take_text(const perftrace__json_node_t *root, const char *key, char *out, size_t size) {
    const char *text = "";
    bool found = perftrace__json_get_string(root, key, &text);
    int len = snprintf(out, size, "%s", text);
    return found && len >= 0 && (size_t)len < size;
}

static bool take_number(const perftrace__json_node_t *root, const char *key, int64_t *ret) {
    const char *text;
    char *end;
    if (!perftrace__json_get_string(root, key, &text)) {
        return perftrace__json_get_i64(root, key, ret);
    }
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0') {
        return false;
    }
    *ret = v;
    return true;
}

bool perftrace__endpoint_parse(const char *text, size_t len, perftrace__endpoint_t *ret) {
    perftrace__json_doc_t *doc = perftrace__json_doc_load(text, len, 1u << 16, NULL);
    const perftrace__json_node_t *root = doc != NULL ? perftrace__json_doc_root(doc) : NULL;
    memset(ret, 0, sizeof *ret);
    ret->rank = ret->world_size = -1;
    bool good = root != NULL && take_text(root, "url", ret->url, sizeof ret->url) &&
                take_text(root, "host", ret->host, sizeof ret->host) &&
                take_text(root, "boot_id", ret->boot_id, sizeof ret->boot_id) &&
                take_number(root, "pid", &ret->pid) &&
                take_number(root, "process_start", &ret->process_start) &&
                take_number(root, "pid_namespace", &ret->pid_namespace) && ret->pid > 0 &&
                ret->pid <= INT32_MAX;
    take_text(root, "role", ret->role, sizeof ret->role);
    take_number(root, "rank", &ret->rank);
    take_number(root, "world_size", &ret->world_size);
    perftrace__json_get_bool(root, "token", &ret->token);
    perftrace__json_doc_free(doc);
    return good;
}
