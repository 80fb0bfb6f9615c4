/* forward_file.c. SPDX-License-Identifier: MIT */
#include "forward_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SPOOL_HEAD ((uint64_t)65536) /* bytes of a spool that stay: its header lines */
#define SPOOL_STEP (1u << 20)        /* bytes that are given back at one time */

perftrace__forward_file_t *perftrace__forward_file_new(const char *path,
                                                       const perftrace__stream_key_t *key) {
    size_t len = strlen(path);
    perftrace__forward_file_t *f = len < sizeof f->path ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        return NULL;
    }
    memcpy(f->path, path, len + 1);
    f->key = *key;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t name_len = PT_MIN(strlen(name), sizeof f->key.name - 1);
    memcpy(f->key.name, name, name_len);
    f->key.name[name_len] = '\0';
    f->fd = -1;
    return f;
}

void perftrace__forward_file_free(perftrace__forward_file_t *f) {
    if (f) {
        perftrace__os_close_file(f->fd, &f->id);
        free(f);
    }
}

/* A program may close every descriptor there is, ours too. */
static bool have_fd(perftrace__forward_file_t *f) {
    bool first = f->fd < 0;
    if (!first && perftrace__os_file_is(f->fd, &f->id)) {
        return true;
    }
    int fd =
        perftrace__os_open(f->path, (f->spool ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) {
        bool later = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        f->failed = later ? 0 : errno;
        return false;
    }
    if (first) {
        f->id = perftrace__os_file_id(fd);
    } else if (!perftrace__os_file_is(fd, &f->id)) {
        close(fd);
        f->fd = -1;
        f->failed = ENOENT;
        return false;
    }
    f->fd = fd;
    return true;
}

void perftrace__forward_file_open(perftrace__forward_file_t *f) {
    (void)have_fd(f);
    f->failed = 0;
}

/* pread() of at least one and at most len bytes at `offset`; 0 and failed set: there are none. */
static size_t read_at(perftrace__forward_file_t *f, char *to, size_t len, uint64_t offset) {
    ssize_t n;
    do {
        n = pread(f->fd, to, len, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        f->failed = n < 0 ? errno : ENODATA; /* shorter than what was told */
        return 0;
    }
    return (size_t)n;
}

bool perftrace__forward_file_read(perftrace__forward_file_t *f, perftrace__strbuf_t *buf,
                                  size_t wanted, size_t *ret_len) {
    *ret_len = 0;
    perftrace__strbuf_clear(buf);
    if (f->failed || !have_fd(f)) {
        return false;
    }
    uint64_t left = f->limit - f->sent;
    size_t goal = PT_MIN(wanted, PERFTRACE__STREAM_PIECE_MAX);
    while (buf->len < left && buf->len < PERFTRACE__STREAM_PIECE_MAX) {
        size_t more = (size_t)PT_MIN((uint64_t)(goal - buf->len), left - buf->len);
        if (!perftrace__strbuf_reserve(buf, more)) {
            buf->failed = false; /* it is tried again */
            return false;
        }
        size_t n = read_at(f, buf->data + buf->len, more, f->sent + buf->len);
        if (n == 0) {
            return false;
        }
        buf->len += n;
        if (buf->data[0] == '\0') { /* given back: the other side had it once */
            f->failed = ENODATA;
            return false;
        }
        const char *end = memrchr(buf->data, '\n', buf->len);
        if (end && (buf->len >= goal || buf->len == left)) {
            *ret_len = (size_t)(end + 1 - buf->data);
            return true;
        }
        if (buf->len >= goal) {
            goal = PERFTRACE__STREAM_PIECE_MAX; /* a long line */
        }
    }
    if (buf->len) {
        f->failed = EFBIG; /* a line that no piece can hold */
        return false;
    }
    return true;
}

bool perftrace__forward_file_identify(perftrace__forward_file_t *f) {
    if (f->known || f->limit == 0) {
        return f->known;
    }
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    size_t len = 0;
    uint64_t sent = f->sent;
    f->sent = 0;
    if (perftrace__forward_file_read(f, &line, 4096, &len) && len) {
        const char *end = memchr(line.data, '\n', len);
        f->key.stream = perftrace__stream_id(line.data, (size_t)(end + 1 - line.data));
        f->known = true;
    }
    f->sent = sent;
    perftrace__strbuf_free(&line);
    return f->known;
}

void perftrace__forward_file_punch(perftrace__forward_file_t *f) {
    uint64_t from = PT_MAX(f->punched, SPOOL_HEAD);
    uint64_t to = f->acked & ~(uint64_t)(SPOOL_STEP - 1);
    if (f->acked > f->limit) { /* what the other side has is not this file */
        return;
    }
    if (!f->spool || f->kept || f->failed || to <= from || !have_fd(f)) {
        return;
    }
    if (fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(to - from)) != 0) {
        f->kept = true;
        return;
    }
    f->punched = to;
}

const char *perftrace__forward_file_problem(const perftrace__forward_file_t *f) {
    return f->failed == ENODATA  ? "shorter than it was"
           : f->failed == EFBIG  ? "a line is longer than 4 MiB"
           : f->failed == ESTALE ? "the other side has more of it than there is"
                                 : strerror(f->failed);
}

bool perftrace__forward_file_done(const perftrace__forward_file_t *f) {
    return f->ended && (f->last_acked || f->limit == 0);
}
