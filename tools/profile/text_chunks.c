/* text_chunks.c. SPDX-License-Identifier: MIT */
#include "text_chunks.h"

#include "collapsed_read.h"
#include "ordered.h"
#include "perf_script_read.h"

#include <stdlib.h>

#define CHUNK       ((size_t)4 << 20)
#define SMALL_CHUNK ((size_t)256 << 10) /* where chunks share a model: it stays in the cache */
#define LONGEST     ((size_t)64 << 20)
/* Whatever the number of threads, which must not be seen in the result. Leaves alone are found as
 * fast as text is read, and one lane needs no joining. */
#define LANES      8U
#define LEAF_LANES 1U
#define PLACES     ((uint64_t)1 << 32) /* of samples for each chunk */

/* Where the order of samples is not kept, every so many-th chunk goes into the same model; a
 * sample's place tells where it was. */
typedef struct lane {
    pt_profile_t p;
    pt_leaf_index_t index;
} lane_t;

typedef struct chunk {
    perftrace__strbuf_t text;
    pt_profile_t p;  /* with the order of samples */
    lane_t *lane;    /* without */
    uint64_t number; /* of the chunk */
    pt_profile_notes_t notes;
    uint64_t lines;
    uint64_t dropped; /* bytes before it that are left out */
} chunk_t;

typedef struct run {
    pt_text_chunks_t *c;
    uint32_t lanes;
    lane_t lane[LANES];
} run_t;

/* How much of a text is whole lines (or, of perf script, whole samples). */
static size_t whole_part(const pt_text_chunks_t *c, const char *text, size_t len) {
    const char *feed = len > 0 ? memrchr(text, '\n', len) : NULL;
    while (feed != NULL && c->format == PT_PROFILE_PERF_SCRIPT) {
        const char *before = feed > text && feed[-1] == '\r' ? feed - 1 : feed;
        if (before > text && before[-1] == '\n') {
            break;
        }
        feed = feed > text ? memrchr(text, '\n', (size_t)(feed - text)) : NULL;
    }
    return feed != NULL ? (size_t)(feed - text) + 1 : 0;
}

/* What is too long to be a line is left out up to its end. */
static bool drop_line(pt_text_chunks_t *c, chunk_t *k) {
    const char *feed = NULL;
    pt_profile_note(&k->notes, PT_PROFILE_PROBLEM_LINE_TOO_LONG, 1, 0, NULL, 0);
    while (feed == NULL) {
        k->dropped += k->text.len;
        perftrace__strbuf_clear(&k->text);
        if (c->source->end) {
            return true;
        }
        if (!pt_text_source_read(c->source, CHUNK, &k->text)) {
            return false;
        }
        feed = memchr(perftrace__strbuf_cstr(&k->text), '\n', k->text.len);
    }
    size_t n = (size_t)(feed - k->text.data);
    k->dropped += n;
    k->text.len -= n;
    memmove(k->text.data, feed, k->text.len); /* from the line feed on: the line counts */
    return true;
}

/* Fills a chunk from what is carried over and the source; the rest of the last line is carried on.
 * False without memory. */
static bool fill(pt_text_chunks_t *c, chunk_t *k, perftrace__strbuf_t *carry) {
    size_t whole = 0, chunk = k->lane != NULL ? SMALL_CHUNK : CHUNK, want = chunk;
    perftrace__strbuf_clear(&k->text);
    perftrace__strbuf_append(&k->text, carry->data, carry->len);
    perftrace__strbuf_clear(carry);
    while (!k->text.failed) {
        if (k->text.len < want && !pt_text_source_read(c->source, want - k->text.len, &k->text)) {
            return false;
        }
        whole = c->source->end ? k->text.len : whole_part(c, k->text.data, k->text.len);
        if (whole > 0 || c->source->end) {
            break;
        }
        want = k->text.len + chunk;
        if (k->text.len > LONGEST && !drop_line(c, k)) {
            return false;
        }
    }
    perftrace__strbuf_append(carry, perftrace__strbuf_cstr(&k->text) + whole, k->text.len - whole);
    k->text.len = whole;
    return !k->text.failed && !carry->failed;
}

/* Tells of lines with a NUL, which the model keeps as another sign. */
static void note_nuls(chunk_t *k, const char *text) {
    const char *end = text + k->text.len, *counted = text;
    uint64_t line = 1;
    for (const char *p = text; p < end && (p = memchr(p, '\0', (size_t)(end - p))) != NULL;) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        for (; counted < p; counted++) {
            line += *counted == '\n';
        }
        pt_profile_note(&k->notes, PT_PROFILE_PROBLEM_NUL, line, (uint64_t)(p - text), NULL, 0);
        p = feed != NULL ? feed : end;
    }
}

static int work(void *ctx, void *task, unsigned worker) {
    const pt_text_chunks_t *c = ((run_t *)ctx)->c;
    chunk_t *k = task;
    (void)worker;
    pt_profile_t *p = k->lane != NULL ? &k->lane->p : &k->p;
    pt_collapsed_how_t how = {.leaves_only = c->load->leaves_only,
                              .index = k->lane != NULL ? &k->lane->index : NULL,
                              .two_columns = c->two_columns};
    const char *text = perftrace__strbuf_cstr(&k->text);
    p->place = k->number * PLACES;
    note_nuls(k, text);
    k->lines = c->format == PT_PROFILE_COLLAPSED
                   ? pt_collapsed_read(p, text, k->text.len, &how, &k->notes)
                   : pt_perf_script_read(p, text, k->text.len, &k->notes);
    return p->failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

/* Offsets are those of the file, which is not UTF-8 always. */
static void tell_notes(const pt_text_chunks_t *c, const chunk_t *k) {
    bool same = c->source->encoding == PT_TEXT_UTF8;
    pt_profile_notes_tell(&k->notes, c->load->book, c->file, c->lines,
                          same ? c->bytes : PT_NO_OFFSET);
}

static int emit(void *ctx, void *task) {
    pt_text_chunks_t *c = ((run_t *)ctx)->c;
    chunk_t *k = task;
    if (k->lane == NULL) {
        pt_profile_merge(c->p, &k->p);
    }
    tell_notes(c, k);
    c->lines += k->lines;
    c->bytes += k->dropped + k->text.len;
    if (c->load->progress != NULL) {
        pt_progress_add(c->load->progress, k->text.len);
    }
    return c->p->failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

static void release(void *ctx, void *task) {
    chunk_t *k = task;
    (void)ctx;
    pt_profile_free(&k->p);
}

static void begin(run_t *run, chunk_t *k, uint64_t number) {
    const pt_profile_load_t *load = run->c->load;
    pt_profile_init(&k->p);
    k->p.keep_order = load->keep_order;
    k->lane = load->keep_order ? NULL : &run->lane[number % run->lanes];
    k->number = load->keep_order ? 0 : number;
    k->notes = (pt_profile_notes_t){.of = {{.count = 0}}};
    k->dropped = 0;
}

/* A chunk is free again when as many were taken after it as there may be in flight. */
static pt_exit_t read_all(run_t *run, pt_ordered_t *pipe, chunk_t *ring, size_t count) {
    pt_text_chunks_t *c = run->c;
    int status = PT_EXIT_OK;
    for (size_t i = 0; status == PT_EXIT_OK && (c->head->len > 0 || !c->source->end); i++) {
        chunk_t *k = &ring[i % count];
        begin(run, k, i);
        if (!fill(c, k, c->head)) {
            pt_ordered_cancel(pipe, PT_EXIT_INTERNAL);
            break;
        }
        status = pt_ordered_submit(
            pipe, k->lane != NULL ? (uint32_t)(i % run->lanes) : PT_ORDERED_NO_LANE, k);
    }
    return (pt_exit_t)pt_ordered_finish(pipe);
}

static void join_lanes(run_t *run) {
    if (run->lanes == 1 && run->c->p->threads == 0) { /* it is the model already */
        pt_profile_free(run->c->p);
        *run->c->p = run->lane[0].p;
        pt_profile_init(&run->lane[0].p);
    }
    for (unsigned i = 0; i < run->lanes; i++) {
        pt_profile_merge_part(run->c->p, &run->lane[i].p);
        pt_profile_free(&run->lane[i].p);
        pt_leaf_index_free(&run->lane[i].index);
    }
}

pt_exit_t pt_text_chunks_read(pt_text_chunks_t *c) {
    run_t run = {.c = c, .lanes = c->load->leaves_only ? LEAF_LANES : LANES};
    unsigned threads = c->load->threads > 1 ? c->load->threads : 0;
    pt_ordered_options_t options = {.threads = threads,
                                    .in_flight = 2 * threads + 1,
                                    .lanes = run.lanes,
                                    .ctx = &run,
                                    .work = work,
                                    .emit = emit,
                                    .release = release};
    size_t count = options.in_flight + 1;
    chunk_t *ring = calloc(count, sizeof *ring);
    pt_ordered_t *pipe = ring != NULL ? pt_ordered_new(&options) : NULL;
    c->bytes = c->source->mark;
    pt_exit_t status = pipe != NULL ? read_all(&run, pipe, ring, count) : PT_EXIT_INTERNAL;
    pt_ordered_free(pipe);
    join_lanes(&run);
    for (size_t i = 0; ring != NULL && i < count; i++) {
        perftrace__strbuf_free(&ring[i].text);
        pt_profile_free(&ring[i].p);
    }
    free(ring);
    return c->p->failed ? PT_EXIT_INTERNAL : status;
}
