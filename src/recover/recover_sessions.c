/* recover_sessions.c. SPDX-License-Identifier: MIT */
#include "recover_sessions.h"

#include "json_writer.h"
#include "line_file.h"
#include "os.h"
#include "session_replay.h"
#include "status_text.h"
#include "test_point.h"
#include "trace_file.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX     ".jsonl"
#define SUFFIX_LEN (sizeof(SUFFIX) - 1)
#define BATCH      (1u << 20) /* bytes of records that are written at once */
#define SLACK_S    60.0       /* between two signs of life that a process gives by its sweeps */

typedef struct work {
    const perftrace__ring_view_t *view;
    const char *ring_path;
    const char *trace_path; /* absolute */
    perftrace__recover_sessions_t *r;
    perftrace__session_fold_t *fold;
    perftrace__session_replay_t replay;
    perftrace__line_file_t file; /* fd -1: none yet */
    perftrace__strbuf_t out;
} work_t;

/* ---- names ---- */

bool perftrace__recover_moved(const char *path, const char *stored, const char *found, char *out,
                              size_t size) {
    /* The longest end that both have in common, in whole components. */
    size_t s = strlen(stored);
    size_t f = strlen(found);
    size_t common = 0;
    for (size_t i = 1; i <= s && i <= f && stored[s - i] == found[f - i]; i++) {
        common = stored[s - i] == '/' || (i == s && i == f) ? i : common;
    }
    size_t old_len = s - common;
    bool inside = old_len && strncmp(path, stored, old_len) == 0 &&
                  (path[old_len] == '/' || path[old_len] == '\0');
    int n = inside ? snprintf(out, size, "%.*s%s", (int)(f - common), found, path + old_len)
                   : snprintf(out, size, "%s", path);
    return n >= 0 && (size_t)n < size;
}

static bool has_suffix(const char *path) {
    size_t n = strlen(path);
    return n > SUFFIX_LEN && strcmp(path + n - SUFFIX_LEN, SUFFIX) == 0;
}

/* ---- the file as the process left it ---- */

/* The session of one of our records; false for any other line. */
static bool read_id(const char *line, size_t len, int64_t *ret) {
    static const char key[] = ", \"session_id\": ";
    const char *at = memmem(line, PT_MIN(len, 128), key, sizeof(key) - 1);
    if (!at || memcmp(line, "{\"task_id\": ", PT_MIN(len, 12)) != 0) {
        return false;
    }
    char *end;
    *ret = strtoll(at + sizeof(key) - 1, &end, 10);
    return *end == ',';
}

/* Whether a record is of this run: it has the run's id and, since a program may give one id to
 * several runs, was submitted while the process swept its rings. A path that was given to a later
 * run is not touched. */
static bool is_ours(const work_t *w, const char *line, size_t len) {
    static const char submitted[] = ", \"submit_ts\": ";
    const perftrace__ring_header_t *h = &w->view->header;
    perftrace__strbuf_t id = PERFTRACE__STRBUF_INIT;
    if (*h->meta.run_id) {
        perftrace__strbuf_puts(&id, ", \"run_id\": ");
        perftrace__strbuf_json_cstr(&id, h->meta.run_id);
    }
    bool ours = !id.failed && (id.len == 0 || memmem(line, len, id.data, id.len));
    perftrace__strbuf_free(&id);
    const char *at = memmem(line, len, submitted, sizeof(submitted) - 1);
    if (ours && at && h->beat_ns > h->meta.mono_ns) {
        double first = (double)h->meta.epoch_ns * 1e-9;
        double last = first + (double)(h->beat_ns - h->meta.mono_ns) * 1e-9;
        double submit = strtod(at + sizeof(submitted) - 1, NULL);
        ours = submit > first - SLACK_S && submit < last + SLACK_S;
    }
    return ours;
}

/* Reads the records within the first `limit` bytes: their sessions need none any more. ERR_EXISTS:
 * the file is another run's. *ret_end: the end of the last whole line. */
static int read_records(work_t *w, FILE *in, uint64_t limit, uint64_t *ret_end) {
    char *line = NULL;
    size_t cap = 0;
    int status = PERFTRACE_OK;
    if (perftrace__trace_file_holed(fileno(in))) {
        *ret_end = limit; /* no record will be made, see replay_trace */
        return PERFTRACE_OK;
    }
    bool first = true;
    uint64_t end = 0;
    for (ssize_t n; status == PERFTRACE_OK && (n = getline(&line, &cap, in)) > 0; first = false) {
        size_t len = (size_t)n;
        int64_t id;
        /* The first line tells, also where nothing was committed yet. */
        if (first && line[len - 1] == '\n' && !is_ours(w, line, len)) {
            status = PERFTRACE_ERR_EXISTS;
        } else if (line[len - 1] != '\n' || end + len > limit) {
            break;
        } else if (read_id(line, len, &id) && !perftrace__session_fold_skip(w->fold, id)) {
            status = PERFTRACE_ERR_NOMEM;
        }
        end += len;
    }
    free(line);
    *ret_end = end;
    return status;
}

/* The stream reads from a descriptor of its own. NULL with errno. */
static FILE *stream_of(int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    FILE *in = copy >= 0 ? fdopen(copy, "r") : NULL;
    if (!in && copy >= 0) {
        close(copy);
    }
    return in;
}

static int read_and_cut(work_t *w, int fd, uint64_t *ret_end) {
    const perftrace__ring_header_t *h = &w->view->header;
    FILE *in = stream_of(fd);
    if (!in) {
        return PERFTRACE_ERR_NOMEM;
    }
    int status = read_records(w, in, h->session_offset[h->commit_seq & 1], ret_end);
    fclose(in);
    if (status == PERFTRACE_OK && ftruncate(fd, (off_t)*ret_end) != 0) {
        status = perftrace__status_from_errno(errno);
    }
    return status;
}

/* Opens the file where it is there and this run's, cut to what was committed; leaves w->file.fd at
 * -1 where it is not. */
static int open_file(work_t *w) {
    int fd = *w->r->path ? perftrace__os_open(w->r->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
    if (fd < 0) {
        return !*w->r->path || errno == ENOENT || errno == ENOTDIR
                   ? PERFTRACE_OK
                   : perftrace__status_from_errno(errno);
    }
    struct stat st;
    uint64_t end = 0;
    bool fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == w->view->uid &&
                has_suffix(w->r->path);
    int status = fits ? read_and_cut(w, fd, &end) : PERFTRACE_ERR_EXISTS;
    if (status) {
        close(fd);
        return status == PERFTRACE_ERR_EXISTS ? PERFTRACE_OK : status;
    }
    perftrace__line_file_open(&w->file, fd, end, w->r->path);
    return PERFTRACE_OK;
}

/* ---- a new file ---- */

/* Root makes files for others only where they could make them themselves. */
static bool may_make(const work_t *w, const char *path) {
    char dir[PATH_MAX];
    struct stat st;
    if (geteuid() == w->view->uid) {
        return true;
    }
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return stat(dir, &st) == 0 && st.st_uid == w->view->uid;
}

/* From now on the ring names the new file, of which nothing is committed. */
static int note_in_ring(const work_t *w) {
    static const uint64_t none[2] = {0, 0};
    char path[sizeof(w->view->header.session_path)] = {0};
    snprintf(path, sizeof(path), "%s", w->r->path);
    int status = PERFTRACE_OK;
    int fd = perftrace__os_open(w->ring_path, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0 ||
        pwrite(fd, none, sizeof(none), offsetof(perftrace__ring_header_t, session_offset)) !=
            (ssize_t)sizeof(none) ||
        pwrite(fd, path, sizeof(path), offsetof(perftrace__ring_header_t, session_path)) !=
            (ssize_t)sizeof(path)) {
        status = perftrace__status_from_errno(errno);
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static int make_file(work_t *w) {
    const perftrace__ring_header_t *h = &w->view->header;
    char stem[PATH_MAX];
    if (!perftrace__recover_moved(h->session_stem, h->meta.trace_path, w->trace_path, stem,
                                  sizeof(stem))) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    if (!*stem || !may_make(w, stem)) {
        w->r->problem = "the place of the sessions file does not belong to the ring's user";
        return PERFTRACE_ERR_DENIED;
    }
    if (h->session_offset[h->commit_seq & 1]) {
        w->r->problem = "the sessions file is gone; its records are made again from the trace";
    }
    int fd;
    int rc = perftrace__trace_file_create(stem, SUFFIX, w->r->path, sizeof(w->r->path), &fd);
    if (rc) {
        return perftrace__status_from_errno(-rc);
    }
    perftrace__line_file_open(&w->file, fd, 0, w->r->path);
    if (geteuid() != w->view->uid && fchown(fd, w->view->uid, (gid_t)-1) != 0) {
        w->r->problem = "the new sessions file could not be given to its user";
    }
    return note_in_ring(w);
}

/* ---- from the trace ---- */

static int write_out(work_t *w, perftrace__flush_t how) {
    if (w->out.len == 0 && w->file.fd < 0) {
        return PERFTRACE_OK;
    }
    int status = w->file.fd < 0 ? make_file(w) : PERFTRACE_OK;
    return status ? status : perftrace__line_file_flush(&w->file, &w->out, how);
}

static int take(work_t *w, perftrace__fold_take_t what, size_t enough) {
    if (!perftrace__session_fold_take(w->fold, what, w->replay.last_ns, &w->out)) {
        return PERFTRACE_ERR_NOMEM;
    }
    return w->out.len >= enough ? write_out(w, PERFTRACE__FLUSH_WRITE) : PERFTRACE_OK;
}

static int replay_trace(work_t *w) {
    int fd = perftrace__os_open(w->trace_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!in) {
        int err = errno;
        if (fd >= 0) {
            close(fd);
        }
        return perftrace__status_from_errno(err);
    }
    if (perftrace__trace_file_holed(fd)) {
        w->r->problem = "the begin of the trace is with the collector: perf-trace-sessions makes "
                        "the records of what was collected";
        fclose(in);
        return PERFTRACE_OK;
    }
    char *line = NULL;
    size_t cap = 0;
    int status = PERFTRACE_OK;
    for (ssize_t len; status == PERFTRACE_OK && (len = getline(&line, &cap, in)) > 0;) {
        perftrace__session_replay_line(&w->replay, line, (size_t)len);
        if (perftrace__session_replay_tick(&w->replay)) {
            status = take(w, PERFTRACE__TAKE_READY, BATCH);
        }
    }
    if (status == PERFTRACE_OK && ferror(in)) {
        status = PERFTRACE_ERR_IO;
    }
    free(line);
    fclose(in);
    return status;
}

/* Where the file is: with the trace, where that was moved, else where the process had it. */
static int find_file(work_t *w) {
    const perftrace__ring_header_t *h = &w->view->header;
    struct stat st;
    if (!*h->session_path) {
        return PERFTRACE_OK;
    }
    if (!perftrace__recover_moved(h->session_path, h->meta.trace_path, w->trace_path, w->r->path,
                                  sizeof(w->r->path))) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    if (lstat(w->r->path, &st) != 0) {
        snprintf(w->r->path, sizeof(w->r->path), "%s", h->session_path);
    }
    return PERFTRACE_OK;
}

int perftrace__recover_sessions(const perftrace__ring_view_t *v, const char *ring_path,
                                const char *trace_path, perftrace__recover_sessions_t *ret) {
    memset(ret, 0, sizeof(*ret));
    if (!v->header.sessions) {
        return PERFTRACE_OK;
    }
    const perftrace__run_meta_t *m = &v->header.meta;
    const perftrace__fold_options_t options = {
        .rank = m->rank, .role = m->role, .run_id = m->run_id, .epoch_ns = m->epoch_ns};
    perftrace__strbuf_t trace = PERFTRACE__STRBUF_INIT;
    if (perftrace__os_absolute_path(&trace, trace_path) != 0 || trace.failed) {
        perftrace__strbuf_free(&trace);
        return PERFTRACE_ERR_TOO_LONG;
    }
    work_t w = {.view = v,
                .ring_path = ring_path,
                .trace_path = perftrace__strbuf_cstr(&trace),
                .r = ret,
                .fold = perftrace__session_fold_new(&options),
                .file = {.fd = -1},
                .out = PERFTRACE__STRBUF_INIT};
    if (!w.fold) {
        perftrace__strbuf_free(&trace);
        return PERFTRACE_ERR_NOMEM;
    }
    perftrace__session_replay_init(&w.replay, w.fold);
    int status = find_file(&w);
    status = status ? status : open_file(&w);
    PT_TEST_POINT(recover_sessions_cut);
    status = status ? status : replay_trace(&w);
    status = status ? status : take(&w, PERFTRACE__TAKE_ALL, SIZE_MAX);
    status = status ? status : write_out(&w, PERFTRACE__FLUSH_DISK);
    PT_TEST_POINT(recover_sessions_written);
    perftrace__fold_counts_t counts;
    perftrace__session_fold_counts(w.fold, &counts);
    ret->added = counts.written;
    if (status && w.file.last_errno) {
        ret->problem = strerror(w.file.last_errno);
    } else if (counts.no_memory) {
        ret->problem = "for some session events there was no memory";
    }
    perftrace__line_file_close(&w.file);
    perftrace__session_replay_free(&w.replay);
    perftrace__session_fold_free(w.fold);
    perftrace__strbuf_free(&w.out);
    perftrace__strbuf_free(&trace);
    return status;
}
