/* store_feed.c: from events to a store. SPDX-License-Identifier: MIT */
#include "store_feed.h"

#include "grow.h"
#include "store_args.h"

#include <stdio.h>
#include <string.h>

#define MAX_HOURS  8192U
#define KEYS_AHEAD 64U    /* arguments that are compared with one: not all with all */
#define RANK_ASKS  64U    /* events of a process that are looked at for its rank */
#define CATS_MOST  65000U /* further ones share a name */

static uint16_t take_cat(pt_rank_store_t *s, pt_str_t cat) {
    for (size_t i = 0; i < s->cats && i < 16; i++) { /* nearly always among the first */
        pt_str_t known = pt_names_get(&s->names, s->cat[i].name);
        if (known.len + 2 == cat.len && memcmp(known.p, cat.p + 1, known.len) == 0) {
            return (uint16_t)i;
        }
    }
    bool is_new = false;
    uint32_t name = pt_names_add_json(&s->names, cat);
    if (s->cats >= CATS_MOST && perftrace__hashmap_get_u64(&s->cat_map, name) == NULL) {
        name = pt_names_add_cstr(&s->names, "(more categories)");
    }
    const uint64_t *slot = perftrace__hashmap_put_u64(&s->cat_map, name, s->cats, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(s, cat, cats, cat_cap, 1))) {
        s->failed = true;
        return 0;
    }
    if (is_new) {
        pt_str_t text = pt_names_get(&s->names, name);
        s->cat[s->cats++] = (pt_store_cat_t){name, (uint8_t)pt_store_kind_of(text.p, text.len)};
    }
    return (uint16_t)*slot;
}

/* Notes the hour of a time. The place of its first event is kept: it may prove to be a slip. */
static void note_hour(pt_store_feed_t *f, int64_t ts) {
    pt_rank_store_t *s = f->store;
    if (ts < s->hour_from || ts > s->hour_to) {
        int64_t number = ts / PT_HOUR_NS - (ts % PT_HOUR_NS < 0);
        bool is_new = false;
        if (s->hours >= MAX_HOURS &&
            perftrace__hashmap_get_u64(&s->hour_map, (uint64_t)number) == NULL) {
            number = INT64_MIN; /* times all over the place: the rest goes into one hour */
        }
        const uint64_t *slot =
            perftrace__hashmap_put_u64(&s->hour_map, (uint64_t)number, s->hours, &is_new);
        if (slot == NULL || (is_new && !PT_GROW(s, hour, hours, hour_cap, 1))) {
            s->failed = true;
            return;
        }
        s->hour_now = (size_t)*slot;
        if (is_new) {
            pt_store_hour_t hour = {.first = ts, .last = ts, .offset = UINT64_MAX};
            if (f->reader->record != NULL) {
                pt_cutter_place(&f->reader->cutter, f->reader->record, &hour.line, &hour.offset);
            }
            s->hour[s->hours++] = hour;
        }
        s->hour_from = number == INT64_MIN ? 0 : number * PT_HOUR_NS;
        s->hour_to = number == INT64_MIN ? -1 : s->hour_from + PT_HOUR_NS - 1;
    }
    pt_store_hour_t *h = &s->hour[s->hour_now];
    h->count++;
    h->first = PT_MIN(h->first, ts);
    h->last = PT_MAX(h->last, ts);
}

static void note_rank(pt_rank_store_t *s, uint32_t process, pt_args_t *args) {
    pt_store_process_t *p = &s->process[process];
    int64_t rank;
    if (p->rank < 0 && p->asked < RANK_ASKS && args->text.len > 2) {
        p->asked++;
        if (pt_args_int(args, "\"rank\"", &rank) && rank >= 0 && rank <= INT32_MAX) {
            p->rank = rank;
        }
    }
}

/* As the reader tells where it mends: the last one has counted. */
static void tell_twice(pt_store_feed_t *f, const pt_args_t *args) {
    if (args->twice) {
        pt_trace_reader_problem(f->reader, PERFTRACE__JSON_REPAIR_INDEX_DUPLICATE_KEY, NULL);
    }
}

/* ---- scopes ---- */

static uint32_t take_extra(pt_rank_store_t *s, pt_args_t *args, pt_row_kind_t kind) {
    pt_row_extra_t x = {PT_NOT_RECORDED, PT_NOT_RECORDED, PT_NOT_RECORDED, 0, 0};
    if (kind == PT_ROW_KERNEL) {
        pt_str_t name = pt_args_text(args, "\"Collective name\"");
        pt_str_t group = name.len > 0 ? pt_args_text(args, "\"Process Group Name\"") : name;
        int64_t elements;
        if (name.len == 0) {
            return 0;
        }
        x.collective = pt_names_add_json(&s->names, name);
        x.group = group.len > 0 ? pt_names_add_json(&s->names, group) : 0;
        (void)pt_args_int(args, "\"Group size\"", &x.group_size);
        if (!pt_args_int(args, "\"Seq\"", &x.seq)) {
            (void)pt_args_int(args, "\"seq\"", &x.seq);
        }
        if (pt_args_int(args, "\"In msg nelems\"", &elements) && elements >= 0 &&
            elements < INT64_MAX / 8) {
            pt_str_t type = pt_args_text(args, "\"dtype\"");
            int64_t size = PT_STR_IS(type, "\"Float\"") || PT_STR_IS(type, "\"Int\"")       ? 4
                           : PT_STR_IS(type, "\"BFloat16\"") || PT_STR_IS(type, "\"Half\"") ? 2
                           : PT_STR_IS(type, "\"Double\"") || PT_STR_IS(type, "\"Long\"")   ? 8
                           : PT_STR_IS(type, "\"Byte\"") || PT_STR_IS(type, "\"Char\"") ||
                                   PT_STR_IS(type, "\"Bool\"")
                               ? 1
                               : 0;
            x.bytes = size > 0 ? elements * size : PT_NOT_RECORDED;
        }
    } else if (!pt_args_int(args, "\"bytes\"", &x.bytes) || x.bytes < 0) {
        return 0;
    }
    if (!PT_GROW(s, extra, extras, extra_cap, 1)) {
        s->failed = true;
        return 0;
    }
    s->extra[s->extras++] = x;
    return (uint32_t)s->extras;
}

static bool is_sync_name(pt_str_t name) {
    return PT_STR_IS(name, "\"Context Sync\"") || PT_STR_IS(name, "\"Context Synchronize\"") ||
           PT_STR_IS(name, "\"Stream Sync\"") || PT_STR_IS(name, "\"Stream Synchronize\"") ||
           PT_STR_IS(name, "\"Event Sync\"") || PT_STR_IS(name, "\"Event Synchronize\"") ||
           PT_STR_IS(name, "\"Stream Wait Event\"") || PT_STR_IS(name, "\"Unknown Sync\"");
}

static void take_links(pt_rank_store_t *s, pt_args_t *args, pt_row_t *row) {
    bool own = row->kind == PT_ROW_OTHER || row->kind == PT_ROW_ANNOTATION;
    const char *key = own ? "\"global_step\"" : "\"correlation\"";
    if (args->text.len < 8 || row->kind == PT_ROW_PYTHON || row->kind == PT_ROW_CPU_OP) {
        return;
    }
    if (!pt_args_int(args, key, &row->link)) {
        row->link = PT_NOT_RECORDED;
    }
    if (PT_ROW_IS_WORK(row->kind)) {
        row->extra = take_extra(s, args, (pt_row_kind_t)row->kind);
    }
}

static size_t add_row(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    pt_row_t row = {.ts = ev->ts, .dur = ev->ph == 'X' ? ev->dur : 0, .link = PT_NOT_RECORDED};
    row.track = pt_store_track(s, &ev->pid, &ev->tid);
    row.name = pt_names_add_json(&s->names, ev->name);
    row.cat = take_cat(s, ev->cat);
    if (s->failed || s->rows >= UINT32_MAX - 1 || !PT_GROW(s, row, rows, row_cap, 1)) {
        s->failed = true;
        return SIZE_MAX;
    }
    row.kind = s->cat[row.cat].kind;
    row.kind = row.kind == PT_ROW_KERNEL && is_sync_name(ev->name) ? PT_ROW_SYNC : row.kind;
    pt_args_t args = {ev->args, false};
    take_links(s, &args, &row);
    if (s->asks_ranks && row.kind == PT_ROW_OTHER) {
        note_rank(s, s->track[row.track].process, &args);
    }
    tell_twice(f, &args);
    note_hour(f, row.ts);
    s->row[s->rows] = row;
    return s->rows++;
}

static void take_begin(pt_store_feed_t *f, const pt_event_t *ev) {
    size_t index = add_row(f, ev);
    if (index != SIZE_MAX) {
        pt_store_track_t *t = &f->store->track[f->store->row[index].track];
        if (!PT_GROW(t, open, opens, open_cap, 1)) {
            f->store->failed = true;
            return;
        }
        t->open[t->opens++] = (uint32_t)index;
    }
}

static void take_end(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    uint32_t track = pt_store_track(s, &ev->pid, &ev->tid);
    pt_store_track_t *t = track != UINT32_MAX ? &s->track[track] : NULL;
    if (t == NULL) {
        return;
    }
    if (t->opens == 0) {
        s->stray_ends++;
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_STRAY_END, NULL);
        return;
    }
    pt_row_t *row = &s->row[t->open[--t->opens]];
    row->dur = PT_MAX(ev->ts - row->ts, (int64_t)0);
}

/* ---- counters ---- */

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

static void take_counter(pt_store_feed_t *f, const pt_event_t *ev) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    uint32_t process = pt_store_process(f->store, &ev->pid);
    pt_str_t name = {ev->name.p + 1, ev->name.len - 2};
    double number;
    unsigned taken = 0;
    pt_args_t args = {ev->args, has_twin_key(ev->args)};
    tell_twice(f, &args);
    if (f->store->asks_ranks && !f->store->failed) {
        note_rank(f->store, process, &args);
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
        note_hour(f, ev->ts);
    } else {
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_NO_VALUE, NULL);
    }
}

/* Hardware counters that torch reads through CUPTI: each of a range (a kernel) is an argument. */
static void take_range(pt_store_feed_t *f, const pt_event_t *ev) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    uint32_t process = pt_store_process(f->store, &ev->pid);
    double number;
    pt_args_t args = {ev->args, has_twin_key(ev->args)};
    tell_twice(f, &args);
    perftrace__json_cursor_init(&c, ev->args.p, ev->args.len);
    if (ev->args.len == 0 || !perftrace__json_enter_object(&c)) {
        return;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0 && !f->store->failed) {
        if (value.type == PERFTRACE__JSON_NUMBER && perftrace__json_to_double(&value, &number) &&
            !(args.twice && comes_again(c, &key))) {
            add_point(f, process, (pt_str_t){key.p, key.len}, (pt_str_t){"", 0}, ev->ts, number);
        }
    }
}

static void take_complete(pt_store_feed_t *f, pt_event_t *ev) {
    if ((ev->has & PT_EVENT_HAS_DUR) == 0) {
        if ((f->reader->parser.odd & PT_EVENT_ODD_DUR) == 0) { /* else it has been told */
            pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_NO_DUR, NULL);
        }
        ev->dur = 0;
    }
    ev->dur = PT_MAX(ev->dur, (int64_t)0);
    if (add_row(f, ev) != SIZE_MAX && PT_STR_IS(ev->cat, "\"cuda_profiler_range\"")) {
        take_range(f, ev);
    }
}

/* torch's records of its allocator. */
static void take_memory(pt_store_feed_t *f, const pt_event_t *ev) {
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
    tell_twice(f, &args);
}

/* ---- metadata ---- */

static void take_metadata(pt_store_feed_t *f, const pt_event_t *ev) {
    pt_rank_store_t *s = f->store;
    if (PT_STR_IS(ev->name, "\"process_name\"")) {
        uint32_t process = pt_store_process(s, &ev->pid);
        if (!s->failed) {
            pt_args_t args = {ev->args, false};
            pt_str_t name = pt_args_text(&args, "\"name\"");
            perftrace__json_slice_t label;
            note_rank(s, process, &args);
            if (name.len > 0) {
                s->process[process].name = pt_names_add_json(&s->names, name);
            }
            if (pt_args_find(&args, "\"orig_pid\"", &label)) {
                s->process[process].label =
                    pt_names_add(&s->names, label.p, label.len); /* of a merged trace */
            }
            tell_twice(f, &args);
        }
    }
}

static bool has_phase(char ph) {
    return ph != 0 && strchr("BEXiIRCbnestfSTpFNODMPvVc()", ph) != NULL;
}

static void on_event(void *ctx, pt_event_t *ev) {
    pt_store_feed_t *f = ctx;
    pt_rank_store_t *s = f->store;
    if (s->failed) {
        return;
    }
    s->events++;
    s->by_phase[(unsigned char)ev->ph & 127U]++;
    if (ev->ph == 'M') {
        take_metadata(f, ev);
        return;
    }
    if (!has_phase(ev->ph)) {
        pt_trace_reader_problem(f->reader, PT_TRACE_PROBLEM_BAD_PHASE, NULL);
        return;
    }
    if ((ev->has & PT_EVENT_HAS_TS) == 0) {
        pt_trace_reader_problem(f->reader,
                                (f->reader->parser.odd & PT_EVENT_ODD_TS) != 0
                                    ? PT_TRACE_PROBLEM_BAD_TIME
                                    : PT_TRACE_PROBLEM_NO_TIME,
                                NULL);
        return;
    }
    switch (ev->ph) {
    case 'X':
        take_complete(f, ev);
        break;
    case 'B':
        take_begin(f, ev);
        break;
    case 'E':
        take_end(f, ev);
        break;
    case 'C':
        take_counter(f, ev);
        break;
    case 'i':
        if (PT_STR_IS(ev->name, "\"[memory]\"")) {
            take_memory(f, ev);
        }
        break;
    default:
        break;
    }
}

/* ---- the reader ---- */

static void on_member(void *ctx, const char *key, size_t key_len, const char *value, size_t len) {
    pt_store_feed_t *f = ctx;
    pt_store_take_member(f->store, key, key_len, value, len);
}

void pt_store_feed_join(pt_store_feed_t *f, pt_rank_store_t *store, pt_trace_reader_t *reader) {
    *f = (pt_store_feed_t){store, reader};
    reader->event = on_event;
    reader->member = on_member;
    reader->ctx = f;
    reader->lean = true;
}

void pt_store_feed_finish(pt_store_feed_t *f, bool keep_outliers) {
    pt_rank_store_t *s = f->store;
    pt_problems_t *book = f->reader->book;
    char detail[64];
    pt_store_finish(s, keep_outliers);
    if (book == NULL) {
        return;
    }
    for (size_t i = 0; i < s->hours; i++) {
        const pt_store_hour_t *h = &s->hour[i];
        if (h->left_out) {
            snprintf(detail, sizeof detail, "ts %lld.%03lld", (long long)(h->first / 1000),
                     (long long)(h->first < 0 ? 0 : h->first % 1000));
            pt_problems_add_many(book, PT_TRACE_PROBLEM_OUTLIER, f->reader->file, h->line,
                                 h->offset, detail, h->count);
        }
    }
    pt_problems_add_many(book, PT_TRACE_PROBLEM_UNFINISHED, f->reader->file, 0, PT_NO_OFFSET, NULL,
                         s->unfinished);
}
