/* convert_run.c: the conversion of all inputs, in parallel. SPDX-License-Identifier: MIT */
#include "convert_run.h"

#include "atomics.h"
#include "convert_apart.h"
#include "convert_event.h"
#include "event_fast.h"
#include "message.h"
#include "ordered.h"
#include "progress.h"

#include <pthread.h>
#include <stdlib.h>

#define LANES     16U /* inputs open at once */
#define MIN_CHUNK ((size_t)16 << 10)

typedef struct chunk {
    struct chunk *next_free;
    size_t lane, input; /* input: index in the plan */
    char *buf;
    size_t len;
    perftrace__strbuf_t out, names, packed;
    pt_deflate_block_t block;
    bool is_packed;
} chunk_t;

typedef struct lane {
    size_t next;   /* index in the plan of the input being converted */
    bool started;  /* it was opened */
    uint32_t done; /* atomic: nothing is left */
} lane_t;

typedef struct run {
    const pt_convert_plan_t *plan;
    pt_convert_doc_t *doc;
    lane_t lane[LANES];
    size_t lanes, chunk_size;
    pt_deflater_t **deflater; /* one a worker; NULL: plain output */
    chunk_t *free;
    pthread_mutex_t free_lock;
    pt_progress_t progress;
} run_t;

static int pack(run_t *r, chunk_t *c, unsigned worker) {
    c->is_packed = r->deflater != NULL && c->out.len > 0;
    if (!c->is_packed) {
        return PT_EXIT_OK;
    }
    size_t cap = pt_deflate_bound(c->out.len);
    perftrace__strbuf_clear(&c->packed);
    if (!perftrace__strbuf_reserve(&c->packed, cap) ||
        !pt_deflater_pack(r->deflater[worker], c->out.data, c->out.len, c->packed.data, cap,
                          &c->block)) {
        return PT_EXIT_INTERNAL;
    }
    c->packed.len = c->block.packed_len;
    return PT_EXIT_OK;
}

/* A part of the lane's present input. */
static int convert_part(run_t *r, chunk_t *c) {
    lane_t *lane = &r->lane[c->lane];
    bool last = false;
    c->input = lane->next;
    pt_convert_input_t *in = r->plan->order[c->input];
    in->out = &c->out;
    in->meta = &c->names;
    if (!lane->started && !pt_convert_event_begin(in)) {
        bool memory = in->no_memory || (in->survey.plan.slots > 0 && in->held == NULL);
        return memory ? PT_EXIT_INTERNAL : PT_EXIT_INPUT;
    }
    lane->started = true;
    size_t len = pt_convert_input_read(in, c->buf, r->chunk_size, &last);
    pt_trace_reader_feed(in->reader, c->buf, len, last);
    c->len += len;
    if (PT_UNLIKELY(pt_convert_is_mixed(in))) {
        return PT_CONVERT_MIXED;
    }
    if (last) {
        pt_convert_event_finish(in);
        pt_convert_input_end(in);
        lane->next += r->lanes;
        lane->started = false;
        if (lane->next >= r->plan->count) {
            pt_store_relaxed(&lane->done, 1U);
        }
    }
    return c->out.failed || c->names.failed || in->ranks.failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

/* A part, or several inputs where they are small: what a chunk costs is paid for once. */
static int convert_work(void *ctx, void *task, unsigned worker) {
    run_t *r = ctx;
    chunk_t *c = task;
    const lane_t *lane = &r->lane[c->lane];
    int status = PT_EXIT_OK;
    perftrace__strbuf_clear(&c->out);
    perftrace__strbuf_clear(&c->names);
    c->is_packed = false;
    c->len = 0;
    bool more = lane->next < r->plan->count;
    if (!more) {
        return PT_EXIT_OK;
    }
    while (more && status == PT_EXIT_OK) {
        status = convert_part(r, c);
        more = !lane->started && lane->next < r->plan->count && r->doc->bundle == NULL &&
               c->len < r->chunk_size / 2;
    }
    return status == PT_EXIT_OK ? pack(r, c, worker) : status;
}

static int convert_emit(void *ctx, void *task) {
    run_t *r = ctx;
    chunk_t *c = task;
    const perftrace__strbuf_t *bytes = c->is_packed ? &c->packed : &c->out;
    pt_progress_add(&r->progress, c->len);
    if (r->doc->bundle != NULL) {
        return (int)pt_convert_bundle_add(r->doc->bundle, c->input, &c->out, &c->names);
    }
    if (c->names.len > 0) {
        pt_convert_doc_names(r->doc, &c->names);
    }
    return (int)pt_convert_doc_events(r->doc, bytes->data, bytes->len,
                                      c->is_packed ? &c->block : NULL);
}

static void convert_release(void *ctx, void *task) {
    run_t *r = ctx;
    chunk_t *c = task;
    pthread_mutex_lock(&r->free_lock);
    c->next_free = r->free;
    r->free = c;
    pthread_mutex_unlock(&r->free_lock);
}

static chunk_t *take_chunk(run_t *r) {
    pthread_mutex_lock(&r->free_lock);
    chunk_t *c = r->free;
    r->free = c->next_free;
    pthread_mutex_unlock(&r->free_lock);
    return c;
}

/* Chunk after chunk of every lane in turn, until all are done. */
static int feed(run_t *r, pt_ordered_t *pipe) {
    for (size_t left = r->lanes; left > 0;) {
        left = 0;
        for (size_t i = 0; i < r->lanes; i++) {
            if (pt_load_relaxed(&r->lane[i].done) != 0) {
                continue;
            }
            left++;
            chunk_t *c = take_chunk(r);
            c->lane = i;
            int status = pt_ordered_submit(pipe, (uint32_t)i, c);
            if (status != 0) {
                convert_release(r, c);
                return status;
            }
        }
    }
    return PT_EXIT_OK;
}

static bool prepare(run_t *r, chunk_t *chunk, size_t chunks, unsigned workers,
                    const pt_convert_options_t *options) {
    for (size_t i = 0; i < chunks; i++) {
        chunk[i].buf = malloc(r->chunk_size + PT_EVENT_PAD);
        if (chunk[i].buf == NULL) {
            return false;
        }
        convert_release(r, &chunk[i]);
    }
    if (r->doc->target != NULL && r->doc->gzip) {
        r->deflater = calloc(workers, sizeof(pt_deflater_t *));
        for (unsigned i = 0; r->deflater != NULL && i < workers; i++) {
            r->deflater[i] = pt_deflater_new((int)options->level, PT_DEFLATE_AUTO);
            if (r->deflater[i] == NULL) {
                return false;
            }
        }
        return r->deflater != NULL;
    }
    return true;
}

pt_exit_t pt_convert_run(const pt_convert_plan_t *plan, pt_convert_doc_t *doc,
                         const pt_convert_options_t *options, unsigned threads, uint64_t bytes) {
    unsigned workers = threads > 1 ? threads : 1;
    unsigned in_flight = 2 * workers + 2;
    size_t chunks = in_flight + 1;
    run_t r = {.plan = plan,
               .doc = doc,
               .lanes = PT_MIN(plan->count, (size_t)LANES),
               .free_lock = PTHREAD_MUTEX_INITIALIZER};
    chunk_t *chunk = calloc(chunks, sizeof *chunk);
    int status = PT_EXIT_INTERNAL;
    r.chunk_size = PT_CONVERT_CHUNK;
    if (options->split > 0) {
        r.chunk_size = (size_t)PT_MIN((uint64_t)PT_CONVERT_CHUNK, options->split / 8);
        r.chunk_size = PT_MAX(r.chunk_size, MIN_CHUNK);
    }
    for (size_t i = 0; i < r.lanes; i++) {
        r.lane[i].next = i;
    }
    pt_progress_begin(&r.progress, "converting", bytes);
    if (chunk != NULL && prepare(&r, chunk, chunks, workers, options)) {
        pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0,
                                    .in_flight = in_flight,
                                    .lanes = (uint32_t)r.lanes,
                                    .ctx = &r,
                                    .work = convert_work,
                                    .emit = convert_emit,
                                    .release = convert_release};
        pt_ordered_t *pipe = pt_ordered_new(&how);
        if (pipe != NULL) {
            status = feed(&r, pipe);
            int end = pt_ordered_finish(pipe);
            status = end != 0 ? end : status;
            pt_ordered_free(pipe);
        }
    }
    pt_progress_end(&r.progress);
    for (size_t i = 0; chunk != NULL && i < chunks; i++) {
        free(chunk[i].buf);
        perftrace__strbuf_free(&chunk[i].out);
        perftrace__strbuf_free(&chunk[i].names);
        perftrace__strbuf_free(&chunk[i].packed);
    }
    for (unsigned i = 0; r.deflater != NULL && i < workers; i++) {
        pt_deflater_free(r.deflater[i]);
    }
    free(r.deflater);
    free(chunk);
    if (status == PT_EXIT_INTERNAL) {
        pt_error("out of memory");
    }
    return (pt_exit_t)status;
}
