/* perftrace/perftrace.h: libperftrace, the whole public interface. SPDX-License-Identifier: MIT
 *
 * Read this file first. The shortest program:
 *
 *     #include <perftrace/perftrace.h>
 *     int main(void) {
 *         perftrace_init(NULL);
 *         for (int step = 0; step < 10; step++) {
 *             PERFTRACE_STEP(step);
 *             PERFTRACE_SCOPE("train.step", "compute", PERFTRACE_INT("tokens", 4096));
 *             work();
 *         }
 *         perftrace_shutdown();
 *     }
 *
 * Then: perf-trace-convert perftrace-out -o trace.json, and open it in Perfetto or speedscope.
 *
 * Functions return 0 or a negative PERFTRACE_ERR_ code (perftrace/status.h). None of them prints,
 * exits or aborts; what a person should know goes to the log callback of the configuration. Every
 * function may be called from any thread unless it says otherwise, none from a signal handler. */
#ifndef PERFTRACE_PERFTRACE_H
#define PERFTRACE_PERFTRACE_H

#include <perftrace/config.h>
#include <perftrace/control.h>
#include <perftrace/macros.h>
#include <perftrace/session.h>
#include <perftrace/status.h>
#include <perftrace/timer.h>

#include <stddef.h>
#include <stdint.h>

#define PERFTRACE_VERSION_MAJOR 0
#define PERFTRACE_VERSION_MINOR 1
#define PERFTRACE_VERSION_PATCH 0
#define PERFTRACE_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is linked, "MAJOR.MINOR.PATCH". Static storage. */
PERFTRACE_API const char *perftrace_version(void);
/* The text of a status code. Static storage, never NULL. */
PERFTRACE_API const char *perftrace_status_text(int status);

/* ---- life ---------------------------------------------------------------------------------------
 */

/* Starts tracing in this process: resolves the configuration (config, else environment, else file,
 * else defaults; config NULL: environment and file only), creates the ring file, the trace file and
 * the drain thread. A rank that is not selected, or tracing switched off, creates none of these and
 * returns 0: every macro stays a load and a branch. Left-over rings of dead processes in the same
 * directory are recovered first. Blocks for file creation (a few ms). Not concurrently with
 * shutdown. Errors: ERR_STATE when started already; ERR_DENIED, ERR_TOO_LONG, ERR_IO... when
 * nothing can be written, the reason in the log callback: the program may go on, macros do nothing.
 */
PERFTRACE_API int perftrace_init(const perftrace_config_t *config);

/* Stops tracing: writes what is in the rings, the footer with the account, removes the ring file.
 * Runs by itself at exit() and at return from main. Waits for the disk at most shutdown_ms; what
 * could not be written then stays in the ring file for perf-trace-recover, and the log callback
 * says how much. The file is complete for every reader, but not forced to the disk: who fears a
 * loss of power calls perftrace_save(-1, 1) before. Idempotent. Other threads may go on emitting:
 * their events are counted as late. Afterwards perftrace_init may be called again; it makes a new
 * run and a new file. */
PERFTRACE_API int perftrace_shutdown(void);

/* 1 between a successful init and shutdown when this rank is recorded; else 0. */
PERFTRACE_API int perftrace_is_active(void);

/* Switches recording on or off while running; 0 off, else on. Scopes that are open keep the
 * decision of their begin. */
PERFTRACE_API int perftrace_set_enabled(int enabled);
PERFTRACE_API int perftrace_get_enabled(void);

/* Replaces the filters (see perftrace_config_t.categories and .names); NULL keeps one, "" clears
 * it. */
PERFTRACE_API int perftrace_set_filter(const char *categories, const char *names);

/* Sets rank and world size when they became known only after init (-1: keep). The file keeps its
 * name; a header line with the new values follows in it. */
PERFTRACE_API int perftrace_set_rank(int rank, int world_size);

/* ---- saving -------------------------------------------------------------------------------------
 */

/* Writes every event that was emitted before the call to the file. step < 0: always. step >= 0:
 * only when (step + 1) is a multiple of save_interval. force != 0: always, and the file is on disk
 * (fdatasync) when it returns. Blocks for the disk; other threads are not held up.
 * ERR_DISABLED when not active; ERR_IO when the disk refused (events stay, writing is retried). */
PERFTRACE_API int perftrace_save(int64_t step, int force);

/* ---- context ------------------------------------------------------------------------------------
 */

/* See PERFTRACE_STEP. Lock per call (steps are rare). */
PERFTRACE_API void perftrace_step(int64_t step);

/* See PERFTRACE_SYNC, whose instant it records. Any thread; wait-free as the macros are. Nothing
 * before perftrace_init. Not for signal handlers; after fork the child's own. */
PERFTRACE_API void perftrace_sync(int64_t id);
/* Names the calling thread in the trace (at most 63 bytes, cut on a character). Without it the
 * system's thread name is used. NULL: ERR_INVALID. */
PERFTRACE_API int perftrace_thread_set_name(const char *name);

/* ---- account ------------------------------------------------------------------------------------
 */

/* Causes of losses: X(name, text). */
#define PERFTRACE_DROP_LIST(X)                                                                     \
    X(ring_full, "the ring was full")                                                              \
    X(block_timeout, "the ring stayed full longer than block_ms")                                  \
    X(no_slot, "more threads than max_threads, or no memory for a ring")                           \
    X(too_long, "the record does not fit the ring")                                                \
    X(damaged, "a record could not be decoded")                                                    \
    X(no_memory, "no memory for its line")                                                         \
    X(late, "emitted after shutdown")                                                              \
    X(file_gone, "the trace file was removed while it was written")

enum {
#define PERFTRACE_I_DROP_ENUM(name, text) PERFTRACE_DROP_##name,
    PERFTRACE_DROP_LIST(PERFTRACE_I_DROP_ENUM)
#undef PERFTRACE_I_DROP_ENUM
        PERFTRACE_DROP_COUNT
};

typedef struct perftrace_stats {
    size_t struct_size;     /* sizeof(perftrace_stats_t), set by the caller */
    uint64_t emitted;       /* written + all drops */
    uint64_t written;       /* events in the file */
    uint64_t pending_bytes; /* in the rings, not in the file yet */
    uint64_t dropped[16];   /* by cause, index PERFTRACE_DROP_ */
    uint64_t write_errors;  /* failed attempts to write, retried */
    uint64_t unfinished;    /* scopes that are open now */
    uint32_t threads;       /* with a ring now */
    uint32_t reserved;
    uint64_t sessions;         /* that the drain has seen */
    uint64_t sessions_live;    /* of these, without a record yet */
    uint64_t sessions_written; /* with a record */
    uint64_t sessions_evicted; /* of these, for want of room (session_max_live) */
    uint64_t session_late;     /* events for sessions that had their record already */
} perftrace_stats_t;

/* Fills *ret_stats. Does not wait for the disk itself, only for a call of init, shutdown or
 * set_rank that does. ERR_INVALID when struct_size is not set. */
PERFTRACE_API int perftrace_get_stats(perftrace_stats_t *ret_stats);

/* The path of the trace file that is being written, with its NUL. Returns its length;
 * ERR_DISABLED when there is none, ERR_TOO_LONG when size is too small (4096 is enough). Waits as
 * perftrace_get_stats does. */
PERFTRACE_API int perftrace_trace_path(char *ret_path, size_t size);

/* ---- for bindings: the macros' work through functions
 * -------------------------------------------- */

/* Makes a call site at run time. kind: a PERFTRACE_I_KIND_ number; category NULL: "misc"; args:
 * nargs descriptors, copied. The site lives until the process ends. NULL without memory or when an
 * argument is out of range. */
PERFTRACE_API perftrace_i_site_t *perftrace_site_create(int kind, const char *name,
                                                        const char *category, const char *file,
                                                        uint32_t line, uint32_t nargs,
                                                        const perftrace_i_arg_t *args);
/* Twins of PERFTRACE_BEGIN and PERFTRACE_END. values: as many words as the site has arguments
 * (strings as pointers, doubles as bits); NULL when it has none. Returns 1 when live. */
PERFTRACE_API int perftrace_span_begin(perftrace_span_t *span, perftrace_i_site_t *site,
                                       const uint64_t *values);
PERFTRACE_API void perftrace_span_end(perftrace_span_t *span);
/* Twin of the point macros. id is ignored by kinds without one. */
PERFTRACE_API void perftrace_emit(perftrace_i_site_t *site, uint64_t id, const uint64_t *values);

#ifdef __cplusplus
}
#endif

#endif
