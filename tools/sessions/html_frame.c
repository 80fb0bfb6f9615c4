/* html_frame.c: what all parts of the page's data stand on. SPDX-License-Identifier: MIT */
#include "html_frame.h"

#include <math.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool number_ranks(pt_html_frame_t *f) {
    size_t rows = f->selection->rows, count = 0;
    f->rank = malloc((rows + 1) * sizeof *f->rank);
    if (f->rank == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        int32_t rank = pt_html_row(f, i)->rank;
        if (count == 0 || f->rank[count - 1] != rank) {
            f->rank[count++] = rank;
        }
    }
    qsort(f->rank, count, sizeof *f->rank, by_number);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || f->rank[i] != f->rank[f->ranks - 1]) {
            f->rank[f->ranks++] = f->rank[i];
        }
    }
    return true;
}

static bool set_origins(pt_html_frame_t *f) {
    const pt_session_model_t *m = f->model;
    double first = (double)INFINITY;
    bool any_mono = false;
    f->origin = calloc(m->runs + 1, sizeof *f->origin);
    if (f->origin == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->runs; i++) {
        any_mono |= m->run[i].mono;
        first = m->run[i].mono ? first : fmin(first, m->run[i].first);
    }
    for (size_t i = 0; i < m->runs; i++) {
        double origin = m->run[i].mono ? m->run[i].first : first;
        f->origin[i] = isfinite(origin) ? origin : 0;
    }
    f->epoch = any_mono || !isfinite(first) ? (double)NAN : first;
    return true;
}

bool pt_html_frame_make(const pt_selection_t *selection, const pt_html_options_t *options,
                        pt_html_frame_t *f) {
    *f = (pt_html_frame_t){.selection = selection, .model = selection->model, .options = options};
    if (!number_ranks(f) || !set_origins(f)) {
        return false;
    }
    double first = (double)INFINITY, last = (double)-INFINITY;
    for (size_t i = 0; i < selection->rows; i++) {
        const pt_session_row_t *row = pt_html_row(f, i);
        first = fmin(first, pt_html_since(f, row, row->submit));
        last = fmax(last, pt_html_since(f, row, pt_html_until(f, row)));
    }
    f->first = isfinite(first) ? first : 0;
    f->last = isfinite(last) ? fmax(last, f->first) : f->first;
    return true;
}

void pt_html_frame_free(pt_html_frame_t *f) {
    if (f != NULL) {
        free(f->rank);
        free(f->origin);
    }
}

const pt_session_row_t *pt_html_row(const pt_html_frame_t *f, size_t index) {
    return &f->model->row[f->selection->row[index]];
}

size_t pt_html_rank(const pt_html_frame_t *f, const pt_session_row_t *row) {
    size_t low = 0, high = f->ranks;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        low = f->rank[mid] < row->rank ? mid + 1 : low;
        high = f->rank[mid] < row->rank ? high : mid;
    }
    return low;
}

double pt_html_since(const pt_html_frame_t *f, const pt_session_row_t *row, double time) {
    return time - f->origin[row->run];
}

double pt_html_until(const pt_html_frame_t *f, const pt_session_row_t *row) {
    return isnan(row->finalized) ? f->model->run[row->run].last : row->finalized;
}
