/* test_writer_lines.c: the exact text of every kind of line. SPDX-License-Identifier: MIT */
#include "base_random.h"
#include "json_scan.h"
#include "jsonl_encode.h"

#include <math.h>
#include <perftrace/perftrace.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static perftrace__jsonl_t jsonl;

static perftrace__run_meta_t meta_of(int rank, const char *role) {
    perftrace__run_meta_t m = {.rank = rank,
                               .world_size = 8,
                               .local_rank = -1,
                               .tp = 1,
                               .pp = -1,
                               .dp = 0,
                               .cp = -1,
                               .ep = -1,
                               .pid = 71,
                               .clock_kind = PERFTRACE__CLOCK_TSC,
                               .process_start = 4242,
                               .epoch_ns = 1790000000123456789u,
                               .mono_ns = 5000};
    strcpy(m.run_id, "run \"1\"");
    snprintf(m.role, sizeof(m.role), "%s", role);
    strcpy(m.host, "node-1");
    strcpy(m.boot_id, "b");
    return m;
}

static void start(int rank, const char *role) {
    const perftrace__run_meta_t m = meta_of(rank, role);
    assert_true(perftrace__jsonl_init(&jsonl, &m));
}

/* The text so far is want, and strict. */
static void said(const char *want) {
    assert_false(jsonl.out.failed);
    perftrace__strbuf_putc(&jsonl.out, '\0'); /* lines are appended without one */
    assert_string_equal(jsonl.out.data, want);
    for (const char *p = jsonl.out.data; *p;) {
        size_t n = strcspn(p, "\n");
        assert_true(perftrace__json_check(p, n, NULL, NULL));
        p += n + 1;
    }
    perftrace__strbuf_clear(&jsonl.out);
}

static perftrace__site_t site_of(uint32_t kind, const char *name, const char *category,
                                 uint32_t nargs, const perftrace__site_arg_t *args) {
    perftrace__site_t s = {.id = 1,
                           .kind = kind,
                           .nargs = nargs,
                           .name = name,
                           .name_len = (uint32_t)strlen(name),
                           .category = category,
                           .category_len = (uint32_t)strlen(category)};
    for (uint32_t i = 0; i < nargs; i++) {
        s.args[i] = args[i];
        s.args[i].name_len = (uint32_t)strlen(args[i].name);
        s.has_strings |= args[i].type == PERFTRACE_I_TYPE_STR;
    }
    return s;
}

static perftrace__event_t event_of(const perftrace__site_t *s, uint64_t start_ns, uint64_t end_ns,
                                   const uint64_t *args, uint32_t words) {
    perftrace__event_t ev = {.kind = s->kind,
                             .site = s,
                             .name = s->name,
                             .name_len = s->name_len,
                             .nargs = s->nargs,
                             .start = start_ns,
                             .end = end_ns,
                             .args = args,
                             .args_end = args + words,
                             .tid = 72};
    return ev;
}

static uint64_t bits(double v) {
    uint64_t b;
    memcpy(&b, &v, sizeof(b));
    return b;
}

static void a_scope_is_an_x_with_its_arguments_step_rank_and_role(void **state) {
    (void)state;
    start(3, "actor");
    const perftrace__site_arg_t args[] = {
        {"n", 0, PERFTRACE_I_TYPE_I64},  {"u", 0, PERFTRACE_I_TYPE_U64},
        {"lr", 0, PERFTRACE_I_TYPE_F64}, {"ok", 0, PERFTRACE_I_TYPE_BOOL},
        {"s", 0, PERFTRACE_I_TYPE_STR},  {"none", 0, PERFTRACE_I_TYPE_STR}};
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_SCOPE, "train.step", "compute", 6, args);
    uint64_t words[] = {(uint64_t)-5, UINT64_MAX, bits(0.5), 1, 3, 0, PERFTRACE__STR_NULL};
    memcpy(&words[5], "a\"b", 3);
    perftrace__event_t ev = event_of(&s, 305125, 345375, words, 7);
    ev.has_step = true;
    ev.step = 9;
    perftrace__jsonl_event(&jsonl, &ev);
    said("{\"name\": \"train.step\", \"ph\": \"X\", \"ts\": 305.125, \"dur\": 40.250, \"pid\": 71, "
         "\"tid\": 72, \"cat\": \"compute\", \"args\": {\"n\": -5, \"u\": 18446744073709551615, "
         "\"lr\": 0.5, \"ok\": true, \"s\": \"a\\\"b\", \"none\": null, \"global_step\": 9, "
         "\"rank\": 3, \"role\": \"actor\"}}\n");
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void durations_are_at_least_a_nanosecond(void **state) {
    (void)state;
    start(-1, "");
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_SCOPE, "x", "misc", 0, NULL);
    perftrace__event_t ev = event_of(&s, 1000, 1000, NULL, 0);
    perftrace__jsonl_event(&jsonl, &ev);
    said(
        "{\"name\": \"x\", \"ph\": \"X\", \"ts\": 1.000, \"dur\": 0.001, \"pid\": 71, \"tid\": 72, "
        "\"cat\": \"misc\", \"args\": {}}\n");
    ev.end = 7; /* runs backwards */
    ev.tid = 9;
    ev.flags = PERFTRACE_I_RECORD_FORKED;
    perftrace__jsonl_event(&jsonl, &ev);
    said("{\"name\": \"x\", \"ph\": \"X\", \"ts\": 1.000, \"dur\": 0.001, \"pid\": 71, \"tid\": 9, "
         "\"cat\": \"misc\", \"args\": {\"forked\": true}}\n");
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void points_have_their_letters_and_ids(void **state) {
    (void)state;
    static const struct {
        uint32_t kind;
        const char *text;
    } cases[] = {
        {PERFTRACE_I_KIND_INSTANT,
         "\"ph\": \"i\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, \"cat\": "
         "\"io\", \"args\": {\"rank\": 0}, \"s\": \"t\"}\n"},
        {PERFTRACE_I_KIND_COUNTER,
         "\"ph\": \"C\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, \"cat\": "
         "\"io\", \"args\": {}}\n"},
        {PERFTRACE_I_KIND_FLOW_START,
         "\"ph\": \"s\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, "
         "\"cat\": \"io\", \"args\": {\"rank\": 0}, \"id\": \"0x2a\"}\n"},
        {PERFTRACE_I_KIND_FLOW_STEP,
         "\"ph\": \"t\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, "
         "\"cat\": \"io\", \"args\": {\"rank\": 0}, \"id\": \"0x2a\"}\n"},
        {PERFTRACE_I_KIND_FLOW_END,
         "\"ph\": \"f\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, \"cat\": \"io\", \"args\": "
         "{\"rank\": 0}, \"id\": \"0x2a\", \"bp\": \"e\"}\n"},
        {PERFTRACE_I_KIND_ASYNC_BEGIN,
         "\"ph\": \"b\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, "
         "\"cat\": \"io\", \"args\": {\"rank\": 0}, \"id\": \"0x2a\"}\n"},
        {PERFTRACE_I_KIND_ASYNC_INSTANT,
         "\"ph\": \"n\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, \"cat\": \"io\", \"args\": "
         "{\"rank\": 0}, \"id\": \"0x2a\"}\n"},
        {PERFTRACE_I_KIND_ASYNC_END,
         "\"ph\": \"e\", \"ts\": 309.004, \"pid\": 71, \"tid\": 72, "
         "\"cat\": \"io\", \"args\": {\"rank\": 0}, \"id\": \"0x2a\"}\n"},
    };
    start(0, "");
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__site_t s = site_of(cases[i].kind, "p", "io", 0, NULL);
        perftrace__event_t ev = event_of(&s, 309004, 309004, NULL, 0);
        ev.id = 42;
        perftrace__jsonl_event(&jsonl, &ev);
        char want[300];
        snprintf(want, sizeof(want), "{\"name\": \"p\", %s", cases[i].text);
        said(want);
        free(s.cache);
    }
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_FLOW_START, "p", "io", 0, NULL);
    perftrace__event_t ev = event_of(&s, 0, 0, NULL, 0);
    static const struct {
        uint64_t id;
        const char *text;
    } ids[] = {{0, "\"0x0\""},
               {15, "\"0xf\""},
               {UINT64_MAX, "\"0xffffffffffffffff\""},
               {(uint64_t)1 << 60, "\"0x1000000000000000\""}};
    for (size_t i = 0; i < PT_ARRAY_LEN(ids); i++) {
        ev.id = ids[i].id;
        perftrace__jsonl_event(&jsonl, &ev);
        perftrace__strbuf_putc(&jsonl.out, '\0');
        assert_non_null(strstr(jsonl.out.data, ids[i].text));
        perftrace__strbuf_clear(&jsonl.out);
    }
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void numbers_that_are_not_finite_are_null_in_counters_and_strings_elsewhere(void **state) {
    (void)state;
    start(0, "r");
    const perftrace__site_arg_t args[] = {{"a", 0, PERFTRACE_I_TYPE_F64},
                                          {"b", 0, PERFTRACE_I_TYPE_F64},
                                          {"c", 0, PERFTRACE_I_TYPE_F64}};
    const uint64_t words[] = {bits((double)NAN), bits((double)INFINITY), bits(2.5)};
    perftrace__site_t c = site_of(PERFTRACE_I_KIND_COUNTER, "loss", "misc", 3, args);
    perftrace__event_t ev = event_of(&c, 1, 1, words, 3);
    perftrace__jsonl_event(&jsonl, &ev);
    said("{\"name\": \"loss\", \"ph\": \"C\", \"ts\": 0.001, \"pid\": 71, \"tid\": 72, \"cat\": "
         "\"misc\", \"args\": {\"a\": null, \"b\": null, \"c\": 2.5}}\n");
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_INSTANT, "x", "misc", 3, args);
    ev = event_of(&s, 1, 1, words, 3);
    perftrace__jsonl_event(&jsonl, &ev);
    said("{\"name\": \"x\", \"ph\": \"i\", \"ts\": 0.001, \"pid\": 71, \"tid\": 72, \"cat\": "
         "\"misc\", "
         "\"args\": {\"a\": \"NaN\", \"b\": \"Infinity\", \"c\": 2.5, \"rank\": 0, \"role\": "
         "\"r\"}, "
         "\"s\": \"t\"}\n");
    free(c.cache);
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void an_unfinished_scope_is_a_b_that_says_so(void **state) {
    (void)state;
    start(3, "");
    const perftrace__site_arg_t args[] = {{"n", 0, PERFTRACE_I_TYPE_I64}};
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_SCOPE, "x", "comm", 1, args);
    perftrace__event_t ev = event_of(&s, 2000, 2000, NULL, 0);
    ev.nargs = 0;
    ev.has_step = true;
    ev.step = -1;
    perftrace__jsonl_unfinished(&jsonl, &ev);
    said("{\"name\": \"x\", \"ph\": \"B\", \"ts\": 2.000, \"pid\": 71, \"tid\": 72, \"cat\": "
         "\"comm\", "
         "\"args\": {\"global_step\": -1, \"unfinished\": true, \"rank\": 3}}\n");
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void a_step_the_program_gives_stands_alone(void **state) {
    (void)state;
    start(-1, "");
    const perftrace__site_arg_t args[] = {{"global_step", 0, PERFTRACE_I_TYPE_I64}};
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_SCOPE, "x", "c", 1, args);
    const uint64_t words[] = {4};
    perftrace__event_t ev = event_of(&s, 0, 1, words, 1);
    ev.has_step = true;
    ev.step = 77;
    perftrace__jsonl_event(&jsonl, &ev);
    said(
        "{\"name\": \"x\", \"ph\": \"X\", \"ts\": 0.000, \"dur\": 0.001, \"pid\": 71, \"tid\": 72, "
        "\"cat\": \"c\", \"args\": {\"global_step\": 4}}\n");
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void a_run_time_name_takes_the_place_of_the_sites(void **state) {
    (void)state;
    start(-1, "");
    perftrace__site_t s = site_of(PERFTRACE_I_KIND_SCOPE, "(run-time name)", "c", 0, NULL);
    perftrace__event_t ev = event_of(&s, 0, 1, NULL, 0);
    ev.name = "\xFF\n";
    ev.name_len = 2;
    perftrace__jsonl_event(&jsonl, &ev);
    said("{\"name\": \"\xEF\xBF\xBD\\n\", \"ph\": \"X\", \"ts\": 0.000, \"dur\": 0.001, \"pid\": "
         "71, "
         "\"tid\": 72, \"cat\": \"c\", \"args\": {}}\n");
    free(s.cache);
    perftrace__jsonl_free(&jsonl);
}

static void metadata_lines_carry_rank_and_role(void **state) {
    (void)state;
    start(3, "actor");
    perftrace__jsonl_thread(&jsonl, 72, "a\"b");
    said(
        "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 71, \"tid\": 72, \"args\": {\"name\": "
        "\"a\\\"b\", \"rank\": 3, \"role\": \"actor\"}}\n");
    perftrace__jsonl_process(&jsonl);
    said("{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
         "{\"name\": "
         "\"[actor] Rank 3, Process\", \"rank\": 3, \"role\": \"actor\"}}\n"
         "{\"name\": \"process_sort_index\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
         "{\"sort_index\": 3, \"rank\": 3, \"role\": \"actor\"}}\n");
    const perftrace__drop_t drop = {"ring_full", 12, 1001, 2002, 72};
    perftrace__jsonl_drop(&jsonl, &drop);
    said("{\"name\": \"perftrace_drop\", \"ph\": \"M\", \"pid\": 71, \"tid\": 72, \"args\": "
         "{\"cause\": "
         "\"ring_full\", \"count\": 12, \"first_ts\": 1.001, \"last_ts\": 2.002, \"rank\": 3, "
         "\"role\": \"actor\"}}\n");
    const perftrace__clock_reading_t r = {1500, 6500, 1790000000123458289u};
    perftrace__jsonl_clock(&jsonl, &r);
    said("{\"name\": \"perftrace_clock\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
         "{\"ts\": "
         "1.500, \"mono_ns\": \"6500\", \"epoch_ns\": \"1790000000123458289\", \"rank\": 3, "
         "\"role\": \"actor\"}}\n");
    perftrace__jsonl_free(&jsonl);
    start(-1, "");
    perftrace__jsonl_process(&jsonl);
    said("{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
         "{\"name\": "
         "\"Process 71\"}}\n");
    perftrace__jsonl_free(&jsonl);
}

static void header_and_footer_tell_who_and_how_much(void **state) {
    (void)state;
    const perftrace__run_meta_t m = meta_of(3, "actor");
    start(3, "actor");
    perftrace__jsonl_header(&jsonl, &m);
    static const char want[] =
        "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
        "{\"version\": 1, \"run_id\": \"run \\\"1\\\"\", \"rank\": 3, \"world_size\": 8, "
        "\"local_rank\": null, \"role\": \"actor\", \"host\": \"node-1\", \"boot_id\": \"b\", "
        "\"pid\": 71, \"process_start\": \"4242\", \"epoch_ns\": \"1790000000123456789\", "
        "\"mono_ns\": \"5000\", \"clock\": \"tsc\", \"launcher\": null, \"tp\": 1, \"dp\": 0, "
        "\"library\": \"";
    assert_memory_equal(jsonl.out.data, want, sizeof(want) - 1);
    assert_true(perftrace__json_check(jsonl.out.data, jsonl.out.len - 1, NULL, NULL));
    perftrace__strbuf_clear(&jsonl.out);
    perftrace__account_t a = {.written = 100201, .unfinished = 2, .recovered = true};
    a.dropped[PERFTRACE_DROP_ring_full] = 12;
    a.dropped[PERFTRACE_DROP_late] = 1;
    perftrace__jsonl_footer(&jsonl, &a);
    said(
        "{\"name\": \"perftrace_footer\", \"ph\": \"M\", \"pid\": 71, \"tid\": 71, \"args\": "
        "{\"emitted\": 100214, \"written\": 100201, \"dropped\": {\"ring_full\": 12, \"late\": 1}, "
        "\"unfinished\": 2, \"recovered\": true, \"rank\": 3, \"role\": \"actor\"}}\n");
    perftrace__jsonl_free(&jsonl);
}

/* Whatever the strings hold and however long they are: one strict line. */
static void any_event_is_one_strict_line(void **state) {
    (void)state;
    uint64_t seed = 60;
    for (int round = 0; round < 3000; round++) {
        char name[80];
        uint32_t name_len = base_random_below(&seed, sizeof(name));
        for (uint32_t i = 0; i < name_len; i++) {
            name[i] = (char)base_random(&seed);
        }
        perftrace__site_t s = {.kind = 1 + base_random_below(&seed, 9),
                               .name = name,
                               .name_len = name_len,
                               .category = name,
                               .category_len = name_len,
                               .nargs = base_random_below(&seed, PERFTRACE_I_MAX_ARGS + 1)};
        static uint64_t words[PERFTRACE_I_MAX_ARGS * 600];
        uint32_t n = 0;
        for (uint32_t i = 0; i < s.nargs; i++) {
            s.args[i] = (perftrace__site_arg_t){name, name_len, 1 + base_random_below(&seed, 5)};
            if (s.args[i].type != PERFTRACE_I_TYPE_STR) {
                words[n++] = base_random(&seed);
                continue;
            }
            s.has_strings = true;
            uint32_t len = base_random_below(&seed, base_random_below(&seed, 4) ? 20 : 4000);
            words[n++] = len;
            for (uint32_t k = 0; k < (len + 7) / 8; k++) {
                words[n++] = base_random(&seed);
            }
        }
        char role[256];
        memset(role, '"', sizeof(role) - 1);
        role[base_random_below(&seed, 255)] = '\0';
        role[255] = '\0';
        start((int)base_random_below(&seed, 3) - 1, role);
        perftrace__event_t ev = event_of(&s, base_random(&seed), base_random(&seed), words, n);
        ev.has_step = base_random_below(&seed, 2);
        ev.step = (int64_t)base_random(&seed);
        ev.id = base_random(&seed);
        ev.tid = (uint32_t)base_random(&seed);
        for (int twice = 0; twice < 2; twice++) {
            perftrace__jsonl_event(&jsonl, &ev);
            assert_true(jsonl.out.len > 1 && jsonl.out.data[jsonl.out.len - 1] == '\n');
            assert_null(memchr(jsonl.out.data, '\n', jsonl.out.len - 1));
            assert_true(perftrace__json_check(jsonl.out.data, jsonl.out.len - 1, NULL, NULL));
            perftrace__strbuf_free(&jsonl.out); /* so that each line makes its room anew */
        }
        free(s.cache);
        perftrace__jsonl_free(&jsonl);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_is_an_x_with_its_arguments_step_rank_and_role),
        cmocka_unit_test(durations_are_at_least_a_nanosecond),
        cmocka_unit_test(points_have_their_letters_and_ids),
        cmocka_unit_test(numbers_that_are_not_finite_are_null_in_counters_and_strings_elsewhere),
        cmocka_unit_test(an_unfinished_scope_is_a_b_that_says_so),
        cmocka_unit_test(a_step_the_program_gives_stands_alone),
        cmocka_unit_test(a_run_time_name_takes_the_place_of_the_sites),
        cmocka_unit_test(metadata_lines_carry_rank_and_role),
        cmocka_unit_test(header_and_footer_tell_who_and_how_much),
        cmocka_unit_test(any_event_is_one_strict_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
