/* event_json.c: events in any JSON form. SPDX-License-Identifier: MIT */
#include "event_json.h"

#include "event_fast.h"
#include "trace_time.h"

/* Members that have a place of their own in pt_event_t; order as in their switch. */
typedef enum member {
    MEMBER_NAME,
    MEMBER_CAT,
    MEMBER_PH,
    MEMBER_TS,
    MEMBER_DUR,
    MEMBER_PID,
    MEMBER_TID,
    MEMBER_ARGS,
    MEMBER_ID,
    MEMBER_ID2,
    MEMBER_SCOPE,
    MEMBER_BP,
    MEMBER_S,
    MEMBER_BIND_ID,
    MEMBER_STACK, /* refers to tables of its own file, which are not merged */
    MEMBER_OTHER
} member_t;

static const char *const member_names[MEMBER_STACK] = {"name",  "cat", "ph",   "ts",     "dur",
                                                       "pid",   "tid", "args", "id",     "id2",
                                                       "scope", "bp",  "s",    "bind_id"};

static member_t member_of(const perftrace__json_slice_t *key) {
    for (int m = 0; m < MEMBER_STACK; m++) {
        if (perftrace__json_equal(key, member_names[m], strlen(member_names[m]))) {
            return (member_t)m;
        }
    }
    if (perftrace__json_is(key, "sf") || perftrace__json_is(key, "esf") ||
        perftrace__json_is(key, "stack") || perftrace__json_is(key, "estack")) {
        return MEMBER_STACK;
    }
    return MEMBER_OTHER;
}

pt_str_t pt_str_from(const perftrace__json_slice_t *value) {
    if (value->type == PERFTRACE__JSON_STRING) {
        return (pt_str_t){value->p - 1, value->len + 2};
    }
    return (pt_str_t){value->p, value->len};
}

pt_ident_t pt_ident_from(const perftrace__json_slice_t *value) {
    pt_ident_t id = {PT_IDENT_NONE, 0, {NULL, 0}};
    double d;
    if (value->type == PERFTRACE__JSON_NONE || value->type == PERFTRACE__JSON_NULL) {
        return id;
    }
    id.text = pt_str_from(value);
    if (perftrace__json_to_i64(value, &id.num)) {
        id.kind = PT_IDENT_INT;
    } else if (value->type == PERFTRACE__JSON_NUMBER && perftrace__json_to_double(value, &d)) {
        id.kind = PT_IDENT_INT;
        id.num = d >= 9e18 ? INT64_MAX : d <= -9e18 ? INT64_MIN : (int64_t)d;
    } else if (value->type == PERFTRACE__JSON_STRING) {
        id.kind = PT_IDENT_TEXT;
    }
    return id;
}

/* Puts a made-up text into the reader's memory. It may move with the next one, so an event gets at
 * most one (args); see take_args. */
static pt_str_t make_args(pt_event_reader_t *r, const perftrace__json_slice_t *value) {
    pt_str_t text = pt_str_from(value);
    perftrace__strbuf_clear(&r->made);
    perftrace__strbuf_puts(&r->made, "{\"args\": ");
    perftrace__strbuf_append(&r->made, text.p, text.len);
    perftrace__strbuf_putc(&r->made, '}');
    return (pt_str_t){r->made.data, r->made.failed ? 0 : r->made.len};
}

static bool is_blank_container(const perftrace__json_slice_t *value) {
    for (size_t i = 1; i + 1 < value->len; i++) {
        if ((unsigned char)value->p[i] > ' ') {
            return false;
        }
    }
    return true;
}

static void take_args(pt_event_reader_t *r, pt_event_t *ev, const perftrace__json_slice_t *value) {
    if (value->type == PERFTRACE__JSON_OBJECT) {
        ev->args = pt_str_from(value);
        if (memmem(ev->args.p, ev->args.len, "\"correlation\"", 13) != NULL ||
            memmem(ev->args.p, ev->args.len, "\"External id\"", 13) != NULL) {
            ev->has |= PT_EVENT_ARGS_LINKS;
        }
    } else if (value->type != PERFTRACE__JSON_NULL) {
        r->odd |= PT_EVENT_ODD_ARGS;
        if (value->type != PERFTRACE__JSON_ARRAY || !is_blank_container(value)) {
            ev->args = make_args(r, value);
        }
    }
}

static bool take_time(const perftrace__json_slice_t *value, int64_t *ret_ns) {
    return perftrace__json_to_ns(value, ret_ns) && *ret_ns <= PT_TIME_LIMIT &&
           *ret_ns >= -PT_TIME_LIMIT;
}

/* Whether the rest itself has a member of this name, not an object in it. */
static bool rest_has_member(const pt_event_reader_t *r, const perftrace__json_slice_t *key) {
    perftrace__strbuf_t object = PERFTRACE__STRBUF_INIT;
    perftrace__json_cursor_t c;
    perftrace__json_slice_t name, value;
    bool found = false;
    perftrace__strbuf_putc(&object, '{');
    perftrace__strbuf_append(&object, r->rest.data + 2, r->rest.len - 2); /* the first `, ` */
    perftrace__strbuf_putc(&object, '}');
    perftrace__json_cursor_init(&c, perftrace__strbuf_cstr(&object), object.len);
    if (perftrace__json_enter_object(&c)) {
        while (!found && perftrace__json_next_member(&c, &name, &value) > 0) {
            found = name.len == key->len && memcmp(name.p, key->p, key->len) == 0;
        }
    }
    perftrace__strbuf_free(&object);
    return found;
}

/* Whether a member of this name was kept already. */
static bool rest_has(const pt_event_reader_t *r, const perftrace__json_slice_t *key) {
    if (r->rest.len == 0) {
        return false;
    }
    /* What stands around a key: `, "` and `":`. */
    const char *p = r->rest.data + 3, *end = r->rest.data + r->rest.len - 2;
    while (p + key->len <= end && (p = memmem(p, (size_t)(end - p), key->p, key->len)) != NULL) {
        if (p[-1] == '"' && p[key->len] == '"' && p[key->len + 1] == ':') {
            return rest_has_member(r, key);
        }
        p++;
    }
    return false;
}

static void take_member(pt_event_reader_t *r, pt_event_t *ev, const perftrace__json_slice_t *key,
                        const perftrace__json_slice_t *value) {
    bool string = value->type == PERFTRACE__JSON_STRING;
    unsigned member = (unsigned)member_of(key);
    if (member < MEMBER_STACK) {
        r->twice |= (r->members & 1U << member) != 0;
        r->members |= 1U << member;
    }
    switch (member) {
    case MEMBER_NAME:
        ev->name = string ? pt_str_from(value) : (pt_str_t){NULL, 0};
        break;
    case MEMBER_CAT:
        ev->cat = string ? pt_str_from(value) : (pt_str_t){NULL, 0};
        break;
    case MEMBER_PH:
        ev->ph = string && value->len == 1 ? value->p[0] : 0;
        break;
    case MEMBER_TS:
        if (take_time(value, &ev->ts)) {
            ev->has |= PT_EVENT_HAS_TS;
        } else if (value->type != PERFTRACE__JSON_NULL) {
            r->odd |= PT_EVENT_ODD_TS;
        }
        break;
    case MEMBER_DUR:
        if (take_time(value, &ev->dur)) {
            ev->has |= PT_EVENT_HAS_DUR;
            r->odd |= ev->dur < 0 ? PT_EVENT_ODD_NEGATIVE : 0U;
        } else if (value->type != PERFTRACE__JSON_NULL) {
            r->odd |= PT_EVENT_ODD_DUR;
        }
        break;
    case MEMBER_PID:
        ev->pid = pt_ident_from(value);
        break;
    case MEMBER_TID:
        ev->tid = pt_ident_from(value);
        break;
    case MEMBER_ARGS:
        take_args(r, ev, value);
        break;
    case MEMBER_ID:
        ev->id = pt_str_from(value);
        break;
    case MEMBER_ID2:
        ev->id2 = value->type == PERFTRACE__JSON_OBJECT ? pt_str_from(value) : ev->id2;
        break;
    case MEMBER_SCOPE:
        ev->scope = pt_str_from(value);
        break;
    case MEMBER_BP:
        ev->bp = pt_str_from(value);
        break;
    case MEMBER_S:
        ev->s = string && value->len == 1 ? pt_str_from(value) : ev->s;
        break;
    case MEMBER_BIND_ID:
        ev->bind_id = pt_str_from(value);
        break;
    case MEMBER_STACK:
        break;
    case MEMBER_OTHER:
        if (rest_has(r, key)) {
            r->twice = true;
            break;
        }
        perftrace__strbuf_puts(&r->rest, ", \"");
        perftrace__strbuf_append(&r->rest, key->p, key->len);
        perftrace__strbuf_puts(&r->rest, "\": ");
        perftrace__strbuf_append(&r->rest, pt_str_from(value).p, pt_str_from(value).len);
        break;
    }
}

/* Walks the members of the object at p. False: not strict; r->error tells. */
static bool walk(pt_event_reader_t *r, const char *p, size_t len, size_t readable, pt_event_t *ev,
                 size_t *ret_members, size_t *ret_used, unsigned *ret_notes) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    memset(ev, 0, sizeof *ev);
    perftrace__strbuf_clear(&r->rest);
    r->odd = 0;
    r->members = 0;
    r->twice = false;
    *ret_members = 0;
    perftrace__json_cursor_init_readable(&c, p, len, readable);
    int more = perftrace__json_enter_object(&c) ? 1 : -1;
    while (more > 0 && (more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        take_member(r, ev, &key, &value);
        (*ret_members)++;
    }
    r->error = c.error;
    if (more < 0) {
        return false;
    }
    *ret_used = (size_t)(c.p - p);
    *ret_notes = c.notes;
    if (!perftrace__json_at_end(&c)) {
        return true; /* something follows: the caller looks at it */
    }
    *ret_used = len;
    return true;
}

static pt_event_found_t judge(pt_event_reader_t *r, pt_event_t *ev, size_t members) {
    if (members == 0) {
        return PT_EVENT_FOUND_EMPTY;
    }
    if (ev->ph == 0) {
        return PT_EVENT_FOUND_OTHER;
    }
    if (ev->name.len == 0 && ev->ph != 'E') {
        r->odd |= PT_EVENT_ODD_NAME;
        ev->name = (pt_str_t){"\"(no name)\"", 11};
    }
    ev->rest = (pt_str_t){r->rest.data, r->rest.failed ? 0 : r->rest.len};
    return PT_EVENT_FOUND;
}

/* Readers differ on which of two equal keys counts; repair keeps the last. */
static bool has_twin_key(const pt_event_t *ev) {
    perftrace__json_slice_t args = {ev->args.p, ev->args.len, PERFTRACE__JSON_OBJECT, false, 0};
    return ev->args.len > 2 && perftrace__json_duplicate_key(&args, NULL);
}

pt_event_found_t pt_event_read_json(pt_event_reader_t *r, const char *p, size_t len,
                                    pt_event_t *ret_event, size_t *ret_used) {
    size_t members = 0;
    unsigned notes = 0;
    r->repairs = 0;
    *ret_used = len;
    if (walk(r, p, len, len + PT_EVENT_PAD, ret_event, &members, ret_used, &notes) &&
        (notes & PERFTRACE__JSON_NOTES_TO_REPAIR) == 0 && !r->twice && !has_twin_key(ret_event)) {
        return judge(r, ret_event, members);
    }
    if (r->error.code == PERFTRACE__JSON_E_EMPTY) {
        return PT_EVENT_FOUND_BLANK;
    }
    perftrace__strbuf_clear(&r->mended);
    if (!perftrace__json_repair(p, len, &r->mended, &r->repairs, ret_used, &r->error)) {
        *ret_used = len;
        return r->error.code == PERFTRACE__JSON_E_EMPTY ? PT_EVENT_FOUND_BLANK
                                                        : PT_EVENT_FOUND_DAMAGED;
    }
    size_t inner = 0;
    if (!perftrace__strbuf_reserve(&r->mended, PT_EVENT_PAD) ||
        !walk(r, r->mended.data, r->mended.len, r->mended.len + PT_EVENT_PAD, ret_event, &members,
              &inner, &notes)) {
        return r->error.code == PERFTRACE__JSON_E_NOT_OBJECT ? PT_EVENT_FOUND_SCALAR
                                                             : PT_EVENT_FOUND_DAMAGED;
    }
    return judge(r, ret_event, members);
}

void pt_event_reader_free(pt_event_reader_t *r) {
    if (r != NULL) {
        perftrace__strbuf_free(&r->mended);
        perftrace__strbuf_free(&r->rest);
        perftrace__strbuf_free(&r->made);
    }
}
