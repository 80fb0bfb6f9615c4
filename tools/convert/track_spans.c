/* track_spans.c: the phases of one session, on their way to tracks that nest.
 * SPDX-License-Identifier: MIT */
#include "track_spans.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static bool same_name(pt_str_t a, pt_str_t b) {
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* Copies the texts of a mark into one allocation, which is *ret_memory. */
static bool copy_texts(const pt_track_mark_t *mark, char **ret_memory, pt_str_t *ret_name,
                       pt_str_t *ret_args) {
    char *p = malloc(mark->name.len + mark->args.len + 1);
    if (p == NULL) {
        return false;
    }
    *ret_memory = p;
    memcpy(p, mark->name.p, mark->name.len);
    *ret_name = (pt_str_t){p, mark->name.len};
    *ret_args = (pt_str_t){p + mark->name.len, mark->args.len};
    if (mark->args.len > 0) {
        memcpy(p + mark->name.len, mark->args.p, mark->args.len);
    }
    return true;
}

static pt_track_span_t *make(pt_track_spans_t *s) {
    if (s->count == s->cap) {
        unsigned cap =
            s->cap == 0 ? 1 : s->cap * 2; /* phases come one after the other, as a rule */
        pt_track_span_t *more = realloc(s->span, cap * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        s->span = more;
        s->cap = cap;
    }
    s->span[s->count] = (pt_track_span_t){.end = INT64_MAX, .cut = INT64_MAX};
    return &s->span[s->count];
}

static void settle(pt_track_spans_t *s, pt_track_span_t *span, int64_t end) {
    span->end = PT_MAX(PT_MIN(end, span->cut), span->start);
    s->open--;
}

/* The end that came before its begin. */
static pt_track_span_t *early_end(const pt_track_spans_t *s, const pt_track_mark_t *begin) {
    for (unsigned i = s->early > 0 ? s->count : 0; i-- > 0;) {
        pt_track_span_t *span = &s->span[i];
        if (!span->begun && span->start == begin->ts && same_name(span->name, begin->name)) {
            return span;
        }
    }
    return NULL;
}

/* Of a phase that allows one span at a time, each lasts no longer than to the next one's begin. */
static int64_t cut_others(const pt_track_spans_t *s, const pt_track_mark_t *begin) {
    int64_t cut = INT64_MAX;
    for (unsigned i = 0; i < s->count; i++) {
        pt_track_span_t *span = &s->span[i];
        if (span->start < begin->ts && same_name(span->name, begin->name)) {
            span->cut = PT_MIN(span->cut, begin->ts);
        } else if (span->start > begin->ts && same_name(span->name, begin->name)) {
            cut = PT_MIN(cut, span->start);
        }
    }
    return cut;
}

/* Closes a span that has begun, or that has ended with no begin known. */
static bool close_span(pt_track_spans_t *s, pt_track_span_t *span, int64_t end) {
    s->early -= span->ended;
    span->unfinished = !span->ended && span->cut == INT64_MAX;
    settle(s, span, span->ended ? span->end : end);
    span->begun = span->ended = true;
    return span->unfinished;
}

/* Room for one more that is open. */
static void give_up_oldest(pt_track_spans_t *s, int64_t now) {
    for (unsigned i = 0; s->open >= PT_TRACK_SPANS_LIMIT && i < s->count; i++) {
        pt_track_span_t *span = &s->span[i];
        if (!span->begun || !span->ended) {
            s->given_up += close_span(s, span, now);
        }
    }
}

pt_track_took_t pt_track_spans_begin(pt_track_spans_t *s, const pt_track_mark_t *mark,
                                     bool single) {
    int64_t cut = single ? cut_others(s, mark) : INT64_MAX;
    pt_track_span_t *span = early_end(s, mark);
    bool waited = span != NULL;
    pt_str_t name;
    if (!waited) {
        give_up_oldest(s, mark->ts);
        span = make(s);
    }
    if (span == NULL || !copy_texts(mark, &span->memory[0], &name, &span->begin_args)) {
        return PT_TRACK_NO_MEMORY;
    }
    span->begun = true;
    span->begin_thread = mark->thread;
    span->cut = PT_MIN(span->cut, cut);
    if (waited) {
        s->early--;
        settle(s, span, span->end);
        return PT_TRACK_TOOK;
    }
    span->name = name;
    span->start = mark->ts;
    span->end_thread = mark->thread;
    s->count++;
    s->open++;
    return PT_TRACK_TOOK;
}

/* The open span that an end means. */
static pt_track_span_t *partner(const pt_track_spans_t *s, pt_str_t name, int64_t began) {
    pt_track_span_t *last = NULL;
    for (unsigned i = s->open > 0 ? s->count : 0; i-- > 0;) {
        pt_track_span_t *span = &s->span[i];
        if (!span->begun || span->ended || !same_name(span->name, name)) {
            continue;
        }
        if (began != 0 && span->start == began) {
            return span;
        }
        if (began == 0 && (last == NULL || span->start > last->start)) {
            last = span;
        }
    }
    return last;
}

pt_track_took_t pt_track_spans_end(pt_track_spans_t *s, const pt_track_mark_t *mark,
                                   int64_t began) {
    pt_track_span_t *span = partner(s, mark->name, began);
    bool alone = span == NULL;
    pt_str_t name;
    if (alone && began == 0) {
        return PT_TRACK_STRAY;
    }
    if (alone) {
        give_up_oldest(s, mark->ts);
        span = make(s);
    }
    if (span == NULL || !copy_texts(mark, &span->memory[1], &name, &span->end_args)) {
        return PT_TRACK_NO_MEMORY;
    }
    span->ended = true;
    span->end_thread = mark->thread;
    if (!alone) {
        settle(s, span, mark->ts);
        return PT_TRACK_TOOK;
    }
    span->name = name;
    span->start = began;
    span->end = PT_MAX(mark->ts, began);
    span->begin_thread = mark->thread;
    s->count++;
    s->open++;
    s->early++;
    return PT_TRACK_TOOK;
}

bool pt_track_spans_is_open(const pt_track_spans_t *s, pt_str_t name) {
    return partner(s, name, 0) != NULL;
}

bool pt_track_spans_run_at(const pt_track_spans_t *s, int64_t ts, bool whole) {
    for (unsigned i = 0; i < s->count; i++) {
        const pt_track_span_t *span = &s->span[i];
        if (span->start <= ts && PT_MIN(span->end, span->cut) > ts &&
            (!whole || (span->begun && span->ended))) {
            return true;
        }
    }
    return false;
}

unsigned pt_track_spans_close(pt_track_spans_t *s, int64_t end, int64_t last) {
    unsigned unfinished = 0;
    for (unsigned i = 0; i < s->count && s->open > 0; i++) {
        pt_track_span_t *span = &s->span[i];
        if (!span->begun || !span->ended) {
            unfinished += close_span(s, span, span->start <= end ? end : last);
        }
    }
    return unfinished;
}

/* ---- lanes ---- */

/* Longer ones first, so that of equal starts the enclosing one is the first. */
static int by_start(const void *a, const void *b) {
    const pt_track_span_t *x = *(pt_track_span_t *const *)a, *y = *(pt_track_span_t *const *)b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end > y->end ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Whether lane 0 has room: beside what was given out before, or around all of it. */
static bool first_lane_has_room(const pt_track_spans_t *s, const pt_track_span_t *span,
                                int64_t start, int64_t end) {
    return span->start >= start && span->end <= end &&
           (span->start >= s->until || (span->start < s->from && span->end >= s->until));
}

typedef struct lanes {
    pt_track_span_t **order;
    uint32_t *top;   /* the innermost open span of a lane */
    uint32_t *below; /* of each span, what it lies in */
    unsigned count;
    void (*put)(void *ctx, const pt_track_span_t *span, unsigned lane, bool is_end);
    void *ctx;
} lanes_t;

/* Ends what has ended by a time. */
static void pop(lanes_t *l, unsigned lane, int64_t by) {
    while (l->top[lane] != NONE && l->order[l->top[lane]]->end <= by) {
        uint32_t i = l->top[lane];
        l->put(l->ctx, l->order[i], lane, true);
        l->top[lane] = l->below[i];
    }
}

static unsigned push(lanes_t *l, uint32_t i, unsigned lane) {
    const pt_track_span_t *span = l->order[i];
    for (;; lane++) {
        if (lane == l->count) {
            l->top[l->count++] = NONE;
        }
        pop(l, lane, span->start);
        if (l->top[lane] == NONE || l->order[l->top[lane]]->end >= span->end) {
            l->below[i] = l->top[lane];
            l->top[lane] = i;
            l->put(l->ctx, span, lane, false);
            return lane;
        }
    }
}

static void forget(pt_track_spans_t *s) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->count; i++) {
        pt_track_span_t *span = &s->span[i];
        if (span->begun && span->ended) {
            free(span->memory[0]);
            free(span->memory[1]);
        } else {
            s->span[kept++] = *span;
        }
    }
    s->count = kept;
}

bool pt_track_spans_take(pt_track_spans_t *s, int64_t start, int64_t end,
                         void (*put)(void *ctx, const pt_track_span_t *span, unsigned lane,
                                     bool is_end),
                         void *ctx) {
    unsigned n = s->count - s->open;
    if (n == 0) {
        return true;
    }
    pt_track_span_t **order = malloc(n * sizeof(pt_track_span_t *));
    uint32_t *links = malloc((2U * n + 1) * sizeof *links);
    if (order == NULL || links == NULL) {
        free(order);
        free(links);
        return false;
    }
    unsigned found = 0;
    for (unsigned i = 0; i < s->count; i++) {
        if (s->span[i].begun && s->span[i].ended) {
            order[found++] = &s->span[i];
        }
    }
    qsort(order, n, sizeof(pt_track_span_t *), by_start);
    lanes_t lanes = {order, links, links + n + 1, 1, put, ctx};
    int64_t from = s->from, until = s->until;
    lanes.top[0] = NONE;
    for (uint32_t i = 0; i < n; i++) {
        const pt_track_span_t *span = order[i];
        bool first = first_lane_has_room(s, span, start, end);
        if (push(&lanes, i, first ? 0 : 1) == 0) {
            from = PT_MIN(from, span->start);
            until = PT_MAX(until, span->end);
        }
    }
    for (unsigned lane = 0; lane < lanes.count; lane++) {
        pop(&lanes, lane, INT64_MAX);
    }
    s->from = from;
    s->until = until;
    free(order);
    free(links);
    forget(s);
    return true;
}

void pt_track_spans_free(pt_track_spans_t *s) {
    for (unsigned i = 0; i < s->count; i++) {
        free(s->span[i].memory[0]);
        free(s->span[i].memory[1]);
    }
    free(s->span);
    *s = (pt_track_spans_t)PT_TRACK_SPANS_INIT;
}
