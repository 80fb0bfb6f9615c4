/* report_ranks.c: ranks against each other. SPDX-License-Identifier: MIT */
#include "grow.h"
#include "hashmap.h"
#include "session_report.h"

#include <math.h>

/* A rank in its role. */
typedef struct worker {
    uint16_t role;
    int32_t rank;
    uint64_t rows, accepted, finished;
    double sum, mean;
    size_t first, n; /* its totals in the list of all */
    bool straggler;
} worker_t;

typedef struct ranks {
    worker_t *worker;
    size_t workers, worker_cap;
    perftrace__hashmap_t index; /* of the workers, by key_of */
    uint64_t last_key;          /* of the row before */
    uint32_t last;              /* its worker; UINT32_MAX: there is none */
    double *total, *scratch;
} ranks_t;

static int by_role_and_rank(const void *a, const void *b) {
    const worker_t *x = a, *y = b;
    if (x->role != y->role) {
        return x->role < y->role ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t key_of(const pt_session_row_t *row) {
    return (uint64_t)row->role << 32 | (uint32_t)row->rank;
}

/* The worker of a row, which is added when it is new; NULL without memory. */
static worker_t *worker_of(ranks_t *x, const pt_session_row_t *row) {
    uint64_t key = key_of(row);
    if (PT_LIKELY(x->last != UINT32_MAX && key == x->last_key)) {
        return &x->worker[x->last];
    }
    bool is_new = false;
    uint64_t *index = perftrace__hashmap_put_u64(&x->index, key, x->workers, &is_new);
    if (index == NULL || (is_new && !PT_GROW(x, worker, workers, worker_cap, 1))) {
        return NULL;
    }
    x->last = (uint32_t)*index;
    x->last_key = key;
    if (is_new) {
        x->worker[x->workers++] = (worker_t){.role = row->role, .rank = row->rank};
    }
    return &x->worker[x->last];
}

static bool find_workers(const pt_session_report_t *r, ranks_t *x) {
    const pt_selection_t *s = r->selection;
    uint32_t accepted = pt_report_status(r, "accepted");
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &s->model->row[s->row[i]];
        worker_t *w = worker_of(x, row);
        if (w == NULL) {
            return false;
        }
        w->rows++;
        w->accepted += row->status == accepted;
        w->finished += isnan(row->finalized) ? 0 : 1;
        w->n += isnan(row->total) ? 0 : 1;
    }
    return true;
}

/* Room for all totals, and for sorting those of any worker. */
static bool make_lists(ranks_t *x) {
    size_t all = 0, most = 0;
    for (size_t i = 0; i < x->workers; i++) {
        all += x->worker[i].n;
        most = PT_MAX(most, x->worker[i].n);
    }
    size_t size = (all + 1) * sizeof(double);
    x->total = pt_huge(malloc(size), size);
    x->scratch = malloc((most + 1) * sizeof(double));
    return x->total != NULL && x->scratch != NULL;
}

/* Puts what put_workers looks at in its place. */
static void sort_totals(double *total, size_t n, double *scratch) {
    size_t place[5] = {0};
    if (n > 0) {
        pt_quantile_places(n, 0.5, &place[0]);
        pt_quantile_places(n, 0.99, &place[2]);
        place[4] = n - 1;
        pt_sort_places(total, n, scratch, place, PT_ARRAY_LEN(place));
    }
}

/* The totals of each worker, one list behind the other. */
static bool gather_totals(const pt_selection_t *s, ranks_t *x) {
    size_t at = 0;
    for (size_t i = 0; i < x->workers; i++) {
        x->worker[i].first = at;
        at += x->worker[i].n;
        x->worker[i].n = 0;
    }
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &s->model->row[s->row[i]];
        worker_t *w = worker_of(x, row);
        if (w == NULL) {
            return false;
        }
        if (!isnan(row->total)) {
            x->total[w->first + w->n++] = row->total;
            w->sum += row->total;
        }
    }
    for (size_t i = 0; i < x->workers; i++) {
        worker_t *w = &x->worker[i];
        sort_totals(x->total + w->first, w->n, x->scratch);
        w->mean = w->n > 0 ? w->sum / (double)w->n : (double)NAN;
    }
    return true;
}

/* Within each role: the median of the means, for the table; marks stragglers. */
static bool mark_stragglers(ranks_t *x, double *median) {
    double *mean = malloc((2 * x->workers + 1) * sizeof *mean);
    if (mean == NULL) {
        return false;
    }
    for (size_t first = 0, end; first < x->workers; first = end) {
        size_t n = 0;
        for (end = first; end < x->workers && x->worker[end].role == x->worker[first].role; end++) {
            if (!isnan(x->worker[end].mean) && x->worker[end].rank >= 0) {
                mean[n++] = x->worker[end].mean;
            }
        }
        pt_sort_doubles(mean, n, mean + x->workers);
        double middle = pt_quantile(mean, n, 0.5);
        double mad = pt_scaled_mad(mean, n, mean + x->workers);
        for (size_t i = first; i < end; i++) {
            worker_t *w = &x->worker[i];
            median[i] = middle;
            w->straggler = n >= PT_STRAGGLER_RANKS && w->rank >= 0 &&
                           w->mean - middle > PT_STRAGGLER_DEVIATIONS * mad &&
                           w->mean - middle > PT_STRAGGLER_SHARE * middle;
        }
    }
    free(mean);
    return true;
}

static void put_workers(pt_session_report_t *r, const ranks_t *x, const double *median) {
    pt_table_t *t = pt_report_table(r->out, "ranks", "Ranks", false);
    if (pt_report_has_roles(r)) {
        pt_table_column(t, "role", "role", PT_COLUMN_TEXT);
    }
    pt_table_column(t, "rank", "rank", PT_COLUMN_COUNT);
    pt_table_column(t, "sessions", "sessions", PT_COLUMN_COUNT);
    pt_table_column(t, "finished", "finished", PT_COLUMN_COUNT);
    pt_table_column(t, "acceptance_rate", "accepted", PT_COLUMN_SHARE);
    pt_table_column(t, "mean", "mean total", PT_COLUMN_SECONDS);
    pt_table_column(t, "p50", "p50", PT_COLUMN_SECONDS);
    pt_table_column(t, "p99", "p99", PT_COLUMN_SECONDS);
    pt_table_column(t, "max", "max", PT_COLUMN_SECONDS);
    pt_table_column(t, "against_median", "against median", PT_COLUMN_CHANGE);
    pt_table_column(t, "straggler", "straggler", PT_COLUMN_FLAG);
    for (size_t i = 0; i < x->workers; i++) {
        const worker_t *w = &x->worker[i];
        const double *total = x->total + w->first;
        if (pt_report_has_roles(r)) {
            pt_report_name(r, t, PT_NAMES_ROLE, w->role);
        }
        pt_table_number(t, w->rank >= 0 ? w->rank : (double)NAN);
        pt_table_number(t, (double)w->rows);
        pt_table_number(t, (double)w->finished);
        pt_table_number(t,
                        w->finished > 0 ? (double)w->accepted / (double)w->finished : (double)NAN);
        pt_table_number(t, w->mean);
        pt_table_number(t, pt_quantile(total, w->n, 0.5));
        pt_table_number(t, pt_quantile(total, w->n, 0.99));
        pt_table_number(t, pt_quantile(total, w->n, 1));
        pt_table_number(t, median[i] > 0 ? w->mean / median[i] - 1 : (double)NAN);
        pt_table_number(t, w->straggler ? 1 : 0);
    }
    pt_table_note(t, "straggler: the mean total lies above the median of all ranks' means by more "
                     "than 3 scaled median deviations and by more than 10 % (of 3 ranks or more).");
}

bool pt_report_ranks(pt_session_report_t *r) {
    ranks_t x = {.index = PERFTRACE__HASHMAP_INIT, .last = UINT32_MAX};
    double *median = NULL;
    bool ok = find_workers(r, &x) && make_lists(&x) && gather_totals(r->selection, &x);
    if (ok) {
        /* Each worker knows where its totals lie, so they may be put in order now. */
        if (x.workers > 1) {
            qsort(x.worker, x.workers, sizeof *x.worker, by_role_and_rank);
        }
        median = calloc(x.workers + 1, sizeof *median);
        ok = median != NULL && mark_stragglers(&x, median);
    }
    if (ok) {
        put_workers(r, &x, median);
    }
    perftrace__hashmap_free(&x.index);
    free(median);
    free(x.worker);
    free(x.total);
    free(x.scratch);
    return ok;
}
