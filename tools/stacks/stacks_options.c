/* stacks_options.c: the command line of perf-trace-stacks. SPDX-License-Identifier: MIT */
#include "stacks_options.h"

#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_FREQ 99

static bool set_no_categories(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    pt_stacks_options_t *o = values;
    (void)value;
    (void)ret_problem;
    o->no_categories = true;
    return true;
}

static const pt_choice_t units[] = {
    {"auto", PT_WEIGHTS_AUTO, "nanoseconds where their median is above 100000, else counts"},
    {"none", PT_WEIGHTS_NONE, "just numbers"},
    {"nanoseconds", PT_WEIGHTS_NANOSECONDS, NULL},
    {"microseconds", PT_WEIGHTS_MICROSECONDS, NULL},
    {"milliseconds", PT_WEIGHTS_MILLISECONDS, NULL},
    {"seconds", PT_WEIGHTS_SECONDS, NULL},
    {"bytes", PT_WEIGHTS_BYTES, NULL},
    {NULL, 0, NULL}};

static const pt_choice_t formats[] = {
    {"speedscope", PT_TO_SPEEDSCOPE, NULL}, {"collapsed", PT_TO_COLLAPSED, NULL}, {NULL, 0, NULL}};

#define S pt_stacks_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("What to take"),
    PT_OPTION_STRING(S, thread, 't', "thread", "TEXT",
                     "only threads whose name holds TEXT, whatever its case"),
    PT_OPTION_UINT64(S, top, 'n', "top", "N", 1, 1000000000,
                     "rows of each list (20; 5 of callers and callgraph; all of full)"),
    PT_OPTION_UINT64(S, depth, 0, "depth", "N", 0, 1000000000,
                     "frames of callers and callgraph, nearest to the function (5; 0: all)"),
    PT_OPTION_STRING(S, categories, 'c', "categories", "FILE",
                     "a JSON file {category: [function, ...]} for the table of categories"),
    PT_OPTION_CALLBACK_LAST(set_no_categories, 0, "no-categories", NULL, "no table of categories"),
    PT_OPTION_STRING(S, inclusive, 'i', "inclusive", "F,G", "inclusive weights of these functions"),
    PT_OPTION_HEADING("Other ways to name a command"),
    PT_OPTION_STRING(S, callers, 0, "callers", "F", "callers F"),
    PT_OPTION_STRING(S, call_graph, 0, "call-graph", "F", "callgraph F"),
    PT_OPTION_FLAG(S, full, 0, "full", "full"),
    PT_OPTION_FLAG(S, list_threads, 0, "list-threads", "threads"),
    PT_OPTION_HEADING("What weights are"),
    PT_OPTION_ENUM(S, unit, 0, "unit", "UNIT", units,
                   "unit of weights that have none (none; auto of convert, merge and batch)"),
    PT_OPTION_UINT64(S, freq, 0, "freq", "HZ", 1, 1000000000,
                     "weights are counts of samples taken HZ times a second (99)"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_STRING(S, output, 'o', "output", "FILE", "write to FILE (- for standard output)"),
    PT_OPTION_STRING(S, html, 0, "html", "FILE",
                     "write a page with a flame graph for a browser to FILE, too (- for standard "
                     "output, instead)"),
    PT_OPTION_ENUM(S, to, 0, "to", "FORMAT", formats, "format of convert, merge and diff"),
    PT_OPTION_STRING(S, name, 0, "name", "NAME", "name of the profile in a speedscope file"),
    PT_OPTION_FLAG(S, normalize, 0, "normalize",
                   "diff: scale the first profile to the total of the second"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object"),
    PT_OPTION_FLAG(S, csv, 0, "csv", "print CSV"),
    PT_OPTION_HEADING("How"),
    PT_OPTION_FLAG(S, mend, 0, "mend", "take evented profiles that are out of order, too, mended"),
    PT_OPTION_FLAG(S, strict, 0, "strict", "fail when anything had to be left out or mended"),
    PT_OPTION_INT(S, jobs, 'j', "jobs", "N", 1, 256, "threads (one for each processor)"),
};
#undef S

static const char *const synopsis[] = {"[top|threads|full|inclusive|summary] [OPTION]... INPUT...",
                                       "callers|callgraph FUNCTION [OPTION]... INPUT...",
                                       "diff [OPTION]... BEFORE AFTER",
                                       "convert|merge [OPTION]... INPUT... [-o FILE]",
                                       "batch [OPTION]... [DIR]",
                                       NULL};

static const pt_text_t examples[] = {
    {"perf-trace-stacks pyspy_driver.speedscope.json",
     "where the time went: functions, categories"},
    {"perf-trace-stacks threads pyspy_*.json", "which threads there are"},
    {"perf-trace-stacks top prof.json -t MainThread -n 30", "of one thread"},
    {"perf-trace-stacks prof.json --html prof.html", "the same, and a flame graph"},
    {"perf-trace-stacks callers readinto prof.json --depth 8", "who calls readinto"},
    {"perf-trace-stacks convert perf_collapsed.txt -o perf.speedscope.json", "for a viewer"},
    {"perf script | perf-trace-stacks convert - --to collapsed", "collapsed stacks from perf"},
    {"perf-trace-stacks diff before.txt after.txt", "what has changed"},
    {"perf-trace-stacks batch telemetry/", "all perf_*_collapsed.txt of a directory"},
    {NULL, NULL}};

const pt_tool_t pt_stacks_tool = {
    .name = "perf-trace-stacks",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "show where sampled stacks say that the time went",
    .synopsis = synopsis,
    .description =
        "Reads stacks that a sampling profiler took: speedscope's JSON (py-spy and others), "
        "collapsed stacks (\"root;caller;leaf WEIGHT\"), and the text of perf script, plain or "
        "gzip. An INPUT is a file, a directory, a glob, or - for standard input; several are put "
        "together, threads of one name as one.\n\n"
        "top shows the functions in which samples end, and their categories. threads lists "
        "threads. callers shows the stacks that lead to a function (its deepest occurrence), "
        "callgraph what leads to it and what it calls (its shallowest occurrence). full shows "
        "whole stacks, inclusive the functions in whose calls the time went, each counted once a "
        "sample however deep it recurs. summary says what the inputs hold. Tables are Markdown. "
        "Shares are of the weight of all threads that are looked at, unless they name another "
        "base.\n\n"
        "convert and merge write speedscope's JSON or collapsed stacks; in both the first frame "
        "of a collapsed stack is its thread. diff compares self and inclusive weights; with --to "
        "collapsed it writes stacks with two weights, as programs that draw red and blue flame "
        "graphs read them. batch converts each perf_*_collapsed.txt of a directory and writes "
        "their threads to perf_thread_summary.txt there.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .operand_glob = "*.json",
    .see_also = "perf-trace-analyze(1), perf-trace-convert(1)",
};

/* A word is a command, unless a file has its name and no other operand follows. */
static pt_stacks_command_t command_of(const pt_string_list_t *operands, size_t *ret_functions) {
    static const struct {
        const char *word;
        pt_stacks_command_t command;
        size_t functions;
    } commands[] = {
#define PT_I_STACKS_COMMAND(name, word, functions) {word, PT_STACKS_##name, functions},
        PT_STACKS_COMMAND_LIST(PT_I_STACKS_COMMAND)
#undef PT_I_STACKS_COMMAND
    };
    const char *first = operands->count > 0 ? operands->items[0] : "";
    *ret_functions = 0;
    for (size_t i = 0; i < PT_ARRAY_LEN(commands); i++) {
        if (strcmp(first, commands[i].word) == 0 &&
            !(operands->count == 1 && access(first, F_OK) == 0)) {
            *ret_functions = commands[i].functions;
            return commands[i].command;
        }
    }
    return PT_STACKS_FLAT;
}

static char *take_operand(pt_string_list_t *operands) {
    char *taken = operands->items[0];
    memmove(operands->items, operands->items + 1, --operands->count * sizeof *operands->items);
    return taken;
}

static const char *wrong_with(const pt_stacks_options_t *o, const pt_string_list_t *operands) {
    bool writes = o->command == PT_STACKS_CONVERT || o->command == PT_STACKS_MERGE;
    if (o->command == PT_STACKS_DIFF && operands->count != 2) {
        return "diff takes two inputs: before and after";
    }
    if (o->command == PT_STACKS_DIFF && o->to == PT_TO_SPEEDSCOPE) {
        return "diff writes collapsed stacks (--to collapsed) or a report";
    }
    if (operands->count == 0 && o->command != PT_STACKS_BATCH) {
        return "no input is given";
    }
    if (o->command == PT_STACKS_BATCH && operands->count > 1) {
        return "batch takes one directory";
    }
    if (o->json && o->csv) {
        return "--json and --csv exclude each other";
    }
    if ((o->json || o->csv) && (writes || o->command == PT_STACKS_BATCH)) {
        return "--json and --csv are for reports: convert and merge take --to, batch neither";
    }
    if (o->has_freq && o->unit != PT_WEIGHTS_DEFAULT && o->unit != PT_WEIGHTS_AUTO) {
        return "--freq says that weights are counts: it goes with --unit auto only";
    }
    if (o->output != NULL && *o->output == '\0') {
        return "--output needs the name of a file";
    }
    if (o->html != NULL &&
        (writes || o->command == PT_STACKS_BATCH || o->command == PT_STACKS_DIFF)) {
        return "--html goes with reports of one profile";
    }
    if (o->html != NULL &&
        (*o->html == '\0' || (o->output != NULL && pt_output_is_same(o->html, o->output)))) {
        return "--html needs the name of a file of its own";
    }
    if (o->command == PT_STACKS_CONVERT && operands->count > 1) {
        return "convert takes one input; merge takes several";
    }
    return NULL;
}

int pt_stacks_options_parse(pt_stacks_options_t *o, int argc, char *const *argv,
                            pt_string_list_t *operands) {
    size_t functions;
    *o = (pt_stacks_options_t){.depth = 5};
    int status = pt_option_parse(&pt_stacks_tool, o, argc, argv, operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    o->has_freq = o->freq > 0;
    o->freq = o->has_freq ? o->freq : USUAL_FREQ;
    o->command = command_of(operands, &functions);
    if (o->command != PT_STACKS_FLAT) {
        free(take_operand(operands));
    }
    if (functions > 0 && operands->count == 0) {
        return pt_option_usage_error(&pt_stacks_tool, "no function is named");
    }
    if (functions > 0) {
        o->function = take_operand(operands);
    }
    const char *wrong = wrong_with(o, operands);
    return wrong != NULL ? pt_option_usage_error(&pt_stacks_tool, "%s", wrong) : PT_OPTION_GO_ON;
}

void pt_stacks_options_free(pt_stacks_options_t *o) {
    free(o->function);
    o->function = NULL;
}
