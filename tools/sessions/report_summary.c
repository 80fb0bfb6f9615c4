/* report_summary.c: how many sessions, how they ended, how fast. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "session_report.h"

#include <math.h>
#include <stdlib.h>

/* What all rows add up to. */
typedef struct totals {
    double *first, *last; /* by run: extent of its selected rows */
    uint64_t *rows;       /* by run */
    uint64_t *ended;      /* by run */
    uint64_t *status;     /* by status */
    uint64_t **reason;    /* by status, then by reason; NULL: none of the rows has the status */
    size_t statuses;
    uint64_t *counted; /* by counter: sessions that have it */
    double *counter;   /* by counter */
    uint64_t finished, accepted, evicted, with_phases;
    double seconds; /* of all runs together */
} totals_t;

static void *array(size_t count) {
    return calloc(count + 1, sizeof(uint64_t));
}

static void free_totals(totals_t *x) {
    free(x->first);
    free(x->last);
    free(x->rows);
    free(x->ended);
    free(x->status);
    for (size_t i = 0; x->reason != NULL && i < x->statuses; i++) {
        free(x->reason[i]);
    }
    free(x->reason);
    free(x->counted);
    free(x->counter);
}

static bool add_row(const pt_session_model_t *m, const pt_session_row_t *row, totals_t *x) {
    double *first = &x->first[row->run], *last = &x->last[row->run];
    x->rows[row->run]++;
    x->status[row->status]++;
    /* Comparing passes over NAN. */
    *first = row->submit < *first ? row->submit : *first;
    *last = row->submit > *last ? row->submit : *last;
    *last = row->finalized > *last ? row->finalized : *last;
    if (PT_UNLIKELY(x->reason[row->status] == NULL)) {
        x->reason[row->status] = array(m->names[PT_NAMES_REASON].count);
        if (x->reason[row->status] == NULL) {
            return false;
        }
    }
    x->reason[row->status][row->reason]++;
    bool finished = !isnan(row->finalized);
    x->finished += finished;
    x->ended[row->run] += finished;
    x->evicted += (row->flags & PT_ROW_EVICTED) != 0;
    x->with_phases += row->cells > 0;
    for (unsigned i = 0; i < row->counters; i++) {
        const pt_session_counter_t *c = &m->counter[row->first_counter + i];
        x->counted[c->counter]++;
        x->counter[c->counter] += c->value;
    }
    return true;
}

static bool add_up(const pt_session_report_t *r, totals_t *x) {
    const pt_session_model_t *m = r->selection->model;
    x->first = array(m->runs);
    x->last = array(m->runs);
    x->rows = array(m->runs);
    x->ended = array(m->runs);
    x->status = array(m->names[PT_NAMES_STATUS].count);
    x->statuses = m->names[PT_NAMES_STATUS].count;
    x->reason = calloc(x->statuses + 1, sizeof(uint64_t *));
    x->counted = array(m->names[PT_NAMES_COUNTER].count);
    x->counter = array(m->names[PT_NAMES_COUNTER].count);
    if (x->first == NULL || x->last == NULL || x->rows == NULL || x->ended == NULL ||
        x->status == NULL || x->reason == NULL || x->counted == NULL || x->counter == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->runs; i++) {
        x->first[i] = (double)INFINITY;
        x->last[i] = (double)-INFINITY;
    }
    for (size_t i = 0; i < r->selection->rows; i++) {
        if (!add_row(m, &m->row[r->selection->row[i]], x)) {
            return false;
        }
    }
    for (size_t i = 0; i < m->runs; i++) {
        x->seconds += x->last[i] > x->first[i] ? x->last[i] - x->first[i] : 0;
    }
    uint32_t accepted = pt_report_status(r, "accepted");
    x->accepted = accepted != PT_NO_NAME ? x->status[accepted] : 0;
    return true;
}

static double per(double amount, double whole) {
    return whole > 0 ? amount / whole : (double)NAN;
}

static bool is_tokens(pt_name_t name) {
    return (name.len == 6 && memcmp(name.p, "tokens", 6) == 0) ||
           (name.len > 7 && memcmp(name.p + name.len - 7, "_tokens", 7) == 0);
}

/* The counter "tokens", else all that end in _tokens; NAN: there is none. */
static double tokens(const pt_session_model_t *m, const totals_t *x) {
    const pt_name_table_t *names = &m->names[PT_NAMES_COUNTER];
    uint32_t id = pt_name_table_find(names, (pt_name_t){"tokens", 6});
    double sum = (double)NAN;
    if (id != PT_NO_NAME && x->counted[id] > 0) {
        return x->counter[id];
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (x->counted[i] > 0 && is_tokens(pt_name_table_get(names, i))) {
            sum = (isnan(sum) ? 0 : sum) + x->counter[i];
        }
    }
    return sum;
}

static size_t count_tasks(const pt_session_report_t *r) {
    const pt_session_model_t *m = r->selection->model;
    if (r->selection->rows == m->rows) {
        return m->tasks;
    }
    uint8_t *seen = calloc(m->tasks + 1, 1);
    size_t tasks = 0;
    for (size_t i = 0; seen != NULL && i < r->selection->rows; i++) {
        uint32_t task = m->row[r->selection->row[i]].task;
        if (task != PT_NO_TASK && !seen[task]) {
            seen[task] = 1;
            tasks++;
        }
    }
    free(seen);
    return tasks;
}

static void put_facts(pt_session_report_t *r, const totals_t *x) {
    const pt_session_model_t *m = r->selection->model;
    pt_table_t *t = pt_report_table(r->out, "summary", "Sessions", true);
    double rows = (double)r->selection->rows;
    pt_table_fact(t, "sessions", "sessions", PT_COLUMN_COUNT, rows);
    if (r->selection->rows < m->rows) {
        pt_table_fact(t, "of", "of", PT_COLUMN_COUNT, (double)m->rows);
    }
    pt_table_fact(t, "tasks", "tasks", PT_COLUMN_COUNT, (double)count_tasks(r));
    pt_table_fact(t, "runs", "runs", PT_COLUMN_COUNT, (double)m->runs);
    pt_table_fact(t, "finished", "finished", PT_COLUMN_COUNT, (double)x->finished);
    pt_table_fact(t, "unfinished", "unfinished", PT_COLUMN_COUNT, rows - (double)x->finished);
    if (x->evicted > 0) {
        pt_table_fact(t, "evicted", "given up by the writer", PT_COLUMN_COUNT, (double)x->evicted);
    }
    pt_table_fact(t, "without_phases", "without any phase", PT_COLUMN_COUNT,
                  rows - (double)x->with_phases);
    pt_table_fact(t, "acceptance_rate", "accepted, of the finished", PT_COLUMN_SHARE,
                  per((double)x->accepted, (double)x->finished));
    pt_table_fact(t, "seconds", "first submit to last end", PT_COLUMN_SECONDS, x->seconds);
    pt_table_fact(t, "sessions_per_s", "sessions finished a second", PT_COLUMN_NUMBER,
                  per((double)x->finished, x->seconds));
    pt_table_fact(t, "accepted_per_s", "sessions accepted a second", PT_COLUMN_NUMBER,
                  per((double)x->accepted, x->seconds));
    double all = tokens(m, x);
    if (!isnan(all)) {
        pt_table_fact(t, "tokens_per_s", "tokens a second", PT_COLUMN_NUMBER, per(all, x->seconds));
    }
}

static void put_statuses(pt_session_report_t *r, const totals_t *x) {
    pt_table_t *t = pt_report_table(r->out, "statuses", "How they ended", false);
    pt_table_column(t, "status", "status", PT_COLUMN_TEXT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "share", "share", PT_COLUMN_SHARE);
    for (uint32_t i = 0; i < r->selection->model->names[PT_NAMES_STATUS].count; i++) {
        if (x->status[i] > 0) {
            pt_report_name(r, t, PT_NAMES_STATUS, i);
            pt_table_number(t, (double)x->status[i]);
            pt_table_number(t, per((double)x->status[i], (double)r->selection->rows));
        }
    }
}

/* ---- reasons: a count for each pair of status and reason that occurs ---- */

typedef struct reason {
    uint32_t status, reason;
    uint64_t rows;
} reason_t;

static int by_status_and_count(const void *a, const void *b) {
    const reason_t *x = a, *y = b;
    if (x->status != y->status) {
        return x->status < y->status ? -1 : 1;
    }
    if (x->rows != y->rows) {
        return x->rows > y->rows ? -1 : 1;
    }
    return (x->reason > y->reason) - (x->reason < y->reason);
}

/* The pairs that occur, sorted. */
static bool put_reasons(pt_session_report_t *r, const totals_t *x) {
    const pt_session_model_t *m = r->selection->model;
    struct {
        reason_t *reason;
        size_t reasons, cap;
    } list = {NULL, 0, 0};
    for (uint32_t status = 0; status < m->names[PT_NAMES_STATUS].count; status++) {
        for (uint32_t i = 0; x->reason[status] != NULL && i < m->names[PT_NAMES_REASON].count;
             i++) {
            uint64_t rows = x->reason[status][i];
            if (rows == 0 || pt_session_name(m, PT_NAMES_REASON, i).len == 0) {
                continue;
            }
            if (!PT_GROW(&list, reason, reasons, cap, 1)) {
                free(list.reason);
                return false;
            }
            list.reason[list.reasons++] = (reason_t){status, i, rows};
        }
    }
    reason_t *reason = list.reason;
    if (list.reasons > 1) {
        qsort(reason, list.reasons, sizeof *reason, by_status_and_count);
    }
    pt_table_t *t = pt_report_table(r->out, "reasons", "Reasons", false);
    pt_table_column(t, "status", "status", PT_COLUMN_TEXT);
    pt_table_column(t, "reason", "reason", PT_COLUMN_TEXT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "share", "share", PT_COLUMN_SHARE);
    for (size_t i = 0; i < list.reasons; i++) {
        pt_report_name(r, t, PT_NAMES_STATUS, reason[i].status);
        pt_report_name(r, t, PT_NAMES_REASON, reason[i].reason);
        pt_table_number(t, (double)reason[i].rows);
        pt_table_number(t, per((double)reason[i].rows, (double)r->selection->rows));
    }
    free(reason);
    return true;
}

static void put_counters(pt_session_report_t *r, const totals_t *x) {
    pt_table_t *t = pt_report_table(r->out, "counters", "Counters", false);
    pt_table_column(t, "counter", "counter", PT_COLUMN_TEXT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "sum", "sum", PT_COLUMN_NUMBER);
    pt_table_column(t, "mean", "mean", PT_COLUMN_NUMBER);
    pt_table_column(t, "per_s", "a second", PT_COLUMN_NUMBER);
    for (uint32_t i = 0; i < r->selection->model->names[PT_NAMES_COUNTER].count; i++) {
        if (x->counted[i] > 0) {
            pt_report_name(r, t, PT_NAMES_COUNTER, i);
            pt_table_number(t, (double)x->counted[i]);
            pt_table_number(t, x->counter[i]);
            pt_table_number(t, x->counter[i] / (double)x->counted[i]);
            pt_table_number(t, per(x->counter[i], x->seconds));
        }
    }
}

static void put_runs(pt_session_report_t *r, const totals_t *x) {
    const pt_session_model_t *m = r->selection->model;
    pt_table_t *t = pt_report_table(r->out, "runs", "Runs", false);
    pt_table_column(t, "run", "run", PT_COLUMN_COUNT);
    pt_table_column(t, "run_id", "run id", PT_COLUMN_TEXT);
    pt_table_column(t, "clock", "clock", PT_COLUMN_TEXT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "start", "start", PT_COLUMN_TIME);
    pt_table_column(t, "seconds", "duration", PT_COLUMN_SECONDS);
    pt_table_column(t, "sessions_per_s", "finished a second", PT_COLUMN_NUMBER);
    pt_table_detail(t, "first_ts", PT_COLUMN_NUMBER);
    for (size_t i = 0; i < m->runs; i++) {
        if (x->rows[i] == 0) {
            continue;
        }
        double seconds = x->last[i] - x->first[i];
        pt_table_number(t, (double)i);
        if (m->run[i].run_id != PT_NO_NAME) {
            pt_report_name(r, t, PT_NAMES_RUN_ID, m->run[i].run_id);
        } else {
            pt_table_cstr(t, NULL);
        }
        pt_table_cstr(t, m->run[i].mono ? "monotonic" : "epoch");
        pt_table_number(t, (double)x->rows[i]);
        pt_table_number(t, m->run[i].mono ? (double)NAN : x->first[i]);
        pt_table_number(t, seconds);
        pt_table_number(t, per((double)x->ended[i], seconds));
        pt_table_number(t, x->first[i]);
    }
}

bool pt_report_summary(pt_session_report_t *r) {
    totals_t x = {.seconds = 0};
    bool ok = add_up(r, &x);
    if (ok) {
        put_facts(r, &x);
        put_statuses(r, &x);
        ok = put_reasons(r, &x);
        put_counters(r, &x);
        put_runs(r, &x);
    }
    free_totals(&x);
    return ok;
}
