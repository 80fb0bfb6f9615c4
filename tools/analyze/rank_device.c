/* rank_device.c: how busy the device was, and with what. SPDX-License-Identifier: MIT */
#include "rank_view.h"

#include <stdlib.h>
#include <string.h>

static const pt_row_t *call_of(const pt_rank_view_t *v, size_t place) {
    return v->call[place] != PT_NO_ROW ? &v->store->row[v->call[place]] : NULL;
}

/* ---- the whole device ---- */

static void split_idle(const pt_rank_view_t *v, pt_rank_result_t *r) {
    const pt_span_list_t *busy = &v->busy;
    int64_t from = r->fact[PT_FACT_range_first_ns], to = r->fact[PT_FACT_range_last_ns];
    r->fact[PT_FACT_idle_host_ns] = r->fact[PT_FACT_idle_kernel_ns] = 0;
    r->fact[PT_FACT_idle_other_ns] = 0;
    for (size_t i = 0; i <= busy->count; i++) {
        int64_t since = i > 0 ? busy->span[i - 1].to : from;
        int64_t until = i < busy->count ? busy->span[i].from : to;
        pt_fact_t cause = PT_FACT_idle_other_ns;
        if (i > 0 && i < busy->count) {
            size_t next = pt_rank_view_from(v, v->work, v->works, until);
            cause = pt_idle_cause(v, since, until, next < v->works ? call_of(v, next) : NULL);
        }
        r->fact[cause] += PT_MAX(until - since, (int64_t)0);
    }
}

static void put_bins(const pt_rank_view_t *v, pt_rank_result_t *r) {
    int64_t from = r->fact[PT_FACT_work_first_ns], length = r->fact[PT_FACT_work_last_ns] - from;
    for (int64_t b = 0; b < PT_BINS && length > 0; b++) {
        int64_t at = from + (int64_t)((double)length * (double)b / PT_BINS);
        int64_t to = b + 1 == PT_BINS
                         ? from + length
                         : from + (int64_t)((double)length * (double)(b + 1) / PT_BINS);
        pt_result_row(r, PT_RT_bins,
                      (const int64_t[]){b, pt_spans_within(&v->busy, at, to),
                                        pt_spans_within(&v->compute, at, to),
                                        pt_spans_within(&v->communication, at, to),
                                        pt_spans_within(&v->memory, at, to), PT_NOT_RECORDED});
    }
}

bool pt_rank_device(const pt_rank_view_t *v, pt_rank_result_t *r) {
    int64_t last = INT64_MIN;
    r->fact[PT_FACT_syncs] = (int64_t)v->syncs;
    r->fact[PT_FACT_work] = (int64_t)v->works;
    if (v->works == 0) {
        return true; /* nothing of a device is recorded: no figure is 0 */
    }
    for (size_t i = 0; i < v->works; i++) {
        last = PT_MAX(last, pt_row_end(pt_view_work(v, i)));
    }
    int64_t first = pt_view_work(v, 0)->ts, range_first = first, range_last = last;
    for (size_t i = 0; i < v->syncs; i++) {
        const pt_row_t *row = &v->store->row[v->sync[i]];
        range_first = PT_MIN(range_first, row->ts);
        range_last = PT_MAX(range_last, pt_row_end(row));
    }
    r->fact[PT_FACT_work_first_ns] = first;
    r->fact[PT_FACT_work_last_ns] = last;
    r->fact[PT_FACT_range_first_ns] = range_first;
    r->fact[PT_FACT_range_last_ns] = range_last;
    r->fact[PT_FACT_busy_ns] = pt_spans_total(&v->busy);
    r->fact[PT_FACT_compute_ns] = pt_spans_total(&v->compute);
    r->fact[PT_FACT_communication_ns] = pt_spans_total(&v->communication);
    r->fact[PT_FACT_memory_ns] = pt_spans_total(&v->memory);
    r->fact[PT_FACT_hidden_ns] = pt_spans_overlap(&v->communication, &v->compute);
    split_idle(v, r);
    put_bins(v, r);
    return true;
}

/* ---- streams ---- */

typedef struct stream {
    int64_t work, time, busy, first, last, by_group[PT_GROUPS], idle[3];
} stream_t;

static void add_to_stream(const pt_rank_view_t *v, stream_t *st, size_t place) {
    const pt_row_t *row = pt_view_work(v, place);
    int64_t end = pt_row_end(row);
    if (st->work++ == 0) {
        st->first = row->ts;
        st->last = row->ts;
    } else if (row->ts > st->last) {
        pt_fact_t cause = pt_idle_cause(v, st->last, row->ts, call_of(v, place));
        st->idle[cause - PT_FACT_idle_host_ns] += row->ts - st->last;
    }
    st->time += row->dur;
    st->by_group[pt_rank_view_group(v, row)] += row->dur;
    st->busy += PT_MAX(end - PT_MAX(row->ts, st->last), (int64_t)0);
    st->last = PT_MAX(st->last, end);
}

bool pt_rank_streams(const pt_rank_view_t *v, pt_rank_result_t *r) {
    const pt_rank_store_t *s = v->store;
    stream_t *stream = calloc(s->tracks + 1, sizeof *stream);
    if (stream == NULL) {
        return false;
    }
    for (size_t i = 0; i < v->works; i++) {
        add_to_stream(v, &stream[pt_view_work(v, i)->track], i);
    }
    for (size_t t = 0; t < s->tracks; t++) {
        const stream_t *st = &stream[t];
        if (st->work > 0) {
            pt_result_row(r, PT_RT_streams,
                          (const int64_t[]){
                              pt_rank_view_text(v, r, s->process[s->track[t].process].label),
                              pt_rank_view_text(v, r, s->track[t].label), st->work, st->time,
                              st->busy, st->first, st->last, st->by_group[PT_GROUP_COMPUTE],
                              st->by_group[PT_GROUP_COMMUNICATION], st->by_group[PT_GROUP_MEMORY],
                              st->idle[0], st->idle[1], st->idle[2]});
        }
    }
    free(stream);
    return !r->failed;
}

/* ---- gaps ---- */

/* Of two gaps the longer stands before, of equal ones the earlier. */
static int by_length(const pt_span_t *x, const pt_span_t *y) {
    int64_t p = x->to - x->from, q = y->to - y->from;
    return p != q ? (p < q) - (p > q) : (x->from > y->from) - (x->from < y->from);
}

/* The scope of the host that covers most of a gap, of several the shortest: what ran meanwhile. */
static const pt_row_t *cause_of(const pt_rank_view_t *v, pt_span_t gap) {
    const pt_row_t *best = NULL;
    int64_t most = 0;
    size_t end = pt_rank_view_from(v, v->host, v->hosts, gap.to);
    for (size_t i = 0; i < end; i++) {
        const pt_row_t *row = &v->store->row[v->host[i]];
        int64_t covered = PT_MIN(pt_row_end(row), gap.to) - PT_MAX(row->ts, gap.from);
        if (covered > most || (covered == most && best != NULL && row->dur < best->dur)) {
            best = row;
            most = covered;
        }
    }
    return best;
}

/* Keeps the longest gaps in their order; *count of them so far. */
static void keep(pt_span_t *gap, size_t *count, size_t most, pt_span_t one) {
    size_t at = *count;
    while (at > 0 && by_length(&gap[at - 1], &one) > 0) {
        at--;
    }
    if (at < most) {
        *count += *count < most;
        memmove(&gap[at + 1], &gap[at], (*count - at - 1) * sizeof *gap);
        gap[at] = one;
    }
}

bool pt_rank_gaps(const pt_rank_view_t *v, pt_rank_result_t *r) {
    size_t count = 0, most = v->options->gaps;
    pt_span_t *gap = malloc((most + 1) * sizeof *gap);
    if (gap == NULL) {
        return false;
    }
    for (size_t i = 1; i < v->busy.count; i++) {
        keep(gap, &count, most, (pt_span_t){v->busy.span[i - 1].to, v->busy.span[i].from});
    }
    for (size_t i = 0; i < count; i++) {
        const pt_row_t *cause = cause_of(v, gap[i]);
        pt_result_row(
            r, PT_RT_gaps,
            (const int64_t[]){
                gap[i].from, gap[i].to - gap[i].from,
                cause != NULL ? pt_rank_view_text(v, r, cause->name) : 0,
                cause != NULL ? pt_rank_view_text(v, r, v->store->cat[cause->cat].name) : 0});
    }
    free(gap);
    return !r->failed;
}
