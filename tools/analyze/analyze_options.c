/* analyze_options.c: the command line of perf-trace-analyze. SPDX-License-Identifier: MIT */
#include "analyze_options.h"

#include "output.h"
#include "rank_order.h"

#include <stdlib.h>
#include <string.h>

#define S pt_analyze_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("Output"),
    PT_OPTION_STRING(S, output, 'o', "output", "FILE", "write to FILE (- for standard output)"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object"),
    PT_OPTION_FLAG(S, csv, 0, "csv",
                   "print CSV: the columns table, row, column, value; of one --table its own"),
    PT_OPTION_LIST(S, tables, 0, "table", "NAME", "only this table, as --json names it"),
    PT_OPTION_UINT64(S, top, 'n', "top-n", "N", 0, 1000000,
                     "rows of lists of the largest (20); 0: all"),
    PT_OPTION_STRING(S, html, 0, "html", "FILE",
                     "write a page with charts for a browser to FILE, too (- for standard output, "
                     "instead)"),
    PT_OPTION_STRING(S, partial, 0, "partial", "FILE",
                     "write the results to FILE instead, to be merged later (- for standard "
                     "output)"),
    PT_OPTION_HEADING("What to take"),
    PT_OPTION_LIST(S, profile_dirs, 0, "profile-dir", "DIR", "a directory of traces"),
    PT_OPTION_STRING(S, ranks, 0, "rank", "LIST", "only these ranks, as 0,8-9"),
    PT_OPTION_FLAG(S, all_ranks, 0, "all-ranks", "all ranks: what is done without --rank, too"),
    PT_OPTION_LIST(S, rank_map, 0, "rank-map", "FILE=RANK", "the rank that a file is of"),
    PT_OPTION_FLAG(S, keep_outliers, 0, "keep-outliers", "keep events hours away from all others"),
    PT_OPTION_HEADING("How"),
    PT_OPTION_STRING(S, rules, 0, "rules", "FILE",
                     "rules that tell classes of kernels, before the built-in ones"),
    PT_OPTION_UINT64(S, launches_per_step, 0, "launches-per-step", "N", 1, 100000,
                     "launches of CUDA graphs that make one decode step"),
    PT_OPTION_DURATION(S, kernel_wait_ns, 0, "kernel-wait", "TIME",
                       "the longest gap that the device makes by itself between two kernels "
                       "(30ns)"),
    PT_OPTION_STRING(S, sequences_of, 0, "sequences-of", "TEXT",
                     "sequences of kernels under scopes of the host whose names hold TEXT (all "
                     "outermost operators of torch)"),
    PT_OPTION_UINT64(S, sequence_min, 0, "sequence-min", "N", 1, 1000000,
                     "kernels and copies of the shortest sequence that counts (2)"),
    PT_OPTION_FLAG(S, require_all, 0, "require-all", "fail when ranks are missing"),
    PT_OPTION_FLAG(S, strict, 0, "strict", "fail when anything had to be skipped or mended"),
    PT_OPTION_INT(S, jobs, 'j', "jobs", "N", 1, 256, "threads (one for each processor)"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... INPUT...", "merge [OPTION]... RESULT...",
                                       "diff [OPTION]... BEFORE AFTER", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-analyze --profile-dir /logs/vllm_profile", "all ranks of a profile"},
    {"perf-trace-analyze rank0.trace.json.gz --html rank0.html", "one, and a page with charts"},
    {"perf-trace-analyze traces/ --sequences-of attention --table sequences",
     "which kernels attention launches, how often"},
    {"perf-trace-analyze traces/ --rank 3 --json", "one rank of many, for a program"},
    {"perf-trace-analyze rank3.json.gz --partial rank3.result", "on each node, then:"},
    {"perf-trace-analyze merge rank*.result", "what one run over all would have shown"},
    {"perf-trace-analyze diff before/ after/", "what changed between two runs"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"RULES",
     "A line of the file of --rules is GROUP, CLASS and PATTERN, parted by tabs. GROUP is compute, "
     "communication or memory. A pattern is a part of a kernel's name, case aside; a + b wants "
     "both, a | b one of them. The first rule that fits counts, those of the file before the "
     "built-in ones. Lines that begin with # are comments."},
    {NULL, NULL}};

const pt_tool_t pt_analyze_tool = {
    .name = "perf-trace-analyze",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "show where the devices' and the host's time went, from profiler traces",
    .synopsis = synopsis,
    .description =
        "Reads traces in Chrome's JSON format and JSON lines, as torch.profiler (Kineto), vLLM, "
        "SGLang and libperftrace write them, plain or gzip, of any number of ranks, and prints how "
        "busy the devices were and why they were idle, which kernels took how long, how launches, "
        "streams and communication did, the steps, who waited for whom, and what is worth looking "
        "at first. An INPUT is a file, a directory, a glob, or - for standard input.\n\n"
        "A rank is what --rank-map says, else what the trace says (distributedInfo, header, "
        "events), else what the file's name says (rank3, r3, TP-3); where nothing tells, files are "
        "numbered, with a warning. Ranks that the world size counts and that are not there are "
        "named. Two files of one rank are an error.\n\n"
        "What is not recorded is left out (null in JSON), never 0; the table coverage says what "
        "each figure covers, and of how many ranks it is recorded.\n\n"
        "merge and diff are told by the first operand; for a file of that name, write ./merge.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .operand_glob = "*.json*",
    .see_also = "perf-trace-convert(1), perf-trace-sessions(1)",
};

static int usage_error(const char *text) {
    return pt_option_usage_error(&pt_analyze_tool, "%s", text);
}

static void take_command(pt_analyze_options_t *o, pt_string_list_t *operands) {
    static const struct {
        const char *word;
        pt_analyze_command_t command;
    } known[] = {{"merge", PT_ANALYZE_MERGE}, {"diff", PT_ANALYZE_DIFF}};
    for (size_t i = 0; operands->count > 0 && i < PT_ARRAY_LEN(known); i++) {
        if (strcmp(operands->items[0], known[i].word) == 0) {
            o->command = known[i].command;
            free(operands->items[0]);
            operands->count--;
            memmove(operands->items, operands->items + 1,
                    operands->count * sizeof *operands->items);
            return;
        }
    }
}

static int check(pt_analyze_options_t *o, const pt_string_list_t *operands) {
    if (operands->count == 0) {
        return usage_error("no input is given");
    }
    if (o->command == PT_ANALYZE_DIFF && operands->count != 2) {
        return usage_error("diff takes two inputs: give a directory or a quoted glob for each");
    }
    if (o->json && o->csv) {
        return usage_error("--json and --csv exclude each other");
    }
    if (o->command == PT_ANALYZE_DIFF && (o->html != NULL || o->partial != NULL)) {
        return usage_error("--html and --partial are of one run: they do not go with diff");
    }
    if (o->partial != NULL && (o->json || o->csv || o->html != NULL || o->output != NULL)) {
        return usage_error("--partial writes results and no report: it goes with no other output");
    }
    if ((o->html != NULL && *o->html == '\0') || (o->output != NULL && *o->output == '\0') ||
        (o->partial != NULL && *o->partial == '\0')) {
        return usage_error("--output, --html and --partial need the name of a file");
    }
    if (o->html != NULL && o->output != NULL && pt_output_is_same(o->html, o->output)) {
        return usage_error("--html and --output name the same file");
    }
    if (o->sequences_of != NULL && *o->sequences_of == '\0') {
        return usage_error("--sequences-of needs a part of a name");
    }
    if (o->ranks != NULL && !pt_number_ranges_parse(&o->rank_ranges, o->ranks)) {
        return usage_error("--rank takes a list such as 0,8-9");
    }
    if (o->ranks != NULL && o->all_ranks) {
        return usage_error("--rank and --all-ranks exclude each other");
    }
    for (size_t i = 0; i < o->rank_map.count; i++) {
        if (!pt_rank_map_is_entry(o->rank_map.items[i])) {
            return usage_error("--rank-map takes FILE=RANK");
        }
    }
    return PT_OPTION_GO_ON;
}

int pt_analyze_options_parse(pt_analyze_options_t *o, int argc, char *const *argv,
                             pt_string_list_t *ret_operands) {
    *o = (pt_analyze_options_t){.top = 20, .kernel_wait_ns = 30, .sequence_min = 2};
    int status = pt_option_parse(&pt_analyze_tool, o, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    take_command(o, ret_operands);
    for (size_t i = 0; i < o->profile_dirs.count; i++) {
        if (!pt_string_list_add(ret_operands, o->profile_dirs.items[i])) {
            return PT_EXIT_INTERNAL;
        }
    }
    return check(o, ret_operands);
}

void pt_analyze_options_free(pt_analyze_options_t *o) {
    pt_string_list_free(&o->tables);
    pt_string_list_free(&o->profile_dirs);
    pt_string_list_free(&o->rank_map);
    pt_number_ranges_free(&o->rank_ranges);
}
