/* run_writer.c. SPDX-License-Identifier: MIT */
#include "run_writer.h"

#include "os.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <uv.h>

#define QUEUE_MAX (4U * 1024U * 1024U)

typedef struct chunk {
    struct chunk *next;
    size_t len;
    int fd;
    char data[];
} chunk_t;

struct pt_writer {
    uv_thread_t thread;
    uv_mutex_t lock; /* guards what follows */
    uv_cond_t work;
    chunk_t *first, *last;
    size_t queued;
    bool was_full, ending, failed;
    void (*room)(void *user);
    void *user;
};

/* Whoever shares our output may have made it non-blocking. */
static bool write_whole(int fd, const char *data, size_t len) {
    size_t done = 0;
    int err = perftrace__os_write_all(fd, data, len, &done);
    while (err == -EAGAIN) {
        struct pollfd p = {fd, POLLOUT, 0};
        size_t more = 0;
        poll(&p, 1, 1000);
        err = perftrace__os_write_all(fd, data + done, len - done, &more);
        done += more;
    }
    return err == 0;
}

static void run(void *arg) {
    pt_writer_t *w = arg;
    bool broken[3] = {false, false, false}; /* its reader is gone: the rest is dropped */
    uv_mutex_lock(&w->lock);
    while (w->first || !w->ending) {
        chunk_t *c = w->first;
        if (!c) {
            uv_cond_wait(&w->work, &w->lock);
            continue;
        }
        w->first = c->next;
        w->last = w->first ? w->last : NULL;
        uv_mutex_unlock(&w->lock);
        if (!broken[c->fd]) {
            broken[c->fd] = !write_whole(c->fd, c->data, c->len);
        }
        uv_mutex_lock(&w->lock);
        w->failed = w->failed || broken[c->fd];
        w->queued -= c->len;
        bool tell = w->was_full && !w->ending && w->queued < QUEUE_MAX / 2;
        w->was_full = w->was_full && !tell;
        if (tell) {
            uv_mutex_unlock(&w->lock);
            w->room(w->user);
            uv_mutex_lock(&w->lock);
        }
        free(c);
    }
    uv_mutex_unlock(&w->lock);
}

pt_writer_t *pt_writer_start(void (*room)(void *user), void *user) {
    pt_writer_t *w = calloc(1, sizeof(*w));
    if (!w) {
        return NULL;
    }
    w->room = room;
    w->user = user;
    if (uv_mutex_init(&w->lock) != 0) {
        goto no_lock;
    }
    if (uv_cond_init(&w->work) != 0) {
        goto no_cond;
    }
    if (uv_thread_create(&w->thread, run, w) == 0) {
        return w;
    }
    uv_cond_destroy(&w->work);
no_cond:
    uv_mutex_destroy(&w->lock);
no_lock:
    free(w);
    return NULL;
}

bool pt_writer_put(pt_writer_t *writer, int fd, const char *data, size_t len) {
    chunk_t *c = len ? malloc(sizeof(*c) + len) : NULL;
    uv_mutex_lock(&writer->lock);
    if (c) {
        *c = (chunk_t){NULL, len, fd};
        memcpy(c->data, data, len);
        if (writer->last) {
            writer->last->next = c;
        } else {
            writer->first = c;
        }
        writer->last = c;
        writer->queued += len;
        uv_cond_signal(&writer->work);
    }
    writer->failed = writer->failed || (len && !c);
    writer->was_full = writer->was_full || writer->queued > QUEUE_MAX;
    bool full = writer->was_full;
    uv_mutex_unlock(&writer->lock);
    return !full;
}

bool pt_writer_end(pt_writer_t *writer) {
    if (!writer) {
        return true;
    }
    uv_mutex_lock(&writer->lock);
    writer->ending = true;
    uv_cond_signal(&writer->work);
    uv_mutex_unlock(&writer->lock);
    uv_thread_join(&writer->thread);
    bool ok = !writer->failed;
    uv_cond_destroy(&writer->work);
    uv_mutex_destroy(&writer->lock);
    free(writer);
    return ok;
}
