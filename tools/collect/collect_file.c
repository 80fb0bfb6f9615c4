/* collect_file.c: many files, of which some are open. SPDX-License-Identifier: MIT */
#include "collect_file.h"

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL_BYTES 16384

void pt_collect_files_init(pt_collect_files_t *files, unsigned max, bool sync) {
    memset(files, 0, sizeof *files);
    files->used.next = files->used.prev = &files->used;
    files->max = max;
    files->sync = sync;
}

void pt_collect_file_init(pt_collect_file_t *file, char *path) {
    memset(file, 0, sizeof *file);
    file->path = path;
    file->fd = -1;
}

static void unlink_from_ring(pt_collect_file_t *file) {
    file->next->prev = file->prev;
    file->prev->next = file->next;
}

static void put_first(pt_collect_files_t *files, pt_collect_file_t *file) {
    file->next = files->used.next;
    file->prev = &files->used;
    file->next->prev = file->prev->next = file;
}

static int close_file(pt_collect_files_t *files, pt_collect_file_t *file) {
    int err = files->sync ? pt_collect_file_sync(files, file) : 0;
    if (err == 0) {
        unlink_from_ring(file);
        files->open--;
        if (close(file->fd) != 0 && errno != EINTR) {
            err = -errno;
        }
        file->fd = -1;
    }
    return err;
}

/* The file's folder may be gone or not made yet. */
static int open_new(const char *path) {
    int fd = perftrace__os_open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0 && errno == ENOENT) {
        char *folder = strdup(path);
        char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
        if (slash != NULL) {
            *slash = '\0';
            int err = perftrace__os_mkdirs(folder);
            fd = err == 0 ? perftrace__os_open(path, O_RDWR | O_CREAT, 0666) : -1;
            errno = err != 0 ? -err : errno;
        }
        free(folder);
    }
    return fd;
}

int pt_collect_file_open(pt_collect_files_t *files, pt_collect_file_t *file, bool create) {
    if (file->fd >= 0) {
        unlink_from_ring(file);
        put_first(files, file);
        return 0;
    }
    if (files->open >= files->max) {
        int err = close_file(files, files->used.prev);
        if (err != 0) {
            return err;
        }
    }
    file->fd = create ? open_new(file->path) : perftrace__os_open(file->path, O_RDWR, 0);
    if (file->fd < 0) {
        return -errno;
    }
    files->open++;
    put_first(files, file);
    return 0;
}

/* What cannot be looked at may well be there. */
bool pt_collect_descriptor_stands(int fd, const char *path, uint64_t size) {
    struct stat named, open;
    if (stat(path, &named) != 0) {
        return errno != ENOENT && errno != ENOTDIR;
    }
    return (uint64_t)named.st_size >= size &&
           (fd < 0 || fstat(fd, &open) != 0 ||
            (open.st_dev == named.st_dev && open.st_ino == named.st_ino));
}

bool pt_collect_file_stands(const pt_collect_file_t *file, uint64_t size) {
    return pt_collect_descriptor_stands(file->fd, file->path, size);
}

static bool is_removed(const pt_collect_file_t *file) {
    return access(file->path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

int pt_collect_file_write(pt_collect_files_t *files, pt_collect_file_t *file, const void *data,
                          size_t len, uint64_t offset, size_t *ret_done) {
    *ret_done = 0;
    if (offset == 0 && file->fd >= 0 && is_removed(file)) {
        int closed = close_file(files, file); /* made, but never written: it is made anew */
        if (closed != 0) {
            return closed;
        }
    }
    if ((offset > 0 || file->fd >= 0) && !pt_collect_file_stands(file, offset)) {
        return -ESTALE;
    }
    int err = pt_collect_file_open(files, file, offset == 0);
    if (err != 0) {
        return err;
    }
    if (!perftrace__os_may_grow_to(offset + len)) {
        return -EFBIG;
    }
    file->dirty = true;
    while (*ret_done < len) {
        ssize_t n = pwrite(file->fd, (const char *)data + *ret_done, len - *ret_done,
                           (off_t)(offset + *ret_done));
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        *ret_done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int64_t pt_collect_file_read(pt_collect_files_t *files, pt_collect_file_t *file, void *out,
                             size_t len, uint64_t offset) {
    size_t done = 0;
    int err = pt_collect_file_open(files, file, false);
    if (err != 0) {
        return err;
    }
    while (done < len) {
        ssize_t n = pread(file->fd, (char *)out + done, len - done, (off_t)(offset + done));
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return (int64_t)done;
}

int64_t pt_collect_file_size(pt_collect_files_t *files, pt_collect_file_t *file) {
    struct stat st;
    int err = pt_collect_file_open(files, file, false);
    return err != 0 ? err : fstat(file->fd, &st) != 0 ? -(int64_t)errno : (int64_t)st.st_size;
}

int64_t pt_collect_file_lines_end(pt_collect_files_t *files, pt_collect_file_t *file,
                                  uint64_t least) {
    char tail[TAIL_BYTES];
    int64_t size = pt_collect_file_size(files, file);
    if (size < 0) {
        return size;
    }
    for (uint64_t end = (uint64_t)size; end > least;) {
        size_t take = (size_t)PT_MIN(end - least, (uint64_t)sizeof tail);
        int64_t n = pt_collect_file_read(files, file, tail, take, end - take);
        if (n < 0) {
            return n;
        }
        const char *eol = memrchr(tail, '\n', (size_t)n);
        if (eol != NULL) {
            return (int64_t)(end - take) + (eol - tail) + 1;
        }
        end -= take;
    }
    return (int64_t)least;
}

int pt_collect_file_sync(pt_collect_files_t *files, pt_collect_file_t *file) {
    (void)files;
    if (file->dirty && file->fd >= 0 && fdatasync(file->fd) != 0) {
        return -errno;
    }
    file->dirty = false;
    return 0;
}

int pt_collect_file_end(pt_collect_files_t *files, pt_collect_file_t *file) {
    int err = file->fd >= 0 ? close_file(files, file) : 0;
    free(file->path);
    file->path = NULL;
    return err;
}
