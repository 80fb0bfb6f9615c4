/* perftrace/config.h: the options of the tracer. SPDX-License-Identifier: MIT
 *
 * Every option can be given in four ways; the first that gives it wins:
 *   1. a field of perftrace_config_t that the program set,
 *   2. the environment variable PERFTRACE_<NAME>,
 *   3. the key under `perf_tracer:` in the YAML or JSON file named by config_path or
 * PERFTRACE_CONFIG,
 *   4. the default.
 * A field counts as set when it differs from what PERFTRACE_CONFIG_INIT puts there: NULL for a
 * string, PERFTRACE_UNSET for an int, PERFTRACE_UNSET_U32 and PERFTRACE_UNSET_U64 for the unsigned
 * ones. An empty string is a value ("nothing"), not an unset field.
 *
 * A bad value, an unknown key or an unknown variable never stops the program: the next source (in
 * the end the default) is used and one message says so through `log`. docs/CONFIGURATION.md lists
 * all options; perftrace_config_help() returns the same list as text. */
#ifndef PERFTRACE_CONFIG_H
#define PERFTRACE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PERFTRACE_API
#    define PERFTRACE_API __attribute__((visibility("default")))
#endif

#define PERFTRACE_UNSET     (-1)
#define PERFTRACE_UNSET_U32 UINT32_MAX
#define PERFTRACE_UNSET_U64 UINT64_MAX

/* What a producer does when its thread's ring is full. */
typedef enum perftrace_overflow {
    PERFTRACE_OVERFLOW_DROP = 0, /* the new event is not recorded but counted */
    PERFTRACE_OVERFLOW_BLOCK = 1 /* waits up to block_ms, then as PERFTRACE_OVERFLOW_DROP */
} perftrace_overflow_t;

/* Levels of messages, most serious first. */
typedef enum perftrace_log_level {
    PERFTRACE_LOG_ERROR = 0,   /* something will not be recorded or written */
    PERFTRACE_LOG_WARNING = 1, /* a setting was not understood, something was repaired */
    PERFTRACE_LOG_NOTE = 2     /* worth knowing: where files go, what was detected */
} perftrace_log_level_t;

/* Receives one message (one line without line end, UTF-8, valid during the call only). It may be
 * called from any thread that calls into the library and from the library's own thread, also while
 * other threads call it; it must not call the library. */
typedef void (*perftrace_log_fn)(int level, const char *message, void *user);

/* Initialise with PERFTRACE_CONFIG_INIT or perftrace_config_init, then set what is wanted. All
 * strings are copied by the call that takes the structure. Fields are only ever appended. */
typedef struct perftrace_config {
    size_t struct_size; /* sizeof(perftrace_config_t) of the program that filled it */

    /* YAML or JSON file with a `perf_tracer:` section; NULL: PERFTRACE_CONFIG, else no file. */
    const char *config_path;
    /* Directory for all files: <dir>/traces-r<rank>.jsonl. ~ and ${VAR} are expanded; a relative
     * path is bound to the directory that is current at init. Wins over the three fields below.
     * NULL: those three if all are set, else "perftrace-out". */
    const char *dir;
    /* With all three set and no dir, files go where AReaL's scripts look for them:
     * <fileroot>/logs/<user>/<experiment_name>/<trial_name>/perf_tracer/[<role>/]traces-r<rank>.jsonl
     * fileroot is expanded as dir is. NULL or "": none. */
    const char *fileroot;
    const char *experiment_name;
    const char *trial_name;
    /* The part this process plays ("actor", "rollout"); goes to events and paths. NULL or "": none.
     */
    const char *role;
    /* Ranks that record: "all", "none" or a list as "0,8-9". NULL or "": all. A process whose rank
     * is unknown records unless this is "none". An unselected rank makes no file, ring or thread.
     */
    const char *ranks;
    /* Categories that are recorded, "compute,comm"; "-io" leaves one out. NULL or "": all. */
    const char *categories;
    /* Prefixes of names that are recorded, "train.,eval."; "-debug." leaves out. NULL or "": all.
     */
    const char *names;
    /* Directory for ring files, best in memory; expanded as dir is. NULL or "": /dev/shm. */
    const char *ring_dir;
    /* Identifies one run over all its ranks; goes to the file headers. NULL or "": what the
     * launcher gives (Slurm job and step, PMIx namespace, torchrun run id), else a random one. */
    const char *run_id;
    /* Steps to profile, "3,10" or "3,10-12". NULL or "": none. */
    const char *profile_steps;

    perftrace_log_fn log; /* receives messages; NULL: none are given out, see log_stderr */
    void *log_user;       /* handed to log as it is */

    /* Bytes of each thread's ring, rounded up to a power of two, 64 KiB to 1 GiB. 0: default, 1
     * MiB. */
    uint64_t ring_size;

    int enabled;    /* 0: nothing is recorded and nothing is made; 1: on. Default 1. */
    int rank;       /* 0 and up. Unset: what the launcher's variables say, else unknown (-1). */
    int world_size; /* number of ranks, 1 and up. Unset: as rank. */
    int local_rank; /* rank on this node, 0 and up. Unset: as rank. */
    int tp;         /* this process' tensor parallel rank, 0 and up. Default unset: not written. */
    int pp;         /* pipeline parallel rank, likewise */
    int dp;         /* data parallel rank, likewise */
    int cp;         /* context parallel rank, likewise */
    int ep;         /* expert parallel rank, likewise */
    int overflow;   /* a perftrace_overflow_t. Default PERFTRACE_OVERFLOW_DROP. */
    int sigterm;    /* 1: install a SIGTERM handler that saves, then chains. Default 0. */
    int session_enabled; /* 1: write session records. Default 0. */
    int log_stderr;      /* 1: messages go to standard error when log is NULL. Default 0. */

    /* perftrace_save(step) writes when (step + 1) % save_interval == 0. 0 is taken as 1, the
     * default. */
    uint32_t save_interval;
    uint32_t flush_ms; /* longest time an event waits for its write, 1 to 60000 ms. Default 200. */
    uint32_t max_threads; /* threads that can record at one time, 1 to 65535. Default 1024. */
    uint32_t block_ms;    /* bound of PERFTRACE_OVERFLOW_BLOCK, ms; 0: as DROP. Default 10000. */
    uint32_t
        shutdown_ms; /* longest time shutdown takes to write the rest, ms; 0: none. Default 3000. */
    uint32_t string_max; /* bytes kept of a string argument, 16 to 32768. Default 4096. */
    /* Finished sessions that are gathered before they are written. 0 is taken as 1. Default 256. */
    uint32_t session_flush_threshold;
    int counter_clock; /* 1: times come from the processor's counter where that is invariant; 0:
                          from the system, at several times the cost. Default 1. */
    /* Sessions that may be unfinished at one time; beyond, the oldest is written as pending and
     * marked as evicted. 0: no limit. Default 1000000. */
    uint32_t session_max_live;
    int hold; /* 1: the first perftrace_hold waits until somebody outside says go on. Default 0. */
    int reserved; /* left as PERFTRACE_CONFIG_INIT has it */
    /* Where the process listens to be controlled from outside (perftrace/control.h): "on" (a free
     * port of 127.0.0.1), "PORT", "HOST:PORT", "[IPV6]:PORT" or "unix:PATH". NULL, "" or "off": it
     * does not. */
    const char *control;
    /* Secret that requests must bring ("Authorization: Bearer TOKEN"); needed where other machines
     * can connect. NULL or "": none. */
    const char *control_token;
    /* Back ends of the profiler that perftrace_step drives and that requests from outside start,
     * "self,perf" (perftrace/profiler.h). NULL or "": no such profiler. */
    const char *profiler;
    /* Directory of its files, expanded as dir is. NULL or "": <directory of the traces>/profiles.
     */
    const char *profiler_dir;
    /* Ranks that it profiles, as ranks. NULL: all. */
    const char *profiler_ranks;
    /* Categories that are recorded in its windows only (back end self). NULL or "": none. */
    const char *profiler_categories;
    /* Its schedule, "skip_first=1,wait=1,warmup=1,active=3,repeat=2", over the steps of the run or,
     * with profile_steps, within each. NULL or "": none. */
    const char *profiler_schedule;
    /* "fifo:COMMANDS,ANSWERS" of a perf record around this process, which its back end perf
     * switches on and off (perf_control in perftrace/profiler.h). NULL or "": none. */
    const char *profiler_perf_control;
    /* Where the files also go while they are written (docs/FORWARD.md): "tcp:HOST:PORT" or
     * "tcp:unix:PATH" of a perf-trace-collect, or "nats://[USER:PASSWORD@]HOST[:PORT][,...]"
     * ("tls://...") of NATS JetStream. NULL, "" or "off": nowhere. */
    const char *forward;
    /* Secret that the collector or the server wants to hear. NULL or "": none. */
    const char *forward_token;
    /* NATS credentials file; file of certificates to check a server with. NULL or "": none, the
     * system's. */
    const char *forward_creds;
    const char *forward_tls_ca;
    /* Bytes of a file that may wait for the collector when forward_local is 0. 0: the default, 64
     * MiB. */
    uint64_t forward_queue;
    uint32_t forward_wait_ms;  /* longest time that shutdown waits for acknowledgements, ms; 0: not
                                  at all. Default 5000. */
    uint32_t forward_replicas; /* servers of a NATS cluster that keep the stream. Default 1. */
    int forward_local;         /* 1: the files stay; 0: they lie in ring_dir until everything is
                                  acknowledged. Default 1. */
    uint32_t forward_level;    /* how hard pieces are packed, 1 (fast) to 9 (small). Default 1. */
} perftrace_config_t;

/* Every field unset. Usable in C and C++: perftrace_config_t c = PERFTRACE_CONFIG_INIT; */
#define PERFTRACE_CONFIG_INIT                                                                      \
    {                                                                                              \
        sizeof(perftrace_config_t), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,    \
            NULL, NULL, NULL, NULL, PERFTRACE_UNSET_U64, PERFTRACE_UNSET, PERFTRACE_UNSET,         \
            PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET,   \
            PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET, PERFTRACE_UNSET,   \
            PERFTRACE_UNSET, PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32,        \
            PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32,    \
            PERFTRACE_UNSET, PERFTRACE_UNSET_U32, PERFTRACE_UNSET, PERFTRACE_UNSET, NULL, NULL,    \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, PERFTRACE_UNSET_U64,       \
            PERFTRACE_UNSET_U32, PERFTRACE_UNSET_U32, PERFTRACE_UNSET, PERFTRACE_UNSET_U32         \
    }

/* Sets every field of a structure of `size` bytes to unset, as PERFTRACE_CONFIG_INIT does; for
 * callers that cannot use the macro. Fields beyond this library's structure become zero bytes.
 * Thread-safe, wait-free, callable before init. NULL or a size that cannot hold struct_size:
 * nothing is done. */
PERFTRACE_API void perftrace_config_init(perftrace_config_t *config, size_t size);

/* The options as text for a terminal: one paragraph an option with its variable, key, default and
 * meaning. Static storage, lives as long as the library. Thread-safe, callable before init. */
PERFTRACE_API const char *perftrace_config_help(void);

#ifdef __cplusplus
}
#endif

#endif
