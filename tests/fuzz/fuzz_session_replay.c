/* fuzz_session_replay.c: any bytes as the lines of a trace. SPDX-License-Identifier: MIT
 *
 * Each line is replayed from memory of just its size. Whatever comes, each line is of one of three
 * kinds, the fold's account balances and the records are strict JSON. */
#include "json_scan.h"
#include "session_replay.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static void replay_line(perftrace__session_replay_t *r, const uint8_t *p, size_t len) {
    char *copy = malloc(len ? len : 1);
    check(copy != NULL);
    if (len) {
        memcpy(copy, p, len);
    }
    uint64_t before = r->taken + r->other + r->damaged;
    perftrace__session_replay_line(r, copy, len);
    check(r->taken + r->other + r->damaged == before + 1);
    free(copy);
}

static uint64_t check_lines(const perftrace__strbuf_t *out) {
    uint64_t n = 0;
    for (size_t at = 0; at < out->len; n++) {
        const char *line = out->data + at;
        const char *end = memchr(line, '\n', out->len - at);
        check(end != NULL);
        check(perftrace__json_check(line, (size_t)(end - line), NULL, NULL));
        at += (size_t)(end - line) + 1;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const perftrace__fold_options_t options = {.rank = 3, .role = "actor", .epoch_ns = 1};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    check(f != NULL);
    perftrace__session_replay_t r;
    perftrace__session_replay_init(&r, f);
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - (data + at)) : size - at;
        replay_line(&r, data + at, len);
        at += len + 1;
    }
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    check(perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, r.last_ns, &out));
    perftrace__fold_counts_t c;
    perftrace__session_fold_counts(f, &c);
    /* A line with whitespace that ends one (a carriage return) cannot split a record. */
    check(check_lines(&out) == c.sessions && c.live == 0 && c.no_memory == 0);
    perftrace__strbuf_free(&out);
    perftrace__session_replay_free(&r);
    perftrace__session_fold_free(f);
    return 0;
}
