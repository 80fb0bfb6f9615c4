/* collect_wire.c: messages out of a stream of bytes. SPDX-License-Identifier: MIT */
#include "collect_wire.h"

/* A body's memory up to this size is kept for the next one. */
#define KEPT_BYTES 16384u

static pt_collect_wire_found_t garbage(pt_collect_wire_t *w, const char *problem) {
    w->broken = true;
    w->problem = problem;
    return PT_COLLECT_WIRE_GARBAGE;
}

static pt_collect_wire_found_t end_line(pt_collect_wire_t *w) {
    if (!perftrace__stream_parse(w->line, w->line_len, &w->message, &w->problem)) {
        w->broken = true;
        return PT_COLLECT_WIRE_GARBAGE;
    }
    w->in_body = w->message.type == PERFTRACE__STREAM_DATA && w->message.packed > 0;
    w->complete = !w->in_body;
    return w->complete ? PT_COLLECT_WIRE_MESSAGE : PT_COLLECT_WIRE_MORE;
}

/* Bytes of the line up to its end. */
static pt_collect_wire_found_t feed_line(pt_collect_wire_t *w, const char *data, size_t len,
                                         size_t *used) {
    const char *eol = memchr(data, '\n', len);
    size_t take = eol != NULL ? (size_t)(eol - data) + 1 : len;
    if (w->line_len == 0 && data[0] != '{') {
        return garbage(w, "bytes that begin no message");
    }
    if (take > sizeof w->line - w->line_len) {
        return garbage(w, "a line that is too long");
    }
    memcpy(w->line + w->line_len, data, take);
    w->line_len += take;
    *used += take;
    return eol != NULL ? end_line(w) : PT_COLLECT_WIRE_MORE;
}

static pt_collect_wire_found_t feed_body(pt_collect_wire_t *w, const char *data, size_t len,
                                         size_t *used) {
    size_t take = PT_MIN(len, (size_t)w->message.packed - w->body.len);
    perftrace__strbuf_append(&w->body, data, take);
    if (w->body.failed) {
        w->broken = true;
        return PT_COLLECT_WIRE_NO_MEMORY;
    }
    *used += take;
    w->complete = w->body.len == w->message.packed;
    return w->complete ? PT_COLLECT_WIRE_MESSAGE : PT_COLLECT_WIRE_MORE;
}

pt_collect_wire_found_t pt_collect_wire_feed(pt_collect_wire_t *w, const char *data, size_t len,
                                             size_t *ret_used) {
    pt_collect_wire_found_t found = PT_COLLECT_WIRE_MORE;
    *ret_used = 0;
    if (w->broken) {
        return PT_COLLECT_WIRE_GARBAGE;
    }
    if (w->complete) {
        perftrace__strbuf_clear(&w->body);
        w->line_len = 0;
        w->in_body = w->complete = false;
    }
    while (found == PT_COLLECT_WIRE_MORE && *ret_used < len) {
        found = w->in_body ? feed_body(w, data + *ret_used, len - *ret_used, ret_used)
                           : feed_line(w, data + *ret_used, len - *ret_used, ret_used);
    }
    return found;
}

size_t pt_collect_wire_held(const pt_collect_wire_t *w) {
    return w->body.cap;
}

void pt_collect_wire_trim(pt_collect_wire_t *w) {
    if (w->body.cap > KEPT_BYTES) {
        perftrace__strbuf_free(&w->body);
    } else {
        perftrace__strbuf_clear(&w->body);
    }
    w->complete = w->in_body = false;
    w->line_len = 0;
}

void pt_collect_wire_free(pt_collect_wire_t *w) {
    perftrace__strbuf_free(&w->body);
}
