/* parsed_session.c: one record of a sessions file as it was read. SPDX-License-Identifier: MIT */
#include "parsed_session.h"

#include <math.h>
#include <stdlib.h>

void pt_parsed_session_reset(pt_parsed_session_t *s) {
    static const pt_parsed_session_t blank = {.rank = -1,
                                              .submit = (double)NAN,
                                              .finalized = (double)NAN,
                                              .total = (double)NAN,
                                              .queue = (double)NAN};
    /* All that belongs to one record stands before the memory that is kept. */
    memcpy(s, &blank, offsetof(pt_parsed_session_t, phase));
    if (s->scratch.len > 0) {
        perftrace__strbuf_clear(&s->scratch);
    }
}

void pt_parsed_session_free(pt_parsed_session_t *s) {
    if (s != NULL) {
        free(s->phase);
        free(s->span);
        free(s->counter);
        perftrace__strbuf_free(&s->scratch);
        memset(s, 0, sizeof *s);
    }
}

/* Room for one more element; false without memory or beyond the limit. */
static bool grow(pt_parsed_session_t *s, void **array, size_t size, unsigned count, unsigned *cap,
                 unsigned limit) {
    if (PT_LIKELY(count < *cap)) {
        return true;
    }
    if (count >= limit) {
        s->odd |= PT_SESSION_ODD_MANY;
        return false;
    }
    unsigned more = PT_MIN(PT_MAX(*cap * 2, 8U), limit);
    void *grown = realloc(*array, more * size);
    if (grown == NULL) {
        s->failed = true;
        return false;
    }
    *array = grown;
    *cap = more;
    return true;
}

#define GROW(s, array, count, cap, limit)                                                          \
    grow((s), (void **)&(s)->array, sizeof *(s)->array, (s)->count, &(s)->cap, (limit))

pt_parsed_phase_t *pt_parsed_session_find_phase(pt_parsed_session_t *s, pt_name_t name) {
    unsigned i = 0;
    while (i < s->phases && (s->phase[i].name.len != name.len ||
                             !pt_same_bytes(s->phase[i].name.p, name.p, name.len))) {
        i++;
    }
    if (i == s->phases) {
        if (!GROW(s, phase, phases, phase_cap, PT_SESSION_PHASES_MAX)) {
            return NULL;
        }
        s->phase[s->phases++] = (pt_parsed_phase_t){name, (double)NAN, (double)NAN, false};
        return &s->phase[i]; /* the next one is likely to be new, too: not for next_phase */
    }
    s->next_phase = i + 1;
    return &s->phase[i];
}

bool pt_parsed_session_more_spans(pt_parsed_session_t *s) {
    return GROW(s, span, spans, span_cap, PT_SESSION_SPANS_MAX);
}

void pt_parsed_session_counter(pt_parsed_session_t *s, pt_name_t name, double value) {
    if (GROW(s, counter, counters, counter_cap, PT_SESSION_COUNTERS_MAX)) {
        s->counter[s->counters++] = (pt_parsed_counter_t){name, value};
    }
}
