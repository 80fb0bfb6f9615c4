/* session_fast.c: sessions in the layout of their writers. SPDX-License-Identifier: MIT
 *
 * Each step returns the place behind what it took, or NULL to give up. */
#include "session_fast.h"

#include "json_scan.h"
#include "plain_text.h"

enum {
    SEEN_TASK = 1,
    SEEN_SESSION = 2,
    SEEN_RANK = 4,
    SEEN_ROLE = 8,
    SEEN_STATUS = 16,
    SEEN_REASON = 32,
    SEEN_SUBMIT = 64,
    SEEN_FINALIZED = 128,
    SEEN_TOTAL = 256,
    SEEN_QUEUE = 512,
    SEEN_PHASES = 1024,
    SEEN_COUNTERS = 2048,
    SEEN_RUN = 4096,
    SEEN_UNFINISHED = 8192,
    SEEN_EVICTED = 16384
};

#define SPAN_DEPTH 4 /* record, phases, list, span */

typedef struct fast {
    const char *end;
    pt_parsed_session_t *s;
    unsigned seen;
} fast_t;

/* p is behind the opening quote. */
PT_ALWAYS_INLINE const char *take_text(const fast_t *f, const char *p, pt_name_t *ret) {
    const char *quote = pt_plain_quote(p, f->end);
    if (PT_UNLIKELY(quote >= f->end)) {
        return NULL;
    }
    *ret = (pt_name_t){p, (size_t)(quote - p)};
    return quote + 1;
}

PT_ALWAYS_INLINE const char *take_name(const fast_t *f, const char *p, pt_name_t *ret) {
    if (*p == '"') {
        return take_text(f, p + 1, ret);
    }
    return PT_PLAIN_AT(p, "null") ? p + 4 : NULL;
}

PT_ALWAYS_INLINE const char *take_number(const char *p, double *ret) {
    if (PT_UNLIKELY(*p == 'n')) {
        return PT_PLAIN_AT(p, "null") ? p + 4 : NULL;
    }
    return perftrace__json_read_double(p, ret);
}

PT_ALWAYS_INLINE const char *take_ref(const fast_t *f, const char *p, pt_ref_t *ret) {
    if (*p == '"') {
        ret->kind = PT_REF_TEXT;
        return take_text(f, p + 1, &ret->text);
    }
    ret->kind = PT_REF_NUMBER;
    p = pt_plain_int(p, &ret->number);
    return p != NULL && (*p == ',' || *p == '}') ? p : NULL;
}

static const char *take_rank(const char *p, int32_t *ret) {
    int64_t rank;
    if (*p == 'n') {
        return PT_PLAIN_AT(p, "null") ? p + 4 : NULL;
    }
    p = pt_plain_int(p, &rank);
    if (p == NULL || rank < 0 || rank > INT32_MAX || (*p != ',' && *p != '}')) {
        return NULL;
    }
    *ret = (int32_t)rank;
    return p;
}

/* A value that is not looked at, inside of `depth` containers. */
static const char *skip_value(const fast_t *f, const char *p, unsigned depth) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    perftrace__json_cursor_init_readable(&c, p, (size_t)(f->end - p),
                                         (size_t)(f->end - p) + PERFTRACE__JSON_SPARE);
    c.depth = depth;
    return perftrace__json_next_value(&c, &value) == 1 ? c.p : NULL;
}

/* What stands behind a span's times; p is behind a comma and a blank. */
static const char *take_span_rest(const fast_t *f, const char *p, pt_parsed_span_t *span) {
    unsigned seen = 0;
    for (;;) {
        pt_name_t key = {NULL, 0};
        p = *p == '"' ? take_text(f, p + 1, &key) : NULL;
        if (p == NULL || p[0] != ':' || p[1] != ' ') {
            return NULL;
        }
        p += 2;
        if (key.len == 9 && PT_PLAIN_AT(key.p, "running_s")) {
            p = seen++ == 0 ? take_number(p, &span->running) : NULL;
        } else if ((key.len == 5 && PT_PLAIN_AT(key.p, "start")) ||
                   (key.len == 3 && PT_PLAIN_AT(key.p, "end"))) {
            p = skip_value(f, p, SPAN_DEPTH);
        } else {
            return NULL;
        }
        if (p == NULL || *p == '}') {
            return p;
        }
        if (p[0] != ',' || p[1] != ' ') {
            return NULL;
        }
        p += 2;
    }
}

/* The elements behind an opening bracket. */
PT_ALWAYS_INLINE const char *take_spans(const fast_t *f, const char *p, uint32_t phase) {
    for (;;) {
        pt_parsed_span_t *span = pt_parsed_session_span(f->s, phase);
        if (PT_UNLIKELY(span == NULL || !PT_PLAIN_AT(p, "{\"start_ts\": "))) {
            return NULL;
        }
        p = take_number(p + 13, &span->start);
        if (PT_UNLIKELY(p == NULL || !PT_PLAIN_AT(p, ", \"end_ts\": "))) {
            return NULL;
        }
        p = take_number(p + 12, &span->end);
        if (p != NULL && PT_UNLIKELY(p[0] == ',' && p[1] == ' ')) {
            p = take_span_rest(f, p + 2, span);
        }
        if (PT_UNLIKELY(p == NULL || *p != '}')) {
            return NULL;
        }
        if (p[1] == ']') {
            return p + 2;
        }
        if (PT_UNLIKELY(p[1] != ',' || p[2] != ' ')) {
            return NULL;
        }
        p += 3;
    }
}

typedef enum inner { INNER_PHASES, INNER_COUNTERS, INNER_RUNNING } inner_t;

PT_ALWAYS_INLINE const char *take_inner_value(const fast_t *f, const char *p, inner_t what,
                                              pt_name_t key) {
    if (what == INNER_COUNTERS) {
        double value;
        unsigned before = f->s->counters;
        p = *p == 'n' ? NULL : take_number(p, &value);
        if (p != NULL) {
            pt_parsed_session_counter(f->s, key, value);
        }
        return f->s->counters > before ? p : NULL;
    }
    pt_parsed_phase_t *phase = pt_parsed_session_phase(f->s, key);
    if (phase == NULL) {
        return NULL;
    }
    if (what == INNER_RUNNING) {
        return take_number(p, &phase->running);
    }
    if (*p != '[' || phase->listed) {
        return NULL;
    }
    phase->listed = true;
    return take_spans(f, p + 1, (uint32_t)(phase - f->s->phase));
}

/* The object at p. */
PT_ALWAYS_INLINE const char *take_inner(const fast_t *f, const char *p, inner_t what) {
    if (*p++ != '{') {
        return NULL;
    }
    for (;;) {
        pt_name_t key = {NULL, 0};
        p = *p == '"' ? take_text(f, p + 1, &key) : NULL;
        if (PT_UNLIKELY(p == NULL || p[0] != ':' || p[1] != ' ')) {
            return NULL;
        }
        p = take_inner_value(f, p + 2, what, key);
        if (PT_UNLIKELY(p == NULL || p >= f->end)) {
            return NULL;
        }
        if (*p == '}') {
            return p + 1;
        }
        if (PT_UNLIKELY(p[0] != ',' || p[1] != ' ')) {
            return NULL;
        }
        p += 2;
    }
}

static const char *take_other(const fast_t *f, const char *p, pt_name_t key) {
    if (key.len <= 2 || key.p[key.len - 2] != '_' || key.p[key.len - 1] != 's') {
        return skip_value(f, p, 1);
    }
    pt_parsed_phase_t *phase = pt_parsed_session_phase(f->s, (pt_name_t){key.p, key.len - 2});
    return phase != NULL && (*p == '-' || pt_plain_digit(*p)) ? take_number(p, &phase->seconds)
                                                              : NULL;
}

#define KEY_IS(literal) PT_PLAIN_AT(key.p, literal)

/* The value at p of a member; *bit says which member it is. */
PT_ALWAYS_INLINE const char *take_member(const fast_t *f, const char *p, pt_name_t key,
                                         unsigned *bit) {
    pt_parsed_session_t *s = f->s;
    *bit = 0;
    switch (key.len) {
    case 2:
        if (KEY_IS("ph")) {
            return NULL;
        }
        break;
    case 4:
        if (KEY_IS("rank")) {
            *bit = SEEN_RANK;
            return take_rank(p, &s->rank);
        }
        if (KEY_IS("role")) {
            *bit = SEEN_ROLE;
            return take_name(f, p, &s->role);
        }
        break;
    case 6:
        if (KEY_IS("status")) {
            *bit = SEEN_STATUS;
            return take_name(f, p, &s->status);
        }
        if (KEY_IS("phases")) {
            *bit = SEEN_PHASES;
            return take_inner(f, p, INNER_PHASES);
        }
        if (KEY_IS("reason")) {
            *bit = SEEN_REASON;
            return take_name(f, p, &s->reason);
        }
        if (KEY_IS("run_id")) {
            *bit = SEEN_RUN;
            return take_name(f, p, &s->run_id);
        }
        break;
    case 7:
        if (KEY_IS("task_id")) {
            *bit = SEEN_TASK;
            return take_ref(f, p, &s->task);
        }
        if (KEY_IS("total_s")) {
            *bit = SEEN_TOTAL;
            return take_number(p, &s->total);
        }
        if (KEY_IS("queue_s")) {
            *bit = SEEN_QUEUE;
            return take_number(p, &s->queue);
        }
        if (KEY_IS("evicted")) {
            *bit = SEEN_EVICTED;
            s->evicted = *p == 't';
            return skip_value(f, p, 1);
        }
        break;
    case 8:
        if (KEY_IS("counters")) {
            *bit = SEEN_COUNTERS;
            return take_inner(f, p, INNER_COUNTERS);
        }
        break;
    case 9:
        if (KEY_IS("submit_ts")) {
            *bit = SEEN_SUBMIT;
            return take_number(p, &s->submit);
        }
        break;
    case 10:
        if (KEY_IS("session_id")) {
            *bit = SEEN_SESSION;
            return take_ref(f, p, &s->session);
        }
        if (KEY_IS("unfinished")) {
            *bit = SEEN_UNFINISHED;
            return take_inner(f, p, INNER_RUNNING);
        }
        break;
    case 12:
        if (KEY_IS("finalized_ts")) {
            *bit = SEEN_FINALIZED;
            return take_number(p, &s->finalized);
        }
        break;
    default:
        break;
    }
    return take_other(f, p, key);
}

bool pt_session_read_fast(const char *p, const char *end, pt_parsed_session_t *s) {
    fast_t f = {end, s, 0};
    pt_parsed_session_reset(s);
    if (*p != '{' || p[1] != '"') {
        return false;
    }
    p += 2;
    for (;;) {
        pt_name_t key = {NULL, 0};
        unsigned bit;
        p = take_text(&f, p, &key);
        if (PT_UNLIKELY(p == NULL || p[0] != ':' || p[1] != ' ')) {
            return false;
        }
        p = take_member(&f, p + 2, key, &bit);
        if (PT_UNLIKELY(p == NULL || p >= end || (f.seen & bit) != 0)) {
            return false;
        }
        f.seen |= bit;
        if (*p == '}') {
            return p + 1 == end && (f.seen & SEEN_SESSION) != 0 && !s->failed;
        }
        if (PT_UNLIKELY(p[0] != ',' || p[1] != ' ' || p[2] != '"')) {
            return false;
        }
        p += 3;
    }
}
