/* test_writer_times.c: the prepared pieces of a scope's line against printf.
 * SPDX-License-Identifier: MIT
 *
 * The encoder keeps text from line to line (leading digits of times, thread, step): whatever comes
 * after whatever, each line must be what a plain printf would have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base_random.h"
#include "jsonl_encode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const perftrace__event_t *ev, char *out, size_t size) {
    uint64_t dur = ev->end > ev->start ? ev->end - ev->start : 1;
    char step[64] = "";
    if (ev->has_step) {
        snprintf(step, sizeof(step), "\"global_step\": %lld, ", (long long)ev->step);
    }
    snprintf(out, size,
             "{\"name\": \"n\", \"ph\": \"X\", \"ts\": %llu.%03u, \"dur\": %llu.%03u, \"pid\": 7, "
             "\"tid\": %u, \"cat\": \"c\", \"args\": {%s\"rank\": 3}}\n",
             (unsigned long long)(ev->start / 1000), (unsigned)(ev->start % 1000),
             (unsigned long long)(dur / 1000), (unsigned)(dur % 1000), ev->tid, step);
}

static void every_line_is_what_printf_would_write(void **state) {
    (void)state;
    perftrace__run_meta_t meta;
    memset(&meta, 0, sizeof(meta));
    meta.rank = 3;
    meta.pid = 7;
#define X(name) meta.name = -1;
    PERFTRACE__TOPOLOGY_LIST(X)
#undef X
    perftrace__jsonl_t j;
    assert_true(perftrace__jsonl_init(&j, &meta));
    perftrace__site_t site = {.id = 1,
                              .kind = PERFTRACE_I_KIND_SCOPE,
                              .name = "n",
                              .name_len = 1,
                              .category = "c",
                              .category_len = 1,
                              .file = "f",
                              .file_len = 1};
    uint64_t r = 4711;
    uint64_t now = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t x = base_random(&r);
        if (i % 500 == 499) {
            now = x >> (x % 57); /* a jump, also back, to a time of any length */
        }
        now += x % 5000;
        perftrace__event_t ev = {.kind = PERFTRACE_I_KIND_SCOPE,
                                 .site = &site,
                                 .name = site.name,
                                 .name_len = 1,
                                 .start = now,
                                 .end = now + (x >> (20 + i % 44)),
                                 .tid = 9 + (uint32_t)(x & 1),
                                 .has_step = (x >> 1 & 1) != 0,
                                 .step = (int64_t)(x >> 59) - 7};
        char want[512];
        expect(&ev, want, sizeof(want));
        perftrace__strbuf_clear(&j.out);
        assert_true(perftrace__jsonl_event(&j, &ev));
        assert_string_equal(perftrace__strbuf_cstr(&j.out), want);
    }
    free(site.cache);
    perftrace__jsonl_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_what_printf_would_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
