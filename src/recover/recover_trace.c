/* recover_trace.c. SPDX-License-Identifier: MIT */
#include "recover_trace.h"

#include "os.h"
#include "status_text.h"
#include "test_point.h"
#include "trace_file.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX      ".jsonl"
#define HEADER_LINE "{\"name\": \"perftrace_header\""
#define FOOTER_LINE "{\"name\": \"perftrace_footer\""

void perftrace__recover_trace_find(const char *link, const char *stored, char *out, size_t size) {
    const char *slash = strrchr(link, '/');
    const char *base = strrchr(stored, '/');
    base = base ? base + 1 : stored;
    size_t dir = slash ? (size_t)(slash - link) + 1 : 0;
    struct stat st;
    if (dir + strlen(base) < size) {
        memcpy(out, link, dir);
        memcpy(out + dir, base, strlen(base) + 1);
        if (lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && stat(out, &st) == 0) {
            return;
        }
    }
    snprintf(out, size, "%s", stored);
}

typedef enum whose { OURS, OF_ANOTHER_RUN, NO_TRACE } whose_t;

/* Whether the file is the one that the ring's process wrote: the path may since have been given to
 * another run. A file that does not reach the end of its header holds nothing and counts as ours.
 */
static whose_t whose(int fd, const perftrace__ring_view_t *v) {
    static const size_t room = 32768;
    const perftrace__run_meta_t *m = &v->header.meta;
    char *head = malloc(room);
    ssize_t n = head ? pread(fd, head, room - 1, 0) : 0;
    size_t len = n > 0 ? (size_t)n : 0;
    size_t want = PT_MIN(len, sizeof(HEADER_LINE) - 1);
    whose_t result = NO_TRACE;
    if (head && memcmp(head, HEADER_LINE, want) == 0) {
        char id[160];
        size_t id_len = (size_t)snprintf(id, sizeof(id), "\"pid\": %u, \"process_start\": \"%llu\"",
                                         m->pid, (unsigned long long)m->process_start);
        if (v->header.anchor_count) {
            snprintf(id + id_len, sizeof(id) - id_len, ", \"epoch_ns\": \"%llu\"",
                     (unsigned long long)m->epoch_ns);
        }
        head[len] = '\0';
        char *end = strchr(head, '\n');
        if (end) {
            *end = '\0';
        }
        result = !end || strstr(head, id) ? OURS : OF_ANOTHER_RUN;
    }
    free(head);
    return result;
}

/* How many events the complete lines within the first `limit` bytes of the file hold, and where the
 * last of them ends. */
static uint64_t count_events(const char *path, uint64_t limit, uint64_t *ret_end) {
    static const char phase[] = "\", \"ph\": \"";
    uint64_t n = 0;
    uint64_t end = 0;
    char *line = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    for (ssize_t len; f && (len = getline(&line, &cap, f)) > 0 && line[len - 1] == '\n';) {
        if (end + (uint64_t)len > limit) {
            break;
        }
        /* A quote inside a name stands behind a backslash, so the first match is the key. */
        const char *p = strstr(line, phase);
        n += p && p[sizeof(phase) - 1] != 'M' && p[sizeof(phase) - 1] != 'B';
        end += (uint64_t)len;
    }
    if (f) {
        fclose(f);
    }
    free(line);
    *ret_end = end;
    return n;
}

/* From now on the file counts up to `offset`, whatever the process had written. */
static int note_in_ring(const perftrace__ring_view_t *v, const char *ring_path, uint64_t offset) {
    uint64_t value = offset | PERFTRACE__RING_OFFSET_COUNT;
    size_t at = offsetof(perftrace__ring_header_t, commit) +
                (v->header.commit_seq & 1) * sizeof(perftrace__commit_t) +
                offsetof(perftrace__commit_t, file_offset);
    int status = PERFTRACE_OK;
    int fd = perftrace__os_open(ring_path, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0 || pwrite(fd, &value, sizeof(value), (off_t)at) != (ssize_t)sizeof(value)) {
        status = perftrace__status_from_errno(errno);
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static int make_anew(const perftrace__ring_view_t *v, const char *ring_path, char *path,
                     size_t size, perftrace__recover_trace_t *t) {
    char stem[PATH_MAX];
    size_t n = strlen(path) - (sizeof(SUFFIX) - 1);
    if (n >= sizeof(stem)) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    memcpy(stem, path, n);
    stem[n] = '\0';
    if (v->commit.written) {
        t->problem = "the trace file is gone; only what the ring held was written";
        t->gone = v->commit.written;
    }
    int status = note_in_ring(v, ring_path, 0);
    if (status) {
        return status;
    }
    int rc = perftrace__trace_file_create(stem, SUFFIX, path, size, &t->fd);
    if (rc) {
        return perftrace__status_from_errno(-rc);
    }
    if (geteuid() != v->uid && fchown(t->fd, v->uid, (gid_t)-1) != 0) {
        t->problem = "the new trace file could not be given to its user";
    }
    return PERFTRACE_OK;
}

/* ERR_EXISTS: the file is another run's. */
static int cut(const perftrace__ring_view_t *v, const char *ring_path, const char *path,
               perftrace__recover_trace_t *t) {
    struct stat st;
    if (fstat(t->fd, &st) != 0) {
        return perftrace__status_from_errno(errno);
    }
    whose_t owner = S_ISREG(st.st_mode) ? whose(t->fd, v) : NO_TRACE;
    if (owner == OF_ANOTHER_RUN) {
        return PERFTRACE_ERR_EXISTS;
    }
    if (owner == NO_TRACE) {
        t->problem = "the file that the ring names is no trace file";
        return PERFTRACE_ERR_CORRUPT;
    }
    /* Root may be lied to by anybody's ring. */
    if (st.st_uid != v->uid && geteuid() == 0 && v->uid != 0) {
        t->problem = "ring and trace file belong to different users";
        return PERFTRACE_ERR_DENIED;
    }
    bool noted = v->commit.file_offset & PERFTRACE__RING_OFFSET_COUNT;
    t->offset = v->commit.file_offset & ~PERFTRACE__RING_OFFSET_COUNT;
    if (noted && perftrace__trace_file_holed(t->fd)) {
        /* What is gone is with the collector; nothing of it can be counted here. */
    } else if (noted || (uint64_t)st.st_size < t->offset) {
        uint64_t there = count_events(path, t->offset, &t->offset);
        t->gone = v->commit.written > there ? v->commit.written - there : 0;
        t->problem = t->gone ? "the trace file lacks events that the process had written" : NULL;
        int status = note_in_ring(v, ring_path, t->offset);
        if (status) {
            return status;
        }
    }
    if (ftruncate(t->fd, (off_t)t->offset) != 0) {
        return perftrace__status_from_errno(errno);
    }
    return PERFTRACE_OK;
}

int perftrace__recover_trace_open(const perftrace__ring_view_t *v, const char *ring_path,
                                  char *path, size_t size, perftrace__recover_trace_t *t) {
    memset(t, 0, sizeof(*t));
    size_t n = strlen(path);
    if (n <= sizeof(SUFFIX) - 1 || strcmp(path + n - (sizeof(SUFFIX) - 1), SUFFIX) != 0) {
        t->fd = -1;
        t->problem = "the file that the ring names is no trace file";
        return PERFTRACE_ERR_CORRUPT;
    }
    t->fd = perftrace__os_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    int err = errno;
    int status = t->fd >= 0 ? cut(v, ring_path, path, t) : perftrace__status_from_errno(err);
    if (status == PERFTRACE_ERR_EXISTS || (t->fd < 0 && err == ENOENT)) {
        if (t->fd >= 0) {
            close(t->fd);
            t->fd = -1;
        }
        status = make_anew(v, ring_path, path, size, t);
    } else if (t->fd < 0) {
        t->problem = strerror(err);
    }
    if (status && t->fd >= 0) {
        close(t->fd);
        t->fd = -1;
    }
    PT_TEST_POINT(recover_cut);
    return status;
}

bool perftrace__recover_trace_closed(const char *path) {
    char tail[8192];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool closed = false;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        off_t at = st.st_size > (off_t)sizeof(tail) ? st.st_size - (off_t)sizeof(tail) : 0;
        ssize_t n = pread(fd, tail, sizeof(tail), at);
        if (n > 0 && tail[n - 1] == '\n') {
            const char *line = memrchr(tail, '\n', (size_t)n - 1);
            line = line ? line + 1 : tail;
            size_t len = (size_t)(tail + n - line);
            closed = len >= sizeof(FOOTER_LINE) - 1 &&
                     memcmp(line, FOOTER_LINE, sizeof(FOOTER_LINE) - 1) == 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return closed;
}
