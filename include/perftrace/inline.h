/* perftrace/inline.h: the path of an event from the call site into the ring.
 * SPDX-License-Identifier: MIT
 *
 * Included by macros.h; not for direct use. The design behind each step is in
 * docs/LIFE_OF_AN_EVENT.md. Every function here is for the calling thread alone, wait-free, and
 * makes no system call unless it says "slow". */
#ifndef PERFTRACE_INLINE_H
#define PERFTRACE_INLINE_H

#include <perftrace/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERFTRACE_API       __attribute__((visibility("default")))
#define PERFTRACE_I_INLINE  static inline __attribute__((always_inline, unused))
#define PERFTRACE_I_RARE(x) __builtin_expect(!!(x), 0)
/* nothrow: else C++ would keep a way out of a begin that has not finished. */
#define PERFTRACE_I_NOTHROW __attribute__((nothrow))
#define PERFTRACE_I_COLD    __attribute__((cold, nothrow))

/* The calling thread's place in the rings.
 * initial-exec: loads from the thread pointer, no call; the library needs 64 bytes of the static
 * TLS reserve when it is loaded by dlopen. An executable defines the variable too (weakly; the
 * library's references bind to it), so that its code needs no look into the GOT: one cold line
 * less, and one wait. local-exec has to be said: the linker would not make it of initial-exec,
 * since the variable is exported. Where that binding fails, `run` stays 0 and events take the slow
 * way, nothing else. */
#if !defined(PERFTRACE_DISABLE) && !defined(PERFTRACE_I_LIBRARY) &&                                \
    (!defined(__PIC__) || defined(__PIE__))
PERFTRACE_API __attribute__((weak, tls_model("local-exec"))) __thread perftrace_i_thread_t
    perftrace_i_thread; /* NOLINT(misc-definitions-in-headers) */
#else
extern PERFTRACE_API __thread perftrace_i_thread_t perftrace_i_thread
    __attribute__((tls_model("initial-exec")));
#endif

/* Slow halves: exported since inline code calls them; each does what the inline function of the
 * same stem could not. May lock and make system calls once per site or thread, never per event. */
PERFTRACE_API perftrace_i_begun_t perftrace_i_begin_slow(perftrace_i_site_t *site,
                                                         uint32_t name) PERFTRACE_I_COLD;
PERFTRACE_API void perftrace_i_end_slow(const perftrace_i_site_t *site, uint64_t live_depth,
                                        uint64_t start, uint64_t end, const uint64_t *values,
                                        uint64_t nargs_name) PERFTRACE_I_COLD;
PERFTRACE_API perftrace_i_begun_t perftrace_i_lap_slow(const perftrace_i_site_t *site,
                                                       uint64_t live_depth, uint64_t start,
                                                       const uint64_t *values, uint64_t nargs_name,
                                                       perftrace_i_site_t *next,
                                                       uint32_t next_name) PERFTRACE_I_COLD;
PERFTRACE_API void perftrace_i_emit_slow(perftrace_i_site_t *site, uint64_t id,
                                         const uint64_t *values, uint32_t name) PERFTRACE_I_NOTHROW;
/* Registers a site that is fresh. Its id, or 0 when its events are not wanted; an event that is too
 * late is counted. */
PERFTRACE_API uint32_t perftrace_i_site_ready(perftrace_i_site_t *site) PERFTRACE_I_COLD;
/* Id of a name made at run time; copies the bytes on first sight. 0 when name is NULL. */
PERFTRACE_API uint32_t perftrace_i_name(const char *name) PERFTRACE_I_NOTHROW;
/* Copies a string argument of a scope to where hold says (cut to PERFTRACE_I_SCOPE_STR bytes,
 * marked) and returns its word. NULL stays NULL. */
PERFTRACE_API uint64_t perftrace_i_hold_string(const char *text,
                                               perftrace_i_hold_t *hold) PERFTRACE_I_NOTHROW;
/* perftrace_i_emit_slow for words that die with the full expression. */
PERFTRACE_API void perftrace_i_emit_words(perftrace_i_site_t *site, uint64_t id,
                                          perftrace_i_words_t words,
                                          uint32_t name) PERFTRACE_I_NOTHROW;

PERFTRACE_I_INLINE uint64_t perftrace_i_clock(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
#    error "libperftrace supports x86-64 and aarch64"
#endif
}

/* The site's word when its next event is wanted, else 0: asked before arguments are evaluated. */
PERFTRACE_I_INLINE uint32_t perftrace_i_wanted(perftrace_i_site_t *site) {
    uint32_t id = __atomic_load_n(&site->word, __ATOMIC_RELAXED);
    return PERFTRACE_I_RARE((int32_t)id < 0) ? perftrace_i_site_ready(site) : id;
}

/* Whether a site word and the thread's slot are not of the same run; true for FRESH too. */
PERFTRACE_I_INLINE uint32_t perftrace_i_foreign(const perftrace_i_thread_t *t, uint32_t word) {
    return (word ^ t->run) >> PERFTRACE_I_RUN_SHIFT;
}

PERFTRACE_I_INLINE uint64_t *perftrace_i_record_at(perftrace_i_slot_t *slot, uint64_t word,
                                                   uint64_t mask) {
    return (uint64_t *)((char *)slot + PERFTRACE_I_DATA_AT) + ((word >> 8) & mask);
}

PERFTRACE_I_INLINE perftrace_i_open_t *perftrace_i_open_at(perftrace_i_slot_t *slot,
                                                           uint32_t depth) {
    return (perftrace_i_open_t *)((char *)slot + PERFTRACE_I_OPEN_AT) + depth;
}

/* Relaxed atomics: readers look at entries at any time and check them against `word` afterwards. */
PERFTRACE_I_INLINE void perftrace_i_open_set(perftrace_i_open_t *open, uint64_t start,
                                             uint32_t site, uint32_t name) {
    __atomic_store_n(&open->start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&open->site, site, __ATOMIC_RELAXED);
    __atomic_store_n(&open->name, name, __ATOMIC_RELAXED);
}

/* Publishes everything stored before: pairs with the acquire load of `word` in the drain's
 * snapshot, in recovery and in readers of running rings. */
PERFTRACE_I_INLINE void perftrace_i_publish(perftrace_i_thread_t *t, uint64_t word) {
    t->word = word;
    __atomic_store_n(&t->slot->word, word, __ATOMIC_RELEASE);
}

PERFTRACE_I_INLINE uint64_t perftrace_i_live_depth(const perftrace_i_scope_t *s) {
    return s->live | (uint64_t)s->depth << 32;
}

/* A scope that is off is never looked into beyond `live`. This says so to the compiler, which would
 * warn, without an instruction on the path that must cost nothing. */
PERFTRACE_I_INLINE void perftrace_i_begin_off(perftrace_i_scope_t *s) {
    __asm__("" : "=r"(s->start), "=r"(s->depth), "=r"(s->name), "=r"(s->nargs));
    __asm__("" : "=r"(s->site), "=r"(s->values));
}

#if defined(__GNUC__) && !defined(__clang__)
/* Where a function has setjmp and a scope, gcc suspects locals of the functions it inlined; they
 * are dead when the jump could come. */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* Begins a scope; true when it is live, that is when its arguments are wanted. values is not const,
 * since gcc would take a pointer to const for a reading of words that are not set yet. */
PERFTRACE_I_INLINE uint32_t
perftrace_i_begin(perftrace_i_scope_t *s, perftrace_i_site_t *site, uint32_t nargs,
                  uint64_t *values) { /* NOLINT(readability-non-const-parameter) */
    perftrace_i_begin_off(s);
    uint32_t id = __atomic_load_n(&site->word, __ATOMIC_RELAXED);
    s->live = id;
    if (PERFTRACE_I_RARE(id)) {
        perftrace_i_thread_t *t = &perftrace_i_thread;
        s->name = 0;
        s->nargs = nargs;
        s->site = site;
        s->values = values;
        if (PERFTRACE_I_RARE(perftrace_i_foreign(t, id) ||
                             (uint8_t)t->word >= PERFTRACE_I_MAX_DEPTH)) {
            perftrace_i_begun_t b = perftrace_i_begin_slow(site, 0);
            s->live = (uint32_t)b.live_depth;
            s->depth = (uint32_t)(b.live_depth >> 32);
            s->start = b.start;
            return s->live;
        }
        uint64_t word = t->word;
        uint32_t depth = (uint8_t)word;
        perftrace_i_open_t *open = perftrace_i_open_at(t->slot, depth);
        s->depth = depth;
        /* With cold caches the record's line is on its way while the scope lasts. */
        __builtin_prefetch(perftrace_i_record_at(t->slot, word, t->mask), 1);
        s->start = perftrace_i_clock();
        perftrace_i_open_set(open, s->start, PERFTRACE_I_SITE_ID(id), 0);
        perftrace_i_publish(t, word + 1);
    }
    return id;
}

PERFTRACE_I_INLINE void perftrace_i_end_by_hand(const perftrace_i_scope_t *s, uint64_t end) {
    perftrace_i_end_slow(s->site, perftrace_i_live_depth(s), s->start, end, s->values,
                         s->nargs | (uint64_t)s->name << 32);
}

/* Ends a scope that began live, at a time that was read. nargs words of values, no strings among
 * them. */
PERFTRACE_I_INLINE void perftrace_i_end_at(const perftrace_i_scope_t *s, uint32_t nargs,
                                           uint64_t end) {
    perftrace_i_thread_t *t = &perftrace_i_thread;
    uint64_t word = t->word;
    uint64_t next = word + ((uint64_t)(3 + nargs) << 8) - 1;
    /* The site's word is another one after a stop: that is how an end learns of it. */
    if (PERFTRACE_I_RARE(__atomic_load_n(&s->site->word, __ATOMIC_RELAXED) != s->live ||
                         perftrace_i_foreign(t, s->live) || (uint8_t)word != s->depth + 1 ||
                         next > t->limit)) {
        perftrace_i_end_by_hand(s, end);
        return;
    }
    uint64_t *record = perftrace_i_record_at(t->slot, word, t->mask);
    record[0] =
        PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3 + nargs, PERFTRACE_I_SITE_ID(s->live));
    record[1] = s->start;
    record[2] = end;
    for (uint32_t i = 0; i < nargs; i++) {
        record[3 + i] = s->values[i];
    }
    perftrace_i_publish(t, next);
}

PERFTRACE_I_INLINE void perftrace_i_end(const perftrace_i_scope_t *s, uint32_t nargs) {
    perftrace_i_end_at(s, nargs, perftrace_i_clock());
}

/* Everything of a lap that has no fast way: arguments, run-time names, off on one side. */
PERFTRACE_I_INLINE void perftrace_i_lap_by_hand(perftrace_i_scope_t *s, perftrace_i_site_t *next,
                                                uint32_t next_name) {
    perftrace_i_begun_t b = perftrace_i_lap_slow(
        s->site, s->live ? perftrace_i_live_depth(s) : 0, s->live ? s->start : 0, s->values,
        s->nargs | (uint64_t)s->name << 32, next, next_name);
    s->live = (uint32_t)b.live_depth;
    s->depth = (uint32_t)(b.live_depth >> 32);
    s->start = b.start;
    s->name = next_name;
    s->nargs = next_name ? PERFTRACE_I_SCOPE_SLOW : 0;
    s->site = next;
    s->values = 0;
}

/* Ends the current phase and begins the next with one clock read. */
PERFTRACE_I_INLINE void perftrace_i_lap(perftrace_i_scope_t *s, perftrace_i_site_t *next_site) {
    uint32_t id = __atomic_load_n(&next_site->word, __ATOMIC_RELAXED);
    if (PERFTRACE_I_RARE(id | s->live)) {
        perftrace_i_thread_t *t = &perftrace_i_thread;
        /* Both words of this run: after a stop the next site's is not. */
        if (PERFTRACE_I_RARE(perftrace_i_foreign(t, id) || perftrace_i_foreign(t, s->live) ||
                             s->nargs || (uint8_t)t->word != s->depth + 1 ||
                             t->word + (3u << 8) > t->limit)) {
            perftrace_i_lap_by_hand(s, next_site, 0);
            return;
        }
        uint64_t now = perftrace_i_clock();
        uint64_t word = t->word;
        uint64_t *record = perftrace_i_record_at(t->slot, word, t->mask);
        record[0] =
            PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_SCOPE, 0, 3, PERFTRACE_I_SITE_ID(s->live));
        record[1] = s->start;
        record[2] = now;
        word += 3u << 8;
        /* Two steps: the finished phase is published and popped before its place in the open-scope
         * stack is written again. */
        perftrace_i_publish(t, word - 1);
        perftrace_i_open_set(perftrace_i_open_at(t->slot, s->depth), now, PERFTRACE_I_SITE_ID(id),
                             0);
        perftrace_i_publish(t, word);
        s->live = id;
        s->start = now;
        s->site = next_site;
    }
}

/* Emits a point event without strings: instant, counter (no id), flow, async (with id). site_word:
 * what perftrace_i_wanted gave (the word itself may have changed since). */
PERFTRACE_I_INLINE void perftrace_i_emit(perftrace_i_site_t *site, uint32_t site_word,
                                         uint32_t kind, uint32_t has_id, uint64_t id,
                                         const uint64_t *values, uint32_t nargs) {
    perftrace_i_thread_t *t = &perftrace_i_thread;
    uint64_t word = t->word;
    uint64_t next = word + ((uint64_t)(2 + has_id + nargs) << 8);
    if (PERFTRACE_I_RARE(perftrace_i_foreign(t, site_word) || next > t->limit)) {
        perftrace_i_emit_slow(site, id, values, 0);
        return;
    }
    uint64_t *record = perftrace_i_record_at(t->slot, word, t->mask);
    record[0] =
        PERFTRACE_I_RECORD_HEAD(kind, 0, 2 + has_id + nargs, PERFTRACE_I_SITE_ID(site_word));
    record[1] = perftrace_i_clock();
    if (has_id) {
        record[2] = id;
    }
    for (uint32_t i = 0; i < nargs; i++) {
        record[2 + has_id + i] = values[i];
    }
    perftrace_i_publish(t, next);
}

PERFTRACE_I_INLINE uint64_t perftrace_i_f64(double v) {
    uint64_t bits;
    __builtin_memcpy(&bits, &v, sizeof(bits));
    return bits;
}

PERFTRACE_I_INLINE uint64_t perftrace_i_str(const char *s) {
    return (uint64_t)(uintptr_t)s;
}

/* Begins a scope with a name made at run time; the macro has asked whether it is wanted. */
PERFTRACE_I_INLINE uint32_t
perftrace_i_begin_named(perftrace_i_scope_t *s, perftrace_i_site_t *site, uint32_t nargs,
                        uint64_t *values, /* NOLINT(readability-non-const-parameter) */
                        const char *name) {
    uint32_t id = perftrace_i_name(name);
    perftrace_i_begun_t b = perftrace_i_begin_slow(site, id);
    s->live = (uint32_t)b.live_depth;
    s->depth = (uint32_t)(b.live_depth >> 32);
    s->start = b.start;
    s->name = id;
    s->nargs = nargs | PERFTRACE_I_SCOPE_SLOW;
    s->site = site;
    s->values = values;
    return s->live;
}

/* Run when the block of a PERFTRACE_SCOPE is left. One function per number of arguments, so that
 * the number is a constant in each. The suffix counts the macro's arguments: name, category, then
 * the typed ones. */
#define PERFTRACE_I_LEAVE(suffix, count)                                                           \
    PERFTRACE_I_INLINE void perftrace_i_leave_##suffix(perftrace_i_scope_t *s) {                   \
        if (PERFTRACE_I_RARE(s->live)) {                                                           \
            if (PERFTRACE_I_RARE(s->nargs & PERFTRACE_I_SCOPE_SLOW)) {                             \
                perftrace_i_end_by_hand(s, perftrace_i_clock());                                   \
            } else {                                                                               \
                perftrace_i_end(s, count);                                                         \
            }                                                                                      \
        }                                                                                          \
    }

PERFTRACE_I_LEAVE(1, 0)
PERFTRACE_I_LEAVE(2, 0)
PERFTRACE_I_LEAVE(3, 1)
PERFTRACE_I_LEAVE(4, 2)
PERFTRACE_I_LEAVE(5, 3)
PERFTRACE_I_LEAVE(6, 4)
PERFTRACE_I_LEAVE(7, 5)
PERFTRACE_I_LEAVE(8, 6)
PERFTRACE_I_LEAVE(9, 7)
PERFTRACE_I_LEAVE(10, 8)
PERFTRACE_I_LEAVE(11, 9)
PERFTRACE_I_LEAVE(12, 10)
PERFTRACE_I_LEAVE(13, 11)
PERFTRACE_I_LEAVE(14, 12)
#undef PERFTRACE_I_LEAVE

PERFTRACE_I_INLINE void perftrace_i_span_end(perftrace_span_t *span) {
    perftrace_i_scope_t *s = &span->scope;
    if (s->live) {
        if (PERFTRACE_I_RARE(s->nargs & PERFTRACE_I_SCOPE_SLOW)) {
            perftrace_i_end_by_hand(s, perftrace_i_clock());
        } else {
            perftrace_i_end(s, s->nargs & 0xFFu);
        }
        s->live = 0;
    }
}

PERFTRACE_I_INLINE void perftrace_i_lap_leave(perftrace_i_scope_t *s) {
    if (PERFTRACE_I_RARE(s->live)) {
        if (PERFTRACE_I_RARE(s->nargs & PERFTRACE_I_SCOPE_SLOW)) {
            perftrace_i_end_by_hand(s, perftrace_i_clock());
        } else {
            perftrace_i_end(s, s->nargs & 0xFFu);
        }
        s->live = 0;
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
