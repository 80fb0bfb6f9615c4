/* compare_side.c: one of the two runs that are compared. SPDX-License-Identifier: MIT */
#include "compare_side.h"

#include "grow.h"
#include "ordered.h"

#include <math.h>

/* Any will do; the same for every comparison, so that it can be repeated. */
#define SEED UINT64_C(0x5DEECE66D)

static bool add_names(pt_name_table_t *to, const pt_name_table_t *from) {
    for (uint32_t i = 0; i < from->count; i++) {
        if (pt_name_table_add(to, pt_name_table_get(from, i)) == PT_NO_NAME) {
            return false;
        }
    }
    return true;
}

bool pt_compared_add(pt_compared_t *x, const pt_session_model_t *m) {
    return add_names(&x->phases, &m->names[PT_NAMES_PHASE]) &&
           add_names(&x->counters, &m->names[PT_NAMES_COUNTER]) &&
           add_names(&x->statuses, &m->names[PT_NAMES_STATUS]);
}

void pt_compared_free(pt_compared_t *x) {
    pt_name_table_free(&x->phases);
    pt_name_table_free(&x->counters);
    pt_name_table_free(&x->statuses);
}

static size_t idle_list(const pt_compared_t *x) {
    return PT_LIST_PHASES + x->phases.count;
}

size_t pt_compared_lists(const pt_compared_t *x) {
    return idle_list(x) + 1 + x->counters.count;
}

/* ---- gathering ---- */

/* From a model's names to those that are compared. */
typedef struct maps {
    uint32_t *phase, *counter, *status;
} maps_t;

static uint32_t *map_names(const pt_name_table_t *from, const pt_name_table_t *to) {
    uint32_t *map = calloc((size_t)from->count + 1, sizeof *map);
    for (uint32_t i = 0; map != NULL && i < from->count; i++) {
        map[i] = pt_name_table_find(to, pt_name_table_get(from, i));
    }
    return map;
}

typedef struct gathering {
    pt_compare_side_t *side;
    const pt_compared_t *x;
    const maps_t *maps;
    bool counting; /* how many values each list gets; else they are put there */
} gathering_t;

static void put(const gathering_t *g, size_t list, double value, uint32_t cluster) {
    if (isnan(value)) {
        return;
    }
    pt_boot_list_t *l = &g->side->boot.list[list];
    if (l->item != NULL) { /* else they are counted */
        l->item[l->n] = (pt_boot_value_t){value, cluster};
    }
    l->n++;
}

static void put_row(const gathering_t *g, const pt_session_row_t *row, uint32_t cluster) {
    const pt_session_model_t *m = g->side->selection->model;
    put(g, PT_LIST_TOTAL, row->total, cluster);
    put(g, PT_LIST_QUEUE, row->queue, cluster);
    put(g, idle_list(g->x), pt_session_metric_of(m, row, PT_METRIC_IDLE, 0), cluster);
    for (unsigned i = 0; i < row->cells; i++) {
        const pt_session_cell_t *cell = &m->cell[row->first_cell + i];
        put(g, PT_LIST_PHASES + g->maps->phase[cell->phase], cell->seconds, cluster);
    }
    for (unsigned i = 0; i < row->counters; i++) {
        const pt_session_counter_t *c = &m->counter[row->first_counter + i];
        put(g, idle_list(g->x) + 1 + g->maps->counter[c->counter], c->value, cluster);
    }
    if (!g->counting) {
        uint32_t clusters = g->side->boot.clusters;
        uint32_t status = g->maps->status[row->status];
        g->side->counts[(size_t)status * clusters + cluster]++;
        g->side->counts[(size_t)g->x->statuses.count * clusters + cluster]++;
    }
}

/* A cluster is a task with a selected session; a session without a task is one of its own. */
static uint32_t number_clusters(const pt_selection_t *s, uint32_t *cluster_of_task) {
    uint32_t clusters = 0;
    for (size_t i = 0; i < s->model->tasks; i++) {
        cluster_of_task[i] = PT_NO_TASK;
    }
    for (size_t i = 0; i < s->rows; i++) {
        uint32_t task = s->model->row[s->row[i]].task;
        if (task != PT_NO_TASK && cluster_of_task[task] == PT_NO_TASK) {
            cluster_of_task[task] = clusters++;
        }
    }
    return clusters;
}

static void gather(const gathering_t *g, const uint32_t *cluster_of_task, uint32_t lone) {
    const pt_selection_t *s = g->side->selection;
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &s->model->row[s->row[i]];
        put_row(g, row, row->task == PT_NO_TASK ? lone++ : cluster_of_task[row->task]);
    }
}

static bool make_lists(const gathering_t *g, uint32_t *cluster_of_task) {
    pt_boot_t *b = &g->side->boot;
    const pt_selection_t *s = g->side->selection;
    gathering_t counting = *g;
    uint32_t tasks = number_clusters(s, cluster_of_task);
    b->clusters = tasks;
    for (size_t i = 0; i < s->rows; i++) {
        b->clusters += s->model->row[s->row[i]].task == PT_NO_TASK;
    }
    g->side->counts =
        calloc(((size_t)b->clusters + 1) * ((size_t)b->shares + 1), sizeof *g->side->counts);
    if (g->side->counts == NULL) {
        return false;
    }
    counting.counting = true;
    gather(&counting, cluster_of_task, tasks);
    for (size_t i = 0; i < b->lists; i++) {
        b->list[i].item = malloc((b->list[i].n + 1) * sizeof *b->list[i].item);
        if (b->list[i].item == NULL) {
            return false;
        }
        g->side->values += b->list[i].n;
        b->list[i].n = 0;
    }
    gather(g, cluster_of_task, tasks);
    for (size_t i = 0; i < b->shares; i++) {
        b->share[i] = (pt_boot_share_t){g->side->counts + i * b->clusters,
                                        g->side->counts + b->shares * b->clusters};
    }
    return true;
}

static int sort_work(void *ctx, void *task, unsigned worker) {
    (void)ctx;
    (void)worker;
    pt_boot_sort(task);
    return 0;
}

static bool sort_lists(pt_boot_t *b, unsigned threads) {
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0, .work = sort_work};
    pt_ordered_t *pipe = pt_ordered_new(&how);
    if (pipe == NULL) {
        return false;
    }
    for (size_t i = 0; i < b->lists; i++) {
        (void)pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &b->list[i]);
    }
    bool ok = pt_ordered_finish(pipe) == 0;
    pt_ordered_free(pipe);
    return ok;
}

static bool add_up_runs(pt_compare_side_t *side) {
    const pt_selection_t *s = side->selection;
    double *first = malloc((2 * s->model->runs + 1) * sizeof *first);
    if (first == NULL) {
        return false;
    }
    double *last = first + s->model->runs;
    for (size_t i = 0; i < s->model->runs; i++) {
        first[i] = (double)INFINITY;
        last[i] = (double)-INFINITY;
    }
    for (size_t i = 0; i < s->rows; i++) {
        const pt_session_row_t *row = &s->model->row[s->row[i]];
        first[row->run] = fmin(first[row->run], row->submit);
        last[row->run] = fmax(last[row->run], fmax(row->submit, row->finalized));
        side->finished += isnan(row->finalized) ? 0 : 1;
    }
    for (size_t i = 0; i < s->model->runs; i++) {
        side->seconds += last[i] > first[i] ? last[i] - first[i] : 0;
    }
    free(first);
    return true;
}

bool pt_compare_side_make(pt_compare_side_t *side, const pt_selection_t *selection,
                          const pt_compared_t *x, unsigned threads) {
    const pt_name_table_t *names = selection->model->names;
    maps_t maps = {map_names(&names[PT_NAMES_PHASE], &x->phases),
                   map_names(&names[PT_NAMES_COUNTER], &x->counters),
                   map_names(&names[PT_NAMES_STATUS], &x->statuses)};
    gathering_t g = {side, x, &maps, false};
    uint32_t *cluster_of_task = malloc((selection->model->tasks + 1) * sizeof *cluster_of_task);
    *side = (pt_compare_side_t){.selection = selection};
    side->boot =
        (pt_boot_t){.lists = pt_compared_lists(x), .shares = x->statuses.count, .seed = SEED};
    side->boot.list = calloc(side->boot.lists + 1, sizeof *side->boot.list);
    side->boot.share = calloc(side->boot.shares + 1, sizeof *side->boot.share);
    bool ok = maps.phase != NULL && maps.counter != NULL && maps.status != NULL &&
              cluster_of_task != NULL && side->boot.list != NULL && side->boot.share != NULL &&
              make_lists(&g, cluster_of_task) && sort_lists(&side->boot, threads) &&
              add_up_runs(side);
    free(maps.phase);
    free(maps.counter);
    free(maps.status);
    free(cluster_of_task);
    return ok;
}

void pt_compare_side_free(pt_compare_side_t *side) {
    for (size_t i = 0; side->boot.list != NULL && i < side->boot.lists; i++) {
        free(side->boot.list[i].item);
    }
    free(side->boot.list);
    free(side->boot.share);
    free(side->counts);
}
