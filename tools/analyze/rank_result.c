/* rank_result.c: what the analysis of one rank gives. SPDX-License-Identifier: MIT */
#include "rank_result.h"

#include "grow.h"

#include <math.h>
#include <string.h>

static const char *const fact_names[PT_FACTS] = {
#define PT_I_NAME(name) #name,
    PT_FACT_LIST(PT_I_NAME)
#undef PT_I_NAME
};

static const struct {
    const char *name, *columns;
} tables[PT_RTS] = {
#define PT_I_NAME(name, columns) {#name, columns},
    PT_RESULT_TABLE_LIST(PT_I_NAME)
#undef PT_I_NAME
};

void pt_result_init(pt_rank_result_t *r) {
    memset(r, 0, sizeof *r);
    for (unsigned f = 0; f < PT_FACTS; f++) {
        r->fact[f] = PT_NOT_RECORDED;
    }
}

void pt_result_free(pt_rank_result_t *r) {
    if (r != NULL) {
        pt_names_free(&r->texts);
        for (unsigned t = 0; t < PT_RTS; t++) {
            free(r->table[t].cell);
        }
        perftrace__strbuf_free(&r->problems);
        pt_clock_out_free(&r->clock);
        pt_result_init(r);
    }
}

pt_rank_result_t *pt_results_add(pt_results_t *l) {
    if (!PT_GROW(l, result, count, cap, 1)) {
        return NULL;
    }
    pt_result_init(&l->result[l->count]);
    return &l->result[l->count++];
}

void pt_results_free(pt_results_t *l) {
    for (size_t i = 0; l != NULL && i < l->count; i++) {
        pt_result_free(&l->result[i]);
    }
    if (l != NULL) {
        free(l->result);
        *l = (pt_results_t){.result = NULL};
    }
}

static int by_rank(const void *a, const void *b) {
    const pt_rank_result_t *x = a, *y = b;
    int64_t p = x->fact[PT_FACT_rank], q = y->fact[PT_FACT_rank];
    if (p != q) {
        return (p > q) - (p < q);
    }
    int order = pt_str_compare(pt_names_get(&x->texts, x->role), pt_names_get(&y->texts, y->role));
    return order != 0
               ? order
               : pt_str_compare(pt_names_get(&x->texts, x->file), pt_names_get(&y->texts, y->file));
}

void pt_results_sort(pt_results_t *l) {
    if (l->count > 1) {
        qsort(l->result, l->count, sizeof *l->result, by_rank);
    }
}

size_t pt_result_columns(pt_result_table_t table) {
    size_t n = 1;
    for (const char *p = tables[table].columns; *p != '\0'; p++) {
        n += *p == ' ';
    }
    return n;
}

const char *pt_result_column(pt_result_table_t table, size_t index, size_t *ret_len,
                             char *ret_kind) {
    const char *p = tables[table].columns;
    for (; index > 0; index--) {
        p = strchr(p, ' ') + 1;
    }
    *ret_len = strcspn(p, ":");
    *ret_kind = p[*ret_len + 1];
    return p;
}

void pt_result_row(pt_rank_result_t *r, pt_result_table_t table, const int64_t *cells) {
    pt_cells_t *t = &r->table[table];
    size_t columns = pt_result_columns(table);
    if (!PT_GROW(t, cell, count, cap, columns)) {
        r->failed = true;
        return;
    }
    memcpy(t->cell + t->count, cells, columns * sizeof *cells);
    t->count += columns;
}

size_t pt_result_rows(const pt_rank_result_t *r, pt_result_table_t table) {
    return r->table[table].count / pt_result_columns(table);
}

const int64_t *pt_result_at(const pt_rank_result_t *r, pt_result_table_t table, size_t row) {
    return r->table[table].cell + row * pt_result_columns(table);
}

const char *pt_result_table_name(pt_result_table_t table) {
    return tables[table].name;
}

int64_t pt_result_text(pt_rank_result_t *r, pt_str_t text) {
    return pt_names_add(&r->texts, text.p, text.len);
}

pt_str_t pt_result_text_of(const pt_rank_result_t *r, int64_t cell) {
    return pt_names_get(&r->texts, (uint32_t)cell);
}

int64_t pt_cell_of_double(double v) {
    int64_t cell;
    memcpy(&cell, &v, sizeof cell);
    return cell;
}

double pt_cell_double(int64_t cell) {
    double v;
    memcpy(&v, &cell, sizeof v);
    return v;
}

double pt_result_fact(const pt_rank_result_t *r, pt_fact_t fact) {
    return r->fact[fact] == PT_NOT_RECORDED ? (double)NAN : (double)r->fact[fact];
}

const char *pt_fact_name(pt_fact_t fact) {
    return fact_names[fact];
}
