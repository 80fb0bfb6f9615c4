/* sessions_options.c: the command line of perf-trace-sessions. SPDX-License-Identifier: MIT */
#include "sessions_options.h"

#include "human.h"
#include "output.h"

#include <math.h>
#include <string.h>

static bool add_style(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    pt_sessions_options_t *o = values;
    return pt_phase_styles_add(&o->styles, value, ret_problem);
}

#define S pt_sessions_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("Output"),
    PT_OPTION_STRING(S, output, 'o', "output", "FILE", "write to FILE (- for standard output)"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object"),
    PT_OPTION_FLAG(S, csv, 0, "csv",
                   "print CSV: the columns table, row, column, value; of one --table its own"),
    PT_OPTION_LIST(S, tables, 0, "table", "NAME", "only this table, as --json names it"),
    PT_OPTION_UINT64(S, top, 'n', "top", "N", 0, 100000,
                     "rows of the lists of the slowest and of the unfinished (10)"),
    PT_OPTION_HEADING("Charts"),
    PT_OPTION_STRING(S, html, 0, "html", "FILE",
                     "write a page with charts for a browser to FILE, too (- for standard output, "
                     "instead)"),
    PT_OPTION_CALLBACK(add_style, 0, "phase-style", "NAME=#RRGGBB[:LABEL]",
                       "colour and label of a phase in it"),
    PT_OPTION_FLAG(S, lifecycle, 'L', "lifecycle", "show timelines of sessions in it (on)"),
    PT_OPTION_UINT64(S, timelines, 'N', "max-lifecycle-sessions", "N", 1, 100000,
                     "timelines of the N first to end, slowest and unfinished (200)"),
    PT_OPTION_HEADING("What to take"),
    PT_OPTION_STRING(S, ranks, 0, "ranks", "LIST", "only these ranks, as 0,8-9"),
    PT_OPTION_LIST(S, roles, 0, "role", "ROLE", "only this role"),
    PT_OPTION_LIST(S, statuses, 0, "status", "STATUS", "only sessions with this status"),
    PT_OPTION_LIST(S, tasks, 0, "task", "ID", "only samples of this task"),
    PT_OPTION_STRING(S, from, 0, "from", "TIME",
                     "only sessions that last past TIME after the start of their run, as 1.5s"),
    PT_OPTION_STRING(S, to, 0, "to", "TIME", "only sessions that are submitted before TIME"),
    PT_OPTION_STRING(S, steps, 0, "steps", "A[-B]", "only these training steps, from 0; needs -B"),
    PT_OPTION_HEADING("How"),
    PT_OPTION_UINT64(S, batch_size, 'B', "consumer-batch-size", "TASKS", 1, 1000000000,
                     "tasks that a training step consumes, of all ranks together: shows steps"),
    PT_OPTION_FLAG(S, compare, 0, "compare", "compare two runs: the first INPUT with the second"),
    PT_OPTION_DOUBLE(S, confidence, 0, "confidence", "PERCENT",
                     "of the intervals of --compare (99)"),
    PT_OPTION_FLAG(S, strict, 0, "strict", "fail when anything had to be skipped or mended"),
    PT_OPTION_INT(S, jobs, 'j', "jobs", "N", 1, 256, "threads (one for each processor)"),
};
#undef S

static const char *const synopsis[] = {"[OPTION]... INPUT...", "--compare [OPTION]... A B", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-sessions logs/", "all sessions below a directory"},
    {"perf-trace-sessions sessions-r*.jsonl -B 128", "with training steps of 128 tasks"},
    {"perf-trace-sessions logs/ -B 128 --html sessions.html", "the same, and a page with charts"},
    {"perf-trace-sessions logs/ --status failed --role rollout", "what failed, and where"},
    {"perf-trace-sessions logs/ --csv --table slowest --top 100", "the slowest, for a spreadsheet"},
    {"perf-trace-sessions traces-r*.jsonl", "from traces, without files of records"},
    {"perf-trace-sessions --compare before/ after/", "what has changed, and what is noise"},
    {NULL, NULL}};

const pt_tool_t pt_sessions_tool = {
    .name = "perf-trace-sessions",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "show which sessions were slow, rejected or stuck, and in which phase",
    .synopsis = synopsis,
    .description =
        "Reads records of sessions (samples of an RL task on their way from submission to reward), "
        "as libperftrace and AReaL write them, one JSON object a line, plain or gzip, and prints "
        "how they ended, where the time went, which ranks, tasks and sessions were slow, and what "
        "did not end. An INPUT is a file, a directory, a glob, or - for standard input.\n\n"
        "Traces of libperftrace (traces-*.jsonl) tell their sessions, too: one is read where no "
        "records of its run are among the inputs.\n\n"
        "Percentiles are exact, interpolated between the two nearest values. A phase that a "
        "session has not recorded is left out of its figures and shows as coverage, never as "
        "zero.\n\n"
        "A rank is marked as a straggler when the mean of its totals lies above the median of all "
        "ranks' means by more than 3 scaled median absolute deviations and by more than 10 %, of "
        "three ranks or more. An unfinished session is marked as stuck when it is older than twice "
        "the p99 of the totals of finished ones, at the last time seen in its run.\n\n"
        "A training step (-B) ends when every rank has completed its part of so many tasks: "
        "AReaL's rule. --compare resamples the tasks of both runs, and calls a change significant "
        "when its interval does not hold zero.\n\n"
        "What is wrong in the input (torn lines, ranks that are missing, negative durations, "
        "records given twice) is counted and named once with its file, line and byte offset.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .operand_glob = "*.jsonl",
    .see_also = "perf-trace-convert(1), perf-trace-recover(1)",
};

static int usage_error(const char *text) {
    return pt_option_usage_error(&pt_sessions_tool, "%s", text);
}

/* A duration in seconds; false when it is none. */
static bool parse_time(const char *text, double *ret) {
    uint64_t ns;
    if (text == NULL) {
        return true;
    }
    bool ok = pt_parse_duration(text, &ns);
    *ret = ok ? (double)ns / 1e9 : *ret;
    return ok;
}

int pt_sessions_options_parse(pt_sessions_options_t *o, int argc, char *const *argv,
                              pt_string_list_t *ret_operands) {
    *o = (pt_sessions_options_t){.top = 10,
                                 .lifecycle = true,
                                 .timelines = 200,
                                 .confidence = 99,
                                 .from_s = (double)-INFINITY,
                                 .to_s = (double)INFINITY};
    int status = pt_option_parse(&pt_sessions_tool, o, argc, argv, ret_operands);
    if (status != PT_OPTION_GO_ON) {
        return status;
    }
    if (ret_operands->count == 0) {
        return usage_error("no input is given");
    }
    if (o->compare && ret_operands->count != 2) {
        return usage_error(
            "--compare takes two inputs: give a directory or a quoted glob for each");
    }
    if (o->json && o->csv) {
        return usage_error("--json and --csv exclude each other");
    }
    if (o->html != NULL && o->compare) {
        return usage_error("--html shows one run: it does not go with --compare");
    }
    if (o->html != NULL && *o->html == '\0') {
        return usage_error("--html needs the name of a file");
    }
    if (o->html != NULL && o->output != NULL && pt_output_is_same(o->html, o->output)) {
        return usage_error("--html and --output name the same file");
    }
    if (!parse_time(o->from, &o->from_s)) {
        return usage_error("--from takes a time such as 1.5s");
    }
    if (!parse_time(o->to, &o->to_s)) {
        return usage_error("--to takes a time such as 1.5s");
    }
    if (o->from_s > o->to_s) {
        return usage_error("--from lies after --to");
    }
    if (o->ranks != NULL && !pt_number_ranges_parse(&o->rank_ranges, o->ranks)) {
        return usage_error("--ranks takes a list such as 0,8-9");
    }
    if (o->steps != NULL && !pt_number_range_parse(o->steps, strlen(o->steps), &o->step_range)) {
        return usage_error("--steps takes A or A-B");
    }
    if (o->steps != NULL && o->batch_size == 0) {
        return usage_error("--steps needs --consumer-batch-size");
    }
    if (!(o->confidence > 0 && o->confidence < 100)) {
        return usage_error("--confidence takes a percentage between 0 and 100");
    }
    if (o->output != NULL && *o->output == '\0') {
        return usage_error("--output needs the name of a file");
    }
    return PT_OPTION_GO_ON;
}

void pt_sessions_options_free(pt_sessions_options_t *o) {
    pt_phase_styles_free(&o->styles);
    pt_string_list_free(&o->tables);
    pt_string_list_free(&o->roles);
    pt_string_list_free(&o->statuses);
    pt_string_list_free(&o->tasks);
    pt_number_ranges_free(&o->rank_ranges);
}
