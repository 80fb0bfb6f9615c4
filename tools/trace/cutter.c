/* cutter.c: from chunks of a file to its records. SPDX-License-Identifier: MIT */
#include "cutter.h"

#include "event_fast.h"

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

enum {
    STATE_START, /* before the outer bracket */
    STATE_KEY,   /* of the outer object */
    STATE_COLON,
    STATE_VALUE,
    STATE_EVENTS, /* in the array of events */
    STATE_AFTER   /* behind the outer bracket */
};

static uint64_t count_lines(const char *p, const char *end) {
    uint64_t n = 0;
#if defined(__SSE2__)
    const __m128i newline = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
    while (end - p >= 16) {
        __m128i seen = zero; /* how often in each place, up to 255 */
        for (unsigned i = 0; i < 255 && end - p >= 16; i++, p += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
            seen = _mm_sub_epi8(seen, _mm_cmpeq_epi8(v, newline));
        }
        __m128i sums = _mm_sad_epu8(seen, zero);
        n += (uint64_t)_mm_cvtsi128_si64(sums) +
             (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
    }
#endif
    while (p < end) {
        n += *p++ == '\n';
    }
    return n;
}

/* Starts a carry with what the chunk holds of a record that begins on a line. */
static void carry_start(pt_cutter_t *c, const char *p, size_t len, uint64_t line) {
    c->carry_offset = c->chunk_offset + (uint64_t)(p - c->chunk);
    c->carry_line = line;
    perftrace__strbuf_clear(&c->carry);
    perftrace__strbuf_append(&c->carry, p, len);
}

static void carry_more(pt_cutter_t *c, const char *p, size_t len, size_t limit) {
    if (!c->skipping && c->carry.len + len > limit) {
        c->skipping = true;
        c->carry.len = PT_MIN(c->carry.len, (size_t)1); /* not empty: something is carried */
    }
    if (!c->skipping) {
        perftrace__strbuf_append(&c->carry, p, len);
    }
}

/* Ends a carry: true when the carried bytes are a record to be given out. */
static bool carry_end(pt_cutter_t *c) {
    bool good =
        !c->skipping && !c->carry.failed && perftrace__strbuf_reserve(&c->carry, PT_EVENT_PAD);
    if (!good) {
        if (c->too_long++ == 0) {
            c->too_long_line = c->carry_line;
            c->too_long_offset = c->carry_offset;
        }
    } else {
        memset(c->carry.data + c->carry.len, 0, PT_EVENT_PAD);
    }
    c->skipping = false;
    return good;
}

/* The carried line, complete now. */
static void give_carried_line(pt_cutter_t *c) {
    if (carry_end(c)) {
        bool plain;
        const char *end = c->carry.data + c->carry.len;
        pt_line_end(c->carry.data, end, &plain);
        c->record(c->ctx, c->carry.data, c->carry.len, plain);
    }
    perftrace__strbuf_clear(&c->carry);
}

static void feed_lines(pt_cutter_t *c, const char *p, const char *end, bool last) {
    uint64_t lines = 0;
    bool plain;
    c->saw_events = true;
    if (c->carry.len > 0) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        carry_more(c, p, (size_t)((stop != NULL ? stop : end) - p), PT_RECORD_LIMIT);
        p = stop != NULL ? stop + 1 : end;
        lines += stop != NULL;
        if (stop != NULL || last) {
            give_carried_line(c);
        }
    }
    while (p < end) {
        const char *stop = c->line != NULL ? c->line(c->ctx, p, end) : NULL;
        if (stop != NULL) {
            lines++;
            p = stop + 1;
            continue;
        }
        stop = pt_line_end(p, end, &plain);
        if (stop == end && !last) {
            carry_start(c, p, (size_t)(end - p), c->chunk_line + lines);
            break;
        }
        if (stop > p) {
            c->record(c->ctx, p, (size_t)(stop - p), plain);
        }
        lines += stop < end;
        p = stop + 1;
    }
    c->chunk_line += lines;
}

static void enter_events(pt_cutter_t *c) {
    c->state = STATE_EVENTS;
    c->saw_events = true;
    c->closed = false;
}

/* A complete value of the outer object, or a record. */
static void give_value(pt_cutter_t *c, const char *p, size_t len) {
    switch (c->state) {
    case STATE_EVENTS:
        c->record(c->ctx, p, len, false);
        break;
    case STATE_KEY:
        perftrace__strbuf_clear(&c->key);
        perftrace__strbuf_append(&c->key, p, len);
        c->state = STATE_COLON;
        break;
    default:
        if (c->member != NULL) {
            c->member(c->ctx, perftrace__strbuf_cstr(&c->key), c->key.len, p, len);
        }
        c->state = STATE_KEY;
        break;
    }
}

/* What follows a value too long to be kept. */
static void pass_value(pt_cutter_t *c) {
    if (c->state == STATE_VALUE) {
        c->state = STATE_KEY;
        c->too_long--; /* members are not records */
    }
}

/* A byte that belongs to nothing. */
static const char *pass_junk(pt_cutter_t *c, const char *p) {
    c->junk_offset = c->junk++ == 0 ? c->chunk_offset + (uint64_t)(p - c->chunk) : c->junk_offset;
    return p + 1;
}

/* Before the document: a byte order mark and NUL bytes are no loss, nor is what was sniffed over.
 */
static const char *start_document(pt_cutter_t *c, const char *p) {
    if (*p == '[' || *p == '{') {
        c->in_object = *p == '{';
        if (c->in_object) {
            c->state = STATE_KEY;
        } else {
            enter_events(c);
        }
    } else {
        c->byte_order_mark |= *p == '\xEF' && c->chunk_offset == 0 && p == c->chunk;
    }
    return p + 1;
}

/* Behind the document: profilers that write into a file again leave another one there. */
static const char *after_document(pt_cutter_t *c, const char *p) {
    if (*p != '[' && *p != '{') {
        return pass_junk(c, p);
    }
    if (c->more_documents++ == 0) {
        c->more_offset = c->chunk_offset + (uint64_t)(p - c->chunk);
    }
    return start_document(c, p);
}

/* Cuts the value at p, or carries on with one; the place behind it. */
static const char *cut_value(pt_cutter_t *c, const char *p, const char *end, bool last) {
    size_t limit = c->state == STATE_EVENTS ? PT_RECORD_LIMIT : PT_MEMBER_LIMIT;
    bool done = false, carried = c->carry.len > 0;
    size_t len = perftrace__json_split(&c->split, p, (size_t)(end - p), &done);
    if (!carried && len == 0 && done) {
        return pass_junk(c, p);
    }
    done |= last && p + len == end;
    if (!carried && done) {
        c->split = (perftrace__json_split_t)PERFTRACE__JSON_SPLIT_INIT;
        give_value(c, p, len);
        return p + len;
    }
    if (!carried) {
        carry_start(c, p, len, c->chunk_line + count_lines(c->chunk, p));
    } else {
        carry_more(c, p, len, limit);
    }
    if (done) {
        c->split = (perftrace__json_split_t)PERFTRACE__JSON_SPLIT_INIT;
        if (carry_end(c)) {
            give_value(c, c->carry.data, c->carry.len);
        } else {
            pass_value(c);
        }
        perftrace__strbuf_clear(&c->carry);
    }
    return p + len;
}

static bool is_events_key(const pt_cutter_t *c) {
    return c->key.len == 13 && memcmp(c->key.data, "\"traceEvents\"", 13) == 0;
}

/* One step at a byte that is no white space and no comma. */
static const char *doc_step(pt_cutter_t *c, const char *p, const char *end, bool last) {
    switch (c->state) {
    case STATE_START:
        return start_document(c, p);
    case STATE_KEY:
        if (*p == '}') {
            c->state = STATE_AFTER;
            return p + 1;
        }
        return *p == '"' ? cut_value(c, p, end, last) : pass_junk(c, p);
    case STATE_COLON:
        c->state = *p == ':' ? STATE_VALUE : STATE_KEY;
        return *p == ':' ? p + 1 : p;
    case STATE_VALUE:
        if (*p == '[' && is_events_key(c)) {
            enter_events(c);
            return p + 1;
        }
        return cut_value(c, p, end, last);
    case STATE_EVENTS:
        if (*p == ']') {
            c->state = c->in_object ? STATE_KEY : STATE_AFTER;
            c->closed = true;
            return p + 1;
        }
        return cut_value(c, p, end, last);
    default:
        return after_document(c, p);
    }
}

static void feed_doc(pt_cutter_t *c, const char *p, const char *end, bool last) {
    if (c->carry.len > 0) {
        p = cut_value(c, p, end, last);
    }
    while (p < end) {
        p += perftrace__json_skip_separators(p, (size_t)(end - p));
        if (p < end) {
            p = doc_step(c, p, end, last);
        }
    }
    c->chunk_line += count_lines(c->chunk, end);
}

void pt_cutter_feed(pt_cutter_t *c, const char *chunk, size_t len, bool last) {
    c->chunk = chunk;
    c->chunk_line += c->chunk_line == 0; /* lines count from 1 */
    c->mark = chunk;
    c->mark_line = c->chunk_line;
    if (c->shape == PT_SHAPE_LINES) {
        feed_lines(c, chunk, chunk + len, last);
    } else {
        feed_doc(c, chunk, chunk + len, last);
    }
    c->chunk_offset += len;
}

void pt_cutter_place(pt_cutter_t *c, const char *p, uint64_t *ret_line, uint64_t *ret_offset) {
    if (c->carry.len > 0 && p >= c->carry.data && p <= c->carry.data + c->carry.len) {
        *ret_line = c->carry_line + count_lines(c->carry.data, p);
        *ret_offset = c->carry_offset + (uint64_t)(p - c->carry.data);
        return;
    }
    /* From the last place that was asked for: a million problems must not cost a million chunks. */
    if (p < c->mark) {
        c->mark = c->chunk;
        c->mark_line = c->chunk_line;
    }
    c->mark_line += count_lines(c->mark, p);
    c->mark = p;
    *ret_line = c->mark_line;
    *ret_offset = c->chunk_offset + (uint64_t)(p - c->chunk);
}

void pt_cutter_free(pt_cutter_t *c) {
    if (c != NULL) {
        perftrace__strbuf_free(&c->carry);
        perftrace__strbuf_free(&c->key);
    }
}
