/* fetch_report.c. SPDX-License-Identifier: MIT */
#include "fetch_report.h"

typedef struct sum {
    size_t count[PT_OBJECT_STATE_COUNT];
    size_t files;
    uint64_t bytes;
} sum_t;

static void add_row(pt_table_t *t, const char *word, const char *pattern, const sum_t *sum) {
    pt_table_cstr(t, word);
    pt_table_cstr(t, pattern);
    pt_table_number(t, (double)sum->files);
    pt_table_number(t, (double)sum->bytes);
    for (size_t i = 0; i < PT_OBJECT_STATE_COUNT; i++) {
        pt_table_number(t, (double)sum->count[i]);
    }
}

static void add_kinds(const pt_bucket_list_t *list, pt_report_t *report) {
    sum_t kinds[PT_UPLOAD_COUNT] = {{{0}, 0, 0}};
    pt_table_t *t = pt_report_table(report, "kinds", "Uploaded files", false);
    pt_table_column(t, "kind", "Kind", PT_COLUMN_TEXT);
    pt_table_column(t, "pattern", "Name", PT_COLUMN_TEXT);
    pt_table_column(t, "files", "Files", PT_COLUMN_COUNT);
    pt_table_column(t, "bytes", "Bytes", PT_COLUMN_COUNT);
#define X(name, id, word) pt_table_column(t, id, word, PT_COLUMN_COUNT);
    PT_OBJECT_STATES(X)
#undef X
    for (size_t i = 0; i < list->count; i++) {
        sum_t *sum = &kinds[list->items[i].kind];
        sum->count[list->items[i].state]++;
        sum->files++;
        sum->bytes += list->items[i].size;
    }
    for (int i = 0; i < PT_UPLOAD_COUNT; i++) {
        if (kinds[i].files) {
            pt_upload_kind_t kind = (pt_upload_kind_t)i;
            add_row(t, pt_upload_word(kind), pt_upload_pattern(kind), &kinds[i]);
        }
    }
}

static void add_files(const pt_bucket_list_t *list, pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "files", "Files", false);
    pt_table_column(t, "path", "File", PT_COLUMN_LONG);
    pt_table_column(t, "kind", "Kind", PT_COLUMN_TEXT);
    pt_table_column(t, "bytes", "Bytes", PT_COLUMN_COUNT);
    pt_table_column(t, "modified", "Uploaded", PT_COLUMN_TIME);
    pt_table_column(t, "state", "State", PT_COLUMN_TEXT);
    pt_table_column(t, "why", "Why", PT_COLUMN_LONG);
    for (size_t i = 0; i < list->count; i++) {
        const pt_object_t *o = &list->items[i];
        pt_table_cstr(t, o->path);
        pt_table_cstr(t, pt_upload_word(o->kind));
        pt_table_number(t, (double)o->size);
        if (o->modified) {
            pt_table_number(t, (double)o->modified);
        } else {
            pt_table_cstr(t, NULL);
        }
        pt_table_cstr(t, pt_object_state_word(o->state));
        pt_table_cstr(t, o->why);
    }
}

void pt_fetch_report(const pt_bucket_list_t *list, bool files, pt_report_t *report) {
    add_kinds(list, report);
    if (files) {
        add_files(list, report);
    }
}
