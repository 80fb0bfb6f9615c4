/* session_feed.c: a file cut into pieces of whole records. SPDX-License-Identifier: MIT */
#include "session_feed.h"

#include "session_json.h"
#include "session_problem.h"

#include <stdlib.h>

#define PIECE ((size_t)256 << 10)
/* A piece that had to be larger than this for one record gives its memory back. */
#define PIECE_KEPT ((size_t)4 << 20)

void pt_session_feed_open(pt_session_feed_t *f, pt_input_t *input, pt_problems_t *book,
                          unsigned file) {
    const char *data;
    *f = (pt_session_feed_t){.input = input, .book = book, .file = file};
    size_t len = pt_input_peek(input, PT_SESSION_PEEK, &data);
    f->source = pt_session_sniff(data, len, len < PT_SESSION_PEEK);
    char byte;
    if (len == 0 && pt_input_read(input, &byte, 1) < 0) {
        f->source.why = "nothing can be unpacked from its gzip data";
    }
}

void pt_session_feed_close(pt_session_feed_t *f) {
    pt_input_close(f->input);
    free(f->carry);
    memset(f, 0, sizeof *f);
}

void pt_session_piece_free(pt_session_piece_t *piece) {
    free(piece->text);
    memset(piece, 0, sizeof *piece);
}

static void tell(pt_session_feed_t *f, unsigned kind, uint64_t offset, const char *detail) {
    pt_problems_add(f->book, kind, f->file, 0, offset, detail);
}

/* Room for size bytes and the pad. */
static bool reserve(pt_session_piece_t *piece, size_t size) {
    if (size <= piece->cap) {
        return true;
    }
    char *text = realloc(piece->text, size + PT_SESSION_PAD);
    if (text == NULL) {
        return false;
    }
    piece->text = text;
    piece->cap = size;
    return true;
}

/* Reads on behind what the piece holds. False at the end. */
static bool read_more(pt_session_feed_t *f, pt_session_piece_t *piece) {
    int64_t n = pt_input_read(f->input, piece->text + piece->len, piece->cap - piece->len);
    if (n < 0) {
        const char *why = pt_input_problem(f->input);
        tell(f, PT_SESSION_PROBLEM_INPUT_ENDS, f->offset + piece->len,
             why[0] != '\0' ? why : "cannot be read");
    }
    piece->len += n > 0 ? (size_t)n : 0;
    f->ended = n <= 0;
    return n > 0;
}

/* Where the last whole value of the piece ends, looking on from where it was looked before. */
static size_t values_end(pt_session_feed_t *f, pt_session_piece_t *piece, size_t known) {
    size_t end = known, at = f->scanned;
    while (at < piece->len) {
        const char *p = piece->text + at;
        size_t left = piece->len - at;
        bool done = false;
        if (!f->split.started) {
            size_t skip = perftrace__json_skip_separators(p, left);
            if (skip == 0 && (*p == '[' || *p == ']')) {
                f->opened |= *p == '[';
                f->closed |= *p == ']';
                skip = 1;
            }
            if (skip > 0) {
                at += skip;
                continue;
            }
        }
        size_t n = perftrace__json_split(&f->split, p, left, &done);
        at += done ? PT_MAX(n, (size_t)1) : n;
        end = done ? at : end;
    }
    f->scanned = piece->len;
    return end;
}

/* Where the last whole record of the piece ends; 0: no record is whole. */
static size_t records_end(pt_session_feed_t *f, pt_session_piece_t *piece, size_t known,
                          size_t fresh) {
    if (!piece->lines) {
        return values_end(f, piece, known);
    }
    const char *feed = memrchr(piece->text + fresh, '\n', piece->len - fresh);
    return feed != NULL ? (size_t)(feed + 1 - piece->text) : known;
}

static uint64_t count_feeds(const char *p, size_t len) {
    const char *end = p + len;
    uint64_t n = 0;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        n++;
        p++;
    }
    return n;
}

/* Passes over the rest of a record that is too long. What follows it stays in the piece. */
static void drop_record(pt_session_feed_t *f, pt_session_piece_t *piece) {
    tell(f, PT_SESSION_PROBLEM_TOO_LONG, f->offset, NULL);
    for (;;) {
        size_t used;
        bool done = false;
        f->offset += piece->len;
        f->lines_dropped += count_feeds(piece->text, piece->len);
        piece->len = 0;
        if (!read_more(f, piece)) {
            return;
        }
        if (piece->lines) {
            used = perftrace__json_line_end(piece->text, piece->len, &done);
            used += done;
        } else {
            used = perftrace__json_split(&f->split, piece->text, piece->len, &done);
        }
        if (done) {
            f->offset += used;
            f->lines_dropped += count_feeds(piece->text, used);
            piece->len -= used;
            memmove(piece->text, piece->text + used, piece->len);
            f->scanned = 0;
            return;
        }
    }
}

/* Keeps what lies behind the whole records for the next piece. */
static bool keep_rest(pt_session_feed_t *f, pt_session_piece_t *piece, size_t end) {
    size_t rest = piece->len - end;
    if (rest > f->carry_cap) {
        char *carry = realloc(f->carry, rest);
        if (carry == NULL) {
            return false;
        }
        f->carry = carry;
        f->carry_cap = rest;
    }
    if (rest > 0) {
        memcpy(f->carry, piece->text + end, rest);
    }
    f->carry_len = rest;
    f->scanned = rest;
    piece->len = end;
    return true;
}

static bool start_piece(pt_session_feed_t *f, pt_session_piece_t *piece) {
    if (piece->cap > PIECE_KEPT) {
        pt_session_piece_free(piece);
    }
    piece->lines = f->source.shape == PT_SESSIONS_LINES;
    piece->made = false;
    piece->len = f->carry_len;
    if (!reserve(piece, PT_MAX(PIECE, f->carry_len + PIECE / 2))) {
        return false;
    }
    if (f->carry_len > 0) {
        memcpy(piece->text, f->carry, f->carry_len);
    }
    f->carry_len = 0;
    return true;
}

int pt_session_feed_next(pt_session_feed_t *f, pt_session_piece_t *piece) {
    size_t end = 0;
    if (!start_piece(f, piece)) {
        return -1;
    }
    while (!f->ended) {
        size_t fresh = piece->len;
        bool more = read_more(f, piece);
        end = records_end(f, piece, end, fresh);
        if (!more || (end > 0 && piece->len >= piece->cap / 2)) {
            break;
        }
        if (piece->len < piece->cap) {
            continue;
        }
        if (piece->cap >= PT_SESSION_RECORD_LIMIT) {
            drop_record(f, piece);
            end = records_end(f, piece, 0, 0);
        } else if (!reserve(piece, PT_MIN(piece->cap * 2, PT_SESSION_RECORD_LIMIT))) {
            return -1;
        }
    }
    if (f->ended) {
        end = piece->len;
        if (f->opened && !f->closed) {
            tell(f, PT_SESSION_PROBLEM_NOT_CLOSED, f->offset + end, NULL);
        }
    }
    piece->offset = f->offset;
    piece->lines_dropped = f->lines_dropped;
    f->lines_dropped = 0;
    f->offset += end;
    if (!keep_rest(f, piece, end)) {
        return -1;
    }
    memset(piece->text + piece->len, 0, PT_SESSION_PAD);
    return piece->len > 0 ? 1 : 0;
}
