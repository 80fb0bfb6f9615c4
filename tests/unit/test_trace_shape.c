/* test_trace_shape.c: a line of a known shape is read as any other. SPDX-License-Identifier: MIT */
#include "event_fast.h"
#include "event_shape.h"
#include "json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_MAX 1024

/* Lines of three places in a program, each with other values than the last one. */
static size_t make_line(char *out, unsigned place, unsigned n) {
    static const char *const words[] = {"true", "false", "null"};
    int len = 0;
    if (place == 0) {
        len = snprintf(out, TEXT_MAX,
                       "{\"name\": \"layer.forward\", \"ph\": \"X\", \"ts\": %u.%03u, \"dur\": "
                       "%u.%03u, \"pid\": 71, \"tid\": %u, \"cat\": \"compute\", \"args\": "
                       "{\"layer\": %u, \"norm\": %.17g, \"rank\": 3, \"role\": \"actor\"}}",
                       n * 977, n % 1000, n % 50, n % 999 + 1, 71 + n % 3, n, 1.0 / (n + 1));
    } else if (place == 1) {
        len =
            snprintf(out, TEXT_MAX,
                     "{\"name\": \"q\", \"ph\": \"i\", \"ts\": %u.%03u, \"pid\": 71, \"tid\": 71, "
                     "\"args\": {\"id\": \"request %u\", \"ok\": %s, \"delta\": -%u}, \"s\": "
                     "\"t\"}",
                     n * 977, n % 1000, n, words[n % 3], n * n);
    } else {
        len = snprintf(out, TEXT_MAX,
                       "{\"name\": \"loss\", \"ph\": \"C\", \"ts\": %u.%03u, \"pid\": 71, \"tid\": "
                       "71, \"cat\": \"misc\", \"args\": {\"value\": %.9e}}",
                       n * 977, n % 1000, (double)n / 3);
    }
    assert_in_range(len, 1, TEXT_MAX - 1);
    return (size_t)len;
}

/* A line with its newline in memory of its own, padded as readers ask for. */
static char *line_of(const char *text, size_t len) {
    char *p = calloc(1, len + 1 + PT_EVENT_PAD);
    assert_non_null(p);
    memcpy(p, text, len);
    p[len] = '\n';
    return p;
}

static void same_text(pt_str_t a, pt_str_t b) {
    assert_ptr_equal(a.p, b.p);
    assert_int_equal(a.len, b.len);
}

/* Whether the set knows the line; then it must say what event_fast says. */
static bool matches(pt_shape_set_t *set, const char *line, size_t len) {
    pt_event_t brief, full;
    bool plain;
    memset(&brief, 0xA5, sizeof brief); /* what is not set must not be used */
    const char *stop = pt_shape_match(set, line, line + len + 1, &brief);
    if (stop == NULL) {
        return false;
    }
    assert_ptr_equal(stop, line + len);
    assert_ptr_equal(pt_line_end(line, line + len, &plain), line + len);
    assert_true(plain);
    assert_true(pt_event_read_fast(line, line + len, &full));
    assert_true(perftrace__json_check(line, len, NULL, NULL));
    same_text(brief.head, full.head);
    same_text(brief.tail, full.tail);
    assert_int_equal(brief.ph, full.ph);
    assert_int_equal(brief.ts, full.ts);
    assert_int_equal(brief.has, full.has | PT_EVENT_BRIEF);
    assert_int_equal(brief.pid.kind, full.pid.kind);
    assert_int_equal(brief.pid.num, full.pid.num);
    assert_int_equal(brief.tid.kind, full.tid.kind);
    assert_int_equal(brief.tid.num, full.tid.num);
    same_text(brief.dur_text, full.dur_text);
    assert_true(full.ph != 'X' || brief.dur == full.dur);
    return true;
}

static void learn(pt_shape_set_t *set, const char *line, size_t len) {
    pt_event_t ev;
    assert_true(pt_event_read_fast(line, line + len, &ev));
    pt_shape_learn(set, &ev);
}

static void lines_with_other_values_are_known(void **state) {
    pt_shape_set_t set = {.shape = NULL};
    char text[TEXT_MAX];
    unsigned known = 0;
    (void)state;
    for (unsigned n = 1; n < 3000; n++) {
        size_t len = make_line(text, n % 3, n);
        char *line = line_of(text, len);
        bool found = matches(&set, line, len);
        known += found;
        if (!found) {
            learn(&set, line, len);
        }
        free(line);
    }
    assert_in_range(known, 2980, 2999);
    pt_shape_set_free(&set);
}

/* Every line with one byte changed or cut off at any place. */
static void what_is_known_is_strict(void **state) {
    static const char bytes[] = "\"{}[]:,0.-eE \\x\t\n\x7f\xff";
    pt_shape_set_t set = {.shape = NULL};
    char text[TEXT_MAX];
    (void)state;
    for (unsigned n = 0; n < 12; n++) {
        size_t len = make_line(text, n % 3, n + 20);
        char *line = line_of(text, len);
        learn(&set, line, len);
        assert_true(matches(&set, line, len));
        free(line);
        for (size_t at = 0; at < len; at++) {
            line = line_of(text, at);
            matches(&set, line, at);
            free(line);
            for (size_t b = 0; b + 1 < sizeof bytes; b++) {
                line = line_of(text, len);
                line[at] = bytes[b];
                pt_event_t ev;
                const char *stop = pt_shape_match(&set, line, line + len + 1, &ev);
                assert_true(stop == NULL || stop == line + len);
                matches(&set, line, len);
                free(line);
            }
        }
    }
    pt_shape_set_free(&set);
}

static void a_line_without_its_end_is_left_alone(void **state) {
    pt_shape_set_t set = {.shape = NULL};
    char text[TEXT_MAX];
    pt_event_t ev;
    (void)state;
    size_t len = make_line(text, 0, 7);
    char *line = line_of(text, len);
    learn(&set, line, len);
    for (size_t end = 0; end <= len; end++) {
        char *cut = calloc(1, end + PT_EVENT_PAD);
        assert_non_null(cut);
        memcpy(cut, line, end);
        assert_null(pt_shape_match(&set, cut, cut + end, &ev));
        free(cut);
    }
    assert_non_null(pt_shape_match(&set, line, line + len + 1, &ev));
    free(line);
    pt_shape_set_free(&set);
}

/* More names than there is room for, long names, and lines that are too long. */
static void any_names_are_learned_or_not(void **state) {
    pt_shape_set_t set = {.shape = NULL};
    char text[TEXT_MAX];
    (void)state;
    char many[256];
    memset(many, 'n', sizeof many);
    for (unsigned n = 0; n < 20000; n++) {
        int len = snprintf(text, sizeof text,
                           "{\"name\": \"%.*s%u\", \"ph\": \"X\", \"ts\": %u.000, \"dur\": 1.000, "
                           "\"pid\": 1, \"tid\": 1, \"args\": {\"%.*s\": %u}}",
                           (int)(n % 7 * 40), many, n % 700, n, (int)(n % 11 * 20 + 1), many, n);
        char *line = line_of(text, (size_t)len);
        if (!matches(&set, line, (size_t)len)) {
            learn(&set, line, (size_t)len);
        }
        free(line);
    }
    pt_shape_set_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_other_values_are_known),
        cmocka_unit_test(what_is_known_is_strict),
        cmocka_unit_test(a_line_without_its_end_is_left_alone),
        cmocka_unit_test(any_names_are_learned_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
