/* trace_source.c: what a trace file is and who wrote it. SPDX-License-Identifier: MIT */
#include "trace_source.h"

#include <stdlib.h>

static const char ring_magic[] = "PTRING01";
static const char header_name[] = "perftrace_header";

void pt_source_init(pt_source_t *s) {
    memset(s, 0, sizeof *s);
#define PT_I_SOURCE_UNSET(name) s->name = -1;
    PT_SOURCE_INT_LIST(PT_I_SOURCE_UNSET)
#undef PT_I_SOURCE_UNSET
}

void pt_source_free(pt_source_t *s) {
    if (s != NULL) {
#define PT_I_SOURCE_FREE(name) free(s->name);
        PT_SOURCE_TEXT_LIST(PT_I_SOURCE_FREE)
#undef PT_I_SOURCE_FREE
    }
}

static void take_text(char **field, const perftrace__json_slice_t *value) {
    char *text =
        value->type == PERFTRACE__JSON_STRING && value->len > 0 ? malloc(value->len + 1) : NULL;
    if (text != NULL) {
        text[perftrace__json_decode(value, text)] = '\0';
        free(*field);
        *field = text;
    }
}

bool pt_source_take_header(pt_source_t *s, const perftrace__json_slice_t *args) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    perftrace__json_cursor_init(&c, args->p, args->len);
    if (args->type != PERFTRACE__JSON_OBJECT || !perftrace__json_enter_object(&c)) {
        return false;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        if (perftrace__json_is(&key, "rank")) {
            s->has_rank =
                perftrace__json_to_i64(&value, &s->rank) && s->rank >= 0 && s->rank <= INT32_MAX;
        } else if (perftrace__json_is(&key, "epoch_ns")) {
            s->has_epoch = perftrace__json_to_i64(&value, &s->epoch_ns);
        } else if (perftrace__json_is(&key, "mono_ns")) {
            s->has_mono = perftrace__json_to_i64(&value, &s->mono_ns);
        } else if (perftrace__json_is(&key, "start_ns")) {
            perftrace__json_to_i64(&value, &s->start_ns);
        } else if (perftrace__json_is(&key, "pid")) {
            perftrace__json_to_i64(&value, &s->pid);
        }
#define PT_I_SOURCE_INT(name)                                                                      \
    else if (perftrace__json_is(&key, #name)) {                                                    \
        perftrace__json_to_i64(&value, &s->name);                                                  \
    }
#define PT_I_SOURCE_TEXT(name)                                                                     \
    else if (perftrace__json_is(&key, #name)) {                                                    \
        take_text(&s->name, &value);                                                               \
    }
        PT_SOURCE_INT_LIST(PT_I_SOURCE_INT)
        PT_SOURCE_TEXT_LIST(PT_I_SOURCE_TEXT)
#undef PT_I_SOURCE_INT
#undef PT_I_SOURCE_TEXT
    }
    return true;
}

/* Whatever the blanks and the order of members: files pass through other writers of JSON. */
static bool line_is_header(const char *p, size_t len, perftrace__json_slice_t *ret_args) {
    perftrace__json_slice_t line = {p, len, PERFTRACE__JSON_OBJECT, false, 0}, name;
    return *p == '{' && memmem(p, len, header_name, sizeof header_name - 1) != NULL &&
           perftrace__json_find(&line, "name", &name) &&
           perftrace__json_equal(&name, header_name, sizeof header_name - 1) &&
           perftrace__json_find(&line, "args", ret_args);
}

/* Finds the header among the first lines: a damaged line may stand before it. */
static bool find_header(pt_source_t *s, const char *p, const char *end) {
    while ((size_t)(end - p) > sizeof header_name) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((stop != NULL ? stop : end) - p);
        perftrace__json_slice_t args;
        if (len > sizeof header_name && line_is_header(p, len, &args)) {
            return pt_source_take_header(s, &args);
        }
        if (stop == NULL) {
            return false;
        }
        p = stop + 1;
    }
    return false;
}

static bool line_is_event(const char *p, size_t len) {
    perftrace__json_slice_t line = {p, len, PERFTRACE__JSON_OBJECT, false, 0}, ph;
    return len > 0 && memchr(p, '{', len) != NULL && perftrace__json_check(p, len, NULL, NULL) &&
           perftrace__json_find(&line, "ph", &ph) && ph.type == PERFTRACE__JSON_STRING;
}

static bool any_line_is_event(const char *p, const char *end) {
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (line_is_event(p, (size_t)((stop != NULL ? stop : end) - p))) {
            return true;
        }
        p = stop != NULL ? stop + 1 : end;
    }
    return false;
}

/* Whether the object at p begins with this key. */
static bool first_key_is(const char *p, size_t len, const char *key) {
    size_t at = 1, key_len = strlen(key);
    while (at < len && (p[at] == ' ' || p[at] == '\n' || p[at] == '\r' || p[at] == '\t')) {
        at++;
    }
    return len - at > key_len + 2 && p[at] == '"' && memcmp(p + at + 1, key, key_len) == 0 &&
           p[at + 1 + key_len] == '"';
}

/* What the first object says: a trace object, an event, or something else. */
static pt_shape_t first_object(const char *p, size_t len, bool whole) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    static const char *const event_keys[] = {"name", "ph",  "ts", "pid", "tid",
                                             "cat",  "dur", "id", "args"};
    bool event = false;
    int more;
    perftrace__json_cursor_init(&c, p, len);
    if (!perftrace__json_enter_object(&c)) {
        return PT_SHAPE_NONE;
    }
    /* By its first key, whose value may go on behind the peek. */
    for (size_t i = 0; i < PT_ARRAY_LEN(event_keys); i++) {
        event |= first_key_is(p, len, event_keys[i]);
    }
    while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (perftrace__json_is(&key, "traceEvents")) {
            return PT_SHAPE_OBJECT;
        }
    }
    if (more == 0) {
        /* A whole object. More objects behind it make lines. */
        return event || !perftrace__json_at_end(&c) ? PT_SHAPE_LINES : PT_SHAPE_NONE;
    }
    /* It goes on behind the peek, or is damaged: traceEvents may be what it stopped in. */
    if (memmem(p, len, "\"traceEvents\"", 13) != NULL) {
        return PT_SHAPE_OBJECT;
    }
    return event ? PT_SHAPE_LINES : whole ? PT_SHAPE_NONE : PT_SHAPE_OBJECT;
}

size_t pt_source_blank(const char *data, size_t len) {
    size_t i = 0;
    while (i < len && (data[i] == '\0' || data[i] == ' ' || data[i] == '\n' || data[i] == '\r' ||
                       data[i] == '\t')) {
        i++;
    }
    return i;
}

static bool skip_to_text(const char **p, const char *end) {
    if (end - *p >= 3 && memcmp(*p, "\xEF\xBB\xBF", 3) == 0) {
        *p += 3;
    }
    *p += pt_source_blank(*p, (size_t)(end - *p));
    return *p < end;
}

void pt_source_sniff(pt_source_t *s, const char *data, size_t len, bool whole) {
    const char *p = data, *end = data + len;
    s->shape = PT_SHAPE_NONE;
    if (len >= 8 && memcmp(data, ring_magic, 8) == 0) {
        s->shape = PT_SHAPE_RING;
        return;
    }
    if (len >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0)) {
        s->why = "it is UTF-16 text; traces are UTF-8";
        return;
    }
    if (!skip_to_text(&p, end)) {
        s->why = len == 0 ? "it is empty" : "it holds nothing but blanks or NUL bytes";
        return;
    }
    s->ours = find_header(s, data, end);
    if (s->ours || any_line_is_event(data, end)) {
        s->shape = PT_SHAPE_LINES;
    }
    if (!s->ours && *p == '[') {
        size_t skip = 1 + perftrace__json_skip_separators(p + 1, (size_t)(end - p) - 1);
        if (p + skip >= end || p[skip] == '{' || p[skip] == ']') {
            s->shape = PT_SHAPE_ARRAY;
        }
    } else if (!s->ours && *p == '{') {
        pt_shape_t shape = first_object(p, (size_t)(end - p), whole);
        s->shape = shape == PT_SHAPE_OBJECT || s->shape == PT_SHAPE_NONE ? shape : s->shape;
    }
    if (s->shape == PT_SHAPE_NONE) {
        s->why = *p == '{' || *p == '[' ? "it is JSON but holds no trace events"
                                        : "it is no trace in a form known here";
    }
}
