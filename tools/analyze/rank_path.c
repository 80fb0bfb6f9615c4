/* rank_path.c: the chain of work that a run waited for. SPDX-License-Identifier: MIT
 *
 * Walked backwards from the end of the last step (or of the device's work): work of the device goes
 * on to what it waited for, the work before it on its stream or the call that launched it,
 * whichever ended later; the host goes on to the last call that waited for the device, and from
 * there to the work whose end it waited for. Needs correlations: without any there is no path. */
#include "grow.h"
#include "rank_view.h"

#include <stdlib.h>
#include <string.h>

/* What a piece of the path is. */
typedef enum path_kind { OF_DEVICE, OF_QUEUE, OF_LAUNCH, OF_HOST, OF_RETURN } path_kind_t;
static const char *const kind_names[] = {"device work", "queued behind other work", "launch delay",
                                         "host code", "return of a wait"};

typedef struct share {
    path_kind_t kind;
    uint32_t name; /* in the store; 0: none */
    int64_t count, total;
} share_t;

typedef struct walk {
    const pt_rank_view_t *v;
    uint32_t *by_end;   /* places in work, by their end */
    int64_t *end;       /* by place */
    uint32_t *previous; /* by place: the place before it on its stream, or PT_NO_ROW */
    uint32_t *wait;     /* rows of the host that wait for the device, by their start */
    size_t waits;
    share_t *share;
    size_t shares, cap;
    perftrace__hashmap_t map;
    int64_t from; /* the walk ends here */
    bool failed;
} walk_t;

static void add(walk_t *w, path_kind_t kind, uint32_t name, int64_t from, int64_t to) {
    bool is_new = false;
    from = PT_MAX(from, w->from);
    if (to <= from) {
        return;
    }
    const uint64_t *slot =
        perftrace__hashmap_put_u64(&w->map, (uint64_t)name << 8 | kind, w->shares, &is_new);
    if (slot == NULL || (is_new && !PT_GROW(w, share, shares, cap, 1))) {
        w->failed = true;
        return;
    }
    if (is_new) {
        w->share[w->shares++] = (share_t){kind, name, 0, 0};
    }
    w->share[*slot].count++;
    w->share[*slot].total += to - from;
}

static bool prepare(walk_t *w) {
    const pt_rank_view_t *v = w->v;
    uint32_t *last = malloc((v->store->tracks + 1) * sizeof *last);
    w->by_end = calloc(v->works + 1, sizeof *w->by_end);
    w->end = calloc(v->works + 1, sizeof *w->end);
    w->previous = malloc((v->works + 1) * sizeof *w->previous);
    w->wait = malloc((v->hosts + 1) * sizeof *w->wait);
    bool ok = last != NULL && w->by_end != NULL && w->end != NULL && w->previous != NULL &&
              w->wait != NULL;
    for (size_t t = 0; ok && t < v->store->tracks; t++) {
        last[t] = PT_NO_ROW;
    }
    for (size_t i = 0; ok && i < v->works; i++) {
        const pt_row_t *row = pt_view_work(v, i);
        w->by_end[i] = (uint32_t)i;
        w->end[i] = pt_row_end(row);
        w->previous[i] = last[row->track];
        last[row->track] = (uint32_t)i;
    }
    for (size_t i = 0; ok && i < v->hosts; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        if ((pt_view_does(v, row) & PT_CALL_WAITS) != 0) {
            w->wait[w->waits++] = v->host[i];
        }
    }
    free(last);
    return ok && pt_order_by_key(w->end, w->by_end, v->works);
}

/* The place of the work that ends last, not after a time; PT_NO_ROW: none. */
static uint32_t ends_last(const walk_t *w, int64_t time) {
    size_t low = 0, high = w->v->works;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        uint32_t place = w->by_end[mid];
        bool in = place < w->v->works && w->end[place] <= time;
        low = in ? mid + 1 : low;
        high = in ? high : mid;
    }
    return low > 0 ? w->by_end[low - 1] : PT_NO_ROW;
}

/* From the host at a time: the place of the work that it last waited for, or PT_NO_ROW when there
 * is nothing of the kind. */
static uint32_t host_back(walk_t *w, uint32_t track, int64_t *time) {
    const pt_rank_view_t *v = w->v;
    for (size_t i = pt_rank_view_from(v, w->wait, w->waits, *time); i > 0; i--) {
        const pt_row_t *wait = &v->store->row[w->wait[i - 1]];
        int64_t end = pt_row_end(wait);
        if (wait->track != track || end > *time) {
            continue;
        }
        if (end <= w->from) {
            break;
        }
        uint32_t place = ends_last(w, end);
        if (place != PT_NO_ROW && w->end[place] > wait->ts) {
            add(w, OF_HOST, 0, end, *time);
            add(w, OF_RETURN, wait->name, w->end[place], end);
            *time = w->end[place];
            return place;
        }
    }
    add(w, OF_HOST, 0, w->from, *time);
    *time = w->from;
    return PT_NO_ROW;
}

/* From the end of work to what it waited for. Returns the place of the next work, or PT_NO_ROW with
 * *track set to where the host goes on. */
static uint32_t device_back(walk_t *w, uint32_t place, int64_t *time, uint32_t *track) {
    const pt_rank_view_t *v = w->v;
    const pt_row_t *row = pt_view_work(v, place);
    uint32_t before = w->previous[place], call = v->call[place];
    const pt_row_t *launch = call != PT_NO_ROW ? &v->store->row[call] : NULL;
    int64_t before_end = before != PT_NO_ROW ? PT_MIN(w->end[before], row->ts) : INT64_MIN;
    int64_t launch_end =
        launch != NULL && launch->ts < row->ts ? PT_MIN(pt_row_end(launch), row->ts) : INT64_MIN;
    *track = UINT32_MAX;
    add(w, OF_DEVICE, row->name, row->ts, *time);
    if (before_end == INT64_MIN && launch_end == INT64_MIN) {
        *time = row->ts;
        return PT_NO_ROW;
    }
    if (before_end >= launch_end) {
        add(w, OF_QUEUE, 0, before_end, row->ts);
        *time = before_end;
        return before;
    }
    add(w, OF_LAUNCH, 0, launch_end, row->ts);
    *time = launch_end;
    *track = launch->track;
    return PT_NO_ROW;
}

static void go(walk_t *w, int64_t time, uint32_t track) {
    uint32_t place = track == UINT32_MAX ? ends_last(w, time) : PT_NO_ROW;
    /* Each turn goes back to other work or ends; the bound is for times that make no sense. */
    for (size_t turn = 0; turn < 2 * w->v->works + 2 && time > w->from && !w->failed; turn++) {
        if (place == PT_NO_ROW && track == UINT32_MAX) {
            return;
        }
        if (place == PT_NO_ROW) {
            place = host_back(w, track, &time);
            track = UINT32_MAX;
        } else {
            place = device_back(w, place, &time, &track);
        }
    }
}

static int by_total(const void *a, const void *b) {
    const share_t *x = a, *y = b;
    if (x->total != y->total) {
        return (x->total < y->total) - (x->total > y->total);
    }
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->name > y->name) - (x->name < y->name);
}

/* From the first step's start to the last one's end; without steps, the device's work. */
static int64_t find_end(walk_t *w, const pt_rank_result_t *r, uint32_t *ret_track) {
    size_t steps = pt_result_rows(r, PT_RT_steps);
    *ret_track = UINT32_MAX;
    if (steps == 0) {
        w->from = r->fact[PT_FACT_work_first_ns];
        return r->fact[PT_FACT_work_last_ns];
    }
    const int64_t *last = pt_result_at(r, PT_RT_steps, steps - 1);
    int64_t end = last[2] + last[3];
    w->from = pt_result_at(r, PT_RT_steps, 0)[2];
    for (size_t i = 0; i < w->v->hosts; i++) {
        const pt_row_t *row = &w->v->store->row[w->v->host[i]];
        if (row->ts == last[2] && row->dur == last[3]) {
            *ret_track = row->track;
            break;
        }
    }
    return end;
}

bool pt_rank_path(const pt_rank_view_t *v, pt_rank_result_t *r) {
    walk_t w = {.v = v};
    uint32_t track;
    if (v->works == 0 || r->fact[PT_FACT_linked] == PT_NOT_RECORDED) {
        return true;
    }
    bool ok = prepare(&w);
    if (ok) {
        int64_t end = find_end(&w, r, &track);
        go(&w, end, track);
        r->fact[PT_FACT_path_ns] = end - w.from;
        if (w.shares > 1) {
            qsort(w.share, w.shares, sizeof *w.share, by_total);
        }
        for (size_t i = 0; i < w.shares; i++) {
            pt_result_row(r, PT_RT_path,
                          (const int64_t[]){
                              pt_result_text(r, (pt_str_t){kind_names[w.share[i].kind],
                                                           strlen(kind_names[w.share[i].kind])}),
                              pt_rank_view_text(v, r, w.share[i].name), w.share[i].count,
                              w.share[i].total});
        }
    }
    free(w.by_end);
    free(w.end);
    free(w.previous);
    free(w.wait);
    free(w.share);
    perftrace__hashmap_free(&w.map);
    return ok && !w.failed && !r->failed;
}
