/* session_chunk.c: from a piece of a file to its records. SPDX-License-Identifier: MIT */
#include "json_split.h"
#include "session_batch.h"
#include "session_fast.h"

/* Where the reader is. */
typedef struct place {
    pt_session_batch_t *batch;
    const char *text; /* the chunk */
    const char *mark; /* lines are counted up to here */
    uint64_t line;    /* of the mark */
    bool lines;       /* one record a line */
} place_t;

static uint64_t line_at(place_t *at, const char *p) {
    while (!at->lines && at->mark < p) {
        const char *feed = memchr(at->mark, '\n', (size_t)(p - at->mark));
        at->line += feed != NULL;
        at->mark = feed != NULL ? feed + 1 : p;
    }
    return at->line;
}

static void tell(place_t *at, unsigned kind, const char *p, const char *detail) {
    pt_session_batch_problem(at->batch, kind, line_at(at, p), (uint64_t)(p - at->text), detail);
}

/* Named with the line on which the record begins, and the byte where it is damaged. */
static void tell_damage(place_t *at, const char *p, size_t len) {
    const perftrace__json_error_t *error = &at->batch->reader.error;
    size_t offset = (size_t)(p - at->text) + PT_MIN(error->offset, len);
    pt_session_batch_problem(at->batch, PT_SESSION_PROBLEM_DAMAGED, line_at(at, p), offset,
                             perftrace__json_error_text(error->code));
}

static void tell_repairs(place_t *at, const char *p) {
    unsigned repairs = at->batch->reader.repairs & ~(unsigned)PERFTRACE__JSON_REPAIR_TRAILING_BYTES;
    for (unsigned bit = 0; bit < PERFTRACE__JSON_REPAIR_COUNT; bit++) {
        if ((repairs >> bit & 1U) != 0) {
            tell(at, PT_SESSION_PROBLEM_REPAIR + bit, p, NULL);
        }
    }
}

/* Behind a damaged value at p: where the next may begin. */
static const char *behind_damage(const place_t *at, const char *p, const char *end) {
    if (!at->lines) {
        perftrace__json_split_t split = PERFTRACE__JSON_SPLIT_INIT;
        bool done;
        size_t len = perftrace__json_split(&split, p, (size_t)(end - p), &done);
        if (done) {
            return p + PT_MAX(len, (size_t)1);
        }
    }
    const char *restart = perftrace__json_restart(p, end);
    return restart != NULL ? restart : end;
}

/* Reads one value at p; the place behind it. `first`: nothing was taken from this line yet. */
static const char *read_value(place_t *at, const char *p, const char *end, bool first) {
    pt_session_reader_t *reader = &at->batch->reader;
    size_t used = 0, len = (size_t)(end - p);
    const char *next;
    switch (pt_session_read_json(reader, p, len, &used)) {
    case PT_SESSION_FOUND:
        tell_repairs(at, p);
        if (!first) {
            tell(at, PT_SESSION_PROBLEM_TWO_RECORDS, p, NULL);
        }
        pt_session_batch_add(at->batch, &reader->session, line_at(at, p), (uint64_t)(p - at->text));
        return p + used;
    case PT_SESSION_FOUND_OTHER:
        tell(at, PT_SESSION_PROBLEM_NOT_SESSION, p, NULL);
        return p + used;
    case PT_SESSION_FOUND_EVENT:
        tell(at, PT_SESSION_PROBLEM_TRACE_EVENT, p, NULL);
        return p + used;
    case PT_SESSION_FOUND_BLANK:
        if (first) {
            tell(at, PT_SESSION_PROBLEM_BLANK_LINE, p, NULL);
        }
        return end;
    case PT_SESSION_FOUND_SCALAR:
        tell(at, first ? PT_SESSION_PROBLEM_NOT_OBJECT : PT_SESSION_PROBLEM_EXTRA_BYTES, p, NULL);
        return p + used;
    default:
        at->batch->failed |= reader->session.failed;
        next = behind_damage(at, p, end);
        if (first || next < end) {
            tell_damage(at, p, len);
        } else {
            tell(at, PT_SESSION_PROBLEM_EXTRA_BYTES, p, NULL);
        }
        return next;
    }
}

static void read_line(place_t *at, const char *p, const char *end) {
    if (end[-1] == '\r') {
        end--;
        tell(at, PT_SESSION_PROBLEM_CR_LINE, p, NULL);
    }
    for (bool first = true; p < end; first = false) {
        p = read_value(at, p, end, first);
        p += perftrace__json_skip_separators(p, (size_t)(end - p));
    }
}

static void read_lines(place_t *at, const char *p, const char *end) {
    pt_session_batch_t *b = at->batch;
    for (; p < end; at->line++) {
        const char *stop = pt_session_read_fast(&b->reader, p, end);
        if (PT_LIKELY(stop != NULL)) {
            pt_session_batch_add(b, &b->reader.session, at->line, (uint64_t)(p - at->text));
        } else {
            stop = p + perftrace__json_line_end(p, (size_t)(end - p), NULL);
            if (stop > p) {
                read_line(at, p, stop);
            }
        }
        b->lines += stop < end;
        p = stop + 1;
    }
}

static void read_values(place_t *at, const char *p, const char *end) {
    for (;;) {
        p += perftrace__json_skip_separators(p, (size_t)(end - p));
        if (p >= end) {
            break;
        }
        p = *p == '[' || *p == ']' ? p + 1 : read_value(at, p, end, true);
    }
    at->batch->lines = line_at(at, end);
}

void pt_session_batch_read(pt_session_batch_t *batch, const char *text, size_t len, bool lines) {
    place_t at = {batch, text, text, 0, lines};
    pt_session_batch_clear(batch);
    if (lines) {
        read_lines(&at, text, text + len);
    } else {
        read_values(&at, text, text + len);
    }
}
