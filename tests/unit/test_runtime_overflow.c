/* test_runtime_overflow.c: a full ring. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static double losses(const traced_file_t *f) {
    double n = 0;
    const cJSON *all = traced_arg(traced_line(f, "perftrace_footer", 0), "dropped");
    for (const cJSON *c = all->child; c; c = c->next) {
        n += c->valuedouble;
    }
    return n;
}

/* The drop lines together say what the footer says; their ranges lie within the run. */
static void check_drop_lines(const traced_file_t *f, const char *cause) {
    double n = 0;
    for (size_t i = 0; i < traced_count(f, "perftrace_drop"); i++) {
        const cJSON *line = traced_line(f, "perftrace_drop", i);
        assert_string_equal(cJSON_GetStringValue(traced_arg(line, "cause")), cause);
        n += traced_arg_number(line, "count");
        double first = traced_arg_number(line, "first_ts");
        double last = traced_arg_number(line, "last_ts");
        assert_true(first > 0 && first <= last && last < 120e6);
    }
    assert_true(n == traced_dropped(f, cause));
}

#define FAST 200000

static void emit_fast(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (size_t i = 0; i < traced_scale(FAST); i++) {
        PERFTRACE_SCOPE("s", "compute", PERFTRACE_INT("i", i));
        PERFTRACE_INSTANT("i", "compute", PERFTRACE_STRING("s", "text"));
    }
}

static void drop_counts_what_it_does_not_write(void **state) {
    (void)state;
    traced_file_t f = run(emit_fast);
    double emitted = 2.0 * (double)traced_scale(FAST);
    assert_true(traced_footer(&f, "emitted") == emitted);
    assert_true(traced_footer(&f, "written") + losses(&f) == emitted);
    assert_true(traced_footer(&f, "written") ==
                (double)(traced_count(&f, "s") + traced_count(&f, "i")));
    assert_true(traced_dropped(&f, "ring_full") == losses(&f));
    check_drop_lines(&f, "ring_full");
    traced_free(&f);
}

static void *emit_blocking(void *arg) {
    for (size_t i = 0; i < traced_scale(FAST); i++) {
        PERFTRACE_SCOPE("s", "compute", PERFTRACE_INT("who", (intptr_t)arg), PERFTRACE_INT("i", i));
    }
    return NULL;
}

static void emit_with_block(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    c.block_ms = 60000;
    CHILD_CHECK(perftrace_init(&c) == 0);
    pthread_t t;
    CHILD_CHECK(pthread_create(&t, NULL, emit_blocking, (void *)(intptr_t)1) == 0);
    emit_blocking(NULL);
    pthread_join(t, NULL);
}

static void block_loses_nothing_with_a_tiny_ring(void **state) {
    (void)state;
    traced_file_t f = run(emit_with_block);
    size_t n = traced_scale(FAST);
    assert_int_equal(traced_count(&f, "s"), 2 * n);
    assert_true(losses(&f) == 0);
    size_t next[2] = {0, 0};
    for (size_t i = 0; i < f.count; i++) {
        const cJSON *who = traced_arg(f.lines[i], "who");
        if (who) {
            assert_int_equal(traced_arg(f.lines[i], "i")->valueint, next[who->valueint]);
            next[who->valueint]++;
        }
    }
    traced_free(&f);
}

/* With block_ms 0 the block policy is the drop policy. */
static void emit_with_no_patience(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.overflow = PERFTRACE_OVERFLOW_BLOCK;
    c.block_ms = 0;
    CHILD_CHECK(perftrace_init(&c) == 0);
    for (size_t i = 0; i < traced_scale(FAST); i++) {
        PERFTRACE_INSTANT("i");
    }
}

static void block_without_patience_drops(void **state) {
    (void)state;
    traced_file_t f = run(emit_with_no_patience);
    assert_true(traced_footer(&f, "emitted") == (double)traced_scale(FAST));
    assert_true(traced_dropped(&f, "ring_full") == losses(&f));
    traced_free(&f);
}

static void emit_too_long(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    c.string_max = 32768;
    CHILD_CHECK(perftrace_init(&c) == 0);
    char *text = malloc(40001);
    memset(text, 'x', 40000);
    text[40000] = '\0';
    PERFTRACE_INSTANT("long", "misc", PERFTRACE_STRING("s", text));
    text[10000] = '\0';
    PERFTRACE_INSTANT("fits", "misc", PERFTRACE_STRING("s", text));
    PERFTRACE_INSTANT("long", "misc", PERFTRACE_STRING("s", text), PERFTRACE_STRING("t", text));
    free(text);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    CHILD_CHECK(perftrace_save(-1, 0) == 0 && perftrace_get_stats(&s) == 0);
    CHILD_CHECK(s.written == 1 && s.dropped[PERFTRACE_DROP_too_long] == 2 && s.emitted == 3);
}

static void a_record_that_cannot_fit_is_counted(void **state) {
    (void)state;
    traced_file_t f = run(emit_too_long);
    assert_int_equal(traced_count(&f, "fits"), 1);
    assert_int_equal(traced_count(&f, "long"), 0);
    assert_true(traced_dropped(&f, "too_long") == 2 && traced_footer(&f, "emitted") == 3);
    traced_free(&f);
}

/* Every scope of the stack is closed also when its record found no room. */
static void drop_at_depth(const char *where) {
    perftrace_config_t c = traced_config(where);
    c.ring_size = 65536;
    CHILD_CHECK(perftrace_init(&c) == 0);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    {
        PERFTRACE_SCOPE("outer");
        for (size_t i = 0; i < traced_scale(FAST); i++) {
            PERFTRACE_SCOPE("a");
            PERFTRACE_SCOPE("b");
        }
        CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.unfinished == 1);
    }
    CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.unfinished == 0);
}

static void losses_leave_no_scope_open(void **state) {
    (void)state;
    traced_file_t f = run(drop_at_depth);
    assert_true(traced_footer(&f, "emitted") == 2.0 * (double)traced_scale(FAST) + 1);
    assert_true(traced_footer(&f, "unfinished") == 0);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(drop_counts_what_it_does_not_write), CASE(block_loses_nothing_with_a_tiny_ring),
        CASE(block_without_patience_drops),       CASE(a_record_that_cannot_fit_is_counted),
        CASE(losses_leave_no_scope_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
