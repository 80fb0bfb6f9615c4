/* rank_result.h: what the analysis of one rank gives. SPDX-License-Identifier: MIT
 *
 * Facts and tables of integers (ns, counts, bytes), so that results that were written and read
 * again are exactly the same: what is shown is made from a list of these, whether they come from
 * one run or from many. PT_NOT_RECORDED is "not recorded", never 0. Not thread-safe. */
#ifndef PERFTRACE_ANALYZE_RANK_RESULT_H
#define PERFTRACE_ANALYZE_RANK_RESULT_H
#include "clock_align.h"
#include "number_ranges.h"
#include "rank_store.h"
#include "strbuf.h"

/* The version of what is written. */
#define PT_RESULT_VERSION 2

/* X(name) */
#define PT_FACT_LIST(X)                                                                            \
    X(rank)                                                                                        \
    X(rank_source) /* pt_rank_source_t */                                                          \
    X(world_size)                                                                                  \
    X(events)                                                                                      \
    X(scopes)                                                                                      \
    X(points)                                                                                      \
    X(first_ns)                                                                                    \
    X(last_ns)                                                                                     \
    X(base_ns)                                                                                     \
    X(mono_ns)        /* the monotonic clock at time 0 */                                          \
    X(clock_complete) /* 1: it ends with its footer */                                             \
    X(scopes_ns)                                                                                   \
    X(devices)                                                                                     \
    X(device_memory)                                                                               \
    X(process_groups)                                                                              \
    X(multiprocessors)                                                                             \
    X(work)                                                                                        \
    X(work_first_ns)                                                                               \
    X(work_last_ns)                                                                                \
    X(range_first_ns) /* synchronisation records count, too */                                     \
    X(range_last_ns)                                                                               \
    X(syncs)                                                                                       \
    X(busy_ns)                                                                                     \
    X(compute_ns)                                                                                  \
    X(communication_ns)                                                                            \
    X(memory_ns)                                                                                   \
    X(hidden_ns) /* communication while something is computed */                                   \
    X(idle_host_ns)                                                                                \
    X(idle_kernel_ns)                                                                              \
    X(idle_other_ns)                                                                               \
    X(linked)                                                                                      \
    X(calls) /* that the linked work is of */                                                      \
    X(unlinked_work)                                                                               \
    X(unlinked_calls)                                                                              \
    X(short_kernels)                                                                               \
    X(slow_calls)                                                                                  \
    X(long_delays)                                                                                 \
    X(delay_sum_ns)                                                                                \
    X(delay_p50_ns)                                                                                \
    X(delay_p99_ns)                                                                                \
    X(delay_max_ns)                                                                                \
    X(queue_max)                                                                                   \
    X(queue_area) /* of the length over time: ns times entries */                                  \
    X(queue_span_ns)                                                                               \
    X(graph_launches)                                                                              \
    X(graph_per_step)                                                                              \
    X(sequences) /* different ones */                                                              \
    X(sequences_left_out)                                                                          \
    X(ranges)         /* of hardware counters */                                                   \
    X(range_launches) /* of kernels, where there are ranges */                                     \
    X(copies)                                                                                      \
    X(copies_ns)                                                                                   \
    X(path_ns)                                                                                     \
    X(outliers)                                                                                    \
    X(unfinished)

typedef enum pt_fact {
#define PT_I_FACT(name) PT_FACT_##name,
    PT_FACT_LIST(PT_I_FACT)
#undef PT_I_FACT
        PT_FACTS
} pt_fact_t;

/* Where a rank's number comes from. */
typedef enum pt_rank_source {
    PT_RANK_OF_MAP,
    PT_RANK_OF_DISTRIBUTED,
    PT_RANK_OF_HEADER,
    PT_RANK_OF_EVENTS,
    PT_RANK_OF_NAME,
    PT_RANK_MADE_UP
} pt_rank_source_t;

/* X(name, columns): a column is NAME:KIND, i an integer, t a text, d a double. */
#define PT_RESULT_TABLE_LIST(X)                                                                    \
    X(unfinished, "name:t cat:t start_ns:i dur_ns:i")                                              \
    X(phases, "ph:t count:i")                                                                      \
    X(names, "name:t cat:t kind:i class:t group:i count:i total_ns:i min_ns:i max_ns:i")           \
    X(streams, "device:t stream:t work:i time_ns:i busy_ns:i first_ns:i last_ns:i compute_ns:i "   \
               "communication_ns:i memory_ns:i idle_host_ns:i idle_kernel_ns:i idle_other_ns:i")   \
    X(gaps, "start_ns:i dur_ns:i cause:t cause_cat:t")                                             \
    X(graphs, "start_ns:i dur_ns:i")                                                               \
    X(steps, "step:i name:t start_ns:i dur_ns:i busy_ns:i compute_ns:i communication_ns:i "        \
             "memory_ns:i")                                                                        \
    X(parts, "step_row:i name:t dur_ns:i")                                                         \
    X(collectives, "group:t name:t seq:i ordinal:i start_ns:i dur_ns:i bytes:i group_size:i")      \
    X(transfers, "kind:t count:i bytes:i known_ns:i total_ns:i best_rate:i")                       \
    X(sequences, "op:t kernels:t length:i count:i device_ns:i host_ns:i")                          \
    X(operator_counters, "op:t top:t stack:t kernel:t counter:t count:i min:d max:d sum:d")        \
    X(counters, "process:t name:t count:i min:d max:d sum:d last:d")                               \
    X(samples, "counter_row:i bin:i mean:d")                                                       \
    X(bins, "bin:i busy_ns:i compute_ns:i communication_ns:i memory_ns:i queue_max:i")             \
    X(path, "kind:t name:t count:i total_ns:i")                                                    \
    X(clock_readings, "ref:i mono_ns:i ref_ns:i error_ns:i")                                       \
    X(clock_pairs, "ts:i mono_ns:i epoch_ns:i")                                                    \
    X(sync_marks, "id:i ts:i")

typedef enum pt_result_table {
#define PT_I_TABLE(name, columns) PT_RT_##name,
    PT_RESULT_TABLE_LIST(PT_I_TABLE)
#undef PT_I_TABLE
        PT_RTS
} pt_result_table_t;

#define PT_RESULT_COLUMNS_MAX 13U

typedef struct pt_cells {
    int64_t *cell; /* row after row; a text is its number in texts, a double its bits */
    size_t count, cap;
} pt_cells_t;

/* X(name): texts of a result besides those of the store. */
#define PT_RESULT_TEXT_LIST(X)                                                                     \
    X(file)                                                                                        \
    PT_STORE_TEXT_LIST(X)

typedef struct pt_rank_result {
    int64_t fact[PT_FACTS];
    pt_names_t texts;
    pt_cells_t table[PT_RTS];
#define PT_I_RESULT_TEXT(name) uint32_t name;
    PT_RESULT_TEXT_LIST(PT_I_RESULT_TEXT)
#undef PT_I_RESULT_TEXT
    perftrace__strbuf_t problems; /* JSON array of what was wrong with the file */
    bool failed;                  /* out of memory */
    /* Set by pt_results_align; not written. */
    bool aligned;
    pt_clock_out_t clock;
} pt_rank_result_t;

typedef struct pt_results {
    pt_rank_result_t *result;
    size_t count, cap;
    const pt_number_ranges_t *chosen; /* the ranks that were asked for; NULL: all of the world */
} pt_results_t;

void pt_result_init(pt_rank_result_t *result);
void pt_result_free(pt_rank_result_t *result); /* accepts NULL */
/* A new one at the end; NULL without memory. */
pt_rank_result_t *pt_results_add(pt_results_t *results);
/* Sorts by rank, then by role and file. */
void pt_results_sort(pt_results_t *results);
void pt_results_free(pt_results_t *results); /* accepts NULL; usable again */

/* Adds a row of as many cells as the table has columns. */
void pt_result_row(pt_rank_result_t *result, pt_result_table_t table, const int64_t *cells);
size_t pt_result_columns(pt_result_table_t table);
size_t pt_result_rows(const pt_rank_result_t *result, pt_result_table_t table);
const int64_t *pt_result_at(const pt_rank_result_t *result, pt_result_table_t table, size_t row);
const char *pt_result_table_name(pt_result_table_t table);
/* Column `index` of a table: its name's length, the name, and its kind. */
const char *pt_result_column(pt_result_table_t table, size_t index, size_t *ret_len,
                             char *ret_kind);
/* A text as a cell, and back. */
int64_t pt_result_text(pt_rank_result_t *result, pt_str_t text);
pt_str_t pt_result_text_of(const pt_rank_result_t *result, int64_t cell);
int64_t pt_cell_of_double(double v);
double pt_cell_double(int64_t cell);
/* A fact in its unit as a double; NAN: not recorded. */
double pt_result_fact(const pt_rank_result_t *result, pt_fact_t fact);
const char *pt_fact_name(pt_fact_t fact);

#endif
