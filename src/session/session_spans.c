/* session_spans.c. SPDX-License-Identifier: MIT */
#include "session_spans.h"

/* A begin looks for the end that came before it among so many of them. */
#define MADE_UP_LOOK 64

typedef perftrace__cells_t cells_t;
typedef perftrace__live_t live_t;
typedef perftrace__span_t span_t;

bool perftrace__span_complete(const perftrace__cells_t *cells, perftrace__live_t *live,
                              uint32_t phase, uint64_t ns, uint32_t text) {
    uint32_t *link = &live->made_up;
    for (int i = 0; i < MADE_UP_LOOK && *link; i++) {
        span_t *span = perftrace__cells_span(cells, *link);
        if (span->phase == phase && span->start == ns) {
            span->start_text = text;
            perftrace__span_close(cells, live, link);
            return true;
        }
        link = &span->next;
    }
    return false;
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

bool perftrace__span_end_other(perftrace__cells_t *cells, perftrace__live_t *live, uint32_t phase,
                               bool single, uint64_t began, uint64_t ns, uint32_t text,
                               uint64_t *ret_start) {
    uint32_t *link =
        began ? open_since(cells, live, phase, began) : last_open(cells, live, phase, single, ns);
    if (link) {
        span_t *span = perftrace__cells_span(cells, *link);
        *ret_start = span->start;
        span->end = PT_MAX(ns, span->start);
        span->end_text = text;
        perftrace__span_close(cells, live, link);
        return true;
    }
    *ret_start = began ? began : ns;
    const span_t init = {.phase = (uint16_t)phase,
                         .start = *ret_start,
                         .end = PT_MAX(ns, *ret_start),
                         .end_text = text};
    if (!perftrace__span_make(cells, live, &live->made_up, &init)) {
        return false;
    }
    if (!began) {
        perftrace__span_close(cells, live, &live->made_up);
    }
    return true;
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

static void drop_payloads(cells_t *cells, uint32_t list) {
    while (list) {
        const span_t *s = perftrace__cells_span(cells, list);
        perftrace__cells_drop_text(cells, s->start_text);
        perftrace__cells_drop_text(cells, s->end_text);
        list = s->next;
    }
}

static void give_list(cells_t *cells, uint32_t list) {
    while (list) {
        uint32_t next = perftrace__cells_span(cells, list)->next;
        perftrace__cells_give(cells, list);
        list = next;
    }
}

void perftrace__spans_give(perftrace__cells_t *cells, perftrace__live_t *live) {
    if (PT_UNLIKELY(live->has_payloads)) {
        drop_payloads(cells, live->open);
        drop_payloads(cells, live->made_up);
        drop_payloads(cells, live->closed);
    }
    give_list(cells, live->open);
    give_list(cells, live->made_up);
    if (live->closed) {
        perftrace__cells_give_chain(cells, live->closed, live->closed_end);
    }
    live->open = live->made_up = live->closed = live->nspans = 0;
}
