/* event_shape.c: lines that differ from an earlier one only in their values.
 * SPDX-License-Identifier: MIT */
#include "event_shape.h"

#include "plain_text.h"

#include <stdlib.h>

#define NAME_AT     10U /* behind `{"name": "` */
#define LEARN_LIMIT 32U /* a place with ever new shapes is not worth the learning */
#define WORTH_MAX   8U

/* Whether p begins with text[0..len). 16 bytes behind both are readable; nothing is read behind the
 * first 16 that differ. */
PT_ALWAYS_INLINE bool same(const char *p, const char *text, size_t len) {
#if defined(__SSE2__)
    for (;; p += 16, text += 16, len -= 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)text);
        unsigned differ = 0xFFFFU ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
        if (len <= 16) {
            return (differ & ((1U << len) - 1U)) == 0;
        }
        if (differ != 0) {
            return false;
        }
    }
#else
    for (; len >= 8; p += 8, text += 8, len -= 8) {
        if (memcmp(p, text, 8) != 0) {
            return false;
        }
    }
    return memcmp(p, text, len) == 0;
#endif
}

/* The shape's place for a name from p to its quote: by its length and its ends. What stands before
 * a short name is the same in all lines. */
PT_ALWAYS_INLINE unsigned shape_index(const char *p, const char *quote) {
    uint64_t first, last;
    memcpy(&first, p, 8);
    memcpy(&last, quote - 8, 8);
    first = quote - p < 8 ? 0 : first;
    uint64_t h = (first + (uint64_t)(quote - p)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32 ^ last) * UINT64_C(0xD6E8FEB86659FD93);
    return (unsigned)(h >> 56);
}

/* A value of the kind at p; the place behind it, or NULL. */
PT_ALWAYS_INLINE const char *take_value(const char *p, const char *end, unsigned kind) {
    if (PT_LIKELY(kind == PT_SHAPE_NUMBER)) {
        return pt_plain_number(p);
    }
    if (kind == PT_SHAPE_STRING) {
        p = *p == '"' ? pt_plain_string(p + 1, end) : NULL;
        return p != NULL ? p + 1 : NULL;
    }
    if (PT_PLAIN_AT(p, "true") || PT_PLAIN_AT(p, "null")) {
        return p + 4;
    }
    return PT_PLAIN_AT(p, "false") ? p + 5 : NULL;
}

/* `KEY` and a number; ret without a text. */
static const char *take_ident(const char *p, const char *key, pt_ident_t *ret) {
    if (memcmp(p, key, 9) != 0 || p[9] == '-') {
        return NULL;
    }
    *ret = (pt_ident_t){.kind = PT_IDENT_INT};
    return pt_plain_int(p + 9, &ret->num);
}

/* Another process or thread than in the last line. */
static PT_NOINLINE const char *take_track(pt_shape_set_t *set, const char *p) {
    const char *start = p;
    set->track_len = 0;
    p = take_ident(p, ", \"pid\": ", &set->pid);
    p = p != NULL ? take_ident(p, ", \"tid\": ", &set->tid) : NULL;
    if (p == NULL || p - start >= (ptrdiff_t)PT_SHAPE_TRACK || (*p != ',' && *p != '}')) {
        return NULL;
    }
    set->track_len = (size_t)(p - start);
    memcpy(set->track, start, set->track_len);
    return p;
}

const char *pt_shape_match(pt_shape_set_t *set, const char *p, const char *end, pt_event_t *ev) {
    const char *q = set->shape != NULL ? pt_plain_quote(p + NAME_AT, end) : end;
    if (q >= end) {
        return NULL;
    }
    pt_event_shape_t *shape = &set->shape[shape_index(p + NAME_AT, q)];
    if (shape->head_len == 0 || !same(p, shape->text, shape->head_len)) {
        return NULL;
    }
    ev->head = (pt_str_t){p, shape->head_len};
    ev->dur_text = (pt_str_t){NULL, 0};
    q = pt_plain_time(p + shape->head_len, &ev->ts);
    if (shape->ph == 'X' && q != NULL) {
        ev->dur_text.p = q + 9;
        q = PT_PLAIN_AT(q, ", \"dur\": ") ? pt_plain_time(q + 9, &ev->dur) : NULL;
        if (q == NULL || ev->dur == 0) {
            return NULL;
        }
        ev->dur_text.len = (size_t)(q - ev->dur_text.p);
    }
    if (q == NULL) {
        return NULL;
    }
    size_t len = set->track_len;
    if (PT_LIKELY(len > 0 && same(q, set->track, len) && (q[len] == ',' || q[len] == '}'))) {
        q += len;
    } else if ((q = take_track(set, q)) == NULL) {
        return NULL;
    }
    ev->tail.p = q;
    const pt_shape_part_t *part = shape->part, *last = part + shape->parts - 1;
    for (;; part++) {
        if (!same(q, shape->text + part->at, part->len)) {
            return NULL;
        }
        q += part->len;
        if (part == last) {
            break;
        }
        q = take_value(q, end, part->value);
        if (q == NULL) {
            return NULL;
        }
    }
    if (q >= end || *q != '\n') {
        return NULL;
    }
    ev->tail.len = (size_t)(q - ev->tail.p);
    ev->pid = set->pid;
    ev->tid = set->tid;
    ev->ph = shape->ph;
    ev->has = shape->has;
    shape->worth = WORTH_MAX;
    return q;
}

/* ---- learning ---- */

typedef struct lesson {
    pt_event_shape_t *shape;
    const char *from; /* what is not in the shape's text yet */
    size_t len;       /* of the text */
} lesson_t;

/* Ends a part before p. False when there is no room. */
static bool end_part(lesson_t *l, const char *p) {
    size_t len = (size_t)(p - l->from);
    if (l->shape->parts > PT_SHAPE_VALUES || len > PT_SHAPE_TEXT - l->len) {
        return false;
    }
    memcpy(l->shape->text + l->len, l->from, len);
    l->shape->part[l->shape->parts++] =
        (pt_shape_part_t){.at = (uint16_t)l->len, .len = (uint16_t)len, .value = PT_SHAPE_NUMBER};
    l->len += len;
    return true;
}

static unsigned kind_of(const char *p) {
    return *p == '"'                         ? PT_SHAPE_STRING
           : *p == '-' || pt_plain_digit(*p) ? PT_SHAPE_NUMBER
                                             : PT_SHAPE_WORD;
}

/* At first the numbers are taken for what changes, but for the rank; when that was wrong, all
 * values. */
static bool learn_args(lesson_t *l, pt_str_t args) {
    const char *p = args.p + 1, *end = args.p + args.len;
    while (*p == '"') {
        const char *key = p + 1;
        p = pt_plain_quote(key, end) + 3;
        unsigned kind = kind_of(p);
        const char *behind = take_value(p, end, kind);
        if (behind == NULL) {
            return false;
        }
        bool changes =
            l->shape->learned > 1 || (kind == PT_SHAPE_NUMBER && !PT_PLAIN_AT(key, "rank\""));
        if (changes && l->shape->parts < PT_SHAPE_VALUES) {
            if (!end_part(l, p)) {
                return false;
            }
            l->shape->part[l->shape->parts - 1].value = (uint16_t)kind;
            l->from = behind;
        }
        p = *behind == ',' ? behind + 2 : behind;
    }
    return true;
}

/* Whether the converter copies such events as they stand. */
static bool is_worth_it(const pt_event_t *ev) {
    bool numeric = (ev->has & PT_EVENT_ARGS_NUMERIC) != 0 && ev->args.len > 2;
    return (ev->has & PT_EVENT_ARGS_LINKS) == 0 && ev->head.len > 0 &&
           ev->head.len <= PT_SHAPE_TEXT &&
           (ev->ph == 'X' || (ev->ph == 'i' && ev->s.len > 0) || (ev->ph == 'C' && numeric));
}

void pt_shape_learn(pt_shape_set_t *set, const pt_event_t *ev) {
    if (!is_worth_it(ev)) {
        return;
    }
    if (set->shape == NULL && (set->shape = calloc(PT_SHAPES, sizeof *set->shape)) == NULL) {
        return;
    }
    const char *name = ev->head.p + NAME_AT;
    pt_event_shape_t *shape = &set->shape[shape_index(name, ev->name.p + ev->name.len - 1)];
    bool known =
        shape->head_len == ev->head.len && memcmp(shape->text, ev->head.p, ev->head.len) == 0;
    if (known ? shape->learned >= LEARN_LIMIT : shape->worth > 0) {
        shape->worth = (uint8_t)(shape->worth > 0 ? shape->worth - 1 : 0);
        return;
    }
    shape->learned = known ? (uint8_t)(shape->learned + 1) : 1;
    shape->worth = WORTH_MAX;
    shape->ph = ev->ph;
    shape->has = ev->has | PT_EVENT_BRIEF;
    shape->parts = 0;
    shape->head_len = (uint16_t)ev->head.len;
    memcpy(shape->text, ev->head.p, ev->head.len);
    lesson_t lesson = {shape, ev->tail.p, ev->head.len};
    if ((ev->args.len > 0 && !learn_args(&lesson, ev->args)) ||
        !end_part(&lesson, ev->tail.p + ev->tail.len)) {
        shape->head_len = 0; /* too long, or a number that is read the long way */
    }
}

void pt_shape_set_free(pt_shape_set_t *set) {
    if (set != NULL) {
        free(set->shape);
        set->shape = NULL;
    }
}
