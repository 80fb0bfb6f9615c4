/* fuzz_record_decode.c: any bytes as a log of sites and as ring words. SPDX-License-Identifier: MIT
 *
 * The input is a length (4 bytes, little end first), a log of that length, then words. Whatever is
 * accepted is walked to its end and written as a line, which must be strict JSON. */
#include "json_scan.h"
#include "jsonl_encode.h"
#include "merge.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static void *exact_copy(const void *data, size_t len) {
    void *copy = malloc(len ? len : 1);
    check(copy != NULL);
    if (len) {
        memcpy(copy, data, len);
    }
    return copy;
}

static void check_line(perftrace__jsonl_t *j) {
    check(!j->out.failed && j->out.len > 0 && j->out.data[j->out.len - 1] == '\n');
    check(perftrace__json_check(j->out.data, j->out.len - 1, NULL, NULL));
    perftrace__strbuf_free(&j->out);
}

static void use_event(perftrace__jsonl_t *j, const perftrace__event_t *ev, const uint64_t *words,
                      uint32_t n) {
    const uint64_t *arg = ev->args;
    check(arg >= words && ev->args_end <= words + n);
    for (uint32_t i = 0; i < ev->nargs; i++) {
        const char *str = NULL;
        uint32_t len = 0;
        arg = perftrace__arg_next(arg, ev->args_end, ev->site->args[i].type, &str, &len);
        check(arg != NULL);
        check(!str || ((const char *)words <= str && str + len <= (const char *)(words + n)));
    }
    check(arg == ev->args_end);
    perftrace__jsonl_event(j, ev);
    check_line(j);
}

static void use_sites(perftrace__jsonl_t *j, const perftrace__site_table_t *t) {
    for (uint32_t id = 0; id <= t->nsites + 1 && id < 40; id++) {
        const perftrace_i_open_t open = {id, id, id};
        perftrace__event_t ev;
        if (perftrace__record_from_open(&open, t, &ev)) {
            perftrace__jsonl_unfinished(j, &ev);
            check_line(j);
        }
    }
}

static void use_words(perftrace__jsonl_t *j, const perftrace__site_table_t *t,
                      const uint64_t *words, size_t n) {
    /* Two lanes over the same words: one that starts in the middle. */
    perftrace__lane_t lanes[2] = {{.p = words, .end = words + n},
                                  {.p = words + n / 2, .end = words + n}};
    uint32_t heap[2];
    perftrace__merge_t m;
    perftrace__merge_begin(&m, lanes, 2, heap);
    size_t steps = 0;
    for (perftrace__lane_t *lane; (lane = perftrace__merge_next(&m)) != NULL;) {
        perftrace__event_t ev = {.id = 0};
        const uint64_t *at = lane->p;
        uint32_t used = perftrace__record_decode(at, (uint64_t)(lane->end - at), t, &ev);
        check(used <= (size_t)(lane->end - at) && ++steps <= 2 * n);
        if (used) {
            use_event(j, &ev, at, used);
        }
        perftrace__merge_advance(&m, lane, used);
    }
    check(lanes[0].p == words + n && lanes[1].p == words + n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) {
        return 0;
    }
    size_t log_len = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    log_len = PT_MIN(log_len, size - 4);
    unsigned char *log = exact_copy(data + 4, log_len);
    size_t n = (size - 4 - log_len) / 8;
    uint64_t *words = exact_copy(data + 4 + log_len, n * 8);
    perftrace__site_table_t t = {0};
    bool whole = perftrace__site_table_parse(&t, log, log_len);
    check(whole == (t.parsed == log_len) && whole == !t.failed);
    const perftrace__run_meta_t meta = {.rank = (int)(size % 3) - 1, .pid = 71};
    perftrace__jsonl_t j;
    check(perftrace__jsonl_init(&j, &meta));
    use_sites(&j, &t);
    use_words(&j, &t, words, n);
    perftrace__jsonl_free(&j);
    perftrace__site_table_free(&t);
    free(words);
    free(log);
    return 0;
}
