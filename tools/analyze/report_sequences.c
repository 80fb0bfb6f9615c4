/* report_sequences.c: what operators launch, and what hardware counters say of it.
 * SPDX-License-Identifier: MIT */
#include "analyze_report.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of a key made of texts, each with a NUL behind it; `next` when it is new. False
 * without memory. */
static bool number_of(perftrace__hashmap_t *map, const pt_str_t *text, size_t count, size_t next,
                      size_t *ret) {
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        perftrace__strbuf_append(&key, text[i].p, text[i].len);
        perftrace__strbuf_putc(&key, '\0');
    }
    const uint64_t *slot =
        key.failed ? NULL : perftrace__hashmap_put(map, key.data, key.len, next, NULL);
    *ret = slot != NULL ? (size_t)*slot : 0;
    perftrace__strbuf_free(&key);
    return slot != NULL;
}

/* ---- sequences ---- */

typedef struct sequence {
    pt_str_t op, kernels;
    int64_t length, count, device, host, ranks;
} sequence_t;

typedef struct sequences {
    sequence_t *one;
    size_t count, cap;
    perftrace__hashmap_t map;
} sequences_t;

static bool add_sequence(sequences_t *l, const pt_rank_result_t *r, const int64_t *cell) {
    const pt_str_t text[] = {pt_result_text_of(r, cell[0]), pt_result_text_of(r, cell[1])};
    size_t at;
    if (!PT_GROW(l, one, count, cap, 1) ||
        !number_of(&l->map, text, PT_ARRAY_LEN(text), l->count, &at)) {
        return false;
    }
    if (at == l->count) {
        l->one[l->count++] = (sequence_t){text[0], text[1], cell[2], 0, 0, 0, 0};
    }
    sequence_t *a = &l->one[at];
    a->count += cell[3];
    a->device += cell[4];
    a->host += cell[5];
    a->ranks++; /* a rank has each of them once */
    return true;
}

static int most_frequent_first(const void *a, const void *b) {
    const sequence_t *x = a, *y = b;
    if (x->count != y->count) {
        return (x->count < y->count) - (x->count > y->count);
    }
    if (x->device != y->device) {
        return (x->device < y->device) - (x->device > y->device);
    }
    int order = pt_str_compare(x->op, y->op);
    return order != 0 ? order : pt_str_compare(x->kernels, y->kernels);
}

static void sequences(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *results = how->results;
    pt_table_t *t = pt_report_table(report, "sequences", "Kernel sequences", false);
    sequences_t l = {.one = NULL};
    pt_table_column(t, "count", "Count", PT_COLUMN_COUNT);
    pt_table_column(t, "length", "Kernels", PT_COLUMN_COUNT);
    pt_table_column(t, "device_s", "Device", PT_COLUMN_SECONDS);
    pt_table_column(t, "device_mean_s", "each", PT_COLUMN_SECONDS);
    pt_table_column(t, "host_s", "Host", PT_COLUMN_SECONDS);
    pt_table_column(t, "host_mean_s", "each", PT_COLUMN_SECONDS);
    pt_table_column(t, "ranks", "Ranks", PT_COLUMN_COUNT);
    pt_table_column(t, "operator", "Operator", PT_COLUMN_TEXT);
    pt_table_column(t, "sequence", "Sequence", PT_COLUMN_LONG);
    pt_table_note(t,
                  "What an operator and all that it called launched, in the order in which it "
                  "ran; the outermost operators, or those of --sequences-of. A rank gives its 1000 "
                  "most frequent.");
    for (size_t i = 0; i < results->count; i++) {
        const pt_rank_result_t *r = &results->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_sequences); n++) {
            t->failed |= !add_sequence(&l, r, pt_result_at(r, PT_RT_sequences, n));
        }
    }
    if (l.count > 1) {
        qsort(l.one, l.count, sizeof *l.one, most_frequent_first);
    }
    for (size_t i = 0; i < l.count && (how->top == 0 || i < how->top); i++) {
        const sequence_t *a = &l.one[i];
        pt_table_number(t, (double)a->count);
        pt_table_number(t, (double)a->length);
        pt_table_number(t, pt_seconds(a->device));
        pt_table_number(t, (double)a->device / (double)a->count / 1e9);
        pt_table_number(t, pt_seconds(a->host));
        pt_table_number(t, (double)a->host / (double)a->count / 1e9);
        pt_table_number(t, (double)a->ranks);
        pt_report_text(t, a->op);
        pt_report_text(t, a->kernels);
    }
    free(l.one);
    perftrace__hashmap_free(&l.map);
}

/* ---- hardware counters ---- */

typedef struct reading {
    pt_str_t op, top, stack, kernel, counter;
    int64_t count, ranks;
    size_t last_rank; /* one more than the index of the result that gave to it last */
    double min, max, sum;
} reading_t;

typedef struct readings {
    reading_t *one;
    size_t count, cap;
    perftrace__hashmap_t map;
} readings_t;

static bool add_reading(readings_t *l, const pt_results_t *results, size_t index,
                        const int64_t *cell) {
    const pt_rank_result_t *r = &results->result[index];
    const pt_str_t text[] = {pt_result_text_of(r, cell[1]), pt_result_text_of(r, cell[2]),
                             pt_result_text_of(r, cell[3]), pt_result_text_of(r, cell[4])};
    size_t at;
    if (!PT_GROW(l, one, count, cap, 1) ||
        !number_of(&l->map, text, PT_ARRAY_LEN(text), l->count, &at)) {
        return false;
    }
    if (at == l->count) {
        l->one[l->count++] = (reading_t){.op = pt_result_text_of(r, cell[0]),
                                         .top = text[0],
                                         .stack = text[1],
                                         .kernel = text[2],
                                         .counter = text[3],
                                         .min = (double)INFINITY,
                                         .max = (double)-INFINITY};
    }
    reading_t *a = &l->one[at];
    a->count += cell[5];
    a->min = fmin(a->min, pt_cell_double(cell[6]));
    a->max = fmax(a->max, pt_cell_double(cell[7]));
    a->sum += pt_cell_double(cell[8]);
    a->ranks += a->last_rank != index + 1;
    a->last_rank = index + 1;
    return true;
}

static int by_counter(const void *a, const void *b) {
    const reading_t *x = a, *y = b;
    int order = pt_str_compare(x->counter, y->counter);
    if (order == 0 && !(x->sum == y->sum)) {
        return x->sum < y->sum ? 1 : -1;
    }
    order = order != 0 ? order : pt_str_compare(x->stack, y->stack);
    order = order != 0 ? order : pt_str_compare(x->top, y->top);
    return order != 0 ? order : pt_str_compare(x->kernel, y->kernel);
}

/* Floating point operations that an instruction of this counter stands for; NAN: it counts none.
 */
static double operations(pt_str_t counter) {
    static const char start[] = "smsp__sass_thread_inst_executed_op_", end[] = "_pred_on.sum";
    const char *op = counter.p + sizeof start - 1;
    if (counter.len != sizeof start - 1 + 4 + sizeof end - 1 ||
        memcmp(counter.p, start, sizeof start - 1) != 0 ||
        memcmp(op + 4, end, sizeof end - 1) != 0 || memchr("fhd", op[0], 3) == NULL) {
        return (double)NAN;
    }
    return memcmp(op + 1, "fma", 3) == 0                                    ? 2
           : memcmp(op + 1, "mul", 3) == 0 || memcmp(op + 1, "add", 3) == 0 ? 1
                                                                            : (double)NAN;
}

static void put_reading(pt_table_t *t, const reading_t *a) {
    pt_report_text(t, a->counter);
    pt_table_number(t, (double)a->count);
    pt_table_number(t, a->sum);
    pt_table_number(t, a->sum / (double)a->count);
    pt_table_number(t, a->min);
    pt_table_number(t, a->max);
    pt_table_number(t, a->sum * operations(a->counter));
    pt_table_number(t, (double)a->ranks);
    pt_report_text(t, a->op);
    pt_report_text(t, a->top);
    pt_report_text(t, a->stack);
    pt_report_text(t, a->kernel);
}

static void operator_counters(const pt_analyze_report_t *how, pt_report_t *report) {
    const pt_results_t *results = how->results;
    pt_table_t *t =
        pt_report_table(report, "operator_counters", "Hardware counters of operators", false);
    readings_t l = {.one = NULL};
    pt_table_column(t, "counter", "Counter", PT_COLUMN_LONG);
    pt_table_column(t, "count", "Values", PT_COLUMN_COUNT);
    pt_table_column(t, "total", "Total", PT_COLUMN_NUMBER);
    pt_table_column(t, "mean", "Mean", PT_COLUMN_NUMBER);
    pt_table_column(t, "min", "Min", PT_COLUMN_NUMBER);
    pt_table_column(t, "max", "Max", PT_COLUMN_NUMBER);
    pt_table_column(t, "flop", "FLOP", PT_COLUMN_NUMBER);
    pt_table_column(t, "ranks", "Ranks", PT_COLUMN_COUNT);
    pt_table_column(t, "operator", "Operator", PT_COLUMN_TEXT);
    pt_table_detail(t, "top_operator", PT_COLUMN_TEXT);
    pt_table_detail(t, "stack", PT_COLUMN_LONG);
    pt_table_column(t, "kernel", "Kernel", PT_COLUMN_TEXT);
    pt_table_note(t, "A value for each kernel that CUPTI measured; the nth of them is of the nth "
                     "launch. Without an operator: as many launches are not recorded. FLOP: what "
                     "the counted instructions of floating point do, 2 each for fused ones.");
    for (size_t i = 0; i < results->count; i++) {
        const pt_rank_result_t *r = &results->result[i];
        for (size_t n = 0; n < pt_result_rows(r, PT_RT_operator_counters); n++) {
            t->failed |= !add_reading(&l, results, i, pt_result_at(r, PT_RT_operator_counters, n));
        }
    }
    if (l.count > 1) {
        qsort(l.one, l.count, sizeof *l.one, by_counter);
    }
    for (size_t i = 0, shown = 0; i < l.count; i++) {
        bool same = i > 0 && pt_str_compare(l.one[i].counter, l.one[i - 1].counter) == 0;
        shown = same ? shown + 1 : 0;
        if (how->top == 0 || shown < how->top) {
            put_reading(t, &l.one[i]);
        }
    }
    free(l.one);
    perftrace__hashmap_free(&l.map);
}

void pt_report_sequences(const pt_analyze_report_t *how, pt_report_t *report) {
    sequences(how, report);
    operator_counters(how, report);
}
