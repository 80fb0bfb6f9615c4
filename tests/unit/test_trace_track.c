/* test_trace_track.c: processes and threads get numbers of their own. SPDX-License-Identifier: MIT
 */
#include "track.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static pt_ident_t number(int64_t n) {
    return (pt_ident_t){PT_IDENT_INT, n, {NULL, 0}};
}

static pt_ident_t text(const char *t) {
    return (pt_ident_t){PT_IDENT_TEXT, 0, {t, strlen(t)}};
}

static void threads_are_numbered_below_their_process(void **state) {
    pt_tracks_t t;
    pt_ident_t pid = number(8589934593), a = number(-7), b = text("\"stream 7\""),
               none = {PT_IDENT_NONE, 0, {NULL, 0}};
    (void)state;
    pt_tracks_init(&t, 0, 1);
    pt_thread_t *first = pt_tracks_thread(&t, &pid, &a);
    assert_int_equal(first->tid, 0); /* not before its process */
    pt_process_number(&t, first->process, 4);
    pt_thread_t *second = pt_tracks_thread(&t, &pid, &b);
    assert_int_equal(first->tid, 4001);
    assert_int_equal(second->tid, 4002);
    assert_int_equal(pt_tracks_thread(&t, &pid, &none)->tid, 4003);
    assert_ptr_equal(pt_tracks_thread(&t, &pid, &a), first);
    assert_ptr_equal(pt_tracks_thread(&t, &pid, &a), first); /* from the cache this time */
    assert_string_equal(first->track.text, ", \"pid\": 4, \"tid\": 4001");
    assert_int_equal(first->track.len, strlen(first->track.text));
    assert_string_equal(first->process->orig, "8589934593");
    assert_int_equal(pt_thread_lane_tid(&t, first, 1), 4004);
    assert_int_equal(pt_thread_lane_tid(&t, first, 1), 4004);
    pt_tracks_free(&t);
}

static void a_number_and_the_same_text_are_different_threads(void **state) {
    pt_tracks_t t;
    pt_ident_t pid = number(1), a = number(7), b = text("\"7 \"");
    (void)state;
    pt_tracks_init(&t, 0, 1);
    assert_ptr_not_equal(pt_tracks_thread(&t, &pid, &a), pt_tracks_thread(&t, &pid, &b));
    pt_tracks_free(&t);
}

static void numbers_met_late_do_not_meet_those_of_other_files(void **state) {
    pt_tracks_t t[2];
    (void)state;
    for (unsigned file = 0; file < 2; file++) {
        pt_ident_t pid = number(5), tid = number(6);
        pt_tracks_init(&t[file], file, 2);
        pt_thread_t *th = pt_tracks_thread(&t[file], &pid, &tid);
        pt_process_number(&t[file], th->process, 0);
        assert_true(th->process->pid >= 1000000 && th->tid < INT32_MAX);
    }
    assert_int_not_equal(t[0].process[0]->pid, t[1].process[0]->pid);
    assert_int_not_equal(t[0].process[0]->thread[0]->tid, t[1].process[0]->thread[0]->tid);
    pt_tracks_free(&t[0]);
    pt_tracks_free(&t[1]);
}

static void many_threads_keep_unique_numbers(void **state) {
    pt_tracks_t t;
    pt_ident_t pid = number(5), other = number(6);
    (void)state;
    pt_tracks_init(&t, 0, 1);
    pt_process_number(&t, pt_tracks_process(&t, &pid), 1);
    pt_process_number(&t, pt_tracks_process(&t, &other), 2);
    uint32_t last = 0;
    for (int64_t i = 0; i < 3000; i++) {
        pt_ident_t tid = number(i);
        pt_thread_t *th = pt_tracks_thread(&t, &pid, &tid);
        assert_true(th->tid > last && th->tid < INT32_MAX);
        last = th->tid;
    }
    pt_ident_t tid = number(0);
    assert_int_equal(pt_tracks_thread(&t, &other, &tid)->tid, 2001);
    pt_tracks_free(&t);
}

static void names_follow_into_lanes(void **state) {
    pt_tracks_t t;
    pt_ident_t pid = number(5), tid = number(6);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    (void)state;
    pt_tracks_init(&t, 0, 1);
    pt_thread_t *th = pt_tracks_thread(&t, &pid, &tid);
    pt_process_number(&t, th->process, 1);
    pt_thread_set_name(th, (pt_str_t){"\"main\"", 6});
    pt_thread_lane_tid(&t, th, 1);
    pt_thread_put_metadata(th, 1, &out);
    assert_string_equal(
        perftrace__strbuf_cstr(&out),
        "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": 1002, \"args\": "
        "{\"name\": \"main (lane 2)\", \"orig_tid\": 6}},\n");
    perftrace__strbuf_free(&out);
    pt_tracks_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_numbered_below_their_process),
        cmocka_unit_test(a_number_and_the_same_text_are_different_threads),
        cmocka_unit_test(numbers_met_late_do_not_meet_those_of_other_files),
        cmocka_unit_test(many_threads_keep_unique_numbers),
        cmocka_unit_test(names_follow_into_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
