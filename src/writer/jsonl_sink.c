/* jsonl_sink.c. SPDX-License-Identifier: MIT */
#include "jsonl_sink.h"

#include "line_file.h"
#include "status_text.h"

#include <stdio.h>
#include <stdlib.h>

/* One write a batch: long enough that its cost vanishes, short enough for the cache. */
#define BATCH (512u << 10)

/* Threads whose names a new file would begin with; of more, the ones seen last. */
#define MAX_THREADS 1024u

typedef struct thread_name {
    uint32_t tid;
    char name[64];
} thread_name_t;

struct perftrace__jsonl_sink {
    perftrace__sink_t base;
    thread_name_t *threads;
    uint32_t thread_count; /* seen; threads[i % MAX_THREADS] */
    perftrace__jsonl_t text;
    perftrace__line_file_t file;
    bool replaced;
    int (*create)(void *user);
    void *user;
    perftrace__run_meta_t meta;
};

static perftrace__jsonl_sink_t *self(perftrace__sink_t *s) {
    return (perftrace__jsonl_sink_t *)s;
}

static bool on_event(perftrace__sink_t *s, const perftrace__event_t *ev) {
    return perftrace__jsonl_event(&self(s)->text, ev);
}

static void remember(perftrace__jsonl_sink_t *k, uint32_t tid, const char *name) {
    uint32_t n = k->thread_count < MAX_THREADS ? k->thread_count : MAX_THREADS;
    uint32_t i = 0;
    while (i < n && k->threads[i].tid != tid) {
        i++;
    }
    if (i == n) {
        if (n < MAX_THREADS && n % 16 == 0) {
            thread_name_t *more = realloc(k->threads, (n + 16) * sizeof(*more));
            if (!more) {
                return;
            }
            k->threads = more;
        }
        i = k->thread_count++ % MAX_THREADS;
    }
    k->threads[i].tid = tid;
    snprintf(k->threads[i].name, sizeof(k->threads[i].name), "%s", name);
}

static void on_thread(perftrace__sink_t *s, uint32_t tid, const char *name) {
    perftrace__jsonl_thread(&self(s)->text, tid, name);
    if (self(s)->create) {
        remember(self(s), tid, name);
    }
}

static void on_drop(perftrace__sink_t *s, const perftrace__drop_t *drop) {
    perftrace__jsonl_drop(&self(s)->text, drop);
}

static void on_clock(perftrace__sink_t *s, const perftrace__clock_reading_t *r) {
    perftrace__jsonl_clock(&self(s)->text, r);
}

static void on_reference(perftrace__sink_t *s, const perftrace__reference_t *r) {
    perftrace__jsonl_reference(&self(s)->text, r);
}

static void on_unfinished(perftrace__sink_t *s, const perftrace__event_t *ev) {
    perftrace__jsonl_unfinished(&self(s)->text, ev);
}

static void on_footer(perftrace__sink_t *s, const perftrace__account_t *account) {
    perftrace__jsonl_footer(&self(s)->text, account);
}

static bool is_full(const perftrace__sink_t *s) {
    return ((const perftrace__jsonl_sink_t *)s)->text.out.len >= BATCH;
}

static void begin(perftrace__jsonl_sink_t *k) {
    perftrace__jsonl_header(&k->text, &k->meta);
    perftrace__jsonl_process(&k->text);
}

/* Goes on in a new file: header and names first, then the text that waits. */
static int replace_file(perftrace__jsonl_sink_t *k) {
    int fd = k->create(k->user);
    if (fd < 0) {
        return fd;
    }
    uint64_t (*limit)(void) = k->file.limit;
    perftrace__line_file_close(&k->file);
    perftrace__line_file_open(&k->file, fd, 0, k->file.path);
    k->file.limit = limit;
    k->replaced = true;
    k->text.part = k->text.part ? k->text.part + 1 : 2;
    perftrace__strbuf_t old = k->text.out;
    k->text.out = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    begin(k);
    for (uint32_t i = 0; i < k->thread_count && i < MAX_THREADS; i++) {
        perftrace__jsonl_thread(&k->text, k->threads[i].tid, k->threads[i].name);
    }
    perftrace__strbuf_append(&k->text.out, old.data, old.len);
    perftrace__strbuf_free(&old);
    return 0;
}

static int flush(perftrace__sink_t *s, perftrace__flush_t how) {
    perftrace__jsonl_sink_t *k = self(s);
    if (k->text.out.len && k->create && perftrace__line_file_gone(&k->file)) {
        int rc = replace_file(k);
        if (rc) {
            k->file.last_errno = -rc;
            return perftrace__status_from_errno(-rc);
        }
    }
    return perftrace__line_file_flush(&k->file, &k->text.out, how);
}

static uint64_t offset(const perftrace__sink_t *s) {
    return ((const perftrace__jsonl_sink_t *)s)->file.offset;
}

static bool was_replaced(perftrace__sink_t *s) {
    bool replaced = self(s)->replaced;
    self(s)->replaced = false;
    return replaced;
}

static void close_sink(perftrace__sink_t *s) {
    perftrace__jsonl_sink_t *k = self(s);
    perftrace__line_file_close(&k->file);
    perftrace__jsonl_free(&k->text);
    free(k->threads);
    free(k);
}

static const perftrace__sink_ops_t ops = {.event = on_event,
                                          .thread = on_thread,
                                          .drop = on_drop,
                                          .clock = on_clock,
                                          .reference = on_reference,
                                          .unfinished = on_unfinished,
                                          .footer = on_footer,
                                          .full = is_full,
                                          .flush = flush,
                                          .offset = offset,
                                          .replaced = was_replaced,
                                          .close = close_sink};

perftrace__sink_t *perftrace__jsonl_sink_open(int fd, uint64_t offset_bytes,
                                              const perftrace__run_meta_t *meta) {
    perftrace__jsonl_sink_t *k = calloc(1, sizeof(*k));
    if (!k || !perftrace__jsonl_init(&k->text, meta) ||
        !perftrace__strbuf_reserve(&k->text.out, BATCH + (64u << 10))) {
        if (k) {
            perftrace__jsonl_free(&k->text);
        }
        free(k);
        return NULL;
    }
    k->base.ops = &ops;
    perftrace__line_file_open(&k->file, fd, offset_bytes, "");
    k->meta = *meta;
    if (offset_bytes == 0) {
        begin(k);
    }
    return &k->base;
}

int perftrace__jsonl_sink_errno(const perftrace__sink_t *s) {
    return ((const perftrace__jsonl_sink_t *)s)->file.last_errno;
}

void perftrace__jsonl_sink_cut(perftrace__sink_t *s) {
    perftrace__line_file_cut(&self(s)->file);
}

void perftrace__jsonl_sink_disown(perftrace__sink_t *s) {
    perftrace__line_file_close(&self(s)->file);
}

void perftrace__jsonl_sink_header(perftrace__sink_t *s, const perftrace__run_meta_t *meta) {
    perftrace__jsonl_sink_t *k = self(s);
    perftrace__jsonl_t fresh;
    if (!perftrace__jsonl_init(&fresh, meta)) {
        return;
    }
    /* The text gathered so far stays; only what closes each line changes. */
    fresh.out = k->text.out;
    fresh.part = k->text.part;
    k->text.out = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
    perftrace__jsonl_free(&k->text);
    k->text = fresh;
    k->meta = *meta;
    begin(k);
}

void perftrace__jsonl_sink_on_gone(perftrace__sink_t *s, const char *path,
                                   int (*create)(void *user), void *user) {
    self(s)->file.path = path;
    self(s)->create = create;
    self(s)->user = user;
}

void perftrace__jsonl_sink_limit(perftrace__sink_t *s, uint64_t (*limit)(void)) {
    self(s)->file.limit = limit;
}
