/* line_file.c. SPDX-License-Identifier: MIT */
#include "line_file.h"

#include "status_text.h"
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void perftrace__line_file_open(perftrace__line_file_t *f, int fd, uint64_t offset,
                               const char *path) {
    *f = (perftrace__line_file_t){
        .fd = fd, .id = perftrace__os_file_id(fd), .offset = offset, .path = path};
}

/* Makes sure that fd means the file: where the program has closed it, it is opened again, and where
 * that fails (it may have closed that one, too) by the next flush. */
static void check_fd(perftrace__line_file_t *f) {
    if (f->fd >= 0 && perftrace__os_file_is(f->fd, &f->id)) {
        return;
    }
    f->fd = *f->path ? perftrace__os_open(f->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
    if (f->fd >= 0 && !perftrace__os_file_is(f->fd, &f->id)) {
        close(f->fd);
        f->fd = -1;
    }
}

/* The file still has its name. */
static bool is_named(const perftrace__line_file_t *f) {
    struct stat st;
    return *f->path && stat(f->path, &st) == 0 && st.st_dev == f->id.dev && st.st_ino == f->id.ino;
}

bool perftrace__line_file_gone(perftrace__line_file_t *f) {
    check_fd(f);
    return f->fd < 0 ? !is_named(f) : perftrace__trace_file_gone(f->fd);
}

int perftrace__line_file_flush(perftrace__line_file_t *f, perftrace__strbuf_t *batch,
                               perftrace__flush_t how) {
    int rc = 0;
    if (f->limit && f->done == 0 && batch->len && f->offset + batch->len > f->limit()) {
        f->last_errno = ENOBUFS;
        return perftrace__status_from_errno(ENOBUFS);
    }
    check_fd(f);
    if (batch->len > f->done) {
        size_t n = 0;
        rc = perftrace__trace_file_write(f->fd, batch->data + f->done, batch->len - f->done,
                                         f->offset + f->done, &n);
        f->done += n;
    }
    if (rc == 0) {
        f->offset += batch->len;
        f->done = 0;
        perftrace__strbuf_clear(batch);
        if (how == PERFTRACE__FLUSH_DISK && fdatasync(f->fd) != 0 && errno != EINVAL &&
            errno != EROFS) {
            rc = -errno;
        } else if (how == PERFTRACE__FLUSH_LAST) {
            rc = perftrace__os_close_errors(f->fd);
        }
    }
    f->last_errno = -rc;
    return rc ? perftrace__status_from_errno(-rc) : PERFTRACE_OK;
}

void perftrace__line_file_cut(perftrace__line_file_t *f) {
    if (perftrace__os_file_is(f->fd, &f->id)) {
        /* Fails on a disk that does not write at all; then the torn end stays. */
        (void)!ftruncate(f->fd, (off_t)f->offset);
    }
}

void perftrace__line_file_close(perftrace__line_file_t *f) {
    perftrace__os_close_file(f->fd, &f->id);
    f->fd = -1;
}
