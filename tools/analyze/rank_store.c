/* rank_store.c: the events of one trace file, compact. SPDX-License-Identifier: MIT */
#include "rank_store.h"

#include "grow.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FEW_OUTLIER 2U   /* so many may always be set aside */
#define OUTLIER_OF  200U /* and one in so many */

void pt_store_init(pt_rank_store_t *s) {
    memset(s, 0, sizeof *s);
    s->joined = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    s->world_size = -1;
    s->devices = -1;
    s->device_memory = s->multiprocessors = s->process_groups = PT_NOT_RECORDED;
    s->last_mark = INT64_MIN;
    s->hour_from = 0;
    s->hour_to = -1;
}

void pt_store_free(pt_rank_store_t *s) {
    if (s == NULL) {
        return;
    }
    perftrace__strbuf_free(&s->joined);
    for (size_t i = 0; i < s->tracks; i++) {
        free(s->track[i].open);
    }
    pt_names_free(&s->names);
    pt_clock_notes_free(&s->clock);
    free(s->row);
    free(s->extra);
    free(s->process);
    free(s->track);
    free(s->cat);
    free(s->series);
    free(s->point);
    free(s->range);
    free(s->hour);
    perftrace__hashmap_free(&s->process_map);
    perftrace__hashmap_free(&s->track_map);
    perftrace__hashmap_free(&s->series_map);
    perftrace__hashmap_free(&s->hour_map);
    perftrace__hashmap_free(&s->cat_map);
    pt_store_init(s);
}

static bool ends_with(const char *text, size_t len, const char *end) {
    size_t n = strlen(end);
    return len >= n && strncasecmp(text + len - n, end, n) == 0;
}

pt_row_kind_t pt_store_kind_of(const char *cat, size_t len) {
    static const struct {
        const char *name;
        pt_row_kind_t kind;
    } known[] = {{"kernel", PT_ROW_KERNEL},
                 {"gpu_memcpy", PT_ROW_MEMCPY},
                 {"memcpy", PT_ROW_MEMCPY},
                 {"gpu_memset", PT_ROW_MEMSET},
                 {"memset", PT_ROW_MEMSET},
                 {"cuda_sync", PT_ROW_SYNC},
                 {"mtia_ccp_events", PT_ROW_KERNEL},
                 {"cpu_op", PT_ROW_CPU_OP},
                 {"operator", PT_ROW_CPU_OP},
                 {"user_annotation", PT_ROW_ANNOTATION},
                 {"gpu_user_annotation", PT_ROW_GPU_ANNOTATION},
                 {"cuda_profiler_range", PT_ROW_GPU_ANNOTATION},
                 {"runtime", PT_ROW_RUNTIME},
                 {"python_function", PT_ROW_PYTHON},
                 {"trace", PT_ROW_FRAME}};
    for (size_t i = 0; i < PT_ARRAY_LEN(known); i++) {
        if (strlen(known[i].name) == len && strncasecmp(cat, known[i].name, len) == 0) {
            return known[i].kind;
        }
    }
    return ends_with(cat, len, "_runtime") || ends_with(cat, len, "_driver") ? PT_ROW_RUNTIME
           : ends_with(cat, len, "_sync")                                    ? PT_ROW_SYNC
                                                                             : PT_ROW_OTHER;
}

/* A process or thread number as people read it. */
static uint32_t label_of(pt_rank_store_t *s, const pt_ident_t *id) {
    char number[24];
    if (id->kind == PT_IDENT_TEXT) {
        return pt_names_add_json(&s->names, id->text);
    }
    snprintf(number, sizeof number, "%lld", (long long)id->num);
    return id->kind == PT_IDENT_INT ? pt_names_add_cstr(&s->names, number) : 0;
}

uint32_t pt_store_process(pt_rank_store_t *s, const pt_ident_t *pid) {
    bool is_new = false;
    uint32_t label = label_of(s, pid);
    const uint64_t *slot =
        perftrace__hashmap_put_u64(&s->process_map, label, s->processes, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(s, process, processes, process_cap, 1))) {
        s->failed = true;
        return 0;
    }
    if (is_new) {
        s->process[s->processes++] = (pt_store_process_t){.label = label, .rank = -1};
    }
    return (uint32_t)*slot;
}

uint32_t pt_store_track(pt_rank_store_t *s, const pt_ident_t *pid, const pt_ident_t *tid) {
    bool is_new = false;
    bool numbers = pid->kind == PT_IDENT_INT && tid->kind == PT_IDENT_INT;
    pt_store_recent_t *recent =
        &s->recent[((uint64_t)tid->num ^ (uint64_t)tid->num >> 6 ^ (uint64_t)pid->num) %
                   PT_STORE_RECENT];
    if (numbers && recent->track != 0 && recent->pid == pid->num && recent->tid == tid->num) {
        return recent->track - 1;
    }
    uint64_t process = pt_store_process(s, pid);
    uint32_t label = label_of(s, tid);
    const uint64_t *slot =
        perftrace__hashmap_put_u64(&s->track_map, process << 32 | label, s->tracks, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(s, track, tracks, track_cap, 1))) {
        s->failed = true;
        return UINT32_MAX;
    }
    if (is_new) {
        s->track[s->tracks++] = (pt_store_track_t){.process = (uint32_t)process, .label = label};
    }
    if (numbers) {
        *recent = (pt_store_recent_t){pid->num, tid->num, (uint32_t)*slot + 1};
    }
    return (uint32_t)*slot;
}

/* ---- the end of the reading ---- */

static int by_first(const void *a, const void *b) {
    const pt_store_hour_t *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Marks hours that are to be left out: runs of hours without a gap of an hour belong together; the
 * largest run stays, and every one that is too large to be a slip. */
static void judge_hours(pt_rank_store_t *s) {
    uint64_t total = 0, best = 0;
    uint64_t *run = calloc(s->hours + 1, sizeof *run); /* events of the run that begins here */
    size_t from = 0;
    if (run == NULL) {
        s->failed = true;
        return;
    }
    if (s->hours > 1) {
        qsort(s->hour, s->hours, sizeof *s->hour, by_first);
    }
    for (size_t i = 0; i < s->hours; i++) {
        total += s->hour[i].count;
        from = i > 0 && s->hour[i].first - s->hour[i - 1].last > PT_HOUR_NS ? i : from;
        run[from] += s->hour[i].count;
        best = PT_MAX(best, run[from]);
    }
    uint64_t few = PT_MAX((uint64_t)FEW_OUTLIER, total / OUTLIER_OF);
    bool out = false;
    for (size_t i = 0; i < s->hours; i++) {
        out = run[i] > 0 ? run[i] < best && run[i] <= few && best > few : out;
        s->hour[i].left_out = out;
        s->outliers += out ? s->hour[i].count : 0;
    }
    free(run);
}

static bool is_left_out(const pt_rank_store_t *s, int64_t ts) {
    size_t low = 0, high = s->hours;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        low = s->hour[mid].first <= ts ? mid + 1 : low;
        high = s->hour[mid].first <= ts ? high : mid;
    }
    return low > 0 && s->hour[low - 1].left_out != 0;
}

/* Closes what is open at the last time of all, marks included unless they lie far behind. */
static void close_open(pt_rank_store_t *s) {
    int64_t last =
        s->last_mark > s->last && s->last_mark - PT_HOUR_NS <= s->last ? s->last_mark : s->last;
    for (size_t t = 0; t < s->tracks; t++) {
        pt_store_track_t *track = &s->track[t];
        for (size_t i = 0; i < track->opens; i++) {
            pt_row_t *row = &s->row[track->open[i]];
            row->dur = PT_MAX(last - row->ts, (int64_t)0);
            s->unfinished++;
            s->unclosed++;
            if (row->state != PT_ROW_LEFT_OUT) {
                row->state = PT_ROW_UNFINISHED;
                s->last = last;
            }
        }
        track->opens = 0;
    }
}

void pt_store_finish(pt_rank_store_t *s, bool keep_outliers) {
    if (!keep_outliers) {
        judge_hours(s);
    }
    s->first = INT64_MAX;
    s->last = INT64_MIN;
    for (size_t i = 0; i < s->rows; i++) {
        pt_row_t *row = &s->row[i];
        if (s->outliers > 0 && is_left_out(s, row->ts)) {
            row->state = PT_ROW_LEFT_OUT;
        } else {
            s->first = PT_MIN(s->first, row->ts);
            s->last = PT_MAX(s->last, row->ts + PT_MAX(row->dur, (int64_t)0));
        }
    }
    for (size_t i = 0; i < s->points; i++) {
        pt_store_point_t *point = &s->point[i];
        point->left_out = s->outliers > 0 && is_left_out(s, point->ts);
        if (!point->left_out) {
            s->first = PT_MIN(s->first, point->ts);
            s->last = PT_MAX(s->last, point->ts);
        }
    }
    if (s->first > s->last) {
        s->first = s->last = 0;
    }
    close_open(s);
    s->failed |= s->names.failed;
}
