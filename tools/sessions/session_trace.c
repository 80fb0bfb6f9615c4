/* session_trace.c: the sessions that a trace of ours tells. SPDX-License-Identifier: MIT */
#include "session_trace.h"

#include "session_json.h"
#include "session_problem.h"

#include <stdlib.h>

#define PIECE ((size_t)256 << 10)

typedef pt_session_trace_t trace_t;

/* ---- headers ---- */

/* Headers stand in our own layout; in any other they are found by the name all the same. */
static bool may_be_header(const char *line, size_t len) {
    static const char name[] = "\"perftrace_header\"", clock[] = "\"perftrace_clock\"";
    len = PT_MIN(len, (size_t)512);
    return memmem(line, len, name, sizeof name - 1) != NULL ||
           memmem(line, len, clock, sizeof clock - 1) != NULL;
}

/* The first of some lines that gives a header; the whole ones only, since a number may be cut. */
static bool find_header(const char *p, const char *end,
                        bool (*read)(const char *line, size_t len, perftrace__trace_header_t *ret),
                        perftrace__trace_header_t *ret_header) {
    while (p < end) {
        size_t n = perftrace__json_line_end(p, (size_t)(end - p), NULL);
        if (may_be_header(p, n) && read(p, n, ret_header)) {
            return true;
        }
        p += PT_MIN(n + 1, (size_t)(end - p));
    }
    return false;
}

bool pt_session_trace_header(pt_input_t *input, perftrace__trace_header_t *ret_header) {
    const char *p;
    size_t len = pt_input_peek(input, PT_SESSION_PEEK, &p);
    return find_header(p, p + len, perftrace__trace_header_read, ret_header) ||
           find_header(p, p + len, perftrace__trace_header_guess, ret_header);
}

/* ---- one run ---- */

static bool start_run(trace_t *t) {
    perftrace__fold_options_t options = perftrace__trace_header_options(&t->header);
    t->fold = perftrace__session_fold_new(&options);
    if (t->fold == NULL) {
        return false;
    }
    perftrace__session_replay_init(&t->replay, t->fold);
    return perftrace__session_replay_expect(&t->replay, &t->header);
}

static bool take(trace_t *t, perftrace__fold_take_t what) {
    return perftrace__session_fold_take(t->fold, what, t->replay.last_ns, &t->records);
}

static void tell_counts(const trace_t *t) {
    perftrace__fold_counts_t c;
    pt_problems_t *book = t->feed->book;
    unsigned file = t->feed->file;
    perftrace__session_fold_counts(t->fold, &c);
    pt_problems_add_many(book, PT_SESSION_PROBLEM_LATE_EVENT, file, 0, PT_NO_OFFSET, NULL, c.late);
    pt_problems_add_many(book, PT_SESSION_PROBLEM_ORPHAN, file, 0, PT_NO_OFFSET, NULL, c.orphans);
    pt_problems_add_many(book, PT_SESSION_PROBLEM_BACKWARDS, file, 0, PT_NO_OFFSET, NULL,
                         c.clamped);
    pt_problems_add_many(book, PT_SESSION_PROBLEM_LOST, file, 0, PT_NO_OFFSET, NULL,
                         t->replay.lost);
    pt_problems_add_many(book, PT_SESSION_PROBLEM_NO_MEMORY, file, 0, PT_NO_OFFSET, NULL,
                         c.no_memory);
}

static void free_run(trace_t *t) {
    if (t->fold != NULL) {
        perftrace__session_replay_free(&t->replay);
        perftrace__session_fold_free(t->fold);
        t->fold = NULL;
    }
}

static bool end_run(trace_t *t) {
    bool ok = take(t, PERFTRACE__TAKE_ALL);
    tell_counts(t);
    free_run(t);
    return ok;
}

static bool is_same_run(const perftrace__trace_header_t *a, const perftrace__trace_header_t *b) {
    return a->epoch_ns == b->epoch_ns &&
           strcmp(perftrace__strbuf_cstr(&a->run_id), perftrace__strbuf_cstr(&b->run_id)) == 0;
}

/* ---- lines ---- */

/* A header that comes again (the rank was told later) is the same run's, and so is the first one
 * after one that is lost; another begins one. */
static bool see_header(trace_t *t, const char *line, size_t len) {
    perftrace__trace_header_t header = PERFTRACE__TRACE_HEADER_INIT;
    bool ok = true;
    bool is_header = perftrace__trace_header_read(line, len, &header);
    bool is_first = t->guessed && is_header;
    t->guessed &= !is_header;
    if (!is_header || is_first || is_same_run(&header, &t->header)) {
        perftrace__trace_header_free(&header);
        return true;
    }
    ok = end_run(t);
    perftrace__trace_header_free(&t->header);
    t->header = header;
    return start_run(t) && ok;
}

/* Only where several headers came is every line looked at. */
static bool see_ranks(trace_t *t, const char *line, size_t len, bool maybe_header) {
    pt_event_t ev;
    size_t used;
    if ((maybe_header || t->ranks.list.count > 1) &&
        pt_event_read_json(&t->reader, line, len, &ev, &used) == PT_EVENT_FOUND) {
        pt_mixed_ranks_take(&t->ranks, &ev);
    }
    return !t->ranks.failed;
}

static bool read_line(trace_t *t, const char *line, size_t len, uint64_t number) {
    bool maybe_header = may_be_header(line, len);
    if (!see_ranks(t, line, len, maybe_header) || (maybe_header && !see_header(t, line, len))) {
        return false;
    }
    if (perftrace__session_replay_line(&t->replay, line, len) == PERFTRACE__REPLAY_DAMAGED) {
        pt_problems_add(t->feed->book, PT_SESSION_PROBLEM_TRACE_LINE, t->feed->file, number,
                        t->text.offset + (uint64_t)(line - t->text.text), NULL);
    }
    return !perftrace__session_replay_tick(&t->replay) || take(t, PERFTRACE__TAKE_READY);
}

static bool read_text(trace_t *t) {
    const char *p = t->text.text, *end = p + t->text.len;
    t->line += t->text.lines_dropped;
    for (; p < end; t->line++) {
        size_t n = perftrace__json_line_end(p, (size_t)(end - p), NULL);
        size_t blank = perftrace__json_skip_separators(p, n);
        if (blank < n && !read_line(t, p, n, t->line)) {
            return false;
        }
        p += PT_MIN(n + 1, (size_t)(end - p));
    }
    return true;
}

/* ---- pieces ---- */

bool pt_session_trace_open(trace_t *t, pt_session_feed_t *feed) {
    *t = (trace_t){.feed = feed,
                   .header = PERFTRACE__TRACE_HEADER_INIT,
                   .records = PERFTRACE__STRBUF_INIT,
                   .line = 1};
    feed->source.shape = PT_SESSIONS_LINES;
    if (pt_session_trace_header(feed->input, &t->header) && start_run(t)) {
        t->guessed = t->header.run_id.len == 0;
        if (t->guessed) {
            pt_problems_add(feed->book, PT_SESSION_PROBLEM_NO_HEADER, feed->file, 1, 0, NULL);
        }
        return true;
    }
    pt_session_trace_close(t);
    return false;
}

void pt_session_trace_close(trace_t *t) {
    free_run(t);
    perftrace__trace_header_free(&t->header);
    perftrace__strbuf_free(&t->records);
    pt_session_piece_free(&t->text);
    pt_event_reader_free(&t->reader);
    pt_mixed_ranks_free(&t->ranks);
}

/* Moves whole records, about a piece of them, into the piece. */
static bool give(trace_t *t, pt_session_piece_t *piece) {
    const char *from = t->records.data + t->given;
    size_t left = t->records.len - t->given, n = left;
    if (n > PIECE) {
        n = PIECE + perftrace__json_line_end(from + PIECE, left - PIECE, NULL);
        n = PT_MIN(n + 1, left);
    }
    if (n > piece->cap) {
        char *text = realloc(piece->text, n + PT_SESSION_PAD);
        if (text == NULL) {
            return false;
        }
        piece->text = text;
        piece->cap = n;
    }
    memcpy(piece->text, from, n);
    memset(piece->text + n, 0, PT_SESSION_PAD);
    *piece = (pt_session_piece_t){
        .text = piece->text, .cap = piece->cap, .len = n, .lines = true, .made = true};
    t->given += n;
    if (t->given == t->records.len) {
        perftrace__strbuf_clear(&t->records);
        t->given = 0;
    }
    return true;
}

int pt_session_trace_next(trace_t *t, pt_session_piece_t *piece) {
    while (!t->ended && !t->ranks.found && t->records.len - t->given < PIECE) {
        int got = pt_session_feed_next(t->feed, &t->text);
        t->ended = got == 0;
        if (got < 0 || (got > 0 ? !read_text(t) : !end_run(t))) {
            return -1;
        }
    }
    if (t->records.len == 0) {
        return 0;
    }
    return give(t, piece) ? 1 : -1;
}
