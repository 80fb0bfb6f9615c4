/* convert_options.c: the command line of perf-trace-convert. SPDX-License-Identifier: MIT */
#include "convert_options.h"

#include "human.h"

#include <string.h>

static const pt_choice_t overlap_choices[] = {
    {"lanes", PT_OVERLAP_LANES, "move them to further lanes of the thread"},
    {"async", PT_OVERLAP_ASYNC, "make them async events"},
    {"keep", PT_OVERLAP_KEEP, "leave them where they are; viewers may drop them"},
    {NULL, 0, NULL}};

#define S pt_convert_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("Output"),
    PT_OPTION_STRING(S, output, 'o', "output", "FILE",
                     "write to FILE (- for standard output); gzip when it ends in .gz"),
    PT_OPTION_FLAG(S, gzip, 'z', "gzip", "gzip the output whatever its name is"),
    PT_OPTION_INT(S, level, 0, "level", "N", 0, 9, "gzip level (1)"),
    PT_OPTION_SIZE(S, split, 0, "split", "SIZE",
                   "start a new part, complete in itself, after SIZE bytes of events"),
    PT_OPTION_FLAG(
        S, bundle, 0, "bundle",
        "write a tar of one file a rank with Perfetto's manifest (Perfetto 58 or later)"),
    PT_OPTION_STRING(S, display_time_unit, 0, "display-time-unit", "UNIT",
                     "unit that viewers show times in: ms (default) or ns"),
    PT_OPTION_HEADING("What to take"),
    PT_OPTION_STRING(S, from, 0, "from", "TIME",
                     "only what lasts past TIME after the start of the trace, as 1.5s"),
    PT_OPTION_STRING(S, to, 0, "to", "TIME", "only what begins before TIME"),
    PT_OPTION_STRING(S, steps, 0, "steps", "A[-B]",
                     "only events whose args give a global_step from A to B"),
    PT_OPTION_STRING(S, ranks, 0, "ranks", "LIST", "only these ranks, as 0,8-9"),
    PT_OPTION_LIST(S, names, 0, "name", "GLOB", "only events with such a name"),
    PT_OPTION_LIST(S, categories, 0, "cat", "CAT", "only events of this category"),
    PT_OPTION_DURATION(S, min_dur_ns, 0, "min-dur", "TIME", "only scopes at least this long"),
    PT_OPTION_FLAG(S, args, 0, "args", "keep the arguments of events (--no-args: leave them out)"),
    PT_OPTION_FLAG(S, keep_outliers, 0, "keep-outliers",
                   "keep single events whose time lies hours from all others"),
    PT_OPTION_HEADING("How"),
    PT_OPTION_ENUM(S, overlap, 0, "overlap", "HOW", overlap_choices,
                   "what becomes of scopes that cross on one thread"),
    PT_OPTION_FLAG(S, strict, 0, "strict", "fail when anything had to be skipped or mended"),
    PT_OPTION_FLAG(S, require_all, 0, "require-all", "fail when a rank of the world is missing"),
    PT_OPTION_INT(S, jobs, 'j', "jobs", "N", 1, 256, "threads (one for each processor)"),
    PT_OPTION_HEADING("Checking"),
    PT_OPTION_FLAG(S, check, 0, "check",
                   "write nothing: read, print the account, and tell by the exit status"),
    PT_OPTION_FLAG(S, json, 0, "json", "print the account as JSON on standard output"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... INPUT... -o OUTPUT", "[OPTION]... IN OUT",
                                       "--check [OPTION]... INPUT...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-convert traces-*.jsonl -o merged.json", "merge all ranks"},
    {"perf-trace-convert logs/ -o merged.json.gz", "take all traces below a directory"},
    {"perf-trace-convert traces-r0.jsonl r0.json --from 10s --to 12s", "cut a window"},
    {"perf-trace-convert --check merged.json", "see whether a trace is sound, and what is in it"},
    {NULL, NULL}};

const pt_tool_t pt_convert_tool = {
    .name = "perf-trace-convert",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "merge trace files into one that viewers open",
    .synopsis = synopsis,
    .description =
        "Reads traces (JSON lines as libperftrace, AReaL and RLinf write them, and Chrome trace "
        "JSON, plain or gzip) and writes one Chrome trace, which Perfetto, chrome://tracing and "
        "speedscope open. An INPUT is a file, a directory, a glob, or - for standard input.\n\n"
        "Every rank becomes a process, clocks are aligned, ids of different ranks are kept apart, "
        "and scopes that cross on one thread are moved to lanes. Each session is a track with its "
        "phases in it. What had to be skipped or mended is counted and named once with its file, "
        "line and byte offset.\n\n"
        "Without -o the output stands beside the input: trace.json for trace.jsonl, "
        "DIR/traces.json "
        "for a directory, traces.json in the common parent of several files.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .operand_glob = "*.jsonl",
    .see_also = "perf-trace-recover(1)",
};

int pt_convert_options_parse(pt_convert_options_t *o, int argc, char *const *argv,
                             pt_string_list_t *ret_operands) {
    *o = (pt_convert_options_t){
        .level = 1, .args = true, .display_time_unit = "ms", .to_ns = UINT64_MAX};
    int status = pt_option_parse(&pt_convert_tool, o, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    if (ret_operands->count == 0) {
        return pt_option_usage_error(&pt_convert_tool, "no input is given");
    }
    if (o->from != NULL && !pt_parse_duration(o->from, &o->from_ns)) {
        return pt_option_usage_error(&pt_convert_tool, "--from takes a time such as 1.5s");
    }
    if (o->to != NULL && !pt_parse_duration(o->to, &o->to_ns)) {
        return pt_option_usage_error(&pt_convert_tool, "--to takes a time such as 1.5s");
    }
    if (o->from_ns > o->to_ns) {
        return pt_option_usage_error(&pt_convert_tool, "--from lies after --to");
    }
    o->has_steps = o->steps != NULL;
    pt_number_range_t range = {0, 0};
    if (o->has_steps && !pt_number_range_parse(o->steps, strlen(o->steps), &range)) {
        return pt_option_usage_error(&pt_convert_tool, "--steps takes A or A-B");
    }
    o->first_step = range.first;
    o->last_step = range.last;
    if (o->ranks != NULL && !pt_number_ranges_parse(&o->rank_ranges, o->ranks)) {
        return pt_option_usage_error(&pt_convert_tool, "--ranks takes a list such as 0,8-9");
    }
    if (strcmp(o->display_time_unit, "ms") != 0 && strcmp(o->display_time_unit, "ns") != 0) {
        return pt_option_usage_error(&pt_convert_tool, "--display-time-unit takes ms or ns");
    }
    if (o->output != NULL && *o->output == '\0') {
        return pt_option_usage_error(&pt_convert_tool, "--output needs the name of a file");
    }
    if (o->bundle && o->split > 0) {
        return pt_option_usage_error(&pt_convert_tool, "--bundle and --split exclude each other");
    }
    bool to_stdout = o->output != NULL && strcmp(o->output, "-") == 0;
    if (o->bundle && (o->gzip || to_stdout)) {
        return pt_option_usage_error(&pt_convert_tool,
                                     "--bundle writes a plain tar, and not to standard output");
    }
    if (o->json && to_stdout) {
        return pt_option_usage_error(
            &pt_convert_tool, "--json needs standard output for the account: give -o a file");
    }
    if (o->check && o->output != NULL) {
        return pt_option_usage_error(&pt_convert_tool, "--check writes no output");
    }
    return PT_OPTION_GO_ON;
}

void pt_convert_options_free(pt_convert_options_t *o) {
    pt_string_list_free(&o->names);
    pt_string_list_free(&o->categories);
    pt_number_ranges_free(&o->rank_ranges);
}

bool pt_convert_options_rank(const pt_convert_options_t *o, int64_t rank) {
    return o->ranks == NULL || pt_number_ranges_has(&o->rank_ranges, rank);
}
