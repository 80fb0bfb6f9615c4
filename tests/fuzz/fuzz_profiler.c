/* fuzz_profiler.c: names of profiles and the text of perf script. SPDX-License-Identifier: MIT
 *
 * A name that is read is built again and read again, with the same result; whatever perf prints
 * becomes stacks whose lines end in their counts, and these add up to the samples. */
#include "perf_stacks.h"

#include <perftrace/profiler.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok) {
    if (!ok) {
        abort();
    }
}

static void read_name(const char *text) {
    enum { ROOM = PERFTRACE_TRACE_NAME_MAX + 1 };
    char labels[ROOM];
    char built[ROOM];
    char again[ROOM];
    char labels_again[ROOM];
    perftrace_trace_name_t n = PERFTRACE_TRACE_NAME_INIT;
    if (perftrace_trace_describe(text, &n, labels, sizeof(labels)) != 0 ||
        perftrace_trace_basename(&n, NULL, built, sizeof(built)) < 0) {
        return;
    }
    perftrace_trace_name_t back = PERFTRACE_TRACE_NAME_INIT;
    require(perftrace_trace_describe(built, &back, labels_again, sizeof(labels_again)) == 0);
    require(back.rank == n.rank && back.pid == n.pid && back.steps_done == n.steps_done);
    require(perftrace_trace_basename(&back, NULL, again, sizeof(again)) >= 0);
    require(strcmp(built, again) == 0);
}

static void read_stacks(const char *data, size_t size) {
    perftrace__perf_stacks_t s = {0};
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - data) - at : size - at;
        perftrace__perf_stacks_line(&s, data + at, len);
        at += len + 1;
    }
    perftrace__perf_stacks_write(&s, &out);
    uint64_t total = 0;
    for (size_t at = 0; at < out.len;) {
        char *end = memchr(out.data + at, '\n', out.len - at);
        require(end != NULL);
        *end = '\0';
        const char *blank = memrchr(out.data + at, ' ', (size_t)(end - out.data) - at);
        require(blank != NULL && blank[1] != '\0');
        total += strtoull(blank + 1, NULL, 10);
        at = (size_t)(end - out.data) + 1;
    }
    require(total == s.samples);
    perftrace__perf_stacks_free(&s);
    perftrace__strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    read_name(text);
    read_stacks(text, size);
    free(text);
    return 0;
}
