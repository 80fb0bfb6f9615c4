/* convert_apart.c. SPDX-License-Identifier: MIT */
#include "convert_apart.h"

#include "cutter.h"
#include "event_fast.h"
#include "event_json.h"
#include "grow.h"
#include "os.h"
#include "path_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WRITE_FROM ((size_t)16 << 10) /* bytes of a process that are written at once */

/* One process of a file. */
typedef struct process {
    int fd;
    uint64_t size;
    perftrace__strbuf_t text;
} process_t;

typedef struct apart {
    const pt_convert_input_t *in;
    const char *dir;
    pt_rank_list_t ranks;
    process_t *process; /* of each of the ranks */
    size_t count, cap;
    size_t now; /* whose line came last: what cannot be read, or is nobody's, stays with it */
    pt_event_reader_t parser;
    pt_exit_t status;
} apart_t;

void pt_fd_list_free(pt_fd_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        close(list->fd[i]);
    }
    free(list->fd);
    *list = (pt_fd_list_t){.fd = NULL};
}

static void fail(apart_t *a, int error) {
    if (a->status == PT_EXIT_OK) {
        pt_error("%s: the lines of several processes take turns in it, and it cannot be taken "
                 "apart in %s: %s; a directory with room is set by TMPDIR",
                 a->in->name, a->dir, strerror(error));
        a->status = error == ENOMEM ? PT_EXIT_INTERNAL : PT_EXIT_INPUT;
    }
}

static void flush(apart_t *a, process_t *p) {
    size_t done = 0;
    int rc = perftrace__os_write_all(p->fd, p->text.data, p->text.len, &done);
    p->size += done;
    perftrace__strbuf_clear(&p->text);
    if (rc != 0) {
        fail(a, -rc);
    }
}

static bool new_process(apart_t *a) {
    char path[4200];
    if (!PT_GROW(a, process, count, cap, 1)) {
        fail(a, ENOMEM);
        return false;
    }
    snprintf(path, sizeof path, "%s/perf-trace-convert.XXXXXX", a->dir);
    process_t *p = &a->process[a->count];
    *p = (process_t){.fd = mkostemp(path, O_CLOEXEC), .text = PERFTRACE__STRBUF_INIT};
    if (p->fd < 0) {
        fail(a, errno);
        return false;
    }
    unlink(path);
    a->count++;
    return true;
}

/* Whose line this is; NULL when that cannot be kept. What stands before the first header is the
 * first process'. */
static process_t *process_of(apart_t *a, const char *line, size_t len) {
    pt_event_t ev;
    size_t used;
    if (pt_event_read_json(&a->parser, line, len, &ev, &used) == PT_EVENT_FOUND) {
        size_t at = PT_STR_IS(ev.name, "\"perftrace_header\"") ? pt_rank_list_header(&a->ranks, &ev)
                                                               : pt_rank_list_line(&a->ranks, &ev);
        a->now = at != PT_RANK_NONE ? at : a->now;
    }
    while (a->count <= a->now) {
        if (!new_process(a)) {
            return NULL;
        }
    }
    return &a->process[a->now];
}

static void on_record(void *ctx, const char *line, size_t len, bool plain) {
    apart_t *a = ctx;
    (void)plain;
    process_t *p = a->status == PT_EXIT_OK && len > 0 ? process_of(a, line, len) : NULL;
    if (p == NULL) {
        return;
    }
    perftrace__strbuf_append(&p->text, line, len);
    perftrace__strbuf_putc(&p->text, '\n');
    if (p->text.failed) {
        fail(a, ENOMEM);
    } else if (p->text.len >= WRITE_FROM) {
        flush(a, p);
    }
}

static void read_all(apart_t *a) {
    pt_input_options_t how = pt_path_parts_input(a->in->path);
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_cutter_t cutter = {.shape = PT_SHAPE_LINES, .record = on_record, .ctx = a};
    pt_input_t *input = NULL;
    char *buf = malloc(PT_CONVERT_CHUNK + PT_EVENT_PAD);
    int rc = buf != NULL ? pt_input_open(a->in->path->name, &how, &input, &problem) : -ENOMEM;
    if (rc != 0) {
        fail(a, -rc);
    }
    for (bool last = rc != 0; !last && a->status == PT_EXIT_OK;) {
        int64_t n = pt_input_read(input, buf, PT_CONVERT_CHUNK);
        last = n <= 0;
        n = last ? 0 : n;
        memset(buf + n, 0, PT_EVENT_PAD);
        pt_cutter_feed(&cutter, buf, (size_t)n, last);
    }
    if (rc == 0 && pt_input_damage(input) != PT_INPUT_SOUND) {
        pt_warn("%s: the file ends early: %s", a->in->name, pt_input_problem(input));
    }
    pt_cutter_free(&cutter);
    pt_input_close(input);
    perftrace__strbuf_free(&problem);
    free(buf);
}

/* Hands the descriptor over. */
static bool add_path(const apart_t *a, size_t at, pt_paths_t *paths, pt_fd_list_t *fds) {
    process_t *p = &a->process[at];
    const pt_rank_key_t *key = &a->ranks.item[at];
    perftrace__strbuf_t shown = PERFTRACE__STRBUF_INIT;
    char name[64];
    if (!PT_GROW(fds, fd, count, cap, 1) || !PT_GROW(paths, items, count, cap, 1)) {
        return false;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", p->fd);
    perftrace__strbuf_printf(&shown, "%s (pid %" PRId64, a->in->name, key->pid);
    if (key->rank >= 0) {
        perftrace__strbuf_printf(&shown, " of rank %" PRId64, key->rank);
    }
    perftrace__strbuf_putc(&shown, ')');
    pt_path_t path = {.name = strdup(name),
                      .shown = strdup(perftrace__strbuf_cstr(&shown)),
                      .size = p->size,
                      .regular = true,
                      .named = a->in->path->named};
    bool ok = !shown.failed && path.name != NULL && path.shown != NULL;
    perftrace__strbuf_free(&shown);
    if (!ok) {
        pt_path_free(&path);
        return false;
    }
    paths->items[paths->count++] = path;
    fds->fd[fds->count++] = p->fd;
    p->fd = -1;
    return true;
}

static pt_exit_t take_apart(const pt_convert_input_t *in, pt_paths_t *paths, pt_fd_list_t *fds) {
    const char *dir = getenv("TMPDIR");
    apart_t a = {.in = in, .dir = dir != NULL && dir[0] != '\0' ? dir : "/tmp"};
    if (in->path->is_stdin) {
        pt_error("standard input: the lines of several processes take turns in it: give it as a "
                 "file, which can be read twice");
        return PT_EXIT_INPUT;
    }
    read_all(&a);
    for (size_t i = 0; i < a.count; i++) {
        if (a.status == PT_EXIT_OK) {
            flush(&a, &a.process[i]);
        }
        if (a.status == PT_EXIT_OK && !add_path(&a, i, paths, fds)) {
            fail(&a, ENOMEM);
        }
        if (a.process[i].fd >= 0) {
            close(a.process[i].fd);
        }
        perftrace__strbuf_free(&a.process[i].text);
    }
    if (a.status == PT_EXIT_OK) {
        pt_note("%s: the lines of %zu processes take turns in it; each is read by itself", in->name,
                a.count);
    }
    free(a.process);
    pt_rank_list_free(&a.ranks);
    pt_event_reader_free(&a.parser);
    return a.status;
}

/* A path like another, with memory of its own. */
static bool copy_path(const pt_path_t *path, pt_paths_t *paths) {
    if (!PT_GROW(paths, items, count, cap, 1)) {
        return false;
    }
    pt_path_t copy = *path;
    copy.name = strdup(path->name);
    copy.shown = path->shown != NULL ? strdup(path->shown) : NULL;
    copy.more = path->more_count > 0 ? calloc(path->more_count, sizeof *copy.more) : NULL;
    bool ok = copy.name != NULL && (path->shown == NULL || copy.shown != NULL) &&
              (path->more_count == 0 || copy.more != NULL);
    copy.more_count = copy.more != NULL ? path->more_count : 0;
    for (size_t i = 0; i < copy.more_count; i++) {
        copy.more[i] = path->more[i];
        copy.more[i].name = strdup(path->more[i].name);
        ok &= copy.more[i].name != NULL;
    }
    paths->items[paths->count++] = copy;
    return ok;
}

pt_exit_t pt_convert_apart(const pt_convert_input_t *inputs, size_t count, pt_paths_t *ret_paths,
                           pt_fd_list_t *ret_fds) {
    pt_exit_t status = PT_EXIT_OK;
    *ret_paths = (pt_paths_t)PT_PATHS_INIT;
    *ret_fds = (pt_fd_list_t){.fd = NULL};
    for (size_t i = 0; i < count && status == PT_EXIT_OK; i++) {
        if (pt_convert_is_mixed(&inputs[i])) {
            status = take_apart(&inputs[i], ret_paths, ret_fds);
        } else if (!copy_path(inputs[i].path, ret_paths)) {
            pt_error("out of memory");
            status = PT_EXIT_INTERNAL;
        }
    }
    return status;
}
