/* merge.c. SPDX-License-Identifier: MIT
 *
 * A heap of lanes, with the shortcut that pays here: threads emit in bursts, so the lane that is
 * earliest usually stays the earliest for many records. It is read without touching the heap until
 * its time passes the second earliest's. */
#include "merge.h"

static bool earlier(const perftrace__merge_t *m, uint32_t a, uint32_t b) {
    uint64_t ta = m->lanes[a].next_time;
    uint64_t tb = m->lanes[b].next_time;
    return ta < tb || (ta == tb && a < b);
}

static void sift_down(perftrace__merge_t *m, uint32_t i) {
    for (;;) {
        uint32_t best = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < m->heap_len; child++) {
            if (earlier(m, m->heap[child], m->heap[best])) {
                best = child;
            }
        }
        if (best == i) {
            return;
        }
        uint32_t t = m->heap[i];
        m->heap[i] = m->heap[best];
        m->heap[best] = t;
        i = best;
    }
}

/* Reads the next record's time; false at the lane's end or at damage. */
static bool look(perftrace__lane_t *lane) {
    if (lane->p >= lane->end) {
        return false;
    }
    if (perftrace__record_peek(lane->p, (uint64_t)(lane->end - lane->p), &lane->next_time) == 0) {
        lane->damaged = true;
        lane->p = lane->end;
        return false;
    }
    return true;
}

static void find_run(perftrace__merge_t *m) {
    m->run_until = UINT64_MAX;
    for (uint32_t child = 1; child <= 2 && child < m->heap_len; child++) {
        uint64_t t = m->lanes[m->heap[child]].next_time;
        m->run_until = t < m->run_until ? t : m->run_until;
    }
    m->current = m->heap[0];
}

void perftrace__merge_begin(perftrace__merge_t *m, perftrace__lane_t *lanes, uint32_t nlanes,
                            uint32_t *heap) {
    m->lanes = lanes;
    m->nlanes = nlanes;
    m->heap = heap;
    m->heap_len = 0;
    for (uint32_t i = 0; i < nlanes; i++) {
        if (look(&lanes[i])) {
            m->heap[m->heap_len++] = i;
        }
    }
    for (uint32_t i = m->heap_len / 2; i-- > 0;) {
        sift_down(m, i);
    }
    if (m->heap_len) {
        find_run(m);
    }
}

void perftrace__merge_advance_slow(perftrace__merge_t *m, perftrace__lane_t *lane, uint32_t words) {
    if (words == 0) {
        lane->damaged = true;
        lane->p = lane->end;
    } else {
        lane->p += words;
    }
    if (look(lane)) {
        if (lane->next_time < m->run_until) {
            return;
        }
    } else {
        m->heap[0] = m->heap[--m->heap_len];
        if (m->heap_len == 0) {
            return;
        }
    }
    sift_down(m, 0);
    find_run(m);
}
