/* test_profile_model.c: the model of stacks. SPDX-License-Identifier: MIT */
#include "collapsed_read.h"
#include "profile_model.h"
#include "profile_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static pt_profile_t read_lines(const char *lines, bool keep_order) {
    const pt_collapsed_how_t how = {.leaves_only = false};
    pt_profile_notes_t *notes = calloc(1, sizeof *notes);
    pt_profile_t p;
    assert_non_null(notes);
    pt_profile_init(&p);
    p.keep_order = keep_order;
    pt_collapsed_read(&p, lines, strlen(lines), &how, notes);
    free(notes);
    assert_false(p.failed);
    return p;
}

static void assert_written(const pt_profile_t *p, const char *lines) {
    const pt_collapsed_weights_t how = {1, false};
    pt_profile_sink_t sink = {.text = PERFTRACE__STRBUF_INIT};
    assert_true(pt_collapsed_write(p, NULL, &how, &sink));
    assert_string_equal(perftrace__strbuf_cstr(&sink.text), lines);
    perftrace__strbuf_free(&sink.text);
}

static void frames_are_by_place(void **state) {
    pt_profile_t p;
    (void)state;
    pt_profile_init(&p);
    uint32_t plain = pt_profile_frame(&p, "f", 1);
    assert_int_equal(pt_profile_frame_at(&p, "f", 1, NULL, 0, -1), plain);
    uint32_t placed = pt_profile_frame_at(&p, "f", 1, "x.py", 4, 3);
    assert_int_not_equal(placed, plain);
    assert_int_equal(pt_profile_frame_at(&p, "f", 1, "x.py", 4, 3), placed);
    assert_int_not_equal(pt_profile_frame_at(&p, "f", 1, "x.py", 4, 4), placed);
    assert_int_not_equal(pt_profile_frame_at(&p, "fx", 2, ".py", 3, 3), placed);
    assert_int_not_equal(pt_profile_frame_at(&p, "", 0, "fx.py", 5, 3), placed);
    assert_int_equal(p.frames, 5);
    assert_int_equal(pt_profile_frame(&p, "", 0), 5);
    pt_profile_free(&p);
}

static void samples_add_up(void **state) {
    (void)state;
    pt_profile_t p = read_lines("t;a;b 1\nt;a 2\nu;a;b 4\nt;a;b 8\n", true);
    assert_int_equal(p.threads, 2);
    assert_int_equal(p.frames, 4); /* t a b u */
    assert_int_equal(p.samples, 4);
    assert_int_equal(p.thread[0].samples, 3);
    assert_true(p.thread[0].weight == 11 && p.thread[1].weight == 4);
    assert_int_equal(p.thread[0].count, 3);
    assert_int_equal(p.thread[0].sample[0].node, p.thread[0].sample[2].node);
    const pt_profile_node_t *n = &p.node[p.thread[0].sample[0].node];
    assert_true(n->weight == 9);
    assert_int_equal(n->samples, 2);
    assert_int_equal(n->first, 0);
    assert_int_equal(n->depth, 3);
    assert_written(&p, "t;a;b 9\nt;a 2\nu;a;b 4\n");
    pt_profile_free(&p);
}

/* A model read in one piece is that of its pieces put together, numbers and all. */
static void pieces_are_the_whole(void **state) {
    static const char *const part[] = {"t;a;b 1\nt;c 2\n", "u;a 3\nt;a;b 4\n",
                                       "t;c;d 5\nv;e 6\nu;a 7\n"};
    perftrace__strbuf_t all = PERFTRACE__STRBUF_INIT;
    pt_profile_t joined;
    (void)state;
    pt_profile_init(&joined);
    joined.keep_order = true;
    for (size_t i = 0; i < PT_ARRAY_LEN(part); i++) {
        pt_profile_t p = read_lines(part[i], true);
        perftrace__strbuf_puts(&all, part[i]);
        pt_profile_merge(&joined, &p);
        pt_profile_free(&p);
    }
    pt_profile_t whole = read_lines(perftrace__strbuf_cstr(&all), true);
    assert_int_equal(joined.frames, whole.frames);
    assert_int_equal(joined.threads, whole.threads);
    assert_int_equal(joined.nodes, whole.nodes);
    for (size_t i = 0; i < whole.frames; i++) {
        assert_string_equal(pt_frame_name(&joined, (uint32_t)i),
                            pt_frame_name(&whole, (uint32_t)i));
    }
    for (size_t i = 0; i < whole.threads; i++) {
        assert_string_equal(pt_thread_name(&joined, i), pt_thread_name(&whole, i));
        assert_int_equal(joined.thread[i].count, whole.thread[i].count);
        assert_true(joined.thread[i].weight == whole.thread[i].weight);
    }
    assert_written(&joined, "t;a;b 5\nt;c 2\nt;c;d 5\nu;a 10\nv;e 6\n");
    assert_written(&whole, "t;a;b 5\nt;c 2\nt;c;d 5\nu;a 10\nv;e 6\n");
    pt_profile_free(&joined);
    pt_profile_free(&whole);
    perftrace__strbuf_free(&all);
}

static void threads_of_one_model_stay_apart(void **state) {
    pt_profile_t p, sum;
    (void)state;
    pt_profile_init(&p);
    pt_profile_init(&sum);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t t = pt_profile_thread_new(&p, "x", 1, i == 2 ? PT_UNIT_BYTES : PT_UNIT_SECONDS);
        pt_profile_add(&p, pt_profile_node(&p, p.thread[t].root, pt_profile_frame(&p, "f", 1)), i);
    }
    pt_profile_merge(&sum, &p);
    assert_int_equal(sum.threads, 3);
    pt_profile_merge(&sum, &p);
    assert_int_equal(sum.threads, 5); /* only the first of a name meets its like */
    assert_true(sum.thread[0].weight == 0 && sum.thread[0].samples == 2);
    assert_int_equal(pt_profile_thread(&sum, "x", 1, PT_UNIT_BYTES), 2);
    pt_profile_free(&p);
    pt_profile_free(&sum);
}

static void threads_are_sorted_by_name(void **state) {
    (void)state;
    pt_profile_t p = read_lines("b;f 1\na;g 2\nab;h 3\na;g 4\n;i 5\n", true);
    pt_profile_sort_threads(&p);
    static const char *const name[] = {"", "a", "ab", "b"};
    for (size_t i = 0; i < PT_ARRAY_LEN(name); i++) {
        assert_string_equal(pt_thread_name(&p, i), name[i]);
        assert_int_equal(p.node[p.thread[i].root].thread, i);
        assert_int_equal(pt_profile_thread(&p, name[i], strlen(name[i]), PT_UNIT_NONE), i);
    }
    assert_written(&p, ";i 5\na;g 6\nab;h 3\nb;f 1\n");
    pt_profile_free(&p);
}

static void weights_are_scaled_once(void **state) {
    (void)state;
    pt_profile_t p = read_lines("a;f 1\na;g 3\n", true);
    pt_profile_scale(&p, 0.5, PT_UNIT_SECONDS);
    pt_profile_scale(&p, 0.5, PT_UNIT_BYTES); /* they have a unit now */
    assert_int_equal(p.thread[0].unit, PT_UNIT_SECONDS);
    assert_true(p.thread[0].weight == 2 && p.thread[0].sample[1].weight == 1.5);
    assert_written(&p, "a;f 0.5\na;g 1.5\n");
    pt_profile_free(&p);
}

static void median_is_the_upper_one(void **state) {
    double median;
    (void)state;
    pt_profile_t p = read_lines("a 4\nb 1\na 3\nb 2\n", true);
    assert_true(pt_profile_median(&p, &median) && median == 3);
    pt_profile_free(&p);
    p = read_lines("a 5\nb 1\na 3\n", true);
    assert_true(pt_profile_median(&p, &median) && median == 3);
    pt_profile_free(&p);
    pt_profile_init(&p);
    assert_true(pt_profile_median(&p, &median) && median == 0);
}

static void a_thread_is_emptied(void **state) {
    (void)state;
    pt_profile_t p = read_lines("a;f 1\nb;f 2\na;g 3\n", true);
    pt_profile_empty_thread(&p, 0);
    assert_int_equal(p.samples, 1);
    assert_int_equal(p.thread[0].samples, 0);
    assert_written(&p, "b;f 2\n");
    pt_profile_free(&p);
}

static void a_nul_is_no_end(void **state) {
    static const char shown[] = "a\xe2\x90\x80x";
    pt_profile_t p;
    (void)state;
    pt_profile_init(&p);
    uint32_t frame = pt_profile_frame(&p, "a\0x", 3);
    assert_string_equal(pt_frame_name(&p, frame), shown);
    assert_int_equal(p.frame[frame].name_len, sizeof shown - 1);
    assert_int_equal(pt_profile_frame(&p, "a\0x", 3), frame);
    assert_int_equal(pt_profile_frame(&p, shown, sizeof shown - 1), frame);
    assert_int_not_equal(pt_profile_frame(&p, "a", 1), frame);
    assert_int_not_equal(pt_profile_frame(&p, "a\0", 2), frame);
    uint32_t placed = pt_profile_frame_at(&p, "a\0x", 3, "\0", 1, 3);
    assert_string_equal(pt_frame_name(&p, placed), shown);
    assert_string_equal(pt_profile_text(&p, p.frame[placed].file), "\xe2\x90\x80");
    uint32_t thread = pt_profile_thread(&p, "a\0x", 3, PT_UNIT_NONE);
    assert_string_equal(pt_thread_name(&p, thread), shown);
    assert_int_equal(pt_profile_thread(&p, "a\0x", 3, PT_UNIT_NONE), thread);
    pt_profile_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_by_place),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(threads_of_one_model_stay_apart),
        cmocka_unit_test(threads_are_sorted_by_name),
        cmocka_unit_test(weights_are_scaled_once),
        cmocka_unit_test(median_is_the_upper_one),
        cmocka_unit_test(a_thread_is_emptied),
        cmocka_unit_test(a_nul_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
