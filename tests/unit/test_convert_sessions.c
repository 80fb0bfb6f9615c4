/* test_convert_sessions.c: phases of a session on tracks that nest, and what is kept of sessions.
 * SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "live_sessions.h"
#include "track_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pt_str_t str(const char *text) {
    return (pt_str_t){text, strlen(text)};
}

static pt_track_mark_t mark(const char *name, int64_t ts, const char *args) {
    return (pt_track_mark_t){.ts = ts, .name = str(name), .args = str(args)};
}

/* ---- what came out, as one text ---- */

static char text[4096];

static void note(void *ctx, const pt_track_span_t *span, unsigned lane, bool is_end) {
    size_t len = strlen(text);
    (void)ctx;
    pt_str_t args = is_end ? span->end_args : span->begin_args;
    snprintf(text + len, sizeof text - len, "%s%.*s%c%lld/%u%.*s%s", len > 0 ? " " : "",
             (int)span->name.len, span->name.p, is_end ? '-' : '+',
             (long long)(is_end ? span->end : span->start), lane, (int)args.len, args.p,
             is_end && span->unfinished ? "!" : "");
}

static const char *take(pt_track_spans_t *s, int64_t start, int64_t end) {
    text[0] = '\0';
    assert_true(pt_track_spans_take(s, start, end, note, NULL));
    return text;
}

static void begin(pt_track_spans_t *s, const char *name, int64_t ts) {
    const pt_track_mark_t m = mark(name, ts, "");
    assert_int_equal(pt_track_spans_begin(s, &m, false), PT_TRACK_TOOK);
}

static void end(pt_track_spans_t *s, const char *name, int64_t ts, int64_t began) {
    const pt_track_mark_t m = mark(name, ts, "");
    assert_int_equal(pt_track_spans_end(s, &m, began), PT_TRACK_TOOK);
}

static void what_nests_shares_a_lane_and_what_crosses_does_not(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    (void)state;
    begin(&s, "outer", 10);
    begin(&s, "inner", 20);
    end(&s, "inner", 30, 20);
    assert_string_equal(take(&s, 0, INT64_MAX), "inner+20/0 inner-30/0");
    end(&s, "outer", 40, 10);
    assert_string_equal(take(&s, 0, INT64_MAX), "outer+10/0 outer-40/0");
    begin(&s, "a", 40);
    begin(&s, "c", 50);
    begin(&s, "b", 50);
    end(&s, "a", 60, 40);
    end(&s, "c", 65, 50);
    end(&s, "b", 70, 50);
    assert_string_equal(take(&s, 0, INT64_MAX), "a+40/0 b+50/1 c+50/1 a-60/0 c-65/1 b-70/1");
    /* The session itself is the floor of its track. */
    begin(&s, "before", 75);
    end(&s, "before", 90, 75);
    begin(&s, "after", 90);
    end(&s, "after", 101, 90);
    assert_string_equal(take(&s, 80, 100), "before+75/1 before-90/1 after+90/1 after-101/1");
    pt_track_spans_free(&s);
}

static void what_was_given_out_is_not_crossed(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    (void)state;
    begin(&s, "a", 10);
    end(&s, "a", 20, 10);
    take(&s, 0, INT64_MAX);
    begin(&s, "late", 15);
    end(&s, "late", 25, 15);
    begin(&s, "same", 10);
    end(&s, "same", 30, 10);
    assert_string_equal(take(&s, 0, INT64_MAX), "same+10/1 late+15/1 late-25/1 same-30/1");
    begin(&s, "around", 9);
    end(&s, "around", 20, 9);
    assert_string_equal(take(&s, 0, INT64_MAX), "around+9/0 around-20/0");
    pt_track_spans_free(&s);
}

static void ends_find_their_begins(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    pt_track_mark_t m = mark("a", 9, "{1}");
    (void)state;
    assert_int_equal(pt_track_spans_end(&s, &m, 0), PT_TRACK_STRAY);
    assert_int_equal(pt_track_spans_end(&s, &m, 5), PT_TRACK_TOOK); /* before its begin */
    assert_int_equal(s.open, 1);
    assert_string_equal(take(&s, 0, INT64_MAX), "");
    m = mark("b", 5, "");
    assert_int_equal(pt_track_spans_begin(&s, &m, false), PT_TRACK_TOOK);
    m = mark("a", 5, "{2}");
    assert_int_equal(pt_track_spans_begin(&s, &m, false), PT_TRACK_TOOK);
    assert_int_equal(s.open, 1);
    assert_true(pt_track_spans_is_open(&s, str("b")));
    assert_false(pt_track_spans_is_open(&s, str("a")));
    assert_string_equal(take(&s, 0, INT64_MAX), "a+5/0{2} a-9/0{1}");
    /* By name: the one that began last. */
    begin(&s, "b", 12);
    begin(&s, "b", 11);
    end(&s, "b", 13, 0);
    end(&s, "b", 14, 0);
    end(&s, "b", 15, 0);
    assert_string_equal(take(&s, 6, INT64_MAX), "b+5/1 b+11/0 b+12/0 b-13/0 b-14/0 b-15/1");
    pt_track_spans_free(&s);
}

static void a_phase_that_allows_one_span_ends_it_by_the_next(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    pt_track_mark_t m = mark("a", 10, "");
    (void)state;
    assert_int_equal(pt_track_spans_begin(&s, &m, true), PT_TRACK_TOOK);
    m.ts = 20;
    assert_int_equal(pt_track_spans_begin(&s, &m, true), PT_TRACK_TOOK);
    m.ts = 15; /* by another thread, whose begin comes late */
    assert_int_equal(pt_track_spans_begin(&s, &m, true), PT_TRACK_TOOK);
    end(&s, "a", 30, 10);
    end(&s, "a", 40, 20);
    assert_int_equal(pt_track_spans_close(&s, 50, 50), 0);
    assert_string_equal(take(&s, 0, INT64_MAX), "a+10/0 a-15/0 a+15/0 a-20/0 a+20/0 a-40/0");
    pt_track_spans_free(&s);
}

static void what_is_open_is_closed_with_its_session(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    pt_track_mark_t m = mark("lone", 12, "");
    (void)state;
    begin(&s, "stuck", 10);
    begin(&s, "later", 60);
    assert_int_equal(pt_track_spans_end(&s, &m, 11), PT_TRACK_TOOK);
    assert_true(pt_track_spans_run_at(&s, 50, false));
    assert_false(pt_track_spans_run_at(&s, 9, false));
    assert_int_equal(pt_track_spans_close(&s, 50, 70), 2);
    assert_int_equal(s.open, 0);
    assert_string_equal(take(&s, 0, 50),
                        "stuck+10/0 lone+11/0 later+60/1 lone-12/0 stuck-50/0! later-70/1!");
    pt_track_spans_free(&s);
}

static void many_open_spans_are_held_within_limits(void **state) {
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    (void)state;
    for (int i = 0; i < (int)PT_TRACK_SPANS_LIMIT + 10; i++) {
        begin(&s, "a", 100 + i);
    }
    assert_int_equal(s.open, PT_TRACK_SPANS_LIMIT);
    assert_int_equal(s.given_up, 10);
    assert_int_equal(s.count - s.open, 10);
    take(&s, 0, INT64_MAX);
    assert_int_equal(s.count, PT_TRACK_SPANS_LIMIT);
    pt_track_spans_free(&s);
}

/* ---- at random: every lane is a stack, whatever comes when ---- */

typedef struct event {
    int64_t ts;
    unsigned seq, lane, span;
    bool is_end;
} event_t;

typedef struct heap {
    event_t event[4096];
    unsigned count, lanes, first_of_take;
    unsigned long begun, ended;
} heap_t;

static unsigned number_of(pt_str_t args) {
    unsigned n = 0;
    for (size_t i = 0; i < args.len; i++) {
        n = n * 10 + (unsigned)(args.p[i] - '0');
    }
    return n;
}

static void collect(void *ctx, const pt_track_span_t *span, unsigned lane, bool is_end) {
    heap_t *h = ctx;
    assert_true(h->count < PT_ARRAY_LEN(h->event));
    /* Lanes beyond the first are new ones at every taking, numbered one after the other. */
    unsigned number = lane == 0 ? 0 : h->first_of_take + lane;
    assert_true(number <= h->lanes + 1);
    h->lanes = PT_MAX(h->lanes, number);
    h->event[h->count] = (event_t){is_end ? span->end : span->start, h->count, number,
                                   number_of(span->begin_args), is_end};
    h->count++;
    assert_true(span->end >= span->start);
    h->begun += !is_end;
    h->ended += is_end;
}

static int by_lane_and_time(const void *a, const void *b) {
    const event_t *x = a, *y = b;
    if (x->lane != y->lane) {
        return x->lane < y->lane ? -1 : 1;
    }
    if (x->ts != y->ts) {
        return x->ts < y->ts ? -1 : 1;
    }
    return x->seq < y->seq ? -1 : 1;
}

static void check_stacks(heap_t *h) {
    unsigned stack[4096] = {0}, depth = 0;
    qsort(h->event, h->count, sizeof h->event[0], by_lane_and_time);
    for (unsigned i = 0; i < h->count; i++) {
        const event_t *e = &h->event[i];
        if (i > 0 && h->event[i - 1].lane != e->lane) {
            assert_int_equal(depth, 0);
        }
        if (!e->is_end) {
            stack[depth++] = e->span;
        } else {
            assert_true(depth > 0);
            assert_int_equal(stack[--depth], e->span);
        }
    }
    assert_int_equal(depth, 0);
}

static void random_run(uint64_t seed) {
    static heap_t heap;
    pt_track_spans_t s = PT_TRACK_SPANS_INIT;
    int64_t began[64], now = 100;
    unsigned open = 0, made = 0;
    static const char *const names[] = {"a", "b", "c"};
    memset(&heap, 0, sizeof heap);
    while (made < 300) {
        char args[16];
        uint32_t dice = base_random_below(&seed, 10);
        now += base_random_below(&seed, 3);
        snprintf(args, sizeof args, "%u", made);
        if (dice < 4 && open < 12) {
            const pt_track_mark_t m = mark(names[now % 3], now, args);
            assert_int_equal(pt_track_spans_begin(&s, &m, false), PT_TRACK_TOOK);
            began[open++] = now;
            made++;
        } else if (dice < 8 && open > 0) {
            uint32_t i = base_random_below(&seed, open);
            const pt_track_mark_t m = mark(names[began[i] % 3], now, args);
            assert_int_equal(pt_track_spans_end(&s, &m, began[i]), PT_TRACK_TOOK);
            began[i] = began[--open];
        } else if (dice == 8) { /* late news from another thread, end first */
            int64_t from = now - base_random_below(&seed, 12);
            const pt_track_mark_t e = mark("x", PT_MAX(from, now - 3), args);
            const pt_track_mark_t b = mark("x", from, args);
            assert_int_equal(pt_track_spans_end(&s, &e, from), PT_TRACK_TOOK);
            assert_int_equal(pt_track_spans_begin(&s, &b, false), PT_TRACK_TOOK);
            made++;
        } else if (s.open == 0 || base_random_below(&seed, 8) == 0) {
            heap.first_of_take = heap.lanes;
            assert_true(pt_track_spans_take(&s, 5, INT64_MAX, collect, &heap));
        }
    }
    pt_track_spans_close(&s, now, now);
    heap.first_of_take = heap.lanes;
    assert_true(pt_track_spans_take(&s, 5, PT_MAX(now, s.until), collect, &heap));
    assert_int_equal(s.count, 0);
    assert_int_equal(heap.begun, made);
    assert_int_equal(heap.ended, made);
    check_stacks(&heap);
    pt_track_spans_free(&s);
}

static void whatever_comes_nests(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_run(seed);
    }
}

/* ---- what is kept ---- */

static void ids_come_and_go(void **state) {
    enum { N = 5000 };
    static pt_id_node_t node[N];
    pt_id_table_t t = {.bucket = NULL};
    (void)state;
    assert_null(pt_id_table_find(&t, 0));
    for (unsigned i = 0; i < N; i++) {
        node[i].id = (uint64_t)i << (i % 40);
        if (pt_id_table_find(&t, node[i].id) == NULL) {
            assert_true(pt_id_table_add(&t, &node[i]));
        } else {
            node[i].id = UINT64_MAX - i;
            assert_true(pt_id_table_add(&t, &node[i]));
        }
    }
    for (unsigned i = 0; i < N; i += 2) {
        pt_id_table_remove(&t, &node[i]);
    }
    assert_int_equal(t.count, N / 2);
    for (unsigned i = 0; i < N; i++) {
        assert_ptr_equal(pt_id_table_find(&t, node[i].id), i % 2 == 0 ? NULL : &node[i]);
    }
    pt_id_table_free(&t);
    assert_null(pt_id_table_find(&t, 1));
}

static void tasks_last_as_long_as_their_sessions(void **state) {
    pt_live_sessions_t live;
    (void)state;
    pt_live_sessions_init(&live);
    pt_live_session_t *a = pt_live_session_make(&live, 1), *b = pt_live_session_make(&live, 2);
    assert_ptr_equal(pt_live_session_find(&live, 1), a);
    assert_int_equal(live.waiting_count, 2);
    pt_live_session_move(&live, a, false);
    assert_int_equal(live.waiting_count, 1);
    pt_live_task_t *t = pt_live_task_get(&live, 7);
    assert_ptr_equal(pt_live_task_get(&live, 7), t);
    assert_int_equal(live.idle_count, 1);
    pt_live_task_join(&live, t, a);
    pt_live_task_join(&live, t, b);
    assert_int_equal(live.idle_count, 0);
    a->end = 5;
    pt_live_session_leave(&live, a);
    assert_int_equal(t->last_end, 5);
    t->open = true;
    pt_live_session_drop(&live, b);
    assert_null(pt_live_session_find(&live, 2));
    assert_int_equal(live.idle_count, 1);
    assert_ptr_equal(pt_live_task_find(&live, 7), t);
    t->open = false;
    pt_live_task_settle(&live, t);
    assert_null(pt_live_task_find(&live, 7));
    assert_int_equal(live.idle_count, 0);
    assert_non_null(pt_live_task_get(&live, 8));
    pt_live_sessions_free(&live);
}

static void declarations_are_kept(void **state) {
    pt_live_sessions_t live;
    (void)state;
    pt_live_sessions_init(&live);
    assert_false(pt_live_phase_find(&live, str("\"a\"")).single);
    pt_live_phase_declare(&live, str("\"a\""), true, false);
    pt_live_phase_declare(&live, str("\"b\""), false, true);
    assert_true(pt_live_phase_find(&live, str("\"a\"")).single);
    assert_true(pt_live_phase_find(&live, str("\"b\"")).finishes);
    pt_live_phase_declare(&live, str("\"a\""), false, false);
    assert_false(pt_live_phase_find(&live, str("\"a\"")).single);
    pt_live_sessions_free(&live);
    pt_live_sessions_free(&live);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nests_shares_a_lane_and_what_crosses_does_not),
        cmocka_unit_test(what_was_given_out_is_not_crossed),
        cmocka_unit_test(ends_find_their_begins),
        cmocka_unit_test(a_phase_that_allows_one_span_ends_it_by_the_next),
        cmocka_unit_test(what_is_open_is_closed_with_its_session),
        cmocka_unit_test(many_open_spans_are_held_within_limits),
        cmocka_unit_test(whatever_comes_nests),
        cmocka_unit_test(ids_come_and_go),
        cmocka_unit_test(tasks_last_as_long_as_their_sessions),
        cmocka_unit_test(declarations_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
