/* analyze_load.c: the inputs to their results, in parallel. SPDX-License-Identifier: MIT */
#include "analyze_load.h"

#include "event_fast.h"
#include "grow.h"
#include "input.h"
#include "message.h"
#include "ordered.h"
#include "path_parts.h"
#include "progress.h"
#include "rank_analysis.h"
#include "result_json.h"
#include "store_feed.h"
#include "take_apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK        ((size_t)1 << 18)
#define PARTIAL_MOST ((size_t)1 << 32)

/* One input on its way. */
typedef struct job {
    const pt_path_t *path;
    const char *name;
    pt_results_t results;
    pt_problems_t *book;
    perftrace__strbuf_t why; /* the input could not be used */
    bool skipped;            /* it is no trace */
    bool mixed;              /* processes take turns in it: nothing of it is taken */
} job_t;

typedef struct loader {
    pt_analyze_load_t *load;
    pt_results_t *results;
    pt_progress_t progress;
    bool lost;        /* an input that was named could not be read */
    bool one_each;    /* the inputs are such processes: they are not looked at again */
    pt_paths_t apart; /* the processes of inputs in which they take turns */
    pt_fd_list_t fds;
} loader_t;

bool pt_analyze_wants(const char *name, void *ctx) {
    static const char *const ends[] = {".json", ".jsonl", ".ndjson", ".pfw"};
    size_t len = strlen(name);
    (void)ctx;
    len -= len > 3 && strcmp(name + len - 3, ".gz") == 0 ? 3 : 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(ends); i++) {
        size_t n = strlen(ends[i]);
        if (len > n && memcmp(name + len - n, ends[i], n) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- one input ---- */

static void feed_all(pt_input_t *in, pt_store_feed_t *feed, char *buf, pt_progress_t *progress) {
    pt_trace_reader_t *reader = feed->reader;
    uint64_t before = 0;
    for (bool last = false; !last && !feed->ranks.found;) {
        int64_t n = pt_input_read(in, buf, CHUNK);
        if (n < 0) {
            pt_problems_add(reader->book, PT_TRACE_PROBLEM_INPUT_ENDS, 0, 0, pt_input_offset(in),
                            pt_input_problem(in));
        }
        last = n <= 0;
        n = PT_MAX(n, (int64_t)0);
        memset(buf + n, 0, PT_EVENT_PAD);
        pt_trace_reader_feed(reader, buf, (size_t)n, last);
        pt_progress_add(progress, pt_input_raw_offset(in) - before);
        before = pt_input_raw_offset(in);
    }
}

static int read_trace(loader_t *l, job_t *job, pt_input_t *in, const pt_source_t *source) {
    pt_rank_store_t store;
    pt_trace_reader_t reader;
    pt_store_feed_t feed;
    char *buf = malloc(CHUNK + PT_EVENT_PAD);
    job->book = pt_problems_new(pt_trace_problem_kinds(), PT_TRACE_PROBLEM_COUNT);
    if (buf == NULL || job->book == NULL) {
        free(buf);
        return PT_EXIT_INTERNAL;
    }
    pt_store_init(&store);
    pt_problems_add_file(job->book, job->name);
    pt_trace_reader_init(&reader, source->shape);
    reader.book = job->book;
    pt_store_feed_join(&feed, &store, &reader);
    pt_store_take_source(&store, source);
    feed.ours = source->ours && !l->one_each;
    feed_all(in, &feed, buf, &l->progress);
    free(buf);
    job->mixed = feed.ranks.found;
    pt_store_feed_finish(&feed, l->load->keep_outliers);
    bool entered = reader.cutter.saw_events;
    pt_trace_reader_free(&reader);
    if (job->mixed) {
        bool failed = store.failed;
        pt_store_free(&store);
        return failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
    }
    bool ok = !store.failed && pt_rank_analyze(&store, job->name, l->load->analysis, &job->results);
    if (ok && store.events == 0 &&
        (!entered || pt_problems_total(job->book, PT_PROBLEM_SKIPPED) > 0)) {
        perftrace__strbuf_puts(&job->why, entered ? "no event can be read from it"
                                                  : "it is JSON but holds no trace events");
        job->skipped = true;
    }
    pt_store_free(&store);
    for (size_t i = 0; ok && i < job->results.count && i < 1; i++) {
        pt_problems_json(job->book, &job->results.result[i].problems);
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

static int read_partial(job_t *job, pt_input_t *in) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT, problem = PERFTRACE__STRBUF_INIT;
    int64_t n = 1;
    while (n > 0 && text.len < PARTIAL_MOST && perftrace__strbuf_reserve(&text, CHUNK)) {
        n = pt_input_read(in, text.data + text.len, CHUNK);
        text.len += n > 0 ? (size_t)n : 0;
    }
    int status = text.failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
    if (status == PT_EXIT_OK && n < 0) {
        perftrace__strbuf_puts(&job->why, pt_input_problem(in));
    } else if (status == PT_EXIT_OK &&
               !pt_results_read(&job->results, text.data, text.len, &problem)) {
        perftrace__strbuf_puts(&job->why, perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&text);
    perftrace__strbuf_free(&problem);
    return status;
}

static int work(void *ctx, void *task, unsigned worker) {
    loader_t *l = ctx;
    job_t *job = task;
    pt_input_t *in = NULL;
    const char *data;
    pt_source_t source;
    (void)worker;
    pt_input_options_t how = pt_path_parts_input(job->path);
    int rc = pt_input_open(job->path->name, &how, &in, &job->why);
    if (rc != 0) {
        return rc == -ENOMEM ? PT_EXIT_INTERNAL : PT_EXIT_OK;
    }
    size_t len = pt_input_peek(in, PT_SOURCE_PEEK, &data);
    int status = PT_EXIT_OK;
    if (pt_results_is(data, len)) {
        status = read_partial(job, in);
        pt_input_close(in);
        return status;
    }
    pt_source_init(&source);
    pt_source_sniff(&source, data, len, len < PT_SOURCE_PEEK);
    if (source.ours && !l->one_each && !pt_mixed_ranks_begin(data, len, &job->mixed)) {
        status = PT_EXIT_INTERNAL;
    } else if (job->mixed) {
        status = PT_EXIT_OK;
    } else if (source.shape == PT_SHAPE_LINES || source.shape == PT_SHAPE_ARRAY ||
               source.shape == PT_SHAPE_OBJECT) {
        status = read_trace(l, job, in, &source);
    } else {
        char byte;
        bool packed = len == 0 && pt_input_read(in, &byte, 1) < 0;
        perftrace__strbuf_puts(&job->why, packed ? "nothing can be unpacked from its gzip data"
                                          : source.shape == PT_SHAPE_RING
                                              ? "it is a left-over ring file: perf-trace-recover "
                                                "makes a trace of it"
                                              : source.why);
        job->skipped = true;
    }
    pt_source_free(&source);
    pt_input_close(in);
    return status;
}

/* ---- all inputs ---- */

static int emit(void *ctx, void *task) {
    loader_t *l = ctx;
    job_t *job = task;
    if (job->mixed) {
        return (int)pt_take_apart(job->path, &l->apart, &l->fds);
    }
    if (job->book != NULL) {
        pt_problems_print(job->book, l->load->strict, 0);
        l->load->mended += pt_problems_total(job->book, PT_PROBLEM_MENDED);
    }
    if (job->why.len > 0) {
        bool fatal = !job->skipped;
        if (fatal) {
            pt_error("%s: %s", job->name, perftrace__strbuf_cstr(&job->why));
        } else {
            pt_warn("%s: skipped: %s", job->name, perftrace__strbuf_cstr(&job->why));
        }
        l->lost |= fatal;
        l->load->mended++;
        return PT_EXIT_OK;
    }
    for (size_t i = 0; i < job->results.count; i++) {
        pt_rank_result_t *r = pt_results_add(l->results);
        if (r == NULL) {
            return PT_EXIT_INTERNAL;
        }
        *r = job->results.result[i];
        pt_result_init(&job->results.result[i]);
    }
    return PT_EXIT_OK;
}

static void release(void *ctx, void *task) {
    job_t *job = task;
    (void)ctx;
    pt_results_free(&job->results);
    pt_problems_free(job->book);
    perftrace__strbuf_free(&job->why);
}

/* Reads some inputs. Not a message more than those of the inputs themselves. */
static int load_all(loader_t *l, const pt_paths_t *paths) {
    size_t count = paths->count;
    unsigned threads = (unsigned)PT_MIN((size_t)l->load->threads, count);
    job_t *job = calloc(count + 1, sizeof *job);
    pt_ordered_options_t how = {.threads = threads > 1 ? threads : 0,
                                .ctx = l,
                                .work = work,
                                .emit = emit,
                                .release = release};
    pt_ordered_t *ordered = job != NULL ? pt_ordered_new(&how) : NULL;
    if (ordered == NULL) {
        free(job);
        return PT_EXIT_INTERNAL;
    }
    pt_progress_begin(&l->progress, "analysing", pt_paths_total_size(paths));
    int status = PT_EXIT_OK;
    for (size_t i = 0; i < count && status == PT_EXIT_OK; i++) {
        job[i].path = &paths->items[i];
        job[i].name = pt_path_shown(job[i].path);
        status = pt_ordered_submit(ordered, PT_ORDERED_NO_LANE, &job[i]);
    }
    int finished = pt_ordered_finish(ordered);
    pt_ordered_free(ordered);
    pt_progress_end(&l->progress);
    free(job);
    return status == PT_EXIT_OK ? finished : status;
}

pt_exit_t pt_analyze_load(pt_analyze_load_t *load, pt_results_t *results) {
    loader_t l = {.load = load, .results = results, .apart = PT_PATHS_INIT};
    int status = load_all(&l, load->paths);
    if (status == PT_EXIT_OK && l.apart.count > 0) {
        l.one_each = true;
        status = load_all(&l, &l.apart);
    }
    pt_paths_free(&l.apart);
    pt_fd_list_free(&l.fds);
    if (status == PT_EXIT_INTERNAL) {
        pt_error("out of memory");
    } else if (status == PT_EXIT_OK && (results->count == 0 || l.lost)) {
        if (!l.lost) {
            pt_error("there is no trace in the input");
        }
        status = PT_EXIT_INPUT;
    }
    return (pt_exit_t)status;
}
