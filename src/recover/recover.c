/* recover.c: one ring. SPDX-License-Identifier: MIT */
#include "recover.h"

#include "jsonl_sink.h"
#include "merge.h"
#include "recover_claim.h"
#include "recover_sessions.h"
#include "recover_trace.h"
#include "ring_clock.h"
#include "status_text.h"
#include "take.h"
#include "test_point.h"

#include <perftrace/perftrace.h>

#include <errno.h>
#include <fcntl.h>
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
    int len = snprintf(out, size, "%.*s.ring", (int)n, trace_path);
    return len > 0 && (size_t)len < size;
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
    uint64_t gone;      /* events that were in the file and are not any more */
    uint64_t no_memory; /* events without a line */
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

static perftrace__taker_t taker(work_t *w) {
    return (perftrace__taker_t){.header = &w->view->header,
                                .sites = &w->view->sites,
                                .sinks = &w->sink,
                                .nsinks = 1,
                                .kept = &w->r->events,
                                .no_memory = &w->no_memory,
                                .left = &w->account.unfinished};
}

static int write_events(work_t *w) {
    const perftrace__taker_t t = taker(w);
    perftrace__merge_t m;
    perftrace__merge_begin(&m, w->lanes, w->n, w->heap);
    for (perftrace__lane_t *lane; (lane = perftrace__merge_next(&m)) != NULL;) {
        perftrace__take_record(&t, &m, lane);
        if (w->sink->ops->full(w->sink)) {
            int status = w->sink->ops->flush(w->sink, PERFTRACE__FLUSH_WRITE);
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
    write_drop(w, PERFTRACE_DROP_no_memory, "no_memory", w->no_memory, 0, 0, 0);
    write_drop(w, PERFTRACE_DROP_file_gone, "file_gone", w->gone, 0, 0, 0);
}

static void write_open_scopes(work_t *w) {
    const perftrace__taker_t t = taker(w);
    for (uint32_t i = 0; i < w->n; i++) {
        const perftrace__slot_view_t *v = &w->slots[i];
        if (v->slot.state == PERFTRACE__SLOT_FREE) {
            continue;
        }
        for (uint32_t k = 0; k < v->depth; k++) {
            w->account.unfinished += perftrace__take_open(&t, &v->slot.open[k], v->slot.tid, i);
        }
    }
    w->r->unfinished = w->account.unfinished;
}

static int write_rest(work_t *w) {
    int status = read_slots(w);
    w->account.unfinished = w->view->commit.left;
    if (status == PERFTRACE_OK) {
        status = write_events(w);
    }
    if (status == PERFTRACE_OK) {
        write_losses(w);
        write_open_scopes(w);
        w->account.written = w->view->commit.written - w->gone + w->r->events;
        w->account.recovered = true;
        w->sink->ops->footer(w->sink, &w->account);
        status = w->sink->ops->flush(w->sink, PERFTRACE__FLUSH_DISK);
    }
    for (uint32_t i = 0; w->slots && i < w->n; i++) {
        perftrace__slot_view_free(&w->slots[i]);
    }
    free(w->slots);
    free(w->lanes);
    free(w->heap);
    return status;
}

/* A dry run takes the same way into a file that swallows everything. */
static int open_nothing(const perftrace__ring_view_t *v, const char *path,
                        perftrace__recover_trace_t *t) {
    memset(t, 0, sizeof(*t));
    t->offset = v->commit.file_offset & ~PERFTRACE__RING_OFFSET_COUNT;
    if (access(path, F_OK) != 0) {
        t->gone = v->commit.written;
        t->problem = "the trace file is gone; only what the ring holds can be written";
    }
    t->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return t->fd < 0 ? perftrace__status_from_errno(errno) : PERFTRACE_OK;
}

static int finish_sessions(const perftrace__ring_view_t *v, const char *claimed,
                           perftrace__recovered_t *r) {
    perftrace__recover_sessions_t *sessions = malloc(sizeof(*sessions));
    if (!sessions) {
        return PERFTRACE_ERR_NOMEM;
    }
    int status = perftrace__recover_sessions(v, claimed, r->trace_path, sessions);
    r->sessions = sessions->added;
    memcpy(r->session_path, sessions->path, sizeof(r->session_path));
    r->problem = sessions->problem ? sessions->problem : r->problem;
    free(sessions);
    return status;
}

/* claimed NULL: a dry run. */
static int finish(const perftrace__ring_view_t *v, const char *claimed, perftrace__recovered_t *r) {
    perftrace__recover_trace_t t;
    int status = claimed ? perftrace__recover_trace_open(v, claimed, r->trace_path,
                                                         sizeof(r->trace_path), &t)
                         : open_nothing(v, r->trace_path, &t);
    r->problem = t.problem ? t.problem : r->problem;
    if (status) {
        return status;
    }
    work_t w = {.view = v, .r = r, .gone = t.gone};
    w.sink = perftrace__jsonl_sink_open(t.fd, t.offset, &v->header.meta);
    if (!w.sink) {
        close(t.fd);
        return PERFTRACE_ERR_NOMEM;
    }
    status = write_rest(&w);
    int err = perftrace__jsonl_sink_errno(w.sink);
    if (status && err) {
        r->problem = strerror(err);
    }
    perftrace__sink_close(w.sink);
    r->written = w.account.written;
    memcpy(r->drops, w.account.dropped, sizeof(r->drops));
    return status || !claimed ? status : finish_sessions(v, claimed, r);
}

/* ---- one ring -----------------------------------------------------------------------------------
 */

/* The ring's real path: the target of a link (which may be gone: then still its text). */
static bool real_path(const char *path, char out[PATH_MAX]) {
    ssize_t n = readlink(path, out, PATH_MAX - 1);
    if (n <= 0) {
        int len = snprintf(out, PATH_MAX, "%s", path);
        if (len < 0 || len >= PATH_MAX) {
            return false;
        }
        n = len;
    }
    out[n] = '\0';
    perftrace__recover_claim_strip(out);
    return true;
}

static void describe(const perftrace__ring_view_t *v, const char *path,
                     perftrace__recovered_t *ret) {
    const perftrace__run_meta_t *m = &v->header.meta;
    ret->pid = m->pid;
    ret->rank = m->rank;
    memcpy(ret->host, m->host, sizeof(ret->host));
    ret->problem = v->problem;
    ret->written = v->commit.written;
    memcpy(ret->drops, v->commit.dropped, sizeof(ret->drops));
    perftrace__recover_trace_find(path, m->trace_path, ret->trace_path, sizeof(ret->trace_path));
}

/* Whether the ring may be taken; fills ret. */
static int admit(const perftrace__ring_view_t *v, unsigned flags, perftrace__recovered_t *ret) {
    if (geteuid() != 0 && v->uid != geteuid()) {
        ret->problem = "the ring belongs to another user";
        return PERFTRACE_ERR_DENIED;
    }
    perftrace__ring_owner_t owner = perftrace__ring_owner(&v->header);
    if (owner == PERFTRACE__RING_OWNER_ALIVE) {
        ret->running = true;
        ret->problem = "the process is still running";
        for (uint32_t i = 0; i < v->slot_count; i++) {
            perftrace__slot_view_t s;
            if (perftrace__ring_view_slot(v, i, &s) == PERFTRACE_OK) {
                ret->unfinished += s.slot.state == PERFTRACE__SLOT_LIVE ? s.depth : 0;
                perftrace__slot_view_free(&s);
            }
        }
        return PERFTRACE_ERR_STATE;
    }
    if (owner == PERFTRACE__RING_OWNER_HIDDEN && !(flags & PERFTRACE__RECOVER_FORCE)) {
        ret->problem = "the process ran on another machine or in another container; from here it "
                       "cannot be seen whether it is dead";
        return PERFTRACE_ERR_STATE;
    }
    return PERFTRACE_OK;
}

/* Ring and links go last and in this order: a link without a ring, beside a trace with a footer, is
 * known to mean nothing. */
static void remove_ring(const char *claimed, const char *real, const char *path,
                        const char *trace_path) {
    char link[PATH_MAX];
    char target[PATH_MAX];
    unlink(claimed);
    PT_TEST_POINT(recover_removed);
    const char *links[2] = {path,
                            perftrace__recover_link(trace_path, link, sizeof(link)) ? link : path};
    for (unsigned i = 0; i < 2; i++) {
        ssize_t n = readlink(links[i], target, sizeof(target) - 1);
        if (n > 0) {
            target[n] = '\0';
            if (strcmp(target, real) == 0) {
                unlink(links[i]);
            }
        }
    }
}

/* Killed before it had read its clock: no event needs the times, but readers align files by them.
 */
static void begin_of_ring(perftrace__ring_view_t *v) {
    struct stat st;
    if (fstat(v->fd, &st) == 0) {
        v->header.meta.epoch_ns =
            (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
}

/* Opens the ring where it lies, or where a recovery that died has left it. */
static int look(perftrace__ring_view_t *v, const char *real, perftrace__recovered_t *ret) {
    char left[PERFTRACE__CLAIM_MAX];
    int status = perftrace__ring_view_open(v, real, &ret->problem);
    if (status == PERFTRACE_ERR_NOT_FOUND && perftrace__recover_claim_find(real, left)) {
        status = perftrace__ring_view_open(v, left, &ret->problem);
    }
    return status;
}

int perftrace__recover_ring(const char *path, unsigned flags, perftrace__recovered_t *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->rank = -1;
    char claimed[PERFTRACE__CLAIM_MAX];
    char *real = ret->ring_path;
    if (!real_path(path, real)) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    perftrace__ring_view_t *v = calloc(1, sizeof(*v));
    if (!v) {
        return PERFTRACE_ERR_NOMEM;
    }
    bool dry = flags & PERFTRACE__RECOVER_DRY;
    bool have_claim = false;
    /* Looked at before it is claimed: the ring of a living process keeps its name. */
    int status = look(v, real, ret);
    if (status) {
        goto done;
    }
    describe(v, path, ret);
    status = admit(v, flags, ret);
    if (status) {
        goto done;
    }
    if (!dry) {
        perftrace__ring_view_close(v);
        status = perftrace__recover_claim(real, claimed);
        if (status) {
            ret->problem = status == PERFTRACE_ERR_STATE ? "another recovery is at work" : NULL;
            goto done;
        }
        have_claim = true;
        PT_TEST_POINT(recover_claimed);
        status = perftrace__ring_view_open(v, claimed, &ret->problem);
        if (status) {
            goto done;
        }
        describe(v, path, ret);
    }
    ret->complete = v->commit.closed != 0;
    if (v->header.anchor_count == 0) {
        begin_of_ring(v);
    }
    if (!ret->complete) {
        status = finish(v, dry ? NULL : claimed, ret);
        PT_TEST_POINT(recover_written);
    }
    for (unsigned i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        ret->dropped += ret->drops[i];
    }
done:
    perftrace__ring_view_close(v);
    free(v);
    if (have_claim) {
        if (status == PERFTRACE_OK && !(flags & PERFTRACE__RECOVER_KEEP)) {
            remove_ring(claimed, real, path, ret->trace_path);
        } else {
            (void)rename(claimed, real);
        }
    }
    return status;
}
