/* jsonl_encode.c: event lines. SPDX-License-Identifier: MIT
 *
 * The speed of the whole way to the file is decided here: everything that is the same for each
 * event of a site is prepared once, an event costs a few copies and its numbers. */
#include "jsonl_encode.h"

#include "json_digits.h"
#include "json_scan.h"
#include "json_writer.h"

#include <stdlib.h>
#include <string.h>

/* The prepared text of a site, in one allocation: pieces one after the other. */
typedef struct site_text {
    uint32_t head_len;                      /* {"name": "...", "ph": "X", "ts":_ */
    uint32_t mid_len;                       /* , "cat": "...", "args": { */
    uint32_t key_len[PERFTRACE_I_MAX_ARGS]; /* "key":_ with ", " in front but for the first */
    uint32_t room; /* bytes the line needs at most, strings and names excluded */
    uint32_t name_room;
    bool user_step; /* the program gives a global_step itself; so the next two */
    bool user_rank;
    bool user_role;
    char text[];
} site_text_t;

static const char phase_of[] = {
#define X(name, number, phase) [number] = phase[0],
    PERFTRACE_I_KIND_LIST(X)
#undef X
};

static char *put(char *dst, const char *s, size_t len) {
    memcpy(dst, s, len);
    return dst + len;
}

/* Copies prepared text in blocks of 32 bytes: no call, no branch on the length in the common case.
 * Reads and writes up to WIDE - 1 bytes behind the end: prepared text and lines have that room. */
#define WIDE 32u
PT_ALWAYS_INLINE char *put_wide(char *dst, const char *s, size_t len) {
    memcpy(dst, s, WIDE);
    if (len > WIDE) {
        memcpy(dst + WIDE, s + WIDE, WIDE);
        for (size_t i = 2 * WIDE; PT_UNLIKELY(i < len); i += WIDE) {
            memcpy(dst + i, s + i, WIDE);
        }
    }
    return dst + len;
}

#define PUT_LITERAL(dst, literal) put((dst), (literal), sizeof(literal) - 1)

static char *put_head(char *p, const char *name, size_t len, char phase) {
    p = PUT_LITERAL(p, "{\"name\": ");
    p = perftrace__put_json_string(p, name, len);
    p = PUT_LITERAL(p, ", \"ph\": \"");
    *p++ = phase;
    return PUT_LITERAL(p, "\", \"ts\": ");
}

static bool has_arg(const perftrace__site_t *site, const char *name) {
    size_t len = strlen(name);
    for (uint32_t i = 0; i < site->nargs; i++) {
        if (site->args[i].name_len == len && memcmp(site->args[i].name, name, len) == 0) {
            return true;
        }
    }
    return false;
}

static const site_text_t *prepare(const perftrace__site_t *site, size_t closing_len) {
    size_t room = sizeof(site_text_t) + 128 + WIDE +
                  PERFTRACE__JSON_STRING_ROOM((size_t)site->name_len) +
                  PERFTRACE__JSON_STRING_ROOM((size_t)site->category_len);
    for (uint32_t i = 0; i < site->nargs; i++) {
        room += 4 + PERFTRACE__JSON_STRING_ROOM((size_t)site->args[i].name_len);
    }
    site_text_t *t = malloc(room);
    if (!t) {
        return NULL;
    }
    memset(t, 0, sizeof(*t));
    char *p = put_head(t->text, site->name, site->name_len, phase_of[site->kind]);
    t->head_len = (uint32_t)(p - t->text);
    t->user_step = has_arg(site, "global_step");
    /* Session records are made from what the writer says, so there it is said in any case. */
    bool session = perftrace__kind_is_session(site->kind);
    t->user_rank = !session && has_arg(site, "rank");
    t->user_role = !session && has_arg(site, "role");
    char *from = p;
    p = PUT_LITERAL(p, ", \"cat\": ");
    p = perftrace__put_json_string(p, site->category, site->category_len);
    p = PUT_LITERAL(p, ", \"args\": {");
    t->mid_len = (uint32_t)(p - from);
    for (uint32_t i = 0; i < site->nargs; i++) {
        from = p;
        if (i) {
            p = PUT_LITERAL(p, ", ");
        }
        p = perftrace__put_json_string(p, site->args[i].name, site->args[i].name_len);
        p = PUT_LITERAL(p, ": ");
        t->key_len[i] = (uint32_t)(p - from);
    }
    /* Numbers, pid, tid, step, id, punctuation. */
    t->room =
        (uint32_t)((size_t)(p - t->text) + 512 + site->nargs * PERFTRACE__DOUBLE_MAX + closing_len);
    /* Shrinks; on failure the larger block stays. */
    memset(p, 0, WIDE);
    site_text_t *small = realloc(t, sizeof(*t) + (size_t)(p - t->text) + WIDE);
    ((perftrace__site_t *)(uintptr_t)site)->cache = small ? small : t;
    return small ? small : t;
}

static char *put_arg(char *p, uint32_t type, uint64_t word, bool counter) {
    double d;
    switch (type) {
    case PERFTRACE_I_TYPE_I64:
        if (PT_UNLIKELY((int64_t)word < 0)) {
            *p++ = '-';
            word = 0 - word;
        }
        return perftrace__put_digits(p, word);
    case PERFTRACE_I_TYPE_U64:
        return perftrace__put_digits(p, word);
    case PERFTRACE_I_TYPE_F64:
        memcpy(&d, &word, sizeof(d));
        return perftrace__put_double(p, d, counter);
    default:
        return word ? PUT_LITERAL(p, "true") : PUT_LITERAL(p, "false");
    }
}

/* Bytes that the strings of an event can need. */
static size_t string_room(const perftrace__event_t *ev) {
    size_t room = 0;
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < ev->nargs && arg; i++) {
        const char *str = NULL;
        uint32_t len = 0;
        arg = perftrace__arg_next(arg, ev->args_end, ev->site->args[i].type, &str, &len);
        room += PERFTRACE__JSON_STRING_ROOM((size_t)len);
    }
    return room;
}

/* Whether the text of a JSON argument may stand in a line as it is: it may have been cut, or never
 * have been JSON. Line feeds between its parts would end the line. */
static PT_COLD bool is_one_value(const char *text, size_t len) {
    return !memchr(text, '\n', len) && perftrace__json_check(text, len, NULL, NULL);
}

/* The argument at *arg, which moves on. */
PT_ALWAYS_INLINE char *put_value(char *p, const perftrace__event_t *ev, uint32_t type,
                                 const uint64_t **arg) {
    if (!PERFTRACE_I_TYPE_HAS_BYTES(type)) {
        return put_arg(p, type, *(*arg)++, ev->kind == PERFTRACE_I_KIND_COUNTER);
    }
    const char *str = NULL;
    uint32_t len = 0;
    *arg = perftrace__arg_next(*arg, ev->args_end, type, &str, &len);
    if (PT_UNLIKELY(type == PERFTRACE_I_TYPE_JSON && str && is_one_value(str, len))) {
        return put(p, str, len);
    }
    return str ? perftrace__put_json_string(p, str, len) : PUT_LITERAL(p, "null");
}

static char *put_args(char *p, const perftrace__event_t *ev, const site_text_t *t) {
    const char *key = t->text + t->head_len + t->mid_len;
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < ev->nargs; i++) {
        p = put_wide(p, key, t->key_len[i]);
        key += t->key_len[i];
        p = put_value(p, ev, ev->site->args[i].type, &arg);
    }
    return p;
}

static PT_COLD void prepare_thread(perftrace__jsonl_t *j, uint32_t tid) {
    char *q = PUT_LITERAL(j->thread_text, ", \"pid\": ");
    q = perftrace__put_u64(q, j->pid);
    q = PUT_LITERAL(q, ", \"tid\": ");
    q = perftrace__put_u64(q, tid);
    j->thread_len = (size_t)(q - j->thread_text);
    j->thread_tid = tid;
}

PT_ALWAYS_INLINE char *put_thread(perftrace__jsonl_t *j, char *p, uint32_t tid) {
    if (PT_UNLIKELY(tid != j->thread_tid || j->thread_len == 0)) {
        prepare_thread(j, tid);
    }
    return put_wide(p, j->thread_text, j->thread_len);
}

/* A time in microseconds. Neighbouring times share all digits but the last four before the point
 * for 10 ms, so those before are kept as text. */
PT_ALWAYS_INLINE char *put_time(perftrace__jsonl_t *j, char *p, uint64_t ns) {
    uint64_t us = ns / 1000;
    uint64_t high = us / 10000;
    if (PT_UNLIKELY(high != j->time_high || high == 0)) {
        if (high == 0) {
            return perftrace__put_micros(p, ns);
        }
        j->time_len = (size_t)(perftrace__put_u64(j->time_text, high) - j->time_text);
        j->time_high = high;
    }
    memcpy(p, j->time_text, sizeof(j->time_text));
    p += j->time_len;
    uint32_t low = (uint32_t)(us - high * 10000);
    memcpy(p, perftrace__digit_pairs + 2 * (size_t)(low / 100), 2);
    memcpy(p + 2, perftrace__digit_pairs + 2 * (size_t)(low % 100), 2);
    memcpy(p + 4, perftrace__decimals[ns - us * 1000], 4);
    return p + 8;
}

static char *put_id(char *p, uint64_t id) {
    /* Text in hexadecimal: readers keep all 64 bits, which a number in JavaScript would lose. */
    static const char hex[] = "0123456789abcdef";
    p = PUT_LITERAL(p, ", \"id\": \"0x");
    int shift = 60;
    while (shift > 0 && !(id >> shift & 15)) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        *p++ = hex[id >> shift & 15];
    }
    *p++ = '"';
    return p;
}

static char *put_tail(char *p, const perftrace__event_t *ev) {
    switch (ev->kind) {
    case PERFTRACE_I_KIND_INSTANT:
        return PUT_LITERAL(p, ", \"s\": \"t\"}\n");
    case PERFTRACE_I_KIND_FLOW_END:
        p = put_id(p, ev->id);
        return PUT_LITERAL(p, ", \"bp\": \"e\"}\n");
    case PERFTRACE_I_KIND_SCOPE:
    case PERFTRACE_I_KIND_COUNTER:
        return PUT_LITERAL(p, "}\n");
    default:
        p = put_id(p, ev->id);
        return PUT_LITERAL(p, "}\n");
    }
}

/* The common scope: nothing but numbers, a name of the site's own. The text around the numbers is
 * all prepared, so a line is four block copies and its digits. */
static bool is_common_scope(const perftrace__event_t *ev) {
    return ev->kind == PERFTRACE_I_KIND_SCOPE && ev->flags == 0 && !ev->site->has_strings &&
           ev->name == ev->site->name;
}

/* Prepares what ends a scope's line; false without memory. */
static bool prepare_scope_end(perftrace__jsonl_t *j, bool has_step, int64_t step) {
    perftrace__strbuf_t *b = &j->scope_end;
    perftrace__strbuf_clear(b);
    if (has_step) {
        perftrace__strbuf_printf(b, ", \"global_step\": %lld", (long long)step);
    }
    if (j->closing_len) {
        perftrace__strbuf_puts(b, ", ");
        perftrace__strbuf_append(b, j->closing, j->closing_len);
    }
    perftrace__strbuf_puts(b, "}}\n");
    j->scope_end_step = step;
    j->scope_end_has_step = has_step;
    return perftrace__strbuf_reserve(b, 2 * WIDE);
}

static bool put_common_scope(perftrace__jsonl_t *j, const perftrace__event_t *ev,
                             const site_text_t *t) {
    bool has_step = ev->has_step && !t->user_step;
    if (PT_UNLIKELY(j->scope_end.len == 0 || has_step != j->scope_end_has_step ||
                    (has_step && ev->step != j->scope_end_step)) &&
        !prepare_scope_end(j, has_step, ev->step)) {
        return false;
    }
    if (PT_UNLIKELY(j->out.len + t->room >= j->out.cap) &&
        !perftrace__strbuf_reserve(&j->out, t->room)) {
        return false;
    }
    char *p = put_wide(j->out.data + j->out.len, t->text, t->head_len);
    p = put_time(j, p, ev->start);
    p = PUT_LITERAL(p, ", \"dur\": ");
    /* Viewers drop complete events without a length. */
    p = perftrace__put_micros(p, ev->end > ev->start ? ev->end - ev->start : 1);
    p = put_thread(j, p, ev->tid);
    p = put_wide(p, t->text + t->head_len, t->mid_len);
    const char *end = j->scope_end.data;
    size_t end_len = j->scope_end.len;
    if (ev->nargs) {
        p = put_args(p, ev, t);
    } else if (*end == ',') {
        end += 2; /* nothing stands before it */
        end_len -= 2;
    }
    p = put_wide(p, end, end_len);
    *p = '\0'; /* as the buffer promises */
    j->out.len = (size_t)(p - j->out.data);
    return true;
}

/* Rank and role, where the event has none of its own: a key never stands twice. */
static char *put_closing(char *p, bool first, const perftrace__jsonl_t *j, const site_text_t *t) {
    const char *from = j->closing, *end = j->closing + j->closing_len;
    if (PT_UNLIKELY(t->user_rank && j->closing_rank > 0)) {
        from += PT_MIN(j->closing_rank + 2, j->closing_len); /* and the comma */
    }
    if (PT_UNLIKELY(t->user_role)) {
        end = PT_MAX(from, j->closing + j->closing_rank);
    }
    if (from < end) {
        p = first ? p : PUT_LITERAL(p, ", ");
        p = put_wide(p, from, (size_t)(end - from));
    }
    return p;
}

static bool put_line(perftrace__jsonl_t *j, const perftrace__event_t *ev, const char *special) {
    const site_text_t *t = ev->site->cache ? ev->site->cache : prepare(ev->site, j->closing_len);
    if (!t) {
        j->out.failed = true;
        return false;
    }
    size_t room = t->room;
    bool renamed = ev->name != ev->site->name;
    if (PT_UNLIKELY(ev->site->has_strings || renamed || special)) {
        room += string_room(ev) + PERFTRACE__JSON_STRING_ROOM((size_t)ev->name_len) + 64;
    }
    if (PT_UNLIKELY(j->out.len + room >= j->out.cap) && !perftrace__strbuf_reserve(&j->out, room)) {
        return false;
    }
    char *p = j->out.data + j->out.len;
    if (PT_UNLIKELY(renamed || special)) {
        p = put_head(p, ev->name, ev->name_len, special ? 'B' : phase_of[ev->kind]);
    } else {
        p = put_wide(p, t->text, t->head_len);
        if (ev->kind != ev->site->kind) {
            /* The end of a phase under the site of its begin: another letter, the rest is same. */
            p[-(ptrdiff_t)sizeof("\", \"ts\": ")] = phase_of[ev->kind];
        }
    }
    bool phase_end = ev->kind == PERFTRACE_I_KIND_PHASE_END;
    p = put_time(j, p, phase_end ? ev->end : ev->start);
    if (ev->kind == PERFTRACE_I_KIND_SCOPE && !special) {
        p = PUT_LITERAL(p, ", \"dur\": ");
        /* Viewers drop complete events without a length. */
        uint64_t dur = ev->end > ev->start ? ev->end - ev->start : 1;
        p = perftrace__put_micros(p, dur);
    }
    p = put_thread(j, p, ev->tid);
    p = put_wide(p, t->text + t->head_len, t->mid_len);
    char *args = p;
    p = put_args(p, ev, t);
    if (phase_end) {
        /* Tells parallel spans of a phase apart: the `ts` of the begin. Behind the payload, which
         * may have one, too: of a key that comes twice readers take the last. */
        p = p == args ? p : PUT_LITERAL(p, ", ");
        p = PUT_LITERAL(p, "\"began\": ");
        p = perftrace__put_micros(p, ev->start);
    }
    if (ev->has_step && !t->user_step) {
        p = p == args ? p : PUT_LITERAL(p, ", ");
        p = PUT_LITERAL(p, "\"global_step\": ");
        p = perftrace__put_i64(p, ev->step);
    }
    if (PT_UNLIKELY(special != NULL)) {
        p = p == args ? p : PUT_LITERAL(p, ", ");
        p = put(p, special, strlen(special));
    }
    if (PT_UNLIKELY(ev->flags & PERFTRACE_I_RECORD_FORKED)) {
        p = p == args ? p : PUT_LITERAL(p, ", ");
        p = PUT_LITERAL(p, "\"forked\": true");
    }
    /* Counters carry numbers only: each key would become a series. */
    if (ev->kind != PERFTRACE_I_KIND_COUNTER) {
        p = put_closing(p, p == args, j, t);
    }
    *p++ = '}';
    p = put_tail(p, ev);
    *p = '\0'; /* as the buffer promises */
    j->out.len = (size_t)(p - j->out.data);
    return true;
}

bool perftrace__jsonl_event(perftrace__jsonl_t *j, const perftrace__event_t *ev) {
    const site_text_t *t = ev->site->cache;
    if (PT_LIKELY(t && !(t->user_rank | t->user_role) && is_common_scope(ev))) {
        return put_common_scope(j, ev, t);
    }
    return put_line(j, ev, NULL);
}

void perftrace__jsonl_unfinished(perftrace__jsonl_t *j, const perftrace__event_t *ev) {
    perftrace__event_t bare = *ev;
    bare.nargs = 0; /* arguments are in the program's frame, not in the ring */
    put_line(j, &bare, "\"unfinished\": true");
}

bool perftrace__jsonl_members(perftrace__strbuf_t *out, const perftrace__event_t *ev) {
    size_t room = string_room(ev) + 16;
    for (uint32_t i = 0; i < ev->nargs; i++) {
        room += 8 + PERFTRACE__DOUBLE_MAX +
                PERFTRACE__JSON_STRING_ROOM((size_t)ev->site->args[i].name_len);
    }
    if (!perftrace__strbuf_reserve(out, room)) {
        return false;
    }
    char *p = out->data + out->len;
    const uint64_t *arg = ev->args;
    for (uint32_t i = 0; i < ev->nargs; i++) {
        const perftrace__site_arg_t *key = &ev->site->args[i];
        p = i ? PUT_LITERAL(p, ", ") : p;
        p = perftrace__put_json_string(p, key->name, key->name_len);
        p = PUT_LITERAL(p, ": ");
        p = put_value(p, ev, key->type, &arg);
    }
    *p = '\0'; /* as the buffer promises */
    out->len = (size_t)(p - out->data);
    return true;
}
