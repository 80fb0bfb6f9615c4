/* collect_show.c: the state of all ranks, for people, programs and Prometheus.
 * SPDX-License-Identifier: MIT */
#include "collect_show.h"

#include "collect_ranks.h"

#include <inttypes.h>
#include <math.h>

void pt_collect_show_rates(pt_collect_store_t *store, uint64_t mono_ns) {
    for (pt_collect_run_t *run = store->runs; run != NULL; run = run->next) {
        for (pt_collect_stream_t *s = run->streams; s != NULL; s = s->next) {
            double seconds = (double)(mono_ns - s->rate_ns) / 1e9;
            if (s->rate_ns > 0 && seconds > 0) {
                s->rate = (double)(s->tally.events - s->rate_events) / seconds;
            }
            s->rate_ns = mono_ns;
            s->rate_events = s->tally.events;
        }
    }
}

/* Seconds since the last event of a rank that goes on; NaN: not known. Clocks of machines differ,
 * so it may come out below 0. */
static double lag_of(const pt_collect_view_t *v, const pt_collect_rank_t *r) {
    return r->ended || r->last_ns == 0 ? NAN
                                       : fmax(0.0, ((double)v->now_ns - (double)r->last_ns) / 1e9);
}

static const char *state_of(const pt_collect_rank_t *r) {
    return r->ended ? "ended" : r->senders > 0 ? "connected" : "away";
}

static void add_rank(pt_table_t *t, const pt_collect_view_t *v, const pt_collect_run_t *run,
                     const pt_collect_rank_t *r) {
    pt_table_cstr(t, run->id);
    pt_table_cstr(t, r->role[0] ? r->role : NULL);
    pt_table_number(t, r->rank >= 0 ? (double)r->rank : NAN);
    pt_table_cstr(t, r->host);
    pt_table_cstr(t, state_of(r));
    pt_table_number(t, r->rate);
    pt_table_number(t, lag_of(v, r));
    pt_table_number(t, (double)r->events);
    pt_table_number(t, (double)r->dropped);
    pt_table_number(t, r->step >= 0 ? (double)r->step : NAN);
    pt_table_number(t, (double)r->bytes);
    pt_table_number(t, (double)r->files);
}

static void add_rank_table(pt_report_t *report, const pt_collect_store_t *store) {
    pt_table_t *t = pt_report_table(report, "ranks", "", false);
    bool roles = false;
    for (const pt_collect_run_t *run = store->runs; run != NULL; run = run->next) {
        for (const pt_collect_stream_t *s = run->streams; s != NULL && !roles; s = s->next) {
            roles = s->key.role[0] != '\0';
        }
    }
    if (store->runs != NULL && store->runs->next != NULL) {
        pt_table_column(t, "run", "Run", PT_COLUMN_TEXT);
    } else {
        pt_table_detail(t, "run", PT_COLUMN_TEXT);
    }
    if (roles) {
        pt_table_column(t, "role", "Role", PT_COLUMN_TEXT);
    } else {
        pt_table_detail(t, "role", PT_COLUMN_TEXT);
    }
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_column(t, "host", "Host", PT_COLUMN_TEXT);
    pt_table_column(t, "state", "State", PT_COLUMN_TEXT);
    pt_table_column(t, "events_per_s", "Events/s", PT_COLUMN_NUMBER);
    pt_table_column(t, "lag_s", "Lag", PT_COLUMN_SECONDS);
    pt_table_column(t, "events", "Events", PT_COLUMN_COUNT);
    pt_table_column(t, "dropped", "Lost", PT_COLUMN_COUNT);
    pt_table_column(t, "global_step", "Step", PT_COLUMN_COUNT);
    pt_table_column(t, "bytes", "Bytes", PT_COLUMN_COUNT);
    pt_table_detail(t, "files", PT_COLUMN_COUNT);
}

static void add_run_table(pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "runs", "", false);
    pt_table_detail(t, "run", PT_COLUMN_TEXT);
    pt_table_detail(t, "dir", PT_COLUMN_TEXT);
    pt_table_detail(t, "ranks", PT_COLUMN_COUNT);
    pt_table_detail(t, "ranks_wanted", PT_COLUMN_COUNT);
    pt_table_detail(t, "ranks_ended", PT_COLUMN_COUNT);
    pt_table_detail(t, "done", PT_COLUMN_TEXT);
    pt_table_detail(t, "pieces", PT_COLUMN_COUNT);
    pt_table_detail(t, "duplicates", PT_COLUMN_COUNT);
    pt_table_detail(t, "gaps", PT_COLUMN_COUNT);
    pt_table_detail(t, "parts_deleted", PT_COLUMN_COUNT);
}

static void add_run(pt_table_t *t, const pt_collect_run_t *run, const pt_collect_ranks_t *ranks) {
    pt_table_cstr(t, run->id);
    pt_table_cstr(t, run->dir);
    pt_table_number(t, (double)ranks->count);
    pt_table_number(t, ranks->wanted > 0 ? (double)ranks->wanted : NAN);
    pt_table_number(t, (double)ranks->ended);
    pt_table_cstr(t, pt_collect_ranks_done(ranks) ? "yes" : "no");
    pt_table_number(t, (double)run->pieces);
    pt_table_number(t, (double)run->duplicates);
    pt_table_number(t, (double)run->gaps);
    pt_table_number(t, (double)run->expired);
}

static void add_facts(pt_report_t *report, const pt_collect_view_t *v) {
    pt_table_t *t = pt_report_table(report, "collector", "", true);
    pt_table_fact(t, "connections", "", PT_COLUMN_COUNT, v->connections);
    pt_table_fact(t, "clocks_answered", "", PT_COLUMN_COUNT, (double)v->service->clocks);
    pt_table_fact(t, "pieces_held", "", PT_COLUMN_COUNT, (double)v->held);
    pt_table_fact(t, "files_open", "", PT_COLUMN_COUNT, v->store->files.open);
    pt_table_fact(t, "files_gone", "", PT_COLUMN_COUNT, (double)v->store->gone);
    pt_table_fact_text(t, "failing", "",
                       v->store->failing != NULL ? strerror(-v->store->failing_err) : NULL);
    t = pt_report_table(report, "connections_ended", "", true);
    for (int i = 0; i < PT_COLLECT_ENDED_COUNT; i++) {
        pt_table_fact(t, pt_collect_ended_word((pt_collect_ended_t)i), "", PT_COLUMN_COUNT,
                      (double)v->service->ended[i]);
    }
    t = pt_report_table(report, "pieces_refused", "", true);
    for (int i = 0; i < PT_COLLECT_REFUSED_COUNT; i++) {
        pt_table_fact(t, pt_collect_refused_word((pt_collect_refused_t)i), "", PT_COLUMN_COUNT,
                      (double)v->store->refused[i]);
    }
}

bool pt_collect_show(const pt_collect_view_t *v, bool detailed, pt_report_t *report) {
    bool good = true;
    if (detailed) {
        add_run_table(report);
    }
    add_rank_table(report, v->store);
    for (const pt_collect_run_t *run = v->store->runs; run != NULL && good; run = run->next) {
        pt_collect_ranks_t ranks;
        good = pt_collect_ranks_of(run, v->world_size, &ranks);
        for (size_t i = 0; i < ranks.count && good; i++) {
            add_rank(&report->table[report->tables - 1], v, run, &ranks.item[i]);
        }
        if (detailed && good) {
            add_run(&report->table[report->tables - 2], run, &ranks);
        }
        pt_collect_ranks_free(&ranks);
    }
    if (detailed) {
        add_facts(report, v);
    }
    return good && !pt_report_failed(report);
}

/* ---- Prometheus --------------------------------------------------------------------------------
 */

static void put_label(perftrace__strbuf_t *out, const char *text) {
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\') {
            perftrace__strbuf_putc(out, '\\');
        }
        if (*p == '\n') {
            perftrace__strbuf_puts(out, "\\n");
        } else {
            perftrace__strbuf_putc(out, *p);
        }
    }
}

typedef struct metric {
    const char *name, *type, *help;
} metric_t;

/* In the order of values_of. */
static const metric_t metrics[] = {
    {"events_total", "counter", "Events collected of a rank."},
    {"bytes_total", "counter", "Bytes collected of a rank."},
    {"dropped_total", "counter", "Events that a rank's process dropped."},
    {"lag_seconds", "gauge", "Time since the last event of a rank that has not ended."},
    {"step", "gauge", "The last global_step of a rank."},
    {"ended", "gauge", "Whether a rank's footer has come."},
    {"connected", "gauge", "Whether a rank's sender is connected over TCP."},
};

static double value_of(const pt_collect_view_t *v, const pt_collect_rank_t *r, size_t metric) {
    const double values[] = {(double)r->events,
                             (double)r->bytes,
                             (double)r->dropped,
                             lag_of(v, r),
                             r->step >= 0 ? (double)r->step : NAN,
                             r->ended,
                             r->senders > 0};
    return values[metric];
}

static void put_head(perftrace__strbuf_t *out, const metric_t *m) {
    perftrace__strbuf_printf(out,
                             "# HELP perftrace_collect_%s %s\n# TYPE perftrace_collect_%s %s\n",
                             m->name, m->help, m->name, m->type);
}

static void put_run(perftrace__strbuf_t *out, const pt_collect_view_t *v,
                    const pt_collect_run_t *run, const pt_collect_ranks_t *ranks, size_t metric) {
    for (size_t i = 0; i < ranks->count; i++) {
        const pt_collect_rank_t *r = &ranks->item[i];
        double value = value_of(v, r, metric);
        if (!isfinite(value)) {
            continue;
        }
        perftrace__strbuf_printf(out, "perftrace_collect_%s{run=\"", metrics[metric].name);
        put_label(out, run->id);
        perftrace__strbuf_puts(out, "\",role=\"");
        put_label(out, r->role);
        perftrace__strbuf_printf(out, "\",rank=\"%" PRId64 "\",host=\"", r->rank);
        put_label(out, r->host);
        perftrace__strbuf_printf(out, "\"} %.15g\n", value);
    }
}

static void put_causes(perftrace__strbuf_t *out, const pt_collect_view_t *v) {
    const metric_t ended = {"connections_ended_total", "counter", "Connections ended, by cause."};
    const metric_t refused = {"pieces_refused_total", "counter", "Pieces refused, by cause."};
    const metric_t open = {"connections", "gauge", "Connections that are open."};
    put_head(out, &ended);
    for (int i = 0; i < PT_COLLECT_ENDED_COUNT; i++) {
        perftrace__strbuf_printf(
            out, "perftrace_collect_connections_ended_total{cause=\"%s\"} %" PRIu64 "\n",
            pt_collect_ended_word((pt_collect_ended_t)i), v->service->ended[i]);
    }
    put_head(out, &refused);
    for (int i = 0; i < PT_COLLECT_REFUSED_COUNT; i++) {
        perftrace__strbuf_printf(
            out, "perftrace_collect_pieces_refused_total{cause=\"%s\"} %" PRIu64 "\n",
            pt_collect_refused_word((pt_collect_refused_t)i), v->store->refused[i]);
    }
    put_head(out, &open);
    perftrace__strbuf_printf(out, "perftrace_collect_connections %u\n", v->connections);
}

bool pt_collect_show_metrics(const pt_collect_view_t *v, perftrace__strbuf_t *out) {
    bool good = true;
    for (size_t m = 0; m < PT_ARRAY_LEN(metrics) && good; m++) {
        put_head(out, &metrics[m]);
        for (const pt_collect_run_t *run = v->store->runs; run != NULL && good; run = run->next) {
            pt_collect_ranks_t ranks;
            good = pt_collect_ranks_of(run, v->world_size, &ranks);
            put_run(out, v, run, &ranks, m);
            pt_collect_ranks_free(&ranks);
        }
    }
    put_causes(out, v);
    return good && !out->failed;
}
