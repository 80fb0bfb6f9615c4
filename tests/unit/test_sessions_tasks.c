/* test_sessions_tasks.c: tasks and runs against a plain count. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "sessions_util.h"

#include <math.h>

#define FILES   5U
#define RECORDS 700U

static uint64_t state_of_random = 88172645463325252u;

static unsigned below(unsigned limit) {
    return base_random_below(&state_of_random, limit);
}

/* A task id: small, far apart, negative, the largest, a text, none. */
static void put_task(perftrace__strbuf_t *out, unsigned kinds) {
    unsigned id = below(40);
    switch (below(kinds)) {
    case 0:
    case 1:
        perftrace__strbuf_printf(out, "\"task_id\": %u, ", id);
        break;
    case 2:
        perftrace__strbuf_printf(out, "\"task_id\": \"%u\", ", id);
        break;
    case 3:
        perftrace__strbuf_printf(out, "\"task_id\": -%u, ", id + 1);
        break;
    case 4:
        perftrace__strbuf_printf(out, "\"task_id\": %llu, ", 1000ULL * id * id * id * id);
        break;
    case 5:
        perftrace__strbuf_printf(out, "\"task_id\": %lld, ",
                                 (long long)(999999999999999990 + id % 9));
        break;
    default:
        break;
    }
}

/* twice: ids may come again. */
static void put_file(perftrace__strbuf_t *out, unsigned file, unsigned kinds, bool twice) {
    for (unsigned i = 0; i < RECORDS; i++) {
        double submit = (file == 3 ? 1000 : 1.79e9) + below(100000) * 0.25;
        perftrace__strbuf_puts(out, "{");
        put_task(out, kinds);
        perftrace__strbuf_printf(out, "\"session_id\": %u, ", twice ? below(600) : i);
        if (file != 2) {
            perftrace__strbuf_printf(out, "\"rank\": %u, ", file == 4 ? i % 3 + 10 : file);
        }
        if (file == 4) {
            perftrace__strbuf_printf(out, "\"run_id\": \"%c\", ", "ab"[i / 200 % 2]);
        }
        perftrace__strbuf_printf(out, "\"role\": \"%s\", \"status\": \"%s\", \"submit_ts\": %.2f",
                                 i % 5 == 0 ? "eval" : "rollout",
                                 i % 3 == 0 ? "failed" : "accepted", submit);
        if (below(4) > 0) {
            perftrace__strbuf_printf(out, ", \"finalized_ts\": %.2f", submit + below(1000) * 0.25);
        }
        perftrace__strbuf_puts(out, "}\n");
    }
}

static bool same_item(const pt_session_row_t *a, const pt_session_row_t *b) {
    return a->task_id == b->task_id && a->rank == b->rank && a->run == b->run &&
           a->role == b->role && ((a->flags ^ b->flags) & PT_ROW_TASK_TEXT) == 0;
}

static void check_tasks(const pt_session_model_t *m) {
    size_t tasks = 0;
    for (uint32_t i = 0; i < m->rows; i++) {
        const pt_session_row_t *row = &m->row[i];
        if ((row->flags & PT_ROW_NO_TASK) != 0) {
            assert_true(row->task == PT_NO_TASK);
            continue;
        }
        uint32_t first = 0, rows = 0;
        while ((m->row[first].flags & PT_ROW_NO_TASK) != 0 || !same_item(&m->row[first], row)) {
            first++;
        }
        for (uint32_t j = 0; first == i && j < m->rows; j++) {
            rows += (m->row[j].flags & PT_ROW_NO_TASK) == 0 && same_item(&m->row[j], row);
        }
        assert_int_equal(row->task, first == i ? tasks : m->row[first].task);
        assert_int_equal(m->task[row->task].first_row, first);
        assert_true(first != i || m->task[row->task].rows == rows);
        tasks += first == i;
    }
    assert_int_equal(m->tasks, tasks);
}

static void check_runs(const pt_session_model_t *m) {
    for (size_t r = 0; r < m->runs; r++) {
        const pt_session_run_t *run = &m->run[r];
        double first = (double)INFINITY, last = (double)-INFINITY;
        uint32_t rows = 0;
        for (uint32_t i = 0; i < m->rows; i++) {
            const pt_session_row_t *row = &m->row[i];
            if (row->run == r) {
                rows++;
                first = fmin(first, row->submit);
                last = fmax(last, fmax(row->submit, row->finalized));
                assert_int_equal((row->flags & PT_ROW_MONO) != 0, run->mono);
            }
        }
        for (size_t i = 0; i < m->pendings; i++) {
            if (m->row[m->pending[i].row].run == r) {
                last = fmax(last, m->pending[i].last);
            }
        }
        assert_int_equal(run->rows, rows);
        assert_true(run->first == first && run->last == last);
    }
}

static void check_kinds(unsigned kinds, bool twice) {
    perftrace__strbuf_t text[FILES];
    const char *file[FILES];
    pt_session_model_t m;
    pt_problems_t *book = new_book();
    for (unsigned i = 0; i < FILES; i++) {
        text[i] = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
        put_file(&text[i], i, kinds, twice);
        file[i] = perftrace__strbuf_cstr(&text[i]);
    }
    load_files(&m, book, file, FILES, true);
    assert_true(m.runs >= 2 && m.rows <= FILES * RECORDS && (twice || m.rows == FILES * RECORDS));
    check_tasks(&m);
    check_runs(&m);
    pt_session_model_free(&m);
    pt_problems_free(book);
    for (unsigned i = 0; i < FILES; i++) {
        perftrace__strbuf_free(&text[i]);
    }
}

static void tasks_and_runs_are_those_of_their_rows(void **state) {
    (void)state;
    for (unsigned kinds = 1; kinds <= 7; kinds++) {
        check_kinds(kinds, false);
        check_kinds(kinds, true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_and_runs_are_those_of_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
