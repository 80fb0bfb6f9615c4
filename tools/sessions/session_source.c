/* session_source.c: whether a file holds sessions, and how. SPDX-License-Identifier: MIT */
#include "session_source.h"

#include "json_scan.h"
#include "json_split.h"

static const char ring_magic[] = "PTRING01";

typedef enum object_kind { OBJECT_OTHER, OBJECT_SESSION, OBJECT_EVENT } object_kind_t;

static object_kind_t kind_of(const perftrace__json_slice_t *object) {
    perftrace__json_slice_t found;
    if (object->type != PERFTRACE__JSON_OBJECT) {
        return OBJECT_OTHER;
    }
    if (perftrace__json_find(object, "session_id", &found)) {
        return OBJECT_SESSION;
    }
    return perftrace__json_find(object, "ph", &found) ||
                   perftrace__json_find(object, "traceEvents", &found)
               ? OBJECT_EVENT
               : OBJECT_OTHER;
}

static object_kind_t kind_of_line(const char *p, size_t len) {
    perftrace__json_slice_t line = {p, len, PERFTRACE__JSON_OBJECT, false, 0};
    perftrace__json_cursor_t c;
    perftrace__json_cursor_init(&c, p, len);
    /* The first value is enough: two records on one line are a line of records. */
    return perftrace__json_next_value(&c, &line) > 0 ? kind_of(&line) : OBJECT_OTHER;
}

/* Whether a line is a session; *ret_event: whether one is an event. */
static bool any_line(const char *p, const char *end, bool *ret_event) {
    *ret_event = false;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        object_kind_t kind = kind_of_line(p, (size_t)((stop != NULL ? stop : end) - p));
        if (kind == OBJECT_SESSION) {
            return true;
        }
        *ret_event |= kind == OBJECT_EVENT;
        p = stop != NULL ? stop + 1 : end;
    }
    return false;
}

static bool skip_to_text(const char **p, const char *end) {
    if (end - *p >= 3 && memcmp(*p, "\xEF\xBB\xBF", 3) == 0) {
        *p += 3;
    }
    while (*p < end && (**p == '\0' || **p == ' ' || **p == '\n' || **p == '\r' || **p == '\t')) {
        (*p)++;
    }
    return *p < end;
}

/* A document that begins at p with a bracket, none of whose lines is a record. */
static pt_session_source_t sniff_document(const char *p, const char *end) {
    static const char events_key[] = "\"traceEvents\"";
    pt_session_source_t s = {PT_SESSIONS_LINES, false, NULL};
    const char *feed = memchr(p, '\n', (size_t)(end - p));
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    bool array = *p == '[';
    perftrace__json_cursor_init(&c, p, (size_t)(end - p));
    int got =
        array ? (perftrace__json_enter_array(&c) ? perftrace__json_next_element(&c, &value) : -1)
              : perftrace__json_next_value(&c, &value);
    object_kind_t kind = got > 0 ? kind_of(&value) : OBJECT_OTHER;
    s.sure = kind == OBJECT_SESSION;
    if (kind == OBJECT_EVENT ||
        (!s.sure && memmem(p, (size_t)(end - p), events_key, sizeof events_key - 1) != NULL)) {
        s.shape = PT_SESSIONS_TRACE;
    } else if (array) {
        s.shape = PT_SESSIONS_VALUES;
    } else if (feed != NULL) {
        /* Up to where it is sound: does that take in anything of its second line? */
        const char *sound = got > 0 ? value.p + value.len : p + c.error.offset;
        feed += perftrace__json_skip_separators(feed, (size_t)(end - feed));
        s.shape = sound > feed ? PT_SESSIONS_VALUES : PT_SESSIONS_LINES;
    }
    return s;
}

/* An array of objects, or what can be one; a line that is an array of something else is not. */
static bool begins_list(const char *p, const char *end) {
    if (*p++ != '[') {
        return false;
    }
    p += perftrace__json_skip_separators(p, (size_t)(end - p));
    return p == end || *p == '{' || *p == ']';
}

pt_session_source_t pt_session_sniff(const char *data, size_t len, bool whole) {
    const char *p = data, *end = data + len;
    pt_session_source_t s = {PT_SESSIONS_NONE, false, NULL};
    bool event;
    if (len >= 8 && memcmp(data, ring_magic, 8) == 0) {
        s.shape = PT_SESSIONS_RING;
        return s;
    }
    if (len >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0)) {
        s.why = "it is UTF-16 text; sessions are UTF-8";
        return s;
    }
    bool text = skip_to_text(&p, end);
    if (text && begins_list(p, end)) {
        return sniff_document(p, end);
    }
    if (any_line(data, end, &event)) {
        s.shape = PT_SESSIONS_LINES;
        s.sure = true;
        return s;
    }
    if (!text) {
        s.shape = whole ? PT_SESSIONS_NONE : PT_SESSIONS_LINES;
        s.why = len == 0 ? "it is empty" : "it holds nothing but blanks or NUL bytes";
        return s;
    }
    if (event) {
        s.shape = PT_SESSIONS_TRACE;
        return s;
    }
    if (*p == '[' || *p == '{') {
        return sniff_document(p, end);
    }
    s.shape = whole ? PT_SESSIONS_NONE : PT_SESSIONS_LINES;
    s.why = "no session record is in it";
    return s;
}

static bool ends_with(const char *name, size_t len, const char *end) {
    size_t n = strlen(end);
    return len > n && memcmp(name + len - n, end, n) == 0;
}

bool pt_session_file_wanted(const char *name, bool *ret_sure) {
    size_t len = strlen(name);
    len -= ends_with(name, len, ".gz") ? 3 : 0;
    if (ret_sure != NULL) {
        *ret_sure = strncmp(name, "sessions", 8) == 0;
    }
    return ends_with(name, len, ".jsonl") || ends_with(name, len, ".json");
}
