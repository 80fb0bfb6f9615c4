/* test_trace_reader.c: records are the same however the file is cut into chunks.
 * SPDX-License-Identifier: MIT */
#include "event_fast.h"
#include "trace_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct seen {
    perftrace__strbuf_t names; /* of the events, in order */
    perftrace__strbuf_t members;
    uint64_t problems[PT_TRACE_PROBLEM_COUNT];
    uint64_t line[PT_TRACE_PROBLEM_COUNT], offset[PT_TRACE_PROBLEM_COUNT];
} seen_t;

static void on_event(void *ctx, pt_event_t *ev) {
    seen_t *s = ctx;
    perftrace__strbuf_append(&s->names, ev->name.p, ev->name.len);
}

static void on_member(void *ctx, const char *key, size_t key_len, const char *value, size_t len) {
    seen_t *s = ctx;
    perftrace__strbuf_append(&s->members, key, key_len);
    perftrace__strbuf_append(&s->members, value, len);
}

static void on_problem(void *ctx, const pt_problem_t *p) {
    seen_t *s = ctx;
    s->problems[p->kind] = p->count;
    s->line[p->kind] = p->first.line;
    s->offset[p->kind] = p->first.offset;
}

static void read_all(pt_shape_t shape, const char *text, size_t len, size_t step, seen_t *seen) {
    pt_problems_t *book = pt_problems_new(pt_trace_problem_kinds(), PT_TRACE_PROBLEM_COUNT);
    pt_trace_reader_t reader;
    memset(seen, 0, sizeof *seen);
    pt_problems_add_file(book, "file");
    pt_trace_reader_init(&reader, shape);
    reader.event = on_event;
    reader.member = on_member;
    reader.ctx = seen;
    reader.book = book;
    for (size_t at = 0; at < len; at += step) {
        size_t n = at + step < len ? step : len - at;
        char *chunk = calloc(1, n + PT_EVENT_PAD);
        memcpy(chunk, text + at, n);
        pt_trace_reader_feed(&reader, chunk, n, at + step >= len);
        free(chunk);
    }
    pt_problems_each(book, on_problem, seen);
    pt_trace_reader_free(&reader);
    pt_problems_free(book);
}

static void seen_free(seen_t *s) {
    perftrace__strbuf_free(&s->names);
    perftrace__strbuf_free(&s->members);
}

/* Reads with every chunk size and compares with the first reading. */
static void same_for_all_chunks(pt_shape_t shape, const char *text, const char *names,
                                const char *members) {
    seen_t whole, part;
    size_t len = strlen(text);
    read_all(shape, text, len, len, &whole);
    assert_string_equal(perftrace__strbuf_cstr(&whole.names), names);
    assert_string_equal(perftrace__strbuf_cstr(&whole.members), members);
    for (size_t step = 1; step < len; step++) {
        read_all(shape, text, len, step, &part);
        assert_string_equal(perftrace__strbuf_cstr(&part.names), names);
        assert_string_equal(perftrace__strbuf_cstr(&part.members), members);
        assert_memory_equal(part.problems, whole.problems, sizeof part.problems);
        assert_memory_equal(part.line, whole.line, sizeof part.line);
        assert_memory_equal(part.offset, whole.offset, sizeof part.offset);
        seen_free(&part);
    }
    seen_free(&whole);
}

#define E(n) "{\"name\": \"" n "\", \"ph\": \"i\", \"ts\": 1}"

static void lines_are_records(void **state) {
    (void)state;
    same_for_all_chunks(PT_SHAPE_LINES,
                        E("a") "\n\n" E("b") "\r\n{\"torn\n" E("c") E("d") "\n   \n" E("e"),
                        "\"a\"\"b\"\"c\"\"d\"\"e\"", "");
}

static void elements_of_an_array_are_records(void **state) {
    (void)state;
    same_for_all_chunks(PT_SHAPE_ARRAY, "[" E("a") "," E("b]}{\\\"") ",\n" E("c") ",\n",
                        "\"a\"\"b]}{\\\"\"\"c\"", "");
    same_for_all_chunks(PT_SHAPE_ARRAY, "[\n " E("a") "\n" E("b") "\n]x", "\"a\"\"b\"", "");
}

static void members_beside_the_events_are_given_out(void **state) {
    (void)state;
    same_for_all_chunks(PT_SHAPE_OBJECT,
                        "{\"a\": [1, {\"traceEvents\": []}], \"traceEvents\": [" E("x") ", {}, " E(
                            "y") "], \"base\": 12, \"s\": \"}\"}",
                        "\"x\"\"y\"", "\"a\"[1, {\"traceEvents\": []}]\"base\"12\"s\"\"}\"");
}

static void a_torn_element_does_not_take_the_next_ones_along(void **state) {
    (void)state;
    same_for_all_chunks(
        PT_SHAPE_ARRAY,
        "[\n" E("a") ",\n{\"name\": \"torn\", \"args\": {\n" E("b") ",\n" E("c") ",\n",
        "\"a\"\"b\"\"c\"", "");
}

static void problems_have_their_place(void **state) {
    const char *text = E("a") "\n" E("b") "\n{\"name\": \"torn\"\n" E("c") "\n";
    seen_t seen;
    (void)state;
    read_all(PT_SHAPE_LINES, text, strlen(text), 7, &seen);
    assert_int_equal(seen.problems[PT_TRACE_PROBLEM_DAMAGED], 1);
    assert_int_equal(seen.line[PT_TRACE_PROBLEM_DAMAGED], 3);
    assert_int_equal(seen.offset[PT_TRACE_PROBLEM_DAMAGED],
                     strstr(text, "{\"name\": \"torn") - text + 15);
    seen_free(&seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_records),
        cmocka_unit_test(elements_of_an_array_are_records),
        cmocka_unit_test(members_beside_the_events_are_given_out),
        cmocka_unit_test(a_torn_element_does_not_take_the_next_ones_along),
        cmocka_unit_test(problems_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
