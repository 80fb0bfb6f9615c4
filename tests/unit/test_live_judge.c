/* test_live_judge.c: who is stuck, and who waits for whom. SPDX-License-Identifier: MIT */
#include "live_comm.h"
#include "live_history.h"
#include "live_judge.h"
#include "live_state.h"
#include "live_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND ((uint64_t)1000000000)

static const pt_live_rules_t usual = {NULL, NULL};

/* A process of run "run" whose first thread is in these scopes, the last NULL. */
static pt_live_process_t *add(pt_live_model_t *m, int32_t rank, int32_t world,
                              const char *const *scopes, uint64_t still_s) {
    pt_live_process_t *p = pt_live_model_add(m);
    assert_non_null(p);
    p->ring = strdup("ring");
    p->trace = strdup("run/traces.jsonl");
    p->run = strdup("run");
    p->role = strdup("");
    p->host = strdup("host");
    p->run_id = strdup("");
    p->rank = rank;
    p->world_size = world;
    p->pid = (uint32_t)(1000 + rank);
    p->rate = NAN;
    p->thread = calloc(1, sizeof *p->thread);
    p->threads = 1;
    pt_live_thread_t *t = &p->thread[0];
    *t = (pt_live_thread_t){.tid = p->pid, .whole = true, .still_known = true};
    t->still_ns = still_s * SECOND;
    t->rate = NAN;
    t->scope = calloc(8, sizeof *t->scope);
    for (; scopes[t->scopes] != NULL; t->scopes++) {
        pt_live_scope_t *s = &t->scope[t->scopes];
        s->name = strdup(scopes[t->scopes]);
        s->category = strdup("compute");
        s->age_ns = still_s * SECOND;
        s->comm = pt_live_comm_of(&usual, s->name, s->category);
    }
    return p;
}

static const char *const waiting[] = {"step", "all_reduce", NULL};
static const char *const deeper[] = {"all_reduce", "copy", NULL};
static const char *const elsewhere[] = {"step", "load", NULL};
static const char *const nowhere[] = {NULL};

static pt_live_verdict_t judge(pt_live_model_t *m) {
    pt_live_judge_options_t o = {60 * SECOND, false};
    pt_live_verdict_t v;
    pt_live_model_sort(m);
    pt_live_judge(m, &o, &v);
    assert_false(v.failed);
    return v;
}

static void stuck_is_what_does_not_move(void **state) {
    (void)state;
    static const struct {
        uint64_t still;
        bool moved, whole, main_only, other_thread, open, expected;
        pt_live_state_t state;
    } cases[] = {
        {60, false, true, false, false, true, true, PT_LIVE_RUNNING},
        {59, false, true, false, false, true, false, PT_LIVE_RUNNING},
        {60, true, true, false, false, true, false, PT_LIVE_RUNNING},
        {60, false, false, false, false, true, false, PT_LIVE_RUNNING},
        {60, false, true, true, false, true, true, PT_LIVE_RUNNING},
        {60, false, true, true, true, true, false, PT_LIVE_RUNNING},
        {60, false, true, false, true, true, true, PT_LIVE_RUNNING},
        {60, false, true, false, false, false, false, PT_LIVE_RUNNING},
        {60, false, true, false, false, true, true, PT_LIVE_STOPPED},
        {60, false, true, false, false, true, true, PT_LIVE_UNSEEN},
        {60, false, true, false, false, true, false, PT_LIVE_DEAD},
        {60, false, true, false, false, true, false, PT_LIVE_ENDED},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_live_process_t p = {.pid = 5, .state = cases[i].state};
        pt_live_thread_t t = {.tid = cases[i].other_thread ? 6 : 5,
                              .scopes = cases[i].open,
                              .whole = cases[i].whole,
                              .moved = cases[i].moved,
                              .still_ns = cases[i].still * SECOND};
        pt_live_judge_options_t o = {60 * SECOND, cases[i].main_only};
        assert_int_equal(pt_live_is_stuck(&p, &t, &o), cases[i].expected);
    }
}

static void the_missing_are_named(void **state) {
    (void)state;
    pt_live_model_t m = {0};
    add(&m, 4, 7, nowhere, 100);
    add(&m, 0, 7, waiting, 100);
    add(&m, 2, 7, elsewhere, 100);
    add(&m, 1, 7, deeper, 90);
    add(&m, 3, 7, waiting, 10);
    pt_live_verdict_t v = judge(&m);
    assert_int_equal(v.waits, 1);
    const pt_live_wait_t *w = &v.wait[0];
    assert_string_equal(w->name, "all_reduce");
    assert_true(w->stuck && w->world_known);
    assert_int_equal(w->longest_ns / SECOND, 100);
    assert_int_equal(w->waitings, 3);
    const int32_t there[] = {0, 1, 3}, missing[] = {2, 4, 5}, last[] = {2, 4, 6};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(m.process[w->waiting[i].process].rank, there[i]);
    }
    assert_int_equal(w->missings, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(w->missing[i].rank, missing[i]);
        assert_int_equal(w->missing[i].last, last[i]);
        assert_int_equal(w->missing[i].process == SIZE_MAX, i >= 2);
    }
    assert_int_equal(m.process[w->missing[0].process].rank, 2);
    assert_int_equal(v.stucks, 3); /* 0, 1 and 2; 3 has just come, 4 is in nothing */
    pt_live_verdict_free(&v);
    pt_live_model_free(&m);
}

static void other_steps_are_other_collectives(void **state) {
    (void)state;
    pt_live_model_t m = {0};
    for (int32_t rank = 0; rank < 4; rank++) {
        pt_live_scope_t *s = &add(&m, rank, 4, waiting, 80)->thread[0].scope[1];
        s->has_step = rank != 3;
        s->step = rank == 1 ? 6 : 7;
    }
    pt_live_verdict_t v = judge(&m);
    assert_int_equal(v.waits, 3); /* step 6, step 7, no step */
    for (size_t i = 0; i < v.waits; i++) {
        assert_int_equal(v.wait[i].waitings + v.wait[i].missings, 4);
        assert_int_equal(v.wait[i].waitings, v.wait[i].has_step && v.wait[i].step == 7 ? 2 : 1);
    }
    pt_live_verdict_free(&v);
    pt_live_model_free(&m);
}

static void of_several_processes_of_a_rank_the_living_one_counts(void **state) {
    (void)state;
    pt_live_model_t m = {0};
    add(&m, 0, 2, waiting, 80);
    pt_live_process_t *dead = add(&m, 1, 2, elsewhere, 80);
    dead->state = PT_LIVE_DEAD;
    dead->pid = 1;
    add(&m, 1, 2, nowhere, 80)->pid = 2;
    pt_live_verdict_t v = judge(&m);
    assert_int_equal(v.waits, 1);
    assert_int_equal(v.wait[0].missings, 1);
    assert_int_equal(m.process[v.wait[0].missing[0].process].pid, 2);
    pt_live_verdict_free(&v);
    /* A dead one waits for nobody; once it was there, it is missing now. */
    m.process[0].state = PT_LIVE_DEAD;
    v = judge(&m);
    assert_int_equal(v.waits, 0);
    pt_live_verdict_free(&v);
    pt_live_model_free(&m);
}

static void worlds_of_any_size(void **state) {
    (void)state;
    static const struct {
        int32_t world;
        size_t missings; /* 3 and INT32_MAX were seen; 1-2 and what follows are not */
        int32_t last;    /* of the run behind 3; -1: there is none */
    } cases[] = {{0, 2, -1}, {-5, 2, -1}, {2, 3, -1},
                 {4, 3, -1}, {9, 4, 8},   {INT32_MAX, 4, INT32_MAX - 1}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        pt_live_model_t m = {0};
        add(&m, 0, cases[i].world, waiting, 80);
        add(&m, 3, cases[i].world, elsewhere, 80);
        add(&m, -1, cases[i].world, elsewhere, 80);
        add(&m, INT32_MAX, cases[i].world, elsewhere, 80);
        pt_live_verdict_t v = judge(&m);
        assert_int_equal(v.waits, 1);
        const pt_live_wait_t *w = &v.wait[0];
        assert_int_equal(w->world_known, cases[i].world > 0);
        assert_int_equal(w->missings, cases[i].missings);
        assert_int_equal(w->missing[w->missings - 1].rank, INT32_MAX);
        if (cases[i].last >= 0) {
            assert_int_equal(w->missing[2].rank, 4);
            assert_int_equal(w->missing[2].last, cases[i].last);
        }
        pt_live_verdict_free(&v);
        pt_live_model_free(&m);
    }
}

static void operations_have_many_spellings(void **state) {
    (void)state;
    static const struct {
        const char *name;
        pt_live_comm_t comm;
    } cases[] = {
        {"allreduce", PT_LIVE_COMM_COLLECTIVE},
        {"all_reduce", PT_LIVE_COMM_COLLECTIVE},
        {"AllReduce", PT_LIVE_COMM_COLLECTIVE},
        {"ncclAllReduce", PT_LIVE_COMM_COLLECTIVE},
        {"nccl:all_reduce", PT_LIVE_COMM_COLLECTIVE},
        {"MPI_Allreduce", PT_LIVE_COMM_COLLECTIVE},
        {"dist.all_gather_into_tensor", PT_LIVE_COMM_COLLECTIVE},
        {"c10d::allreduce_", PT_LIVE_COMM_COLLECTIVE},
        {"train/grad/reduce-scatter", PT_LIVE_COMM_COLLECTIVE},
        {"barrier", PT_LIVE_COMM_COLLECTIVE},
        {"ncclSend", PT_LIVE_COMM_PEER},
        {"dist.irecv", PT_LIVE_COMM_PEER},
        {"sender", PT_LIVE_COMM_NONE},
        {"broadcast_config", PT_LIVE_COMM_NONE},
        {"allreduce.wait", PT_LIVE_COMM_NONE},
        {"", PT_LIVE_COMM_NONE},
        {"mpi", PT_LIVE_COMM_NONE},
        {"a name that is longer than any operation has it reduce", PT_LIVE_COMM_NONE},
        {"a-very-long-path-of-names-before-it-there-is/reduce", PT_LIVE_COMM_COLLECTIVE},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        assert_int_equal(pt_live_comm_of(&usual, cases[i].name, "misc"), cases[i].comm);
    }
    pt_string_list_t names = PT_STRING_LIST_INIT, categories = PT_STRING_LIST_INIT;
    assert_true(pt_string_list_add(&names, "sync_*"));
    assert_true(pt_string_list_add(&categories, "net"));
    pt_live_rules_t more = {&names, &categories};
    assert_int_equal(pt_live_comm_of(&more, "sync_7", "misc"), PT_LIVE_COMM_COLLECTIVE);
    assert_int_equal(pt_live_comm_of(&more, "Sync_7", "misc"), PT_LIVE_COMM_NONE);
    assert_int_equal(pt_live_comm_of(&more, "x", "net"), PT_LIVE_COMM_COLLECTIVE);
    assert_int_equal(pt_live_comm_of(&usual, "x", "comm"), PT_LIVE_COMM_COLLECTIVE);
    assert_int_equal(pt_live_comm_of(&usual, "recv", "comm"), PT_LIVE_COMM_PEER);
    pt_string_list_free(&names);
    pt_string_list_free(&categories);
}

static void the_front_thread(void **state) {
    (void)state;
    pt_live_scope_t scope[3] = {{.age_ns = 5}, {.age_ns = 9}, {.age_ns = 1}};
    pt_live_thread_t thread[3] = {{.tid = 8, .scope = &scope[0], .scopes = 1},
                                  {.tid = 9, .scope = &scope[1], .scopes = 1},
                                  {.tid = 7, .scope = &scope[2], .scopes = 1}};
    pt_live_process_t p = {.pid = 7, .thread = thread, .threads = 3};
    assert_int_equal(pt_live_process_front(&p)->tid, 7); /* its first one */
    thread[2].scopes = 0;
    assert_int_equal(pt_live_process_front(&p)->tid, 9);
    p.threads = 0;
    assert_null(pt_live_process_front(&p));
}

static void a_name_may_hold_anything_before_the_state(void **state) {
    (void)state;
    assert_int_equal(pt_live_state_letter("71 (worker) T 1 71"), 'T');
    assert_int_equal(pt_live_state_letter("71 (a) R (b) S 1"), 'S');
    assert_int_equal(pt_live_state_letter("71 (worker"), 0);
    assert_int_equal(pt_live_state_letter("71 (worker)"), 0);
    assert_int_equal(pt_live_state_letter(""), 0);
}

static void history_is_by_slot_and_generation(void **state) {
    (void)state;
    pt_live_history_t h = PT_LIVE_HISTORY_INIT;
    for (uint32_t i = 0; i < 300; i++) {
        pt_live_seen_key_t key = {1, 2, i, i % 7};
        pt_live_seen_t seen = {.word = i};
        assert_true(pt_live_history_put(&h, &key, &seen));
    }
    for (uint32_t i = 0; i < 300; i++) {
        pt_live_seen_key_t key = {1, 2, i, i % 7};
        assert_int_equal(pt_live_history_get(&h, &key)->word, i);
        key.generation++;
        assert_null(pt_live_history_get(&h, &key));
    }
    pt_live_history_free(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stuck_is_what_does_not_move),
        cmocka_unit_test(the_missing_are_named),
        cmocka_unit_test(other_steps_are_other_collectives),
        cmocka_unit_test(of_several_processes_of_a_rank_the_living_one_counts),
        cmocka_unit_test(worlds_of_any_size),
        cmocka_unit_test(operations_have_many_spellings),
        cmocka_unit_test(the_front_thread),
        cmocka_unit_test(a_name_may_hold_anything_before_the_state),
        cmocka_unit_test(history_is_by_slot_and_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
