/* mirror.c: scopes of which somebody is told as they begin and end. SPDX-License-Identifier: MIT
 *
 * While that is wanted the words of scopes have the number of no run: every begin comes by the slow
 * path, and so does the end of each scope that began so, also when nobody is told any more. Outside
 * of that time nothing is different for a scope. What was told lies in one bit for each place of
 * the thread's open-scope stack: as that becomes less deep, in whatever way, the ends are told, so
 * the calls of a thread always nest. A scope that is ended before those within it keeps its bit
 * until they are gone. */
#include "atomics.h"
#include "core_state.h"
#include "filter.h"

#define WORDS ((PERFTRACE_I_MAX_DEPTH + 63) / 64)

typedef struct told {
    uint64_t depths[WORDS];
    uint32_t count; /* bits that are set */
    bool busy;      /* the thread is in a call: scopes of whoever is told are not told */
} told_t;

static __thread told_t mine __attribute__((tls_model("initial-exec")));

/* The last table there was; release. What was told of goes on to be told when nothing new is. */
static const perftrace__mirror_t *last;

void perftrace__mirror_settle(uint32_t depth) {
    while (mine.count != 0 && !mine.busy) {
        uint32_t word = WORDS - 1;
        while (mine.depths[word] == 0) {
            word--;
        }
        const uint32_t bit = 63 - (uint32_t)__builtin_clzll(mine.depths[word]);
        if (word * 64 + bit < depth) {
            return;
        }
        mine.depths[word] &= ~((uint64_t)1 << bit);
        mine.count--;
        mine.busy = true;
        /* Pairs with the release in perftrace__core_open_mirror: a bit is set, so there was one. */
        pt_load_acquire(&last)->end();
        mine.busy = false;
    }
}

void perftrace__mirror_begin(const perftrace_i_site_t *site, uint32_t name, uint32_t depth) {
    if (mine.busy || depth >= PERFTRACE_I_MAX_DEPTH) {
        return;
    }
    perftrace__mirror_settle(depth);
    /* Pairs with the release in perftrace__core_open_mirror: the table is whole. */
    const perftrace__mirror_t *m = pt_load_acquire(&perftrace__core.scope_mirror);
    if (!m) {
        return; /* closed meanwhile */
    }
    const char *text = name ? perftrace__name_text(name) : site->name;
    mine.busy = true;
    m->begin(text ? text : "", perftrace__category_canonical(site->category));
    mine.busy = false;
    mine.depths[depth / 64] |= (uint64_t)1 << depth % 64;
    mine.count++;
}

void perftrace__mirror_forget(void) {
    mine = (told_t){{0}, 0, false};
    pt_store_relaxed(&perftrace__core.scope_mirror, NULL);
}

static void set(const perftrace__mirror_t *mirror) {
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    /* Publishes the table; pairs with the acquire in perftrace__mirror_begin. */
    pt_store_release(&c->scope_mirror, mirror);
    perftrace__sites_refresh();
    pthread_mutex_unlock(&c->lock);
}

void perftrace__core_open_mirror(const perftrace__mirror_t *mirror) {
    pt_store_release(&last, mirror); /* pairs with the acquire in perftrace__mirror_settle */
    set(mirror);
}

void perftrace__core_close_mirror(void) {
    set(NULL);
    perftrace__mirror_settle(0);
}
