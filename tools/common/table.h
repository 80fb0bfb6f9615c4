/* table.h: tables of results, for people and for programs. SPDX-License-Identifier: MIT
 *
 * A report is a list of tables. It is filled once and printed in any of three forms, so that all of
 * them say the same: text for a terminal, one JSON object with a member for each table, or CSV.
 * Pure but for memory: when that runs out, `failed` is set and the report is incomplete. Not
 * thread-safe. */
#ifndef PERFTRACE_COMMON_TABLE_H
#define PERFTRACE_COMMON_TABLE_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

/* What the values of a column are, which says how they are shown to people. Programs get numbers
 * as they are. */
typedef enum pt_column_kind {
    PT_COLUMN_TEXT,
    PT_COLUMN_LONG,    /* a text of which people see more: a kernel's name, a sentence */
    PT_COLUMN_COUNT,   /* 1,234 */
    PT_COLUMN_SECONDS, /* 1.23 s, 45.6 ms */
    PT_COLUMN_SHARE,   /* 0.123: 12.3 % */
    PT_COLUMN_CHANGE,  /* 0.123: +12.3 % */
    PT_COLUMN_NUMBER,  /* three figures */
    PT_COLUMN_TIME,    /* seconds since the epoch: 2026-11-30 04:35:14.123Z */
    PT_COLUMN_FLAG     /* a number that is not 0: the column's title, and the row is marked */
} pt_column_kind_t;

typedef struct pt_table_column {
    char *id; /* for programs: total_s */
    char *title;
    pt_column_kind_t kind;
    bool detail; /* for programs only */
} pt_table_column_t;

typedef enum pt_cell_kind { PT_CELL_MISSING, PT_CELL_TEXT, PT_CELL_NUMBER } pt_cell_kind_t;
typedef struct pt_table_cell {
    pt_cell_kind_t kind;
    double number;
    char *text;
} pt_table_cell_t;

typedef struct pt_table {
    char *id;      /* for programs: "phases" */
    char *title;   /* for people */
    char *note;    /* a paragraph under it; NULL: none */
    bool facts;    /* one row of facts: an object for programs, a list of lines for people */
    bool left_out; /* not to be printed */
    bool failed;
    pt_table_column_t *column;
    pt_table_cell_t *cell; /* row after row */
    size_t columns, column_cap, cells, cell_cap;
} pt_table_t;

typedef struct pt_report {
    pt_table_t *table;
    size_t tables, cap;
    bool failed;
} pt_report_t;

#define PT_REPORT_INIT                                                                             \
    { NULL, 0, 0, false }

/* Adds a table. The address lives until the next one is added; never NULL (without memory it is a
 * table that takes nothing). Texts are copied, here and below. */
pt_table_t *pt_report_table(pt_report_t *report, const char *id, const char *title, bool facts);
/* Moves all tables of one report behind those of another; the first is empty then. */
void pt_report_move(pt_report_t *to, pt_report_t *from);
const pt_table_t *pt_report_find(const pt_report_t *report, const char *id); /* NULL: none */
/* Whether memory ran out in it or in one of its tables. */
bool pt_report_failed(const pt_report_t *report);
void pt_report_free(pt_report_t *report); /* accepts NULL; usable again */

void pt_table_column(pt_table_t *table, const char *id, const char *title, pt_column_kind_t kind);
/* One that people are not shown. */
void pt_table_detail(pt_table_t *table, const char *id, pt_column_kind_t kind);
void pt_table_note(pt_table_t *table, const char *note);
/* The next cell, from left to right, row after row. */
void pt_table_text(pt_table_t *table, const char *text, size_t len);
void pt_table_cstr(pt_table_t *table, const char *text); /* NULL: missing */
void pt_table_number(pt_table_t *table, double number);  /* not finite: missing */
/* Facts: a column and its only cell. */
void pt_table_fact(pt_table_t *table, const char *id, const char *title, pt_column_kind_t kind,
                   double number);
void pt_table_fact_text(pt_table_t *table, const char *id, const char *title, const char *text);
size_t pt_table_rows(const pt_table_t *table);

/* Tables without rows are left out. color: marks are coloured, too. */
void pt_report_print_text(const pt_report_t *report, bool color, perftrace__strbuf_t *out);
/* The members `"id": [{...}, ...]` or `"id": {...}` of an object, without its braces. */
void pt_report_print_json(const pt_report_t *report, perftrace__strbuf_t *out);
/* Several tables: the columns table, row, column, value. One: its own columns. RFC 4180, with line
 * feeds. A text that begins with = + - @, a tab or a carriage return, or with quotes (') and then
 * one of these, gets a quote (') before it: spreadsheets take it for a formula else. */
void pt_report_print_csv(const pt_report_t *report, perftrace__strbuf_t *out);

/* Appends a value as people read it; "-" for a number that is not finite. */
void pt_table_format(perftrace__strbuf_t *out, pt_column_kind_t kind, double number);
/* Appends text in which nothing steers a terminal: control characters, line separators and marks
 * of writing direction are shown as escapes. At most `columns` characters (0: all), then "…". */
void pt_table_visible(perftrace__strbuf_t *out, const char *text, unsigned columns);

#endif
