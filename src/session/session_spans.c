/* session_spans.c. SPDX-License-Identifier: MIT */
#include "session_spans.h"

/* A begin looks for the end that came before it among so many of them. */
#define MADE_UP_LOOK 64

typedef perftrace__cells_t cells_t;
typedef perftrace__live_t live_t;
typedef perftrace__span_t span_t;

static bool make_span(cells_t *cells, live_t *live, uint32_t *list, const span_t *init) {
    uint32_t number = perftrace__cells_take(cells);
    if (PT_UNLIKELY(!number)) {
        return false;
    }
    span_t *span = perftrace__cells_span(cells, number);
    *span = *init;
    span->next = *list;
    *list = number;
    live->nspans++;
    return true;
}

/* Moves the span that *link names to the front of another list. */
static void move_span(const cells_t *cells, uint32_t *link, uint32_t *to) {
    uint32_t number = *link;
    span_t *span = perftrace__cells_span(cells, number);
    *link = span->next;
    span->next = *to;
    *to = number;
}

/* Completes the span whose end came before this begin. */
static bool complete(const cells_t *cells, live_t *live, uint32_t phase, uint64_t ns,
                     uint32_t text) {
    uint32_t *link = &live->made_up;
    for (int i = 0; i < MADE_UP_LOOK && *link; i++) {
        span_t *span = perftrace__cells_span(cells, *link);
        if (span->phase == phase && span->start == ns) {
            span->start_text = text;
            move_span(cells, link, &live->closed);
            return true;
        }
        link = &span->next;
    }
    return false;
}

bool perftrace__span_begin(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                           uint64_t ns, uint32_t text) {
    if (PT_UNLIKELY(live->made_up) && complete(cells, live, phase, ns, text)) {
        return true;
    }
    const span_t init = {
        .phase = (uint16_t)phase, .start = ns, .end = PERFTRACE__SPAN_OPEN, .start_text = text};
    return make_span(cells, live, &live->open, &init);
}

/* The open span that an end without `began` means. In a phase that allows one span at a time,
 * whatever began before the last one has ended already. */
static uint32_t *last_open(const cells_t *cells, live_t *live, uint32_t phase, bool single,
                           uint64_t ns) {
    uint32_t *last = NULL;
    uint64_t start = 0;
    for (uint32_t *link = &live->open; *link;) {
        span_t *span = perftrace__cells_span(cells, *link);
        if (span->phase == phase && span->start <= ns && (!last || span->start > start)) {
            last = link;
            start = span->start;
        }
        link = &span->next;
    }
    for (uint32_t list = single && last ? live->closed : 0; list;) {
        const span_t *span = perftrace__cells_span(cells, list);
        if (span->phase == phase && span->start > start) {
            return NULL;
        }
        list = span->next;
    }
    return last;
}

static uint32_t *open_since(const cells_t *cells, live_t *live, uint32_t phase, uint64_t began) {
    for (uint32_t *link = &live->open; *link;) {
        span_t *span = perftrace__cells_span(cells, *link);
        if (span->start == began && span->phase == phase) {
            return link;
        }
        link = &span->next;
    }
    return NULL;
}

bool perftrace__span_end(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                         bool single, uint64_t began, uint64_t ns, uint32_t text,
                         uint64_t *ret_start) {
    uint32_t *link =
        began ? open_since(cells, live, phase, began) : last_open(cells, live, phase, single, ns);
    if (PT_LIKELY(link)) {
        span_t *span = perftrace__cells_span(cells, *link);
        *ret_start = span->start;
        span->end = PT_MAX(ns, span->start);
        span->end_text = text;
        move_span(cells, link, &live->closed);
        return true;
    }
    *ret_start = began ? began : ns;
    const span_t init = {.phase = (uint16_t)phase,
                         .start = *ret_start,
                         .end = PT_MAX(ns, *ret_start),
                         .end_text = text};
    return make_span(cells, live, began ? &live->made_up : &live->closed, &init);
}

bool perftrace__span_is_open(const perftrace__cells_t *cells, const perftrace__live_t *live,
                             uint32_t phase) {
    for (uint32_t list = live->open; list;) {
        const span_t *span = perftrace__cells_span(cells, list);
        if (span->phase == phase) {
            return true;
        }
        list = span->next;
    }
    return false;
}

static void give_list(cells_t *cells, uint32_t list) {
    while (list) {
        const span_t *s = perftrace__cells_span(cells, list);
        uint32_t next = s->next;
        if (s->start_text | s->end_text) {
            perftrace__cells_drop_text(cells, s->start_text);
            perftrace__cells_drop_text(cells, s->end_text);
        }
        perftrace__cells_give(cells, list);
        list = next;
    }
}

void perftrace__spans_give(perftrace__cells_t *cells, perftrace__live_t *live) {
    give_list(cells, live->open);
    give_list(cells, live->made_up);
    give_list(cells, live->closed);
    live->open = live->made_up = live->closed = live->nspans = 0;
}
