/* test_core_scopes.c: from the macros to the lines. SPDX-License-Identifier: MIT */
#include "traced_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static double end_of(const cJSON *line) {
    return traced_number(line, "ts") + traced_number(line, "dur");
}

/* Where the clock's tick is long (16 ns and more on many arm64 machines), a scope may begin and end
 * in the tick in which its parent ends; it is written with the least length there is. */
static bool touches_the_end_of(const cJSON *inner, const cJSON *outer) {
    double gap = end_of(outer) - traced_number(inner, "ts");
    return gap > -0.0005 && gap < 0.0005 && traced_number(inner, "dur") < 0.0015;
}

static bool inside(const cJSON *inner, const cJSON *outer) {
    /* The texts have three decimals; a double keeps them to less than half a nanosecond. */
    return traced_number(inner, "ts") >= traced_number(outer, "ts") - 0.0005 &&
           (end_of(inner) <= end_of(outer) + 0.0005 || touches_the_end_of(inner, outer));
}

static const char *text_arg(const cJSON *line, const char *key) {
    return cJSON_GetStringValue(traced_arg(line, key));
}

/* ---- every macro ---- */

static void use_every_macro(const char *where) {
    traced_start(where);
    int n = 7;
    {
        PERFTRACE_SCOPE("scope", "compute", PERFTRACE_INT("n", n), PERFTRACE_UINT("u", 8u),
                        PERFTRACE_DOUBLE("d", 0.25), PERFTRACE_BOOL("b", n > 1),
                        PERFTRACE_STRING("s", "text"));
        PERFTRACE_SCOPE("bare");
    }
    { PERFTRACE_FUNCTION(); }
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "span", "io", PERFTRACE_STRING("path", "/x"));
    PERFTRACE_END(&span);
    PERFTRACE_END(&span);
    PERFTRACE_LAP_BEGIN(lap, "one", "comm");
    PERFTRACE_LAP(lap, "two");
    PERFTRACE_LAP(lap, "three", "sync");
    PERFTRACE_LAP_END(lap);
    PERFTRACE_INSTANT("instant", "scheduler", PERFTRACE_INT("depth", 4));
    PERFTRACE_COUNTER("counter", 1.5);
    PERFTRACE_COUNTERS("pair", "misc", PERFTRACE_INT("a", 1), PERFTRACE_DOUBLE("b", 2));
    PERFTRACE_FLOW_START("flow", "ipc", 5);
    PERFTRACE_FLOW_STEP("flow", "ipc", 5);
    PERFTRACE_FLOW_END("flow", "ipc", 5);
    PERFTRACE_ASYNC_BEGIN("async", "net", 0x1234, PERFTRACE_INT("x", 1));
    PERFTRACE_ASYNC_INSTANT("async", "net", 0x1234);
    PERFTRACE_ASYNC_END("async", "net", 0x1234);
    char name[] = "made-1";
    {
        PERFTRACE_SCOPE_NAMED(name, "compute", PERFTRACE_INT("k", 1));
        name[5] = '2'; /* the name was copied */
    }
    PERFTRACE_INSTANT_NAMED(name, "compute");
    perftrace_shutdown();
}

static void every_macro_gives_its_line(void **state) {
    (void)state;
    traced_file_t f = run(use_every_macro);
    const cJSON *scope = traced_line(&f, "scope", 0);
    assert_int_equal(traced_arg_number(scope, "n"), 7);
    assert_int_equal(traced_arg_number(scope, "u"), 8);
    assert_true(traced_arg_number(scope, "d") == 0.25);
    assert_true(cJSON_IsTrue(traced_arg(scope, "b")));
    assert_string_equal(text_arg(scope, "s"), "text");
    assert_true(inside(traced_line(&f, "bare", 0), scope));
    assert_int_equal(traced_count(&f, "use_every_macro"), 1);
    assert_int_equal(traced_count(&f, "span"), 1);
    assert_string_equal(text_arg(traced_line(&f, "span", 0), "path"), "/x");
    assert_int_equal(traced_phase(&f, "i"), 2);
    assert_int_equal(traced_phase(&f, "C"), 2);
    assert_true(traced_arg_number(traced_line(&f, "counter", 0), "value") == 1.5);
    assert_int_equal(traced_arg_number(traced_line(&f, "pair", 0), "b"), 2);
    assert_int_equal(traced_phase(&f, "s"), 1);
    assert_int_equal(traced_phase(&f, "t"), 1);
    assert_int_equal(traced_phase(&f, "f"), 1);
    assert_int_equal(traced_count(&f, "async"), 3);
    assert_non_null(strstr(traced_text(&f, "async", 0), "\"id\": \"0x1234\""));
    assert_int_equal(traced_count(&f, "made-1"), 1);
    assert_int_equal(traced_count(&f, "made-2"), 1);
    assert_int_equal(traced_footer(&f, "emitted"), 18);
    assert_int_equal(traced_footer(&f, "written"), 18);
    traced_free(&f);
}

static void laps_touch_and_do_not_overlap(void **state) {
    (void)state;
    traced_file_t f = run(use_every_macro);
    static const char *const names[] = {"one", "two", "three"};
    static const char *const categories[] = {"comm", "misc", "sync"};
    for (int i = 0; i < 3; i++) {
        const cJSON *line = traced_line(&f, names[i], 0);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(line, "cat")), categories[i]);
        if (i) {
            double gap = traced_number(line, "ts") - end_of(traced_line(&f, names[i - 1], 0));
            assert_true(gap < 0.0005 && gap > -0.0005);
        }
    }
    traced_free(&f);
}

/* ---- ways out of a block ---- */

static int leave_by_return(int way) {
    PERFTRACE_SCOPE("by.return", "compute", PERFTRACE_INT("way", way));
    if (way == 1) {
        return 1;
    }
    return 2;
}

static void leave_in_every_way(const char *where) {
    traced_start(where);
    PERFTRACE_SCOPE("outer");
    CHILD_CHECK(leave_by_return(1) + leave_by_return(0) == 3);
    for (int i = 0; i < 5; i++) {
        PERFTRACE_SCOPE("by.loop");
        if (i == 1) {
            continue;
        }
        if (i == 3) {
            break;
        }
    }
    int again = 2;
back : {
    PERFTRACE_SCOPE("by.goto");
    if (--again) {
        goto back;
    }
    goto out;
}
out:;
    {
        PERFTRACE_LAP_BEGIN(lap, "lap.first");
        PERFTRACE_LAP(lap, "by.lap");
    }
    /* clang-format off */
    { PERFTRACE_SCOPE("line.a"); PERFTRACE_SCOPE("line.b"); }
    /* clang-format on */
}

static void a_scope_ends_by_every_way_out_of_its_block(void **state) {
    (void)state;
    traced_file_t f = run(leave_in_every_way);
    assert_int_equal(traced_count(&f, "by.return"), 2);
    assert_int_equal(traced_count(&f, "by.loop"), 4);
    assert_int_equal(traced_count(&f, "by.goto"), 2);
    assert_int_equal(traced_count(&f, "by.lap"), 1);
    const cJSON *outer = traced_line(&f, "outer", 0);
    static const char *const inner[] = {"by.return", "by.loop", "by.goto", "lap.first", "by.lap"};
    for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
        for (size_t k = 0; k < traced_count(&f, inner[i]); k++) {
            assert_true(inside(traced_line(&f, inner[i], k), outer));
        }
    }
    assert_true(inside(traced_line(&f, "line.b", 0), traced_line(&f, "line.a", 0)));
    assert_int_equal(traced_footer(&f, "unfinished"), 0);
    traced_free(&f);
}

/* ---- spans in any order ---- */

static void cross_spans(const char *where) {
    traced_start(where);
    perftrace_stats_t s = {.struct_size = sizeof(s)};
    /* More often than the open-scope stack is deep: closed entries do not pile up. */
    for (int i = 0; i < 300; i++) {
        perftrace_span_t a;
        perftrace_span_t b;
        perftrace_span_t c;
        PERFTRACE_BEGIN(&a, "a", "compute", PERFTRACE_INT("i", i));
        PERFTRACE_BEGIN(&b, "b");
        PERFTRACE_END(&a);
        PERFTRACE_BEGIN(&c, "c");
        PERFTRACE_END(&b);
        /* At a full stack, closed entries counted, one may be too deep to be seen. */
        CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.unfinished <= 1);
        CHILD_CHECK(i > 90 || s.unfinished == 1);
        PERFTRACE_END(&c);
        CHILD_CHECK(perftrace_get_stats(&s) == 0 && s.unfinished == 0);
    }
    perftrace_span_t zero;
    memset(&zero, 0, sizeof(zero));
    PERFTRACE_END(&zero);
}

static void spans_may_end_in_any_order(void **state) {
    (void)state;
    traced_file_t f = run(cross_spans);
    assert_int_equal(traced_count(&f, "a"), 300);
    assert_int_equal(traced_count(&f, "b"), 300);
    assert_int_equal(traced_count(&f, "c"), 300);
    for (size_t i = 0; i < 300; i++) {
        const cJSON *a = traced_line(&f, "a", i);
        const cJSON *b = traced_line(&f, "b", i);
        assert_int_equal(traced_arg_number(a, "i"), (int)i);
        assert_true(traced_number(a, "ts") <= traced_number(b, "ts"));
        assert_true(end_of(a) <= end_of(b) + 0.0005);
    }
    assert_int_equal(traced_footer(&f, "unfinished"), 0);
    traced_free(&f);
}

static void begin_spans_only(const char *where) {
    traced_start(where);
    static perftrace_span_t spans[3];
    PERFTRACE_BEGIN(&spans[0], "left");
    PERFTRACE_BEGIN(&spans[1], "ended");
    PERFTRACE_BEGIN(&spans[2], "left");
    PERFTRACE_END(&spans[1]);
    perftrace_shutdown();
    PERFTRACE_END(&spans[2]);
    PERFTRACE_END(&spans[0]);
}

static void what_is_open_at_the_end_is_unfinished(void **state) {
    (void)state;
    traced_file_t f = run(begin_spans_only);
    assert_int_equal(traced_phase(&f, "B"), 2);
    assert_true(cJSON_IsTrue(traced_arg(traced_line(&f, "left", 0), "unfinished")));
    assert_int_equal(traced_count(&f, "ended"), 1);
    assert_int_equal(traced_footer(&f, "unfinished"), 2);
    traced_free(&f);
}

/* ---- depth ---- */

static void dive(int depth) {
    PERFTRACE_SCOPE("deep", "compute", PERFTRACE_INT("depth", depth));
    if (depth < 700) {
        dive(depth + 1);
    }
}

static void go_deep(const char *where) {
    traced_start(where);
    for (int i = 0; i < 3; i++) {
        dive(1);
    }
}

static void scopes_nest_deeper_than_the_visible_stack(void **state) {
    (void)state;
    traced_file_t f = run(go_deep);
    assert_int_equal(traced_count(&f, "deep"), 2100);
    for (size_t i = 0; i + 1 < 700; i++) {
        assert_int_equal(traced_arg_number(traced_line(&f, "deep", i), "depth"), 700 - (int)i);
        assert_true(inside(traced_line(&f, "deep", i), traced_line(&f, "deep", i + 1)));
    }
    assert_int_equal(traced_footer(&f, "unfinished"), 0);
    traced_free(&f);
}

static jmp_buf away;

static void throw_from_inside(void) {
    PERFTRACE_SCOPE("jumped.inner");
    longjmp(away, 1);
}

static void throw_away(bool deep) {
    PERFTRACE_SCOPE("jumped");
    if (deep) {
        PERFTRACE_SCOPE("jumped.too");
        throw_from_inside();
    }
    longjmp(away, 1);
}

/* No scope in here: what setjmp's own function keeps in registers is lost by the jump. */
static __attribute__((noinline)) void jump(bool deep) {
    if (setjmp(away) == 0) {
        throw_away(deep);
    }
}

static void jump_out(const char *where) {
    traced_start(where);
    for (int i = 0; i < 500; i++) {
        PERFTRACE_SCOPE("around");
        jump(true);
        PERFTRACE_SCOPE("behind");
    }
    for (int i = 0; i < 500; i++) {
        jump(false);
        PERFTRACE_SCOPE("flat");
    }
}

static void a_jump_out_of_scopes_costs_those_scopes_only(void **state) {
    (void)state;
    traced_file_t f = run(jump_out);
    assert_int_equal(traced_count(&f, "around"), 500);
    assert_int_equal(traced_count(&f, "behind"), 500);
    assert_int_equal(traced_count(&f, "flat"), 500);
    for (size_t i = 0; i < 500; i++) {
        assert_true(inside(traced_line(&f, "behind", i), traced_line(&f, "around", i)));
    }
    traced_free(&f);
}

/* ---- arguments ---- */

#define MEGA (1u << 20)

static void pass_strings(const char *where) {
    traced_start(where);
    char *mega = malloc(MEGA + 1);
    for (size_t i = 0; i < MEGA; i++) {
        mega[i] = "\xE2\x82\xAC"[i % 3];
    }
    mega[MEGA] = '\0';
    PERFTRACE_INSTANT("mega", "misc", PERFTRACE_STRING("s", mega));
    { PERFTRACE_SCOPE("mega.scope", "misc", PERFTRACE_STRING("s", mega)); }
    PERFTRACE_INSTANT_NAMED(mega, "misc");
    free(mega);
    PERFTRACE_INSTANT("nasty", "misc", PERFTRACE_STRING("quotes", "a\"b\\c"),
                      PERFTRACE_STRING("control", "\x01\n\x1F"),
                      PERFTRACE_STRING("bad", "x\xFF\xC3y"), PERFTRACE_STRING("null", NULL),
                      PERFTRACE_STRING("empty", ""));
    PERFTRACE_INSTANT("quote\"\n\xFF", "cat\"\\", PERFTRACE_INT("key\"", 1));
    char text[] = "before";
    {
        PERFTRACE_SCOPE("copied", "misc", PERFTRACE_STRING("s", text), PERFTRACE_INT("i", 1),
                        PERFTRACE_STRING("t", "second"));
        memcpy(text, "after!", 6);
    }
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "five", "misc", PERFTRACE_STRING("a", "1"), PERFTRACE_STRING("b", "2"),
                    PERFTRACE_STRING("c", "3"), PERFTRACE_STRING("d", "4"),
                    PERFTRACE_STRING("e", "5"));
    PERFTRACE_END(&span);
}

static void strings_are_copied_cut_and_marked(void **state) {
    (void)state;
    traced_file_t f = run(pass_strings);
    const char *s = text_arg(traced_line(&f, "mega", 0), "s");
    assert_true(strlen(s) <= 4096 && strlen(s) > 4000);
    size_t kept = (size_t)(strstr(s, "\xE2\x80\xA6[+") - s);
    char mark[64];
    snprintf(mark, sizeof(mark), "\xE2\x80\xA6[+%zu bytes]", MEGA - kept);
    assert_string_equal(s + kept, mark);
    assert_int_equal(kept % 3, 0);
    s = text_arg(traced_line(&f, "mega.scope", 0), "s");
    assert_true(strlen(s) < 256 && strstr(s, " bytes]"));
    const cJSON *nasty = traced_line(&f, "nasty", 0);
    assert_string_equal(text_arg(nasty, "quotes"), "a\"b\\c");
    assert_string_equal(text_arg(nasty, "control"), "\x01\n\x1F");
    assert_string_equal(text_arg(nasty, "bad"), "x\xEF\xBF\xBD\xEF\xBF\xBDy");
    assert_true(cJSON_IsNull(traced_arg(nasty, "null")));
    assert_string_equal(text_arg(nasty, "empty"), "");
    assert_int_equal(traced_arg_number(traced_line(&f, "quote\"\n\xEF\xBF\xBD", 0), "key\""), 1);
    const cJSON *copied = traced_line(&f, "copied", 0);
    assert_string_equal(text_arg(copied, "s"), "before");
    assert_string_equal(text_arg(copied, "t"), "second");
    const cJSON *five = traced_line(&f, "five", 0);
    assert_string_equal(text_arg(five, "d"), "4");
    assert_string_equal(text_arg(five, "e"), "(more than four strings in one span)");
    assert_int_equal(traced_footer(&f, "written"), traced_footer(&f, "emitted"));
    traced_free(&f);
}

#define TWELVE                                                                                     \
    PERFTRACE_INT("a0", -1), PERFTRACE_UINT("a1", UINT64_MAX), PERFTRACE_DOUBLE("a2", 1e300),      \
        PERFTRACE_BOOL("a3", 0), PERFTRACE_STRING("a4", "four"), PERFTRACE_INT("a5", INT64_MIN),   \
        PERFTRACE_INT("a6", 6), PERFTRACE_INT("a7", 7), PERFTRACE_INT("a8", 8),                    \
        PERFTRACE_INT("a9", 9), PERFTRACE_INT("a10", 10), PERFTRACE_STRING("a11", "last")

static void pass_twelve(const char *where) {
    traced_start(where);
    { PERFTRACE_SCOPE("twelve", "misc", TWELVE); }
    PERFTRACE_INSTANT("twelve", "misc", TWELVE);
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "twelve", "misc", TWELVE);
    PERFTRACE_END(&span);
    PERFTRACE_ASYNC_BEGIN("twelve", "misc", 1, PERFTRACE_INT("a0", -1), PERFTRACE_INT("a1", 1));
    PERFTRACE_COUNTER("loss", 1.5);
    PERFTRACE_COUNTER("loss", (double)NAN);
    PERFTRACE_COUNTER("loss", -(double)INFINITY);
    { PERFTRACE_SCOPE("lr", "misc", PERFTRACE_DOUBLE("lr", (double)NAN)); }
}

static void twelve_arguments_keep_their_values(void **state) {
    (void)state;
    traced_file_t f = run(pass_twelve);
    for (size_t i = 0; i < 3; i++) {
        const char *text = traced_text(&f, "twelve", i);
        assert_non_null(
            strstr(text, "\"args\": {\"a0\": -1, \"a1\": 18446744073709551615, \"a2\": 1e+300, "
                         "\"a3\": false, \"a4\": \"four\", \"a5\": -9223372036854775808, "
                         "\"a6\": 6, \"a7\": 7, \"a8\": 8, \"a9\": 9, \"a10\": 10, "
                         "\"a11\": \"last\", \"rank\": 0}"));
    }
    assert_true(cJSON_IsNull(traced_arg(traced_line(&f, "loss", 1), "value")));
    assert_true(cJSON_IsNull(traced_arg(traced_line(&f, "loss", 2), "value")));
    assert_string_equal(text_arg(traced_line(&f, "lr", 0), "lr"), "NaN");
    traced_free(&f);
}

/* ---- on and off ---- */

static int evaluated;

static int evaluate(void) {
    return ++evaluated;
}

static const char *make_name(void) {
    evaluated++;
    return "named";
}

static void use_arguments(void) {
    PERFTRACE_SCOPE_NAMED(make_name(), "compute", PERFTRACE_INT("x", evaluate()));
    PERFTRACE_INSTANT_NAMED(make_name(), "compute", PERFTRACE_INT("x", evaluate()));
    PERFTRACE_SCOPE("s", "compute", PERFTRACE_INT("x", evaluate()));
    PERFTRACE_INSTANT("i", "compute", PERFTRACE_INT("x", evaluate()));
    PERFTRACE_COUNTER("c", evaluate());
    PERFTRACE_ASYNC_BEGIN("a", "compute", 1, PERFTRACE_INT("x", evaluate()));
    perftrace_span_t span;
    PERFTRACE_BEGIN(&span, "b", "compute", PERFTRACE_INT("x", evaluate()));
    PERFTRACE_END(&span);
}

static void toggle(const char *where) {
    use_arguments();
    CHILD_CHECK(evaluated == 0); /* before init */
    CHILD_CHECK(perftrace_get_enabled() == 0 && perftrace_set_enabled(1) != 0);
    traced_start(where);
    use_arguments();
    CHILD_CHECK(evaluated == 9 && perftrace_get_enabled() == 1);
    CHILD_CHECK(perftrace_set_enabled(0) == 0 && perftrace_get_enabled() == 0);
    use_arguments();
    CHILD_CHECK(evaluated == 9);
    {
        /* Open scopes keep the decision of their begin. */
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
        PERFTRACE_SCOPE("kept");
        CHILD_CHECK(perftrace_set_enabled(0) == 0);
    }
    {
        PERFTRACE_SCOPE("not.kept");
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
    }
    use_arguments();
    CHILD_CHECK(evaluated == 18);
    CHILD_CHECK(perftrace_set_filter("-compute", "") == 0);
    PERFTRACE_INSTANT("filtered", "compute", PERFTRACE_INT("x", evaluate()));
    CHILD_CHECK(perftrace_shutdown() == 0);
    CHILD_CHECK(evaluated == 18);
    use_arguments(); /* late: counted, not evaluated */
    CHILD_CHECK(evaluated == 18);
}

static void off_means_nothing_is_evaluated_or_recorded(void **state) {
    (void)state;
    traced_file_t f = run(toggle);
    assert_int_equal(traced_count(&f, "s"), 2);
    assert_int_equal(traced_count(&f, "i"), 2);
    assert_int_equal(traced_count(&f, "kept"), 1);
    assert_int_equal(traced_count(&f, "not.kept"), 0);
    assert_int_equal(traced_count(&f, "named"), 4);
    assert_int_equal(traced_footer(&f, "written"), 15);
    traced_free(&f);
}

/* ---- steps ---- */

static void set_steps(const char *where) {
    PERFTRACE_STEP(99); /* before init: nothing */
    traced_start(where);
    { PERFTRACE_SCOPE("none"); }
    for (int i = 0; i < 3000; i++) {
        PERFTRACE_STEP(i);
        PERFTRACE_SCOPE("stepped", "compute", PERFTRACE_INT("i", i));
        PERFTRACE_INSTANT("point");
        if (i % 500 == 0) {
            CHILD_CHECK(perftrace_save(-1, 0) == 0);
        }
    }
    PERFTRACE_STEP(-5);
    PERFTRACE_SCOPE("own", "compute", PERFTRACE_INT("global_step", 1));
}

static void a_scope_carries_the_step_of_its_begin(void **state) {
    (void)state;
    traced_file_t f = run(set_steps);
    assert_null(traced_arg(traced_line(&f, "none", 0), "global_step"));
    assert_int_equal(traced_count(&f, "stepped"), 3000);
    for (size_t i = 0; i < f.count; i++) {
        const cJSON *step = traced_arg(f.lines[i], "global_step");
        const cJSON *want = traced_arg(f.lines[i], "i");
        if (want) {
            /* Only the last 1024 steps are known at a time. */
            assert_true(!step || step->valueint == want->valueint);
        }
    }
    assert_int_equal(traced_arg_number(traced_line(&f, "stepped", 2999), "global_step"), 2999);
    assert_null(traced_arg(traced_line(&f, "point", 5), "global_step"));
    assert_non_null(strstr(traced_text(&f, "own", 0), "{\"global_step\": 1, \"rank\": 0}"));
    traced_free(&f);
}

/* ---- ends of barriers ---- */

static void pass_barriers(const char *where) {
    volatile int times = 0;
    PERFTRACE_SYNC(1); /* before init: nothing */
    perftrace_sync(2);
    traced_start(where);
    PERFTRACE_SYNC((uint8_t)3 + 0 * times++);
    perftrace_sync(-4);
    PERFTRACE_SYNC(INT64_MAX);
    perftrace_sync(INT64_MIN);
    CHILD_CHECK(times == 1);
    CHILD_CHECK(perftrace_set_filter("-comm", NULL) == 0);
    PERFTRACE_SYNC(5);
    CHILD_CHECK(perftrace_set_enabled(0) == 0);
    perftrace_sync(6);
}

static void ends_of_barriers_are_instants(void **state) {
    static const char *const want[] = {"3", "-4", "9223372036854775807", "-9223372036854775808"};
    char text[96];
    (void)state;
    traced_file_t f = run(pass_barriers);
    assert_int_equal(traced_count(&f, "perftrace_sync"), 4);
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "\"args\": {\"sync_id\": %s, \"rank\": 0}, \"s\": \"t\"}",
                 want[i]);
        assert_non_null(strstr(traced_text(&f, "perftrace_sync", i), text));
        assert_non_null(strstr(traced_text(&f, "perftrace_sync", i), "\"cat\": \"comm\""));
    }
    traced_free(&f);
}

static void give_own_rank(const char *where) {
    perftrace_config_t config = traced_config(where);
    config.role = "actor";
    CHILD_CHECK(perftrace_init(&config) == 0);
    { PERFTRACE_SCOPE("numbers", "compute", PERFTRACE_INT("rank", 7)); }
    { PERFTRACE_SCOPE("both", "compute", PERFTRACE_STRING("role", "x"), PERFTRACE_INT("rank", 7)); }
    PERFTRACE_INSTANT("role", "compute", PERFTRACE_STRING("role", "y"));
    PERFTRACE_INSTANT("none", "compute");
}

/* A key never stands twice: readers differ on which of two counts. */
static void arguments_of_the_writers_names_are_the_programs(void **state) {
    (void)state;
    traced_file_t f = run(give_own_rank);
    const char *want[][2] = {{"numbers", "{\"rank\": 7, \"role\": \"actor\"}"},
                             {"both", "{\"role\": \"x\", \"rank\": 7}"},
                             {"role", "{\"role\": \"y\", \"rank\": 0}"},
                             {"none", "{\"rank\": 0, \"role\": \"actor\"}"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_non_null(strstr(traced_text(&f, want[i][0], 0), want[i][1]));
    }
    traced_free(&f);
}

/* ---- sites made at run time ---- */

static void make_sites(const char *where) {
    static const perftrace_i_arg_t args[] = {{"n", PERFTRACE_I_TYPE_I64},
                                             {"s", PERFTRACE_I_TYPE_STR}};
    static const perftrace_i_arg_t bad[] = {{"n", PERFTRACE_I_TYPE_LAST + 1}};
    char name[] = "made.scope";
    perftrace_i_site_t *early =
        perftrace_site_create(PERFTRACE_I_KIND_SCOPE, name, "communication", "f.py", 3, 2, args);
    CHILD_CHECK(early);
    memset(name, 'x', sizeof(name) - 1);
    perftrace_span_t span;
    uint64_t values[] = {(uint64_t)-4, (uint64_t)(uintptr_t) "text"};
    CHILD_CHECK(perftrace_span_begin(&span, early, values) == 0);
    perftrace_span_end(&span);
    traced_start(where);
    CHILD_CHECK(perftrace_span_begin(&span, early, values) == 1);
    perftrace_span_end(&span);
    perftrace_span_end(&span);
    CHILD_CHECK(perftrace_span_begin(&span, early, NULL) == 1);
    perftrace_span_end(&span);
    for (int kind = PERFTRACE_I_KIND_INSTANT; kind <= PERFTRACE_I_KIND_ASYNC_END; kind++) {
        perftrace_i_site_t *site =
            perftrace_site_create(kind, "made.point", NULL, NULL, 0, 2, args);
        CHILD_CHECK(site);
        perftrace_emit(site, 77, values);
        CHILD_CHECK(perftrace_set_enabled(0) == 0);
        perftrace_emit(site, 77, values);
        CHILD_CHECK(perftrace_set_enabled(1) == 0);
        perftrace_emit(site, 77, NULL);
    }
    CHILD_CHECK(!perftrace_site_create(0, "x", NULL, NULL, 0, 0, NULL));
    CHILD_CHECK(!perftrace_site_create(PERFTRACE_I_KIND_LAST + 1, "x", NULL, NULL, 0, 0, NULL));
    CHILD_CHECK(!perftrace_site_create(1, "x", NULL, NULL, 0, 13, args));
    CHILD_CHECK(!perftrace_site_create(1, "x", NULL, NULL, 0, 1, NULL));
    CHILD_CHECK(!perftrace_site_create(1, "x", NULL, NULL, 0, 1, bad));
}

static void sites_made_at_run_time_work_as_the_macros_do(void **state) {
    (void)state;
    traced_file_t f = run(make_sites);
    assert_int_equal(traced_count(&f, "made.scope"), 2);
    assert_int_equal(traced_count(&f, "made.point"), 16);
    const cJSON *first = traced_line(&f, "made.scope", 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(first, "cat")), "comm");
    assert_int_equal((int)traced_arg_number(first, "n"), -4);
    assert_string_equal(text_arg(first, "s"), "text");
    assert_true(cJSON_IsNull(traced_arg(traced_line(&f, "made.scope", 1), "s")));
    assert_int_equal(traced_phase(&f, "f"), 2);
    traced_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_macro_gives_its_line),
        CASE(laps_touch_and_do_not_overlap),
        CASE(a_scope_ends_by_every_way_out_of_its_block),
        CASE(spans_may_end_in_any_order),
        CASE(what_is_open_at_the_end_is_unfinished),
        CASE(scopes_nest_deeper_than_the_visible_stack),
        CASE(a_jump_out_of_scopes_costs_those_scopes_only),
        CASE(strings_are_copied_cut_and_marked),
        CASE(twelve_arguments_keep_their_values),
        CASE(off_means_nothing_is_evaluated_or_recorded),
        CASE(a_scope_carries_the_step_of_its_begin),
        CASE(ends_of_barriers_are_instants),
        CASE(arguments_of_the_writers_names_are_the_programs),
        CASE(sites_made_at_run_time_work_as_the_macros_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
