/* timer.c: times added up by name. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "core.h"
#include "hashmap.h"
#include "json_writer.h"
#include "os.h"
#include "ring_clock.h"
#include "timer_math.h"
#include "timer_state.h"
#include "timer_tally.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct full {
    perftrace_timer_t head; /* what callers hold */
    char *name;
    uint64_t interval; /* counts resets; written under the lock, read relaxed */
    uint64_t lost;     /* relaxed */
    uint64_t lost_read;
    perftrace__tally_t gone; /* of threads that have ended; under the lock */
    perftrace__tally_t read; /* what the last reset has seen of count, sum and buckets */
} full_t;

/* A thread's tallies by the timers' index. */
typedef struct table {
    struct table *next, **prev;
    perftrace__thread_tally_t **tally; /* owner stores under the lock, where readers look */
    uint32_t cap;
} table_t;

static struct {
    pthread_mutex_t lock;
    full_t **timer;
    uint32_t count, cap;
    table_t *tables;
    pthread_key_t key;
    bool ready;
    bool counter;        /* times are taken with the processor's counter */
    uint64_t first_tick; /* a pair of readings, for the rate */
    uint64_t first_mono;
    perftrace__tick_rate_t rate; /* as measured at first; for buckets */
} timers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* tallies and cap are of the table: one load less. One variable, since each has to be found. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
    table_t *table;
    perftrace__thread_tally_t **tallies;
    uint32_t cap;
} my;

/* ---- the clock ---- */

uint64_t perftrace_i_timer_clock(void) {
    return perftrace__os_mono_ns();
}

static uint64_t to_ticks(uint64_t ns) {
    __extension__ unsigned __int128 wide = ((unsigned __int128)ns << 32) / timers.rate.mult;
    return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

/* The best rate so far: the longer the baseline, the better. */
static uint64_t rate_now(void) {
    uint64_t tick, mono;
    if (!timers.counter) {
        return timers.rate.mult;
    }
    perftrace__clock_read_pair(&tick, &mono);
    return perftrace__clock_mult(tick - timers.first_tick, mono - timers.first_mono,
                                 timers.rate.mult);
}

static void measure_clock(void) {
    const struct timespec nap = {0, 2000000};
    timers.counter = perftrace__clock_counter_usable();
    timers.rate.mult = (uint64_t)1 << 32;
    if (timers.counter) {
        perftrace__clock_read_pair(&timers.first_tick, &timers.first_mono);
        nanosleep(&nap, NULL);
        timers.rate.mult = rate_now();
    }
    timers.rate.ns_each = (double)timers.rate.mult / 4294967296.0;
}

/* ---- tallies ---- */

static void thread_ends(void *arg) {
    table_t *mine = arg;
    perftrace__tally_t last;
    pthread_mutex_lock(&timers.lock);
    for (uint32_t i = 0; i < mine->cap; i++) {
        if (mine->tally[i] != NULL) {
            perftrace__tally_copy(mine->tally[i], &timers.rate, &last);
            perftrace__tally_merge(&timers.timer[i]->gone, &last);
            free(mine->tally[i]);
        }
    }
    *mine->prev = mine->next;
    if (mine->next != NULL) {
        mine->next->prev = mine->prev;
    }
    pthread_mutex_unlock(&timers.lock);
    free(mine->tally);
    free(mine);
    my.table = NULL; /* what the thread times from now on gets a new one */
    my.tallies = NULL;
    my.cap = 0;
}

/* Lock held. */
static table_t *new_table(void) {
    table_t *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->next = timers.tables;
        t->prev = &timers.tables;
        if (t->next != NULL) {
            t->next->prev = &t->next;
        }
        timers.tables = t;
        my.table = t;
        pthread_setspecific(timers.key, t);
    }
    return t;
}

/* The calling thread's first time with a timer. NULL without memory. */
static PT_COLD perftrace__thread_tally_t *new_tally(const full_t *timer) {
    perftrace__thread_tally_t *tally = NULL;
    pthread_mutex_lock(&timers.lock);
    table_t *mine = my.table != NULL ? my.table : new_table();
    if (mine != NULL && mine->cap <= timer->head.index) {
        perftrace__thread_tally_t **more = realloc(mine->tally, timers.cap * sizeof(void *));
        if (more != NULL) {
            memset(more + mine->cap, 0, (timers.cap - mine->cap) * sizeof(void *));
            mine->tally = my.tallies = more;
            mine->cap = my.cap = timers.cap;
        }
    }
    if (mine != NULL && mine->cap > timer->head.index) {
        tally = malloc(sizeof *tally);
        if (tally != NULL) {
            perftrace__tally_clear(tally, pt_load_relaxed(&timer->interval));
        }
        mine->tally[timer->head.index] = tally;
    }
    pthread_mutex_unlock(&timers.lock);
    return tally;
}

static PT_NOINLINE void sort(perftrace__thread_tally_t *t, uint64_t interval) {
    perftrace__tally_sort(t, interval, &timers.rate);
}

/* A thread's first time with a timer, or the first one after a reset. */
static PT_COLD void add_first(full_t *timer, perftrace__thread_tally_t *t, uint64_t ticks) {
    if (t == NULL) {
        t = new_tally(timer);
    }
    if (t == NULL) {
        pt_add_relaxed(&timer->lost, 1);
        return;
    }
    uint64_t interval = pt_load_relaxed(&timer->interval);
    sort(t, interval);
    if (perftrace__tally_note(t, ticks)) {
        sort(t, interval);
    }
}

void perftrace_i_timer_add(perftrace_timer_t *handle, uint64_t ticks) {
    full_t *timer = (full_t *)handle;
    perftrace__thread_tally_t *t =
        PT_LIKELY(handle->index < my.cap) ? my.tallies[handle->index] : NULL;
    uint64_t interval = pt_load_relaxed(&timer->interval);
    if (PT_UNLIKELY(t == NULL || t->sorted.interval != interval)) {
        add_first(timer, t, ticks);
    } else if (perftrace__tally_note(t, ticks)) {
        sort(t, interval);
    }
}

/* ---- fork ---- */

static void fork_prepare(void) {
    pthread_mutex_lock(&timers.lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&timers.lock);
}

/* The tables of the parent's other threads are left: their memory may not be freed here, since the
 * allocator's lock may be held by a thread that is not. */
static void fork_child(void) {
    table_t *mine = my.table;
    pthread_mutex_init(&timers.lock, NULL);
    timers.tables = mine;
    if (mine != NULL) {
        mine->next = NULL;
        mine->prev = &timers.tables;
    }
    for (uint32_t i = 0; i < timers.count; i++) {
        full_t *timer = timers.timer[i];
        memset(&timer->gone, 0, sizeof timer->gone);
        memset(&timer->read, 0, sizeof timer->read);
        timer->gone.min = UINT64_MAX;
        timer->interval = 0;
        timer->lost = timer->lost_read = 0;
        if (mine != NULL && i < mine->cap && mine->tally[i] != NULL) {
            perftrace__tally_clear(mine->tally[i], 0);
        }
    }
}

/* ---- timers ---- */

/* Lock held. NULL: there is none. */
static full_t *find(const char *name) {
    for (uint32_t i = 0; i < timers.count; i++) {
        if (strcmp(timers.timer[i]->name, name) == 0) {
            return timers.timer[i];
        }
    }
    return NULL;
}

static full_t *make(const char *name) {
    if (timers.count == timers.cap) {
        uint32_t cap = timers.cap > 0 ? timers.cap * 2 : 16;
        full_t **more = realloc(timers.timer, cap * sizeof(void *));
        if (more == NULL) {
            return NULL;
        }
        timers.timer = more;
        timers.cap = cap;
    }
    full_t *timer = calloc(1, sizeof *timer);
    char *copy = strdup(name);
    if (timer == NULL || copy == NULL) {
        free(timer);
        free(copy);
        return NULL;
    }
    timer->name = copy;
    timer->head.index = timers.count;
    timer->head.counter = timers.counter;
    timer->gone.min = UINT64_MAX;
    timers.timer[timers.count++] = timer;
    return timer;
}

perftrace_timer_t *perftrace_timer_get(const char *name) {
    if (name == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&timers.lock);
    if (!timers.ready && pthread_key_create(&timers.key, thread_ends) == 0) {
        timers.ready = true;
        pthread_atfork(fork_prepare, fork_parent, fork_child);
        measure_clock();
    }
    full_t *timer = timers.ready ? find(name) : NULL;
    if (timer == NULL && timers.ready) {
        timer = make(name);
    }
    pthread_mutex_unlock(&timers.lock);
    return timer != NULL ? &timer->head : NULL;
}

void perftrace_timer_begin(perftrace_timed_t *timed, perftrace_timer_t *timer,
                           perftrace_i_site_t *site) {
    if (timed != NULL) {
        perftrace_i_timed_begin(timed, timer, site);
    }
}

void perftrace_timer_end(perftrace_timed_t *timed) {
    if (timed != NULL) {
        perftrace_i_timed_end(timed);
    }
}

void perftrace_timer_add(perftrace_timer_t *timer, uint64_t ns) {
    if (timer != NULL) {
        perftrace_i_timer_add(timer, to_ticks(ns));
    }
}

/* ---- reading ---- */

/* Lock held. */
static void read_timer(full_t *timer, bool reset, uint64_t rate, perftrace_timer_stats_t *ret) {
    perftrace__tally_t all = timer->gone, one;
    uint64_t lost = pt_load_relaxed(&timer->lost);
    for (const table_t *t = timers.tables; t != NULL; t = t->next) {
        if (timer->head.index < t->cap && t->tally[timer->head.index] != NULL) {
            perftrace__tally_copy(t->tally[timer->head.index], &timers.rate, &one);
            perftrace__tally_merge(&all, &one);
        }
    }
    memset(ret, 0, sizeof *ret);
    ret->name = timer->name;
    ret->count = all.count - timer->read.count;
    ret->sum_ns = perftrace__ticks_to_ns(all.sum - timer->read.sum, rate);
    ret->lost = lost - timer->lost_read;
    unsigned low = PERFTRACE_TIMER_BUCKETS, high = 0;
    for (unsigned i = 0; i < PERFTRACE_TIMER_BUCKETS; i++) {
        ret->buckets[i] = all.buckets[i] - timer->read.buckets[i];
        if (ret->buckets[i] > 0) {
            low = PT_MIN(low, i);
            high = i;
        }
    }
    if (ret->count > 0) {
        /* A time that ended while the last reset was made may have left its mark in the interval
         * before: then its bucket has to do. */
        ret->min_ns = all.min == UINT64_MAX ? perftrace_timer_bucket_ns(low)
                                            : perftrace__ticks_to_ns(all.min, rate);
        ret->max_ns = all.min == UINT64_MAX ? perftrace_timer_bucket_ns(high)
                                            : perftrace__ticks_to_ns(all.max, rate);
    }
    if (reset) {
        timer->read = all;
        timer->lost_read = lost;
        pt_store_relaxed(&timer->interval, timer->interval + 1);
        timer->gone.min = UINT64_MAX;
        timer->gone.max = 0;
        timer->gone.interval = timer->interval;
    }
}

int perftrace_timer_read(const char *name, int reset, perftrace_timer_stats_t *ret_stats) {
    if (name == NULL || ret_stats == NULL || ret_stats->struct_size < sizeof(size_t)) {
        return PERFTRACE_ERR_INVALID;
    }
    perftrace_timer_stats_t s;
    size_t size = ret_stats->struct_size;
    pthread_mutex_lock(&timers.lock);
    full_t *timer = find(name);
    if (timer != NULL) {
        read_timer(timer, reset != 0, rate_now(), &s);
    }
    pthread_mutex_unlock(&timers.lock);
    if (timer == NULL) {
        return PERFTRACE_ERR_NOT_FOUND;
    }
    s.struct_size = size;
    memcpy(ret_stats, &s, PT_MIN(size, sizeof s));
    return PERFTRACE_OK;
}

void perftrace_timers_read(int reset, void (*fn)(void *ctx, const perftrace_timer_stats_t *s),
                           void *ctx) {
    pthread_mutex_lock(&timers.lock);
    uint64_t rate = timers.count > 0 ? rate_now() : 0;
    for (uint32_t i = 0; i < timers.count; i++) {
        perftrace_timer_stats_t s;
        read_timer(timers.timer[i], reset != 0, rate, &s);
        s.struct_size = sizeof s;
        if (fn != NULL && (s.count > 0 || s.lost > 0)) {
            fn(ctx, &s);
        }
    }
    pthread_mutex_unlock(&timers.lock);
}

typedef struct text {
    perftrace__strbuf_t *out;
    bool any;
} text_t;

static void put_one(void *ctx, const perftrace_timer_stats_t *s) {
    text_t *text = ctx;
    perftrace__strbuf_puts(text->out, text->any ? ",\n" : "\n");
    perftrace__timer_put(text->out, s);
    text->any = true;
}

bool perftrace__timers_put(perftrace__strbuf_t *out, int64_t rank, const char *run_id) {
    text_t text = {out, false};
    perftrace__strbuf_puts(out, "{\"version\": 1, \"rank\": ");
    if (rank >= 0) {
        perftrace__strbuf_printf(out, "%lld", (long long)rank);
    } else {
        perftrace__strbuf_puts(out, "null");
    }
    perftrace__strbuf_puts(out, ", \"run_id\": ");
    perftrace__strbuf_json_cstr(out, run_id);
    perftrace__strbuf_puts(out, ", \"timers\": [");
    perftrace_timers_read(0, put_one, &text);
    perftrace__strbuf_puts(out, "\n]}\n");
    return text.any;
}
