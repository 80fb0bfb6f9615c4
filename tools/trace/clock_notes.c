/* clock_notes.c. SPDX-License-Identifier: MIT */
#include "clock_notes.h"

#include "grow.h"
#include "hashmap.h"
#include "json_scan.h"
#include "trace_time.h"

#define PERIOD_NS INT64_C(10000000000) /* a writer reads its clocks so often */

void pt_clock_notes_free(pt_clock_notes_t *n) {
    free(n->pair);
    free(n->reading);
    free(n->mark);
    *n = (pt_clock_notes_t){0};
}

static void *trimmed(void *array, size_t size, size_t count, size_t *cap) {
    void *smaller = count > 0 && count < *cap ? realloc(array, size * count) : NULL;
    *cap = smaller != NULL ? count : *cap;
    return smaller != NULL ? smaller : array;
}

void pt_clock_notes_trim(pt_clock_notes_t *n) {
    n->pair = trimmed(n->pair, sizeof *n->pair, n->pairs, &n->pair_cap);
    n->reading = trimmed(n->reading, sizeof *n->reading, n->readings, &n->reading_cap);
    n->mark = trimmed(n->mark, sizeof *n->mark, n->marks, &n->mark_cap);
}

uint64_t pt_clock_name(const char *text, size_t len) {
    return perftrace__hash_bytes(text, len, 2);
}

static bool find_i64(const perftrace__json_slice_t *args, const char *key, int64_t *ret) {
    perftrace__json_slice_t v;
    return perftrace__json_find(args, key, &v) && perftrace__json_to_i64(&v, ret);
}

bool pt_clock_pair_ok(const pt_clock_pair_t *p) {
    return p->mono_ns >= 0 && p->mono_ns < PT_CLOCK_LIMIT && p->epoch_ns >= 0 &&
           p->epoch_ns < PT_CLOCK_LIMIT;
}

static bool take_pair(pt_clock_notes_t *n, const perftrace__json_slice_t *args) {
    pt_clock_pair_t p;
    perftrace__json_slice_t ts;
    if (!find_i64(args, "mono_ns", &p.mono_ns) || !find_i64(args, "epoch_ns", &p.epoch_ns) ||
        !pt_clock_pair_ok(&p)) {
        return false;
    }
    if (!perftrace__json_find(args, "ts", &ts) || ts.type != PERFTRACE__JSON_NUMBER ||
        !pt_time_parse_us(ts.p, ts.len, &p.ts)) {
        p.ts = 0; /* nothing can be said of the file's clock against this one */
    }
    if (!PT_GROW(n, pair, pairs, pair_cap, 1)) {
        n->failed = true;
        return true;
    }
    n->pair[n->pairs++] = p;
    return true;
}

static bool take_reading(pt_clock_notes_t *n, const perftrace__json_slice_t *args) {
    pt_clock_reading_t r;
    perftrace__json_slice_t ref;
    if (!find_i64(args, "mono_ns", &r.mono_ns) || !find_i64(args, "ref_ns", &r.ref_ns) ||
        !find_i64(args, "error_ns", &r.error_ns) || !pt_clock_reading_ok(&r) ||
        !perftrace__json_find(args, "ref", &ref) || ref.type != PERFTRACE__JSON_STRING ||
        ref.len == 0) {
        return false;
    }
    r.ref = pt_clock_name(ref.p, ref.len);
    if (!PT_GROW(n, reading, readings, reading_cap, 1)) {
        n->failed = true;
        return true;
    }
    n->reading[n->readings++] = r;
    return true;
}

static bool take_mark(pt_clock_notes_t *n, const pt_event_t *ev,
                      const perftrace__json_slice_t *args) {
    perftrace__json_slice_t id;
    if (ev->ph == 'B' || (ev->has & PT_EVENT_HAS_TS) == 0 ||
        !perftrace__json_find(args, "sync_id", &id)) {
        return false;
    }
    if (!PT_GROW(n, mark, marks, mark_cap, 1)) {
        n->failed = true;
        return true;
    }
    int64_t dur = (ev->has & PT_EVENT_HAS_DUR) != 0 && ev->dur > 0 ? ev->dur : 0;
    n->mark[n->marks++] = (pt_sync_mark_t){perftrace__hash_bytes(id.p, id.len, 0), ev->ts + dur};
    return true;
}

bool pt_clock_notes_take(pt_clock_notes_t *n, const pt_event_t *ev) {
    perftrace__json_slice_t args = {ev->args.p, ev->args.len, PERFTRACE__JSON_OBJECT, false, 0};
    bool usable = ev->args.len > 0;
    if (PT_STR_IS(ev->name, "\"perftrace_sync\"")) {
        (void)(usable && take_mark(n, ev, &args)); /* a program may use that name for its own */
        return true;
    }
    if (ev->ph != 'M') {
        return false;
    }
    if (PT_STR_IS(ev->name, "\"perftrace_clock\"")) {
        usable = usable && take_pair(n, &args);
    } else if (PT_STR_IS(ev->name, "\"perftrace_reference\"")) {
        usable = usable && take_reading(n, &args);
    } else if (PT_STR_IS(ev->name, "\"perftrace_footer\"")) {
        n->complete = usable = true;
    } else {
        return false;
    }
    n->odd += !usable;
    return true;
}

int64_t pt_clock_notes_last(const pt_clock_notes_t *n) {
    int64_t last = 0;
    for (size_t i = 0; i < n->pairs; i++) {
        last = PT_MAX(last, n->pair[i].ts);
    }
    for (size_t i = 0; i < n->marks; i++) {
        last = PT_MAX(last, n->mark[i].ts);
    }
    return n->complete || n->pairs == 0 ? last : last + PERIOD_NS;
}
