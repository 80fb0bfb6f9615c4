/* live_options.c: the command line of perf-trace-live. SPDX-License-Identifier: MIT */
#include "live_options.h"

#include "human.h"
#include "message.h"
#include "ring_dirs.h"

#include <string.h>

/* Seconds as people type them, 60 or 0.5, or with a unit: 200ms, 2m. */
static bool read_seconds(const char *value, uint64_t *ret_ns, perftrace__strbuf_t *ret_problem) {
    double seconds;
    if (pt_parse_double(value, &seconds) && seconds >= 0 && seconds <= 1e9) {
        *ret_ns = (uint64_t)(seconds * 1e9);
        return true;
    }
    if (pt_parse_duration(value, ret_ns)) {
        return true;
    }
    perftrace__strbuf_puts(ret_problem, "expected seconds, as in 60 or 0.5, or with a unit: 200ms");
    return false;
}

static bool on_interval(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    pt_live_options_t *o = values;
    o->has_interval = true;
    return read_seconds(value, &o->interval_ns, ret_problem);
}

static bool on_stuck(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    pt_live_options_t *o = values;
    o->only_stuck = true;
    return read_seconds(value, &o->stuck_ns, ret_problem);
}

static bool on_pid(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    pt_live_options_t *o = values;
    pt_string_list_t parts = PT_STRING_LIST_INIT;
    bool ok = pt_string_list_split(&parts, value, ',') && parts.count > 0;
    for (size_t i = 0; i < parts.count && ok; i++) {
        uint64_t pid = 0;
        ok = o->pids < PT_LIVE_PIDS_MAX && pt_parse_uint64(parts.items[i], &pid) && pid > 0 &&
             pid <= INT32_MAX;
        if (ok) {
            o->pid[o->pids++] = (uint32_t)pid;
        }
    }
    pt_string_list_free(&parts);
    if (!ok) {
        perftrace__strbuf_puts(ret_problem, "expected numbers of processes, as in 71,72");
    }
    return ok;
}

#define S pt_live_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("What to look at"),
    PT_OPTION_CALLBACK(on_pid, 'p', "pid", "PID,...", "the rings of these processes"),
    PT_OPTION_FLAG(S, recursive, 'r', "recursive", "look into the directories below each DIR too"),
    PT_OPTION_FLAG(S, all_users, 'a', "all-users",
                   "with no operand: the rings of other users too, as far as they may be read"),
    PT_OPTION_LIST(S, ring_dirs, 0, "ring-dir", "DIR",
                   "look for rings in DIR too (besides PERFTRACE_RING_DIR, /dev/shm and /tmp)"),
    PT_OPTION_HEADING("Hangs"),
    PT_OPTION_CALLBACK_LAST(on_stuck, 's', "stuck", "SECONDS",
                            "show only what has not moved for SECONDS and who is waited for; exit "
                            "status 1 when there is any (without it: marked after 60)"),
    PT_OPTION_FLAG(S, main_only, 'm', "main", "judge only the first thread of each process"),
    PT_OPTION_LIST(S, collectives, 'c', "collective", "NAME,...",
                   "scopes of these names (globs) are collectives too; see COLLECTIVES"),
    PT_OPTION_LIST(S, categories, 0, "comm-category", "NAME,...",
                   "scopes of these categories are collectives too, besides comm"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, once, '1', "once", "show it once and end, instead of going on"),
    PT_OPTION_CALLBACK_LAST(on_interval, 'i', "interval", "SECONDS",
                            "time between two looks (1; with --once 0.2, and 0 for a single look, "
                            "which tells no rates)"),
    PT_OPTION_UINT64(S, count, 'n', "count", "N", 1, INT64_MAX, "end after N views"),
    PT_OPTION_FLAG(S, json, 0, "json", "print each view as one line of JSON"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... [DIR|RING|TRACE.jsonl]...",
                                       "--once [--json] [--stuck SECONDS] [OPTION]...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-live", "watch every traced process of mine; Ctrl-C ends it"},
    {"perf-trace-live out", "the ranks of one run"},
    {"perf-trace-live --once --stuck 60 out", "the job hangs: who stands where, who is missing?"},
    {"perf-trace-live --once --json --pid 4711 | jq '.processes[].threads'", "for a script"},
    {"perf-trace-live --once --stuck 120 -c 'my_sync*' out || alert",
     "with a collective of one's own, as a watchdog"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"COLLECTIVES",
     "A scope waits for other ranks when its category is comm, or when its name is that of an "
     "operation: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, barrier, reduce, "
     "gather, scatter, scan, send, recv and their variants. What stands before a point, colon or "
     "slash, nccl, rccl, hccl or mpi in front, case, '_' and '-' do not count: dist.all_reduce, "
     "ncclAllReduce and MPI_Allreduce are the same operation. Of send and recv it is not told who "
     "is missing, since the partner is not recorded.\n\n"
     "Ranks wait together when they are of one run (their traces lie in one directory) and in "
     "scopes of the same name in the same step. Which ranks belong to the group of a collective is "
     "not recorded: all ranks of the world that are not in it are named as missing, with what they "
     "are in instead."},
    {"FILES",
     "A traced process keeps its newest events, and the scopes that each thread is in, in a ring "
     "file, /dev/shm/perftrace-<uid>-<pid>-<boot>-<n>.ring; DIR/traces-r<rank>.ring is a link to "
     "it. They are only read: nothing is written, locked or sent to the process."},
    {NULL, NULL}};

static const pt_text_t exits[] = {
    {"0", "success; with --stuck: nothing is stuck"},
    {"1", "with --stuck: something is stuck"},
    {"2", "the command line is wrong"},
    {"3", "nothing could be looked at, or something that was named could not"},
    {"4", "the output cannot be written"},
    {"5", "out of memory"},
    {"130", "ended by SIGINT, SIGTERM or SIGHUP"},
    {NULL, NULL}};

const pt_tool_t pt_live_tool = {
    .name = "perf-trace-live",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "show what traced processes are in at this moment, and why a job hangs",
    .synopsis = synopsis,
    .description =
        "Opens the ring files of the traced processes of this machine and shows for each rank its "
        "state, step, events a second and losses, for each thread the scopes it is in and since "
        "when. Processes that were killed are shown as they ended, until their rings are "
        "recovered.\n\n"
        "On a terminal the view is drawn anew each second; on a pipe one block follows another. "
        "With no operand all traced processes of this user are shown. The traced processes are "
        "not slowed down, and need not answer: a process that is stopped, stuck or dead can be "
        "looked at like any other.\n\n"
        "--stuck says who stands still: threads with an open scope in which no scope has begun or "
        "ended and no event was recorded for so long, the collectives in which ranks wait, and the "
        "ranks that have not come to them.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .operand_glob = "*.ring",
    .see_also = "perf-trace-recover(1), perf-trace-ctl(1)",
    .exits = exits,
};

int pt_live_options_parse(pt_live_options_t *o, int argc, char *const *argv,
                          pt_string_list_t *ret_operands) {
    *o = (pt_live_options_t){.stuck_ns = 60000000000u};
    int status = pt_option_parse(&pt_live_tool, o, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    if (o->all_users && (ret_operands->count > 0 || o->pids > 0)) {
        return pt_option_usage_error(&pt_live_tool, "--all-users goes with no operand and not "
                                                    "with --pid");
    }
    if (o->once && o->count > 0) {
        return pt_option_usage_error(&pt_live_tool, "--once shows one view: it does not go with "
                                                    "--count");
    }
    if (!o->has_interval) {
        o->interval_ns = o->once ? 200000000u : 1000000000u;
    }
    if (!o->once && o->interval_ns == 0) {
        return pt_option_usage_error(&pt_live_tool, "--interval 0 goes with --once only");
    }
    if (!pt_ring_dirs_add_usual(&o->ring_dirs)) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    return PT_OPTION_GO_ON;
}

void pt_live_options_free(pt_live_options_t *o) {
    pt_string_list_free(&o->ring_dirs);
    pt_string_list_free(&o->categories);
    pt_string_list_free(&o->collectives);
}
