/* fuzz_session_fold.c: any bytes as session events. SPDX-License-Identifier: MIT
 *
 * Two bytes of options (threshold, ceiling), then events: a byte for what happens and a few for
 * what it happens to; times go up and down. Whatever comes, the accounts balance, every line is
 * strict JSON, and each session has one. */
#include "json_scan.h"
#include "session_fold.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

typedef struct input {
    const uint8_t *p, *end;
    uint64_t now;
} input_t;

static uint64_t take(input_t *in, unsigned bytes) {
    uint64_t v = 0;
    while (bytes-- && in->p < in->end) {
        v = v << 8 | *in->p++;
    }
    return v;
}

/* Mostly neighbours, now and then anything. */
static int64_t take_id(input_t *in) {
    uint64_t v = take(in, 1);
    return v < 250   ? (int64_t)(v % 40)
           : v < 253 ? (int64_t)(take(in, 2) << 4)
                     : (int64_t)take(in, 8);
}

static uint64_t take_time(input_t *in) {
    uint64_t v = take(in, 1);
    if (v < 200) {
        in->now += v;
        return in->now;
    }
    return v < 250 ? in->now - (v - 200) : take(in, 8);
}

static perftrace__text_t take_text(input_t *in) {
    uint64_t v = take(in, 1);
    if (v == 0) {
        return (perftrace__text_t){NULL, 0};
    }
    static const char *const words[] = {"accepted", "rejected", "failed", "dropped",
                                        "pending",  "",         "reward", "total"};
    if (v < 128) {
        return (perftrace__text_t){words[v % 8], strlen(words[v % 8])};
    }
    size_t len = PT_MIN((size_t)(v - 128), (size_t)(in->end - in->p));
    perftrace__text_t text = {(const char *)in->p, len};
    in->p += len;
    return text;
}

/* Payloads are valid by contract. */
static perftrace__text_t take_payload(input_t *in) {
    static const char some[] = "\"a\": 1, \"longer\": [null, \"text that takes a few cells\", {}]";
    uint64_t v = take(in, 1);
    return v < 128 ? (perftrace__text_t){NULL, 0}
                   : (perftrace__text_t){some, v < 192 ? 6 : sizeof(some) - 1};
}

typedef struct lines {
    perftrace__strbuf_t out;
    uint64_t n;
    uint64_t evicted;
} lines_t;

static bool has(const char *line, size_t len, const char *what) {
    return memmem(line, len, what, strlen(what)) != NULL;
}

static void check_lines(lines_t *l) {
    for (size_t at = 0; at < l->out.len; l->n++) {
        const char *line = l->out.data + at;
        const char *end = memchr(line, '\n', l->out.len - at);
        check(end != NULL);
        size_t len = (size_t)(end - line);
        perftrace__json_slice_t object = {line, len, PERFTRACE__JSON_OBJECT, false, 0};
        check(perftrace__json_check(line, len, NULL, NULL));
        check(!perftrace__json_duplicate_key(&object, NULL));
        l->evicted += has(line, len, ", \"evicted\": true");
        at += len + 1;
    }
    perftrace__strbuf_clear(&l->out);
}

static void check_counts(const perftrace__session_fold_t *f, const lines_t *l) {
    perftrace__fold_counts_t c;
    perftrace__session_fold_counts(f, &c);
    check(c.sessions == c.live + c.written);
    check(c.written == l->n && c.evicted == l->evicted);
    check(c.ready <= c.live && c.tasks <= c.live && c.no_memory == 0);
}

static void one_event(perftrace__session_fold_t *f, input_t *in, lines_t *l) {
    uint64_t what = take(in, 1);
    int64_t id = take_id(in);
    bool ok = true;
    switch (what % 16) {
    case 0:
    case 1:
        ok = perftrace__session_fold_session(
            f, id, what < 128 ? take_id(in) : PERFTRACE__FOLD_NO_ID, take_time(in));
        break;
    case 2:
    case 3:
    case 4: {
        uint32_t phase = (uint32_t)take(in, 1) % 5;
        uint64_t ns = take_time(in);
        ok = perftrace__session_fold_phase_begin(f, id, phase == 4 ? 0 : phase, ns,
                                                 take_payload(in));
        break;
    }
    case 5:
    case 6:
    case 7: {
        uint32_t phase = (uint32_t)take(in, 1) % 4;
        uint64_t began = what < 128 ? 0 : take_time(in);
        uint64_t ns = take_time(in);
        ok = perftrace__session_fold_phase_end(f, id, phase, began, ns, take_payload(in));
        break;
    }
    case 8:
    case 9: {
        uint64_t ns = take_time(in);
        perftrace__text_t status = take_text(in);
        ok = what % 16 == 8
                 ? perftrace__session_fold_finalize(f, id, ns, status, take_text(in))
                 : perftrace__session_fold_finalize_task(f, id, ns, status, take_text(in));
        break;
    }
    case 10:
        ok = perftrace__session_fold_counter(f, id, take_text(in), (int64_t)take(in, 8));
        break;
    case 11:
        ok = perftrace__session_fold_task(f, id, take_id(in));
        break;
    case 12:
        ok = perftrace__session_fold_declare(f, take_text(in), what & 32, what & 64);
        break;
    case 13:
        ok = perftrace__session_fold_skip(f, id);
        break;
    case 14:
        perftrace__session_fold_tick(f);
        break;
    default:
        ok = perftrace__session_fold_take(f, (perftrace__fold_take_t)(id % 3 < 0 ? 0 : id % 3),
                                          in->now, &l->out);
        check_lines(l);
    }
    check(ok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input_t in = {data, data + size, 1000};
    const perftrace__fold_options_t options = {.rank = (int32_t)(size % 3) - 1,
                                               .role = size % 2 ? "actor" : NULL,
                                               .run_id = size % 5 ? NULL : "1",
                                               .epoch_ns = 1760000000000000000u,
                                               .flush_threshold = (uint32_t)take(&in, 1) % 8,
                                               .max_live = (uint32_t)take(&in, 1) % 16};
    perftrace__session_fold_t *f = perftrace__session_fold_new(&options);
    check(f != NULL);
    lines_t lines = {PERFTRACE__STRBUF_INIT, 0, 0};
    while (in.p < in.end) {
        one_event(f, &in, &lines);
        check_counts(f, &lines);
    }
    check(size % 7 == 0 ||
          perftrace__session_fold_take(f, PERFTRACE__TAKE_ALL, in.now, &lines.out));
    check_lines(&lines);
    check_counts(f, &lines);
    perftrace__strbuf_free(&lines.out);
    perftrace__session_fold_free(f);
    return 0;
}
