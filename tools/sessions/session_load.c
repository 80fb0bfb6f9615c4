/* session_load.c: the inputs into the model, in parallel. SPDX-License-Identifier: MIT */
#include "session_load.h"

#include "message.h"
#include "ordered.h"
#include "progress.h"
#include "session_batch.h"
#include "session_feed.h"
#include "session_finish.h"

#include <pthread.h>
#include <stdlib.h>

/* One piece of a file on its way. */
typedef struct chunk {
    struct chunk *next_free;
    pt_session_piece_t piece;
    pt_session_batch_t batch;
    unsigned file;
    uint64_t raw; /* bytes of the file that were read for it */
} chunk_t;

typedef struct loader {
    pt_session_load_t *load;
    pt_session_model_t *model;
    chunk_t *free;
    pthread_mutex_t free_lock;
    pt_progress_t progress;
    /* Of the file whose pieces are being emitted. */
    unsigned file;
    uint64_t line;
    uint64_t total, done; /* bytes of all files; of those that are in the model */
} loader_t;

static int read_work(void *ctx, void *task, unsigned worker) {
    chunk_t *c = task;
    (void)ctx;
    (void)worker;
    pt_session_batch_read(&c->batch, c->piece.text, c->piece.len, c->piece.lines);
    return c->batch.failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

static void tell_problems(loader_t *l, const chunk_t *c) {
    for (unsigned kind = 0; kind < PT_SESSION_PROBLEM_COUNT; kind++) {
        const pt_batch_problem_t *p = &c->batch.problem[kind];
        if (p->count > 0) {
            pt_problems_add_many(l->load->book, kind, c->file, l->line + p->line,
                                 c->piece.offset + p->offset,
                                 p->detail[0] != '\0' ? p->detail : NULL, p->count);
        }
    }
}

static int append_emit(void *ctx, void *task) {
    loader_t *l = ctx;
    chunk_t *c = task;
    uint64_t overflow;
    if (l->line == 0 || c->file != l->file) {
        l->file = c->file;
        l->line = 1;
    }
    l->line += c->piece.lines_dropped;
    if (!pt_session_model_append(l->model, &c->batch, (uint16_t)PT_MIN(c->file, UINT16_MAX),
                                 l->line, &overflow)) {
        return PT_EXIT_INTERNAL;
    }
    bool first = l->done == 0;
    l->done += c->raw;
    if (first && l->total > l->done && l->done > 0) {
        pt_session_model_expect(l->model, 1.1 * (double)(l->total - l->done) / (double)l->done);
    }
    pt_problems_add_many(l->load->book, PT_SESSION_PROBLEM_TOO_MANY_NAMES, c->file, l->line,
                         c->piece.offset, NULL, overflow);
    tell_problems(l, c);
    l->line += c->batch.lines;
    pt_progress_add(&l->progress, c->raw);
    return PT_EXIT_OK;
}

static void chunk_release(void *ctx, void *task) {
    loader_t *l = ctx;
    chunk_t *c = task;
    pthread_mutex_lock(&l->free_lock);
    c->next_free = l->free;
    l->free = c;
    pthread_mutex_unlock(&l->free_lock);
}

static chunk_t *take_chunk(loader_t *l) {
    pthread_mutex_lock(&l->free_lock);
    chunk_t *c = l->free;
    l->free = c->next_free;
    pthread_mutex_unlock(&l->free_lock);
    return c;
}

/* Whether the file is read; says why not. */
static bool is_wanted(const pt_session_source_t *source, const pt_path_t *path) {
    const char *slash = strrchr(path->name, '/');
    const char *name = path->is_stdin ? "standard input" : path->name;
    bool sure_name = false;
    bool named = path->named || path->is_stdin;
    pt_session_file_wanted(slash != NULL ? slash + 1 : path->name, &sure_name);
    switch (source->shape) {
    case PT_SESSIONS_LINES:
    case PT_SESSIONS_VALUES:
        if (source->sure || named || sure_name) {
            return true;
        }
        pt_detail("%s: passed over: no session is seen at its beginning", name);
        return false;
    case PT_SESSIONS_RING:
        pt_warn("%s: is the ring file of a program that is running or was killed; "
                "perf-trace-recover completes its files first",
                name);
        return false;
    case PT_SESSIONS_TRACE:
        if (named) {
            pt_warn("%s: skipped: it holds trace events, not sessions", name);
        }
        return false;
    default:
        if (named || sure_name) {
            pt_warn("%s: skipped: %s", name, source->why);
        }
        return false;
    }
}

static int feed_file(loader_t *l, pt_ordered_t *pipe, pt_session_feed_t *feed, unsigned file) {
    uint64_t before = 0;
    for (;;) {
        chunk_t *c = take_chunk(l);
        int got = pt_session_feed_next(feed, &c->piece);
        uint64_t raw = pt_input_raw_offset(feed->input);
        c->file = file;
        c->raw = raw - before;
        before = raw;
        l->load->bytes += c->piece.len;
        int status = got < 0 ? PT_EXIT_INTERNAL : PT_EXIT_OK;
        if (got > 0) {
            status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, c);
        }
        if (got <= 0 || status != PT_EXIT_OK) {
            chunk_release(l, c);
            return status;
        }
    }
}

static int feed_all(loader_t *l, pt_ordered_t *pipe) {
    const pt_paths_t *paths = l->load->paths;
    int status = PT_EXIT_OK;
    for (size_t i = 0; i < paths->count && status == PT_EXIT_OK; i++) {
        const pt_path_t *path = &paths->items[i];
        perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
        pt_session_feed_t feed = {.input = NULL};
        pt_input_t *input;
        unsigned file =
            pt_problems_add_file(l->load->book, path->is_stdin ? "standard input" : path->name);
        if (pt_input_open(path->name, NULL, &input, &problem) != 0) {
            pt_error("%s: %s", path->is_stdin ? "standard input" : path->name,
                     perftrace__strbuf_cstr(&problem));
            perftrace__strbuf_free(&problem);
            return PT_EXIT_INPUT;
        }
        perftrace__strbuf_free(&problem);
        pt_session_feed_open(&feed, input, l->load->book, file);
        if (is_wanted(&feed.source, path)) {
            status = feed_file(l, pipe, &feed, file);
        }
        pt_session_feed_close(&feed);
    }
    return status;
}

static int run(loader_t *l, size_t chunks) {
    unsigned threads = l->load->threads;
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0,
                                .in_flight = (unsigned)chunks - 1,
                                .ctx = l,
                                .work = read_work,
                                .emit = append_emit,
                                .release = chunk_release};
    pt_ordered_t *pipe = pt_ordered_new(&how);
    if (pipe == NULL) {
        return PT_EXIT_INTERNAL;
    }
    int status = feed_all(l, pipe);
    int end = pt_ordered_finish(pipe);
    pt_ordered_free(pipe);
    return status != PT_EXIT_OK ? status : end;
}

static void count_files(loader_t *l) {
    for (size_t i = 0; i < l->model->rows; i++) {
        l->load->files += i == 0 || l->model->row[i].file != l->model->row[i - 1].file;
    }
}

pt_exit_t pt_session_load(pt_session_load_t *load, pt_session_model_t *model) {
    loader_t l = {.load = load, .model = model, .free_lock = PTHREAD_MUTEX_INITIALIZER};
    size_t chunks = 2 * (size_t)load->threads + 3;
    chunk_t *chunk = calloc(chunks, sizeof *chunk);
    int status = PT_EXIT_INTERNAL;
    l.total = pt_paths_total_size(load->paths);
    pt_progress_begin(&l.progress, "reading", l.total);
    if (chunk != NULL) {
        for (size_t i = 0; i < chunks; i++) {
            chunk[i].batch.part.keep_spans = model->keep_spans;
            chunk_release(&l, &chunk[i]);
        }
        status = run(&l, chunks);
    }
    for (size_t i = 0; chunk != NULL && i < chunks; i++) {
        pt_session_piece_free(&chunk[i].piece);
        pt_session_batch_free(&chunk[i].batch);
    }
    free(chunk);
    if (status == PT_EXIT_OK && !pt_session_model_finish(model, load->book)) {
        status = PT_EXIT_INTERNAL;
    }
    pt_progress_end(&l.progress);
    if (status == PT_EXIT_INTERNAL) {
        pt_error("out of memory");
    } else if (status == PT_EXIT_OK && model->rows == 0) {
        pt_error("no session is in %s",
                 load->paths->count == 1 ? "the input" : "any of the inputs");
        status = PT_EXIT_INPUT;
    } else {
        count_files(&l);
    }
    return (pt_exit_t)status;
}
