/* event_lean.c: events in any member order, for readers that only look. SPDX-License-Identifier:
 * MIT
 */
#include "event_lean.h"

#include "event_fast.h"
#include "event_json.h"
#include "plain_text.h"
#include "trace_time.h"

static bool take_time(const perftrace__json_slice_t *value, int64_t *ret_ns) {
    return value->type == PERFTRACE__JSON_NUMBER && perftrace__json_to_ns(value, ret_ns) &&
           *ret_ns <= PT_TIME_LIMIT && *ret_ns >= -PT_TIME_LIMIT;
}

static bool take_text(const perftrace__json_slice_t *value, pt_str_t *ret) {
    *ret = pt_str_from(value);
    return value->type == PERFTRACE__JSON_STRING;
}

#define IS(literal) (memcmp(key->p, literal, sizeof(literal) - 1) == 0)

/* One member; false: to be looked at by event_json, as is one that is there twice. */
static bool take_member(const perftrace__json_slice_t *key, const perftrace__json_slice_t *value,
                        pt_event_t *ev) {
    bool good = true;
    switch (key->len) {
    case 2:
        if (IS("ph")) {
            good = ev->ph == 0 && value->type == PERFTRACE__JSON_STRING && value->len == 1 &&
                   *value->p != '\\';
            ev->ph = good ? *value->p : 0;
        } else if (IS("ts")) {
            good = (ev->has & PT_EVENT_HAS_TS) == 0 && take_time(value, &ev->ts);
            ev->has |= PT_EVENT_HAS_TS;
        } else if (IS("id")) {
            good = ev->id.len == 0;
            ev->id = pt_str_from(value);
        }
        return good;
    case 3:
        if (IS("cat")) {
            good = ev->cat.p == NULL && take_text(value, &ev->cat);
        } else if (IS("pid")) {
            good = ev->pid.kind == PT_IDENT_NONE;
            ev->pid = pt_ident_from(value);
        } else if (IS("tid")) {
            good = ev->tid.kind == PT_IDENT_NONE;
            ev->tid = pt_ident_from(value);
        } else if (IS("dur")) {
            good = (ev->has & PT_EVENT_HAS_DUR) == 0 && take_time(value, &ev->dur) && ev->dur >= 0;
            ev->has |= PT_EVENT_HAS_DUR;
        }
        return good;
    case 4:
        if (IS("name")) {
            good = ev->name.p == NULL && take_text(value, &ev->name) && value->len > 0;
        } else if (IS("args")) {
            good = ev->args.p == NULL && value->type == PERFTRACE__JSON_OBJECT;
            ev->args = pt_str_from(value);
        }
        return good;
    default:
        return true;
    }
}

/* ---- arrows ---- */

static bool is_arrow(const pt_arrow_t *a, const char *p, size_t len) {
    const char *text = a->text, *end = p + len;
    for (unsigned i = 0;; i++) {
        if ((size_t)(end - p) < a->len[i] || memcmp(p, text, a->len[i]) != 0) {
            return false;
        }
        p += a->len[i];
        text += a->len[i];
        if (i == a->numbers) {
            return p == end;
        }
        p = p < end ? pt_plain_number(p) : NULL;
        if (p == NULL || p > end) {
            return false;
        }
    }
}

/* Learns from the text of an arrow that is strict. Some are not worth it. */
static void learn(pt_lean_t *lean, const char *p, size_t len, char ph) {
    pt_arrow_t *a = &lean->arrow[lean->next];
    const char *end = p + len, *from = p;
    size_t kept = 0;
    bool in_string = false;
    a->ph = 0;
    a->numbers = 0;
    while (p < end) {
        bool number = !in_string && (*p == '-' || pt_plain_digit(*p));
        if (*p == '\\' || (number && a->numbers == PT_ARROW_NUMBERS)) {
            return;
        }
        in_string ^= *p == '"';
        if (!number) {
            p++;
            continue;
        }
        size_t n = (size_t)(p - from);
        if (kept + n > PT_ARROW_TEXT || n > UINT8_MAX) {
            return;
        }
        memcpy(a->text + kept, from, n);
        kept += n;
        a->len[a->numbers++] = (uint8_t)n;
        p = pt_plain_number(p);
        if (p == NULL || p > end) {
            return;
        }
        from = p;
    }
    size_t n = (size_t)(end - from);
    if (kept + n > PT_ARROW_TEXT || n > UINT8_MAX) {
        return;
    }
    memcpy(a->text + kept, from, n);
    a->len[a->numbers] = (uint8_t)n;
    a->ph = ph;
    lean->next = (lean->next + 1) % PT_ARROW_KINDS;
}

static bool find_arrow(const pt_lean_t *lean, const char *p, size_t len, pt_event_t *ev) {
    for (unsigned i = 0; i < PT_ARROW_KINDS; i++) {
        if (lean->arrow[i].ph != 0 && is_arrow(&lean->arrow[i], p, len)) {
            ev->ph = lean->arrow[i].ph;
            ev->has = PT_EVENT_HAS_TS;
            return true;
        }
    }
    return false;
}

bool pt_event_read_lean(const char *p, size_t len, pt_lean_t *lean, pt_event_t *ev) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    int more;
    memset(ev, 0, sizeof *ev);
    if (len <= PT_ARROW_TEXT && find_arrow(lean, p, len, ev)) {
        return true;
    }
    perftrace__json_cursor_init_readable(&c, p, len, len + PT_EVENT_PAD);
    perftrace__json_cursor_hint(&c, &lean->hints);
    if (!perftrace__json_enter_object(&c)) {
        return false;
    }
    while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (key.escaped || !take_member(&key, &value, ev)) {
            return false;
        }
    }
    bool good = more == 0 && (c.notes & PERFTRACE__JSON_NOTES_TO_REPAIR) == 0 && ev->ph != 0 &&
                (ev->name.len > 0 || ev->ph == 'E') && perftrace__json_at_end(&c);
    if (good && (ev->ph == 's' || ev->ph == 'f') && (ev->has & PT_EVENT_HAS_TS) != 0 &&
        ev->args.len == 0) {
        learn(lean, p, len, ev->ph);
    }
    return good;
}
