/* fuzz_stacks.c: any bytes as a profile. SPDX-License-Identifier: MIT
 *
 * The readers read from memory of just the input's size. Whatever comes, the model is sound: every
 * number lies in its table, a parent comes before its children, no weight is negative, and sums
 * agree. What is written of it is strict JSON, and read again says the same; the same lines cut in
 * two give the same model as in one piece. */
#include "collapsed_read.h"
#include "json_close.h"
#include "json_scan.h"
#include "perf_script_read.h"
#include "profile_sniff.h"
#include "profile_write.h"
#include "speedscope_read.h"
#include "utf16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "fuzz_stacks.c:%d: %s\n", __LINE__, #x);                               \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-9 * PT_MAX(fabs(a), fabs(b)) || !(isfinite(a) && isfinite(b));
}

static void check_thread(const pt_profile_t *p, size_t i, uint64_t samples, double weight) {
    const pt_profile_thread_t *t = &p->thread[i];
    double kept = 0;
    CHECK(t->root < p->nodes && p->node[t->root].thread == i && p->node[t->root].depth == 0);
    CHECK(t->samples == samples && near(t->weight, weight));
    CHECK(!p->keep_order || t->count == t->samples);
    for (size_t k = 0; k < t->count; k++) {
        CHECK(t->sample[k].node < p->nodes && p->node[t->sample[k].node].thread == i);
        CHECK(t->sample[k].weight >= 0);
        kept += t->sample[k].weight;
    }
    CHECK(!p->keep_order || near(kept, weight));
}

static void check_model(const pt_profile_t *p) {
    uint64_t samples = 0;
    uint64_t *of = calloc(p->threads + 1, sizeof *of);
    double *weight = calloc(p->threads + 1, sizeof *weight);
    CHECK(of != NULL && weight != NULL && !p->failed);
    for (size_t i = 0; i < p->nodes; i++) {
        const pt_profile_node_t *n = &p->node[i];
        CHECK(n->thread < p->threads && n->weight >= 0);
        CHECK((n->parent == PT_PROFILE_NONE) == (n->frame == PT_PROFILE_NONE));
        if (n->parent != PT_PROFILE_NONE) {
            CHECK(n->parent < i && n->frame < p->frames);
            CHECK(p->node[n->parent].thread == n->thread);
            CHECK(n->depth == p->node[n->parent].depth + 1);
        }
        CHECK((n->samples > 0) == (n->first != UINT64_MAX));
        of[n->thread] += n->samples;
        weight[n->thread] += n->weight;
        samples += n->samples;
    }
    CHECK(samples == p->samples);
    for (size_t i = 0; i < p->threads; i++) {
        check_thread(p, i, of[i], weight[i]);
    }
    free(of);
    free(weight);
}

static void check_same(const pt_profile_t *a, const pt_profile_t *b) {
    CHECK(a->frames == b->frames && a->nodes == b->nodes && a->threads == b->threads);
    CHECK(a->samples == b->samples);
    for (size_t i = 0; i < a->frames; i++) {
        CHECK(strcmp(pt_frame_name(a, (uint32_t)i), pt_frame_name(b, (uint32_t)i)) == 0);
    }
    for (size_t i = 0; i < a->threads; i++) {
        CHECK(a->thread[i].samples == b->thread[i].samples);
        CHECK(near(a->thread[i].weight, b->thread[i].weight));
    }
}

/* ---- what is written ---- */

static double total(const pt_profile_t *p) {
    double sum = 0;
    for (size_t i = 0; i < p->threads; i++) {
        sum += p->thread[i].weight;
    }
    return sum;
}

static void check_speedscope(const pt_profile_t *p, pt_profile_notes_t *notes) {
    pt_profile_sink_t sink = {.text = PERFTRACE__STRBUF_INIT};
    pt_profile_t again;
    size_t taken;
    perftrace__json_error_t error;
    pt_profile_init(&again);
    CHECK(pt_speedscope_write(p, "name", "maker", &sink));
    CHECK(perftrace__json_check(sink.text.data, sink.text.len, &error, NULL));
    pt_speedscope_result_t result =
        pt_speedscope_read(&again, sink.text.data, sink.text.len, false, notes, &taken, &error);
    CHECK(result == (taken > 0 ? PT_SPEEDSCOPE_OK : PT_SPEEDSCOPE_NO_PROFILES));
    CHECK(again.samples == p->samples && near(total(&again), total(p)));
    check_model(&again);
    pt_profile_free(&again);
    perftrace__strbuf_free(&sink.text);
}

static void check_collapsed(const pt_profile_t *p, pt_profile_notes_t *notes) {
    const pt_collapsed_weights_t how = {1, false};
    const pt_collapsed_how_t read = {.leaves_only = false};
    pt_profile_sink_t sink = {.text = PERFTRACE__STRBUF_INIT};
    pt_profile_t again;
    pt_profile_init(&again);
    CHECK(pt_collapsed_write(p, NULL, &how, &sink));
    uint64_t lines =
        pt_collapsed_read(&again, perftrace__strbuf_cstr(&sink.text), sink.text.len, &read, notes);
    CHECK(!isfinite(total(p)) || (again.samples == lines && near(total(&again), total(p))));
    pt_profile_free(&again);
    perftrace__strbuf_free(&sink.text);
}

/* ---- what is read ---- */

static void read_text(pt_profile_t *p, bool perf, const char *text, size_t len, bool leaves_only,
                      pt_profile_notes_t *notes) {
    pt_leaf_index_t index = {.slot = NULL};
    const pt_collapsed_how_t how = {.leaves_only = leaves_only, .index = &index};
    char *copy = malloc(len > 0 ? len : 1);
    CHECK(copy != NULL);
    if (len > 0) {
        memcpy(copy, text, len);
    }
    (void)(perf ? pt_perf_script_read(p, copy, len, notes)
                : pt_collapsed_read(p, copy, len, &how, notes));
    pt_leaf_enter(&index, p, NULL);
    pt_leaf_index_free(&index);
    free(copy);
}

/* The same lines in two pieces. */
static void check_pieces(const char *text, size_t len, const pt_profile_t *whole,
                         pt_profile_notes_t *notes) {
    const char *feed = len > 0 ? memchr(text + len / 2, '\n', len - len / 2) : NULL;
    size_t cut = feed != NULL ? (size_t)(feed - text) + 1 : len;
    pt_profile_t piece[2], joined;
    pt_profile_init(&joined);
    for (unsigned i = 0; i < 2; i++) {
        pt_profile_init(&piece[i]);
        read_text(&piece[i], false, i == 0 ? text : text + cut, i == 0 ? cut : len - cut, false,
                  notes);
        pt_profile_merge(&joined, &piece[i]);
        pt_profile_free(&piece[i]);
    }
    check_model(&joined);
    CHECK(joined.frames == whole->frames && joined.threads == whole->threads);
    CHECK(joined.nodes == whole->nodes && joined.samples == whole->samples);
    CHECK(near(total(&joined), total(whole)));
    pt_profile_free(&joined);
}

static void try_text(const char *text, size_t len, bool perf, pt_profile_notes_t *notes) {
    pt_profile_t p, leaves;
    pt_profile_init(&p);
    p.keep_order = true;
    read_text(&p, perf, text, len, false, notes);
    check_model(&p);
    if (!perf) {
        pt_profile_init(&leaves);
        read_text(&leaves, false, text, len, true, notes);
        check_model(&leaves);
        CHECK(leaves.samples == p.samples && near(total(&leaves), total(&p)));
        pt_profile_free(&leaves);
        check_pieces(text, len, &p, notes);
    }
    pt_profile_sort_threads(&p);
    check_model(&p);
    check_speedscope(&p, notes);
    check_collapsed(&p, notes);
    pt_profile_free(&p);
}

static void try_speedscope(const char *text, size_t len, pt_profile_notes_t *notes) {
    for (unsigned mend = 0; mend < 2; mend++) {
        pt_profile_t p, twice;
        size_t taken;
        perftrace__json_error_t error;
        pt_profile_init(&p);
        p.keep_order = true;
        char *copy = malloc(len > 0 ? len : 1);
        CHECK(copy != NULL);
        if (len > 0) {
            memcpy(copy, text, len);
        }
        (void)pt_speedscope_read(&p, copy, len, mend != 0, notes, &taken, &error);
        free(copy);
        check_model(&p);
        CHECK(taken == p.threads);
        check_speedscope(&p, notes);
        check_collapsed(&p, notes);
        pt_profile_init(&twice);
        pt_profile_merge(&twice, &p);
        check_same(&twice, &p);
        pt_profile_merge(&twice, &p);
        CHECK(twice.samples == 2 * p.samples && twice.frames == p.frames);
        check_model(&twice);
        pt_profile_free(&twice);
        pt_profile_free(&p);
    }
}

static void try_utf16(const uint8_t *data, size_t size, pt_profile_notes_t *notes) {
    pt_utf16_t u = {.big_endian = size > 0 && (data[0] & 1) != 0};
    char *out = malloc(PT_UTF16_ROOM(size) + 3);
    CHECK(out != NULL);
    size_t half = size / 3, n = pt_utf16_feed(&u, data, half, out);
    n += pt_utf16_feed(&u, data + half, size - half, out + n);
    n += pt_utf16_end(&u, out + n);
    CHECK(n <= PT_UTF16_ROOM(size) + 3);
    try_text(out, n, false, notes);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    perftrace__strbuf_t closed = PERFTRACE__STRBUF_INIT;
    pt_profile_notes_t *notes = calloc(1, sizeof *notes);
    size_t mark;
    bool columns;
    CHECK(notes != NULL);
    (void)pt_text_encoding(text, size, &mark);
    (void)pt_profile_sniff(text, size, true, &columns);
    (void)pt_profile_sniff(text, size, false, &columns);
    (void)pt_json_close(text, size, &closed);
    perftrace__strbuf_free(&closed);
    try_text(text, size, false, notes);
    try_text(text, size, true, notes);
    try_speedscope(text, size, notes);
    try_utf16(data, size, notes);
    free(notes);
    return 0;
}
