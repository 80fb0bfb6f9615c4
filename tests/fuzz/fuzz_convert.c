/* fuzz_convert.c: any bytes as a trace file through the whole conversion. SPDX-License-Identifier:
 * MIT
 *
 * Whatever comes in, every line that goes out is a strict JSON object, and neither the lines nor
 * the account depend on where the input was cut into chunks. */
#include "convert_event.h"
#include "convert_plan.h"
#include "event_fast.h"
#include "message.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_convert.c:%d: %s\n", __LINE__, #x);                              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Feeds the bytes in chunks; each chunk lies in memory of its own, so that a read past its padding
 * is seen by the sanitizers. */
static void feed(pt_trace_reader_t *reader, const char *data, size_t size, size_t step) {
    for (size_t at = 0; at < size; at += step) {
        size_t n = PT_MIN(step, size - at);
        char *chunk = malloc(n + PT_EVENT_PAD);
        CHECK(chunk != NULL);
        memcpy(chunk, data + at, n);
        memset(chunk + n, 0, PT_EVENT_PAD);
        pt_trace_reader_feed(reader, chunk, n, false);
        free(chunk);
    }
    char end[PT_EVENT_PAD] = {0};
    pt_trace_reader_feed(reader, end, 0, true);
}

static void check_lines(const perftrace__strbuf_t *text) {
    const char *p = perftrace__strbuf_cstr(text), *end = p + text->len;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        CHECK(stop != NULL && stop - p > 2 && stop[-1] == ',' && p[0] == '{');
        CHECK(perftrace__json_check(p, (size_t)(stop - p) - 1, NULL, NULL));
        p = stop + 1;
    }
}

typedef struct result {
    perftrace__strbuf_t events, names;
    uint64_t problems[PT_TRACE_PROBLEM_COUNT];
} result_t;

static void count_problem(void *ctx, const pt_problem_t *problem) {
    result_t *r = ctx;
    r->problems[problem->kind] += problem->count;
}

static bool convert(const char *data, size_t size, size_t step, result_t *r) {
    pt_path_t path = {.name = (char[]){"fuzz"}, .is_stdin = true};
    unsigned choice = size > 1 ? (unsigned char)data[size - 2] : 0;
    pt_convert_options_t options = {.args = (choice & 1) == 0,
                                    .to_ns = UINT64_MAX,
                                    .overlap = (int)(choice >> 1 & 3) % 3,
                                    .keep_outliers = (choice & 8) != 0};
    if ((choice & 16) != 0) {
        options.from = options.to = "";
        options.from_ns = 2000;
        options.to_ns = 1000000;
    }
    pt_convert_plan_t plan = {.order = NULL};
    pt_problems_t *book = pt_problems_new(pt_trace_problem_kinds(), PT_TRACE_PROBLEM_COUNT);
    pt_convert_input_t in = {.path = &path, .name = path.name, .options = &options, .spool = -1};
    CHECK(book != NULL);
    pt_problems_add_file(book, "fuzz");
    in.counts.first_ns = INT64_MAX;
    in.counts.last_ns = INT64_MIN;
    pt_source_init(&in.source);
    pt_survey_init(&in.survey);
    pt_tracks_init(&in.tracks, 0, 1);
    pt_source_sniff(&in.source, data, PT_MIN(size, (size_t)PT_SOURCE_PEEK), size < PT_SOURCE_PEEK);
    bool trace = in.source.shape != PT_SHAPE_NONE && in.source.shape != PT_SHAPE_RING;
    if (trace && !in.source.ours) {
        CHECK(pt_convert_input_survey_begin(&in));
        feed(in.reader, data, size, step);
        CHECK(pt_convert_input_survey_end(&in));
    }
    in.used = trace && (in.source.ours || in.survey.events > 0);
    if (in.used) {
        in.book = book;
        CHECK(pt_convert_plan_make(&plan, &in, 1, &options, 1) == PT_EXIT_OK);
        CHECK(pt_convert_event_begin(&in));
        in.out = &r->events;
        in.meta = &r->names;
        feed(in.reader, data, size, step);
        pt_convert_event_finish(&in);
        check_lines(&r->events);
        check_lines(&r->names);
    }
    pt_problems_each(book, count_problem, r);
    bool used = in.used;
    pt_convert_plan_free(&plan);
    pt_convert_input_free(&in);
    pt_problems_free(book);
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    result_t whole = {.events = PERFTRACE__STRBUF_INIT}, cut = {.events = PERFTRACE__STRBUF_INIT};
    pt_message_set_verbosity(PT_QUIET);
    char *copy = malloc(size + PT_EVENT_PAD);
    CHECK(copy != NULL);
    memcpy(copy, data, size);
    memset(copy + size, 0, PT_EVENT_PAD);
    size_t step = size > 0 ? 1 + data[size - 1] % 61U : 1;
    bool used = convert(copy, size, size + 1, &whole);
    CHECK(convert(copy, size, step, &cut) == used);
    CHECK(whole.events.len == cut.events.len && whole.names.len == cut.names.len);
    CHECK(whole.events.len == 0 || memcmp(whole.events.data, cut.events.data, cut.events.len) == 0);
    CHECK(memcmp(whole.problems, cut.problems, sizeof cut.problems) == 0);
    perftrace__strbuf_free(&whole.events);
    perftrace__strbuf_free(&whole.names);
    perftrace__strbuf_free(&cut.events);
    perftrace__strbuf_free(&cut.names);
    free(copy);
    return 0;
}
