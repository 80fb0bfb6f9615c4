/* ctl_options.c: the command line of perf-trace-ctl. SPDX-License-Identifier: MIT */
#include "ctl_options.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

#define S pt_ctl_options_t
static const pt_option_t options[] = {
    PT_OPTION_HEADING("Whom to ask"),
    PT_OPTION_STRING(S, router_url, 'r', "router-url", "URL",
                     "the workers that the router at URL lists (GET /workers)"),
    PT_OPTION_LIST(S, workers, 'w', "workers", "URL,...",
                   "these workers: http://HOST:PORT or unix:PATH; operands that are URLs count, "
                   "too"),
    PT_OPTION_LIST(S, run_dirs, 'd', "run-dir", "DIR",
                   "the processes that left an endpoint file in DIR"),
    PT_OPTION_STRING(S, ranks, 'R', "ranks", "LIST",
                     "of these, the ranks in LIST (0,8-9); of a router, the places in its list"),
    PT_OPTION_STRING(S, token, 't', "token", "TEXT",
                     "the bearer token that workers ask for (default: PERFTRACE_CONTROL_TOKEN)"),
    PT_OPTION_DURATION(S, rpc_timeout_ns, 0, "rpc-timeout", "TIME",
                       "longest wait for one worker's answer (default 10s; stop and flush 30m)"),
    PT_OPTION_HEADING("What to profile (start)"),
    PT_OPTION_INT(S, num_steps, 'n', "num-steps", "N", 1, INT64_MAX, "stop after N steps"),
    PT_OPTION_INT(S, start_step, 0, "start-step", "N", 0, INT64_MAX, "begin at step N"),
    PT_OPTION_INT(S, delay_iterations, 0, "delay-iterations", "N", 0, INT64_MAX,
                  "begin after N iterations"),
    PT_OPTION_INT(S, max_iterations, 0, "max-iterations", "N", 1, INT64_MAX,
                  "stop after N iterations"),
    PT_OPTION_LIST(S, activities, 0, "activities", "NAME,...", "what is recorded: CPU, GPU, MEM"),
    PT_OPTION_LIST(S, categories, 0, "categories", "NAME,...",
                   "categories of scopes that are recorded only while a window is open"),
    PT_OPTION_STRING(S, output_dir, 'o', "output-dir", "DIR", "where the workers put their files"),
    PT_OPTION_FLAG(S, profile_by_stage, 0, "profile-by-stage", "prefill and decode apart"),
    PT_OPTION_FLAG(S, with_stack, 0, "with-stack", "with stacks of the calls"),
    PT_OPTION_FLAG(S, record_shapes, 0, "record-shapes", "with the shapes of tensors"),
    PT_OPTION_STRING(S, body, 0, "body", "JSON", "send this body; the options above are added"),
    PT_OPTION_HEADING("Waiting"),
    PT_OPTION_DURATION(S, timeout_ns, 0, "timeout", "TIME", "how long wait waits (default 10m)"),
    PT_OPTION_STRING(S, wait_files, 0, "wait-files", "DIR",
                     "after the action: until trace files lie in DIR that are complete"),
    PT_OPTION_UINT64(S, files, 0, "files", "N", 1, 1000000, "how many (default: one a worker)"),
    PT_OPTION_HEADING("Replicas (gather)"),
    PT_OPTION_UINT64(S, replica_size, 0, "replica-size", "N", 1, 1000000,
                     "ranks of one replica (default 1): rank R of all is of replica R / N"),
    PT_OPTION_HEADING("Other"),
    PT_OPTION_FLAG(S, force, 'f', "force", "flush: to the disk"),
    PT_OPTION_FLAG(S, json, 0, "json", "print one JSON object instead of a table"),
};
#undef S

static const char *const synopsis[] = {"ACTION [OPTION]... [URL]...", "gather [OPTION]... DIR",
                                       NULL};

static const pt_text_t examples[] = {
    {"perf-trace-ctl start --router-url http://127.0.0.1:30000", "every worker of a router"},
    {"perf-trace-ctl stop --router-url http://127.0.0.1:30000 --wait-files /data/traces",
     "and wait until their traces are there"},
    {"perf-trace-ctl scopes --run-dir out", "why does the job hang"},
    {"perf-trace-ctl start --run-dir out --ranks 0,8 --num-steps 3", "two ranks, three steps"},
    {"perf-trace-ctl check http://node1:8000 http://node2:8000",
     "were these vLLM servers started so that they can be profiled"},
    {"perf-trace-ctl gather outputs/profile --replica-size 8 --ranks 0,8",
     "two ranks' traces, side by side"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"ACTIONS",
#define X(name, word, help) "  " word "\n      " help "\n"
     PT_CTL_ACTIONS(X)
#undef X
    },
    {"ENVIRONMENT", "PERFTRACE_CONTROL_TOKEN gives the token where --token does not; it is not "
                    "seen in the list of processes."},
    {NULL, NULL}};

static const pt_text_t exits[] = {{"0", "every worker did it"},
                                  {"1", "some did and some did not"},
                                  {"2", "the command line is wrong"},
                                  {"3", "none did, or there are no workers"},
                                  {"4", "the output cannot be written"},
                                  {"5", "out of memory, or an internal limit was reached"},
                                  {NULL, NULL}};

const pt_tool_t pt_ctl_tool = {
    .name = "perf-trace-ctl",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "start, stop and look at running workers",
    .synopsis = synopsis,
    .description =
        "Asks running workers over HTTP: programs with libperftrace that listen "
        "(PERFTRACE_CONTROL), and the servers of vLLM and SGLang, whose /start_profile and "
        "/stop_profile are the same. All are asked at the same time, each with its own deadline, "
        "and a table says what each answered.\n\n"
        "The first operand is the action: start, stop, status, scopes, flush, hold, resume, "
        "wait, check or gather.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .see_also = "perf-trace-run(1), perf-trace-convert(1), perftrace_control(3)",
    .exits = exits,
};

static const char *const words[] = {
#define X(name, word, help) word,
    PT_CTL_ACTIONS(X)
#undef X
};

const char *pt_ctl_action_word(pt_ctl_action_t action) {
    return words[action];
}

static int choose_action(pt_ctl_options_t *o, const pt_string_list_t *operands) {
    if (operands->count == 0) {
        return pt_option_usage_error(&pt_ctl_tool, "no action is given: start, stop, status...");
    }
    const char *word = operands->items[0];
    for (size_t i = 0; i < PT_ARRAY_LEN(words); i++) {
        if (strcmp(word, words[i]) == 0) {
            o->action = (pt_ctl_action_t)i;
            return PT_OPTION_GO_ON;
        }
    }
    int near = pt_nearest_name(word, words, PT_ARRAY_LEN(words));
    return near >= 0 ? pt_option_usage_error(&pt_ctl_tool, "there is no action %s; is %s meant?",
                                             word, words[near])
                     : pt_option_usage_error(&pt_ctl_tool, "there is no action %s", word);
}

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

static int take_operands(pt_ctl_options_t *o, const pt_string_list_t *operands) {
    int status = choose_action(o, operands);
    for (size_t i = 1; i < operands->count && status == PT_OPTION_GO_ON; i++) {
        const char *text = operands->items[i];
        bool gather = o->action == PT_CTL_GATHER;
        if (!gather && strchr(text, ':') == NULL) {
            status = pt_option_usage_error(&pt_ctl_tool, "%s is no URL of a worker", text);
        } else if (!pt_string_list_add(gather ? &o->gather_dirs : &o->workers, text)) {
            status = out_of_memory();
        }
    }
    return status;
}

static int check_options(pt_ctl_options_t *o) {
    if (o->action == PT_CTL_GATHER) {
        if (o->gather_dirs.count != 1) {
            return pt_option_usage_error(&pt_ctl_tool, "gather takes one directory");
        }
    } else if (o->router_url == NULL && o->workers.count == 0 && o->run_dirs.count == 0 &&
               (o->action != PT_CTL_WAIT || o->wait_files == NULL)) {
        return pt_option_usage_error(&pt_ctl_tool,
                                     "no worker is given: --router-url, --workers or --run-dir");
    }
    if (o->ranks != NULL && !pt_number_ranges_parse(&o->rank_list, o->ranks)) {
        return pt_option_usage_error(&pt_ctl_tool, "--ranks: %s is no list such as 0,8-9",
                                     o->ranks);
    }
    if (o->token == NULL) {
        o->token = getenv("PERFTRACE_CONTROL_TOKEN");
    }
    if (o->token != NULL && strpbrk(o->token, "\r\n") != NULL) {
        return pt_option_usage_error(&pt_ctl_tool, "a token has no line ends");
    }
    return PT_OPTION_GO_ON;
}

int pt_ctl_options_parse(pt_ctl_options_t *o, int argc, char *const *argv) {
    pt_string_list_t operands = PT_STRING_LIST_INIT;
    *o = (pt_ctl_options_t){.num_steps = -1,
                            .start_step = -1,
                            .max_iterations = -1,
                            .delay_iterations = -1,
                            .replica_size = 1,
                            .timeout_ns = UINT64_C(600000000000)};
    int status = pt_option_parse(&pt_ctl_tool, o, argc, argv, &operands);
    if (status == PT_OPTION_GO_ON) {
        status = take_operands(o, &operands);
    }
    if (status == PT_OPTION_GO_ON) {
        status = check_options(o);
    }
    pt_string_list_free(&operands);
    return status;
}

void pt_ctl_options_free(pt_ctl_options_t *o) {
    pt_string_list_free(&o->workers);
    pt_string_list_free(&o->run_dirs);
    pt_string_list_free(&o->gather_dirs);
    pt_string_list_free(&o->activities);
    pt_string_list_free(&o->categories);
    pt_number_ranges_free(&o->rank_list);
}
