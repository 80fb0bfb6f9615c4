/* session_record.c. SPDX-License-Identifier: MIT */
#include "session_record.h"

#include "json_digits.h"
#include "json_writer.h"

#include <stdlib.h>

#define NS_PER_S 1000000000u

/* Room for what is in every record, for a span and for a counter, beside texts and names. A time
 * takes 21 bytes, with what the digits' writers touch behind the end. */
#define FIXED_ROOM   512
#define SPAN_ROOM    192
#define COUNTER_ROOM 48

#define SCRATCH_KEPT 65536 /* a larger buffer than this is not kept from record to record */

#define PUT(p, literal) (memcpy((p), (literal), sizeof(literal) - 1), (p) += sizeof(literal) - 1)

typedef struct perftrace__record_writer writer_t;
typedef perftrace__span_t span_t;

static void put_member(perftrace__strbuf_t *b, const char *key, const char *value) {
    if (value && value[0]) {
        perftrace__strbuf_printf(b, ", \"%s\": ", key);
        perftrace__strbuf_json_cstr(b, value);
    }
}

bool perftrace__record_writer_init(perftrace__record_writer_t *w,
                                   const perftrace__fold_options_t *options,
                                   const perftrace__cells_t *cells,
                                   const perftrace__session_names_t *phases,
                                   const perftrace__session_names_t *counters,
                                   const perftrace__session_tasks_t *tasks) {
    *w = (writer_t){.cells = cells,
                    .phases = phases,
                    .counters = counters,
                    .tasks = tasks,
                    .epoch_ns = options->epoch_ns,
                    .second_text = "0",
                    .second_len = 1};
    put_member(&w->role, "role", options->role);
    perftrace__strbuf_puts(&w->role, ", \"status\": ");
    put_member(&w->tail, "run_id", options->run_id);
    perftrace__strbuf_puts(&w->tail, "}\n");
    /* Room for any rank, so that a change of it needs no memory. */
    return !w->role.failed && !w->tail.failed &&
           perftrace__strbuf_reserve(&w->identity, w->role.len + 32) &&
           perftrace__record_writer_rank(w, options->rank);
}

bool perftrace__record_writer_rank(perftrace__record_writer_t *w, int32_t rank) {
    perftrace__strbuf_clear(&w->identity);
    if (rank >= 0) {
        perftrace__strbuf_printf(&w->identity, ", \"rank\": %d", (int)rank);
    } else {
        perftrace__strbuf_puts(&w->identity, ", \"rank\": null");
    }
    perftrace__strbuf_append(&w->identity, w->role.data, w->role.len);
    return !w->identity.failed;
}

void perftrace__record_writer_free(perftrace__record_writer_t *w) {
    perftrace__strbuf_free(&w->identity);
    perftrace__strbuf_free(&w->role);
    perftrace__strbuf_free(&w->tail);
    perftrace__strbuf_free(&w->scratch);
    free(w->spans);
    w->spans = NULL;
    w->spans_cap = 0;
}

uint64_t perftrace__record_writer_bytes(const perftrace__record_writer_t *w) {
    return w->identity.cap + w->role.cap + w->tail.cap + w->scratch.cap +
           w->spans_cap * sizeof(span_t *);
}

/* ---- pieces of text; the room was made before ---- */

static char *put_buf(char *p, const perftrace__strbuf_t *b) {
    memcpy(p, b->data, b->len);
    return p + b->len;
}

/* The point and nine decimals without the zeros at the end, but at least one. */
PT_ALWAYS_INLINE char *put_fraction(char *p, uint32_t ns) {
    uint32_t high = ns / 1000000;
    uint32_t rest = ns - high * 1000000;
    uint32_t middle = rest / 1000;
    const char *low = perftrace__decimals[rest - middle * 1000];
    memcpy(p, perftrace__decimals[high], 4);
    memcpy(p + 4, perftrace__decimals[middle] + 1, 3);
    memcpy(p + 7, low + 1, 3);
    p += 10;
    if (PT_UNLIKELY(low[3] == '0')) {
        while (p[-1] == '0' && p[-2] != '.') {
            p--;
        }
    }
    return p;
}

/* ns as seconds, exactly. */
PT_ALWAYS_INLINE char *put_seconds(char *p, uint64_t ns) {
    if (PT_LIKELY(ns < NS_PER_S)) {
        *p = '0';
        return put_fraction(p + 1, (uint32_t)ns);
    }
    uint64_t s = ns / NS_PER_S;
    return put_fraction(perftrace__put_digits(p, s), (uint32_t)(ns - s * NS_PER_S));
}

PT_ALWAYS_INLINE char *put_id(char *p, int64_t id) {
    if (PT_UNLIKELY(id < 0)) {
        *p++ = '-';
        return perftrace__put_digits(p, 0 - (uint64_t)id);
    }
    return perftrace__put_digits(p, (uint64_t)id);
}

/* A time of the run; many in a row fall into one second. */
static PT_COLD void keep_second(writer_t *w, uint64_t s) {
    char text[32] = {0};
    w->second_len = (uint32_t)(perftrace__put_digits(text, s) - text);
    memcpy(w->second_text, text, sizeof(w->second_text));
    w->second = s;
}

PT_ALWAYS_INLINE char *put_time(writer_t *w, char *p, uint64_t ns) {
    ns = perftrace__ns_add(w->epoch_ns, ns);
    uint64_t s = ns / NS_PER_S;
    if (PT_UNLIKELY(s != w->second)) {
        keep_second(w, s);
    }
    memcpy(p, w->second_text, sizeof(w->second_text));
    return put_fraction(p + w->second_len, (uint32_t)(ns - s * NS_PER_S));
}

/* Copies with as few branches as the room allows: PERFTRACE__NAME_PAD bytes can be read behind each
 * name, and written behind each piece. */
static char *put_piece(char *p, const char *from, size_t len) {
    memcpy(p, from, PERFTRACE__NAME_PAD);
    if (PT_UNLIKELY(len > PERFTRACE__NAME_PAD)) {
        memcpy(p, from, len);
    }
    return p + len;
}

/* `, "NAME` */
static char *put_name(char *p, const perftrace__session_name_t *name) {
    return put_piece(p, name->json, name->len);
}

/* A kept text as a JSON string. The room for it is in the scratch buffer, too. */
static char *put_string(writer_t *w, char *p, uint32_t text) {
    char *end = perftrace__cells_read_text(w->cells, text, w->scratch.data);
    return perftrace__put_json_string(p, w->scratch.data, (size_t)(end - w->scratch.data));
}

/* ---- parts of a record ---- */

/* accepted when all that had begun by then had ended, too, when the session was finalized. */
static perftrace__status_t resolved_status(const perftrace__live_t *live, span_t *const *v) {
    if (live->outcome.status != PERFTRACE__STATUS_NONE) {
        return live->outcome.status;
    }
    if (!live->is_final) {
        return PERFTRACE__STATUS_PENDING;
    }
    for (uint32_t i = 0; i < live->nspans; i++) {
        if (v[i]->start <= live->finalized && v[i]->end > live->finalized) {
            return PERFTRACE__STATUS_FAILED;
        }
    }
    return PERFTRACE__STATUS_ACCEPTED;
}

static char *put_outcome(writer_t *w, char *p, const perftrace__live_t *live, span_t *const *v) {
    perftrace__status_t status = resolved_status(live, v);
    if (status == PERFTRACE__STATUS_TEXT) {
        p = put_string(w, p, live->outcome.status_text);
    } else {
        const char *name = perftrace__status_name(status);
        size_t len = strlen(name);
        *p++ = '"';
        memcpy(p, name, len);
        p += len;
        *p++ = '"';
    }
    if (live->outcome.reason) {
        PUT(p, ", \"reason\": ");
        p = put_string(w, p, live->outcome.reason);
    }
    return p;
}

static char *put_times(writer_t *w, char *p, const perftrace__live_t *live) {
    bool submitted = live->submit != PERFTRACE__NO_TIME;
    if (submitted) {
        PUT(p, ", \"submit_ts\": ");
        p = put_time(w, p, live->submit);
    }
    if (live->is_final) {
        PUT(p, ", \"finalized_ts\": ");
        p = put_time(w, p, live->finalized);
    }
    if (submitted && live->is_final) {
        PUT(p, ", \"total_s\": ");
        p = put_seconds(p, perftrace__ns_between(live->submit, live->finalized));
        w->clamped += live->submit > live->finalized;
    }
    return p;
}

/* End of the run of spans of one phase. */
static uint32_t phase_end(span_t *const *v, uint32_t i, uint32_t n) {
    uint32_t phase = v[i]->phase;
    do {
        i++;
    } while (i < n && v[i]->phase == phase);
    return i;
}

static char *put_sums(writer_t *w, char *p, uint32_t n, bool *ret_has_queue) {
    span_t *const *v = w->spans;
    for (uint32_t i = 0, end; i < n; i = end) {
        const perftrace__session_name_t *name = &w->phases->items[v[i]->phase];
        uint64_t sum = 0;
        bool any = false;
        for (end = i; end < n && v[end]->phase == v[i]->phase; end++) {
            if (v[end]->end != PERFTRACE__SPAN_OPEN) {
                sum = perftrace__ns_add(sum, v[end]->end - v[end]->start);
                any = true;
            }
        }
        if (any && !name->is_total) {
            p = put_name(p, name);
            PUT(p, "_s\": ");
            p = put_seconds(p, sum);
            *ret_has_queue |= name->is_queue;
        }
    }
    return p;
}

static char *put_payload(const writer_t *w, char *p, uint32_t text) {
    if (text) {
        *p++ = '{';
        p = perftrace__cells_read_text(w->cells, text, p);
        *p++ = '}';
    }
    return p;
}

static char *put_span(writer_t *w, char *p, const span_t *v) {
    PUT(p, "{\"start_ts\": ");
    p = put_time(w, p, v->start);
    PUT(p, ", \"end_ts\": ");
    if (v->end == PERFTRACE__SPAN_OPEN) {
        PUT(p, "null");
    } else {
        p = put_time(w, p, v->end);
    }
    if (v->start_text) {
        PUT(p, ", \"start\": ");
        p = put_payload(w, p, v->start_text);
    }
    if (v->end_text) {
        PUT(p, ", \"end\": ");
        p = put_payload(w, p, v->end_text);
    }
    *p++ = '}';
    return p;
}

/* Members of an object are put with `, ` before each; the first one has no need of it. */
static char *drop_first_separator(char *object, char *end) {
    memmove(object, object + 2, (size_t)(end - object - 2));
    return end - 2;
}

static char *put_phases(writer_t *w, char *p, uint32_t n) {
    span_t *const *v = w->spans;
    if (n == 0) {
        return p;
    }
    PUT(p, ", \"phases\": {");
    for (uint32_t i = 0; i < n;) {
        const perftrace__session_name_t *name = &w->phases->items[v[i]->phase];
        uint32_t skip = i == 0 ? 2 : 0;
        p = put_piece(p, name->json + skip, name->len - skip);
        PUT(p, "\": [");
        p = put_span(w, p, v[i]);
        for (uint32_t end = phase_end(v, i++, n); i < end; i++) {
            PUT(p, ", ");
            p = put_span(w, p, v[i]);
        }
        *p++ = ']';
    }
    *p++ = '}';
    return p;
}

static char *put_counters(const writer_t *w, char *p, uint32_t list) {
    char *before = p;
    PUT(p, ", \"counters\": {");
    char *first = p;
    while (list) {
        const perftrace__tally_t *tally = perftrace__cells_tally(w->cells, list);
        if (tally->value != 0) {
            p = put_name(p, &w->counters->items[tally->name]);
            PUT(p, "\": ");
            p = perftrace__put_i64(p, tally->value);
        }
        list = tally->next;
    }
    if (p == first) {
        return before;
    }
    p = drop_first_separator(first, p);
    *p++ = '}';
    return p;
}

/* From the submission to the start of the first phase. */
static char *put_queue_time(writer_t *w, char *p, const perftrace__live_t *live) {
    uint64_t first = w->spans[0]->start;
    for (uint32_t i = 1; i < live->nspans; i++) {
        first = PT_MIN(first, w->spans[i]->start);
    }
    PUT(p, ", \"queue_s\": ");
    return put_seconds(p, perftrace__ns_between(live->submit, first));
}

/* For each phase with open spans: how long the oldest of them had run. */
static char *put_unfinished(const writer_t *w, char *p, const perftrace__live_t *live,
                            uint64_t until) {
    span_t *const *v = w->spans;
    char *before = p;
    PUT(p, ", \"unfinished\": {");
    char *first = p;
    for (uint32_t i = 0, end; i < live->nspans; i = end) {
        end = phase_end(v, i, live->nspans);
        while (i < end && v[i]->end != PERFTRACE__SPAN_OPEN) {
            i++;
        }
        if (i < end) {
            p = put_name(p, &w->phases->items[v[i]->phase]);
            PUT(p, "\": ");
            p = put_seconds(p, perftrace__ns_between(v[i]->start, until));
        }
    }
    if (p == first) {
        return before;
    }
    p = drop_first_separator(first, p);
    *p++ = '}';
    return p;
}

/* What AReaL's records do not have. */
static char *put_superset(writer_t *w, char *p, const perftrace__live_t *live, uint64_t now,
                          bool has_queue) {
    if (live->task && perftrace__tasks_at(w->tasks, live->task)->has_parent) {
        PUT(p, ", \"parent_task\": ");
        p = perftrace__put_i64(p, perftrace__tasks_at(w->tasks, live->task)->parent);
    }
    if (live->nspans && live->registered && !has_queue) {
        p = put_queue_time(w, p, live);
    }
    if (live->open) {
        p = put_unfinished(w, p, live, live->is_final ? live->finalized : now);
    }
    if (live->evicted) {
        PUT(p, ", \"evicted\": true");
    }
    if (!live->registered) {
        PUT(p, ", \"partial\": true");
    }
    return put_buf(p, &w->tail);
}

/* ---- room ---- */

static size_t text_len(const writer_t *w, uint32_t text) {
    return text ? perftrace__cells_text_len(w->cells, text) : 0;
}

/* The scratch buffer takes the longer one of the two as it stands. */
static bool reserve_strings(writer_t *w, const perftrace__outcome_t *o, size_t *room) {
    size_t status = text_len(w, o->status_text);
    size_t reason = text_len(w, o->reason);
    *room += PERFTRACE__JSON_STRING_ROOM(status) + PERFTRACE__JSON_STRING_ROOM(reason);
    perftrace__strbuf_clear(&w->scratch);
    return !(o->status_text | o->reason) ||
           perftrace__strbuf_reserve(&w->scratch, PT_MAX(status, reason));
}

static bool reserve_spans(writer_t *w, uint32_t n) {
    if (n <= w->spans_cap) {
        return true;
    }
    size_t cap = PT_MAX((size_t)n, w->spans_cap * 2 + 16);
    span_t **spans = realloc(w->spans, cap * sizeof(span_t *));
    if (!spans) {
        return false;
    }
    w->spans = spans;
    w->spans_cap = cap;
    return true;
}

static size_t room_of(const writer_t *w, const perftrace__live_t *live) {
    size_t room = FIXED_ROOM + w->identity.len + w->tail.len;
    for (uint32_t i = 0; i < live->nspans; i++) {
        const span_t *v = w->spans[i];
        room += SPAN_ROOM + text_len(w, v->start_text) + text_len(w, v->end_text);
        if (i == 0 || v->phase != w->spans[i - 1]->phase) {
            room += 3 * (size_t)w->phases->items[v->phase].len;
        }
    }
    for (uint32_t list = live->tallies; list;) {
        const perftrace__tally_t *tally = perftrace__cells_tally(w->cells, list);
        room += COUNTER_ROOM + w->counters->items[tally->name].len;
        list = tally->next;
    }
    return room;
}

bool perftrace__record_write(perftrace__record_writer_t *w, const perftrace__live_t *live,
                             uint64_t now, perftrace__strbuf_t *out) {
    if (!reserve_spans(w, live->nspans)) {
        return false;
    }
    perftrace__spans_view(w->cells, w->phases, live, w->spans);
    size_t room = room_of(w, live);
    bool had_failed = out->failed;
    if (!reserve_strings(w, &live->outcome, &room) || !perftrace__strbuf_reserve(out, room)) {
        out->failed = had_failed;
        return false;
    }
    char *p = out->data + out->len;
    PUT(p, "{\"task_id\": ");
    if (live->task) {
        p = put_id(p, perftrace__tasks_at(w->tasks, live->task)->id);
    } else {
        PUT(p, "null");
    }
    PUT(p, ", \"session_id\": ");
    p = put_id(p, live->id);
    p = put_buf(p, &w->identity);
    p = put_outcome(w, p, live, w->spans);
    p = put_times(w, p, live);
    bool has_queue = false;
    p = put_sums(w, p, live->nspans, &has_queue);
    p = put_phases(w, p, live->nspans);
    if (live->tallies) {
        p = put_counters(w, p, live->tallies);
    }
    p = put_superset(w, p, live, now, has_queue);
    out->len = (size_t)(p - out->data);
    out->data[out->len] = '\0';
    if (w->scratch.cap > SCRATCH_KEPT) {
        perftrace__strbuf_free(&w->scratch);
    }
    return true;
}
