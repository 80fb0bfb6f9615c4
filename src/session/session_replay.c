/* session_replay.c. SPDX-License-Identifier: MIT */
#include "session_replay.h"

typedef perftrace__session_replay_t replay_t;
typedef perftrace__json_slice_t slice_t;

void perftrace__session_replay_init(perftrace__session_replay_t *r,
                                    perftrace__session_fold_t *fold) {
    *r = (replay_t){.fold = fold,
                    .header = PERFTRACE__TRACE_HEADER_INIT,
                    .text = {PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT}};
}

void perftrace__session_replay_free(perftrace__session_replay_t *r) {
    perftrace__trace_header_free(&r->header);
    perftrace__strbuf_free(&r->text[0]);
    perftrace__strbuf_free(&r->text[1]);
}

bool perftrace__session_replay_expect(perftrace__session_replay_t *r,
                                      const perftrace__trace_header_t *header) {
    return perftrace__trace_header_copy(&r->header, header);
}

/* ---- plain lines of other events ---- */

/* The phase letter of a line in our own layout, with the address behind its closing quote; 0 for
 * any other line. */
static char plain_phase(const char *p, const char *end, const char **ret_rest) {
    static const char head[] = "{\"name\": \"";
    static const char phase[] = ", \"ph\": \"";
    if ((size_t)(end - p) < sizeof(head) + sizeof(phase) + 4 ||
        memcmp(p, head, sizeof(head) - 1) != 0) {
        return 0;
    }
    p += sizeof(head) - 1;
    const char *quote = memchr(p, '"', (size_t)(end - p));
    if (!quote || (size_t)(end - quote) < sizeof(phase) + 4 ||
        memchr(p, '\\', (size_t)(quote - p)) || memcmp(quote + 1, phase, sizeof(phase) - 1) != 0 ||
        quote[sizeof(phase) + 1] != '"') {
        return 0;
    }
    *ret_rest = quote + sizeof(phase) + 2;
    return quote[sizeof(phase)];
}

/* Microseconds with three decimals at *p as ns; false for any other text. */
static bool plain_time(const char **p, const char *end, uint64_t *ret_ns) {
    const char *at = *p;
    uint64_t us = 0;
    while (at < end && *at >= '0' && *at <= '9' && us < UINT64_MAX / 100000) {
        us = us * 10 + (uint64_t)(*at++ - '0');
    }
    if (at == *p || end - at < 4 || *at != '.') {
        return false;
    }
    for (int i = 1; i <= 3; i++) {
        if (at[i] < '0' || at[i] > '9') {
            return false;
        }
        us = us * 10 + (uint64_t)(at[i] - '0');
    }
    *p = at + 4;
    *ret_ns = us;
    return true;
}

/* True for a line in our own layout that can be no session event; its time is noted. */
static bool pass_plain(replay_t *r, const char *line, const char *end) {
    static const char ts[] = ", \"ts\": ";
    static const char dur[] = ", \"dur\": ";
    const char *p;
    char phase = plain_phase(line, end, &p);
    if (!phase || !strchr("XBiCstf", phase)) {
        return false;
    }
    uint64_t ns;
    uint64_t more;
    if ((size_t)(end - p) > sizeof(ts) && memcmp(p, ts, sizeof(ts) - 1) == 0) {
        p += sizeof(ts) - 1;
        if (plain_time(&p, end, &ns)) {
            r->last_ns = PT_MAX(r->last_ns, ns);
            if (phase == 'X' && (size_t)(end - p) > sizeof(dur) &&
                memcmp(p, dur, sizeof(dur) - 1) == 0) {
                p += sizeof(dur) - 1;
                if (plain_time(&p, end, &more)) {
                    r->last_ns = PT_MAX(r->last_ns, ns + more);
                }
            }
        }
    }
    return true;
}

/* ---- session events ---- */

typedef enum category { OTHER, SESSION, TASK, COUNTER, DECLARATION } category_t;

typedef struct event {
    category_t category;
    char phase; /* b e n */
    bool has_id;
    uint64_t ns;
    int64_t id;
    slice_t name;
    slice_t args;
} event_t;

#define ARGS 3 /* as many as an event has of its own */

/* The args of an event without what the writer adds to those of every line. */
typedef struct args {
    unsigned n; /* of key and value */
    slice_t key[ARGS];
    slice_t value[ARGS];
    /* Of the end of a phase; a payload may have one, too. */
    bool has_began;
    slice_t began;
    /* The text of all members but that. */
    const char *payload;
    size_t payload_len;
} args_t;

static category_t category_of(const slice_t *cat) {
    if (perftrace__json_is(cat, "session")) {
        return SESSION;
    }
    if (perftrace__json_is(cat, "session.task")) {
        return TASK;
    }
    if (perftrace__json_is(cat, "session.counter")) {
        return COUNTER;
    }
    return perftrace__json_is(cat, "session.phase") ? DECLARATION : OTHER;
}

/* "0x5d" */
static bool read_id(const slice_t *s, int64_t *ret) {
    uint64_t v = 0;
    if (s->type != PERFTRACE__JSON_STRING || s->len < 3 || s->len > 18 ||
        memcmp(s->p, "0x", 2) != 0) {
        return false;
    }
    for (size_t i = 2; i < s->len; i++) {
        char c = s->p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit > 15) {
            return false;
        }
        v = v << 4 | digit;
    }
    *ret = (int64_t)v;
    return true;
}

static bool read_ns(const slice_t *s, uint64_t *ret) {
    int64_t ns;
    if (s->type != PERFTRACE__JSON_NUMBER || !perftrace__json_to_ns(s, &ns) || ns < 0) {
        return false;
    }
    *ret = (uint64_t)ns;
    return true;
}

/* False: no JSON object. What is missing stays as it was. */
static bool read_event(const char *line, size_t len, event_t *ret_event, bool *ret_has_time) {
    perftrace__json_cursor_t c;
    slice_t key;
    slice_t value;
    perftrace__json_cursor_init(&c, line, len);
    if (!perftrace__json_enter_object(&c)) {
        return false;
    }
    int more;
    while ((more = perftrace__json_next_member(&c, &key, &value)) > 0) {
        if (perftrace__json_is(&key, "name")) {
            ret_event->name = value;
        } else if (perftrace__json_is(&key, "ph")) {
            ret_event->phase =
                value.type == PERFTRACE__JSON_STRING && value.len == 1 ? *value.p : 0;
        } else if (perftrace__json_is(&key, "ts")) {
            *ret_has_time = read_ns(&value, &ret_event->ns);
        } else if (perftrace__json_is(&key, "cat")) {
            ret_event->category = category_of(&value);
        } else if (perftrace__json_is(&key, "args")) {
            ret_event->args = value;
        } else if (perftrace__json_is(&key, "id")) {
            ret_event->has_id = read_id(&value, &ret_event->id);
        }
    }
    return more == 0 && perftrace__json_at_end(&c);
}

/* Where a value ends in the text, its closing quote included. */
static const char *end_of(const slice_t *value) {
    return value->p + value->len + (value->type == PERFTRACE__JSON_STRING);
}

static bool is_role(const replay_t *r, const slice_t *key, const slice_t *value) {
    return r->header.role.len && perftrace__json_is(key, "role") &&
           perftrace__json_equal(value, perftrace__strbuf_cstr(&r->header.role),
                                 r->header.role.len);
}

static bool is_rank(const replay_t *r, const slice_t *key, const slice_t *value) {
    int64_t rank;
    return r->header.rank >= 0 && perftrace__json_is(key, "rank") &&
           value->type == PERFTRACE__JSON_NUMBER && perftrace__json_to_i64(value, &rank) &&
           rank == r->header.rank;
}

/* Members that may be the writer's own: began, rank and role, in this order, behind all others. */
#define LAST 3

static void read_args(const replay_t *r, const event_t *ev, args_t *ret) {
    /* The last ones, the very last behind the others, and where each of them and the one before
     * them ends. */
    slice_t key[LAST] = {0};
    slice_t value[LAST] = {0};
    const char *ends[LAST + 1] = {NULL};
    unsigned n = 0;
    perftrace__json_cursor_t c;
    perftrace__json_cursor_init(&c, ev->args.p, ev->args.len);
    perftrace__json_enter_object(&c);
    for (slice_t k, v; perftrace__json_next_member(&c, &k, &v) > 0; n++) {
        if (n < ARGS) {
            ret->key[n] = k;
            ret->value[n] = v;
        }
        memmove(key, key + 1, sizeof(key) - sizeof(*key));
        memmove(value, value + 1, sizeof(value) - sizeof(*value));
        memmove(ends, ends + 1, sizeof(ends) - sizeof(*ends));
        key[LAST - 1] = k;
        value[LAST - 1] = v;
        ends[LAST] = end_of(&v);
    }
    unsigned last = LAST;
    if (n + last > LAST && is_role(r, &key[last - 1], &value[last - 1])) {
        last--;
    }
    if (n + last > LAST && is_rank(r, &key[last - 1], &value[last - 1])) {
        last--;
    }
    if (n + last > LAST && ev->phase == 'e' && perftrace__json_is(&key[last - 1], "began")) {
        ret->has_began = true;
        ret->began = value[--last];
    }
    unsigned left = n + last - LAST;
    ret->n = PT_MIN(left, ARGS);
    if (left) {
        ret->payload = ret->key[0].p - 1;
        ret->payload_len = (size_t)(ends[last] - ret->payload);
    }
}

static const slice_t *find(const args_t *a, const char *key, size_t len) {
    for (unsigned i = 0; i < a->n; i++) {
        if (perftrace__json_equal(&a->key[i], key, len)) {
            return &a->value[i];
        }
    }
    return NULL;
}

#define FIND(args, literal) find((args), "" literal, sizeof(literal) - 1)

/* A string's text; absent for anything else. Decoded into a buffer of r when it has escapes. */
static perftrace__text_t text_of(replay_t *r, unsigned buffer, const slice_t *s) {
    if (!s || s->type != PERFTRACE__JSON_STRING) {
        return (perftrace__text_t){NULL, 0};
    }
    if (!s->escaped) {
        return (perftrace__text_t){s->p, s->len};
    }
    perftrace__strbuf_t *b = &r->text[buffer];
    if (!perftrace__trace_text(s, b)) {
        b->failed = false;
        return (perftrace__text_t){s->p, s->len}; /* as it is written, rather than not at all */
    }
    return (perftrace__text_t){b->data, b->len};
}

static int64_t id_or_none(const slice_t *s) {
    int64_t id;
    return s && perftrace__json_to_i64(s, &id) ? id : PERFTRACE__FOLD_NO_ID;
}

static void feed_session(replay_t *r, const event_t *ev, const args_t *a) {
    /* A phase may be called "session", too: it begins after the session did, and its end says when
     * it began. */
    bool own = perftrace__json_is(&ev->name, "session") &&
               (ev->phase == 'b' ? !perftrace__session_fold_has(r->fold, ev->id) : !a->has_began);
    perftrace__text_t payload = {a->payload, a->payload_len};
    if (own && ev->phase == 'b') {
        perftrace__session_fold_session(r->fold, ev->id, id_or_none(FIND(a, "task_id")), ev->ns);
        return;
    }
    if (own) {
        perftrace__session_fold_finalize(r->fold, ev->id, ev->ns, text_of(r, 0, FIND(a, "status")),
                                         text_of(r, 1, FIND(a, "reason")));
        return;
    }
    uint32_t phase = perftrace__session_fold_phase(r->fold, text_of(r, 0, &ev->name));
    uint64_t since = 0;
    if (ev->phase == 'b') {
        perftrace__session_fold_phase_begin(r->fold, ev->id, phase, ev->ns, payload);
    } else {
        read_ns(&a->began, &since);
        perftrace__session_fold_phase_end(r->fold, ev->id, phase, since, ev->ns, payload);
    }
}

static void feed(replay_t *r, const event_t *ev, const args_t *a) {
    int64_t delta = 0;
    const slice_t *value = FIND(a, "value");
    const slice_t *several = FIND(a, "allow_multiple");
    const slice_t *finishes = FIND(a, "ready_on_complete");
    switch (ev->category) {
    case SESSION:
        feed_session(r, ev, a);
        break;
    case TASK:
        if (ev->phase == 'b') {
            perftrace__session_fold_task(r->fold, ev->id, id_or_none(FIND(a, "parent")));
        } else {
            perftrace__session_fold_finalize_task(r->fold, ev->id, ev->ns,
                                                  text_of(r, 0, FIND(a, "status")),
                                                  text_of(r, 1, FIND(a, "reason")));
        }
        break;
    case COUNTER:
        if (value && perftrace__json_to_i64(value, &delta)) {
            perftrace__session_fold_counter(r->fold, ev->id, text_of(r, 0, &ev->name), delta);
        }
        break;
    default:
        perftrace__session_fold_declare(r->fold, text_of(r, 0, &ev->name),
                                        !several || several->type == PERFTRACE__JSON_TRUE,
                                        finishes && finishes->type == PERFTRACE__JSON_TRUE);
    }
}

/* An event of ours has all of these. */
static bool is_whole(const event_t *ev, bool has_time) {
    bool both_ends = ev->category == SESSION || ev->category == TASK;
    return has_time && ev->has_id && ev->name.type == PERFTRACE__JSON_STRING &&
           ev->args.type == PERFTRACE__JSON_OBJECT &&
           (both_ends ? ev->phase == 'b' || ev->phase == 'e' : ev->phase == 'n');
}

/* ---- lines of the writer's own ---- */

/* The argument of that name; false: there is none. */
static bool find_arg(const event_t *ev, const char *name, slice_t *ret) {
    perftrace__json_cursor_t c;
    slice_t key;
    perftrace__json_cursor_init(&c, ev->args.p, ev->args.len);
    perftrace__json_enter_object(&c);
    while (perftrace__json_next_member(&c, &key, ret) > 0) {
        if (perftrace__json_equal(&key, name, strlen(name))) {
            return true;
        }
    }
    return false;
}

static void read_meta(replay_t *r, const event_t *ev, const char *line, size_t len) {
    slice_t value;
    uint64_t n;
    if (perftrace__json_is(&ev->name, "perftrace_drop")) {
        if (find_arg(ev, "count", &value) && perftrace__json_to_u64(&value, &n)) {
            r->lost += n;
        }
    } else if (perftrace__json_is(&ev->name, "perftrace_clock")) {
        /* The recording went on until then, whether or not anything happened. */
        if (find_arg(ev, "ts", &value) && read_ns(&value, &n)) {
            r->last_ns = PT_MAX(r->last_ns, n);
        }
    } else if (perftrace__json_is(&ev->name, "perftrace_header") &&
               perftrace__trace_header_read(line, len, &r->header)) {
        perftrace__session_fold_rank(r->fold, r->header.rank);
    }
}

perftrace__replayed_t perftrace__session_replay_line(perftrace__session_replay_t *r,
                                                     const char *line, size_t len) {
    if (pass_plain(r, line, line + len)) {
        r->other++;
        return PERFTRACE__REPLAY_OTHER;
    }
    event_t ev = {.category = OTHER};
    bool has_time = false;
    if (!read_event(line, len, &ev, &has_time)) {
        r->damaged++;
        return PERFTRACE__REPLAY_DAMAGED;
    }
    if (has_time) {
        r->last_ns = PT_MAX(r->last_ns, ev.ns);
    }
    /* Flows of sessions have the category, too. */
    if (ev.category == OTHER || (ev.phase && strchr("stf", ev.phase))) {
        if (ev.phase == 'M') {
            read_meta(r, &ev, line, len);
        }
        r->other++;
        return PERFTRACE__REPLAY_OTHER;
    }
    if (!is_whole(&ev, has_time)) {
        r->damaged++;
        return PERFTRACE__REPLAY_DAMAGED;
    }
    args_t args = {0};
    read_args(r, &ev, &args);
    feed(r, &ev, &args);
    r->taken++;
    return PERFTRACE__REPLAY_TAKEN;
}

bool perftrace__session_replay_tick(perftrace__session_replay_t *r) {
    /* More events than lie between those of different threads that came out of order. */
    enum { TICK = 100000 };
    if (r->taken - r->ticked < TICK) {
        return false;
    }
    r->ticked = r->taken;
    perftrace__session_fold_tick(r->fold);
    return true;
}
