/* every_macro.h: uses each macro in the ways a program may. SPDX-License-Identifier: MIT
 * Included by every_macro.c and every_macro.cpp; compiled strictly, with and without
 * PERFTRACE_DISABLE. */
#include <perftrace/perftrace.h>

/* Returned by argument expressions, so that an unused-value warning cannot hide. */
static int evaluated(int value) {
    return value;
}

static double scopes(int n, const char *text) {
    PERFTRACE_SCOPE("name");
    PERFTRACE_SCOPE("name", "compute");
    PERFTRACE_SCOPE("name", "compute", PERFTRACE_INT("n", evaluated(n)));
    /* clang-format off */
    PERFTRACE_SCOPE("one"); PERFTRACE_SCOPE("two", "io"); /* on one line */
    /* clang-format on */
    PERFTRACE_SCOPE("twelve", "compute", PERFTRACE_INT("a", n), PERFTRACE_UINT("b", 1u),
                    PERFTRACE_DOUBLE("c", 0.5), PERFTRACE_BOOL("d", n > 1),
                    PERFTRACE_STRING("e", text), PERFTRACE_INT("f", -1L),
                    PERFTRACE_UINT("g", sizeof(n)), PERFTRACE_DOUBLE("h", 1.0f),
                    PERFTRACE_BOOL("i", text), PERFTRACE_STRING("j", "literal"),
                    PERFTRACE_INT("k", 'c'), PERFTRACE_INT("l", (signed char)n));
    PERFTRACE_SCOPE_NAMED(text, "misc");
    PERFTRACE_SCOPE_NAMED(text, "misc", PERFTRACE_STRING("s", text), PERFTRACE_STRING("t", text));
    return n;
}

static void function_scope(void) {
    PERFTRACE_FUNCTION();
}

static void function_scope_with(int n) {
    PERFTRACE_FUNCTION("sync", PERFTRACE_INT("n", n));
}

static int left_by_goto(int n) {
    if (n > 0) {
        PERFTRACE_SCOPE("left by goto");
        if (n > 1) {
            goto out;
        }
    }
    for (int i = 0; i < n; i++) {
        PERFTRACE_SCOPE("left by continue");
        if (i == 1) {
            continue;
        }
        PERFTRACE_INSTANT("once");
    }
    switch (n) {
    case 1: {
        PERFTRACE_SCOPE("left by return");
        return n;
    }
    default:
        break;
    }
out:
    return 0;
}

static void spans(int n) {
    static perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "span");
    PERFTRACE_END(&span);
    if (n) {
        PERFTRACE_BEGIN(&span, "span", "io", PERFTRACE_INT("n", n), PERFTRACE_STRING("s", "x"));
    } else {
        PERFTRACE_INSTANT("else of a macro");
    }
    PERFTRACE_END(&span);
}

static void laps(void) {
    PERFTRACE_LAP_BEGIN(phase, "first");
    PERFTRACE_LAP(phase, "second", "compute");
    PERFTRACE_LAP(phase, "third");
    PERFTRACE_LAP_END(phase);
    {
        PERFTRACE_LAP_BEGIN(inner, "left open", "comm");
        PERFTRACE_LAP(inner, "ended by the block");
    }
}

static void laps_with_arguments(int n, const char *text) {
    PERFTRACE_LAP_BEGIN(phase, "first", "compute", PERFTRACE_INT("n", n));
    PERFTRACE_LAP(phase, "second", "compute", PERFTRACE_STRING("s", text));
    PERFTRACE_LAP_NAMED(phase, text, "comm");
    PERFTRACE_LAP_NAMED(phase, text, "comm", PERFTRACE_DOUBLE("x", 0.5));
    PERFTRACE_LAP(phase, "last");
    PERFTRACE_LAP_END(phase);
}

static void named(int n, const char *text) {
    perftrace_span_t span;
    PERFTRACE_BEGIN_NAMED(&span, text, "io");
    PERFTRACE_END(&span);
    PERFTRACE_BEGIN_NAMED(&span, text, "io", PERFTRACE_INT("n", n), PERFTRACE_STRING("s", text));
    PERFTRACE_END(&span);
    PERFTRACE_COUNTER_NAMED(text, n);
    PERFTRACE_COUNTERS_NAMED(text, "misc", PERFTRACE_UINT("used", 1));
    PERFTRACE_FLOW_START_NAMED(text, "io", n);
    PERFTRACE_FLOW_STEP_NAMED(text, "io", n, PERFTRACE_INT("n", n));
    PERFTRACE_FLOW_END_NAMED(text, "io", n);
    PERFTRACE_FLOW_START("flow", "io", n, PERFTRACE_INT("n", n));
    PERFTRACE_FLOW_END("flow", "io", n, PERFTRACE_STRING("s", text));
    PERFTRACE_ASYNC_BEGIN_NAMED(text, "session", n);
    PERFTRACE_ASYNC_INSTANT_NAMED(text, "session", n, PERFTRACE_INT("n", n));
    PERFTRACE_ASYNC_END_NAMED(text, "session", n);
}

static void points(int n, const char *text) {
    if (n)
        PERFTRACE_INSTANT("unbraced", "misc");
    else
        PERFTRACE_INSTANT("unbraced else", "misc", PERFTRACE_DOUBLE("x", n));
    PERFTRACE_INSTANT_NAMED(text, "scheduler");
    PERFTRACE_INSTANT_NAMED(text, "scheduler", PERFTRACE_UINT("n", 3));
    PERFTRACE_COUNTER("loss", n);
    PERFTRACE_COUNTER("loss", 1.5f);
    PERFTRACE_COUNTERS("memory", "misc", PERFTRACE_UINT("used", 1), PERFTRACE_INT("free", 2),
                       PERFTRACE_DOUBLE("share", 0.5));
    PERFTRACE_FLOW_START("flow", "io", n);
    PERFTRACE_FLOW_STEP("flow", "io", 5u);
    PERFTRACE_FLOW_END("flow", "io", UINT64_MAX);
    PERFTRACE_ASYNC_BEGIN("request", "session", n);
    PERFTRACE_ASYNC_INSTANT("request", "session", n, PERFTRACE_INT("n", n));
    PERFTRACE_ASYNC_END("request", "session", n, PERFTRACE_STRING("status", text));
    PERFTRACE_STEP(n);
    PERFTRACE_SYNC(n);
}

int every_macro(int n, const char *text);

int every_macro(int n, const char *text) {
    function_scope();
    laps_with_arguments(n, text);
    named(n, text);
    function_scope_with(n);
    spans(n);
    laps();
    points(n, text);
    return left_by_goto(n) + (int)scopes(n, text);
}
