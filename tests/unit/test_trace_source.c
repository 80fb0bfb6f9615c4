/* test_trace_source.c: what a file is, by its first bytes. SPDX-License-Identifier: MIT */
#include "trace_source.h"

#include "file_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HEADER                                                                                     \
    "{\"name\": \"perftrace_header\", \"ph\": \"M\", \"pid\": 7, \"tid\": 7, \"args\": "           \
    "{\"version\": "                                                                               \
    "1, \"run_id\": \"r\\u00e9\", \"rank\": 3, \"world_size\": 8, \"role\": \"actor\", \"host\": " \
    "\"n\", "                                                                                      \
    "\"boot_id\": \"b\", \"pid\": 7, \"tp\": 2, \"epoch_ns\": \"1790000000123456789\", "           \
    "\"mono_ns\": "                                                                                \
    "\"42\"}}\n"
#define EVENT "{\"name\": \"a\", \"ph\": \"X\", \"ts\": 1}"

static void shapes_are_recognised(void **state) {
    static const struct {
        const char *text;
        pt_shape_t shape;
    } cases[] = {{HEADER EVENT, PT_SHAPE_LINES},
                 {EVENT "\n", PT_SHAPE_LINES},
                 {"\xEF\xBB\xBF" EVENT "\n" EVENT, PT_SHAPE_LINES},
                 {"{\"torn\": \n" EVENT "\n", PT_SHAPE_LINES},
                 {"[1, 2]\n" EVENT "\n", PT_SHAPE_LINES},
                 {"123\n" EVENT "\n", PT_SHAPE_LINES},
                 {"[" EVENT ",\n" EVENT, PT_SHAPE_ARRAY},
                 {"[\n" EVENT "\n" EVENT "\n", PT_SHAPE_ARRAY},
                 {"[]", PT_SHAPE_ARRAY},
                 {"{\"traceEvents\": [\n" EVENT "\n]}", PT_SHAPE_OBJECT},
                 {"{\"a\": {\"b\": 1}, \"traceEvents\": []}", PT_SHAPE_OBJECT},
                 {"PTRING01........", PT_SHAPE_RING},
                 {"", PT_SHAPE_NONE},
                 {" \n", PT_SHAPE_NONE},
                 {"{\"resources\": {}}", PT_SHAPE_NONE},
                 {"this\nis\nunknown", PT_SHAPE_NONE},
                 {"\xFF\xFE[", PT_SHAPE_NONE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pt_source_t s;
        pt_source_init(&s);
        pt_source_sniff(&s, cases[i].text, strlen(cases[i].text), true);
        assert_int_equal(s.shape, cases[i].shape);
        assert_true((s.shape == PT_SHAPE_NONE) == (s.why != NULL));
        pt_source_free(&s);
    }
}

static void headers_are_read_wherever_they_stand_among_the_first_lines(void **state) {
    static const char *const texts[] = {HEADER EVENT "\n", "{\"torn\n" HEADER,
                                        EVENT "\n" HEADER EVENT};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pt_source_t s;
        pt_source_init(&s);
        pt_source_sniff(&s, texts[i], strlen(texts[i]), true);
        assert_true(s.ours && s.has_rank && s.has_epoch && s.has_mono);
        assert_int_equal(s.rank, 3);
        assert_int_equal(s.world_size, 8);
        assert_int_equal(s.tp, 2);
        assert_int_equal(s.pp, -1);
        assert_int_equal(s.pid, 7);
        assert_int_equal(s.epoch_ns, 1790000000123456789);
        assert_int_equal(s.mono_ns, 42);
        assert_string_equal(s.run_id, "r\xC3\xA9");
        assert_string_equal(s.role, "actor");
        pt_source_free(&s);
    }
}

static void names_tell_ranks(void **state) {
    static const struct {
        const char *name;
        int64_t rank;
    } cases[] = {{"traces-r3.jsonl", 3},
                 {"/a/r9/traces-r12.1.jsonl", 12},
                 {"rank-34.Jul_15.pt.trace.json.gz", 34},
                 {"x_rank_0.json", 0},
                 {"x-rank7.json", 7},
                 {"rank_non_gpu.json", -1},
                 {"clang-cl-9.0rc2_Colors.json", -1},
                 {"worker0.json", -1},
                 {"r2x.json", -1},
                 {"trace.json", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pt_file_rank(cases[i].name), cases[i].rank);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_recognised),
        cmocka_unit_test(headers_are_read_wherever_they_stand_among_the_first_lines),
        cmocka_unit_test(names_tell_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
