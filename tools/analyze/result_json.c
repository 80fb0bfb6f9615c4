/* result_json.c: results written and read again. SPDX-License-Identifier: MIT */
#include "result_json.h"

#include "json_scan.h"
#include "json_writer.h"

#include <math.h>
#include <string.h>

#define START "{\"perftrace_analysis_partial\": "

static void put_text(perftrace__strbuf_t *out, pt_str_t text) {
    perftrace__strbuf_json(out, text.p, text.len);
}

static void put_cell(const pt_rank_result_t *r, char kind, int64_t cell, perftrace__strbuf_t *out) {
    char number[PERFTRACE__I64_MAX];
    if (kind == 't') {
        put_text(out, pt_result_text_of(r, cell));
    } else if (kind == 'd') {
        perftrace__strbuf_double(out, pt_cell_double(cell));
    } else if (cell == PT_NOT_RECORDED) {
        perftrace__strbuf_puts(out, "null");
    } else {
        perftrace__strbuf_append(out, number, (size_t)(perftrace__put_i64(number, cell) - number));
    }
}

static void put_table(const pt_rank_result_t *r, pt_result_table_t table,
                      perftrace__strbuf_t *out) {
    size_t rows = pt_result_rows(r, table), columns = pt_result_columns(table), len;
    char kind[PT_RESULT_COLUMNS_MAX];
    for (size_t c = 0; c < columns; c++) {
        (void)pt_result_column(table, c, &len, &kind[c]);
    }
    perftrace__strbuf_printf(out, "\"%s\": [", pt_result_table_name(table));
    for (size_t i = 0; i < rows; i++) {
        const int64_t *cell = pt_result_at(r, table, i);
        perftrace__strbuf_puts(out, i > 0 ? ",\n[" : "\n[");
        for (size_t c = 0; c < columns; c++) {
            perftrace__strbuf_puts(out, c > 0 ? ", " : "");
            put_cell(r, kind[c], cell[c], out);
        }
        perftrace__strbuf_putc(out, ']');
    }
    perftrace__strbuf_putc(out, ']');
}

static void put_result(const pt_rank_result_t *r, perftrace__strbuf_t *out) {
    const char *comma = "";
    perftrace__strbuf_puts(out, "{\"texts\": {");
#define PT_I_PUT(name)                                                                             \
    if (r->name != 0) {                                                                            \
        perftrace__strbuf_printf(out, "%s\"" #name "\": ", comma);                                 \
        put_text(out, pt_names_get(&r->texts, r->name));                                           \
        comma = ", ";                                                                              \
    }
    PT_RESULT_TEXT_LIST(PT_I_PUT)
#undef PT_I_PUT
    perftrace__strbuf_puts(out, "},\n\"facts\": {");
    for (unsigned f = 0; f < PT_FACTS; f++) {
        perftrace__strbuf_printf(out, "%s\"%s\": ", f > 0 ? ", " : "", pt_fact_name((pt_fact_t)f));
        put_cell(r, 'i', r->fact[f], out);
    }
    perftrace__strbuf_puts(out, "},\n\"tables\": {");
    for (unsigned t = 0; t < PT_RTS; t++) {
        perftrace__strbuf_puts(out, t > 0 ? ",\n" : "");
        put_table(r, (pt_result_table_t)t, out);
    }
    perftrace__strbuf_puts(out, "},\n\"problems\": ");
    perftrace__strbuf_puts(out, r->problems.len > 0 ? perftrace__strbuf_cstr(&r->problems) : "[]");
    perftrace__strbuf_putc(out, '}');
}

void pt_results_write(const pt_results_t *l, perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, START "%d, \"results\": [\n", PT_RESULT_VERSION);
    for (size_t i = 0; i < l->count; i++) {
        perftrace__strbuf_puts(out, i > 0 ? ",\n" : "");
        put_result(&l->result[i], out);
    }
    perftrace__strbuf_puts(out, "]}\n");
}

bool pt_results_is(const char *text, size_t len) {
    return len >= sizeof START - 1 && memcmp(text, START, sizeof START - 1) == 0;
}

/* ---- reading ---- */

static uint32_t take_text(pt_rank_result_t *r, const perftrace__json_slice_t *v) {
    return v->type == PERFTRACE__JSON_STRING
               ? pt_names_add_json(&r->texts, (pt_str_t){v->p - 1, v->len + 2})
               : 0;
}

static bool take_cell(pt_rank_result_t *r, char kind, const perftrace__json_slice_t *v,
                      int64_t *ret) {
    double d = (double)NAN;
    if (kind == 't') {
        *ret = take_text(r, v);
        return v->type == PERFTRACE__JSON_STRING;
    }
    if (kind == 'd') {
        bool good = v->type == PERFTRACE__JSON_NULL || perftrace__json_to_double(v, &d);
        *ret = pt_cell_of_double(d);
        return good;
    }
    *ret = PT_NOT_RECORDED;
    return v->type == PERFTRACE__JSON_NULL || perftrace__json_to_i64(v, ret);
}

static bool take_row(pt_rank_result_t *r, pt_result_table_t table,
                     const perftrace__json_slice_t *row) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v;
    int64_t cell[PT_RESULT_COLUMNS_MAX];
    size_t columns = pt_result_columns(table), n = 0, len;
    char kind;
    perftrace__json_cursor_init(&c, row->p, row->len);
    if (!perftrace__json_enter_array(&c)) {
        return false;
    }
    while (perftrace__json_next_element(&c, &v) > 0) {
        if (n >= columns) {
            return false;
        }
        (void)pt_result_column(table, n, &len, &kind);
        if (!take_cell(r, kind, &v, &cell[n++])) {
            return false;
        }
    }
    if (n != columns) {
        return false;
    }
    pt_result_row(r, table, cell);
    return true;
}

static bool take_table(pt_rank_result_t *r, pt_result_table_t table,
                       const perftrace__json_slice_t *rows) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t row;
    perftrace__json_cursor_init(&c, rows->p, rows->len);
    if (!perftrace__json_enter_array(&c)) {
        return false;
    }
    while (perftrace__json_next_element(&c, &row) > 0) {
        if (!take_row(r, table, &row)) {
            return false;
        }
    }
    return true;
}

/* Rows refer to rows of other tables; a document of others may refer to none. */
static bool is_sound(const pt_rank_result_t *r) {
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_parts); i++) {
        int64_t row = pt_result_at(r, PT_RT_parts, i)[0];
        if (row < 0 || (size_t)row >= pt_result_rows(r, PT_RT_steps)) {
            return false;
        }
    }
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_samples); i++) {
        int64_t row = pt_result_at(r, PT_RT_samples, i)[0];
        if (row < 0 || (size_t)row >= pt_result_rows(r, PT_RT_counters)) {
            return false;
        }
    }
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_names); i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_names, i);
        if (cell[2] < 0 || cell[2] > PT_ROW_MEMSET || cell[4] < 0 || cell[5] <= 0) {
            return false;
        }
    }
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_sequences); i++) {
        const int64_t *cell = pt_result_at(r, PT_RT_sequences, i);
        if (cell[2] <= 0 || cell[3] <= 0 || cell[4] < 0 || cell[5] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < pt_result_rows(r, PT_RT_operator_counters); i++) {
        if (pt_result_at(r, PT_RT_operator_counters, i)[5] <= 0) {
            return false;
        }
    }
    return r->fact[PT_FACT_rank] >= 0 && r->fact[PT_FACT_rank] <= INT32_MAX;
}

static bool take_result(pt_rank_result_t *r, const perftrace__json_slice_t *object) {
    perftrace__json_slice_t v, inner;
    if (object->type != PERFTRACE__JSON_OBJECT) {
        return false;
    }
#define PT_I_TAKE(name)                                                                            \
    if (perftrace__json_find(object, "texts." #name, &v)) {                                        \
        r->name = take_text(r, &v);                                                                \
    }
    PT_RESULT_TEXT_LIST(PT_I_TAKE)
#undef PT_I_TAKE
    if (!perftrace__json_find(object, "facts", &inner)) {
        return false;
    }
    for (unsigned f = 0; f < PT_FACTS; f++) {
        if (!perftrace__json_find(&inner, pt_fact_name((pt_fact_t)f), &v) ||
            !take_cell(r, 'i', &v, &r->fact[f])) {
            return false;
        }
    }
    if (!perftrace__json_find(object, "tables", &inner)) {
        return false;
    }
    for (unsigned t = 0; t < PT_RTS; t++) {
        if (!perftrace__json_find(&inner, pt_result_table_name((pt_result_table_t)t), &v) ||
            !take_table(r, (pt_result_table_t)t, &v)) {
            return false;
        }
    }
    if (perftrace__json_find(object, "problems", &v) && v.type == PERFTRACE__JSON_ARRAY) {
        perftrace__strbuf_append(&r->problems, v.p, v.len);
    }
    return is_sound(r);
}

bool pt_results_read(pt_results_t *l, const char *text, size_t len, perftrace__strbuf_t *problem) {
    perftrace__json_error_t error;
    perftrace__json_slice_t document = {text, len, PERFTRACE__JSON_OBJECT, false, 0}, v, item;
    perftrace__json_cursor_t c;
    int64_t version = 0;
    if (!perftrace__json_check(text, len, &error, NULL)) {
        perftrace__strbuf_printf(problem, "%s at byte %zu", perftrace__json_error_text(error.code),
                                 error.offset);
        return false;
    }
    if (!perftrace__json_find(&document, "perftrace_analysis_partial", &v) ||
        !perftrace__json_to_i64(&v, &version)) {
        perftrace__strbuf_puts(problem, "is no result of perf-trace-analyze --partial");
        return false;
    }
    if (version != PT_RESULT_VERSION) {
        perftrace__strbuf_printf(problem, "is of version %lld, and %d is read here: make it again",
                                 (long long)version, PT_RESULT_VERSION);
        return false;
    }
    if (!perftrace__json_find(&document, "results", &v)) {
        perftrace__strbuf_puts(problem, "holds no results");
        return false;
    }
    perftrace__json_cursor_init(&c, v.p, v.len);
    if (!perftrace__json_enter_array(&c)) {
        perftrace__strbuf_puts(problem, "holds no list of results");
        return false;
    }
    for (size_t i = 1; perftrace__json_next_element(&c, &item) > 0; i++) {
        pt_rank_result_t *r = pt_results_add(l);
        if (r == NULL || !take_result(r, &item) || r->failed || r->texts.failed) {
            perftrace__strbuf_printf(problem, "result %zu is damaged", i);
            return false;
        }
    }
    return true;
}
