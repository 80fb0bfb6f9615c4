/* fuzz_clock.c: any bytes as what traces say of their clocks. SPDX-License-Identifier: MIT
 *
 * Each header begins another file. Whatever they say, there is an answer, its figures are numbers,
 * and times keep their order. */
#include "clock_align.h"
#include "cutter.h"
#include "event_fast.h"
#include "event_json.h"
#include "trace_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES 8U
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_clock.c:%d: %s\n", __LINE__, #x);                                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

typedef struct files {
    pt_event_reader_t parser;
    pt_source_t source[FILES];
    pt_clock_notes_t notes[FILES];
    size_t count; /* 0: lines before the first header */
} files_t;

static void on_record(void *ctx, const char *p, size_t len, bool plain) {
    files_t *f = ctx;
    pt_event_t ev;
    size_t used;
    (void)plain;
    if (pt_event_read_json(&f->parser, p, len, &ev, &used) != PT_EVENT_FOUND) {
        return;
    }
    if (PT_STR_IS(ev.name, "\"perftrace_header\"") && ev.args.len > 0 && f->count < FILES) {
        perftrace__json_slice_t args = {ev.args.p, ev.args.len, PERFTRACE__JSON_OBJECT, false, 0};
        pt_source_init(&f->source[f->count]);
        (void)pt_source_take_header(&f->source[f->count++], &args);
    } else if (f->count > 0) {
        (void)pt_clock_notes_take(&f->notes[f->count - 1], &ev);
    }
}

static void check(const pt_clock_in_t *in, const pt_clock_out_t *out) {
    CHECK(out->bound_ns >= -1 && isfinite(out->drift_ppm) && isfinite(out->rate));
    CHECK(out->rate > -0.5 && out->rate < 0.5);
    if (out->bends > 0) {
        CHECK(out->bends > 1);
        for (int64_t i = -100; i < 100; i++) {
            int64_t at = in->last_ts / 100 * i;
            CHECK(pt_clock_bent(out, at + 1) - pt_clock_bent(out, at) >= -1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    files_t *f = calloc(1, sizeof *f);
    char *copy = malloc(size + PT_EVENT_PAD);
    CHECK(f != NULL && copy != NULL);
    memcpy(copy, data, size);
    memset(copy + size, 0, PT_EVENT_PAD);
    pt_cutter_t cutter = {.shape = PT_SHAPE_LINES, .record = on_record, .ctx = f};
    pt_cutter_feed(&cutter, copy, size, true);
    pt_cutter_free(&cutter);
    pt_clock_in_t in[FILES];
    pt_clock_out_t out[FILES];
    int64_t base;
    for (size_t i = 0; i < f->count; i++) {
        const pt_source_t *s = &f->source[i];
        in[i] = (pt_clock_in_t){.kind = s->has_epoch ? PT_CLOCK_EPOCH : PT_CLOCK_OWN_ZERO,
                                .boot_id = s->boot_id,
                                .has_mono = s->has_mono,
                                .epoch_ns = s->epoch_ns,
                                .mono_ns = s->mono_ns,
                                .last_ts = pt_clock_notes_last(&f->notes[i]),
                                .notes = &f->notes[i]};
    }
    CHECK(pt_clock_align(in, f->count, out, &base));
    for (size_t i = 0; i < f->count; i++) {
        check(&in[i], &out[i]);
        pt_clock_out_free(&out[i]);
        pt_source_free(&f->source[i]);
        pt_clock_notes_free(&f->notes[i]);
    }
    pt_event_reader_free(&f->parser);
    free(copy);
    free(f);
    return 0;
}
