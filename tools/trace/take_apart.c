/* take_apart.c. SPDX-License-Identifier: MIT */
#include "take_apart.h"

#include "cutter.h"
#include "event_fast.h"
#include "event_json.h"
#include "grow.h"
#include "input.h"
#include "message.h"
#include "mixed_ranks.h"
#include "nameless_file.h"
#include "open_limit.h"
#include "os.h"
#include "path_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK      ((size_t)256 << 10)
#define WRITE_FROM ((size_t)16 << 10) /* bytes of a process that are written at once */

/* One process of a file. */
typedef struct process {
    int fd;
    uint64_t size;
    uint64_t header; /* the hash of its last one; 0: none yet */
    perftrace__strbuf_t text;
} process_t;

typedef struct apart {
    const pt_path_t *path;
    const char *name; /* for messages */
    const char *dir;
    pt_rank_list_t ranks;
    process_t *process; /* of each of the ranks */
    size_t count, cap;
    size_t now; /* whose line came last: what cannot be read, or is nobody's, stays with it */
    pt_event_reader_t parser;
    perftrace__strbuf_t cut; /* what ends it early; empty: nothing */
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
                 "apart in %s: %s; %s",
                 a->name, a->dir, strerror(error),
                 error == EMFILE ? "as many as there are processes are needed, see ulimit -n"
                                 : "a directory with room is set by TMPDIR");
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

/* Each process has a file that stays open. */
static bool new_process(apart_t *a) {
    if (!PT_GROW(a, process, count, cap, 1)) {
        fail(a, ENOMEM);
        return false;
    }
    process_t *p = &a->process[a->count];
    *p = (process_t){.fd = pt_nameless_file(a->dir), .text = PERFTRACE__STRBUF_INIT};
    if (p->fd < 0 && errno == EMFILE && pt_open_limit_raise()) {
        p->fd = pt_nameless_file(a->dir);
    }
    if (p->fd < 0) {
        fail(a, errno);
        return false;
    }
    a->count++;
    return true;
}

/* Whose line this is. What stands before the first header is the first process'. *ret_header: its
 * hash, if it is one. */
static size_t owner_of(apart_t *a, const char *line, size_t len, uint64_t *ret_header) {
    pt_event_t ev;
    size_t used;
    *ret_header = 0;
    if (pt_event_read_json(&a->parser, line, len, &ev, &used) != PT_EVENT_FOUND) {
        return a->now;
    }
    bool header = PT_STR_IS(ev.name, "\"perftrace_header\"");
    *ret_header = header ? perftrace__hash_bytes(line, len, 0) | 1 : 0;
    size_t at = header ? pt_rank_list_header(&a->ranks, &ev) : pt_rank_list_line(&a->ranks, &ev);
    return at != PT_RANK_NONE ? at : a->now;
}

/* NULL when the line cannot be kept, or need not be: a header that comes again as it was only says
 * whose lines follow. */
static process_t *process_of(apart_t *a, const char *line, size_t len) {
    uint64_t header;
    a->now = owner_of(a, line, len, &header);
    while (a->count <= a->now) {
        if (!new_process(a)) {
            return NULL;
        }
    }
    process_t *p = &a->process[a->now];
    bool again = header != 0 && header == p->header;
    p->header = header != 0 ? header : p->header;
    return again ? NULL : p;
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

/* Hands the bytes of a file to take, until that returns false; last: there are no more.
 * PT_EVENT_PAD bytes behind them can be read. 0, or -errno of opening. ret_cut (may be NULL): what
 * ends it early. */
static int read_file(const pt_path_t *path, bool (*take)(void *, char *, size_t, bool), void *ctx,
                     perftrace__strbuf_t *ret_cut) {
    pt_input_options_t how = pt_path_parts_input(path);
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_input_t *input = NULL;
    char *buf = malloc(CHUNK + PT_EVENT_PAD);
    int rc = buf != NULL ? pt_input_open(path->name, &how, &input, &problem) : -ENOMEM;
    for (bool more = rc == 0; more;) {
        int64_t n = pt_input_read(input, buf, CHUNK);
        bool last = n <= 0;
        n = last ? 0 : n;
        memset(buf + n, 0, PT_EVENT_PAD);
        more = take(ctx, buf, (size_t)n, last) && !last;
    }
    if (rc == 0 && ret_cut != NULL && pt_input_damage(input) != PT_INPUT_SOUND) {
        perftrace__strbuf_puts(ret_cut, pt_input_problem(input));
    }
    pt_input_close(input);
    perftrace__strbuf_free(&problem);
    free(buf);
    return rc;
}

typedef struct cut {
    pt_cutter_t cutter;
    apart_t *apart;
} cut_t;

static bool take_lines(void *ctx, char *data, size_t len, bool last) {
    cut_t *c = ctx;
    pt_cutter_feed(&c->cutter, data, len, last);
    return c->apart->status == PT_EXIT_OK;
}

static void read_all(apart_t *a) {
    cut_t c = {.cutter = {.shape = PT_SHAPE_LINES, .record = on_record, .ctx = a}, .apart = a};
    int rc = read_file(a->path, take_lines, &c, &a->cut);
    if (rc != 0) {
        fail(a, -rc);
    }
    pt_cutter_free(&c.cutter);
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
    perftrace__strbuf_printf(&shown, "%s (pid %" PRId64, a->name, key->pid);
    if (key->rank >= 0) {
        perftrace__strbuf_printf(&shown, " of rank %" PRId64, key->rank);
    }
    if (key->shared) { /* its rank may be another one's, too */
        perftrace__strbuf_printf(&shown, ", process %zu of %zu", at + 1, a->count);
    }
    perftrace__strbuf_putc(&shown, ')');
    pt_path_t path = {.name = strdup(name),
                      .shown = strdup(perftrace__strbuf_cstr(&shown)),
                      .size = p->size,
                      .regular = true,
                      .named = a->path->named};
    /* The one whose line came last is that which was cut. */
    if (at == a->now && a->cut.len > 0) {
        path.cut = strdup(a->cut.data);
    }
    bool ok = !shown.failed && path.name != NULL && path.shown != NULL &&
              (path.cut != NULL || at != a->now || a->cut.len == 0);
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

/* ---- whether it is one ---- */

static const char header_name[] = "\"perftrace_header\"";

typedef struct look {
    size_t headers;
    char end[sizeof header_name - 2]; /* of the chunk before, where a name may begin */
    size_t end_len;
    pt_cutter_t cutter;
    pt_event_reader_t parser;
    pt_mixed_ranks_t ranks;
} look_t;

static void count_headers(look_t *k, const char *p, size_t len) {
    const char *end = p + len;
    while ((p = memmem(p, (size_t)(end - p), header_name, sizeof header_name - 1)) != NULL) {
        p += sizeof header_name - 1;
        k->headers++;
    }
}

static bool take_headers(void *ctx, char *data, size_t len, bool last) {
    look_t *k = ctx;
    char joint[2 * sizeof k->end];
    size_t more = PT_MIN(len, sizeof k->end);
    (void)last;
    memcpy(joint, k->end, k->end_len);
    memcpy(joint + k->end_len, data, more);
    count_headers(k, joint, k->end_len + more);
    count_headers(k, data, len);
    k->end_len = more;
    memcpy(k->end, data + len - more, more);
    return k->headers < 2;
}

static void on_line(void *ctx, const char *line, size_t len, bool plain) {
    look_t *k = ctx;
    pt_event_t ev;
    size_t used;
    (void)plain;
    if (k->ranks.found || pt_event_read_json(&k->parser, line, len, &ev, &used) != PT_EVENT_FOUND) {
        return;
    }
    pt_mixed_ranks_take(&k->ranks, &ev);
}

static bool take_turns(void *ctx, char *data, size_t len, bool last) {
    look_t *k = ctx;
    pt_cutter_feed(&k->cutter, data, len, last);
    return !k->ranks.found && !k->ranks.failed;
}

pt_exit_t pt_takes_turns(const pt_path_t *path, bool *ret_mixed) {
    look_t k = {.headers = 0};
    k.cutter = (pt_cutter_t){.shape = PT_SHAPE_LINES, .record = on_line, .ctx = &k};
    int rc = read_file(path, take_headers, &k, NULL);
    if (rc == 0 && k.headers > 1) {
        rc = read_file(path, take_turns, &k, NULL);
    }
    *ret_mixed = k.ranks.found;
    bool failed = rc == -ENOMEM || k.ranks.failed;
    pt_cutter_free(&k.cutter);
    pt_event_reader_free(&k.parser);
    pt_mixed_ranks_free(&k.ranks);
    return failed ? PT_EXIT_INTERNAL : PT_EXIT_OK;
}

/* ---- apart ---- */

pt_exit_t pt_take_apart_refuse(const pt_path_t *path) {
    pt_error("%s: the lines of several processes take turns in it: give it as a file, which can "
             "be read twice",
             pt_path_shown(path));
    return PT_EXIT_INPUT;
}

pt_exit_t pt_take_apart(const pt_path_t *path, pt_paths_t *paths, pt_fd_list_t *fds) {
    const char *dir = getenv("TMPDIR");
    apart_t a = {.path = path,
                 .name = pt_path_shown(path),
                 .dir = dir != NULL && dir[0] != '\0' ? dir : "/tmp"};
    if (!path->regular || path->is_stdin) {
        return pt_take_apart_refuse(path);
    }
    read_all(&a);
    if (a.status == PT_EXIT_OK && (a.count == 0 || a.ranks.count != a.count)) {
        pt_error("%s: it was changed while it was read", a.name);
        a.status = PT_EXIT_INPUT;
    }
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
        pt_note("%s: the lines of %zu processes take turns in it; each is read by itself", a.name,
                a.count);
    }
    free(a.process);
    perftrace__strbuf_free(&a.cut);
    pt_rank_list_free(&a.ranks);
    pt_event_reader_free(&a.parser);
    return a.status;
}
