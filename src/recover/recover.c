/* recover.c: one ring. SPDX-License-Identifier: MIT */
#include "recover.h"

#include "jsonl_sink.h"
#include "merge.h"
#include "os.h"
#include "ring_clock.h"
#include "ring_reader.h"
#include "status_text.h"
#include "trace_file.h"

#include <perftrace/perftrace.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool perftrace__recover_link(const char *trace_path, char *out, size_t size) {
    size_t n = strlen(trace_path);
    if (n > 6 && strcmp(trace_path + n - 6, ".jsonl") == 0) {
        n -= 6;
    }
    if (n + sizeof(".ring") > size) {
        return false;
    }
    memcpy(out, trace_path, n);
    memcpy(out + n, ".ring", sizeof(".ring"));
    return true;
}

/* ---- claiming -----------------------------------------------------------------------------------
 */

/* The ring's real path: the target of a link (which may be gone: then still its text). */
static bool real_path(const char *path, char out[PATH_MAX]) {
    ssize_t n = readlink(path, out, PATH_MAX - 1);
    if (n > 0) {
        out[n] = '\0';
        return true;
    }
    int len = snprintf(out, PATH_MAX, "%s", path);
    return len > 0 && len < PATH_MAX;
}

/* Renames the ring so that only this process has it. A claim whose owner died is taken over. */
static int claim(const char *real, char claimed[PATH_MAX + 64]) {
    snprintf(claimed, PATH_MAX + 64, "%s.claim-%u-%llu", real, perftrace__os_pid(),
             (unsigned long long)perftrace__os_process_start(perftrace__os_pid()));
    if (rename(real, claimed) == 0) {
        return PERFTRACE_OK;
    }
    if (errno != ENOENT) {
        return perftrace__status_from_errno(errno);
    }
    char pattern[PATH_MAX + 16];
    snprintf(pattern, sizeof(pattern), "%s.claim-*", real);
    glob_t g;
    int status = PERFTRACE_ERR_NOT_FOUND;
    if (glob(pattern, GLOB_NOSORT, NULL, &g) == 0) {
        for (size_t i = 0; i < g.gl_pathc && status != PERFTRACE_OK; i++) {
            unsigned pid = 0;
            unsigned long long start = 0;
            const char *tail = g.gl_pathv[i] + strlen(real) + sizeof(".claim-") - 1;
            char *end = NULL;
            pid = (unsigned)strtoul(tail, &end, 10);
            start = *end == '-' ? strtoull(end + 1, NULL, 10) : 0;
            if (perftrace__os_process_start(pid) == start) {
                status = PERFTRACE_ERR_STATE;
            } else if (rename(g.gl_pathv[i], claimed) == 0) {
                status = PERFTRACE_OK;
            }
        }
        globfree(&g);
    }
    return status;
}

/* ---- the trace file -----------------------------------------------------------------------------
 */

/* The trace file beside the link when there is one (the directory may have been moved), else where
 * the process had it. */
static void find_trace(const char *link, const char *stored, char *out, size_t size) {
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

/* Opens the trace file and cuts it to the committed length. *ret_offset: where to go on. */
static int open_trace(const perftrace__ring_view_t *v, perftrace__recovered_t *r, int *ret_fd,
                      uint64_t *ret_offset) {
    uint64_t committed = v->commit.file_offset;
    int fd = open(r->trace_path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        char stem[PATH_MAX];
        size_t n = strlen(r->trace_path);
        if (n <= 6 || n >= sizeof(stem) || strcmp(r->trace_path + n - 6, ".jsonl") != 0) {
            return PERFTRACE_ERR_CORRUPT;
        }
        memcpy(stem, r->trace_path, n - 6);
        stem[n - 6] = '\0';
        int rc =
            perftrace__trace_file_create(stem, ".jsonl", r->trace_path, sizeof(r->trace_path), &fd);
        if (rc) {
            return perftrace__status_from_errno(-rc);
        }
        if (committed) {
            r->problem = "the trace file is gone; only what the ring held was written";
        }
        committed = 0;
    } else if (fd < 0) {
        return perftrace__status_from_errno(errno);
    }
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return PERFTRACE_ERR_IO;
    }
    if ((uint64_t)st.st_size < committed) {
        r->problem = "the trace file is shorter than what the process had written";
        committed = (uint64_t)st.st_size;
    }
    if (ftruncate(fd, (off_t)committed) != 0) {
        int err = errno;
        close(fd);
        return perftrace__status_from_errno(err);
    }
    *ret_fd = fd;
    *ret_offset = committed;
    return PERFTRACE_OK;
}

/* ---- events -------------------------------------------------------------------------------------
 */

typedef struct work {
    const perftrace__ring_view_t *view;
    perftrace__sink_t *sink;
    perftrace__slot_view_t *slots;
    perftrace__lane_t *lanes;
    uint32_t *heap;
    uint32_t n;
    perftrace__account_t account;
    perftrace__recovered_t *r;
} work_t;

static int read_slots(work_t *w) {
    w->n = w->view->slot_count;
    size_t places = w->n ? w->n : 1;
    w->slots = calloc(places, sizeof(*w->slots));
    w->lanes = calloc(places, sizeof(*w->lanes));
    w->heap = calloc(places, sizeof(*w->heap));
    if (!w->slots || !w->lanes || !w->heap) {
        return PERFTRACE_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        int status = perftrace__ring_view_slot(w->view, i, &w->slots[i]);
        if (status) {
            return status;
        }
        perftrace__slot_view_t *s = &w->slots[i];
        w->r->damaged += s->damaged;
        w->lanes[i].p = s->words;
        w->lanes[i].end = s->words + s->nwords;
        w->lanes[i].tid = s->slot.tid;
        w->lanes[i].slot = i;
        if (s->nwords || s->depth) {
            w->sink->ops->thread(w->sink, s->slot.tid, s->slot.name);
        }
    }
    return PERFTRACE_OK;
}

static int write_events(work_t *w) {
    perftrace__merge_t m;
    perftrace__merge_begin(&m, w->lanes, w->n, w->heap);
    for (perftrace__lane_t *lane; (lane = perftrace__merge_next(&m)) != NULL;) {
        perftrace__event_t ev;
        uint32_t words = perftrace__record_decode(lane->p, (uint64_t)(lane->end - lane->p),
                                                  &w->view->sites, &ev);
        if (words) {
            perftrace__ring_resolve(&w->view->header, &ev);
            ev.tid = lane->tid;
            ev.slot = lane->slot;
            w->sink->ops->event(w->sink, &ev);
            w->r->events++;
        }
        perftrace__merge_advance(&m, lane, words);
        if (w->sink->ops->full(w->sink)) {
            int status = w->sink->ops->flush(w->sink, false);
            if (status) {
                return status;
            }
        }
    }
    for (uint32_t i = 0; i < w->n; i++) {
        w->r->damaged += w->lanes[i].damaged;
    }
    return PERFTRACE_OK;
}

static void write_drop(work_t *w, unsigned cause, const char *name, uint64_t count, uint64_t first,
                       uint64_t last, uint32_t tid) {
    if (count == 0) {
        return;
    }
    const perftrace__ring_header_t *h = &w->view->header;
    perftrace__drop_t drop = {name, count, first ? perftrace__ring_ticks_to_ns(h, first) : 0,
                              last ? perftrace__ring_ticks_to_ns(h, last) : 0, tid};
    w->sink->ops->drop(w->sink, &drop);
    w->account.dropped[cause] += count;
}

static void write_losses(work_t *w) {
    memcpy(w->account.dropped, w->view->commit.dropped, sizeof(w->account.dropped));
    for (uint32_t i = 0; i < w->n; i++) {
        const perftrace__slot_view_t *v = &w->slots[i];
        const perftrace__slot_t *s = &v->slot;
        uint32_t seq = w->view->header.commit_seq & 1;
        uint64_t first = s->drop_first ? s->drop_first : s->drop_last;
        write_drop(w, PERFTRACE_DROP_ring_full, "ring_full", s->drops[0] - v->drops[0], first,
                   s->drop_last, s->tid);
        write_drop(w, PERFTRACE_DROP_block_timeout, "block_timeout", s->drops[1] - v->drops[1],
                   first, s->drop_last, s->tid);
        write_drop(w, PERFTRACE_DROP_too_long, "too_long", s->too_long - s->commit[seq].too_long, 0,
                   0, s->tid);
    }
    write_drop(w, PERFTRACE_DROP_no_slot, "no_slot",
               w->view->header.no_slot - w->view->commit.dropped[PERFTRACE_DROP_no_slot], 0, 0, 0);
    write_drop(w, PERFTRACE_DROP_damaged, "damaged", w->r->damaged, 0, 0, 0);
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        w->r->dropped += w->account.dropped[i];
    }
}

static void write_open_scopes(work_t *w) {
    for (uint32_t i = 0; i < w->n; i++) {
        const perftrace__slot_view_t *v = &w->slots[i];
        if (v->slot.state == PERFTRACE__SLOT_FREE) {
            continue;
        }
        for (uint32_t k = 0; k < v->depth; k++) {
            perftrace__event_t ev;
            if (!perftrace__record_from_open(&v->slot.open[k], &w->view->sites, &ev)) {
                continue;
            }
            perftrace__ring_resolve(&w->view->header, &ev);
            ev.tid = v->slot.tid;
            ev.slot = i;
            w->sink->ops->unfinished(w->sink, &ev);
            w->account.unfinished++;
        }
    }
    w->r->unfinished = w->account.unfinished;
}

static int finish(const perftrace__ring_view_t *v, perftrace__recovered_t *r) {
    int fd = -1;
    uint64_t offset = 0;
    int status = open_trace(v, r, &fd, &offset);
    if (status) {
        return status;
    }
    work_t w = {.view = v, .r = r};
    w.sink = perftrace__jsonl_sink_open(fd, offset, &v->header.meta);
    if (!w.sink) {
        close(fd);
        return PERFTRACE_ERR_NOMEM;
    }
    status = read_slots(&w);
    if (status == PERFTRACE_OK) {
        status = write_events(&w);
    }
    if (status == PERFTRACE_OK) {
        write_losses(&w);
        write_open_scopes(&w);
        w.account.written = v->commit.written + r->events;
        w.account.recovered = true;
        w.sink->ops->footer(w.sink, &w.account);
        status = w.sink->ops->flush(w.sink, true);
    }
    for (uint32_t i = 0; w.slots && i < w.n; i++) {
        perftrace__slot_view_free(&w.slots[i]);
    }
    free(w.slots);
    free(w.lanes);
    free(w.heap);
    perftrace__sink_close(w.sink);
    return status;
}

int perftrace__recover_ring(const char *path, unsigned flags, perftrace__recovered_t *ret) {
    memset(ret, 0, sizeof(*ret));
    char real[PATH_MAX];
    char claimed[PATH_MAX + 64];
    if (!real_path(path, real)) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    if (!v) {
        return PERFTRACE_ERR_NOMEM;
    }
    bool have_claim = false;
    /* Looked at before it is claimed: the ring of a living process keeps its name. */
    int status = perftrace__ring_view_open(v, real, &ret->problem);
    if (status == PERFTRACE_OK && perftrace__ring_owner_alive(&v->header)) {
        ret->pid = v->header.meta.pid;
        ret->rank = v->header.meta.rank;
        status = PERFTRACE_ERR_STATE;
        ret->problem = "the process is still running";
    }
    if (status && status != PERFTRACE_ERR_NOT_FOUND) {
        goto done;
    }
    perftrace__ring_view_close(v);
    status = claim(real, claimed);
    if (status) {
        ret->problem = status == PERFTRACE_ERR_STATE ? "another recovery is at work" : ret->problem;
        goto done;
    }
    have_claim = true;
    status = perftrace__ring_view_open(v, claimed, &ret->problem);
    if (status) {
        goto done;
    }
    ret->pid = v->header.meta.pid;
    ret->rank = v->header.meta.rank;
    ret->problem = v->problem;
    find_trace(path, v->header.meta.trace_path, ret->trace_path, sizeof(ret->trace_path));
    ret->complete = v->commit.closed != 0;
    if (!ret->complete) {
        status = finish(v, ret);
    }
done:
    perftrace__ring_view_close(v);
    free(v);
    if (have_claim) {
        if (status == PERFTRACE_OK && !(flags & PERFTRACE__RECOVER_KEEP)) {
            char link[4096];
            unlink(claimed);
            if (perftrace__recover_link(ret->trace_path, link, sizeof(link))) {
                unlink(link);
            }
        } else {
            (void)rename(claimed, real);
        }
    }
    return status;
}
