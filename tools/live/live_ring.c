/* live_ring.c. SPDX-License-Identifier: MIT */
#include "live_ring.h"

#include "grow.h"
#include "live_state.h"
#include "live_thread.h"
#include "os.h"
#include "ring_clock.h"
#include "ring_reader.h"
#include "status_text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the process --------------------------------------------------------------------------------
 */

/* ns since ts 0 of the look; of what is gone, or runs on another clock, of its last sign of life.
 */
static uint64_t now_of(const perftrace__ring_header_t *h, pt_live_state_t state, uint64_t mono) {
    char boot[PERFTRACE__BOOT_ID_MAX];
    perftrace__os_boot_id(boot);
    bool there = state != PT_LIVE_DEAD && state != PT_LIVE_ENDED;
    uint64_t at = there && strcmp(boot, h->meta.boot_id) == 0 ? mono : h->beat_ns;
    return at > h->meta.mono_ns ? at - h->meta.mono_ns : 0;
}

static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? strndup(path, (size_t)(slash - path)) : strdup("");
}

static bool describe(const perftrace__ring_view_t *v, const char *path, pt_live_process_t *p) {
    const perftrace__run_meta_t *m = &v->header.meta;
    p->ring = strdup(path);
    p->trace = strdup(m->trace_path);
    p->run = directory_of(m->trace_path);
    p->role = strdup(m->role);
    p->host = strdup(m->host);
    p->run_id = strdup(m->run_id);
    p->rank = m->rank;
    p->world_size = m->world_size;
    p->pid = m->pid;
    p->rate = NAN;
    p->problem = v->problem;
    return p->ring && p->trace && p->run && p->role && p->host && p->run_id;
}

/* What the header tells by now. */
static void count(const perftrace__ring_view_t *v, pt_live_process_t *p) {
    const perftrace__ring_header_t *h = &v->header;
    p->has_step = perftrace__ring_step_at(h, UINT64_MAX, &p->step) != 0;
    p->written = v->commit.written;
    for (size_t i = 0; i < PERFTRACE_DROP_COUNT; i++) {
        p->lost[i] = v->commit.dropped[i];
    }
    p->lost[PERFTRACE_DROP_no_slot] = h->no_slot;
    p->problem = v->problem;
}

/* ---- its threads --------------------------------------------------------------------------------
 */

typedef struct slots {
    pt_live_slot_t *slot; /* of those that have a thread */
    size_t count, cap;
    uint64_t lost[3]; /* of all */
} slots_t;

/* Control pages first: every site and name on a stack is in the log that is read afterwards. */
static int read_slots(const perftrace__ring_view_t *v, slots_t *ret) {
    *ret = (slots_t){0};
    for (uint32_t i = 0; i < v->slot_count; i++) {
        if (!PT_GROW(ret, slot, count, cap, 1)) {
            return PERFTRACE_ERR_NOMEM;
        }
        pt_live_slot_t *s = &ret->slot[ret->count];
        if (!pt_live_slot_read(v, i, s)) {
            return PERFTRACE_ERR_IO;
        }
        for (int k = 0; k < 3; k++) {
            ret->lost[k] += s->lost[k];
        }
        ret->count += s->live;
    }
    return PERFTRACE_OK;
}

static bool add_thread(const perftrace__ring_view_t *v, const pt_live_look_t *look,
                       const struct stat *st, pt_live_slot_t *slot, uint64_t mono,
                       pt_live_process_t *p) {
    pt_live_seen_key_t key;
    memset(&key, 0, sizeof key); /* hashed with its padding, if it has any */
    key.device = (uint64_t)st->st_dev;
    key.inode = (uint64_t)st->st_ino;
    key.slot = slot->index;
    key.generation = slot->generation;
    const pt_live_seen_t *seen = pt_live_history_get(look->before, &key);
    pt_live_seen_t now;
    pt_live_slot_events(v, seen, slot);
    bool ok = pt_live_thread_make(v, look->rules, slot, seen, p->ran_ns, mono,
                                  &p->thread[p->threads], &now);
    double rate = p->thread[p->threads].rate;
    if (isfinite(rate)) {
        p->rate = isfinite(p->rate) ? p->rate + rate : rate;
    }
    p->threads++;
    return ok && pt_live_history_put(look->now, &key, &now);
}

static int fill(perftrace__ring_view_t *v, const pt_live_look_t *look, const slots_t *slots,
                uint64_t mono, pt_live_process_t *p) {
    struct stat st;
    if (fstat(v->fd, &st) != 0) {
        return PERFTRACE_ERR_IO;
    }
    count(v, p);
    p->ran_ns = now_of(&v->header, p->state, mono);
    p->thread = calloc(slots->count + 1, sizeof *p->thread);
    if (p->thread == NULL) {
        return PERFTRACE_ERR_NOMEM;
    }
    /* Counted there first; the header tells what the trace file tells. */
    p->lost[PERFTRACE_DROP_ring_full] = slots->lost[0];
    p->lost[PERFTRACE_DROP_block_timeout] = slots->lost[1];
    p->lost[PERFTRACE_DROP_too_long] = slots->lost[2];
    bool ok = true;
    for (size_t i = 0; i < slots->count && ok; i++) {
        ok = add_thread(v, look, &st, &slots->slot[i], mono, p);
    }
    return ok ? PERFTRACE_OK : PERFTRACE_ERR_NOMEM;
}

static int look_at(perftrace__ring_view_t *v, const char *path, const pt_live_look_t *look,
                   pt_live_model_t *model, const char **ret_problem) {
    pt_live_process_t *p = pt_live_model_add(model);
    if (p == NULL) {
        return PERFTRACE_ERR_NOMEM;
    }
    slots_t slots;
    int status = read_slots(v, &slots);
    uint64_t mono = perftrace__os_mono_ns();
    if (status == PERFTRACE_OK) {
        status = perftrace__ring_view_update(v, ret_problem);
    }
    if (status == PERFTRACE_OK) {
        /* After the stacks: one that died since had these at its end. */
        p->state = pt_live_state_of(v);
        status = describe(v, path, p) ? fill(v, look, &slots, mono, p) : PERFTRACE_ERR_NOMEM;
    }
    free(slots.slot);
    if (status != PERFTRACE_OK) {
        pt_live_model_drop(model);
    }
    return status;
}

int pt_live_ring_look(const char *path, const pt_live_look_t *look, pt_live_model_t *model) {
    const char *problem = NULL;
    perftrace__ring_view_t *v = malloc(sizeof *v);
    if (v == NULL) {
        model->failed = true;
        return PERFTRACE_ERR_NOMEM;
    }
    int status = perftrace__ring_view_open(v, path, &problem);
    if (status == PERFTRACE_OK) {
        status = look_at(v, path, look, model, &problem);
        perftrace__ring_view_close(v);
    }
    free(v);
    if (status == PERFTRACE_ERR_NOMEM) {
        model->failed = true;
    } else if (status != PERFTRACE_OK && status != PERFTRACE_ERR_NOT_FOUND) {
        pt_live_model_problem(model, path,
                              problem != NULL ? problem : perftrace__status_text(status));
    }
    return status;
}
