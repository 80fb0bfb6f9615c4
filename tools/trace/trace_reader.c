/* trace_reader.c: from chunks of a trace file to its events. SPDX-License-Identifier: MIT */
#include "trace_reader.h"

#include "event_fast.h"

#include <stdio.h>

static void tell_at(pt_trace_reader_t *r, unsigned kind, const char *p, const char *detail) {
    uint64_t line, offset;
    if (r->book != NULL) {
        pt_cutter_place(&r->cutter, p, &line, &offset);
        pt_problems_add(r->book, kind, r->file, line, offset, detail);
    }
}

void pt_trace_reader_problem(pt_trace_reader_t *r, unsigned kind, const char *detail) {
    if (r->record != NULL) {
        tell_at(r, kind, r->record, detail);
    } else if (r->book != NULL) {
        pt_problems_add(r->book, kind, r->file, 0, PT_NO_OFFSET, detail);
    }
}

/* Places in the parser's memory mean nothing in the file; repairs are told at the record. */
static void tell_oddities(pt_trace_reader_t *r) {
    static const struct {
        unsigned bit, kind;
    } odd[] = {{PT_EVENT_ODD_ARGS, PT_TRACE_PROBLEM_BAD_ARGS},
               {PT_EVENT_ODD_NAME, PT_TRACE_PROBLEM_NO_NAME},
               {PT_EVENT_ODD_DUR, PT_TRACE_PROBLEM_BAD_DUR},
               {PT_EVENT_ODD_NEGATIVE, PT_TRACE_PROBLEM_NEGATIVE_DUR}};
    for (unsigned bit = 0; bit < PERFTRACE__JSON_REPAIR_COUNT; bit++) {
        if ((r->parser.repairs >> bit & 1U) != 0 &&
            (1U << bit) != PERFTRACE__JSON_REPAIR_TRAILING_BYTES) {
            pt_trace_reader_problem(r, bit, NULL);
        }
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(odd); i++) {
        if ((r->parser.odd & odd[i].bit) != 0) {
            pt_trace_reader_problem(r, odd[i].kind, NULL);
        }
    }
}

static void tell_damage(pt_trace_reader_t *r, const char *p, size_t len) {
    char detail[96];
    size_t at = PT_MIN(r->parser.error.offset, len);
    snprintf(detail, sizeof detail, "%s", perftrace__json_error_text(r->parser.error.code));
    tell_at(r, PT_TRACE_PROBLEM_DAMAGED, p + at, detail);
}

/* Reads one value at p; the place behind it. `first`: nothing was taken from this record yet. */
static const char *read_value(pt_trace_reader_t *r, const char *p, const char *end, bool first) {
    pt_event_t ev;
    size_t used = 0, len = (size_t)(end - p);
    const char *restart;
    r->record = p;
    switch (pt_event_read_json(&r->parser, p, len, &ev, &used)) {
    case PT_EVENT_FOUND:
        r->objects++;
        r->ordinal++;
        tell_oddities(r);
        if (!first) {
            pt_trace_reader_problem(r, PT_TRACE_PROBLEM_TWO_RECORDS, NULL);
        }
        r->event(r->ctx, &ev);
        return p + used;
    case PT_EVENT_FOUND_EMPTY:
        r->objects++;
        pt_trace_reader_problem(r, PT_TRACE_PROBLEM_EMPTY_EVENT, NULL);
        return p + used;
    case PT_EVENT_FOUND_OTHER:
        r->objects++;
        pt_trace_reader_problem(r, PT_TRACE_PROBLEM_NOT_EVENT, NULL);
        return p + used;
    case PT_EVENT_FOUND_BLANK:
        if (first) {
            pt_trace_reader_problem(r, PT_TRACE_PROBLEM_BLANK_LINE, NULL);
        }
        return end;
    case PT_EVENT_FOUND_SCALAR:
        pt_trace_reader_problem(
            r, first ? PT_TRACE_PROBLEM_NOT_OBJECT : PT_TRACE_PROBLEM_EXTRA_BYTES, NULL);
        return p + used;
    default:
        restart = perftrace__json_restart(p, end);
        if (first || restart != NULL) {
            tell_damage(r, p, len);
        } else {
            pt_trace_reader_problem(r, PT_TRACE_PROBLEM_EXTRA_BYTES, NULL);
        }
        return restart != NULL ? restart : end;
    }
}

static const char *on_line(void *ctx, const char *p, const char *end) {
    pt_trace_reader_t *r = ctx;
    pt_event_t ev;
    const char *stop = r->brief ? pt_shape_match(&r->shapes, p, end, &ev) : NULL;
    if (stop != NULL) {
        r->record = p;
        r->ordinal++;
        r->objects++;
        r->event(r->ctx, &ev);
    }
    return stop;
}

static void on_record(void *ctx, const char *p, size_t len, bool plain) {
    pt_trace_reader_t *r = ctx;
    pt_event_t ev;
    const char *end = p + len;
    if (PT_LIKELY(plain && pt_event_read_fast(p, end, &ev))) {
        r->record = p;
        r->ordinal++;
        r->objects++;
        if (r->brief && (ev.has & PT_EVENT_VERBATIM) != 0) {
            pt_shape_learn(&r->shapes, &ev);
        }
        r->event(r->ctx, &ev);
        return;
    }
    if (r->lean && pt_event_read_lean(p, len, &r->lean_state, &ev)) {
        r->parser.odd = 0;
        r->record = p;
        r->ordinal++;
        r->objects++;
        r->event(r->ctx, &ev);
        return;
    }
    if (end[-1] == '\r' && r->cutter.shape == PT_SHAPE_LINES) {
        end--;
        tell_at(r, PT_TRACE_PROBLEM_CR_LINE, p, NULL);
    }
    for (bool first = true; p < end; first = false) {
        p = read_value(r, p, end, first);
        p += perftrace__json_skip_separators(p, (size_t)(end - p));
    }
}

static void on_member(void *ctx, const char *key, size_t key_len, const char *value, size_t len) {
    pt_trace_reader_t *r = ctx;
    if (r->member != NULL) {
        r->member(r->ctx, key, key_len, value, len);
    }
}

void pt_trace_reader_init(pt_trace_reader_t *r, pt_shape_t shape) {
    memset(r, 0, sizeof *r);
    r->cutter.shape = shape;
    r->cutter.record = on_record;
    r->cutter.line = on_line;
    r->cutter.member = on_member;
}

void pt_trace_reader_feed(pt_trace_reader_t *r, const char *chunk, size_t len, bool last) {
    r->cutter.ctx = r; /* here, because the reader may have moved since its init */
    pt_cutter_feed(&r->cutter, chunk, len, last);
    if (last && r->book != NULL) {
        const pt_cutter_t *c = &r->cutter;
        pt_problems_add_many(r->book, PT_TRACE_PROBLEM_TOO_LONG, r->file, c->too_long_line,
                             c->too_long_offset, NULL, c->too_long);
        pt_problems_add_many(r->book, PT_TRACE_PROBLEM_JUNK, r->file, 0, c->junk_offset, NULL,
                             c->junk);
        pt_problems_add_many(r->book, PT_TRACE_PROBLEM_DOCUMENTS, r->file, 0, c->more_offset, NULL,
                             c->more_documents);
        pt_problems_add_many(r->book, PERFTRACE__JSON_REPAIR_INDEX_BYTE_ORDER_MARK, r->file, 0, 0,
                             NULL, c->byte_order_mark);
        if (c->shape != PT_SHAPE_LINES && c->saw_events && !c->closed) {
            pt_problems_add(r->book, PT_TRACE_PROBLEM_NOT_CLOSED, r->file, 0, c->chunk_offset,
                            NULL);
        }
    }
}

void pt_trace_reader_free(pt_trace_reader_t *r) {
    if (r != NULL) {
        pt_cutter_free(&r->cutter);
        pt_event_reader_free(&r->parser);
        pt_shape_set_free(&r->shapes);
    }
}
