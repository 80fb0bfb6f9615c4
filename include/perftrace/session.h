/* perftrace/session.h: what happens to the samples of a training step. SPDX-License-Identifier: MIT
 *
 * A task (a dataset item) makes sessions (samples); a session passes through phases (generate,
 * reward, toolcall, your own) and is accepted, rejected, failed or dropped at the end. Each becomes
 * one line of <session dir>/sessions-r<rank>.jsonl and a track in the trace
 * (docs/formats/SESSIONS.md). Recorded when the option session_enabled is 1, also with `enabled` 0.
 *
 *     int64_t session = perftrace_session_register(task);
 *     perftrace_session_set_current(session);
 *     {
 *         PERFTRACE_SESSION_PHASE("generate", PERFTRACE_INT("prompt_tokens", n));
 *         generate();
 *     }
 *     perftrace_session_finalize(session, PERFTRACE_ACCEPTED, NULL);
 *
 * Every function here: any thread; wait-free but for the first event of a thread, of a call site
 * and of a name (block policy: may wait up to block_ms when the ring is full); not from a signal
 * handler; before init, after shutdown and while sessions are off it does nothing and returns
 * ERR_DISABLED (ids: PERFTRACE_NO_ID). Strings are copied, NULL is no string. */
#ifndef PERFTRACE_SESSION_H
#define PERFTRACE_SESSION_H

#include <perftrace/macros.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No session, no task. */
#define PERFTRACE_NO_ID ((int64_t)-1)

/* What the frameworks call the end of a session; any other text is kept as it is. */
#define PERFTRACE_ACCEPTED "accepted"
#define PERFTRACE_REJECTED "rejected"
#define PERFTRACE_FAILED   "failed"
#define PERFTRACE_DROPPED  "dropped"

/* ---- tasks and sessions -------------------------------------------------------------------------
 */

/* Says that a task begins: it gets a track in the trace. Not needed for its sessions to be
 * recorded. parent: the task it came from, or PERFTRACE_NO_ID. ERR_INVALID: task is negative. */
PERFTRACE_API int perftrace_task_register(int64_t task, int64_t parent);
/* A new session, submitted now. task: the task it belongs to, PERFTRACE_NO_ID for none. Returns its
 * id (0, 1, 2... in a run of a process), PERFTRACE_NO_ID while sessions are off. */
PERFTRACE_API int64_t perftrace_session_register(int64_t task);

/* The end of a session. status NULL: accepted when every phase has ended, else failed. reason: may
 * be NULL. What comes for the session later is counted, not recorded. ERR_INVALID: no such id can
 * be. */
PERFTRACE_API int perftrace_session_finalize(int64_t session, const char *status,
                                             const char *reason);
/* The same for every session of a task that has not ended. */
PERFTRACE_API int perftrace_task_finalize(int64_t task, const char *status, const char *reason);
/* Adds to a number of the session (retries, tokens); in the record unless 0 at the end.
 * ERR_INVALID: no such id can be, or name is NULL. */
PERFTRACE_API int perftrace_session_counter(int64_t session, const char *name, int64_t delta);

/* One call for what frameworks report by name: event is "finalized" or "<phase>_start" or
 * "<phase>_end", with or without "mark_" before it. session goes before task; task (with session
 * PERFTRACE_NO_ID) means all its sessions and knows "finalized" alone. status and reason are for
 * "finalized". "<phase>_end" ends the phase's last open span. ERR_INVALID: another event, or
 * neither id. */
PERFTRACE_API int perftrace_session_event(int64_t session, int64_t task, const char *event,
                                          const char *status, const char *reason);

/* ---- the current session of a thread ------------------------------------------------------------
 *
 * Threads inherit nothing by themselves: hand the context over with the work. */

typedef struct perftrace_context {
    int64_t task;
    int64_t session;
} perftrace_context_t;

PERFTRACE_API int64_t perftrace_session_current(void);
PERFTRACE_API void perftrace_session_set_current(int64_t session);
PERFTRACE_API int64_t perftrace_task_current(void);
PERFTRACE_API void perftrace_task_set_current(int64_t task);
/* Both at once. */
PERFTRACE_API perftrace_context_t perftrace_context_get(void);
PERFTRACE_API void perftrace_context_set(perftrace_context_t context);

/* ---- phases -------------------------------------------------------------------------------------
 */

/* Declares a phase; only needed when one of the two is not as usual (an undeclared phase allows
 * several spans). allow_multiple 0: a new span of the phase ends the one that is open.
 * ready_on_complete 1: the end of the phase finishes the session. Call it before the phase is used.
 * ERR_INVALID: name is NULL. */
PERFTRACE_API int perftrace_session_phase_declare(const char *name, int allow_multiple,
                                                  int ready_on_complete);

/* The session of the thread that uses the macros below. */
PERFTRACE_I_INLINE int64_t perftrace_i_session(void) {
    const perftrace_i_thread_t *t = &perftrace_i_thread;
    return t->run ? t->session - 1 : perftrace_session_current();
}

PERFTRACE_API void perftrace_i_phase_begin_slow(perftrace_phase_t *phase, perftrace_i_site_t *site,
                                                const uint64_t *values,
                                                uint32_t name) PERFTRACE_I_NOTHROW;
PERFTRACE_API void perftrace_i_phase_end_slow(perftrace_phase_t *phase, perftrace_i_site_t *site,
                                              const uint64_t *values) PERFTRACE_I_NOTHROW;
/* One of the two, with words that die with the full expression. */
PERFTRACE_API void perftrace_i_phase_words(perftrace_phase_t *phase, perftrace_i_site_t *site,
                                           int end, perftrace_i_words_t words,
                                           uint32_t name) PERFTRACE_I_NOTHROW;

/* Begins a phase without strings whose name is the site's. word: what perftrace_i_wanted gave. */
PERFTRACE_I_INLINE void perftrace_i_phase_begin(perftrace_phase_t *p, perftrace_i_site_t *site,
                                                uint32_t word, const uint64_t *values,
                                                uint32_t nargs) {
    perftrace_i_thread_t *t = &perftrace_i_thread;
    uint64_t at = t->word;
    uint64_t next = at + ((uint64_t)(3 + nargs) << 8);
    if (PERFTRACE_I_RARE(perftrace_i_foreign(t, word) || next > t->limit)) {
        perftrace_i_phase_begin_slow(p, site, values, 0);
        return;
    }
    uint64_t *record = perftrace_i_record_at(t->slot, at, t->mask);
    record[0] = PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_PHASE_BEGIN, 0, 3 + nargs,
                                        PERFTRACE_I_SITE_ID(word));
    p->site = site;
    p->name = 0;
    p->live = word;
    p->start = perftrace_i_clock();
    record[1] = p->start;
    record[2] = (uint64_t)p->session;
    for (uint32_t i = 0; i < nargs; i++) {
        record[3 + i] = values[i];
    }
    perftrace_i_publish(t, next);
}

/* Ends a phase that is live, without a payload. */
PERFTRACE_I_INLINE void perftrace_i_phase_end(perftrace_phase_t *p) {
    perftrace_i_thread_t *t = &perftrace_i_thread;
    uint64_t at = t->word;
    uint64_t next = at + (4u << 8);
    if (PERFTRACE_I_RARE(__atomic_load_n(&p->site->word, __ATOMIC_RELAXED) != p->live ||
                         perftrace_i_foreign(t, p->live) || p->name || next > t->limit)) {
        perftrace_i_phase_end_slow(p, 0, 0);
        return;
    }
    uint64_t *record = perftrace_i_record_at(t->slot, at, t->mask);
    record[0] =
        PERFTRACE_I_RECORD_HEAD(PERFTRACE_I_KIND_PHASE_END, 0, 4, PERFTRACE_I_SITE_ID(p->live));
    record[1] = p->start;
    record[2] = perftrace_i_clock();
    record[3] = (uint64_t)p->session;
    perftrace_i_publish(t, next);
    p->live = 0;
}

PERFTRACE_I_INLINE void perftrace_i_phase_leave(perftrace_phase_t *p) {
    if (PERFTRACE_I_RARE(p->live)) {
        perftrace_i_phase_end(p);
    }
}

/* Twins of the macros for bindings. site: made with PERFTRACE_I_KIND_PHASE_BEGIN (end:
 * PERFTRACE_I_KIND_PHASE_END, without a name; NULL: no payload); values as in perftrace_span_begin.
 * session PERFTRACE_NO_ID: the current one. The handle is filled in any case. */
PERFTRACE_API void perftrace_session_phase_begin(perftrace_phase_t *phase, int64_t session,
                                                 perftrace_i_site_t *site, const uint64_t *values);
PERFTRACE_API void perftrace_session_phase_end(perftrace_phase_t *phase, perftrace_i_site_t *site,
                                               const uint64_t *values);

#ifndef PERFTRACE_DISABLE

/* PERFTRACE_SESSION_PHASE(phase [, args...]): the rest of the block is a phase of the thread's
 * current session; nothing without one. args: the start payload, kept in the record. */
#    define PERFTRACE_SESSION_PHASE(...)                                                           \
        PERFTRACE_I_PHASE(__COUNTER__, perftrace_i_session(), "" PERFTRACE_I_FIRST(__VA_ARGS__),   \
                          0, __VA_ARGS__)
/* PERFTRACE_SESSION_PHASE_OF(session, phase [, args...]): the same for a given session. */
#    define PERFTRACE_SESSION_PHASE_OF(session, ...)                                               \
        PERFTRACE_I_PHASE(__COUNTER__, (int64_t)(session), "" PERFTRACE_I_FIRST(__VA_ARGS__), 0,   \
                          __VA_ARGS__)
#    define PERFTRACE_I_PHASE(n, of, name, ...)                                                    \
        perftrace_phase_t PERFTRACE_I_SCOPE_VAR(n)                                                 \
            __attribute__((cleanup(perftrace_i_phase_leave), unused));                             \
        PERFTRACE_I_PHASE_BEGIN(n, PERFTRACE_I_SCOPE_VAR(n), of, name, 0, __VA_ARGS__)
/* The list is 0, name, args... The handle is an lvalue. */
#    define PERFTRACE_I_PHASE_BEGIN(n, handle, of, name, name_id, ...)                             \
        (handle).live = 0;                                                                         \
        PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), PHASE_BEGIN, name, "session", __VA_ARGS__);      \
        const uint32_t PERFTRACE_I_CAT(perftrace_wanted_, n) =                                     \
            perftrace_i_wanted(&PERFTRACE_I_SITE_VAR(n));                                          \
        if (PERFTRACE_I_RARE(PERFTRACE_I_CAT(perftrace_wanted_, n))) {                             \
            (handle).session = (of);                                                               \
            if ((handle).session < 0) {                                                            \
                /* no session: nothing to belong to */                                             \
            } else if (PERFTRACE_I_NSTRS(__VA_ARGS__) || (name) == 0) {                            \
                perftrace_i_phase_words(                                                           \
                    &(handle), &PERFTRACE_I_SITE_VAR(n), 0,                                        \
                    PERFTRACE_I_WORDS({PERFTRACE_I_EACH(PERFTRACE_I_LISTED, 0, __VA_ARGS__) 0}),   \
                    name_id);                                                                      \
            } else {                                                                               \
                uint64_t PERFTRACE_I_WORDS_VAR(n)[PERFTRACE_I_NARGS(__VA_ARGS__) + 1];             \
                PERFTRACE_I_WORDS_VAR(n)[0] = 0;                                                   \
                PERFTRACE_I_EACH(PERFTRACE_I_STORE, PERFTRACE_I_WORDS_VAR(n), __VA_ARGS__)         \
                perftrace_i_phase_begin(&(handle), &PERFTRACE_I_SITE_VAR(n),                       \
                                        PERFTRACE_I_CAT(perftrace_wanted_, n),                     \
                                        PERFTRACE_I_WORDS_VAR(n), PERFTRACE_I_NARGS(__VA_ARGS__)); \
            }                                                                                      \
        }

/* PERFTRACE_SESSION_PHASE_BEGIN(perftrace_phase_t *handle, session, phase [, args...]) and
 * PERFTRACE_SESSION_PHASE_END(handle [, args...]): for code that cannot use a block; the end may
 * come on another thread (the program hands the handle over). args of the end: the end payload. A
 * second end, or an end of a zeroed handle, does nothing. */
#    define PERFTRACE_SESSION_PHASE_BEGIN(handle, session, ...)                                    \
        do {                                                                                       \
            PERFTRACE_I_PHASE_BEGIN_AT(__COUNTER__, handle, session,                               \
                                       "" PERFTRACE_I_FIRST(__VA_ARGS__), 0, 0, __VA_ARGS__)       \
        } while (0)
/* PERFTRACE_SESSION_PHASE_BEGIN_NAMED(handle, session, const char *phase [, args...]): named at run
 * time. */
#    define PERFTRACE_SESSION_PHASE_BEGIN_NAMED(handle, session, ...)                              \
        do {                                                                                       \
            PERFTRACE_I_PHASE_BEGIN_AT(__COUNTER__, handle, session, 0,                            \
                                       perftrace_i_name(PERFTRACE_I_FIRST(__VA_ARGS__)), 0,        \
                                       __VA_ARGS__)                                                \
        } while (0)
#    define PERFTRACE_I_PHASE_BEGIN_AT(n, handle, of, name, name_id, ...)                          \
        perftrace_phase_t *const PERFTRACE_I_SCOPE_VAR(n) = (handle);                              \
        PERFTRACE_I_PHASE_BEGIN(n, *PERFTRACE_I_SCOPE_VAR(n), (int64_t)(of), name, name_id,        \
                                __VA_ARGS__)
#    define PERFTRACE_SESSION_PHASE_END(...)                                                       \
        PERFTRACE_I_PHASE_END(__COUNTER__, PERFTRACE_I_FIRST(__VA_ARGS__), 0, __VA_ARGS__)
#    define PERFTRACE_I_PHASE_END(n, handle, ...)                                                  \
        do {                                                                                       \
            perftrace_phase_t *const PERFTRACE_I_SCOPE_VAR(n) = (handle);                          \
            if (PERFTRACE_I_NARGS(__VA_ARGS__) == 0) {                                             \
                perftrace_i_phase_leave(PERFTRACE_I_SCOPE_VAR(n));                                 \
            } else if (PERFTRACE_I_SCOPE_VAR(n)->live) {                                           \
                PERFTRACE_I_SITE(PERFTRACE_I_SITE_VAR(n), PHASE_END, 0, "session", __VA_ARGS__);   \
                perftrace_i_phase_words(                                                           \
                    PERFTRACE_I_SCOPE_VAR(n), &PERFTRACE_I_SITE_VAR(n), 1,                         \
                    PERFTRACE_I_WORDS({PERFTRACE_I_EACH(PERFTRACE_I_LISTED, 0, __VA_ARGS__) 0}),   \
                    0);                                                                            \
            }                                                                                      \
        } while (0)

#else

#    define PERFTRACE_SESSION_PHASE(...) PERFTRACE_I_OFF(0, __VA_ARGS__)
#    define PERFTRACE_SESSION_PHASE_OF(session, ...)                                               \
        PERFTRACE_I_OFF_VALUE((int64_t)(session), 0, __VA_ARGS__)
#    define PERFTRACE_SESSION_PHASE_BEGIN(handle, session, ...)                                    \
        do {                                                                                       \
            (handle)->live = 0;                                                                    \
            PERFTRACE_I_OFF_VALUE((int64_t)(session), 0, __VA_ARGS__);                             \
        } while (0)
#    define PERFTRACE_SESSION_PHASE_BEGIN_NAMED(handle, session, ...)                              \
        PERFTRACE_SESSION_PHASE_BEGIN(handle, session, __VA_ARGS__)
#    define PERFTRACE_SESSION_PHASE_END(...)                                                       \
        PERFTRACE_I_OFF_VALUE(PERFTRACE_I_FIRST(__VA_ARGS__), 0, __VA_ARGS__)

#endif

#ifdef __cplusplus
}
#endif

#endif
