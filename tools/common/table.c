/* table.c: tables of results. SPDX-License-Identifier: MIT */
#include "table.h"

#include <math.h>
#include <stdlib.h>

static char *copy_text(const char *text, size_t len) {
    char *copy = malloc(len + 1);
    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

/* Room for one more element. */
static void *grow(void *array, size_t size, size_t count, size_t *cap) {
    if (count < *cap) {
        return array;
    }
    size_t more = *cap == 0 ? 16 : *cap * 2;
    void *grown = realloc(array, more * size);
    *cap = grown != NULL ? more : *cap;
    return grown;
}

pt_table_t *pt_report_table(pt_report_t *r, const char *id, const char *title, bool facts) {
    static pt_table_t none = {.failed = true};
    pt_table_t *table = grow(r->table, sizeof *table, r->tables, &r->cap);
    char *id_copy = copy_text(id, strlen(id)), *title_copy = copy_text(title, strlen(title));
    r->table = table != NULL ? table : r->table;
    if (table == NULL || id_copy == NULL || title_copy == NULL) {
        free(id_copy);
        free(title_copy);
        r->failed = true;
        return &none;
    }
    table += r->tables++;
    *table = (pt_table_t){.id = id_copy, .title = title_copy, .facts = facts};
    return table;
}

static void free_table(pt_table_t *t) {
    for (size_t i = 0; i < t->columns; i++) {
        free(t->column[i].id);
        free(t->column[i].title);
    }
    for (size_t i = 0; i < t->cells; i++) {
        free(t->cell[i].text);
    }
    free(t->column);
    free(t->cell);
    free(t->id);
    free(t->title);
    free(t->note);
}

void pt_report_move(pt_report_t *to, pt_report_t *from) {
    to->failed |= from->failed;
    for (size_t i = 0; i < from->tables; i++) {
        pt_table_t *table = grow(to->table, sizeof *table, to->tables, &to->cap);
        if (table == NULL) {
            to->failed = true;
            free_table(&from->table[i]);
        } else {
            to->table = table;
            to->table[to->tables++] = from->table[i];
        }
    }
    free(from->table);
    *from = (pt_report_t)PT_REPORT_INIT;
}

const pt_table_t *pt_report_find(const pt_report_t *r, const char *id) {
    for (size_t i = 0; i < r->tables; i++) {
        if (strcmp(r->table[i].id, id) == 0) {
            return &r->table[i];
        }
    }
    return NULL;
}

bool pt_report_failed(const pt_report_t *r) {
    bool failed = r->failed;
    for (size_t i = 0; i < r->tables; i++) {
        failed |= r->table[i].failed;
    }
    return failed;
}

void pt_report_free(pt_report_t *r) {
    if (r != NULL) {
        for (size_t i = 0; i < r->tables; i++) {
            free_table(&r->table[i]);
        }
        free(r->table);
        memset(r, 0, sizeof *r);
    }
}

void pt_table_column(pt_table_t *t, const char *id, const char *title, pt_column_kind_t kind) {
    if (t->failed) {
        return;
    }
    pt_table_column_t *column = grow(t->column, sizeof *column, t->columns, &t->column_cap);
    char *id_copy = copy_text(id, strlen(id)), *title_copy = copy_text(title, strlen(title));
    t->column = column != NULL ? column : t->column;
    if (column == NULL || id_copy == NULL || title_copy == NULL) {
        free(id_copy);
        free(title_copy);
        t->failed = true;
        return;
    }
    column[t->columns++] = (pt_table_column_t){id_copy, title_copy, kind, false};
}

void pt_table_detail(pt_table_t *t, const char *id, pt_column_kind_t kind) {
    size_t before = t->columns;
    pt_table_column(t, id, "", kind);
    if (t->columns > before) {
        t->column[before].detail = true;
    }
}

void pt_table_note(pt_table_t *t, const char *note) {
    if (!t->failed) {
        free(t->note);
        t->note = copy_text(note, strlen(note));
        t->failed = t->note == NULL;
    }
}

static void add_cell(pt_table_t *t, pt_table_cell_t value) {
    pt_table_cell_t *cell = t->failed ? NULL : grow(t->cell, sizeof *cell, t->cells, &t->cell_cap);
    if (cell == NULL || (value.kind == PT_CELL_TEXT && value.text == NULL)) {
        t->cell = cell != NULL ? cell : t->cell;
        t->failed = true;
        free(value.text);
        return;
    }
    t->cell = cell;
    t->cell[t->cells++] = value;
}

void pt_table_text(pt_table_t *t, const char *text, size_t len) {
    add_cell(t, (pt_table_cell_t){PT_CELL_TEXT, 0, copy_text(text, len)});
}

void pt_table_cstr(pt_table_t *t, const char *text) {
    if (text != NULL) {
        pt_table_text(t, text, strlen(text));
    } else {
        add_cell(t, (pt_table_cell_t){PT_CELL_MISSING, 0, NULL});
    }
}

void pt_table_number(pt_table_t *t, double number) {
    add_cell(t,
             (pt_table_cell_t){isfinite(number) ? PT_CELL_NUMBER : PT_CELL_MISSING, number, NULL});
}

void pt_table_fact(pt_table_t *t, const char *id, const char *title, pt_column_kind_t kind,
                   double number) {
    pt_table_column(t, id, title, kind);
    pt_table_number(t, number);
}

void pt_table_fact_text(pt_table_t *t, const char *id, const char *title, const char *text) {
    pt_table_column(t, id, title, PT_COLUMN_TEXT);
    pt_table_cstr(t, text);
}

size_t pt_table_rows(const pt_table_t *t) {
    return t->columns > 0 ? t->cells / t->columns : 0;
}
