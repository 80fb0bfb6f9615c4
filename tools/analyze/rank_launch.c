/* rank_launch.c: from the calls of the host to the work of the device. SPDX-License-Identifier: MIT
 */
#include "rank_view.h"

#include <stdlib.h>
#include <string.h>

#define SLOW_CALL_NS  50000  /* a call this long is slow */
#define LONG_DELAY_NS 100000 /* work that begins this late has waited */

/* Sorts values; false without memory. */
static bool sort(int64_t *v, size_t n) {
    uint32_t *order = malloc((n + 1) * sizeof *order);
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    bool ok = order != NULL && sorted != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        order[i] = (uint32_t)i;
    }
    ok = ok && pt_order_by_key(v, order, n);
    for (size_t i = 0; ok && i < n; i++) {
        sorted[i] = v[order[i]];
    }
    if (ok) {
        memcpy(v, sorted, n * sizeof *v);
    }
    free(order);
    free(sorted);
    return ok;
}

/* The value below which a share of sorted values lies, as one of the values. */
static int64_t quantile(const int64_t *v, size_t n, double share) {
    size_t rank = (size_t)((double)n * share + 0.999999);
    return v[PT_MIN(PT_MAX(rank, (size_t)1), n) - 1];
}

/* ---- the queue: work that was handed over and has not begun ---- */

/* A change of its length: the time twice, and one more where work begins. What is handed over and
 * begun at the same time is first the one, then the other. */
static int64_t change_of(int64_t at, bool begins) {
    return at * 2 + begins;
}

/* Notes a length in the piece of time it is of. */
static void note_bin(pt_rank_result_t *r, size_t rows, int64_t at, int64_t length) {
    int64_t from = r->fact[PT_FACT_work_first_ns], span = r->fact[PT_FACT_work_last_ns] - from;
    if (rows == 0 || span <= 0 || at < from || at > from + span) {
        return;
    }
    size_t bin = (size_t)((double)(at - from) * PT_BINS / (double)span);
    int64_t *cell = r->table[PT_RT_bins].cell + PT_MIN(bin, rows - 1) * 6 + 5;
    *cell = PT_MAX(*cell, length);
}

static void walk_queue(const int64_t *change, size_t count, pt_rank_result_t *r) {
    int64_t length = 0, most = 0, area = 0, before = change[0] >> 1;
    size_t rows = pt_result_rows(r, PT_RT_bins);
    for (size_t i = 0; i < count; i++) {
        int64_t at = change[i] >> 1;
        area += length * (at - before);
        before = at;
        length += (change[i] & 1) != 0 ? -1 : 1;
        most = PT_MAX(most, length);
        note_bin(r, rows, at, length);
    }
    r->fact[PT_FACT_queue_max] = most;
    r->fact[PT_FACT_queue_area] = area;
    r->fact[PT_FACT_queue_span_ns] = before - (change[0] >> 1);
}

static bool count_launches(const pt_rank_view_t *v, pt_rank_result_t *r) {
    int64_t *delay = malloc((v->works + 1) * sizeof *delay), sum = 0;
    int64_t *change = malloc((2 * v->works + 1) * sizeof *change);
    size_t n = 0, linked = 0, changes = 0;
    int64_t brief = 0, slow = 0, late = 0;
    if (delay == NULL || change == NULL) {
        free(delay);
        free(change);
        return false;
    }
    for (size_t i = 0; i < v->works; i++) {
        const pt_row_t *work = pt_view_work(v, i);
        if (v->call[i] == PT_NO_ROW) {
            continue;
        }
        linked++;
        if (!v->first[i]) {
            continue; /* one call may launch a whole graph */
        }
        const pt_row_t *call = &v->store->row[v->call[i]];
        delay[n] = PT_MAX(work->ts - pt_row_end(call), (int64_t)0);
        brief += work->dur < call->dur;
        slow += call->dur > SLOW_CALL_NS;
        late += delay[n] > LONG_DELAY_NS;
        sum += delay[n++];
        if (work->ts >= call->ts) {
            change[changes++] = change_of(call->ts, false);
            change[changes++] = change_of(work->ts, true);
        }
    }
    bool ok = sort(delay, n) && sort(change, changes);
    if (ok && n > 0) {
        r->fact[PT_FACT_linked] = (int64_t)linked;
        r->fact[PT_FACT_calls] = (int64_t)n;
        r->fact[PT_FACT_unlinked_work] = (int64_t)(v->works - linked);
        r->fact[PT_FACT_unlinked_calls] = (int64_t)v->calls_idle;
        r->fact[PT_FACT_short_kernels] = brief;
        r->fact[PT_FACT_slow_calls] = slow;
        r->fact[PT_FACT_long_delays] = late;
        r->fact[PT_FACT_delay_sum_ns] = sum;
        r->fact[PT_FACT_delay_p50_ns] = quantile(delay, n, 0.5);
        r->fact[PT_FACT_delay_p99_ns] = quantile(delay, n, 0.99);
        r->fact[PT_FACT_delay_max_ns] = delay[n - 1];
    }
    if (ok && changes > 0) {
        walk_queue(change, changes, r);
    }
    free(delay);
    free(change);
    return ok;
}

/* ---- CUDA graphs ---- */

static bool begins(pt_str_t name, const char *start) {
    size_t n = strlen(start);
    return name.len >= n && memcmp(name.p, start, n) == 0;
}

/* Scopes that hold one step of a server: what vLLM, SGLang and torch mark. */
static bool is_step_name(pt_str_t name) {
    return begins(name, "ProfilerStep#") || begins(name, "execute_") || begins(name, "decode") ||
           begins(name, "step[");
}

/* Launches in each marked step, when it is the same number in all that have any. */
static int64_t launches_in_steps(const pt_rank_view_t *v, const uint32_t *launch, size_t count) {
    int64_t same = PT_NOT_RECORDED;
    for (size_t i = 0; i < v->hosts; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        if (row->kind != PT_ROW_ANNOTATION ||
            !is_step_name(pt_names_get(&v->store->names, row->name))) {
            continue;
        }
        int64_t n = (int64_t)(pt_rank_view_from(v, launch, count, pt_row_end(row)) -
                              pt_rank_view_from(v, launch, count, row->ts));
        if (n > 0 && same != PT_NOT_RECORDED && n != same) {
            return PT_NOT_RECORDED;
        }
        same = n > 0 ? n : same;
    }
    return same;
}

bool pt_rank_launches(const pt_rank_view_t *v, pt_rank_result_t *r) {
    uint32_t *launch = malloc((v->hosts + 1) * sizeof *launch);
    size_t count = 0;
    if (launch == NULL || !count_launches(v, r)) {
        free(launch);
        return false;
    }
    for (size_t i = 0; i < v->hosts; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        if ((pt_view_does(v, row) & PT_CALL_GRAPH) != 0) {
            pt_result_row(r, PT_RT_graphs, (const int64_t[]){row->ts, row->dur});
            launch[count++] = v->host[i];
        }
    }
    if (count > 0) {
        r->fact[PT_FACT_graph_launches] = (int64_t)count;
        r->fact[PT_FACT_graph_per_step] = v->options->graph_per_step != PT_NOT_RECORDED
                                              ? v->options->graph_per_step
                                              : launches_in_steps(v, launch, count);
    }
    free(launch);
    return !r->failed;
}
