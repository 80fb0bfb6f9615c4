/* perftrace/timer.h: times added up by name, whether anything is traced or not.
 * SPDX-License-Identifier: MIT
 *
 *     {
 *         PERFTRACE_TIMER("generate", "compute");
 *         generate();
 *     }
 *     perftrace_timer_stats_t s = PERFTRACE_TIMER_STATS_INIT;
 *     perftrace_timer_read("generate", 1, &s);    // and start again at 0
 *
 * A timer costs two clock reads and a few additions in memory of its thread; while tracing is on it
 * is a scope, too, with the same two readings. When a traced run ends, the timers go to
 * timers-r<rank>.json beside the trace (docs/formats/TIMERS.md).
 *
 * Threads: all functions from any thread, none from a signal handler. After a fork the child's
 * timers are at 0. */
#ifndef PERFTRACE_TIMER_H
#define PERFTRACE_TIMER_H

#include <perftrace/macros.h>
#include <perftrace/status.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Four to a doubling; bucket i holds times from perftrace_timer_bucket_ns(i) to below the next. The
 * same everywhere, so that timers of many ranks can be added up. */
#define PERFTRACE_TIMER_BUCKETS 252

/* Made by perftrace_timer_get only; the fields are for the inline functions below. */
typedef struct perftrace_timer {
    uint32_t counter; /* not 0: times are taken with the processor's counter */
    uint32_t index;
} perftrace_timer_t;

/* A time that is being taken; for the thread that began it. */
typedef struct perftrace_timed {
    perftrace_i_scope_t scope;
    perftrace_timer_t *timer; /* NULL: ended */
    uint64_t start;           /* ticks */
} perftrace_timed_t;

typedef struct perftrace_timer_stats {
    size_t struct_size; /* sizeof(perftrace_timer_stats_t), set by the caller */
    const char *name;   /* lives as long as the process */
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns; /* 0 while count is 0 */
    uint64_t max_ns;
    uint64_t lost; /* times that found no memory */
    uint64_t buckets[PERFTRACE_TIMER_BUCKETS];
} perftrace_timer_stats_t;

#define PERFTRACE_TIMER_STATS_INIT                                                                 \
    {                                                                                              \
        sizeof(perftrace_timer_stats_t), 0, 0, 0, 0, 0, 0, {                                       \
            0                                                                                      \
        }                                                                                          \
    }

/* The timer of a name, made on first sight; the name is copied. It lives until the process ends.
 * NULL for NULL and without memory. Lock; the first call of a process takes 2 ms to measure the
 * clock. */
PERFTRACE_API perftrace_timer_t *perftrace_timer_get(const char *name);

/* Begins and ends a time. timer NULL: nothing is taken. site: a scope's call site, so that the time
 * is a scope as well; NULL: none. Wait-free but for a thread's first time with a timer, which
 * allocates. timed NULL: nothing. An end without a begin, or a second one, does nothing. */
PERFTRACE_API void perftrace_timer_begin(perftrace_timed_t *timed, perftrace_timer_t *timer,
                                         perftrace_i_site_t *site);
PERFTRACE_API void perftrace_timer_end(perftrace_timed_t *timed);

/* Adds a time that was taken otherwise. NULL: nothing. */
PERFTRACE_API void perftrace_timer_add(perftrace_timer_t *timer, uint64_t ns);

/* Reads a timer over all threads, living and gone. reset not 0: it stands at 0 afterwards; each
 * time is in exactly one reading (a time that ends meanwhile may count in one and have its min or
 * max in the other). 0; ERR_NOT_FOUND when there is no such timer; ERR_INVALID for NULL or without
 * struct_size. Lock; no thread that takes times waits. */
PERFTRACE_API int perftrace_timer_read(const char *name, int reset,
                                       perftrace_timer_stats_t *ret_stats);
/* The same for all timers, in the order they were made: fn for each that has a count or losses. fn
 * must not call the timers; NULL: they are reset only. */
PERFTRACE_API void perftrace_timers_read(int reset,
                                         void (*fn)(void *ctx, const perftrace_timer_stats_t *s),
                                         void *ctx);

/* Adds what `from` counted to *into, as if one timer had taken both. NULL: nothing. Pure. */
PERFTRACE_API void perftrace_timer_merge(perftrace_timer_stats_t *into,
                                         const perftrace_timer_stats_t *from);
/* The time below which a share (0 to 1) of the times lies, from the buckets: within 13 % of it, and
 * never outside min_ns and max_ns. 0 when there are none, and for NULL. Pure. */
PERFTRACE_API uint64_t perftrace_timer_quantile_ns(const perftrace_timer_stats_t *stats,
                                                   double share);
/* The least time of a bucket, ns. Pure. */
PERFTRACE_API uint64_t perftrace_timer_bucket_ns(unsigned bucket);

/* The clock of a timer that is not the counter, and what an end comes to; for the functions below.
 */
PERFTRACE_API uint64_t perftrace_i_timer_clock(void) PERFTRACE_I_NOTHROW;
PERFTRACE_API void perftrace_i_timer_add(perftrace_timer_t *timer,
                                         uint64_t ticks) PERFTRACE_I_NOTHROW;

PERFTRACE_I_INLINE uint64_t perftrace_i_timer_now(const perftrace_timer_t *timer) {
    return PERFTRACE_I_RARE(!timer->counter) ? perftrace_i_timer_clock() : perftrace_i_clock();
}

PERFTRACE_I_INLINE void perftrace_i_timed_begin(perftrace_timed_t *t, perftrace_timer_t *timer,
                                                perftrace_i_site_t *site) {
    t->timer = timer;
    t->scope.live = 0;
    if (PERFTRACE_I_RARE(!timer)) {
        return;
    }
    /* A thread whose slot is of the site's run reads the counter for its scopes (one that is
     * foreign to it may): the same clock, so one reading does for both. */
    if (site && PERFTRACE_I_RARE(perftrace_i_begin(&t->scope, site, 0, 0)) && timer->counter &&
        !perftrace_i_foreign(&perftrace_i_thread, t->scope.live)) {
        t->start = t->scope.start;
        return;
    }
    t->start = perftrace_i_timer_now(timer);
}

PERFTRACE_I_INLINE void perftrace_i_timed_end(perftrace_timed_t *t) {
    if (PERFTRACE_I_RARE(!t->timer)) {
        return;
    }
    uint64_t end = perftrace_i_timer_now(t->timer);
    if (PERFTRACE_I_RARE(t->scope.live)) {
        perftrace_i_end_at(&t->scope, 0, end);
        t->scope.live = 0;
    }
    perftrace_i_timer_add(t->timer, end > t->start ? end - t->start : 0);
    t->timer = 0;
}

#ifndef PERFTRACE_DISABLE
/* A site's timer, looked up once. */
PERFTRACE_I_INLINE perftrace_timer_t *perftrace_i_timer_of(perftrace_timer_t **cached,
                                                           const char *name) {
    /* Pairs with the release below, which is that of any thread: what the timer holds is there. */
    perftrace_timer_t *timer = __atomic_load_n(cached, __ATOMIC_ACQUIRE);
    if (PERFTRACE_I_RARE(timer == NULL)) {
        timer = perftrace_timer_get(name);
        __atomic_store_n(cached, timer, __ATOMIC_RELEASE);
    }
    return timer;
}

#    define PERFTRACE_I_TIMED(n, name, site)                                                       \
        static perftrace_timer_t *PERFTRACE_I_CAT(perftrace_timer_, n);                            \
        perftrace_timed_t PERFTRACE_I_CAT(perftrace_timed_, n)                                     \
            __attribute__((cleanup(perftrace_i_timed_end), unused));                               \
        perftrace_i_timed_begin(&PERFTRACE_I_CAT(perftrace_timed_, n),                             \
                                perftrace_i_timer_of(&PERFTRACE_I_CAT(perftrace_timer_, n), name), \
                                site)
#    define PERFTRACE_I_TIMER(n, name, category)                                                   \
        PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), SCOPE, name, category, 0);                       \
        PERFTRACE_I_TIMED(n, name, &PERFTRACE_I_SITE_VAR(n))
/* PERFTRACE_TIMER(name [, category]): the rest of the enclosing block is timed, and is a scope. */
#    define PERFTRACE_TIMER(...)                                                                   \
        PERFTRACE_I_TIMER(__COUNTER__, "" PERFTRACE_I_FIRST(__VA_ARGS__),                          \
                          PERFTRACE_I_SECOND(__VA_ARGS__))
/* PERFTRACE_TIMER_ONLY(name): the same without a scope. */
#    define PERFTRACE_TIMER_ONLY(name) PERFTRACE_I_TIMED(__COUNTER__, "" name, NULL)
#else
#    define PERFTRACE_TIMER(...)       ((void)("" PERFTRACE_I_FIRST(__VA_ARGS__)))
#    define PERFTRACE_TIMER_ONLY(name) ((void)("" name))
#endif

#ifdef __cplusplus
}
#endif

#endif
