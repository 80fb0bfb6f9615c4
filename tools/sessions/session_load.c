/* session_load.c: the inputs into the model, in parallel. SPDX-License-Identifier: MIT */
#include "session_load.h"

#include "last_part.h"
#include "message.h"
#include "ordered.h"
#include "path_parts.h"
#include "progress.h"
#include "session_batch.h"
#include "session_clocks.h"
#include "session_finish.h"
#include "session_told.h"
#include "session_trace.h"
#include "take_apart.h"

#include <pthread.h>
#include <stdlib.h>

typedef enum use { USE_NOT, USE_RECORDS, USE_TRACE, USE_LATER } use_t;

/* An input: its number in the book, and what was done with it. */
typedef struct place {
    unsigned file;
    use_t use;
    bool trace; /* of ours, in a file */
} place_t;

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
    place_t *place;       /* of each path */
    size_t traces;        /* that are left for later */
    bool later;           /* it is: they are read */
    pt_session_told_t told;
    pt_session_clocks_t clocks; /* of traces */
    size_t given;               /* paths; behind them stand the processes of some */
    pt_fd_list_t fds;           /* of these */
} loader_t;

/* Lines of what was made from a trace are lines of no file. */
static void forget_lines(pt_session_batch_t *batch) {
    for (size_t i = 0; i < batch->part.rows; i++) {
        batch->part.row[i].line = 0;
    }
}

static int read_work(void *ctx, void *task, unsigned worker) {
    chunk_t *c = task;
    (void)ctx;
    (void)worker;
    pt_session_batch_read(&c->batch, c->piece.text, c->piece.len, c->piece.lines);
    if (c->piece.made) {
        forget_lines(&c->batch);
    }
    return c->batch.failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

static void tell_problems(loader_t *l, const chunk_t *c) {
    for (unsigned kind = 0; kind < PT_SESSION_PROBLEM_COUNT; kind++) {
        const pt_batch_problem_t *p = &c->batch.problem[kind];
        if (p->count > 0) {
            pt_problems_add_many(l->load->book, kind, c->file,
                                 c->piece.made ? 0 : l->line + p->line,
                                 c->piece.made ? PT_NO_OFFSET : c->piece.offset + p->offset,
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
                                 c->piece.made ? 0 : l->line, &overflow)) {
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

/* ---- which files, and in which order ---- */

/* A trace is read after all records: it is not needed where they tell its run. What can be read
 * only once is read at once. */
static use_t use_of_trace(const loader_t *l, pt_session_feed_t *feed, const pt_path_t *path) {
    const char *name = pt_path_shown(path);
    perftrace__trace_header_t header = PERFTRACE__TRACE_HEADER_INIT;
    use_t use = path->regular && !path->is_stdin && !l->later ? USE_LATER : USE_TRACE;
    if (!pt_session_trace_header(feed->input, &header)) {
        if (path->named || path->is_stdin) {
            pt_warn("%s: skipped: it holds trace events, not sessions, and is no trace file as "
                    "libperftrace writes it",
                    name);
        }
        use = USE_NOT;
    } else if (use == USE_TRACE && pt_session_told_has(&l->told, &header)) {
        pt_detail("%s: passed over: the sessions of its run are in a file of records", name);
        use = USE_NOT;
    }
    perftrace__trace_header_free(&header);
    return use;
}

/* What is done with a file; says why nothing is. */
static use_t use_of(const loader_t *l, pt_session_feed_t *feed, const pt_path_t *path) {
    const pt_session_source_t *source = &feed->source;
    const char *name = pt_path_shown(path);
    bool sure_name = false;
    bool named = path->named || path->is_stdin;
    pt_session_file_wanted(pt_last_part(path->name), &sure_name);
    switch (source->shape) {
    case PT_SESSIONS_LINES:
    case PT_SESSIONS_VALUES:
        if (source->sure || named || sure_name) {
            return USE_RECORDS;
        }
        pt_detail("%s: passed over: no session is seen at its beginning", name);
        return USE_NOT;
    case PT_SESSIONS_RING:
        pt_warn("%s: is the ring file of a program that is running or was killed; "
                "perf-trace-recover completes its files first",
                name);
        return USE_NOT;
    case PT_SESSIONS_TRACE:
        return use_of_trace(l, feed, path);
    default:
        if (named || sure_name) {
            pt_warn("%s: skipped: %s", name, source->why);
        }
        return USE_NOT;
    }
}

/* trace NULL: the feed has the records. */
static int feed_file(loader_t *l, pt_ordered_t *pipe, pt_session_feed_t *feed,
                     pt_session_trace_t *trace) {
    uint64_t before = 0;
    for (;;) {
        chunk_t *c = take_chunk(l);
        int got = trace != NULL ? pt_session_trace_next(trace, &c->piece)
                                : pt_session_feed_next(feed, &c->piece);
        uint64_t raw = pt_input_raw_offset(feed->input);
        c->file = feed->file;
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

static int feed_trace(loader_t *l, pt_ordered_t *pipe, pt_session_feed_t *feed,
                      const pt_path_t *path) {
    pt_session_trace_t trace;
    if (!pt_session_trace_open(&trace, feed)) {
        return PT_EXIT_INTERNAL;
    }
    int status = feed_file(l, pipe, feed, &trace);
    if (status == PT_EXIT_OK && trace.ranks.found) { /* a file was taken apart before */
        status = (int)pt_take_apart_refuse(path);
    }
    pt_session_trace_close(&trace);
    return status;
}

/* One input, opened as `file`. */
static int feed_input(loader_t *l, pt_ordered_t *pipe, const pt_path_t *path, unsigned file,
                      use_t *ret_use) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_session_feed_t feed = {.input = NULL};
    pt_input_t *input;
    int status = PT_EXIT_OK;
    pt_input_options_t how = pt_path_parts_input(path);
    if (pt_input_open(path->name, &how, &input, &problem) != 0) {
        pt_error("%s: %s", pt_path_shown(path), perftrace__strbuf_cstr(&problem));
        perftrace__strbuf_free(&problem);
        return PT_EXIT_INPUT;
    }
    perftrace__strbuf_free(&problem);
    pt_session_feed_open(&feed, input, l->load->book, file);
    *ret_use = use_of(l, &feed, path);
    if (*ret_use == USE_RECORDS) {
        status = feed_file(l, pipe, &feed, NULL);
    } else if (*ret_use == USE_TRACE) {
        status = feed_trace(l, pipe, &feed, path);
    }
    pt_session_feed_close(&feed);
    return status;
}

/* A trace in which processes take turns: each as from a file of its own. */
static int feed_apart(loader_t *l, pt_ordered_t *pipe, pt_path_t path) {
    pt_paths_t *paths = l->load->paths;
    size_t first = paths->count;
    int status = (int)pt_take_apart(&path, paths, &l->fds); /* of a copy: the list moves */
    for (size_t i = first; i < paths->count && status == PT_EXIT_OK; i++) {
        use_t use;
        unsigned file = pt_problems_add_file(l->load->book, pt_path_shown(&paths->items[i]));
        status = feed_input(l, pipe, &paths->items[i], file, &use);
        l->traces++;
    }
    return status;
}

static int feed_later(loader_t *l, pt_ordered_t *pipe, const pt_path_t *path, place_t *place) {
    bool mixed;
    int status = (int)pt_takes_turns(path, &mixed);
    if (status != PT_EXIT_OK || !mixed) {
        return status != PT_EXIT_OK ? status : feed_input(l, pipe, path, place->file, &place->use);
    }
    place->trace = false;
    return feed_apart(l, pipe, *path);
}

/* The first time round everything but traces in files; then these. */
static int feed_all(loader_t *l, pt_ordered_t *pipe) {
    const pt_paths_t *paths = l->load->paths;
    int status = PT_EXIT_OK;
    for (size_t i = 0; i < l->given && status == PT_EXIT_OK; i++) {
        place_t *place = &l->place[i];
        if (!l->later) {
            place->file = pt_problems_add_file(l->load->book, pt_path_shown(&paths->items[i]));
        }
        if (l->later && place->use == USE_LATER) {
            status = feed_later(l, pipe, &paths->items[i], place);
        } else if (!l->later) {
            status = feed_input(l, pipe, &paths->items[i], place->file, &place->use);
            place->trace = place->use == USE_LATER;
            l->traces += place->trace;
        }
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

/* Records, then the traces of runs that they do not tell. */
static int load_all(loader_t *l, size_t chunks) {
    l->given = l->load->paths->count;
    l->place = calloc(l->given + 1, sizeof *l->place);
    int status = l->place != NULL ? run(l, chunks) : PT_EXIT_INTERNAL;
    if (status == PT_EXIT_OK && l->traces > 0) {
        l->later = true;
        status = pt_session_told_find(&l->told, l->model) ? run(l, chunks) : PT_EXIT_INTERNAL;
        pt_session_told_free(&l->told);
    }
    for (size_t i = 0; status == PT_EXIT_OK && l->traces > 1 && i < l->load->paths->count; i++) {
        bool trace = i >= l->given || l->place[i].trace;
        if (trace && !pt_session_clocks_add(&l->clocks, &l->load->paths->items[i])) {
            status = PT_EXIT_INTERNAL;
        }
    }
    free(l->place);
    return status;
}

pt_exit_t pt_session_load(pt_session_load_t *load, pt_session_model_t *model) {
    loader_t l = {.load = load, .model = model, .free_lock = PTHREAD_MUTEX_INITIALIZER};
    size_t chunks = 2 * (size_t)load->threads + 3, moved = 0;
    chunk_t *chunk = calloc(chunks, sizeof *chunk);
    int status = PT_EXIT_INTERNAL;
    l.total = pt_paths_total_size(load->paths);
    pt_progress_begin(&l.progress, "reading", l.total);
    if (chunk != NULL) {
        for (size_t i = 0; i < chunks; i++) {
            chunk[i].batch.part.keep_spans = model->keep_spans;
            chunk_release(&l, &chunk[i]);
        }
        status = load_all(&l, chunks);
    }
    for (size_t i = 0; chunk != NULL && i < chunks; i++) {
        pt_session_piece_free(&chunk[i].piece);
        pt_session_batch_free(&chunk[i].batch);
    }
    free(chunk);
    if (status == PT_EXIT_OK && (!pt_session_model_finish(model, load->book) ||
                                 !pt_session_clocks_apply(&l.clocks, model, &moved))) {
        status = PT_EXIT_INTERNAL;
    }
    pt_session_clocks_free(&l.clocks);
    pt_fd_list_free(&l.fds);
    if (moved > 0) {
        pt_detail("times of %zu sessions are moved onto the clock of the lowest rank", moved);
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
