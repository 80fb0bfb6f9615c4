/* text_source.c. SPDX-License-Identifier: MIT */
#include "text_source.h"

#define PIECE 65536

void pt_text_source_begin(pt_text_source_t *s, pt_input_t *input) {
    const char *data;
    *s = (pt_text_source_t){.input = input};
    size_t n = pt_input_peek(input, 4, &data);
    s->encoding = pt_text_encoding(data, n, &s->mark);
    s->utf16.big_endian = s->encoding == PT_TEXT_UTF16_BE;
    char mark[4];
    if (s->mark > 0) {
        (void)pt_input_read(input, mark, s->mark);
    }
}

static void ended(pt_text_source_t *s, int64_t got, size_t want) {
    s->end = got < (int64_t)want;
    if (s->end) {
        char more;
        s->damaged = got < 0 || pt_input_read(s->input, &more, 1) < 0;
    }
}

static bool read_utf8(pt_text_source_t *s, size_t want, perftrace__strbuf_t *out) {
    if (!perftrace__strbuf_reserve(out, want)) {
        return false;
    }
    int64_t got = pt_input_read(s->input, out->data + out->len, want);
    out->len += got > 0 ? (size_t)got : 0;
    ended(s, got, want);
    return true;
}

static bool read_utf16(pt_text_source_t *s, size_t want, perftrace__strbuf_t *out) {
    uint8_t piece[PIECE];
    for (size_t enough = out->len + want; !s->end && out->len < enough;) {
        int64_t got = pt_input_read(s->input, piece, sizeof piece);
        size_t n = got > 0 ? (size_t)got : 0;
        if (!perftrace__strbuf_reserve(out, PT_UTF16_ROOM(n) + 3)) {
            return false;
        }
        out->len += pt_utf16_feed(&s->utf16, piece, n, out->data + out->len);
        ended(s, got, sizeof piece);
        if (s->end) {
            out->len += pt_utf16_end(&s->utf16, out->data + out->len);
        }
    }
    return true;
}

bool pt_text_source_read(pt_text_source_t *s, size_t want, perftrace__strbuf_t *out) {
    if (s->end) {
        return true;
    }
    return s->encoding == PT_TEXT_UTF8 ? read_utf8(s, want, out) : read_utf16(s, want, out);
}
