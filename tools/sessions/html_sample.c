/* html_sample.c: which of many points a chart shows. SPDX-License-Identifier: MIT */
#include "html_sample.h"

#include "row_index.h"

#include <math.h>
#include <string.h>

#define COLUMNS  2048U /* of the finest grid */
#define ROWS     1024U
#define COARSEST 4U /* columns */

typedef struct grid {
    double x0, y0, dx, dy; /* origin, and columns and rows of the finest grid for each unit */
    unsigned shift;        /* halvings */
} grid_t;

static grid_t grid_over(const pt_html_point_t *p, const bool *above, bool which, size_t n) {
    double x0 = (double)INFINITY, y0 = x0, x1 = -x0, y1 = -x0;
    for (size_t i = 0; i < n; i++) {
        if (above[i] == which) {
            x0 = fmin(x0, p[i].x);
            x1 = fmax(x1, p[i].x);
            y0 = fmin(y0, p[i].y);
            y1 = fmax(y1, p[i].y);
        }
    }
    return (grid_t){x0, y0, x1 > x0 ? COLUMNS / (x1 - x0) : 0, y1 > y0 ? ROWS / (y1 - y0) : 0, 0};
}

/* A range too large for a double makes this NAN: the first place then. */
static uint64_t place(double at, unsigned count) {
    return at > 0 ? (uint64_t)fmin(at, count - 1) : 0;
}

static uint64_t cell_of(const grid_t *g, const pt_html_point_t *p) {
    uint64_t x = place((p->x - g->x0) * g->dx, COLUMNS) >> g->shift;
    uint64_t y = place((p->y - g->y0) * g->dy, ROWS) >> g->shift;
    return (uint64_t)p->group << 32 | x << 16 | y;
}

typedef struct cell_key {
    const grid_t *grid;
    const pt_html_point_t *point;
    uint64_t cell;
} cell_key_t;

static bool same_cell(const void *ctx, uint32_t index) {
    const cell_key_t *key = ctx;
    return cell_of(key->grid, &key->point[index]) == key->cell;
}

/* Marks one point of each cell, any one: the first ones would lie at the left side of all cells,
 * and show the grid. Returns how many cells hold a point. */
static size_t mark_cells(const grid_t *g, const pt_html_point_t *p, const bool *above, bool which,
                         size_t n, pt_row_index_t *index, bool *keep) {
    size_t cells = 0;
    memset(index->slot, 0, (index->mask + 1) * sizeof *index->slot);
    for (size_t i = 0; i < n; i++) {
        if (above[i] != which) {
            continue;
        }
        cell_key_t key = {g, p, cell_of(g, &p[i])};
        uint64_t hash = pt_row_hash(0, key.cell);
        pt_row_slot_t *slot = pt_row_index_find(index, hash, same_cell, &key);
        uint32_t before = pt_row_of_slot(*slot);
        bool better = *slot == 0 || pt_row_hash(0, p[i].row) < pt_row_hash(0, p[before].row);
        keep[i] = better;
        if (*slot == 0) {
            cells++;
        } else if (better) {
            keep[before] = false;
        }
        *slot = better ? pt_row_slot(hash, (uint32_t)i) : *slot;
    }
    return cells;
}

/* Keeps `most` of the points above or below; there are more of them. */
static void thin(const pt_html_point_t *p, const bool *above, bool which, size_t n, size_t most,
                 pt_row_index_t *index, bool *keep) {
    grid_t grid = grid_over(p, above, which, n);
    size_t cells = mark_cells(&grid, p, above, which, n, index, keep);
    while (cells > most / 4 && COLUMNS >> grid.shift > COARSEST) {
        grid.shift++;
        cells = mark_cells(&grid, p, above, which, n, index, keep);
    }
    size_t others = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        /* So many groups that even the coarsest grid has too many cells: no cells. */
        keep[i] = keep[i] && (above[i] != which || cells <= most);
        others += above[i] == which && !keep[i];
    }
    size_t share = cells <= most ? most - cells : most;
    for (size_t i = 0; i < n && others > 0; i++) {
        if (above[i] == which && !keep[i]) {
            keep[i] = at * share / others != (at + 1) * share / others;
            at++;
        }
    }
}

size_t pt_html_sample(pt_html_point_t *p, size_t n, double high, size_t most) {
    if (n <= most) {
        return n;
    }
    bool *above = calloc(n, 2 * sizeof *above), *keep = above != NULL ? above + n : NULL;
    pt_row_index_t index = {.slot = NULL};
    size_t left = SIZE_MAX, count = 0;
    if (above == NULL || !pt_row_index_init(&index, n)) {
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        above[i] = keep[i] = p[i].y > high;
        count += above[i];
    }
    if (count > most / 2) {
        count = most / 2;
        thin(p, above, true, n, count, &index, keep);
    }
    thin(p, above, false, n, most - count, &index, keep);
    left = 0;
    for (size_t i = 0; i < n; i++) {
        if (keep[i]) {
            p[left++] = p[i];
        }
    }
out:
    pt_row_index_free(&index);
    free(above);
    return left;
}
