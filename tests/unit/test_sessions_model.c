/* test_sessions_model.c: from records to sessions, runs and tasks. SPDX-License-Identifier: MIT */
#include "sessions_util.h"

#include <math.h>

#define COUNT(book, name) pt_problems_count((book), PT_SESSION_PROBLEM_##name)

/* One file of lines. */
static void load(pt_session_model_t *m, pt_problems_t *book, const char *text) {
    load_files(m, book, &text, 1, true);
}

static void cells_hold_what_was_recorded(void **state) {
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load(&m, book,
         "{\"session_id\": 1, \"rank\": 0, \"status\": \"accepted\", \"submit_ts\": 100, "
         "\"finalized_ts\": 110, \"phases\": {\"zeta\": [{\"start_ts\": 101, \"end_ts\": 104}, "
         "{\"start_ts\": 103, \"end_ts\": 105}, {\"start_ts\": 108, \"end_ts\": null}], "
         "\"generate\": [{\"start_ts\": 106, \"end_ts\": 107}], \"empty\": []}}\n");
    assert_int_equal(m.rows, 1);
    const pt_session_row_t *row = &m.row[0];
    assert_true(row->total == 10 && row->queue == 1);
    assert_true(row->busy == 5); /* 101 to 105 and 106 to 107 */
    assert_int_equal(row->cells, 2);
    assert_true(name_is(&m, PT_NAMES_PHASE, 0, "generate"));
    const pt_session_cell_t *zeta = &m.cell[row->first_cell];
    assert_true(name_is(&m, PT_NAMES_PHASE, zeta->phase, "zeta"));
    assert_true(zeta->seconds == 5 && zeta->spans == 3 && zeta->open == 1);
    assert_ptr_equal(pt_session_cell_of(&m, row, 0), &m.cell[row->first_cell + 1]);
    assert_int_equal(m.opens, 1);
    assert_true(m.open[0].start == 108 && m.open[0].row == 0);
    assert_int_equal(COUNT(book, OPEN_SPAN), 1);
    assert_int_equal(row->line, 1);
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void negative_durations_are_not_recorded(void **state) {
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load(&m, book,
         "{\"session_id\": 1, \"rank\": 0, \"status\": \"a\", \"submit_ts\": 100, "
         "\"finalized_ts\": 90, "
         "\"generate_s\": -2, \"phases\": {\"reward\": [{\"start_ts\": 99, \"end_ts\": 95}]}}\n");
    const pt_session_row_t *row = &m.row[0];
    assert_true(isnan(row->total) && isnan(row->queue));
    assert_int_equal(row->cells, 1);
    assert_true(isnan(m.cell[0].seconds) && m.cell[0].spans == 1);
    assert_int_equal(COUNT(book, NEGATIVE), 4); /* total, queue, generate, the span of reward */
    pt_session_model_free(&m);
    pt_problems_free(book);
}

#define RECORD(id, rank, submit, more)                                                             \
    "{\"task_id\": 1, \"session_id\": " #id ", \"rank\": " #rank                                   \
    ", \"status\": \"accepted\", \"submit_ts\": " #submit more "}\n"

static void records_given_twice_count_once(void **state) {
    static const char *const files[] = {
        RECORD(0, 0, 100.5, ", \"finalized_ts\": 101") RECORD(1, 0, 100.6, "")
            RECORD(2, 0, 100.7, ", \"finalized_ts\": 103"),
        RECORD(0, 0, 100.5, ", \"finalized_ts\": 101")
            RECORD(1, 0, 100.6, ", \"finalized_ts\": 102")
                RECORD(2, 0, 100.7, ", \"finalized_ts\": 102.5") RECORD(2, 1, 100.7, "")};
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load_files(&m, book, files, 2, true);
    assert_int_equal(m.records, 7);
    assert_int_equal(m.rows, 4);
    assert_int_equal(m.runs, 1);
    assert_int_equal(COUNT(book, DUPLICATE), 1);
    assert_int_equal(COUNT(book, CONFLICT), 2);
    /* The one that ended later is kept, wherever it stood. */
    assert_true(m.row[1].session == 2 && m.row[1].finalized == 103);
    assert_true(m.row[2].session == 1 && m.row[2].finalized == 102);
    assert_int_equal(m.pendings, 1);
    assert_int_equal(m.pending[0].row, 3);
    assert_int_equal(m.tasks, 2); /* task 1 of rank 0 and of rank 1 */
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void ids_that_start_again_are_another_run(void **state) {
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    /* Rank 0 is restarted; of the first life 0 and 1 are lost. Records come in no order. */
    load(&m, book,
         RECORD(3, 0, 103, "") RECORD(2, 0, 102, "") RECORD(4, 0, 104, "") RECORD(0, 0, 200, "")
             RECORD(2, 0, 202, "") RECORD(1, 0, 201, "") RECORD(9, 0, 209, "") RECORD(0, 1, 100, "")
                 RECORD(0, 1, 200.5, "") RECORD(5, 2, 100, ""));
    assert_int_equal(m.rows, 10);
    assert_int_equal(m.runs, 2);
    assert_int_equal(m.run[0].rows, 5);
    assert_int_equal(m.run[1].rows, 5);
    static const unsigned run[] = {0, 0, 0, 1, 1, 1, 1, 0, 1, 0};
    for (size_t i = 0; i < m.rows; i++) {
        assert_int_equal(m.row[i].run, run[i]);
    }
    assert_int_equal(COUNT(book, RESTART), 2);
    assert_true(m.run[1].first == 200 && m.run[1].last == 209);
    assert_int_equal(m.tasks, 5); /* task 1 of each rank and run */
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void run_ids_tell_runs_apart(void **state) {
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    /* Ids that the ranks share; rank 1 has lost its first run. */
    load(&m, book,
         RECORD(0, 0, 100, ", \"run_id\": \"a\"") RECORD(0, 0, 200, ", \"run_id\": \"b\"")
             RECORD(7, 1, 201, ", \"run_id\": \"b\"") RECORD(1, 2, 101, ", \"run_id\": \"a\""));
    assert_int_equal(m.runs, 2);
    assert_int_equal(m.row[2].run, 1);
    assert_int_equal(COUNT(book, RESTART), 0);
    assert_true(name_is(&m, PT_NAMES_RUN_ID, m.run[1].run_id, "b"));
    pt_session_model_free(&m);
    /* Ids that each rank made up: the n-th of each are one run. */
    load(&m, book,
         RECORD(0, 0, 100, ", \"run_id\": \"a\"") RECORD(0, 1, 101, ", \"run_id\": \"c\"")
             RECORD(0, 0, 200, ", \"run_id\": \"b\"") RECORD(7, 1, 201, ", \"run_id\": \"d\""));
    assert_int_equal(m.runs, 2);
    static const unsigned run[] = {0, 0, 1, 1};
    for (size_t i = 0; i < m.rows; i++) {
        assert_int_equal(m.row[i].run, run[i]);
    }
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void clocks_are_kept_apart(void **state) {
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load(&m, book,
         RECORD(0, 0, 1760000000, "") RECORD(1, 0, 7939251.5, "") RECORD(2, 0, 1760000001, "")
             RECORD(3, 1, 7939252.5, ""));
    assert_int_equal(m.runs, 2);
    assert_false(m.run[0].mono);
    assert_true(m.run[1].mono);
    assert_int_equal(m.run[0].rows, 2);
    assert_int_equal(COUNT(book, MIXED_CLOCKS), 2);
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void files_without_ranks_are_writers_of_their_own(void **state) {
    static const char *const files[] = {RECORD(0, null, 100, "") RECORD(1, null, 101, ""),
                                        RECORD(0, null, 100.5, "") RECORD(1, null, 101.5, "")};
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load_files(&m, book, files, 2, true);
    assert_int_equal(m.rows, 4);
    assert_int_equal(m.runs, 1);
    assert_int_equal(COUNT(book, NO_RANK), 4);
    assert_int_equal(COUNT(book, RESTART), 0);
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void damage_costs_only_itself(void **state) {
    static const char *const text =
        "\xEF\xBB\xBF" RECORD(0, 0, 100, "") "{\"session_id\": 1, \"stat\n" RECORD(
            2, 0, 102, "") "\n  \n[1]\n{\"ph\": \"X\", \"name\": \"e\"}\n{\"a\": 1}\n"
                           "{\"session_id\": 3, \"status\": \"a\"}\r\n"
                           "{\"session_id\": 4, \"status\": \"a\"} {\"session_id\": 5, \"status\": "
                           "\"a\"} junk\n"
                           "{\"session_id\": 6, \"status\": \"a\"";
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load(&m, book, text);
    assert_int_equal(m.rows, 5);
    assert_int_equal(m.row[4].line, 10);
    assert_int_equal(pt_problems_count(book, PERFTRACE__JSON_REPAIR_INDEX_BYTE_ORDER_MARK), 1);
    assert_int_equal(COUNT(book, DAMAGED), 2);
    assert_int_equal(COUNT(book, BLANK_LINE), 1);
    assert_int_equal(COUNT(book, NOT_OBJECT), 1);
    assert_int_equal(COUNT(book, TRACE_EVENT), 1);
    assert_int_equal(COUNT(book, NOT_SESSION), 1);
    assert_int_equal(COUNT(book, CR_LINE), 1);
    assert_int_equal(COUNT(book, TWO_RECORDS), 1);
    assert_int_equal(COUNT(book, EXTRA_BYTES), 1);
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void records_may_lie_over_lines_or_in_an_array(void **state) {
    static const char *const text = "[\n{\n  \"session_id\": 0,\n  \"status\": \"a\"},\n"
                                    "{\"session_id\": 1, \"status\": tru}, "
                                    "{\"session_id\": 2, \"status\": \"a\"}\n]\n"
                                    "{\n  \"session_id\": 3,\n  \"phases\": {\"a\": [\n"
                                    "{\n  \"session_id\": 4, \"status\": \"a\"\n}\n";
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load_files(&m, book, &text, 1, false);
    assert_int_equal(m.rows, 3);
    assert_int_equal(m.row[0].line, 2);
    assert_int_equal(m.row[1].line, 5);
    assert_int_equal(m.row[2].session, 4);
    assert_int_equal(m.row[2].line, 10); /* the line of its brace */
    assert_int_equal(COUNT(book, DAMAGED), 2);
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void names_are_in_the_order_of_the_reference(void **state) {
    static const char *const phases[] = {"generate", "reward", "toolcall", "a2", "a10", "zeta"};
    static const char *const statuses[] = {"accepted", "failed", "pending", "odd", ""};
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    load(
        &m, book,
        "{\"session_id\": 0, \"status\": \"odd\", \"zeta_s\": 1, \"a10_s\": 1, \"toolcall_s\": 2}\n"
        "{\"session_id\": 1, \"status\": null, \"a2_s\": 1, \"reward_s\": 1, \"generate_s\": 3}\n"
        "{\"session_id\": 2, \"status\": \"pending\"}\n{\"session_id\": 3, \"status\": "
        "\"failed\"}\n"
        "{\"session_id\": 4, \"status\": \"accepted\"}\n");
    for (uint32_t i = 0; i < PT_ARRAY_LEN(phases); i++) {
        assert_true(name_is(&m, PT_NAMES_PHASE, i, phases[i]));
    }
    for (uint32_t i = 0; i < PT_ARRAY_LEN(statuses); i++) {
        assert_true(name_is(&m, PT_NAMES_STATUS, i, statuses[i]));
    }
    assert_true(name_is(&m, PT_NAMES_STATUS, m.row[0].status, "odd"));
    assert_true(pt_session_cell_of(&m, &m.row[0], 2)->seconds == 2);
    assert_null(pt_session_cell_of(&m, &m.row[0], 0));
    pt_session_model_free(&m);
    pt_problems_free(book);
}

static void many_names_share_one(void **state) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    (void)state;
    for (unsigned i = 0; i < 1500; i++) {
        perftrace__strbuf_printf(&text, "{\"session_id\": %u, \"status\": \"s%u\"}\n", i, i);
    }
    load(&m, book, text.data);
    assert_int_equal(m.rows, 1500);
    assert_int_equal(m.names[PT_NAMES_STATUS].count, 1001);
    assert_true(pt_name_table_find(&m.names[PT_NAMES_STATUS], (pt_name_t){"(others)", 8}) !=
                PT_NO_NAME);
    pt_session_model_free(&m);
    perftrace__strbuf_free(&text);
    pt_problems_free(book);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_what_was_recorded),
        cmocka_unit_test(negative_durations_are_not_recorded),
        cmocka_unit_test(records_given_twice_count_once),
        cmocka_unit_test(ids_that_start_again_are_another_run),
        cmocka_unit_test(run_ids_tell_runs_apart),
        cmocka_unit_test(clocks_are_kept_apart),
        cmocka_unit_test(files_without_ranks_are_writers_of_their_own),
        cmocka_unit_test(damage_costs_only_itself),
        cmocka_unit_test(records_may_lie_over_lines_or_in_an_array),
        cmocka_unit_test(names_are_in_the_order_of_the_reference),
        cmocka_unit_test(many_names_share_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
