/* forward_report.c. SPDX-License-Identifier: MIT */
#include "forward_report.h"

void pt_forward_sums(const pt_forward_book_t *book, pt_forward_sums_t *ret) {
    *ret = (pt_forward_sums_t){.files = 0};
    for (size_t i = 0; i < book->count; i++) {
        const pt_forward_entry_t *e = &book->items[i];
        ret->there += e->had;
        ret->sent += e->acked - PT_MIN(e->acked, e->had);
        switch (e->state) {
        case PT_FORWARD_DONE:
            ret->files++;
            break;
        case PT_FORWARD_READY:
        case PT_FORWARD_AT_WORK:
        case PT_FORWARD_LEFT:
            ret->left_files++;
            break;
        case PT_FORWARD_WAITING:
            ret->waiting++;
            break;
        case PT_FORWARD_NO_TRACE:
            ret->no_trace++;
            ret->named_no_trace = ret->named_no_trace || e->named;
            break;
        case PT_FORWARD_FAILED:
            ret->failed++;
            break;
        }
    }
    ret->left = pt_forward_book_left(book);
}

static const char *state_of(const pt_forward_entry_t *e) {
    switch (e->state) {
    case PT_FORWARD_DONE:
        return e->had == e->size ? "there" : "sent";
    case PT_FORWARD_WAITING:
        return "incomplete";
    case PT_FORWARD_NO_TRACE:
        return "no trace";
    case PT_FORWARD_FAILED:
        return "failed";
    default:
        return "left";
    }
}

static void number_if(pt_table_t *t, bool known, double number) {
    if (known) {
        pt_table_number(t, number);
    } else {
        pt_table_cstr(t, NULL);
    }
}

static void text_if(pt_table_t *t, const char *text) {
    pt_table_cstr(t, *text ? text : NULL);
}

static void put_file(pt_table_t *t, const pt_forward_entry_t *e) {
    const perftrace__stream_key_t *k = &e->of.key;
    bool known = e->stream != 0;
    pt_table_cstr(t, e->name);
    pt_table_cstr(t, state_of(e));
    pt_table_number(t, (double)e->size);
    pt_table_number(t, (double)(e->acked - PT_MIN(e->acked, e->had)));
    pt_table_number(t, (double)e->had);
    text_if(t, k->run);
    number_if(t, known && k->rank >= 0, (double)k->rank);
    text_if(t, e->why);
    pt_table_cstr(t, !known ? NULL : k->sessions ? "sessions" : "trace");
    number_if(t, known && k->world_size >= 0, (double)k->world_size);
    text_if(t, k->role);
    text_if(t, k->host);
    number_if(t, known && k->pid > 0, (double)k->pid);
}

void pt_forward_report(const pt_forward_book_t *book, const pt_forward_sums_t *sums,
                       pt_report_t *ret) {
    pt_table_t *t = pt_report_table(ret, "files", "Files", false);
    pt_table_column(t, "file", "file", PT_COLUMN_LONG);
    pt_table_column(t, "state", "state", PT_COLUMN_TEXT);
    pt_table_column(t, "bytes", "bytes", PT_COLUMN_COUNT);
    pt_table_column(t, "sent", "sent", PT_COLUMN_COUNT);
    pt_table_column(t, "there", "there before", PT_COLUMN_COUNT);
    pt_table_column(t, "run", "run", PT_COLUMN_TEXT);
    pt_table_column(t, "rank", "rank", PT_COLUMN_COUNT);
    pt_table_detail(t, "why", PT_COLUMN_LONG);
    pt_table_detail(t, "kind", PT_COLUMN_TEXT);
    pt_table_detail(t, "world_size", PT_COLUMN_COUNT);
    pt_table_detail(t, "role", PT_COLUMN_TEXT);
    pt_table_detail(t, "host", PT_COLUMN_TEXT);
    pt_table_detail(t, "pid", PT_COLUMN_COUNT);
    for (size_t i = 0; i < book->count; i++) {
        put_file(t, &book->items[i]);
    }
    t = pt_report_table(ret, "total", "Total", true);
    pt_table_fact(t, "files", "files at the other side", PT_COLUMN_COUNT, (double)sums->files);
    pt_table_fact(t, "sent", "bytes sent", PT_COLUMN_COUNT, (double)sums->sent);
    pt_table_fact(t, "there", "bytes there before", PT_COLUMN_COUNT, (double)sums->there);
    pt_table_fact(t, "left_files", "files left", PT_COLUMN_COUNT, (double)sums->left_files);
    pt_table_fact(t, "left", "bytes left", PT_COLUMN_COUNT, (double)sums->left);
    pt_table_fact(t, "incomplete", "files not complete", PT_COLUMN_COUNT, (double)sums->waiting);
    pt_table_fact(t, "no_trace", "files that are no traces", PT_COLUMN_COUNT,
                  (double)sums->no_trace);
    pt_table_fact(t, "failed", "files that failed", PT_COLUMN_COUNT, (double)sums->failed);
}

pt_exit_t pt_forward_exit(const pt_forward_book_t *book, const pt_forward_sums_t *sums,
                          bool interrupted) {
    return book->worst == PT_EXIT_INTERNAL                                     ? PT_EXIT_INTERNAL
           : interrupted && sums->left_files                                   ? PT_EXIT_INTERRUPTED
           : sums->left_files                                                  ? PT_EXIT_OUTPUT
           : book->worst != PT_EXIT_OK || sums->failed || sums->named_no_trace ? PT_EXIT_INPUT
           : sums->waiting || sums->no_trace                                   ? PT_EXIT_PROBLEMS
                                                                               : PT_EXIT_OK;
}
