/* event_lean.c: events in any member order, for readers that only look. SPDX-License-Identifier:
 * MIT
 */
#include "event_lean.h"

#include "event_fast.h"
#include "event_json.h"
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

/* One member; false: to be looked at by event_json. */
static bool take_member(const perftrace__json_slice_t *key, const perftrace__json_slice_t *value,
                        pt_event_t *ev) {
    bool good = true;
    switch (key->len) {
    case 2:
        if (IS("ph")) {
            good = value->type == PERFTRACE__JSON_STRING && value->len == 1 && *value->p != '\\';
            ev->ph = good ? *value->p : 0;
        } else if (IS("ts")) {
            good = take_time(value, &ev->ts);
            ev->has |= PT_EVENT_HAS_TS;
        } else if (IS("id")) {
            ev->id = pt_str_from(value);
        }
        return good;
    case 3:
        if (IS("cat")) {
            good = take_text(value, &ev->cat);
        } else if (IS("pid")) {
            ev->pid = pt_ident_from(value);
        } else if (IS("tid")) {
            ev->tid = pt_ident_from(value);
        } else if (IS("dur")) {
            good = take_time(value, &ev->dur) && ev->dur >= 0;
            ev->has |= PT_EVENT_HAS_DUR;
        }
        return good;
    case 4:
        if (IS("name")) {
            good = take_text(value, &ev->name) && value->len > 0;
        } else if (IS("args")) {
            good = value->type == PERFTRACE__JSON_OBJECT;
            ev->args = pt_str_from(value);
        }
        return good;
    default:
        return true;
    }
}

bool pt_event_read_lean(const char *p, size_t len, perftrace__json_hints_t *hints, pt_event_t *ev) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    int more;
    memset(ev, 0, sizeof *ev);
    perftrace__json_cursor_init_readable(&c, p, len, len + PT_EVENT_PAD);
    perftrace__json_cursor_hint(&c, hints);
    if (!perftrace__json_enter_object(&c)) {
        return false;
    }
    while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (key.escaped || !take_member(&key, &value, ev)) {
            return false;
        }
    }
    return more == 0 && (c.notes & PERFTRACE__JSON_NOTES_TO_REPAIR) == 0 && ev->ph != 0 &&
           (ev->name.len > 0 || ev->ph == 'E') && perftrace__json_at_end(&c);
}
