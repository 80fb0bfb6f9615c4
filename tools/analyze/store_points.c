/* store_points.c: points from counters, ranges of hardware counters and records of memory.
 * SPDX-License-Identifier: MIT */
#include "grow.h"
#include "store_take.h"

#include <stdio.h>
#include <string.h>

#define KEYS_AHEAD 64U /* arguments that are compared with one: not all with all */

/* A counter with one argument has the counter's name, others the argument's behind it. Both are
 * parts of JSON strings. */
static uint32_t name_series(pt_rank_store_t *s, pt_str_t name, pt_str_t key) {
    perftrace__strbuf_t *joined = &s->joined;
    perftrace__strbuf_clear(joined);
    perftrace__strbuf_putc(joined, '"');
    perftrace__strbuf_append(joined, name.p, name.len);
    perftrace__strbuf_puts(joined, key.len > 0 ? " " : "");
    perftrace__strbuf_append(joined, key.p, key.len);
    perftrace__strbuf_putc(joined, '"');
    s->failed |= joined->failed;
    return pt_names_add_json(&s->names, (pt_str_t){perftrace__strbuf_cstr(joined), joined->len});
}

static void add_point(pt_store_feed_t *f, uint32_t process, pt_str_t name, pt_str_t key, int64_t ts,
                      double value) {
    pt_rank_store_t *s = f->store;
    bool is_new = false;
    uint32_t number = name_series(s, name, key);
    const uint64_t *slot = perftrace__hashmap_put_u64(
        &s->series_map, (uint64_t)process << 32 | number, s->serieses, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(s, series, serieses, series_cap, 1)) ||
        !PT_GROW(s, point, points, point_cap, 1)) {
        s->failed = true;
        return;
    }
    if (is_new) {
        s->series[s->serieses++] = (pt_store_series_t){number, process};
    }
    s->point[s->points++] = (pt_store_point_t){ts, value, (uint32_t)*slot, 0};
}

static bool has_twin_key(pt_str_t args) {
    perftrace__json_slice_t object = {args.p, args.len, PERFTRACE__JSON_OBJECT, false, 0};
    return args.len > 2 && perftrace__json_duplicate_key(&object, NULL);
}

/* Whether a key is among the next ones behind the cursor, which is a copy. */
static bool comes_again(perftrace__json_cursor_t c, const perftrace__json_slice_t *key) {
    perftrace__json_slice_t later, value;
    for (unsigned n = 0; n < KEYS_AHEAD && perftrace__json_next_member(&c, &later, &value) > 0;
         n++) {
        if (later.len == key->len && memcmp(later.p, key->p, key->len) == 0) {
            return true;
        }
    }
    return false;
}

void pt_store_take_counter(pt_store_feed_t *f, const pt_event_t *ev) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    uint32_t process = pt_store_process(f->store, &ev->pid);
    pt_str_t name = {ev->name.p + 1, ev->name.len - 2};
    double number;
    unsigned taken = 0;
    pt_args_t args = {ev->args, has_twin_key(ev->args)};
    pt_store_tell_twice(f, &args);
    if (f->store->asks_ranks && !f->store->failed) {
        pt_store_note_rank(f->store, process, &args);
    }
    perftrace__json_cursor_init(&c, ev->args.p, ev->args.len);
    if (ev->args.len > 0 && perftrace__json_enter_object(&c)) {
        while (perftrace__json_next_member(&c, &key, &value) > 0 && !f->store->failed) {
            if (perftrace__json_is(&key, "rank") || perftrace__json_is(&key, "role") ||
                perftrace__json_is(&key, "global_step")) {
                continue;
            }
            if (value.type != PERFTRACE__JSON_NUMBER ||
                !perftrace__json_to_double(&value, &number)) {
                pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_NOT_NUMERIC, NULL);
                continue;
            }
            if (args.twice && comes_again(c, &key)) {
                continue;
            }
            bool plain = key.len == name.len && memcmp(key.p, name.p, key.len) == 0;
            bool value_key = perftrace__json_is(&key, "value");
            add_point(f, process, name,
                      plain || value_key ? (pt_str_t){"", 0} : (pt_str_t){key.p, key.len}, ev->ts,
                      number);
            taken++;
        }
    }
    if (taken > 0) {
        pt_store_note_hour(f, ev->ts);
    } else {
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_NO_VALUE, NULL);
    }
}

/* Hardware counters that torch reads through CUPTI: each of a range (a kernel) is an argument. */
void pt_store_take_range(pt_store_feed_t *f, const pt_event_t *ev, size_t row) {
    pt_rank_store_t *s = f->store;
    size_t first = s->points;
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    uint32_t process = pt_store_process(s, &ev->pid);
    double number;
    pt_args_t args = {ev->args, has_twin_key(ev->args)};
    pt_store_tell_twice(f, &args);
    perftrace__json_cursor_init(&c, ev->args.p, ev->args.len);
    bool has = ev->args.len > 0 && perftrace__json_enter_object(&c);
    while (has && perftrace__json_next_member(&c, &key, &value) > 0 && !s->failed) {
        if (value.type == PERFTRACE__JSON_NUMBER && perftrace__json_to_double(&value, &number) &&
            !(args.twice && comes_again(c, &key))) {
            add_point(f, process, (pt_str_t){key.p, key.len}, (pt_str_t){"", 0}, ev->ts, number);
        }
    }
    if (s->failed || !PT_GROW(s, range, ranges, range_cap, 1)) {
        s->failed = true;
        return;
    }
    s->range[s->ranges++] = (pt_store_range_t){(uint32_t)row, first, s->points - first};
}

/* torch's records of its allocator. */
void pt_store_take_memory(pt_store_feed_t *f, const pt_event_t *ev) {
    static const char what[] = "memory allocated on device";
    int64_t total, device;
    char key[24];
    pt_args_t args = {ev->args, false};
    if (pt_args_int(&args, "\"Total Allocated\"", &total) &&
        pt_args_int(&args, "\"Device Id\"", &device)) {
        snprintf(key, sizeof key, "%lld", (long long)device);
        add_point(f, pt_store_process(f->store, &ev->pid), (pt_str_t){what, sizeof what - 1},
                  (pt_str_t){key, strlen(key)}, ev->ts, (double)total);
    }
    pt_store_tell_twice(f, &args);
}
