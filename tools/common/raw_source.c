/* raw_source.c: a file's own bytes, through one buffer. SPDX-License-Identifier: MIT */
#include "raw_source.h"

#include "os.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pt_raw_source_init(pt_raw_source_t *raw, int fd, bool owns_fd, size_t buffer_size,
                        const void *data, size_t len) {
    *raw = (pt_raw_source_t){.fd = fd, .owns_fd = owns_fd, .size = buffer_size};
    if (fd < 0) {
        raw->cur = data;
        raw->left = len;
        raw->end = true;
    }
}

/* Moves what is left, and the bytes before it, to the start of a buffer of at least so many bytes.
 * False, and the source ends, without memory. */
static bool make_room(pt_raw_source_t *raw, size_t room) {
    uint8_t *old = raw->allocated;
    if (room > raw->room) {
        size_t page = perftrace__os_page_size();
        void *allocated;
        if (posix_memalign(&allocated, page, room + page) != 0) {
            raw->error = ENOMEM;
            raw->end = true;
            return false;
        }
        raw->allocated = allocated;
        raw->buffer = raw->allocated + page;
        raw->room = room;
    }
    if (raw->cur != NULL) {
        memmove(raw->buffer - PT_RAW_BACK, raw->cur - PT_RAW_BACK, raw->left + PT_RAW_BACK);
    } else { /* the bytes "before" the first are readable */
        memset(raw->buffer - PT_RAW_BACK, 0, PT_RAW_BACK);
    }
    raw->cur = raw->buffer;
    if (old != raw->allocated) {
        free(old);
    }
    return true;
}

void pt_raw_source_free(pt_raw_source_t *raw) {
    free(raw->allocated);
    if (raw->owns_fd) {
        close(raw->fd);
    }
    *raw = (pt_raw_source_t){.fd = -1, .end = true};
}

/* One read; 0 at the end or with raw->error set. */
static size_t read_some(pt_raw_source_t *raw, void *out, size_t size) {
    while (!raw->end) {
        ssize_t n = read(raw->fd, out, size);
        if (n > 0) {
            return (size_t)n;
        }
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            /* Standard input may have been made non-blocking by whoever shares it. */
            struct pollfd wait = {.fd = raw->fd, .events = POLLIN};
            (void)poll(&wait, 1, -1);
        } else if (n == 0 || errno != EINTR) {
            raw->error = n < 0 ? errno : 0;
            raw->end = true;
        }
    }
    return 0;
}

size_t pt_raw_source_fill(pt_raw_source_t *raw, size_t want) {
    return pt_raw_source_look(raw, want, raw->size);
}

size_t pt_raw_source_look(pt_raw_source_t *raw, size_t want, size_t most) {
    most = PT_MIN(most, raw->size);
    want = PT_MIN(want, most);
    if (raw->left >= want || raw->end) {
        return raw->left;
    }
    if (!make_room(raw, most)) {
        return raw->left;
    }
    while (raw->left < want) {
        size_t n = read_some(raw, raw->buffer + raw->left, most - raw->left);
        if (n == 0) {
            break;
        }
        raw->left += n;
    }
    return raw->left;
}

void pt_raw_source_skip(pt_raw_source_t *raw, int64_t bytes) {
    raw->cur += bytes;
    raw->left = (size_t)((int64_t)raw->left - bytes);
    raw->offset = (uint64_t)((int64_t)raw->offset + bytes);
}

size_t pt_raw_source_read(pt_raw_source_t *raw, void *out, size_t size) {
    uint8_t *to = out;
    size_t done = 0;
    while (done < size) {
        if (raw->left) {
            size_t n = PT_MIN(raw->left, size - done);
            memcpy(to + done, raw->cur, n);
            pt_raw_source_skip(raw, (int64_t)n);
            done += n;
        } else if (raw->end) {
            break;
        } else if (size - done >= raw->size / 2) {
            size_t n = read_some(raw, to + done, size - done);
            raw->offset += n;
            done += n;
        } else {
            pt_raw_source_fill(raw, 1);
        }
    }
    return done;
}
