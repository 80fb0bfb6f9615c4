/* test_analyze_results.c: results written, read and put in order. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "rank_order.h"
#include "result_json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A result whose every cell is random, but for what refers to other tables. */
static void make(uint64_t *seed, pt_rank_result_t *r, int64_t rank) {
    static const char *const words[] = {"", "a", "\"quoted\"\\", "\xC3\xA9\n\x01", "gemm<float>"};
    for (unsigned f = 0; f < PT_FACTS; f++) {
        r->fact[f] =
            base_random_below(seed, 4) == 0 ? PT_NOT_RECORDED : (int64_t)(base_random(seed) >> 1);
    }
    r->fact[PT_FACT_rank] = rank;
    r->fact[PT_FACT_rank_source] = PT_RANK_OF_HEADER;
    r->file = pt_names_add_cstr(&r->texts, "file.json");
    for (unsigned t = 0; t < PT_RTS; t++) {
        pt_result_table_t table = (pt_result_table_t)t;
        for (unsigned row = 0; row < 5; row++) {
            int64_t cell[PT_RESULT_COLUMNS_MAX];
            for (size_t c = 0; c < pt_result_columns(table); c++) {
                size_t len;
                char kind;
                (void)pt_result_column(table, c, &len, &kind);
                const char *word = words[base_random_below(seed, PT_ARRAY_LEN(words))];
                double d = (double)(int64_t)base_random(seed) / 3e7;
                cell[c] = kind == 't'   ? (int64_t)pt_names_add_cstr(&r->texts, word)
                          : kind == 'd' ? pt_cell_of_double(d)
                                        : (int64_t)(base_random(seed) % 5);
            }
            /* Counts that means are made of are not 0. */
            cell[5 % pt_result_columns(table)] +=
                table == PT_RT_names || table == PT_RT_operator_counters;
            cell[2 % pt_result_columns(table)] += table == PT_RT_sequences;
            cell[3 % pt_result_columns(table)] += table == PT_RT_sequences;
            pt_result_row(r, table, cell);
        }
    }
}

static void what_is_written_is_read_again(void **state) {
    uint64_t seed = 11;
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, again = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
        pt_results_t l = {.result = NULL}, read = {.result = NULL};
        for (int64_t rank = 0; rank < 3; rank++) {
            make(&seed, pt_results_add(&l), rank);
        }
        pt_results_write(&l, &text);
        assert_true(pt_results_is(text.data, text.len));
        assert_true(pt_results_read(&read, text.data, text.len, &problem));
        assert_int_equal(read.count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_memory_equal(read.result[i].fact, l.result[i].fact, sizeof l.result[i].fact);
        }
        pt_results_write(&read, &again);
        assert_int_equal(again.len, text.len);
        assert_memory_equal(again.data, text.data, text.len);
        /* Cut off anywhere it is refused, with a sentence. */
        size_t cut = base_random_below(&seed, (uint32_t)text.len - 3);
        pt_results_free(&read);
        assert_false(pt_results_read(&read, text.data, cut, &problem));
        assert_true(problem.len > 0);
        pt_results_free(&l);
        pt_results_free(&read);
        perftrace__strbuf_free(&text);
        perftrace__strbuf_free(&again);
        perftrace__strbuf_free(&problem);
    }
}

static pt_rank_result_t *with(pt_results_t *l, const char *file, int64_t rank) {
    pt_rank_result_t *r = pt_results_add(l);
    r->file = pt_names_add_cstr(&r->texts, file);
    r->fact[PT_FACT_rank] = rank;
    r->fact[PT_FACT_rank_source] =
        rank == PT_NOT_RECORDED ? PT_RANK_MADE_UP : PT_RANK_OF_DISTRIBUTED;
    return r;
}

static void ranks_are_given_and_missing_ones_found(void **state) {
    pt_results_t l = {.result = NULL};
    pt_rank_twins_t twins;
    perftrace__strbuf_t missing = PERFTRACE__STRBUF_INIT;
    size_t made_up;
    (void)state;
    with(&l, "b10.json", PT_NOT_RECORDED);
    with(&l, "b9.json", PT_NOT_RECORDED);
    with(&l, "x-rank5.json", PT_NOT_RECORDED);
    with(&l, "y.json", 0)->fact[PT_FACT_world_size] = 8;
    pt_ranks_resolve(&l, NULL, &made_up, &twins);
    assert_int_equal(made_up, 2);
    assert_false(twins.found);
    /* 0 is taken; b9 stands before b10. */
    static const char *const files[] = {"y.json", "b9.json", "b10.json", "x-rank5.json"};
    static const int64_t ranks[] = {0, 1, 2, 5};
    for (size_t i = 0; i < 4; i++) {
        pt_str_t file = pt_names_get(&l.result[i].texts, l.result[i].file);
        assert_int_equal(file.len, strlen(files[i]));
        assert_memory_equal(file.p, files[i], file.len);
        assert_int_equal(l.result[i].fact[PT_FACT_rank], ranks[i]);
    }
    assert_int_equal(pt_ranks_world(&l), 8);
    assert_int_equal(pt_ranks_missing(&l, 2, &missing), 4);
    assert_string_equal(perftrace__strbuf_cstr(&missing), "3, 4, ...");
    perftrace__strbuf_free(&missing);
    pt_results_free(&l);
}

static void two_of_a_rank_are_found_unless_their_roles_differ(void **state) {
    pt_results_t l = {.result = NULL};
    pt_rank_twins_t twins;
    size_t made_up;
    (void)state;
    with(&l, "a.json", 1);
    with(&l, "b.json", 1);
    pt_ranks_resolve(&l, NULL, &made_up, &twins);
    assert_true(twins.found);
    l.result[1].role = pt_names_add_cstr(&l.result[1].texts, "actor");
    pt_ranks_resolve(&l, NULL, &made_up, &twins);
    assert_false(twins.found);
    pt_results_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(ranks_are_given_and_missing_ones_found),
        cmocka_unit_test(two_of_a_rank_are_found_unless_their_roles_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
