/* html_over_time.c: throughput, queue depth and sessions in flight. SPDX-License-Identifier: MIT */
#include "html_frame.h"
#include "html_json.h"
#include "html_level.h"

#include <math.h>
#include <stdlib.h>

#define BUCKETS_MOST  300U
#define STATUSES_MOST 8U /* shown apart; further ones together */

typedef struct over_time {
    const pt_html_frame_t *frame;
    pt_buckets_t buckets;
    pt_intervals_t queue, flight;
    uint64_t no_phase, no_start; /* sessions without a phase; with one but no times of it */
    uint64_t no_end;
    uint64_t *finished; /* by status and bucket */
    uint64_t *of_status;
} over_time_t;

/* Intervals without a length count for nothing. */
static void add_interval(pt_intervals_t *v, double begin, double end) {
    if (end > begin) {
        v->begin[v->n] = begin;
        v->end[v->n++] = end;
    }
}

static void add_row(over_time_t *o, const pt_session_row_t *row) {
    const pt_html_frame_t *f = o->frame;
    double submit = pt_html_since(f, row, row->submit);
    double until = pt_html_since(f, row, pt_html_until(f, row));
    if (!isnan(row->finalized)) {
        o->finished[row->status * o->buckets.count + pt_bucket_of(&o->buckets, until)]++;
        o->of_status[row->status]++;
    }
    o->no_end += isnan(row->finalized) ? 1 : 0;
    if (isnan(submit)) {
        return;
    }
    add_interval(&o->flight, submit, until);
    if (!isnan(row->queue)) {
        add_interval(&o->queue, submit, submit + row->queue);
    } else if (row->cells == 0) {
        o->no_phase++;
        add_interval(&o->queue, submit, until);
    } else {
        o->no_start++;
    }
}

static void put_list(perftrace__strbuf_t *out, const char *name, const double *v, size_t n) {
    perftrace__strbuf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        (void)pt_html_comma(out, i == 0);
        pt_html_rounded(out, v[i]);
    }
    perftrace__strbuf_putc(out, ']');
}

static bool put_level(over_time_t *o, const char *name, pt_intervals_t *v,
                      perftrace__strbuf_t *out) {
    size_t n = o->buckets.count;
    double *mean = malloc(2 * n * sizeof *mean);
    bool ok = mean != NULL && pt_level(v, &o->buckets, mean, mean + n);
    if (ok) {
        perftrace__strbuf_printf(out, ",\n\"%s\":{", name);
        put_list(out, "mean", mean, n);
        perftrace__strbuf_puts(out, ",\n");
        put_list(out, "most", mean + n, n);
        perftrace__strbuf_putc(out, '}');
    }
    free(mean);
    return ok;
}

/* status SIZE_MAX: of several. */
static void put_finished(size_t status, const uint64_t *count, size_t n, bool *first,
                         perftrace__strbuf_t *out) {
    *first = pt_html_comma(out, *first);
    perftrace__strbuf_puts(out, "\n{\"status\":");
    if (status == SIZE_MAX) {
        perftrace__strbuf_puts(out, "null");
    } else {
        pt_html_count(out, status);
    }
    perftrace__strbuf_puts(out, ",\"counts\":[");
    for (size_t i = 0; i < n; i++) {
        (void)pt_html_comma(out, i == 0);
        pt_html_count(out, count[i]);
    }
    perftrace__strbuf_puts(out, "]}");
}

/* Those with the most sessions apart, in the order of their names' numbers. */
static void put_throughput(over_time_t *o, size_t statuses, perftrace__strbuf_t *out) {
    size_t n = o->buckets.count;
    uint64_t *others = NULL;
    bool first = true;
    perftrace__strbuf_puts(out, ",\n\"finished\":[");
    for (size_t s = 0; s < statuses; s++) {
        size_t larger = 0;
        for (size_t t = 0; t < statuses; t++) {
            larger +=
                o->of_status[t] > o->of_status[s] || (o->of_status[t] == o->of_status[s] && t < s);
        }
        uint64_t *count = &o->finished[s * n];
        if (o->of_status[s] == 0) {
            continue;
        }
        if (larger < STATUSES_MOST) {
            put_finished(s, count, n, &first, out);
        } else if (others == NULL) {
            others = count;
        } else {
            for (size_t i = 0; i < n; i++) {
                others[i] += count[i];
            }
        }
    }
    if (others != NULL) {
        put_finished(SIZE_MAX, others, n, &first, out);
    }
    perftrace__strbuf_putc(out, ']');
}

static bool make_room(over_time_t *o, size_t statuses) {
    size_t rows = o->frame->selection->rows + 1;
    double *times = malloc(4 * rows * sizeof *times);
    o->flight = (pt_intervals_t){.begin = times};
    o->finished = calloc(statuses * o->buckets.count + 1, sizeof *o->finished);
    o->of_status = calloc(statuses + 1, sizeof *o->of_status);
    if (times == NULL || o->finished == NULL || o->of_status == NULL) {
        return false;
    }
    o->flight.end = times + rows;
    o->queue = (pt_intervals_t){.begin = times + 2 * rows, .end = times + 3 * rows};
    return true;
}

bool pt_html_over_time(const pt_html_frame_t *f, perftrace__strbuf_t *out) {
    over_time_t o = {.frame = f, .buckets = pt_buckets_over(f->first, f->last, BUCKETS_MOST)};
    size_t statuses = f->model->names[PT_NAMES_STATUS].count;
    bool ok = make_room(&o, statuses);
    if (ok) {
        for (size_t i = 0; i < f->selection->rows; i++) {
            add_row(&o, pt_html_row(f, i));
        }
        perftrace__strbuf_puts(out, "\"overTime\":{\"from\":");
        pt_html_number(out, o.buckets.from);
        perftrace__strbuf_puts(out, ",\"to\":");
        pt_html_number(out, o.buckets.from + (double)o.buckets.count * o.buckets.width);
        perftrace__strbuf_puts(out, ",\"width\":");
        pt_html_number(out, o.buckets.width);
        perftrace__strbuf_printf(out, ",\"noPhase\":%llu,\"noStart\":%llu,\"noEnd\":%llu",
                                 (unsigned long long)o.no_phase, (unsigned long long)o.no_start,
                                 (unsigned long long)o.no_end);
        put_throughput(&o, statuses, out);
        ok = put_level(&o, "queue", &o.queue, out) && put_level(&o, "flight", &o.flight, out);
        perftrace__strbuf_putc(out, '}');
    }
    free(o.flight.begin);
    free(o.finished);
    free(o.of_status);
    return ok;
}
