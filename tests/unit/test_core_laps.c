/* test_core_laps.c: laps with arguments, and run-time names everywhere. SPDX-License-Identifier:
 * MIT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "traced_case.h"

#include <string.h>

static void emit_laps(const char *d) {
    traced_start(d);
    char text[] = "one";
    char name[] = "phase.x";
    PERFTRACE_LAP_BEGIN(phase, "phase.0", "compute", PERFTRACE_INT("n", 7));
    PERFTRACE_LAP(phase, "phase.1", "compute", PERFTRACE_STRING("s", text), PERFTRACE_BOOL("b", 1));
    memcpy(text, "two", 3);
    PERFTRACE_LAP(phase, "phase.2");
    PERFTRACE_LAP_NAMED(phase, name, "comm", PERFTRACE_UINT("u", UINT64_MAX));
    memcpy(name, "changed", 7);
    PERFTRACE_LAP(phase, "phase.4", "compute", PERFTRACE_DOUBLE("x", 0.5));
    PERFTRACE_LAP_END(phase);
    {
        PERFTRACE_LAP_BEGIN(inner, "phase.5");
        PERFTRACE_LAP(inner, "phase.6", "io", PERFTRACE_INT("n", -1));
    }
    perftrace_shutdown();
}

static void each_phase_has_its_own_arguments_and_touches_the_next(void **state) {
    (void)state;
    traced_file_t f = run(emit_laps);
    static const char *const names[] = {"phase.0", "phase.1", "phase.2", "phase.x", "phase.4"};
    assert_int_equal(traced_phase(&f, "X"), 7);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(traced_count(&f, names[i]), 1);
        if (i) {
            /* In ns: one reading ends a phase and begins the next, so they touch exactly. */
            const cJSON *before = traced_line(&f, names[i - 1], 0);
            double end = traced_number(before, "ts") + traced_number(before, "dur");
            double start = traced_number(traced_line(&f, names[i], 0), "ts");
            assert_true(end - start < 0.0015 && start - end < 0.0015);
        }
    }
    assert_int_equal((int)traced_arg_number(traced_line(&f, "phase.0", 0), "n"), 7);
    assert_string_equal(traced_arg(traced_line(&f, "phase.1", 0), "s")->valuestring, "one");
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "phase.1", 0), "b")));
    assert_null(traced_arg(traced_line(&f, "phase.2", 0), "n"));
    assert_null(traced_arg(traced_line(&f, "phase.2", 0), "s"));
    assert_non_null(strstr(traced_text(&f, "phase.x", 0), "\"u\": 18446744073709551615"));
    assert_true(traced_arg_number(traced_line(&f, "phase.4", 0), "x") == 0.5);
    assert_int_equal((int)traced_arg_number(traced_line(&f, "phase.6", 0), "n"), -1);
    assert_int_equal((int)traced_footer(&f, "unfinished"), 0);
    traced_free(&f);
}

static void emit_named(const char *d) {
    traced_start(d);
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof(name), "name.%d", i);
        perftrace_span_t span;
        PERFTRACE_BEGIN_NAMED(&span, name, "io", PERFTRACE_INT("n", i));
        PERFTRACE_COUNTER_NAMED(name, i);
        PERFTRACE_COUNTERS_NAMED(name, "misc", PERFTRACE_INT("a", 1), PERFTRACE_INT("b", 2));
        PERFTRACE_FLOW_START_NAMED(name, "io", 5, PERFTRACE_INT("n", i));
        PERFTRACE_FLOW_STEP_NAMED(name, "io", 5);
        PERFTRACE_FLOW_END_NAMED(name, "io", 5);
        PERFTRACE_ASYNC_BEGIN_NAMED(name, "io", 6, PERFTRACE_STRING("s", name));
        PERFTRACE_ASYNC_INSTANT_NAMED(name, "io", 6);
        PERFTRACE_ASYNC_END_NAMED(name, "io", 6);
        PERFTRACE_END(&span);
        memset(name, 'x', sizeof(name) - 1);
    }
    perftrace_shutdown();
}

static void a_name_is_copied_in_every_kind_of_event(void **state) {
    (void)state;
    traced_file_t f = run(emit_named);
    static const struct {
        const char *ph;
        size_t count;
    } want[] = {{"X", 2}, {"C", 4}, {"s", 2}, {"t", 2}, {"f", 2}, {"b", 2}, {"n", 2}, {"e", 2}};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_int_equal(traced_phase(&f, want[i].ph), want[i].count);
    }
    assert_int_equal(traced_count(&f, "name.0"), 9);
    assert_int_equal(traced_count(&f, "name.1"), 9);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(each_phase_has_its_own_arguments_and_touches_the_next),
        CASE(a_name_is_copied_in_every_kind_of_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
