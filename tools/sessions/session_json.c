/* session_json.c: sessions in any JSON form. SPDX-License-Identifier: MIT */
#include "session_json.h"

#include "session_member.h"

#include <math.h>

static pt_session_member_t member_of(const perftrace__json_slice_t *key) {
#define MEMBER_TEST(name)                                                                          \
    if (perftrace__json_is(key, #name)) {                                                          \
        return PT_SESSION_MEMBER_##name;                                                           \
    }
    PT_SESSION_MEMBER_LIST(MEMBER_TEST)
#undef MEMBER_TEST
    return PT_SESSION_MEMBER_OTHER;
}

/* A string's text, decoded. `scratch` has room for all of the record: it never moves. */
static pt_name_t name_from(pt_parsed_session_t *s, const perftrace__json_slice_t *value) {
    if (PT_LIKELY(!value->escaped)) {
        return (pt_name_t){value->p, value->len};
    }
    char *to = s->scratch.data + s->scratch.len;
    size_t len = perftrace__json_decode(value, to);
    s->scratch.len += len;
    return (pt_name_t){to, len};
}

/* A text; null and "" are none. */
static void take_name(pt_parsed_session_t *s, const perftrace__json_slice_t *value,
                      pt_name_t *field) {
    *field = (pt_name_t){NULL, 0};
    if (value->type == PERFTRACE__JSON_STRING) {
        *field = name_from(s, value);
    } else if (value->type != PERFTRACE__JSON_NULL) {
        s->odd |= PT_SESSION_ODD_FIELD;
    }
}

static void take_number(pt_parsed_session_t *s, const perftrace__json_slice_t *value,
                        double *field) {
    *field = (double)NAN;
    if (value->type == PERFTRACE__JSON_NULL) {
        return;
    }
    if (!perftrace__json_to_double(value, field) || !isfinite(*field)) {
        *field = (double)NAN;
        s->odd |= PT_SESSION_ODD_FIELD;
    }
}

static void take_ref(pt_parsed_session_t *s, const perftrace__json_slice_t *value,
                     pt_ref_t *field) {
    *field = (pt_ref_t){PT_REF_NONE, 0, {NULL, 0}};
    if (value->type == PERFTRACE__JSON_NULL) {
        return;
    }
    if (value->type == PERFTRACE__JSON_NUMBER && perftrace__json_to_i64(value, &field->number)) {
        field->kind = PT_REF_NUMBER;
    } else if (value->type == PERFTRACE__JSON_NUMBER || value->type == PERFTRACE__JSON_STRING) {
        field->kind = PT_REF_TEXT;
        field->text = name_from(s, value);
    } else {
        s->odd |= PT_SESSION_ODD_FIELD;
    }
}

static void take_rank(pt_parsed_session_t *s, const perftrace__json_slice_t *value) {
    int64_t rank = -1;
    s->rank = -1;
    if (value->type == PERFTRACE__JSON_NULL) {
        return;
    }
    if (perftrace__json_to_i64(value, &rank) && rank >= 0 && rank <= INT32_MAX) {
        s->rank = (int32_t)rank;
    } else {
        s->odd |= PT_SESSION_ODD_RANK;
    }
}

/* ---- objects in the record; each validated already ---- */

static void take_span(pt_parsed_session_t *s, const perftrace__json_cursor_t *parent,
                      const perftrace__json_slice_t *element, uint32_t phase) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    perftrace__json_cursor_nested(&c, parent, element);
    pt_parsed_span_t *span =
        element->type == PERFTRACE__JSON_OBJECT ? pt_parsed_session_span(s, phase) : NULL;
    if (span == NULL || !perftrace__json_enter_object(&c)) {
        s->odd |= element->type != PERFTRACE__JSON_OBJECT ? (unsigned)PT_SESSION_ODD_FIELD : 0U;
        return;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        if (perftrace__json_is(&key, "start_ts")) {
            take_number(s, &value, &span->start);
        } else if (perftrace__json_is(&key, "end_ts")) {
            take_number(s, &value, &span->end);
        } else if (perftrace__json_is(&key, "running_s")) {
            take_number(s, &value, &span->running);
        }
    }
}

/* Of equal keys the last one counts. */
static void forget_spans(pt_parsed_session_t *s, uint32_t phase) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->spans; i++) {
        if (s->span[i].phase != phase) {
            s->span[kept++] = s->span[i];
        }
    }
    s->spans = kept;
    s->odd |= PT_SESSION_ODD_TWIN;
}

static void take_spans(pt_parsed_session_t *s, const perftrace__json_cursor_t *parent,
                       const perftrace__json_slice_t *key, const perftrace__json_slice_t *list) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t element;
    perftrace__json_cursor_nested(&c, parent, list);
    pt_parsed_phase_t *phase = pt_parsed_session_phase(s, name_from(s, key));
    if (phase == NULL || !perftrace__json_enter_array(&c)) {
        s->odd |= PT_SESSION_ODD_FIELD;
        return;
    }
    uint32_t index = (uint32_t)(phase - s->phase);
    if (phase->listed) {
        forget_spans(s, index);
    }
    phase->listed = true;
    while (perftrace__json_next_element(&c, &element) > 0) {
        take_span(s, &c, &element, index);
    }
}

static void take_running(pt_parsed_session_t *s, const perftrace__json_slice_t *key,
                         const perftrace__json_slice_t *value) {
    pt_parsed_phase_t *phase = pt_parsed_session_phase(s, name_from(s, key));
    if (phase != NULL) {
        take_number(s, value, &phase->running);
    }
}

static void take_counter(pt_parsed_session_t *s, const perftrace__json_slice_t *key,
                         const perftrace__json_slice_t *value) {
    double number;
    take_number(s, value, &number);
    if (!isnan(number)) {
        pt_parsed_session_counter(s, name_from(s, key), number);
    }
}

/* The object that a member of the record holds. */
static void take_object(pt_parsed_session_t *s, const perftrace__json_cursor_t *parent,
                        pt_session_member_t member, const perftrace__json_slice_t *object) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    perftrace__json_cursor_nested(&c, parent, object);
    if (object->type == PERFTRACE__JSON_NULL) {
        return;
    }
    if (!perftrace__json_enter_object(&c)) {
        s->odd |= PT_SESSION_ODD_FIELD;
        return;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        if (member == PT_SESSION_MEMBER_phases) {
            take_spans(s, &c, &key, &value);
        } else if (member == PT_SESSION_MEMBER_unfinished) {
            take_running(s, &key, &value);
        } else {
            take_counter(s, &key, &value);
        }
    }
}

/* Everything that ends in _s is how long a phase took. */
static void take_other(pt_parsed_session_t *s, const perftrace__json_slice_t *key,
                       const perftrace__json_slice_t *value) {
    pt_name_t name = name_from(s, key);
    if (name.len > 2 && memcmp(name.p + name.len - 2, "_s", 2) == 0 &&
        value->type == PERFTRACE__JSON_NUMBER) {
        pt_parsed_phase_t *phase = pt_parsed_session_phase(s, (pt_name_t){name.p, name.len - 2});
        if (phase != NULL) {
            take_number(s, value, &phase->seconds);
        }
    }
}

static void take_member(pt_parsed_session_t *s, const perftrace__json_cursor_t *c,
                        pt_session_member_t member, const perftrace__json_slice_t *key,
                        const perftrace__json_slice_t *value) {
    switch (member) {
    case PT_SESSION_MEMBER_task_id:
        take_ref(s, value, &s->task);
        break;
    case PT_SESSION_MEMBER_session_id:
        take_ref(s, value, &s->session);
        break;
    case PT_SESSION_MEMBER_rank:
        take_rank(s, value);
        break;
    case PT_SESSION_MEMBER_role:
        take_name(s, value, &s->role);
        break;
    case PT_SESSION_MEMBER_status:
        take_name(s, value, &s->status);
        break;
    case PT_SESSION_MEMBER_reason:
        take_name(s, value, &s->reason);
        break;
    case PT_SESSION_MEMBER_run_id:
        take_name(s, value, &s->run_id);
        break;
    case PT_SESSION_MEMBER_submit_ts:
        take_number(s, value, &s->submit);
        break;
    case PT_SESSION_MEMBER_finalized_ts:
        take_number(s, value, &s->finalized);
        break;
    case PT_SESSION_MEMBER_total_s:
        take_number(s, value, &s->total);
        break;
    case PT_SESSION_MEMBER_queue_s:
        take_number(s, value, &s->queue);
        break;
    case PT_SESSION_MEMBER_phases:
    case PT_SESSION_MEMBER_counters:
    case PT_SESSION_MEMBER_unfinished:
        take_object(s, c, member, value);
        break;
    case PT_SESSION_MEMBER_evicted:
        s->evicted = value->type == PERFTRACE__JSON_TRUE;
        break;
    case PT_SESSION_MEMBER_ph:
        break;
    case PT_SESSION_MEMBER_OTHER:
        take_other(s, key, value);
        break;
    }
}

static void forget(pt_parsed_session_t *s, pt_session_member_t member) {
    s->odd |= PT_SESSION_ODD_TWIN;
    if (member == PT_SESSION_MEMBER_phases) {
        s->spans = 0;
        for (unsigned i = 0; i < s->phases; i++) {
            s->phase[i].listed = false;
        }
    } else if (member == PT_SESSION_MEMBER_counters) {
        s->counters = 0;
    }
}

/* Walks the members of the object at p. False: not strict; reader->error tells. */
static bool walk(pt_session_reader_t *r, const char *p, size_t len, unsigned *ret_seen,
                 size_t *ret_used) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    pt_parsed_session_t *s = &r->session;
    pt_parsed_session_reset(s);
    *ret_seen = 0;
    if (!perftrace__strbuf_reserve(&s->scratch, len)) {
        s->failed = true;
        r->error = (perftrace__json_error_t){PERFTRACE__JSON_E_NO_MEMORY, 0};
        return false;
    }
    perftrace__json_cursor_init_readable(&c, p, len, len + PT_SESSION_PAD);
    perftrace__json_cursor_hint(&c, &r->hints);
    int more = perftrace__json_enter_object(&c) ? 1 : -1;
    while (more > 0 && (more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        pt_session_member_t member = member_of(&key);
        if (member != PT_SESSION_MEMBER_OTHER && (*ret_seen >> member & 1U) != 0) {
            forget(s, member);
        }
        *ret_seen |= 1U << member;
        take_member(s, &c, member, &key, &value);
    }
    r->error = c.error;
    if (more < 0) {
        return false;
    }
    *ret_used = (size_t)(c.p - p);
    if (perftrace__json_at_end(&c)) {
        *ret_used = len;
    }
    return true;
}

static pt_session_found_t judge(unsigned seen) {
    if ((seen >> PT_SESSION_MEMBER_session_id & 1U) != 0) {
        return PT_SESSION_FOUND;
    }
    return (seen >> PT_SESSION_MEMBER_ph & 1U) != 0 ? PT_SESSION_FOUND_EVENT
                                                    : PT_SESSION_FOUND_OTHER;
}

pt_session_found_t pt_session_read_json(pt_session_reader_t *r, const char *p, size_t len,
                                        size_t *ret_used) {
    unsigned seen;
    size_t inner;
    r->repairs = 0;
    *ret_used = len;
    if (walk(r, p, len, &seen, ret_used)) {
        return judge(seen);
    }
    if (r->error.code == PERFTRACE__JSON_E_EMPTY) {
        return PT_SESSION_FOUND_BLANK;
    }
    perftrace__strbuf_clear(&r->mended);
    if (!perftrace__json_repair(p, len, &r->mended, &r->repairs, ret_used, &r->error)) {
        *ret_used = len;
        return r->error.code == PERFTRACE__JSON_E_EMPTY ? PT_SESSION_FOUND_BLANK
                                                        : PT_SESSION_FOUND_DAMAGED;
    }
    if (!perftrace__strbuf_reserve(&r->mended, PT_SESSION_PAD)) {
        r->error = (perftrace__json_error_t){PERFTRACE__JSON_E_NO_MEMORY, 0};
        r->session.failed = true;
        return PT_SESSION_FOUND_DAMAGED;
    }
    memset(r->mended.data + r->mended.len, 0, PT_SESSION_PAD);
    if (!walk(r, r->mended.data, r->mended.len, &seen, &inner)) {
        return r->error.code == PERFTRACE__JSON_E_NOT_OBJECT ? PT_SESSION_FOUND_SCALAR
                                                             : PT_SESSION_FOUND_DAMAGED;
    }
    return judge(seen);
}

void pt_session_reader_free(pt_session_reader_t *r) {
    if (r != NULL) {
        pt_parsed_session_free(&r->session);
        perftrace__strbuf_free(&r->mended);
        memset(r, 0, sizeof *r);
    }
}
