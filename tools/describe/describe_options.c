/* describe_options.c: the command line of perf-trace-describe. SPDX-License-Identifier: MIT */
#include "describe_options.h"

#define S pt_describe_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("What to look at"),
    PT_OPTION_FLAG(S, names_only, 'n', "names-only",
                   "the operands are names: nothing is opened, and they need not be there"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... FILE|DIR|GLOB...",
                                       "--names-only [OPTION]... NAME...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-describe profiles/*", "of which rank, role and step each file is"},
    {"perf-trace-describe trace.jsonl", "the same of a trace that was renamed, by its header"},
    {"perf-trace-describe -n actor_step10-12_rank3-of-8_@node-1_pid42_20261130043514123.json.gz",
     "a name in a log, without the file"},
    {"perf-trace-describe --json out | jq '.files[] | select(.rank == 3) | .file'",
     "the files of a rank"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"WHAT IS TOLD",
     "rank (and the number of ranks), role, prefix, steps, parallel (ranks of the dimensions), "
     "host, process, start, window (mini-batches, cycle or part, and what became of it: partial "
     "2/3, aborted 2/3), label, run, size, and from where it is known. What is not known is left "
     "out; with --json it is null.\n\n"
     "The time in a name is local: TZ must be that of the machine that wrote it. Labels of names "
     "are safe forms: a role in a header is as it was given."},
    {NULL, NULL}};

const pt_tool_t pt_describe_tool = {
    .name = "perf-trace-describe",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "say of which rank, role and step a profile or trace is",
    .synopsis = synopsis,
    .description =
        "Reads back the names that perftrace_trace_basename(3) and the windows of profilers give "
        "to their files, and the headers of traces. Where both know something, the header counts "
        "for what the process is, the name for what the window is; a rank, size or process that "
        "they tell differently is warned of. Where the name does not tell the steps, they are "
        "looked for in the events, for which the whole trace is read.\n\n"
        "In a directory, names of that form and *.jsonl, *.jsonl.gz are taken. A file of which "
        "neither name nor header says anything is warned of (exit status 1).",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .see_also = "perf-trace-convert(1), perftrace_profiler(3)",
};

int pt_describe_options_parse(pt_describe_options_t *o, int argc, char *const *argv,
                              pt_string_list_t *ret_operands) {
    *o = (pt_describe_options_t){false, false};
    int status = pt_option_parse(&pt_describe_tool, o, argc, argv, ret_operands);
    if (status == PT_OPTION_GO_ON && ret_operands->count == 0) {
        return pt_option_usage_error(&pt_describe_tool, "no file is given");
    }
    return status;
}
