/* test_analyze_rules.c: rules for classes of kernels, and ranks by file names.
 * SPDX-License-Identifier: MIT */
#include "file_rank.h"
#include "kernel_rules.h"
#include "rank_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *class_of(const pt_kernel_rules_t *rules, const char *name) {
    const pt_kernel_rule_t *rule = pt_kernel_rules_find(rules, name, strlen(name));
    return rule != NULL ? rule->name : "(none)";
}

static bool add(pt_kernel_rules_t *rules, const char *text, perftrace__strbuf_t *problem) {
    return pt_kernel_rules_add(rules, text, strlen(text), problem);
}

static void the_first_rule_that_fits_counts(void **state) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_kernel_rules_t rules = {NULL, 0, 0};
    (void)state;
    assert_true(add(&rules,
                    "# comment\n\ncompute\tBoth\tAlpha + beta\r\nmemory\tEither\talpha|gamma ray\n"
                    "communication\tRest\t*",
                    &problem));
    assert_string_equal(class_of(&rules, "BETA then ALPHA"), "Both");
    assert_string_equal(class_of(&rules, "alpha"), "Either");
    assert_string_equal(class_of(&rules, "a GAMMA RAY"), "Either");
    assert_string_equal(class_of(&rules, "gamma  ray"), "Rest");
    assert_string_equal(class_of(&rules, ""), "Rest");
    assert_int_equal(rules.rule[2].group, PT_GROUP_COMMUNICATION);
    pt_kernel_rules_free(&rules);
    assert_string_equal(class_of(&rules, "x"), "(none)");
}

static void what_tells_the_class_may_stand_at_the_end(void **state) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_kernel_rules_t rules = {NULL, 0, 0};
    char name[4000];
    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name + sizeof name - 7, "cutlass", 7);
    assert_true(add(&rules, pt_kernel_rules_text(), &problem));
    assert_string_equal(pt_kernel_rules_find(&rules, name, sizeof name)->name, "GEMM");
    assert_string_equal(pt_kernel_rules_find(&rules, name, sizeof name - 1)->name, "Other");
    pt_kernel_rules_free(&rules);
}

static void bad_rules_are_refused_with_their_line(void **state) {
    static const struct {
        const char *text, *problem;
    } bad[] = {{"compute\tx\ty\nno tabs\n", "line 2: expected GROUP, CLASS and PATTERN"},
               {"compute\tx\n", "line 1: expected"},
               {"compute\t\ty\n", "line 1: expected"},
               {"compute\tx\t\n", "line 1: expected"},
               {"\n\nother\tx\ty\n", "line 3: the group must be"}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(bad); i++) {
        perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
        pt_kernel_rules_t rules = {NULL, 0, 0};
        assert_false(add(&rules, bad[i].text, &problem));
        assert_memory_equal(perftrace__strbuf_cstr(&problem), bad[i].problem,
                            strlen(bad[i].problem));
        pt_kernel_rules_free(&rules);
        perftrace__strbuf_free(&problem);
    }
}

static void names_of_files_tell_ranks(void **state) {
    static const struct {
        const char *path;
        int64_t rank;
    } names[] = {{"a/rank3.1234.pt.trace.json.gz", 3},
                 {"host_rank-12.json", 12},
                 {"traces-r7.jsonl", 7},
                 {"1712345-TP-1.trace.json.gz", 1},
                 {"1712345-TP-10.trace.json.gz", 10},
                 {"x-TP-0-DP-0.json", 0},
                 {"x-TP-1-DP-2.json", -1},
                 {"dp0_pp0_tp5.json", 5},
                 {"dp1_pp0_tp5.json", -1},
                 {"rank3/trace.json", -1},
                 {"http-7.json", -1},
                 {"tp.json", -1},
                 {"worker0.1623143089861.pt.trace.json", -1},
                 {"", -1}};
    (void)state;
    for (size_t i = 0; i < PT_ARRAY_LEN(names); i++) {
        assert_int_equal(pt_file_rank_or_tp(names[i].path), names[i].rank);
    }
    assert_true(pt_rank_map_is_entry("a=b=3"));
    assert_false(pt_rank_map_is_entry("=3"));
    assert_false(pt_rank_map_is_entry("a=-1"));
    assert_false(pt_rank_map_is_entry("a=3x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_fits_counts),
        cmocka_unit_test(what_tells_the_class_may_stand_at_the_end),
        cmocka_unit_test(bad_rules_are_refused_with_their_line),
        cmocka_unit_test(names_of_files_tell_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
