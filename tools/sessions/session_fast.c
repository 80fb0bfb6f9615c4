/* session_fast.c: sessions in the layout of their writers. SPDX-License-Identifier: MIT
 *
 * Each step returns the place behind what it took, or NULL to give up. */
#include "session_fast.h"

#include "json_split.h"
#include "plain_text.h"
#include "session_member.h"

#define SPAN_DEPTH 4 /* record, phases, list, span */
#define HINT_FIRST (PT_KEY_HINTS - 1)

_Static_assert(HINT_FIRST == PT_SESSION_MEMBER_OTHER + 8,
               "a guess for each member, eight for others");

typedef struct fast {
    const char *end; /* of the text */
    pt_parsed_session_t *s;
} fast_t;

/* p is behind the opening quote. */
PT_ALWAYS_INLINE const char *take_text(const fast_t *f, const char *p, pt_name_t *ret) {
    const char *quote = pt_plain_string(p, f->end);
    if (PT_UNLIKELY(quote == NULL)) {
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
    /* White space takes in line feeds: not beyond this line. */
    size_t left = perftrace__json_line_end(p, (size_t)(f->end - p), NULL);
    perftrace__json_cursor_init_readable(&c, p, left, left + PERFTRACE__JSON_SPARE);
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
        if (PT_UNLIKELY(p == NULL)) {
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

static int member_of(pt_name_t key) {
#define MEMBER_TEST(name)                                                                          \
    if (key.len == sizeof(#name) - 1 && PT_PLAIN_AT(key.p, #name)) {                               \
        return PT_SESSION_MEMBER_##name;                                                           \
    }
    PT_SESSION_MEMBER_LIST(MEMBER_TEST)
#undef MEMBER_TEST
    return PT_SESSION_MEMBER_OTHER;
}

/* The guess of what follows a member. */
static unsigned hint_after(int member, size_t key_len) {
    return member != PT_SESSION_MEMBER_OTHER ? (unsigned)member
                                             : PT_SESSION_MEMBER_OTHER + (unsigned)key_len % 8;
}

PT_ALWAYS_INLINE bool is_hint(const char *p, const pt_key_hint_t *hint) {
    return hint->len > 0 && pt_same_bytes(p, hint->text, hint->len);
}

/* The key at p (behind its quote), which is none that was guessed; the place behind its blank. */
static PT_NOINLINE const char *take_key(const fast_t *f, const char *p, pt_name_t *ret_key,
                                        pt_key_hint_t *hint) {
    const char *q = take_text(f, p, ret_key);
    if (q == NULL || q[0] != ':' || q[1] != ' ') {
        return NULL;
    }
    q += 2;
    hint->member = member_of(*ret_key);
    hint->len = 0;
    if ((size_t)(q - p) <= sizeof hint->text) {
        hint->len = (uint8_t)(q - p);
        memcpy(hint->text, p, hint->len);
    }
    return q;
}

/* The value at p of a member. */
PT_ALWAYS_INLINE const char *take_member(const fast_t *f, const char *p, int member,
                                         pt_name_t key) {
    pt_parsed_session_t *s = f->s;
    switch (member) {
    case PT_SESSION_MEMBER_task_id:
        return take_ref(f, p, &s->task);
    case PT_SESSION_MEMBER_session_id:
        return take_ref(f, p, &s->session);
    case PT_SESSION_MEMBER_rank:
        return take_rank(p, &s->rank);
    case PT_SESSION_MEMBER_role:
        return take_name(f, p, &s->role);
    case PT_SESSION_MEMBER_status:
        return take_name(f, p, &s->status);
    case PT_SESSION_MEMBER_reason:
        return take_name(f, p, &s->reason);
    case PT_SESSION_MEMBER_run_id:
        return take_name(f, p, &s->run_id);
    case PT_SESSION_MEMBER_submit_ts:
        return take_number(p, &s->submit);
    case PT_SESSION_MEMBER_finalized_ts:
        return take_number(p, &s->finalized);
    case PT_SESSION_MEMBER_total_s:
        return take_number(p, &s->total);
    case PT_SESSION_MEMBER_queue_s:
        return take_number(p, &s->queue);
    case PT_SESSION_MEMBER_phases:
        return take_inner(f, p, INNER_PHASES);
    case PT_SESSION_MEMBER_counters:
        return take_inner(f, p, INNER_COUNTERS);
    case PT_SESSION_MEMBER_unfinished:
        return take_inner(f, p, INNER_RUNNING);
    case PT_SESSION_MEMBER_evicted:
        s->evicted = *p == 't';
        return skip_value(f, p, 1);
    case PT_SESSION_MEMBER_ph:
        return NULL;
    default:
        return take_other(f, p, key);
    }
}

const char *pt_session_read_fast(pt_session_reader_t *r, const char *p, const char *end) {
    fast_t f = {end, &r->session};
    unsigned seen = 0;
    pt_parsed_session_reset(f.s);
    if (*p++ != '{') {
        return NULL;
    }
    for (unsigned at = HINT_FIRST;;) {
        pt_key_hint_t *hint = r->key[at];
        pt_name_t key = {p + 1, 0};
        if (PT_UNLIKELY(*p != '"')) {
            return NULL;
        }
        bool guessed = is_hint(key.p, hint);
        if (!guessed && is_hint(key.p, hint + 1)) {
            hint++;
            guessed = true;
        }
        if (PT_LIKELY(guessed)) {
            key.len = hint->len - 3U; /* `": ` */
            p = key.p + hint->len;
        } else {
            hint[1] = hint[0];
            p = take_key(&f, key.p, &key, hint);
            if (PT_UNLIKELY(p == NULL)) {
                return NULL;
            }
        }
        unsigned bit = hint->member != PT_SESSION_MEMBER_OTHER ? 1U << hint->member : 0;
        at = hint_after(hint->member, key.len);
        p = take_member(&f, p, hint->member, key);
        if (PT_UNLIKELY(p == NULL || (seen & bit) != 0)) {
            return NULL;
        }
        seen |= bit;
        if (*p == '}') {
            p++;
            break;
        }
        if (PT_UNLIKELY(p[0] != ',' || p[1] != ' ')) {
            return NULL;
        }
        p += 2;
    }
    bool whole = p == end || *p == '\n';
    return whole && (seen >> PT_SESSION_MEMBER_session_id & 1U) != 0 && !f.s->failed ? p : NULL;
}
