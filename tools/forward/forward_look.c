/* forward_look.c. SPDX-License-Identifier: MIT */
#include "forward_look.h"

#include "recover.h"
#include "recover_trace.h"
#include "status_text.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK        65536u
#define HEADER       "{\"name\": \"perftrace_header\""
#define ONE_SECOND   UINT64_C(1000000000)
#define NO_CANDIDATE "the trace of its process is not beside it; --run-id says whose it is"

static void set(pt_forward_entry_t *e, pt_forward_state_t state, const char *why) {
    e->state = state;
    snprintf(e->why, sizeof e->why, "%s", why);
}

static ssize_t read_at(int fd, void *to, size_t len, uint64_t at) {
    ssize_t n;
    do {
        n = pread(fd, to, len, (off_t)at);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* ---- the first line -----------------------------------------------------------------------------
 */

/* Appends the first line with its '\n' to line. NULL, or what is wrong; *ret_short: it may still
 * become right. */
static const char *read_first_line(int fd, perftrace__strbuf_t *line, bool *ret_short) {
    *ret_short = false;
    while (line->len <= PERFTRACE__STREAM_PIECE_MAX) {
        if (!perftrace__strbuf_reserve(line, BLOCK)) {
            return strerror(ENOMEM);
        }
        ssize_t n = read_at(fd, line->data + line->len, BLOCK, line->len);
        if (n < 0) {
            return strerror(errno);
        }
        const char *end = memchr(line->data + line->len, '\n', (size_t)n);
        if (end) {
            line->len = (size_t)(end + 1 - line->data);
            return NULL;
        }
        line->len += (size_t)n;
        if (n == 0) {
            *ret_short = true;
            return line->len ? "its first line is not complete" : "it is empty";
        }
    }
    return "its first line is longer than 4 MiB";
}

/* A process that learned its rank late said so in a header of its own, somewhere. */
static void find_rank(int fd, pt_forward_key_t *key) {
    char *buf = malloc(2 * BLOCK);
    size_t have = 0;
    uint64_t at = 0;
    while (buf && key->key.rank < 0) {
        ssize_t n = read_at(fd, buf + have, 2 * BLOCK - have, at);
        if (n <= 0) {
            break;
        }
        at += (uint64_t)n;
        have += (size_t)n;
        const char *p = buf;
        for (const char *end; (end = memchr(p, '\n', (size_t)(buf + have - p))); p = end + 1) {
            size_t len = (size_t)(end + 1 - p);
            if (len > sizeof HEADER && memcmp(p, HEADER, sizeof HEADER - 1) == 0) {
                (void)pt_forward_key_update(p, len, key);
            }
        }
        have = (size_t)(buf + have - p);
        memmove(buf, p, have);
        have = have == 2 * BLOCK ? 0 : have; /* no header is as long */
    }
    free(buf);
}

/* Opens, reads the key. The descriptor, or -1: e says why not. */
static int open_and_read(pt_forward_entry_t *e) {
    struct stat st;
    int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) != 0) {
        set(e, PT_FORWARD_FAILED, errno == ENOENT ? "it is gone" : strerror(errno));
        return fd < 0 ? -1 : (close(fd), -1);
    }
    e->device = st.st_dev;
    e->inode = st.st_ino;
    e->size = e->seen_size = (uint64_t)st.st_size;
    e->changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    bool is_short = false;
    const char *problem =
        S_ISREG(st.st_mode) ? read_first_line(fd, &line, &is_short) : "it is no regular file";
    if (!problem) {
        char name[sizeof e->of.key.name];
        const char *slash = strrchr(e->path, '/');
        int len = snprintf(name, sizeof name, "%s", slash ? slash + 1 : e->path);
        if (pt_forward_key_read(line.data, line.len, &e->of, &problem)) {
            e->stream = perftrace__stream_id(line.data, line.len);
            memcpy(e->of.key.name, name, sizeof name);
            e->of.key.stream = e->stream;
            problem = len >= (int)sizeof name || !perftrace__stream_name_ok(name)
                          ? "its name cannot be used at the other side"
                          : NULL;
        }
    }
    perftrace__strbuf_free(&line);
    if (problem) {
        set(e, is_short ? PT_FORWARD_WAITING : PT_FORWARD_NO_TRACE, problem);
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- whether it is complete ---------------------------------------------------------------------
 */

static bool has_ring(const char *path) {
    char link[PATH_MAX];
    struct stat st;
    return perftrace__recover_link(path, link, sizeof link) && lstat(link, &st) == 0 &&
           S_ISLNK(st.st_mode);
}

/* NULL: nothing will follow what the trace has. */
static const char *trace_goes_on(const char *path, const pt_forward_options_t *o) {
    const char *const *dirs = (const char *const *)o->ring_dirs.items;
    char ring[PATH_MAX];
    perftrace__recovered_t *r = malloc(sizeof *r);
    const char *why = r ? NULL : strerror(ENOMEM);
    int status =
        perftrace__recover_ring_of(path, dirs, (unsigned)o->ring_dirs.count, ring, sizeof ring);
    bool there = false;
    if (r && status == PERFTRACE_OK) {
        status = perftrace__recover_ring(ring, PERFTRACE__RECOVER_DRY, r);
        there = status != PERFTRACE_ERR_NOT_FOUND; /* else a link of which the ring is gone */
        why = !there                   ? NULL
              : r->running             ? "its process is running"
              : r->complete            ? NULL /* only its ring is left over */
              : status == PERFTRACE_OK ? "its process was killed; perf-trace-recover finishes it"
              : r->problem             ? r->problem
                                       : perftrace__status_text(status);
    }
    if (r && !there && !perftrace__recover_trace_closed(path) && !o->unfinished) {
        why = "it has no footer, and no ring of it can be found (--unfinished sends it)";
    }
    free(r);
    return why;
}

static bool ends_line(int fd, uint64_t size) {
    char c = 0;
    return size > 0 && read_at(fd, &c, 1, size - 1) == 1 && c == '\n';
}

/* Leaves off what stands behind the last whole line. */
static void cut_size(int fd, pt_forward_entry_t *e) {
    char buf[4096];
    while (e->size > 0) {
        size_t len = (size_t)PT_MIN(e->size, (uint64_t)sizeof buf);
        ssize_t n = read_at(fd, buf, len, e->size - len);
        const char *end = n == (ssize_t)len ? memrchr(buf, '\n', len) : NULL;
        if (end || n != (ssize_t)len) {
            e->size -= end ? (uint64_t)(buf + len - (end + 1)) : e->size;
            return;
        }
        e->size -= len;
    }
}

/* ---- sessions -----------------------------------------------------------------------------------
 */

/* The name of the nth trace that may belong to a sessions file: of "D/sessions-r3.1.jsonl",
 * "D/traces-r3.jsonl" for 0, "D/traces-r3.2.jsonl" for 2; elsewhere: in perf_tracer, where D is in
 * session_tracer. False: there is no such name. */
static bool trace_name(const char *path, unsigned n, bool elsewhere, char out[PATH_MAX]) {
    static const char sessions[] = "sessions-";
    static const char theirs[] = "/session_tracer/";
    char dir[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strncmp(name, sessions, sizeof sessions - 1) != 0) {
        return false;
    }
    snprintf(dir, sizeof dir, "%.*s", (int)(name - path), path);
    if (elsewhere) {
        char *at = strstr(dir, theirs);
        char rest[PATH_MAX];
        if (!at) {
            return false;
        }
        snprintf(rest, sizeof rest, "%s", at + sizeof theirs - 1);
        *at = '\0';
        int len = snprintf(out, PATH_MAX, "%s/perf_tracer/%s", dir, rest);
        if (len < 0 || len >= PATH_MAX) {
            return false;
        }
        snprintf(dir, sizeof dir, "%s", out);
    }
    name += sizeof sessions - 1;
    char number[16] = "";
    if (n) {
        snprintf(number, sizeof number, ".%u", n);
    }
    int len = snprintf(out, PATH_MAX, "%straces-%.*s%s.jsonl", dir, (int)strcspn(name, "."), name,
                       number);
    return len > 0 && len < PATH_MAX;
}

/* The number of a name: 1 of "sessions-r3.1.jsonl". */
static unsigned number_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strchr(slash ? slash : path, '.');
    return dot ? (unsigned)PT_MIN(strtoul(dot + 1, NULL, 10), 100000ul) : 0;
}

typedef struct trace_found {
    pt_forward_key_t of;
    bool any;
    const char *goes_on; /* of any of those it may be */
} trace_found_t;

/* The trace among those of the same rank: of the same run, begun last before the session was. A
 * file of sessions is made with its first one, so its number may be another than its trace's. */
static void find_trace(const pt_forward_entry_t *e, const pt_forward_options_t *o, bool elsewhere,
                       trace_found_t *f) {
    unsigned own = number_of(e->path);
    pt_forward_entry_t t = {.path = NULL};
    char path[PATH_MAX];
    for (unsigned n = 0; trace_name(e->path, n, elsewhere, path); n++) {
        memset(&t, 0, sizeof t);
        t.path = path;
        if (access(path, F_OK) != 0 && n > own) {
            break;
        }
        int fd = open_and_read(&t);
        if (fd < 0) {
            continue;
        }
        if (t.of.key.rank < 0) {
            find_rank(fd, &t.of);
        }
        close(fd);
        const char *run = e->of.key.run;
        if (t.of.key.sessions || (*run && t.of.key.run[0] && strcmp(run, t.of.key.run) != 0)) {
            continue;
        }
        const char *goes_on = trace_goes_on(path, o);
        f->goes_on = goes_on ? goes_on : f->goes_on;
        bool before = t.of.begin_ns <= e->of.begin_ns + ONE_SECOND;
        if (!f->any || (before && t.of.begin_ns >= f->of.begin_ns)) {
            f->of = t.of;
        }
        f->any = true;
    }
}

/* NULL: complete. */
static const char *sessions_go_on(pt_forward_entry_t *e, const pt_forward_options_t *o) {
    trace_found_t f = {.any = false};
    find_trace(e, o, false, &f);
    if (!f.any) {
        find_trace(e, o, true, &f);
    }
    if (f.any) {
        pt_forward_key_join(&e->of, &f.of);
        return f.goes_on;
    }
    return o->run || (o->unfinished && e->of.key.run[0]) ? NULL : NO_CANDIDATE;
}

/* ---- all together -------------------------------------------------------------------------------
 */

static void judge(pt_forward_entry_t *e, int fd, const pt_forward_options_t *o) {
    const char *why = NULL;
    if (e->of.key.sessions) {
        why = sessions_go_on(e, o);
    } else {
        if (e->of.key.rank < 0) {
            find_rank(fd, &e->of);
        }
        why = trace_goes_on(e->path, o);
    }
    if (!why && !ends_line(fd, e->size)) {
        why = o->unfinished ? NULL : "its last line is not complete (--unfinished leaves it off)";
        cut_size(fd, e);
    }
    if (!e->of.key.run[0] && o->run) {
        snprintf(e->of.key.run, sizeof e->of.key.run, "%s", o->run);
    }
    if (why) {
        set(e, PT_FORWARD_WAITING, why);
    } else if (!e->of.key.run[0]) {
        set(e, PT_FORWARD_WAITING, "it does not tell its run; --run-id does");
    } else {
        set(e, PT_FORWARD_READY, "");
    }
}

void pt_forward_look(pt_forward_entry_t *e, const pt_forward_options_t *o) {
    e->has_ring = has_ring(e->path);
    int fd = open_and_read(e);
    if (fd >= 0) {
        judge(e, fd, o);
        close(fd);
    }
}

bool pt_forward_look_changed(const pt_forward_entry_t *e) {
    struct stat st;
    return lstat(e->path, &st) == 0 &&
           (st.st_dev != e->device || st.st_ino != e->inode ||
            (uint64_t)st.st_size != e->seen_size ||
            (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec != e->changed_ns ||
            has_ring(e->path) != e->has_ring ||
            (e->of.key.sessions && e->state == PT_FORWARD_WAITING));
}
