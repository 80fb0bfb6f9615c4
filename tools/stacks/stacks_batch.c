/* stacks_batch.c: a directory of collapsed stacks. SPDX-License-Identifier: MIT */
#include "kept_files.h"
#include "message.h"
#include "ordered.h"
#include "report_output.h"
#include "stacks_convert.h"
#include "stacks_report.h"
#include "stacks_show.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct batch {
    const pt_stacks_options_t *o;
    const char *dir;
    pt_problems_t *book;
    perftrace__strbuf_t summary;
    pt_paths_t kept; /* all inputs: a target may be a link to one */
    pt_exit_t worst;
} batch_t;

typedef struct job {
    const char *file; /* its name in the directory */
    const char *twin; /* NULL, or the file before it, which has the same target */
    unsigned number;
    perftrace__strbuf_t base, path, target; /* of the file: its base; with the directory: both */
    pt_profile_t p;
    pt_exit_t status;
    pt_profile_sink_t out;
    perftrace__strbuf_t said;
    pt_stacks_report_t threads;
} job_t;

static bool is_wanted(const char *name, size_t *ret_base) {
    static const char start[] = "perf_", end[] = "_collapsed.txt";
    size_t len = strlen(name), n = sizeof end - 1;
    len -= len > 3 && strcmp(name + len - 3, ".gz") == 0 ? 3 : 0;
    *ret_base = len > n ? len - n : 0;
    return strncmp(name, start, sizeof start - 1) == 0 && len >= sizeof start - 1 + n &&
           strncmp(name + len - n, end, n) == 0;
}

static int compare(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static pt_exit_t list_files(const char *dir, pt_string_list_t *files) {
    DIR *d = opendir(dir);
    bool ok = true;
    if (d == NULL) {
        pt_error("%s: %s", dir, strerror(errno));
        return PT_EXIT_INPUT;
    }
    for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
        size_t base;
        ok = !is_wanted(e->d_name, &base) || pt_string_list_add(files, e->d_name);
    }
    closedir(d);
    if (files->count > 0) {
        qsort(files->items, files->count, sizeof *files->items, compare);
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

static void put_path(const batch_t *b, const char *name, perftrace__strbuf_t *out) {
    size_t len = strlen(b->dir);
    const char *slash = len > 0 && b->dir[len - 1] == '/' ? "" : "/";
    perftrace__strbuf_printf(out, "%s%s%s", b->dir, slash, name);
}

/* A pipe or a device in the directory would be waited for. What is not there is told where it is
 * opened. */
static bool is_special(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static pt_exit_t convert(batch_t *b, job_t *j) {
    pt_profile_load_t load = {.keep_order = true, .book = b->book};
    pt_profile_source_t source;
    pt_stack_view_t view;
    if (j->twin != NULL) {
        pt_error("%s: left out: it would be written to the same file as %s",
                 perftrace__strbuf_cstr(&j->path), j->twin);
        return PT_EXIT_INPUT;
    }
    if (is_special(perftrace__strbuf_cstr(&j->path))) {
        pt_error("%s: is no plain file", perftrace__strbuf_cstr(&j->path));
        return PT_EXIT_INPUT;
    }
    pt_exit_t status =
        pt_profile_load_file(&load, perftrace__strbuf_cstr(&j->path), j->number, &j->p, &source);
    if (status != PT_EXIT_OK) {
        return status;
    }
    if (!pt_stacks_can_write(&j->p, false, perftrace__strbuf_cstr(&j->path))) {
        return PT_EXIT_PROBLEMS;
    }
    bool ok = pt_stacks_set_unit(b->o, &j->p, &j->said) &&
              pt_speedscope_write(&j->p, perftrace__strbuf_cstr(&j->base),
                                  "perf-trace-stacks " PERFTRACE_TOOL_VERSION, &j->out);
    ok = pt_stack_view_make(&j->p, NULL, &view) && ok;
    j->threads = (pt_stacks_report_t){
        .view = &view, .text = PERFTRACE__STRBUF_INIT, .tables = PT_REPORT_INIT};
    ok = ok && pt_report_threads(&j->threads);
    pt_stack_view_free(&view);
    pt_profile_free(&j->p);
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

static int work(void *ctx, void *task, unsigned worker) {
    job_t *j = task;
    (void)worker;
    j->status = convert(ctx, j);
    if (j->status == PT_EXIT_INTERNAL) {
        pt_error("%s: out of memory", perftrace__strbuf_cstr(&j->path));
    }
    return j->status == PT_EXIT_INTERNAL ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

/* The heading, the threads and a blank line; of a file that could not be read it says so. */
static void sum_up(batch_t *b, const job_t *j) {
    perftrace__strbuf_printf(&b->summary, "=== %s ===\n\n", perftrace__strbuf_cstr(&j->base));
    if (j->status == PT_EXIT_OK) {
        perftrace__strbuf_printf(&b->summary, "Threads in %s:\n\n",
                                 perftrace__strbuf_cstr(&j->target));
        perftrace__strbuf_append(&b->summary, j->threads.text.data, j->threads.text.len);
    } else {
        perftrace__strbuf_printf(&b->summary, "%s could not be read\n", j->file);
    }
    perftrace__strbuf_putc(&b->summary, '\n');
}

static int emit(void *ctx, void *task) {
    batch_t *b = ctx;
    job_t *j = task;
    if (j->status == PT_EXIT_OK) {
        j->status = pt_output_text(perftrace__strbuf_cstr(&j->target), &b->kept, &j->out.text);
    }
    if (j->status == PT_EXIT_OK) {
        pt_note("%s: %s", perftrace__strbuf_cstr(&j->path), perftrace__strbuf_cstr(&j->said));
    }
    sum_up(b, j);
    b->worst = PT_MAX(b->worst, j->status);
    return j->status == PT_EXIT_OUTPUT ? PT_EXIT_OUTPUT : PT_EXIT_OK;
}

static void release(void *ctx, void *task) {
    job_t *j = task;
    (void)ctx;
    perftrace__strbuf_free(&j->base);
    perftrace__strbuf_free(&j->path);
    perftrace__strbuf_free(&j->target);
    perftrace__strbuf_free(&j->out.text);
    perftrace__strbuf_free(&j->said);
    pt_stacks_report_free(&j->threads);
    pt_profile_free(&j->p);
}

/* before: the name before it in order, or NULL. A file and its .gz stand next to each other. */
static void begin(const batch_t *b, job_t *j, const char *file, const char *before) {
    size_t base, base_before;
    *j = (job_t){.file = file};
    pt_profile_init(&j->p);
    (void)is_wanted(file, &base);
    if (before != NULL && is_wanted(before, &base_before) && base == base_before &&
        strncmp(before, file, base) == 0) {
        j->twin = before;
    }
    perftrace__strbuf_append(&j->base, file, base);
    put_path(b, file, &j->path);
    put_path(b, perftrace__strbuf_cstr(&j->base), &j->target);
    perftrace__strbuf_puts(&j->target, ".speedscope.json");
    j->number = pt_problems_add_file(b->book, perftrace__strbuf_cstr(&j->path));
}

static pt_exit_t run(batch_t *b, const pt_string_list_t *files) {
    unsigned threads = pt_stacks_threads(b->o);
    pt_ordered_options_t options = {.threads = threads > 1 ? threads : 0,
                                    .ctx = b,
                                    .work = work,
                                    .emit = emit,
                                    .release = release};
    job_t *job = calloc(files->count + 1, sizeof *job);
    pt_ordered_t *pipe = job != NULL ? pt_ordered_new(&options) : NULL;
    int status = pipe != NULL ? PT_EXIT_OK : PT_EXIT_INTERNAL;
    for (size_t i = 0; i < files->count && status == PT_EXIT_OK; i++) {
        begin(b, &job[i], files->items[i], i > 0 ? files->items[i - 1] : NULL);
        status = pt_ordered_submit(pipe, PT_ORDERED_NO_LANE, &job[i]);
    }
    if (pipe != NULL) {
        status = pt_ordered_finish(pipe);
    }
    pt_ordered_free(pipe);
    free(job);
    return (pt_exit_t)status;
}

static pt_exit_t keep(batch_t *b, const pt_string_list_t *files) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    bool ok = true;
    for (size_t i = 0; i < files->count && ok; i++) {
        perftrace__strbuf_clear(&path);
        put_path(b, files->items[i], &path);
        ok = !path.failed && pt_kept_add_file(&b->kept, perftrace__strbuf_cstr(&path));
    }
    perftrace__strbuf_free(&path);
    if (!ok) {
        pt_error("out of memory");
    }
    return ok ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

pt_exit_t pt_stacks_batch(const pt_stacks_options_t *o, const char *dir, pt_problems_t *book) {
    batch_t b = {.o = o, .dir = dir, .book = book};
    pt_string_list_t files = PT_STRING_LIST_INIT;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    pt_exit_t status = list_files(dir, &files);
    if (status == PT_EXIT_OK) {
        status = keep(&b, &files);
    }
    if (status == PT_EXIT_OK) {
        status = run(&b, &files);
    }
    if (status == PT_EXIT_OK) {
        put_path(&b, PT_STACKS_SUMMARY_FILE, &path);
        const char *target = o->output != NULL ? o->output : perftrace__strbuf_cstr(&path);
        status = pt_output_text(target, &b.kept, &b.summary);
        if (status == PT_EXIT_OK) {
            pt_note("%zu file%s, their threads in %s", files.count, PT_PLURAL(files.count), target);
        }
    }
    pt_paths_free(&b.kept);
    pt_string_list_free(&files);
    perftrace__strbuf_free(&path);
    perftrace__strbuf_free(&b.summary);
    return PT_MAX(status, b.worst);
}
