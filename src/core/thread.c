/* thread.c: a thread and its slot. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core_state.h"
#include "os.h"
#include "utf8.h"

#include <pthread.h>
#include <string.h>

__thread perftrace_i_thread_t perftrace_i_thread
    __attribute__((tls_model("initial-exec"), visibility("default")));

typedef struct thread_state {
    perftrace_i_slot_t *slot; /* NULL: attaching failed in this generation */
    uint32_t generation;      /* of the core when slot was set; 0 never */
    bool keyed;               /* the exit hook is set */
    char name[64];            /* "" none given */
} thread_state_t;

static __thread thread_state_t me __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static bool exit_key_made;

/* The next event takes the slow way. */
static void forget(void) {
    perftrace_i_thread.run = 0;
    perftrace_i_thread.slot = NULL;
    me.slot = NULL;
    me.generation = 0;
}

/* Runs when a thread ends. Destructors of the program may still emit afterwards: that attaches the
 * thread anew and sets the hook anew, so nothing is lost (POSIX repeats the hooks a few times;
 * after that the slot stays taken until the process ends, and is drained all the same). */
static void thread_exit(void *unused) {
    (void)unused;
    perftrace__core_t *c = &perftrace__core;
    perftrace__slot_t *left = (perftrace__slot_t *)(void *)me.slot;
    if (left && (uint8_t)left->hot.word && me.generation == pt_load_relaxed(&c->generation) &&
        pt_load_acquire(&c->active)) {
        perftrace__emit_left_open(left); /* not under the lock: it may wait for room */
    }
    perftrace__mirror_settle(0);
    pthread_mutex_lock(&c->lock);
    perftrace_i_slot_t *slot = me.slot;
    bool mine = slot && me.generation == c->generation && c->active;
    forget();
    me.keyed = false;
    if (mine) {
        perftrace__slot_t *s = (perftrace__slot_t *)(void *)slot;
        /* Entries without a scope, those that found no room. */
        pt_store_release(&s->hot.word, s->hot.word & ~(uint64_t)0xFF);
        /* Hands the slot to the drain; pairs with the acquire in its snapshot. */
        pt_store_release(&s->state, PERFTRACE__SLOT_EXITED);
    }
    pthread_mutex_unlock(&c->lock);
}

static void make_key(void) {
    exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
}

void perftrace__threads_prepare(void) {
    pthread_once(&exit_once, make_key);
}

void perftrace__threads_forget(void) {
    forget();
    perftrace_i_thread.session = 0; /* the parent's; the child counts its own */
}

static void attach(perftrace__core_t *c) {
    char name[64];
    memcpy(name, me.name, sizeof(name));
    if (!name[0]) {
        perftrace__os_thread_name(name, sizeof(name));
    }
    uint32_t tid = perftrace__os_tid();
    perftrace__threads_prepare();
    pthread_mutex_lock(&c->lock);
    me.generation = c->generation;
    me.slot = NULL;
    if (c->active) {
        perftrace__slot_t *s =
            perftrace__ring_slot_take(&c->ring, tid, perftrace__clock_ticks(), name);
        me.slot = s ? &s->hot : NULL;
        if (s && c->ring.memory_slots == 1 && !c->ring.anonymous && c->warn && !c->warned_memory) {
            c->warned_memory = true;
            c->warn("there is no room for further threads in the ring file: what they record is "
                    "written, but does not survive a kill");
        }
    }
    if (me.slot) {
        perftrace_i_thread_t *t = &perftrace_i_thread;
        t->slot = me.slot;
        t->word = me.slot->word;
        t->limit = ((me.slot->word >> 8) + (me.slot->mask + 1) / 8) << 8 | 0xFF;
        t->mask = me.slot->mask;
        t->run =
            c->fast_clock && c->run < PERFTRACE_I_RUN_MAX ? c->run << PERFTRACE_I_RUN_SHIFT : 0;
    } else {
        perftrace_i_thread.run = 0;
    }
    pthread_mutex_unlock(&c->lock);
    perftrace__mirror_settle(0); /* of the run before */
    if (me.slot && !me.keyed && exit_key_made) {
        me.keyed = pthread_setspecific(exit_key, &me) == 0;
    }
}

/* The flag falls after the start: threads that come meanwhile wait inside the hook instead of
 * losing their events. */
static void resume_after_fork(perftrace__core_t *c) {
    void (*hook)(void) = NULL;
    pthread_mutex_lock(&c->lock);
    if (c->after_fork) {
        hook = c->first_event_after_fork;
    }
    pthread_mutex_unlock(&c->lock);
    if (hook) {
        hook();
    }
    pthread_mutex_lock(&c->lock);
    pt_store_relaxed(&c->after_fork, false);
    pthread_mutex_unlock(&c->lock);
}

perftrace_i_slot_t *perftrace__thread_slot(void) {
    perftrace__core_t *c = &perftrace__core;
    if (PT_UNLIKELY(pt_load_relaxed(&c->after_fork))) {
        resume_after_fork(c);
    }
    /* Pairs with the release in core_start: the ring is complete. */
    if (!pt_load_acquire(&c->active)) {
        return NULL;
    }
    if (me.generation != pt_load_relaxed(&c->generation)) {
        attach(c);
    }
    return me.slot;
}

perftrace__slot_t *perftrace__thread_last_slot(void) {
    return (perftrace__slot_t *)(void *)me.slot;
}

void perftrace__thread_count_lost(void) {
    perftrace__core_t *c = &perftrace__core;
    if (pt_load_acquire(&c->active)) {
        pt_add_relaxed(&pt_load_acquire(&c->header)->no_slot, 1);
    } else {
        pt_add_relaxed(&c->late, 1);
    }
}

void perftrace__core_thread_name(const char *name) {
    size_t n = perftrace__utf8_cut(name, strlen(name), sizeof(me.name) - 1);
    memset(me.name, 0, sizeof(me.name));
    memcpy(me.name, name, n);
    perftrace__core_t *c = &perftrace__core;
    pthread_mutex_lock(&c->lock);
    if (c->active && me.slot && me.generation == c->generation) {
        perftrace__slot_t *s = (perftrace__slot_t *)(void *)me.slot;
        uint32_t seq = s->name_seq;
        pt_store_relaxed(&s->name_seq, seq + 1);
        for (size_t i = 0; i < sizeof(s->name); i++) {
            /* Whoever sees a new byte sees the odd number before it; pairs with read_name. */
            pt_store_release(&s->name[i], me.name[i]);
        }
        /* Publishes the name; pairs with the acquire in the drain's read_name. */
        pt_store_release(&s->name_seq, seq + 2);
    }
    pthread_mutex_unlock(&c->lock);
}
