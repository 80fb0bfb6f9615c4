/* stream_message.c. SPDX-License-Identifier: MIT */
#include "stream_message.h"

#include "json_scan.h"
#include "json_writer.h"
#include "utf8.h"

#include <inttypes.h>

typedef perftrace__json_slice_t slice_t;
typedef perftrace__stream_message_t message_t;

static const char *const types[] = {"", "hello", "have", "data", "ack", "clock", "error"};

/* ---- reading ------------------------------------------------------------------------------------
 */

/* A text that fits and holds no NUL, at which whoever uses it would end it. null reads as "". */
static bool take_text(const slice_t *v, char *out, size_t size) {
    if (v->type == PERFTRACE__JSON_NULL) {
        out[0] = '\0';
        return true;
    }
    char text[PERFTRACE__STREAM_LINE_MAX];
    if (v->type != PERFTRACE__JSON_STRING || v->len >= sizeof text) {
        return false;
    }
    size_t len = perftrace__json_decode(v, text);
    if (len >= size || memchr(text, '\0', len) != NULL) {
        return false;
    }
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

static bool take_cut_text(const slice_t *v, char *out, size_t size) {
    char text[PERFTRACE__STREAM_LINE_MAX];
    if (v->type != PERFTRACE__JSON_STRING || v->len >= sizeof text) {
        return false;
    }
    size_t len = perftrace__utf8_cut(text, perftrace__json_decode(v, text), size - 1);
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

static bool take_u64(const slice_t *v, uint64_t *ret) {
    return perftrace__json_to_u64(v, ret);
}

/* A whole number that is no greater than max, or null for -1. */
static bool take_number(const slice_t *v, int64_t max, int64_t *ret) {
    if (v->type == PERFTRACE__JSON_NULL) {
        *ret = -1;
        return true;
    }
    return v->type == PERFTRACE__JSON_NUMBER && perftrace__json_to_i64(v, ret) && *ret >= 0 &&
           *ret <= max;
}

static bool take_offset(const slice_t *v, uint64_t *ret) {
    return v->type == PERFTRACE__JSON_NUMBER && take_u64(v, ret) && *ret <= INT64_MAX;
}

static bool take_stream(const slice_t *v, uint64_t *ret) {
    if (v->type != PERFTRACE__JSON_STRING || v->len != 16) {
        return false;
    }
    uint64_t id = 0;
    for (size_t i = 0; i < 16; i++) {
        const char c = v->p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit > 15) {
            return false;
        }
        id = id << 4 | digit;
    }
    *ret = id;
    return true;
}

static bool take_kind(const slice_t *v, bool *ret_sessions) {
    *ret_sessions = perftrace__json_is(v, "sessions");
    return *ret_sessions || perftrace__json_is(v, "trace");
}

static bool take_bool(const slice_t *v, bool *ret) {
    *ret = v->type == PERFTRACE__JSON_TRUE;
    return *ret || v->type == PERFTRACE__JSON_FALSE;
}

static bool take_type(const slice_t *v, perftrace__stream_type_t *ret) {
    for (unsigned i = 1; i < PT_ARRAY_LEN(types); i++) {
        if (perftrace__json_equal(v, types[i], strlen(types[i]))) {
            *ret = (perftrace__stream_type_t)i;
            return true;
        }
    }
    return false;
}

/* Which keys were there. */
enum {
    HAS_TYPE = 1,
    HAS_VERSION = 2,
    HAS_RUN = 4,
    HAS_STREAM = 8,
    HAS_KIND = 16,
    HAS_NAME = 32,
    HAS_RANK = 64,
    HAS_OFFSET = 128,
    HAS_SIZE = 256,
    HAS_PACKED = 512,
    HAS_T1 = 1024,
    HAS_T2 = 2048,
    HAS_T3 = 4096,
    HAS_REF = 8192,
    HAS_TEXT = 16384,
    HAS_KEY = HAS_RUN | HAS_STREAM | HAS_KIND | HAS_NAME | HAS_RANK
};

/* False: the member has a wrong value. */
static bool take_member(const slice_t *key, const slice_t *v, message_t *m, unsigned *has) {
#define MEMBER(literal, bit, take)                                                                 \
    if (perftrace__json_is(key, literal)) {                                                        \
        *has |= (bit);                                                                             \
        return take;                                                                               \
    }
    MEMBER("type", HAS_TYPE, take_type(v, &m->type))
    MEMBER("v", HAS_VERSION, take_number(v, INT32_MAX, &m->version))
    MEMBER("run", HAS_RUN, take_text(v, m->key.run, sizeof m->key.run))
    MEMBER("stream", HAS_STREAM, take_stream(v, &m->key.stream))
    MEMBER("kind", HAS_KIND, take_kind(v, &m->key.sessions))
    MEMBER("name", HAS_NAME, take_text(v, m->key.name, sizeof m->key.name))
    MEMBER("rank", HAS_RANK, take_number(v, INT32_MAX, &m->key.rank))
    MEMBER("world_size", 0, take_number(v, INT32_MAX, &m->key.world_size))
    MEMBER("role", 0, take_text(v, m->key.role, sizeof m->key.role))
    MEMBER("host", 0, take_text(v, m->key.host, sizeof m->key.host))
    MEMBER("pid", 0, take_number(v, INT32_MAX, &m->key.pid))
    MEMBER("offset", HAS_OFFSET, take_offset(v, &m->offset))
    MEMBER("size", HAS_SIZE, take_offset(v, &m->size))
    MEMBER("packed", HAS_PACKED, take_offset(v, &m->packed))
    MEMBER("acked", 0, take_offset(v, &m->acked))
    MEMBER("last", 0, take_bool(v, &m->last))
    MEMBER("token", 0, take_text(v, m->token, sizeof m->token))
    MEMBER("ref", HAS_REF, take_text(v, m->ref, sizeof m->ref))
    MEMBER("t1", HAS_T1, take_text(v, m->t1, sizeof m->t1))
    MEMBER("t2", HAS_T2, take_u64(v, &m->t2))
    MEMBER("t3", HAS_T3, take_u64(v, &m->t3))
    MEMBER("text", HAS_TEXT, take_cut_text(v, m->text, sizeof m->text))
#undef MEMBER
    return true;
}

static bool all(unsigned has, unsigned wanted) {
    return (has & wanted) == wanted;
}

/* What is missing or does not go together; NULL: nothing. */
static const char *what_is_wrong(const message_t *m, unsigned has) {
    switch (m->type) {
    case PERFTRACE__STREAM_HELLO:
        return !(has & HAS_VERSION)                 ? "hello without a version"
               : !(has & HAS_REF) && !m->key.run[0] ? "hello without a run"
                                                    : NULL;
    case PERFTRACE__STREAM_HAVE:
        if (all(has, HAS_STREAM | HAS_OFFSET)) {
            return NULL; /* the answer */
        }
        break;
    case PERFTRACE__STREAM_DATA:
        if (!all(has, HAS_OFFSET | HAS_SIZE | HAS_PACKED)) {
            return "data without offset, size or packed";
        }
        if (m->size > PERFTRACE__STREAM_PIECE_MAX || m->packed > PERFTRACE__STREAM_PACKED_MAX) {
            return "a piece that is too large";
        }
        if ((m->size == 0) != (m->packed == 0)) {
            return "a piece of which size or packed is 0 and the other is not";
        }
        break;
    case PERFTRACE__STREAM_ACK:
        return all(has, HAS_STREAM | HAS_OFFSET) ? NULL : "ack without stream or offset";
    case PERFTRACE__STREAM_CLOCK:
        return !(has & HAS_T1) ? "clock without t1"
               : (has & (HAS_T2 | HAS_T3 | HAS_REF)) == 0 || all(has, HAS_T2 | HAS_T3 | HAS_REF)
                   ? NULL
                   : "clock without t2, t3 or ref";
    case PERFTRACE__STREAM_ERROR:
        return NULL;
    case PERFTRACE__STREAM_NONE:
        return "no type";
    }
    return !all(has, HAS_KEY) || !m->key.run[0] ? "a stream without run, stream, kind, name or rank"
           : !perftrace__stream_name_ok(m->key.name) ? "a name that is no file name"
           : m->key.role[0] && !perftrace__stream_name_ok(m->key.role)
               ? "a role that is no folder's name"
               : NULL;
}

bool perftrace__stream_parse(const char *line, size_t len, message_t *ret,
                             const char **ret_problem) {
    perftrace__json_cursor_t c;
    slice_t key;
    slice_t value;
    unsigned has = 0;
    int more = -1;
    memset(ret, 0, sizeof *ret);
    ret->key.rank = ret->key.world_size = -1;
    if (len > PERFTRACE__STREAM_LINE_MAX) {
        *ret_problem = "a line that is too long";
        return false;
    }
    perftrace__json_cursor_init(&c, line, len);
    if (perftrace__json_enter_object(&c)) {
        while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
            if (!take_member(&key, &value, ret, &has)) {
                *ret_problem = "a key with a value that it cannot have";
                return false;
            }
        }
    }
    if (more < 0 || !perftrace__json_at_end(&c)) {
        *ret_problem = perftrace__json_error_text(c.error.code);
        return false;
    }
    *ret_problem = what_is_wrong(ret, has);
    return *ret_problem == NULL;
}

/* ---- writing ------------------------------------------------------------------------------------
 */

static void put_number(perftrace__strbuf_t *out, const char *key, int64_t v) {
    if (v < 0) {
        perftrace__strbuf_printf(out, ", \"%s\": null", key);
    } else {
        perftrace__strbuf_printf(out, ", \"%s\": %" PRId64, key, v);
    }
}

static void put_text(perftrace__strbuf_t *out, const char *key, const char *text) {
    perftrace__strbuf_printf(out, ", \"%s\": ", key);
    perftrace__strbuf_json_cstr(out, text);
}

static void put_type(perftrace__strbuf_t *out, perftrace__stream_type_t type) {
    perftrace__strbuf_printf(out, "{\"type\": \"%s\"", types[type]);
}

static void put_end(perftrace__strbuf_t *out) {
    perftrace__strbuf_puts(out, "}\n");
}

static void put_version(perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, ", \"v\": %d", PERFTRACE__STREAM_VERSION);
}

static void put_stream(perftrace__strbuf_t *out, uint64_t stream) {
    perftrace__strbuf_printf(out, ", \"stream\": \"%016" PRIx64 "\"", stream);
}

static void put_key(perftrace__strbuf_t *out, const perftrace__stream_key_t *key) {
    put_version(out);
    put_text(out, "run", key->run);
    put_stream(out, key->stream);
    put_text(out, "kind", key->sessions ? "sessions" : "trace");
    put_text(out, "name", key->name);
    put_number(out, "rank", key->rank);
    put_number(out, "world_size", key->world_size);
    put_text(out, "role", key->role);
    put_text(out, "host", key->host);
    put_number(out, "pid", key->pid);
}

void perftrace__stream_put_hello(perftrace__strbuf_t *out, const char *run, const char *token) {
    put_type(out, PERFTRACE__STREAM_HELLO);
    put_version(out);
    put_text(out, "run", run);
    if (token && token[0]) {
        put_text(out, "token", token);
    }
    put_end(out);
}

void perftrace__stream_put_hello_answer(perftrace__strbuf_t *out, const char *ref) {
    put_type(out, PERFTRACE__STREAM_HELLO);
    put_version(out);
    put_text(out, "ref", ref);
    put_end(out);
}

void perftrace__stream_put_have(perftrace__strbuf_t *out, const perftrace__stream_key_t *key) {
    put_type(out, PERFTRACE__STREAM_HAVE);
    put_key(out, key);
    put_end(out);
}

static void put_place(perftrace__strbuf_t *out, perftrace__stream_type_t type, uint64_t stream,
                      uint64_t offset, bool last) {
    put_type(out, type);
    put_stream(out, stream);
    perftrace__strbuf_printf(out, ", \"offset\": %" PRIu64 ", \"last\": %s", offset,
                             last ? "true" : "false");
    put_end(out);
}

void perftrace__stream_put_have_answer(perftrace__strbuf_t *out, uint64_t stream, uint64_t offset,
                                       bool last) {
    put_place(out, PERFTRACE__STREAM_HAVE, stream, offset, last);
}

void perftrace__stream_put_ack(perftrace__strbuf_t *out, uint64_t stream, uint64_t offset,
                               bool last) {
    put_place(out, PERFTRACE__STREAM_ACK, stream, offset, last);
}

void perftrace__stream_put_data(perftrace__strbuf_t *out, const perftrace__stream_key_t *key,
                                uint64_t offset, uint64_t size, uint64_t packed, uint64_t acked,
                                bool last) {
    put_type(out, PERFTRACE__STREAM_DATA);
    put_key(out, key);
    perftrace__strbuf_printf(out, ", \"offset\": %" PRIu64 ", \"size\": %" PRIu64, offset, size);
    perftrace__strbuf_printf(out, ", \"packed\": %" PRIu64 ", \"acked\": %" PRIu64, packed, acked);
    perftrace__strbuf_printf(out, ", \"last\": %s", last ? "true" : "false");
    put_end(out);
}

void perftrace__stream_put_clock(perftrace__strbuf_t *out, const char *t1) {
    put_type(out, PERFTRACE__STREAM_CLOCK);
    put_text(out, "t1", t1);
    put_end(out);
}

void perftrace__stream_put_clock_answer(perftrace__strbuf_t *out, const char *t1, uint64_t t2,
                                        uint64_t t3, const char *ref) {
    put_type(out, PERFTRACE__STREAM_CLOCK);
    put_text(out, "t1", t1);
    perftrace__strbuf_printf(out, ", \"t2\": \"%" PRIu64 "\", \"t3\": \"%" PRIu64 "\"", t2, t3);
    put_text(out, "ref", ref);
    put_end(out);
}

void perftrace__stream_put_error(perftrace__strbuf_t *out, const char *text) {
    put_type(out, PERFTRACE__STREAM_ERROR);
    put_text(out, "text", text);
    put_end(out);
}

/* ---- names --------------------------------------------------------------------------------------
 */

uint64_t perftrace__stream_id(const void *line, size_t len) {
    const unsigned char *p = line;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ p[i]) * 0x100000001b3u;
    }
    return hash;
}

void perftrace__stream_run_name(const char *run, char ret_name[65]) {
    size_t n = 0;
    for (; run[n] && n < 64; n++) {
        const char c = run[n];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '_';
        ret_name[n] = plain ? c : '_';
    }
    if (n == 0) {
        ret_name[n++] = '_';
    }
    ret_name[n] = '\0';
}

bool perftrace__stream_name_ok(const char *name) {
    if (name[0] == '\0' || name[0] == '.') {
        return false;
    }
    for (const char *p = name; *p; p++) {
        if (*p == '/' || (unsigned char)*p < 0x20 || *p == 0x7f) {
            return false;
        }
    }
    return true;
}
