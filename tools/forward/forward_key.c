/* forward_key.c. SPDX-License-Identifier: MIT */
#include "forward_key.h"

#include "json_scan.h"

#include <stdio.h>
#include <string.h>

typedef perftrace__json_slice_t slice_t;

#define TEXT_MAX 65536u /* bytes of a text as it stands in the line */

/* The text at a path below an object, cut to what fits; "" where there is none. False: it is there
 * but cannot be used, being too long (where cut is not allowed) or with a NUL. */
static bool text_at(const slice_t *object, const char *path, bool may_cut, char *out, size_t size) {
    char text[TEXT_MAX];
    slice_t v;
    out[0] = '\0';
    if (!perftrace__json_find(object, path, &v) || v.type == PERFTRACE__JSON_NULL) {
        return true;
    }
    if (v.type != PERFTRACE__JSON_STRING || v.len >= sizeof text) {
        return false;
    }
    size_t len = perftrace__json_decode(&v, text);
    if (memchr(text, '\0', len) != NULL || (len >= size && !may_cut)) {
        return false;
    }
    len = PT_MIN(len, size - 1);
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

/* A number of 0 to max; -1 where there is none. */
static int64_t number_at(const slice_t *object, const char *path, int64_t max) {
    slice_t v;
    int64_t n;
    return perftrace__json_find(object, path, &v) && v.type == PERFTRACE__JSON_NUMBER &&
                   perftrace__json_to_i64(&v, &n) && n >= 0 && n <= max
               ? n
               : -1;
}

static bool read_object(const char *line, size_t len, slice_t *ret) {
    perftrace__json_cursor_t c;
    perftrace__json_cursor_init(&c, line, len);
    return perftrace__json_next_value(&c, ret) > 0 && ret->type == PERFTRACE__JSON_OBJECT &&
           perftrace__json_at_end(&c);
}

static bool is_header(const slice_t *object) {
    slice_t v;
    return perftrace__json_find(object, "name", &v) && perftrace__json_is(&v, "perftrace_header") &&
           perftrace__json_find(object, "args", &v) && v.type == PERFTRACE__JSON_OBJECT;
}

/* Role and host are for folders and people; what does not fit is no reason to leave a file. */
static bool read_who(const slice_t *object, const char *prefix, perftrace__stream_key_t *k) {
    char path[32];
    snprintf(path, sizeof path, "%srole", prefix);
    if (!text_at(object, path, true, k->role, sizeof k->role) ||
        !perftrace__stream_name_ok(k->role)) {
        k->role[0] = '\0';
    }
    snprintf(path, sizeof path, "%srank", prefix);
    k->rank = number_at(object, path, INT32_MAX);
    snprintf(path, sizeof path, "%srun_id", prefix);
    return text_at(object, path, false, k->run, sizeof k->run);
}

static bool read_trace(const slice_t *object, pt_forward_key_t *ret) {
    perftrace__stream_key_t *k = &ret->key;
    slice_t v;
    if (!text_at(object, "args.host", true, k->host, sizeof k->host)) {
        k->host[0] = '\0';
    }
    k->world_size = number_at(object, "args.world_size", INT32_MAX);
    k->pid = PT_MAX(number_at(object, "args.pid", INT64_C(1) << 52), 0);
    if (!perftrace__json_find(object, "args.epoch_ns", &v) ||
        !perftrace__json_to_u64(&v, &ret->begin_ns)) {
        ret->begin_ns = 0;
    }
    return read_who(object, "args.", k);
}

static bool is_session(const slice_t *object) {
    slice_t v;
    return perftrace__json_find(object, "session_id", &v) &&
           perftrace__json_find(object, "status", &v);
}

static bool read_sessions(const slice_t *object, pt_forward_key_t *ret) {
    slice_t v;
    double s;
    ret->key.sessions = true;
    if (perftrace__json_find(object, "submit_ts", &v) && perftrace__json_to_double(&v, &s) &&
        s > 0 && s < 1e10) {
        ret->begin_ns = (uint64_t)(s * 1e9);
    }
    return read_who(object, "", &ret->key);
}

bool pt_forward_key_read(const char *line, size_t len, pt_forward_key_t *ret,
                         const char **ret_problem) {
    slice_t object;
    memset(ret, 0, sizeof *ret);
    ret->key.rank = ret->key.world_size = -1;
    if (len == 0 || line[len - 1] != '\n' || !read_object(line, len, &object)) {
        *ret_problem = "its first line is no JSON object";
        return false;
    }
    bool header = is_header(&object);
    if (!header && !is_session(&object)) {
        *ret_problem = "neither a header of a trace nor a session is its first line";
        return false;
    }
    if (!(header ? read_trace(&object, ret) : read_sessions(&object, ret))) {
        *ret_problem = "the run's id in its first line is none: longer than 64 bytes, or no text";
        return false;
    }
    return true;
}

bool pt_forward_key_update(const char *line, size_t len, pt_forward_key_t *key) {
    slice_t object;
    if (!read_object(line, len, &object) || !is_header(&object)) {
        return false;
    }
    key->key.rank = number_at(&object, "args.rank", INT32_MAX);
    key->key.world_size = number_at(&object, "args.world_size", INT32_MAX);
    return true;
}

void pt_forward_key_join(pt_forward_key_t *sessions, const pt_forward_key_t *trace) {
    perftrace__stream_key_t *s = &sessions->key;
    const perftrace__stream_key_t *t = &trace->key;
    memcpy(s->run, t->run, sizeof s->run);
    memcpy(s->role, t->role, sizeof s->role);
    memcpy(s->host, t->host, sizeof s->host);
    s->rank = t->rank;
    s->world_size = t->world_size;
    s->pid = t->pid;
}
