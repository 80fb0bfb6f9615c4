/* recover_options.c: the command line of perf-trace-recover. SPDX-License-Identifier: MIT */
#include "recover_options.h"

#include "message.h"
#include "ring_dirs.h"

#define S pt_recover_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("What to look at"),
    PT_OPTION_FLAG(S, recursive, 'r', "recursive", "look into the directories below each DIR too"),
    PT_OPTION_FLAG(S, all, 'a', "all",
                   "take every ring of this user in the ring directories, wherever its trace is"),
    PT_OPTION_LIST(S, ring_dirs, 0, "ring-dir", "DIR",
                   "look for rings in DIR too (besides PERFTRACE_RING_DIR, /dev/shm and /tmp)"),
    PT_OPTION_HEADING("What to do"),
    PT_OPTION_FLAG(S, list, 'l', "list",
                   "change nothing: list the rings, those of running processes too"),
    PT_OPTION_FLAG(S, dry_run, 'n', "dry-run", "change nothing: say what would be recovered"),
    PT_OPTION_FLAG(S, keep, 'k', "keep", "leave the rings where they are afterwards"),
    PT_OPTION_FLAG(S, force, 'f', "force",
                   "also take rings of other machines and containers; their process must be dead"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON array instead of lines"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... DIR|RING|TRACE.jsonl...", "[OPTION]... --all",
                                       "--list [OPTION]... [DIR|RING|TRACE.jsonl]...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-recover out", "finish the traces of a job that was killed"},
    {"perf-trace-recover -r ~/experiments/logs", "all runs below a directory"},
    {"perf-trace-recover --list",
     "which processes of mine record at this moment, or did not end well"},
    {"perf-trace-recover --dry-run out/traces-r3.jsonl", "what would be added to one file"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"FILES",
     "DIR/traces-r<rank>.jsonl is a trace; while its process lives, and after it was killed, "
     "DIR/traces-r<rank>.ring beside it is a link to the ring file in the ring directory.\n\n"
     "A ring that is being recovered has .claim- and the number of the recovering process behind "
     "its name. If that process is killed, the next recovery takes over."},
    {NULL, NULL}};

const pt_tool_t pt_recover_tool = {
    .name = "perf-trace-recover",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "finish the trace files of processes that were killed",
    .synopsis = synopsis,
    .description =
        "A process that is traced keeps its newest events in a ring file in memory. When it is "
        "killed (SIGKILL, _exit, a crash), the events that were not written yet are still there. "
        "This tool adds them to the trace file, with the scopes that were open (marked unfinished) "
        "and a closing account of what was written and what was lost, and removes the ring.\n\n"
        "Nothing is added twice and nothing that was recorded is left out, also when the tool "
        "itself is killed and run again. Files of running processes are not touched. The same is "
        "done by itself when a process starts tracing into the same directory, and by "
        "perf-trace-convert.\n\n"
        "One line is printed for each ring. Exit status 1 says that something was recovered but "
        "not whole: damaged records, or a trace file that is gone.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .operand_glob = "*.ring",
    .see_also = "perf-trace-convert(1)",
};

int pt_recover_options_parse(pt_recover_options_t *o, int argc, char *const *argv,
                             pt_string_list_t *ret_operands) {
    *o = (pt_recover_options_t){.ring_dirs = PT_STRING_LIST_INIT};
    int status = pt_option_parse(&pt_recover_tool, o, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    if (ret_operands->count == 0 && o->list) {
        o->all = true;
    }
    if (ret_operands->count == 0 && !o->all) {
        return pt_option_usage_error(&pt_recover_tool, "no directory and no file is given");
    }
    if (o->list && (o->keep || o->force)) {
        return pt_option_usage_error(&pt_recover_tool, "--list changes nothing: it goes with "
                                                       "neither --keep nor --force");
    }
    if (!pt_ring_dirs_add_usual(&o->ring_dirs)) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    return PT_OPTION_GO_ON;
}

void pt_recover_options_free(pt_recover_options_t *o) {
    pt_string_list_free(&o->ring_dirs);
}
