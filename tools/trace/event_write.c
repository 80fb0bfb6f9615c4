/* event_write.c: events as lines of a Chrome trace. SPDX-License-Identifier: MIT */
#include "event_write.h"

#include "json_digits.h"
#include "json_writer.h"

PT_ALWAYS_INLINE char *put_mem(char *dst, const char *p, size_t len) {
    memcpy(dst, p, len);
    return dst + len;
}
/* For short texts: copies sixteen bytes at a time, up to 15 behind the end of both. */
PT_ALWAYS_INLINE char *put_short(char *dst, const char *p, size_t len) {
    for (size_t i = 0; i < len; i += 16) {
        memcpy(dst + i, p + i, 16);
    }
    return dst + len;
}
#define PUT_LITERAL(dst, literal) put_mem((dst), "" literal, sizeof(literal) - 1)

static char *put_member(char *dst, const char *key, size_t key_len, pt_str_t value) {
    if (value.len == 0) {
        return dst;
    }
    dst = put_mem(dst, key, key_len);
    return put_mem(dst, value.p, value.len);
}
#define PUT_MEMBER(dst, key, value) put_member((dst), ", \"" key "\": ", sizeof(key) + 5, (value))

void pt_track_text_set(pt_track_text_t *text, uint32_t pid, uint32_t tid) {
    char *p = PUT_LITERAL(text->text, ", \"pid\": ");
    p = perftrace__put_u64(p, pid);
    p = PUT_LITERAL(p, ", \"tid\": ");
    p = perftrace__put_u64(p, tid);
    text->len = (unsigned)(p - text->text);
}

/* Foreign members may break over lines (torch indents its args). Between tokens any white space is
 * as good as a blank, within strings JSON has no line end: each event stays on one line. */
static PT_NOINLINE char *join_lines(char *line, const char *end) {
    char *dst = memchr(line, '\n', (size_t)(end - line));
    for (const char *p = dst; p < end;) {
        if (*p != '\n' && *p != '\r') {
            *dst++ = *p++;
            continue;
        }
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
            p++;
        }
        *dst++ = ' ';
    }
    return dst;
}

void pt_event_put(perftrace__strbuf_t *out, const pt_put_t *put) {
    size_t need = put->name.len + put->cat.len + put->args.len + put->id.len + put->s.len +
                  put->scope.len + put->rest.len + put->track->len + 256;
    if (!perftrace__strbuf_reserve(out, need)) {
        return;
    }
    char *line = out->data + out->len;
    char *p = PUT_LITERAL(line, "{\"name\": ");
    p = put_mem(p, put->name.p, put->name.len);
    p = PUT_LITERAL(p, ", \"ph\": \"");
    *p++ = put->ph;
    *p++ = '"';
    if (put->ph == 'X') {
        p = PUT_LITERAL(p, ", \"ts\": ");
        p = pt_scope_put_start(p, put->ts, put->touch);
        p = PUT_LITERAL(p, ", \"dur\": ");
        p = pt_scope_put_dur(p, put->ts, put->ts + put->dur, put->touch);
    } else if (put->ph != 'M') {
        p = PUT_LITERAL(p, ", \"ts\": ");
        p = perftrace__put_micros(p, (uint64_t)put->ts);
    }
    p = put_mem(p, put->track->text, put->track->len);
    p = PUT_MEMBER(p, "cat", put->cat);
    if (put->has_number) {
        p = PUT_LITERAL(p, ", \"id\": ");
        p = perftrace__put_u64(p, put->number);
    } else {
        p = PUT_MEMBER(p, "id", put->id);
    }
    p = PUT_MEMBER(p, "scope", put->scope);
    if (put->bind_enclosing) {
        p = PUT_LITERAL(p, ", \"bp\": \"e\"");
    }
    p = PUT_MEMBER(p, "args", put->args);
    p = PUT_MEMBER(p, "s", put->s);
    if (put->rest.len > 0) {
        p = put_mem(p, put->rest.p, put->rest.len);
    }
    if (memchr(line, '\n', (size_t)(p - line)) != NULL) {
        p = join_lines(line, p);
    }
    p = PUT_LITERAL(p, "},\n");
    *p = '\0'; /* as the buffer promises */
    out->len = (size_t)(p - out->data);
}

void pt_event_put_verbatim(perftrace__strbuf_t *out, const pt_event_t *ev,
                           const pt_track_text_t *track, int64_t ts, int64_t dur, bool new_dur,
                           pt_touch_t touch) {
    size_t need = ev->head.len + ev->tail.len + ev->dur_text.len + 192;
    if (PT_UNLIKELY(out->cap - out->len <= need) && !perftrace__strbuf_reserve(out, need)) {
        return;
    }
    char *p = put_short(out->data + out->len, ev->head.p, ev->head.len);
    if (ev->ph != 'X') {
        p = perftrace__put_micros(p, (uint64_t)ts);
    } else if (!new_dur && pt_touch_is_none(touch)) {
        p = perftrace__put_micros(p, (uint64_t)ts);
        p = put_short(p, ev->dur_text.p - 9, ev->dur_text.len + 9); /* with `, "dur": ` */
    } else {
        p = pt_scope_put_start(p, ts, touch);
        p = PUT_LITERAL(p, ", \"dur\": ");
        p = pt_scope_put_dur(p, ts, ts + dur, touch);
    }
    memcpy(p, track->text, sizeof track->text);
    p += track->len;
    p = put_mem(p, ev->tail.p, ev->tail.len);
    p = PUT_LITERAL(p, ",\n");
    *p = '\0'; /* as the buffer promises */
    out->len = (size_t)(p - out->data);
}
