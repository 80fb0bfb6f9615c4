/* profile_load.c. SPDX-License-Identifier: MIT */
#include "profile_load.h"

#include "input.h"
#include "json_scan.h"
#include "message.h"
#include "ordered.h"
#include "speedscope_read.h"
#include "text_chunks.h"
#include "text_source.h"

#include <stdlib.h>

#define HEAD ((size_t)64 << 10) /* of the text that tells its format */

typedef struct file {
    const pt_profile_load_t *load;
    const char *name;
    unsigned number;
    pt_text_source_t source;
    perftrace__strbuf_t text;
    pt_profile_t *p;
    pt_profile_source_t *what;
    bool two_columns;
} file_t;

static pt_exit_t no_memory(const file_t *f) {
    pt_error("%s: out of memory", f->name);
    return PT_EXIT_INTERNAL;
}

static const char *why_not(pt_speedscope_result_t result) {
    switch (result) {
    case PT_SPEEDSCOPE_TRACE:
        return "it is a trace of events, not of stacks: perf-trace-analyze and perf-trace-convert "
               "read it";
    case PT_SPEEDSCOPE_OTHER:
        return "it is JSON, but no speedscope file: it has no list of profiles and of shared "
               "frames";
    case PT_SPEEDSCOPE_NO_PROFILES:
        return "no profiles are in it";
    case PT_SPEEDSCOPE_NOT_JSON:
    case PT_SPEEDSCOPE_OK:
    case PT_SPEEDSCOPE_NO_MEMORY:
        break;
    }
    return "no profile in it can be read";
}

static pt_exit_t read_json(file_t *f) {
    pt_profile_notes_t *notes = calloc(1, sizeof *notes);
    perftrace__json_error_t error = {0, 0};
    size_t taken = 0;
    bool ok = notes != NULL;
    while (ok && !f->source.end) {
        ok = pt_text_source_read(&f->source, PT_MAX(f->text.len / 2, HEAD), &f->text);
    }
    if (!ok) {
        free(notes);
        return no_memory(f);
    }
    pt_speedscope_result_t result =
        pt_speedscope_read(f->p, perftrace__strbuf_cstr(&f->text), f->text.len,
                           f->load->mend_events, notes, &taken, &error);
    pt_profile_notes_tell(notes, f->load->book, f->number, 0,
                          f->source.encoding == PT_TEXT_UTF8 ? f->source.mark : PT_NO_OFFSET);
    free(notes);
    if (f->load->progress != NULL) {
        pt_progress_add(f->load->progress, f->text.len);
    }
    if (result == PT_SPEEDSCOPE_NO_MEMORY) {
        return no_memory(f);
    }
    if (result == PT_SPEEDSCOPE_NOT_JSON) {
        pt_error("%s: it is no JSON at byte %zu: %s", f->name, error.offset + f->source.mark,
                 perftrace__json_error_text(error.code));
    } else if (result != PT_SPEEDSCOPE_OK || taken == 0) {
        pt_error("%s: %s", f->name, why_not(result));
    }
    return result == PT_SPEEDSCOPE_OK && taken > 0 ? PT_EXIT_OK : PT_EXIT_INPUT;
}

static pt_exit_t read_text(file_t *f) {
    pt_text_chunks_t chunks = {.load = f->load,
                               .source = &f->source,
                               .head = &f->text,
                               .format = f->what->format,
                               .two_columns = f->two_columns,
                               .file = f->number,
                               .p = f->p};
    pt_exit_t status = pt_text_chunks_read(&chunks);
    if (status != PT_EXIT_OK) {
        return no_memory(f);
    }
    f->what->lines = chunks.lines;
    if (f->two_columns) {
        pt_problems_add(f->load->book, PT_PROFILE_PROBLEM_TWO_COLUMNS, f->number, 0, PT_NO_OFFSET,
                        NULL);
    }
    pt_profile_sort_threads(f->p);
    if (f->p->samples == 0) {
        pt_error("%s: no stack is in it: no line ends in a blank and a weight", f->name);
        return PT_EXIT_INPUT;
    }
    return f->p->failed ? no_memory(f) : PT_EXIT_OK;
}

static void tell_source(const file_t *f, const pt_input_t *input) {
    if (f->source.damaged) {
        pt_problems_add(f->load->book, PT_PROFILE_PROBLEM_INPUT_ENDS, f->number, 0, PT_NO_OFFSET,
                        pt_input_problem(input));
    }
    pt_problems_add_many(f->load->book, PT_PROFILE_PROBLEM_BAD_UTF16, f->number, 0, PT_NO_OFFSET,
                         NULL, f->source.utf16.mended);
}

static pt_exit_t read_input(file_t *f, pt_input_t *input) {
    pt_exit_t status;
    pt_text_source_begin(&f->source, input);
    if (!pt_text_source_read(&f->source, HEAD, &f->text)) {
        return no_memory(f);
    }
    if (f->text.len == 0 && f->source.damaged) {
        pt_error("%s: %s", f->name, pt_input_problem(input));
        return PT_EXIT_INPUT;
    }
    f->what->encoding = f->source.encoding;
    f->what->format = pt_profile_sniff(perftrace__strbuf_cstr(&f->text), f->text.len, f->source.end,
                                       &f->two_columns);
    switch (f->what->format) {
    case PT_PROFILE_JSON:
        status = read_json(f);
        break;
    case PT_PROFILE_COLLAPSED:
    case PT_PROFILE_PERF_SCRIPT:
        status = read_text(f);
        break;
    case PT_PROFILE_EMPTY:
        status = PT_EXIT_INPUT;
        pt_error("%s: it is empty: there are no stacks", f->name);
        break;
    case PT_PROFILE_UNKNOWN:
    default:
        status = PT_EXIT_INPUT;
        pt_error("%s: it holds no stacks: neither speedscope's JSON, nor lines \"root;leaf "
                 "WEIGHT\", nor the text of perf script",
                 f->name);
        break;
    }
    tell_source(f, input);
    return status;
}

pt_exit_t pt_profile_load_file(const pt_profile_load_t *load, const char *path, unsigned number,
                               pt_profile_t *p, pt_profile_source_t *ret_source) {
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input;
    pt_exit_t status = PT_EXIT_INPUT;
    *ret_source = (pt_profile_source_t){.format = PT_PROFILE_UNKNOWN};
    p->keep_order = load->keep_order;
    if (pt_input_open(path, NULL, &input, &problem) == 0) {
        file_t f = {.load = load,
                    .name = pt_input_name(input),
                    .number = number,
                    .text = PERFTRACE__STRBUF_INIT,
                    .p = p,
                    .what = ret_source};
        status = read_input(&f, input);
        perftrace__strbuf_free(&f.text);
        pt_input_close(input);
    } else {
        pt_error("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path,
                 perftrace__strbuf_cstr(&problem));
    }
    perftrace__strbuf_free(&problem);
    return status;
}

/* ---- many files ---- */

typedef struct load_task {
    const char *path;
    unsigned number;
    pt_profile_t p;
    pt_profile_source_t source;
    pt_exit_t status;
} load_task_t;

typedef struct many {
    const pt_profile_load_t *load; /* one thread a file */
    pt_profile_t *p;
    pt_profile_source_t *source;
    unsigned first; /* number of the first input in the book */
    pt_exit_t worst;
} many_t;

static int load_one(void *ctx, void *task, unsigned worker) {
    const many_t *m = ctx;
    load_task_t *t = task;
    (void)worker;
    t->status = pt_profile_load_file(m->load, t->path, t->number, &t->p, &t->source);
    return t->status == PT_EXIT_INTERNAL ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

static int add_one(void *ctx, void *task) {
    many_t *m = ctx;
    load_task_t *t = task;
    m->worst = PT_MAX(m->worst, t->status);
    pt_profile_merge(m->p, &t->p);
    if (m->source != NULL) {
        m->source[t->number - m->first] = t->source;
    }
    return m->p->failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

static void release_one(void *ctx, void *task) {
    load_task_t *t = task;
    (void)ctx;
    pt_profile_free(&t->p);
}

static pt_exit_t load_many(const pt_profile_load_t *load, const pt_paths_t *paths, pt_profile_t *p,
                           pt_profile_source_t *source, unsigned first) {
    pt_profile_load_t alone = *load;
    alone.threads = 0;
    many_t m = {.load = &alone, .p = p, .source = source, .first = first, .worst = PT_EXIT_OK};
    pt_ordered_options_t options = {.threads = load->threads > 1 ? load->threads : 0,
                                    .ctx = &m,
                                    .work = load_one,
                                    .emit = add_one,
                                    .release = release_one};
    load_task_t *task = calloc(paths->count + 1, sizeof *task);
    pt_ordered_t *pipe = task != NULL ? pt_ordered_new(&options) : NULL;
    int status = pipe != NULL ? PT_EXIT_OK : PT_EXIT_INTERNAL;
    for (size_t i = 0; i < paths->count && status == PT_EXIT_OK; i++) {
        task[i] = (load_task_t){.path = paths->items[i].name, .number = first + (unsigned)i};
        pt_profile_init(&task[i].p);
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &task[i]);
    }
    if (pipe != NULL) {
        status = pt_ordered_finish(pipe);
    } else {
        pt_error("out of memory");
    }
    pt_ordered_free(pipe);
    free(task);
    return status != PT_EXIT_OK ? PT_EXIT_INTERNAL : m.worst;
}

pt_exit_t pt_profile_load_files(const pt_profile_load_t *load, const pt_paths_t *paths,
                                pt_profile_t *p, pt_profile_source_t *source) {
    pt_profile_source_t one;
    unsigned first = 0;
    for (size_t i = 0; i < paths->count; i++) {
        const pt_path_t *path = &paths->items[i];
        unsigned number =
            pt_problems_add_file(load->book, path->is_stdin ? "standard input" : path->name);
        first = i == 0 ? number : first;
    }
    p->keep_order = load->keep_order;
    if (paths->count == 1) {
        return pt_profile_load_file(load, paths->items[0].name, first, p,
                                    source != NULL ? source : &one);
    }
    return load_many(load, paths, p, source, first);
}
