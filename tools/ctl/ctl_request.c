/* ctl_request.c: what an action sends. SPDX-License-Identifier: MIT */
#include "ctl_request.h"

#include "json_doc.h"
#include "json_writer.h"

static const struct {
    const char *method, *path;
    uint32_t timeout_s;
} requests[PT_CTL_ACTION_COUNT] = {
    [PT_CTL_START] = {"POST", "/start_profile", 10},
    /* A worker may answer only when its trace is written; vLLM itself is given that long. */
    [PT_CTL_STOP] = {"POST", "/stop_profile", 1800},
    [PT_CTL_STATUS] = {"GET", "/status", 10},
    [PT_CTL_SCOPES] = {"GET", "/scopes", 10},
    [PT_CTL_FLUSH] = {"POST", "/flush", 1800},
    [PT_CTL_HOLD] = {"POST", "/hold", 10},
    [PT_CTL_RESUME] = {"POST", "/resume", 10},
    [PT_CTL_WAIT] = {"GET", "/health", 2},
    /* GET on a route that takes POST: 405 where it exists, 404 where not; nothing is started. */
    [PT_CTL_CHECK] = {"GET", "/start_profile", 10},
};

const char *pt_ctl_method(pt_ctl_action_t action) {
    return requests[action].method;
}

const char *pt_ctl_path(pt_ctl_action_t action) {
    return requests[action].path;
}

uint32_t pt_ctl_timeout_ms(const pt_ctl_options_t *o) {
    if (o->rpc_timeout_ns == 0) {
        return requests[o->action].timeout_s * 1000;
    }
    uint64_t ms = (o->rpc_timeout_ns + 999999) / 1000000;
    return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static void put_key(perftrace__strbuf_t *out, const char *key) {
    perftrace__strbuf_printf(out, "%s\"%s\": ", out->data[out->len - 1] == '{' ? "" : ", ", key);
}

static void put_number(perftrace__strbuf_t *out, const char *key, int64_t number) {
    if (number >= 0) {
        put_key(out, key);
        perftrace__strbuf_printf(out, "%lld", (long long)number);
    }
}

static void put_list(perftrace__strbuf_t *out, const char *key, const pt_string_list_t *list) {
    if (list->count > 0) {
        put_key(out, key);
        for (size_t i = 0; i < list->count; i++) {
            perftrace__strbuf_puts(out, i > 0 ? ", " : "[");
            perftrace__strbuf_json_cstr(out, list->items[i]);
        }
        perftrace__strbuf_putc(out, ']');
    }
}

static void put_flag(perftrace__strbuf_t *out, const char *key, bool on) {
    if (on) {
        put_key(out, key);
        perftrace__strbuf_puts(out, "true");
    }
}

/* The user's own members without the closing brace. */
static bool put_own(perftrace__strbuf_t *out, const char *body, size_t *ret_offset) {
    perftrace__json_doc_error_t error = {0};
    size_t len = strlen(body);
    perftrace__json_doc_t *doc = perftrace__json_doc_load(body, len, 0, &error);
    const perftrace__json_node_t *root = doc != NULL ? perftrace__json_doc_root(doc) : NULL;
    bool object = perftrace__json_node_type(root) == PERFTRACE__JSON_OBJECT;
    bool empty = perftrace__json_node_count(root) == 0;
    perftrace__json_doc_free(doc);
    *ret_offset = error.offset;
    if (!object) {
        return false;
    }
    const char *end = strrchr(body, '}');
    if (!empty) {
        perftrace__strbuf_append(out, strchr(body, '{') + 1, (size_t)(end - strchr(body, '{')) - 1);
    }
    return true;
}

bool pt_ctl_body(const pt_ctl_options_t *o, perftrace__strbuf_t *out, size_t *ret_offset) {
    if (strcmp(pt_ctl_method(o->action), "GET") == 0) {
        return true;
    }
    perftrace__strbuf_putc(out, '{');
    if (o->body != NULL && !put_own(out, o->body, ret_offset)) {
        return false;
    }
    if (o->action == PT_CTL_START) {
        if (o->output_dir != NULL) {
            put_key(out, "output_dir");
            perftrace__strbuf_json_cstr(out, o->output_dir);
        }
        put_number(out, "num_steps", o->num_steps);
        put_number(out, "start_step", o->start_step);
        put_number(out, "delay_iterations", o->delay_iterations);
        put_number(out, "max_iterations", o->max_iterations);
        put_list(out, "activities", &o->activities);
        put_list(out, "categories", &o->categories);
        put_flag(out, "profile_by_stage", o->profile_by_stage);
        put_flag(out, "with_stack", o->with_stack);
        put_flag(out, "record_shapes", o->record_shapes);
    }
    put_flag(out, "force", o->action == PT_CTL_FLUSH && o->force);
    perftrace__strbuf_putc(out, '}');
    return true;
}
