/* parsed_session.h: one record of a sessions file as it was read. SPDX-License-Identifier: MIT
 *
 * Filled by session_fast (lines in the layout of the writers) or session_json (any JSON), taken in
 * by session_batch. One is used for record after record: its memory stays. Texts are decoded UTF-8;
 * they lie in the input or in `scratch` and live until the next record. Times are seconds on the
 * writer's clock; NAN is "not recorded". Not thread-safe; one a worker. */
#ifndef PERFTRACE_SESSIONS_PARSED_SESSION_H
#define PERFTRACE_SESSIONS_PARSED_SESSION_H
#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

/* More of these in one record are left out and told (PT_SESSION_ODD_MANY). */
#define PT_SESSION_PHASES_MAX   256U
#define PT_SESSION_COUNTERS_MAX 256U
#define PT_SESSION_SPANS_MAX    65535U

/* Equal bytes; for short texts without a call. */
static inline bool pt_same_bytes(const char *a, const char *b, size_t len) {
    uint64_t x, y, v, w;
    uint32_t s, t, q, r;
    if (PT_LIKELY(len >= 8)) {
        if (PT_UNLIKELY(len > 24)) {
            return memcmp(a, b, len) == 0;
        }
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        memcpy(&v, a + len - 8, 8);
        memcpy(&w, b + len - 8, 8);
        if (((x ^ y) | (v ^ w)) != 0) {
            return false;
        }
        if (PT_LIKELY(len <= 16)) {
            return true;
        }
        memcpy(&x, a + 8, 8);
        memcpy(&y, b + 8, 8);
        return x == y;
    }
    if (PT_LIKELY(len >= 4)) {
        memcpy(&s, a, 4);
        memcpy(&t, b, 4);
        memcpy(&q, a + len - 4, 4);
        memcpy(&r, b + len - 4, 4);
        return ((s ^ t) | (q ^ r)) == 0;
    }
    return len == 0 || (a[0] == b[0] && a[len / 2] == b[len / 2] && a[len - 1] == b[len - 1]);
}

typedef struct pt_name {
    const char *p; /* no NUL behind it */
    size_t len;    /* 0: absent */
} pt_name_t;

/* A task or session id: a number, or a text such as a UUID. */
typedef enum pt_ref_kind { PT_REF_NONE, PT_REF_NUMBER, PT_REF_TEXT } pt_ref_kind_t;
typedef struct pt_ref {
    pt_ref_kind_t kind;
    int64_t number;
    pt_name_t text;
} pt_ref_t;

typedef struct pt_parsed_phase {
    pt_name_t name;
    double seconds; /* as <name>_s gives it */
    double running; /* as `unfinished` gives it */
    bool listed;    /* its spans were given */
} pt_parsed_phase_t;

typedef struct pt_parsed_span {
    double start, end; /* end NAN: open */
    double running;    /* open: how long it had been when the record was written */
    uint32_t phase;
} pt_parsed_span_t;

typedef struct pt_parsed_counter {
    pt_name_t name;
    double value;
} pt_parsed_counter_t;

/* What is strange about a record that is taken all the same; bits. */
enum {
    PT_SESSION_ODD_RANK = 1,  /* the rank is no integer: taken as none */
    PT_SESSION_ODD_FIELD = 2, /* a value of another type than it should be: taken as missing */
    PT_SESSION_ODD_TWIN = 4,  /* a key twice: the last one counts */
    PT_SESSION_ODD_MANY = 8   /* more phases, spans or counters than are kept */
};

typedef struct pt_parsed_session {
    pt_ref_t task, session;
    pt_name_t role, status, reason, run_id;
    double submit, finalized, total, queue;
    int32_t rank; /* -1: none */
    unsigned odd; /* PT_SESSION_ODD_ bits */
    unsigned phases, spans, counters;
    unsigned next_phase; /* place of the one that is likely to be asked for next */
    bool evicted;
    bool failed; /* out of memory: the record is not whole */
    /* Memory, from here on. */
    pt_parsed_phase_t *phase;
    pt_parsed_span_t *span;
    pt_parsed_counter_t *counter;
    unsigned phase_cap, span_cap, counter_cap;
    perftrace__strbuf_t scratch;
} pt_parsed_session_t;

/* Empties it for the next record; the first time it must be all zero. */
void pt_parsed_session_reset(pt_parsed_session_t *session);
void pt_parsed_session_free(pt_parsed_session_t *session); /* accepts NULL; usable again */

/* The phase of this name, added when it is new; NULL (told by odd or failed) when it cannot be. The
 * address lives until the next phase is added. */
pt_parsed_phase_t *pt_parsed_session_find_phase(pt_parsed_session_t *session, pt_name_t name);
static inline pt_parsed_phase_t *pt_parsed_session_phase(pt_parsed_session_t *s, pt_name_t name) {
    unsigned i = s->next_phase;
    if (PT_LIKELY(i < s->phases && s->phase[i].name.len == name.len &&
                  pt_same_bytes(s->phase[i].name.p, name.p, name.len))) {
        s->next_phase = i + 1;
        return &s->phase[i];
    }
    return pt_parsed_session_find_phase(s, name);
}
/* Adds an open span without times, likewise. */
bool pt_parsed_session_more_spans(pt_parsed_session_t *session);
static inline pt_parsed_span_t *pt_parsed_session_span(pt_parsed_session_t *s, uint32_t phase) {
    if (PT_UNLIKELY(s->spans == s->span_cap) && !pt_parsed_session_more_spans(s)) {
        return NULL;
    }
    s->span[s->spans] =
        (pt_parsed_span_t){__builtin_nan(""), __builtin_nan(""), __builtin_nan(""), phase};
    return &s->span[s->spans++];
}
void pt_parsed_session_counter(pt_parsed_session_t *session, pt_name_t name, double value);

#endif
