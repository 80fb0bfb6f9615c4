/* text_chunks.c. SPDX-License-Identifier: MIT */
#include "text_chunks.h"

#include "collapsed_read.h"
#include "ordered.h"
#include "perf_script_read.h"
#include "text_cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK       ((size_t)4 << 20)
#define SMALL_CHUNK ((size_t)256 << 10) /* where chunks share a model: it stays in the cache */
#define PIECE       ((size_t)2 << 20)   /* of a file that the workers read */
#define PART        ((size_t)128 << 10) /* of a piece: read and taken at once */
#define LONGEST     ((size_t)64 << 20)
/* Whatever the number of threads, which must not be seen in the result. Leaves alone are found
 * nearly as fast as text is read, and lanes cost time to join: few do unless there is much text. */
#define LANES      8U
#define LEAF_LANES 2U
#define MUCH_TEXT  ((uint64_t)1 << 30)
#define SHORTER    (-1)                /* than the file was when it was cut */
#define PLACES     ((uint64_t)1 << 32) /* of samples for each chunk */

/* Where the order of samples is not kept, every so many-th chunk goes into the same model; a
 * sample's place tells where it was. */
typedef struct lane {
    pt_profile_t p;
    pt_leaf_index_t index;
} lane_t;

typedef struct chunk {
    perftrace__strbuf_t text; /* where it was read already; else the piece is to be read */
    pt_text_piece_t piece;
    size_t len;      /* of what was taken */
    int error;       /* of reading the piece, as errno; SHORTER: the file became shorter */
    pt_profile_t p;  /* with the order of samples */
    lane_t *lane;    /* without */
    uint64_t number; /* of the chunk */
    pt_profile_notes_t notes;
    uint64_t lines;
    uint64_t dropped; /* bytes before it that are left out */
} chunk_t;

typedef struct run {
    pt_text_chunks_t *c;
    pt_text_cut_t cut;
    perftrace__strbuf_t *buffer; /* one a worker: what it read last */
    bool damage_told;
    uint32_t lanes;
    lane_t lane[LANES];
} run_t;

static uint32_t lanes_for(const pt_text_chunks_t *c) {
    bool few = c->load->leaves_only && pt_input_size(c->source->input) < MUCH_TEXT;
    return few ? LEAF_LANES : LANES;
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
        whole = c->source->end ? k->text.len : pt_text_whole(c->format, k->text.data, k->text.len);
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

/* Says what the next chunk is. A plain file is cut here and read by the workers as long as there
 * are borders near enough; what is left then is read here. False without memory. */
static bool next_chunk(run_t *run, chunk_t *k) {
    pt_text_chunks_t *c = run->c;
    if (run->cut.on) {
        perftrace__strbuf_clear(&k->text);
        if (pt_text_cut_next(&run->cut, k->lane != NULL ? PIECE : CHUNK, &k->piece)) {
            c->source->end = run->cut.end;
            return true;
        }
        if (pt_input_seek(c->source->input, run->cut.at) != 0) {
            return false;
        }
    }
    return fill(c, k, c->head);
}

/* Tells of lines with a NUL, which the model keeps as another sign. */
static void note_nuls(const char *text, size_t len, pt_profile_notes_t *notes) {
    const char *end = text + len, *counted = text;
    uint64_t line = 1;
    for (const char *p = text; p < end && (p = memchr(p, '\0', (size_t)(end - p))) != NULL;) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        for (; counted < p; counted++) {
            line += *counted == '\n';
        }
        pt_profile_note(notes, PT_PROFILE_PROBLEM_NUL, line, (uint64_t)(p - text), NULL, 0);
        p = feed != NULL ? feed : end;
    }
}

/* Takes the next whole lines of a chunk. */
static void take(const pt_text_chunks_t *c, chunk_t *k, const char *text, size_t len) {
    pt_profile_t *p = k->lane != NULL ? &k->lane->p : &k->p;
    pt_collapsed_how_t how = {.leaves_only = c->load->leaves_only,
                              .index = k->lane != NULL ? &k->lane->index : NULL,
                              .two_columns = c->two_columns};
    pt_profile_notes_t notes = {.of = {{.count = 0}}};
    note_nuls(text, len, &notes);
    uint64_t lines = c->format == PT_PROFILE_COLLAPSED
                         ? pt_collapsed_read(p, text, len, &how, &notes)
                         : pt_perf_script_read(p, text, len, &notes);
    pt_profile_notes_add(&k->notes, &notes, k->lines, k->dropped + k->len);
    k->lines += lines;
    k->len += len;
}

/* Reads a chunk's piece of the file, a few lines after the other, and takes them: they are still in
 * the processor's cache then. False without memory. */
static bool take_piece(const pt_text_chunks_t *c, chunk_t *k, perftrace__strbuf_t *buffer) {
    size_t left = k->piece.len;
    perftrace__strbuf_clear(buffer);
    while (left > 0) {
        size_t want = PT_MIN(left, PT_MAX(PART - PT_MIN(buffer->len, PART), PART / 2));
        if (!perftrace__strbuf_reserve(buffer, want)) {
            return false;
        }
        int64_t got = pt_input_pread(c->source->input, buffer->data + buffer->len, want,
                                     k->piece.at + (k->piece.len - left));
        if (got < (int64_t)want) {
            k->error = got < 0 ? (int)-got : k->piece.last ? 0 : SHORTER;
            left = want;
        }
        left -= want;
        buffer->len += got > 0 ? (size_t)got : 0;
        size_t whole =
            left == 0 ? buffer->len : pt_text_whole(c->format, buffer->data, buffer->len);
        take(c, k, buffer->data, whole);
        buffer->len -= whole;
        memmove(buffer->data, buffer->data + whole, buffer->len);
    }
    return true;
}

static int work(void *ctx, void *task, unsigned worker) {
    run_t *run = ctx;
    const pt_text_chunks_t *c = run->c;
    chunk_t *k = task;
    bool ok = true;
    pt_profile_t *p = k->lane != NULL ? &k->lane->p : &k->p;
    p->place = k->number * PLACES;
    if (k->lane != NULL) {
        k->lane->index.place = p->place;
    }
    if (k->piece.len > 0) {
        ok = take_piece(c, k, &run->buffer[worker]);
    } else {
        take(c, k, perftrace__strbuf_cstr(&k->text), k->text.len);
    }
    return ok && !p->failed ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

/* Offsets are those of the file, which is not UTF-8 always. */
static void tell_notes(const pt_text_chunks_t *c, const chunk_t *k) {
    bool same = c->source->encoding == PT_TEXT_UTF8;
    pt_profile_notes_tell(&k->notes, c->load->book, c->file, c->lines,
                          same ? c->bytes : PT_NO_OFFSET);
}

/* A piece that could not be read whole; those behind it are not, either. */
static void tell_damage(run_t *run, const chunk_t *k) {
    char what[PT_PROFILE_DETAIL];
    if (!run->damage_told) {
        run->damage_told = true;
        (void)snprintf(what, sizeof what, "%s at byte %" PRIu64 " of the file",
                       k->error == SHORTER ? "it became shorter while it was read"
                                           : strerror(k->error),
                       k->piece.at + k->len);
        pt_problems_add(run->c->load->book, PT_PROFILE_PROBLEM_INPUT_ENDS, run->c->file, 0,
                        PT_NO_OFFSET, what);
    }
}

static int emit(void *ctx, void *task) {
    run_t *run = ctx;
    pt_text_chunks_t *c = run->c;
    chunk_t *k = task;
    if (k->lane == NULL) {
        pt_profile_merge(c->p, &k->p);
    }
    tell_notes(c, k);
    if (k->error != 0) {
        tell_damage(run, k);
    }
    c->lines += k->lines;
    c->bytes += k->dropped + k->len;
    if (c->load->progress != NULL) {
        pt_progress_add(c->load->progress, k->len);
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
    k->piece = (pt_text_piece_t){.len = 0};
    k->lines = 0;
    k->len = 0;
    k->error = 0;
}

/* A chunk is free again when as many were taken after it as there may be in flight. */
static pt_exit_t read_all(run_t *run, pt_ordered_t *pipe, chunk_t *ring, size_t count) {
    pt_text_chunks_t *c = run->c;
    int status = PT_EXIT_OK;
    for (size_t i = 0; status == PT_EXIT_OK && (c->head->len > 0 || !c->source->end); i++) {
        chunk_t *k = &ring[i % count];
        begin(run, k, i);
        if (!next_chunk(run, k)) {
            pt_ordered_cancel(pipe, PT_EXIT_INTERNAL);
            break;
        }
        status = pt_ordered_submit(
            pipe, k->lane != NULL ? (uint32_t)(i % run->lanes) : PT_ORDERED_NO_LANE, k);
    }
    return (pt_exit_t)pt_ordered_finish(pipe);
}

/* Adds what a lane has to the first one. */
static void join_lane(lane_t *to, const lane_t *from) {
    uint32_t *thread = malloc((from->p.threads + 1) * sizeof *thread);
    pt_profile_merge_part(&to->p, &from->p);
    to->p.failed |= thread == NULL;
    for (size_t i = 0; i < from->p.threads && !to->p.failed; i++) {
        thread[i] = pt_profile_thread(&to->p, pt_thread_name(&from->p, i),
                                      from->p.thread[i].name_len, from->p.thread[i].unit);
    }
    if (!to->p.failed) {
        pt_leaf_join(&to->index, &to->p, &from->index, thread);
    }
    free(thread);
}

static void join_lanes(run_t *run) {
    pt_profile_t *p = run->c->p, *all = &run->lane[0].p;
    for (unsigned i = 1; i < run->lanes; i++) {
        join_lane(&run->lane[0], &run->lane[i]);
    }
    pt_leaf_enter(&run->lane[0].index, all, NULL);
    if (p->threads == 0 && !p->keep_order) { /* it is the model already */
        pt_profile_free(p);
        *p = *all;
        pt_profile_init(all);
    } else {
        pt_profile_merge_part(p, all);
    }
    for (unsigned i = 0; i < run->lanes; i++) {
        pt_profile_free(&run->lane[i].p);
        pt_leaf_index_free(&run->lane[i].index);
    }
}

pt_exit_t pt_text_chunks_read(pt_text_chunks_t *c) {
    run_t run = {.c = c, .lanes = lanes_for(c)};
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
    run.buffer = calloc(threads + (size_t)1, sizeof *run.buffer);
    pt_ordered_t *pipe = ring != NULL && run.buffer != NULL ? pt_ordered_new(&options) : NULL;
    c->bytes = c->source->mark;
    pt_text_cut_begin(&run.cut, c->source, c->format);
    if (run.cut.on) {
        perftrace__strbuf_clear(c->head); /* it is read again */
    }
    pt_exit_t status = pipe != NULL ? read_all(&run, pipe, ring, count) : PT_EXIT_INTERNAL;
    pt_ordered_free(pipe);
    join_lanes(&run);
    for (size_t i = 0; ring != NULL && i < count; i++) {
        perftrace__strbuf_free(&ring[i].text);
        pt_profile_free(&ring[i].p);
    }
    for (size_t i = 0; run.buffer != NULL && i <= threads; i++) {
        perftrace__strbuf_free(&run.buffer[i]);
    }
    free(run.buffer);
    free(ring);
    return c->p->failed ? PT_EXIT_INTERNAL : status;
}
