/* survey.c: the first pass over a file that is not of our writer. SPDX-License-Identifier: MIT */
#include "survey.h"

#include "json_scan.h"

#include <stdlib.h>

#define HOUR_NS     INT64_C(3600000000000)
#define MAX_HOURS   8192U
#define FEW_OUTLIER 2U   /* so many may always be set aside */
#define OUTLIER_OF  200U /* and one in so many */

/* The notes of one thread; in order of the threads' appearance. */
typedef struct pt_scope_lists {
    pt_scope_list_t *list;
    size_t count, cap;
    perftrace__hashmap_t map; /* thread address -> index */
    const pt_thread_t *last;
    size_t last_index;
    pt_scope_list_t flows;
} pt_scope_lists_t;

uint64_t pt_event_link_key(const pt_event_t *ev) {
    uint64_t h = perftrace__hash_bytes(ev->cat.p, ev->cat.len, 1);
    h = perftrace__hash_bytes(ev->name.p, ev->name.len, h);
    return perftrace__hash_bytes(ev->id.p, ev->id.len, h);
}

void pt_survey_init(pt_survey_t *s) {
    *s = (pt_survey_t){.world_size = -1};
    s->lists = calloc(1, sizeof *s->lists);
    s->failed = s->lists == NULL;
}

static void free_lists(pt_survey_t *s) {
    if (s->lists != NULL) {
        for (size_t i = 0; i < s->lists->count; i++) {
            pt_scope_list_free(&s->lists->list[i]);
        }
        free(s->lists->list);
        pt_scope_list_free(&s->lists->flows);
        perftrace__hashmap_free(&s->lists->map);
        free(s->lists);
        s->lists = NULL;
    }
    free(s->hour);
    s->hour = NULL;
    perftrace__hashmap_free(&s->hour_map);
}

void pt_survey_free(pt_survey_t *s) {
    if (s != NULL) {
        free_lists(s);
        pt_clock_notes_free(&s->clock);
        pt_scope_plan_free(&s->plan);
    }
}

static pt_scope_list_t *list_of(pt_scope_lists_t *l, const pt_thread_t *thread) {
    if (l->last == thread) {
        return &l->list[l->last_index];
    }
    bool is_new = false;
    const uint64_t *slot =
        perftrace__hashmap_put_u64(&l->map, (uint64_t)(uintptr_t)thread, l->count, &is_new);
    if (slot == NULL) {
        return NULL;
    }
    if (is_new) {
        if (l->count == l->cap) {
            size_t cap = l->cap == 0 ? 16 : l->cap * 2;
            pt_scope_list_t *more = realloc(l->list, cap * sizeof *more);
            if (more == NULL) {
                return NULL;
            }
            l->list = more;
            l->cap = cap;
        }
        l->list[l->count++] = (pt_scope_list_t){NULL, 0, 0};
    }
    l->last = thread;
    l->last_index = (size_t)*slot;
    return &l->list[l->last_index];
}

static int64_t hour_of(int64_t ts) {
    return ts / HOUR_NS - (ts % HOUR_NS < 0);
}

static void note_time(pt_survey_t *s, int64_t ts, int64_t end) {
    int64_t number = hour_of(ts);
    bool is_new = false;
    if (s->hour_count >= MAX_HOURS &&
        perftrace__hashmap_get_u64(&s->hour_map, (uint64_t)number) == NULL) {
        number = INT64_MIN; /* times all over the place: the rest goes into one hour */
    }
    const uint64_t *slot =
        perftrace__hashmap_put_u64(&s->hour_map, (uint64_t)number, s->hour_count, &is_new);
    if (slot != NULL && is_new && s->hour_count == s->hour_cap) {
        size_t cap = s->hour_cap == 0 ? 8 : s->hour_cap * 2;
        pt_survey_hour_t *more = realloc(s->hour, cap * sizeof *more);
        slot = more != NULL ? slot : NULL;
        s->hour = more != NULL ? more : s->hour;
        s->hour_cap = more != NULL ? cap : s->hour_cap;
    }
    if (slot == NULL) {
        s->failed = true;
        return;
    }
    pt_survey_hour_t *h = &s->hour[*slot];
    if (is_new) {
        s->hour_count++;
        *h = (pt_survey_hour_t){ts, ts, end, 0};
    }
    h->count++;
    h->first = PT_MIN(h->first, ts);
    h->last = PT_MAX(h->last, ts);
    h->last_end = PT_MAX(h->last_end, end);
}

static perftrace__json_slice_t object_slice(pt_str_t text) {
    return (perftrace__json_slice_t){text.p, text.len, PERFTRACE__JSON_OBJECT, false, 0};
}

static void note_rank(pt_process_t *p, const pt_event_t *ev) {
    perftrace__json_slice_t args = object_slice(ev->args), rank;
    int64_t v;
    if (p->rank < 0 && ev->args.len > 2 && memmem(ev->args.p, ev->args.len, "\"rank\"", 6) &&
        perftrace__json_find(&args, "rank", &rank) && perftrace__json_to_i64(&rank, &v) && v >= 0 &&
        v <= INT32_MAX) {
        p->rank = v;
    }
}

/* The rank of the file is that of its first process that has one. */
static void find_rank(pt_survey_t *s, const pt_tracks_t *tracks) {
    for (size_t i = 0; i < tracks->process_count && !s->rank_of_file; i++) {
        int64_t rank = tracks->process[i]->rank;
        if (rank >= 0) {
            s->several_ranks |= s->has_rank && rank != s->rank;
            s->rank = s->has_rank ? s->rank : rank;
            s->has_rank = true;
        }
    }
}

void pt_survey_event(pt_survey_t *s, pt_thread_t *thread, const pt_event_t *ev, uint64_t ordinal) {
    s->events++;
    note_rank(thread->process, ev);
    if (ev->ph == 'M' || (ev->has & PT_EVENT_HAS_TS) == 0 || s->failed) {
        return;
    }
    int64_t dur = (ev->has & PT_EVENT_HAS_DUR) != 0 && ev->dur > 0 && ev->ph == 'X' ? ev->dur : 0;
    note_time(s, ev->ts, ev->ts + dur);
    (void)pt_clock_notes_take(&s->clock, ev);
    s->failed |= s->clock.failed;
    if (ev->ph == 'X' || ev->ph == 'B' || ev->ph == 'E' || (ev->ph == 'f' && ev->bp.len == 0)) {
        pt_scope_list_t *list = list_of(s->lists, thread);
        s->failed |=
            list == NULL || !pt_scope_list_add(list, ev->ph, ev->ts, ev->ts + dur, ordinal);
    }
    if (ev->ph == 's' || ev->ph == 't' || ev->ph == 'f') {
        s->failed |= !pt_scope_list_add(&s->lists->flows, ev->ph, ev->ts,
                                        (int64_t)pt_event_link_key(ev), ordinal);
    }
}

void pt_survey_member(pt_survey_t *s, const char *key, size_t key_len, const char *value,
                      size_t len) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v, found;
    pt_str_t name = {key, key_len};
    int64_t number;
    perftrace__json_cursor_init(&c, value, len); /* so far only its brackets were looked at */
    if (perftrace__json_next_value(&c, &v) <= 0) {
        return;
    }
    if (PT_STR_IS(name, "\"baseTimeNanoseconds\"")) {
        s->has_base = perftrace__json_to_i64(&v, &s->base_ns);
    } else if (PT_STR_IS(name, "\"distributedInfo\"") && v.type == PERFTRACE__JSON_OBJECT) {
        if (perftrace__json_find(&v, "rank", &found) && perftrace__json_to_i64(&found, &number)) {
            s->has_rank = s->rank_of_file = true;
            s->rank = number;
        }
        if (perftrace__json_find(&v, "world_size", &found)) {
            perftrace__json_to_i64(&found, &s->world_size);
        }
    }
}

static int by_first(const void *a, const void *b) {
    const pt_survey_hour_t *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sets the range: the largest run of hours without a gap of an hour, and every run that is too
 * large to be a slip. */
static void find_range(pt_survey_t *s, bool keep_outliers) {
    uint64_t total = 0, best = 0;
    size_t best_from = 0;
    if (s->hour_count == 0) {
        return;
    }
    qsort(s->hour, s->hour_count, sizeof *s->hour, by_first);
    /* Runs: each hour's count becomes the count of its run, kept at the run's first hour. */
    size_t from = 0;
    for (size_t i = 0; i < s->hour_count; i++) {
        total += s->hour[i].count;
        if (i > 0 && s->hour[i].first - s->hour[i - 1].last > HOUR_NS) {
            from = i;
        } else if (i > 0) {
            s->hour[from].count += s->hour[i].count;
            s->hour[i].count = 0;
        }
        if (s->hour[from].count > best) {
            best = s->hour[from].count;
            best_from = from;
        }
    }
    uint64_t few = PT_MAX((uint64_t)FEW_OUTLIER, total / OUTLIER_OF);
    int64_t lo = INT64_MAX, hi = INT64_MIN, end = INT64_MIN;
    bool in = true;
    for (size_t i = 0; i < s->hour_count; i++) {
        const pt_survey_hour_t *h = &s->hour[i];
        if (h->count > 0) {
            in = keep_outliers || i == best_from || h->count > few || best <= few;
            s->outliers += in ? 0 : h->count;
        }
        if (in) {
            lo = PT_MIN(lo, h->first);
            hi = PT_MAX(hi, h->last);
            end = PT_MAX(end, h->last_end);
        }
    }
    s->lo = lo;
    s->hi = hi;
    s->first_ts = lo;
    s->last_ts = end;
}

bool pt_survey_finish(pt_survey_t *s, const pt_tracks_t *tracks, bool keep_outliers) {
    find_rank(s, tracks);
    find_range(s, keep_outliers);
    for (size_t i = 0; s->lists != NULL && i < s->lists->count && !s->failed; i++) {
        s->failed = !pt_scope_plan_thread(&s->plan, &s->lists->list[i], s->lo, s->hi, s->last_ts);
    }
    s->failed = s->failed || !pt_scope_plan_flows(&s->plan, &s->lists->flows, s->lo, s->hi) ||
                !pt_scope_plan_finish(&s->plan);
    free_lists(s);
    return !s->failed;
}

bool pt_survey_metadata(pt_tracks_t *tracks, const pt_event_t *ev) {
    perftrace__json_slice_t args = object_slice(ev->args), value;
    bool thread =
        PT_STR_IS(ev->name, "\"thread_name\"") || PT_STR_IS(ev->name, "\"thread_sort_index\"");
    bool process =
        PT_STR_IS(ev->name, "\"process_name\"") || PT_STR_IS(ev->name, "\"process_sort_index\"");
    bool sort = ev->name.len > 12 && ev->name.p[ev->name.len - 2] == 'x';
    int64_t number;
    if (ev->ph != 'M' || (!thread && !process)) {
        return false;
    }
    pt_thread_t *th = thread ? pt_tracks_thread(tracks, &ev->pid, &ev->tid) : NULL;
    pt_process_t *p = process ? pt_tracks_process(tracks, &ev->pid) : NULL;
    if (p != NULL) {
        note_rank(p, ev);
    }
    if (ev->args.len == 0 || (th == NULL && p == NULL) ||
        !perftrace__json_find(&args, sort ? "sort_index" : "name", &value)) {
        return true;
    }
    if (sort && perftrace__json_to_i64(&value, &number)) {
        if (th != NULL) {
            th->has_sort = true;
            th->sort = number;
        } else {
            p->has_sort = true;
            p->sort = number;
        }
    } else if (!sort && value.type == PERFTRACE__JSON_STRING && value.len > 0) {
        pt_str_t text = {value.p - 1, value.len + 2};
        if (th != NULL) {
            pt_thread_set_name(th, text);
        } else {
            pt_process_set_name(p, text);
        }
    }
    return true;
}
