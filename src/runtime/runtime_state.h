/* runtime_state.h: the tracer as a whole; what the files of this room share.
 * SPDX-License-Identifier: MIT
 *
 * Lock order: runtime lock, drain lock, core lock. */
#ifndef PERFTRACE_RUNTIME_RUNTIME_STATE_H
#define PERFTRACE_RUNTIME_RUNTIME_STATE_H

#include "config_resolve.h"
#include "drain.h"

#include <perftrace/perftrace.h>
#include <pthread.h>

/* A run's drain and its sinks. They outlive their run where a thread that hangs in the disk still
 * uses them, and in a forked child until it starts. */
typedef struct perftrace__output {
    perftrace__drain_t drain;
    perftrace__sink_t *sink;
    perftrace__sink_t *session_sink; /* NULL: no sessions */
    struct perftrace__output *next;  /* of those left */
    bool torn; /* a fork met a sweep in the middle: this process never touches the memory again */
} perftrace__output_t;

typedef struct perftrace__runtime {
    pthread_mutex_t lock;
    bool active;    /* files, ring and thread exist; read relaxed without the lock */
    bool stopping;  /* between active and the end of everything: no start meanwhile */
    unsigned users; /* calls that use the drain without the lock */
    pthread_cond_t unused;
    bool have_config;
    perftrace__config_t config;
    perftrace__run_meta_t meta;
    char run_id[32];          /* made up at init; forked children belong to the same run */
    perftrace__output_t *out; /* of the run; NULL when none is active or being stopped */
    perftrace__output_t *left;
    char session_path[4096]; /* "" no file yet */
    unsigned files_made[2];  /* traces, sessions: so many, by the thread that drains */
    char link[4096];         /* link to the ring beside the trace file; "" none */
    uint64_t late_seen;      /* late events that an earlier run has reported */
    bool resuming;           /* the start under way is that of a fork's child */
} perftrace__runtime_t;

extern perftrace__runtime_t perftrace__runtime;

/* Gives one message to the program. */
void perftrace__runtime_log(perftrace_log_level_t level, const char *fmt, ...) PT_PRINTF(2, 3);

/* runtime.c: starts with the present config. Lock held. */
int perftrace__runtime_start(void);
/* Ends; keep_config: a fork's child may start again. Lock held. */
int perftrace__runtime_stop(void);

/* runtime_sinks.c; lock held. */
/* Makes drain and sinks over the core's ring; fd is the trace file, owned from now on. 0 or a
 * status. */
int perftrace__runtime_start_drain(int fd);
/* Tells the program that the disk hangs at the end. */
void perftrace__runtime_tell_abandoned(void);
/* Tells the program how the run ended. */
void perftrace__runtime_tell_end(int status);

/* runtime_left.c; lock held. */
/* Frees drain and sinks, which no thread uses any more. NULL: nothing. */
void perftrace__runtime_free_output(perftrace__output_t *out);
/* Keeps an output until its thread has ended. */
void perftrace__runtime_leave(perftrace__output_t *out);
/* Frees those left that nobody uses any more, and their rings' memory; false while a thread of this
 * process writes one. */
bool perftrace__runtime_clean(void);
/* In a forked child, which has none of the threads: closes the files and leaves all outputs.
 * Nothing is allocated or freed. whole: the fork met no sweep of the present one. */
void perftrace__runtime_orphan(bool whole);

/* runtime_file.c */
/* Where ring files may lie, in the order they are tried. */
#define PERFTRACE__RUNTIME_RING_DIRS 3
void perftrace__runtime_ring_dirs(const char *ret_dirs[PERFTRACE__RUNTIME_RING_DIRS]);
/* Recovers what earlier processes left in the directory. */
void perftrace__runtime_recover(void);
/* Makes the trace file; fills meta.trace_path. 0 or -errno. */
int perftrace__runtime_create_file(int *ret_fd);
/* Callback of the sink when the file's name was removed. */
int perftrace__runtime_recreate_file(void *user);
/* The path of the sessions file without .jsonl; "" when it does not fit. */
void perftrace__runtime_session_stem(char *out, size_t size);
/* Callbacks of the session sink: makes its file; tells that records went with a removed one. */
int perftrace__runtime_create_session_file(void *user);
void perftrace__runtime_session_file_gone(void *user, uint64_t records);
/* The link beside the trace file; failing is only a note (recovery also looks in the ring
 * directory). */
void perftrace__runtime_make_link(void);
void perftrace__runtime_remove_link(void);
void perftrace__runtime_fill_meta(void);

/* runtime_timers.c: writes what the timers counted, if anything. Lock held. */
void perftrace__runtime_write_timers(void);

/* runtime_profiler.c; without the lock. */
void perftrace__runtime_profiler_start(void);
void perftrace__runtime_profiler_stop(void);
void perftrace__runtime_profiler_step(int64_t step);

/* runtime_fork.c: once per process. */
void perftrace__runtime_install_fork(void);

/* runtime_signal.c */
/* At the start of each run that wants it. Lock held. */
void perftrace__runtime_install_sigterm(void);
/* In a forked child. */
void perftrace__runtime_signal_after_fork(void);
/* Whether a handler may still look at an output whose run is over. */
bool perftrace__runtime_signal_waits(void);

#endif
