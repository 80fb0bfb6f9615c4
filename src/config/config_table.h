/* config_table.h: the one list of options. SPDX-License-Identifier: MIT
 *
 * X(field, type, default, variable, key, min, max, help)
 *   field     member of perftrace_config_t
 *   type      PERFTRACE__OPTION_<type> of config_option.h
 *   default   text, read by the same reader as a variable's; "" leaves strings empty, numbers unset
 *   variable  environment variable
 *   key       key in the file, below `perf_tracer:`; "" where a key makes no sense
 *   min, max  bounds of a number
 *   help      one or two sentences, with the unit
 *
 * Defaults, variables, keys, reading, copying, freeing, help text and docs/CONFIGURATION.md are
 * expansions of this list: an option is added here and in the public structure, nowhere else. */
#ifndef PERFTRACE_CONFIG_TABLE_H
#define PERFTRACE_CONFIG_TABLE_H

/* The section of the file that holds the keys, as in AReaL's configuration. */
#define PERFTRACE__CONFIG_SECTION "perf_tracer"

/* Variables with this prefix belong to the library. */
#define PERFTRACE__CONFIG_PREFIX "PERFTRACE_"
/* Of these, the ones with this prefix steer tests and are no options. */
#define PERFTRACE__CONFIG_TEST_PREFIX "PERFTRACE_TEST_"
/* Those that something beside the library reads: X(variable, reader). They are no options either.
 */
#define PERFTRACE__CONFIG_OTHERS(X) X("PERFTRACE_LIBRARY", "the Python package")

#define PERFTRACE__CONFIG_RANK_MAX 2147483646

#define PERFTRACE__CONFIG_OPTIONS(X)                                                               \
    X(config_path, PATH, "", "PERFTRACE_CONFIG", "", 0, 0,                                         \
      "YAML or JSON file whose perf_tracer section gives options.")                                \
    X(enabled, BOOL, "true", "PERFTRACE_ENABLED", "enabled", 0, 1,                                 \
      "Whether anything is recorded. When false no file, ring or thread is made.")                 \
    X(dir, PATH, "perftrace-out", "PERFTRACE_DIR", "dir", 0, 0,                                    \
      "Directory of all files: <dir>/traces-r<rank>.jsonl. It wins over fileroot, "                \
      "experiment_name and trial_name.")                                                           \
    X(fileroot, PATH, "", "PERFTRACE_FILEROOT", "fileroot", 0, 0,                                  \
      "Root of AReaL's layout. With experiment_name and trial_name set too and no dir, files are " \
      "<fileroot>/logs/<user>/<experiment_name>/<trial_name>/perf_tracer/[<role>/]"                \
      "traces-r<rank>.jsonl.")                                                                     \
    X(experiment_name, TEXT, "", "PERFTRACE_EXPERIMENT_NAME", "experiment_name", 0, 0,             \
      "Experiment in AReaL's layout.")                                                             \
    X(trial_name, TEXT, "", "PERFTRACE_TRIAL_NAME", "trial_name", 0, 0,                            \
      "Trial in AReaL's layout.")                                                                  \
    X(role, TEXT, "", "PERFTRACE_ROLE", "role", 0, 0,                                              \
      "The part this process plays (actor, rollout); goes to events and to paths of AReaL's "      \
      "layout.")                                                                                   \
    X(run_id, TEXT, "", "PERFTRACE_RUN_ID", "run_id", 0, 0,                                        \
      "Identifies one run over all its ranks in the file headers. Empty: what the launcher "       \
      "gives, "                                                                                    \
      "else a random one.")                                                                        \
    X(rank, INT, "", "PERFTRACE_RANK", "rank", 0, PERFTRACE__CONFIG_RANK_MAX,                      \
      "Rank of this process. Unset: from the launcher's variables, else unknown.")                 \
    X(world_size, INT, "", "PERFTRACE_WORLD_SIZE", "world_size", 1, PERFTRACE__CONFIG_RANK_MAX,    \
      "Number of ranks. Unset: from the launcher's variables, else unknown.")                      \
    X(local_rank, INT, "", "PERFTRACE_LOCAL_RANK", "local_rank", 0, PERFTRACE__CONFIG_RANK_MAX,    \
      "Rank among the processes of this node. Unset: from the launcher's variables, else "         \
      "unknown.")                                                                                  \
    X(ranks, RANKS, "all", "PERFTRACE_RANKS", "ranks", 0, 0,                                       \
      "Ranks that record. An unselected rank makes no file, ring or thread; a process whose rank " \
      "is unknown records unless this is none.")                                                   \
    X(tp, INT, "", "PERFTRACE_TP", "tp", 0, PERFTRACE__CONFIG_RANK_MAX,                            \
      "Tensor parallel rank of this process, for the file header.")                                \
    X(pp, INT, "", "PERFTRACE_PP", "pp", 0, PERFTRACE__CONFIG_RANK_MAX,                            \
      "Pipeline parallel rank of this process, for the file header.")                              \
    X(dp, INT, "", "PERFTRACE_DP", "dp", 0, PERFTRACE__CONFIG_RANK_MAX,                            \
      "Data parallel rank of this process, for the file header.")                                  \
    X(cp, INT, "", "PERFTRACE_CP", "cp", 0, PERFTRACE__CONFIG_RANK_MAX,                            \
      "Context parallel rank of this process, for the file header.")                               \
    X(ep, INT, "", "PERFTRACE_EP", "ep", 0, PERFTRACE__CONFIG_RANK_MAX,                            \
      "Expert parallel rank of this process, for the file header.")                                \
    X(categories, LIST, "", "PERFTRACE_CATEGORIES", "categories", 0, 0,                            \
      "Categories that are recorded; a leading '-' leaves one out. Empty: all.")                   \
    X(names, LIST, "", "PERFTRACE_NAMES", "names", 0, 0,                                           \
      "Prefixes of the names that are recorded; a leading '-' leaves names out. Empty: all.")      \
    X(save_interval, COUNT, "1", "PERFTRACE_SAVE_INTERVAL", "save_interval", 1, 1000000000,        \
      "A save of step k writes when (k + 1) is a multiple of this number of steps. 0 and below "   \
      "are taken as 1.")                                                                           \
    X(flush_ms, U32, "200", "PERFTRACE_FLUSH_MS", "flush_ms", 1, 60000,                            \
      "Longest time in milliseconds that an event waits for its write.")                           \
    X(ring_dir, PATH, "/dev/shm", "PERFTRACE_RING_DIR", "ring_dir", 0, 0,                          \
      "Directory of the ring files, from which a killed process' events are recovered. Best in "   \
      "memory.")                                                                                   \
    X(ring_size, SIZE, "1M", "PERFTRACE_RING_SIZE", "ring_size", 65536, 1073741824,                \
      "Bytes of each thread's ring, rounded up to a power of two. 0: the default.")                \
    X(max_threads, U32, "1024", "PERFTRACE_MAX_THREADS", "max_threads", 1, 65535,                  \
      "Threads that can record at one time.")                                                      \
    X(overflow, OVERFLOW, "drop", "PERFTRACE_OVERFLOW", "overflow", 0, 1,                          \
      "What a thread does when its ring is full: drop the new event and count it, or wait at "     \
      "most block_ms.")                                                                            \
    X(block_ms, U32, "10000", "PERFTRACE_BLOCK_MS", "block_ms", 0, 600000,                         \
      "Longest wait in milliseconds when overflow is block; then the event is dropped and "        \
      "counted.")                                                                                  \
    X(shutdown_ms, U32, "3000", "PERFTRACE_SHUTDOWN_MS", "shutdown_ms", 0, 600000,                 \
      "Longest time in milliseconds that shutdown takes to write the rest.")                       \
    X(sigterm, BOOL, "false", "PERFTRACE_SIGTERM", "sigterm", 0, 1,                                \
      "Whether SIGTERM is caught to save first; the signal then takes its former course.")         \
    X(string_max, U32, "4096", "PERFTRACE_STRING_MAX", "string_max", 16, 32768,                    \
      "Bytes kept of one string argument; the rest is cut and the cut is marked.")                 \
    X(counter_clock, BOOL, "true", "PERFTRACE_COUNTER_CLOCK", "counter_clock", 0, 1,               \
      "Whether times come from the processor's counter (where it is invariant) or, when false, "   \
      "from the system's clock, at several times the cost.")                                       \
    X(log_stderr, BOOL, "false", "PERFTRACE_LOG_STDERR", "log_stderr", 0, 1,                       \
      "Whether the library's messages go to standard error when the program takes none.")          \
    X(profile_steps, STEPS, "", "PERFTRACE_PROFILE_STEPS", "profile_steps", 0, 0,                  \
      "Steps to profile; entries that are no steps are named and skipped.")                        \
    X(session_enabled, BOOL, "false", "PERFTRACE_SESSION_ENABLED", "session_tracer.enabled", 0, 1, \
      "Whether session records are written.")                                                      \
    X(session_flush_threshold, COUNT, "256", "PERFTRACE_SESSION_FLUSH_THRESHOLD",                  \
      "session_tracer.flush_threshold", 1, 1000000000,                                             \
      "Finished sessions that are gathered before they are written. 0 and below are taken as 1.")  \
    X(session_max_live, U32, "1000000", "PERFTRACE_SESSION_MAX_LIVE", "session_tracer.max_live",   \
      0, 1000000000,                                                                               \
      "Sessions that may be unfinished at one time; beyond, the oldest is written as pending and " \
      "marked as evicted. 0: no limit.")                                                           \
    X(hold, BOOL, "false", "PERFTRACE_HOLD", "control.hold", 0, 1,                                 \
      "Whether the first perftrace_hold waits until somebody outside says go on.")                 \
    X(control, TEXT, "", "PERFTRACE_CONTROL", "control.listen", 0, 0,                              \
      "Where the process listens to be controlled: on (a free port of 127.0.0.1), PORT, "          \
      "HOST:PORT, [IPV6]:PORT or unix:PATH. Empty or off: it does not.")                           \
    X(control_token, TEXT, "", "PERFTRACE_CONTROL_TOKEN", "control.token", 0, 0,                   \
      "Secret that requests must bring as a bearer token; needed where other machines can "        \
      "connect.")                                                                                  \
    X(profiler, TEXT, "", "PERFTRACE_PROFILER", "profiler.back_ends", 0, 0,                        \
      "Back ends of the profiler that perftrace_step drives and that requests start: self, perf, " \
      "cuda, roc, nvtx, with commas between. Empty: none.")                                        \
    X(profiler_dir, PATH, "", "PERFTRACE_PROFILER_DIR", "profiler.dir", 0, 0,                      \
      "Directory of its files. Empty: profiles in the directory of the traces.")                   \
    X(profiler_ranks, RANKS, "all", "PERFTRACE_PROFILER_RANKS", "profiler.ranks", 0, 0,            \
      "Ranks that it profiles.")                                                                   \
    X(profiler_categories, LIST, "", "PERFTRACE_PROFILER_CATEGORIES", "profiler.categories", 0, 0, \
      "Categories that are recorded in its windows only (back end self).")                         \
    X(profiler_schedule, TEXT, "", "PERFTRACE_PROFILER_SCHEDULE", "profiler.schedule", 0, 0,       \
      "Its schedule, skip_first=1,wait=1,warmup=1,active=3,repeat=2, over the steps of the run "   \
      "or, with profile_steps, within each.")                                                      \
    X(profiler_perf_control, TEXT, "", "PERFTRACE_PROFILER_PERF_CONTROL", "profiler.perf_control", \
      0, 0,                                                                                        \
      "fifo:COMMANDS,ANSWERS of a perf record around the process (--control of the same value, "   \
      "-D -1), which the back end perf switches on and off; perf-trace-run sets it. Empty: perf "  \
      "is started for each window.")                                                               \
    X(forward, TEXT, "", "PERFTRACE_FORWARD", "forward.to", 0, 0,                                  \
      "Where the files also go while they are written: tcp:HOST:PORT or tcp:unix:PATH of a "       \
      "perf-trace-collect, or nats://[USER:PASSWORD@]HOST[:PORT][,...] (tls://...) of NATS "       \
      "JetStream. Empty or off: nowhere.")                                                         \
    X(forward_token, TEXT, "", "PERFTRACE_FORWARD_TOKEN", "forward.token", 0, 0,                   \
      "Secret that the collector or the NATS server wants to hear.")                               \
    X(forward_wait_ms, U32, "5000", "PERFTRACE_FORWARD_WAIT_MS", "forward.wait_ms", 0, 3600000,    \
      "Longest time in milliseconds that shutdown waits until everything is acknowledged. What "   \
      "is not stays in the files for perf-trace-forward.")                                         \
    X(forward_replicas, U32, "1", "PERFTRACE_FORWARD_REPLICAS", "forward.replicas", 1, 5,          \
      "Servers of a NATS cluster that keep the stream, if this process makes it.")                 \
    X(forward_tls_ca, PATH, "", "PERFTRACE_FORWARD_TLS_CA", "forward.tls_ca", 0, 0,                \
      "File of the certificates that a NATS server's own is checked with (tls://). Empty: the "    \
      "system's.")                                                                                 \
    X(forward_creds, PATH, "", "PERFTRACE_FORWARD_CREDS", "forward.creds", 0, 0,                   \
      "NATS credentials file of the user.")                                                        \
    X(forward_local, BOOL, "true", "PERFTRACE_FORWARD_LOCAL", "forward.local", 0, 1,               \
      "Whether the files stay. When false they lie in ring_dir, at most forward_queue of each "    \
      "that is not acknowledged, and go when everything is.")                                      \
    X(forward_queue, SIZE, "64M", "PERFTRACE_FORWARD_QUEUE", "forward.queue", 1048576,             \
      1099511627776,                                                                               \
      "Bytes of a file that may wait for the collector when forward_local is "                     \
      "false; beyond, events wait in the rings and are dropped and counted there.")                \
    X(forward_level, U32, "1", "PERFTRACE_FORWARD_LEVEL", "forward.level", 1, 9,                   \
      "How hard pieces are packed, 1 (fast) to 9 (small).")

#endif
