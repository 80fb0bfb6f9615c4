/* run_options.c: the command line of perf-trace-run. SPDX-License-Identifier: MIT */
#include "run_options.h"

#include "address_form.h"
#include "address_shown.h"
#include "rank_select.h"

#include <stdlib.h>

#define S pt_run_options_t

static bool add_pair(pt_settings_t *to, const char *option, const char *value,
                     perftrace__strbuf_t *ret_problem) {
    perftrace__strbuf_t origin = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&origin, "%s %.*s", option, (int)strcspn(value, "="), value);
    bool ok = pt_settings_put_pair(to, value, perftrace__strbuf_cstr(&origin));
    perftrace__strbuf_free(&origin);
    if (!ok) {
        perftrace__strbuf_puts(ret_problem, "expected NAME=VALUE");
    }
    return ok;
}

static bool add_option(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    return add_pair(&((S *)values)->options, "--option", value, ret_problem);
}

static bool add_env(void *values, const char *value, perftrace__strbuf_t *ret_problem) {
    return add_pair(&((S *)values)->env, "--env", value, ret_problem);
}

static const pt_choice_t backends[] = {
#define PT_I_BACKEND_CHOICE(name, key, program, options, flags, help)                              \
    {key, PT_BACKEND_##name, help},
    PT_BACKENDS(PT_I_BACKEND_CHOICE)
#undef PT_I_BACKEND_CHOICE
        {NULL, 0, NULL}};

static const pt_option_t options[] = {
    PT_OPTION_HEADING("What to profile"),
    PT_OPTION_STRING(S, config, 'c', "config", "FILE",
                     "YAML or JSON with a cluster.profiling block; what follows wins over it"),
    PT_OPTION_ENUM(S, backend, 'b', "backend", "NAME", backends, "the profiler"),
    PT_OPTION_FLAG(S, profile, 0, "profile", "run under the profiler (on); --no-profile does not"),
    PT_OPTION_STRING(S, group, 'g', "worker-group", "NAME", "the group that these workers are"),
    PT_OPTION_LIST(S, groups, 0, "worker-groups", "LIST",
                   "groups to profile, in any case; all is every group"),
    PT_OPTION_LIST(S, steps, 0, "steps", "LIST", "training steps to profile, as 3,10 (all)"),
    PT_OPTION_STRING(S, output_dir, 'O', "output-dir", "DIR", "reports go there; it is made"),
    PT_OPTION_CALLBACK(add_option, 'o', "option", "NAME=VALUE",
                       "of the profiler: nsys, rocprof-sys-python, perf record, or a field of "
                       "vLLM's --profiler-config"),
    PT_OPTION_LIST(S, flags, 0, "flag", "NAME", "of the profiler, one that takes no value"),
    PT_OPTION_HEADING("Workers"),
    PT_OPTION_UINT64(S, ranks, 'n', "ranks", "N", 1, 65536,
                     "start N workers (one), and tell them their ranks"),
    PT_OPTION_UINT64(S, nodes, 0, "nodes", "N", 1, 65536, "of the job, each with --ranks (1)"),
    PT_OPTION_UINT64(S, node_rank, 0, "node-rank", "N", 0, 65535, "of this node (0)"),
    PT_OPTION_STRING(S, master_addr, 0, "master-addr", "HOST",
                     "for MASTER_ADDR (what is inherited, else 127.0.0.1)"),
    PT_OPTION_UINT64(S, master_port, 0, "master-port", "N", 1, 65535,
                     "for MASTER_PORT (what is inherited, else 29500)"),
    PT_OPTION_CALLBACK(add_env, 'e', "env", "NAME=VALUE",
                       "a variable for the workers; wins over everything"),
    PT_OPTION_STRING(S, trace_dir, 0, "trace-dir", "DIR", "traces of the workers go there"),
    PT_OPTION_STRING(S, forward, 0, "forward", "URL",
                     "and from there to a perf-trace-collect while they grow: tcp:HOST:PORT, "
                     "tcp:unix:PATH or nats://HOST (PERFTRACE_FORWARD); a token by "
                     "PERFTRACE_FORWARD_TOKEN"),
    PT_OPTION_STRING(S, clean_env, 0, "clean-env", "RANKS",
                     "these ranks (all, or as 0,8-9) inherit no variables; they get only what is "
                     "set for them"),
    PT_OPTION_FLAG(S, keep_going, 'k', "keep-going",
                   "when a worker fails, let the others go on; else they get SIGTERM"),
    PT_OPTION_DURATION(S, kill_after_ns, 0, "kill-after", "TIME",
                       "and SIGKILL when they have not ended by then (30s)"),
    PT_OPTION_DURATION(S, grace_ns, 0, "grace", "TIME",
                       "how long a profiler may write its report once its worker ended (5m)"),
    PT_OPTION_HEADING("Output"),
    PT_OPTION_FLAG(S, dry_run, 0, "dry-run",
                   "start nothing: print the command line of each worker; with -v its variables "
                   "too"),
    PT_OPTION_STRING(S, log_dir, 0, "log-dir", "DIR",
                     "output of the workers goes to DIR/<group>-r<rank>.out and .err"),
    PT_OPTION_FLAG(S, prefix, 0, "prefix",
                   "put the rank in front of each line, of two workers and more (on)"),
};

static const char *const synopsis[] = {"[OPTION]... [--] COMMAND [ARG]...", NULL};

static const pt_text_t examples[] = {
    {"perf-trace-run --config run.yaml --worker-group ActorGroup --dry-run -- python3 train.py",
     "what would be started"},
    {"perf-trace-run -b nsight --steps 3,10 -n 8 -- python3 train.py",
     "eight ranks under Nsight Systems, two steps of each"},
    {"perf-trace-run -b perf -O prof -- ./train --lr 1e-4", "sample a program on the CPU"},
    {"perf-trace-run -b perf --steps 3,10 -O prof -- ./train", "two of its steps alone"},
    {"perf-trace-run -b vllm -O /data/prof -o max_iterations=3 -- vllm serve MODEL",
     "a server that answers to /start_profile"},
    {"mpirun -n 4 perf-trace-run -b perf -O prof -- ./train",
     "one worker a rank; the rank is mpirun's"},
    {"perf-trace-run -n 2 --trace-dir out --log-dir out -- ./train",
     "no profiler: traces and logs in one place"},
    {"perf-trace-run -n 8 --forward tcp:node0:7400 -- ./train",
     "traces go to a perf-trace-collect, too"},
    {NULL, NULL}};

static const pt_text_t sections[] = {
    {"CONFIGURATION",
     "cluster.profiling (else profiling, else the file itself) is a mapping with the keys of "
     "RLinf's configuration. ${key} in a value is another value of the file, ${oc.env:NAME} a "
     "variable. A perf_tracer section of the same file goes to the workers too.\n\n"
     "backend: required; nsight, rocprof_sys, perf, vllm or none.\n\n"
     "enabled: true; with false workers start without a profiler, and nothing is made.\n\n"
     "worker_groups: a name or a list; null, the default, is no group.\n\n"
     "steps: a list of whole numbers from 0; null is all. With nsight it brings "
     "capture-range=cudaProfilerApi and capture-range-end=stop; of several steps "
     "repeat-shutdown:<steps> with kill=none; perf starts with its events off. Options that are "
     "given win. The steps are those of perftrace_step(3): the worker's tracer is told "
     "(PERFTRACE_PROFILE_STEPS, PERFTRACE_PROFILER) to switch the profiler on and off.\n\n"
     "output_dir: null is <runner.logger.log_path>/<runner.logger.experiment_name>/profiling where "
     "the file has these, else the directory for temporary files.\n\n"
     "options (nsight, perf, vllm), args (rocprof_sys): a mapping; x: v becomes -x v, name: v "
     "becomes --name=v. flags (nsight, perf): a name or a list; they stand before the options.\n\n"
     "env: variables for the workers of profiled groups."},
    {"REPORTS",
     "<output_dir>/rlinf_profile_<group>_<rank>_%p is given to the profiler unless the options "
     "name "
     "an output; %p is the process, for perf that of perf-trace-run. A file counts as report when "
     "it is new and not empty; .qdstrm is an unfinished one.\n\n"
     "A worker that lives less than 50 ms may not be seen below its profiler; --grace then begins "
     "ten seconds after the start, when the profiler has no process below it."},
    {"SIGNALS",
     "INT, TERM, HUP, QUIT, USR1 and USR2 go to the workers, never to a profiler. Once all workers "
     "have ended, the first signal is only answered, a second one kills the profilers. A worker is "
     "known by its command line; where that has changed (a shell that became another program), "
     "the profiler's only child is taken for it after three seconds."},
    {NULL, NULL}};

static const pt_text_t exits[] = {
    {"0", "all workers ended with 0, and every report is there"},
    {"N", "the status of the first worker that failed; 128 and the number for a signal"},
    {"2", "nothing was started: the command line or the configuration is wrong"},
    {"3", "nothing was started: the configuration cannot be read"},
    {"4", "nothing was started: a directory or file cannot be made"},
    {"5", "out of memory, or an internal limit was reached"},
    {"125", "the workers ended well, but a report is missing"},
    {"126", "the profiler or the command cannot be executed"},
    {"127", "the profiler or the command was not found"},
    {NULL, NULL}};

const pt_tool_t pt_run_tool = {
    .name = "perf-trace-run",
    .version = PERFTRACE_TOOL_VERSION,
    .purpose = "start workers under a profiler, and wait for its reports",
    .synopsis = synopsis,
    .description =
        "Starts COMMAND as one worker or as N local ranks (RANK, WORLD_SIZE, LOCAL_RANK, "
        "LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT), behind nsys profile, rocprof-sys-python or "
        "perf record, or with vLLM's --profiler-config, as a YAML block or the options say. "
        "Settings of the tracer, from variables, --trace-dir and the perf_tracer section of the "
        "configuration, are handed to every worker.\n\n"
        "What ends the workers does not end the profilers: they get the time to write their "
        "reports, and ranks without one are named.",
    .options = options,
    .option_count = PT_ARRAY_LEN(options),
    .examples = examples,
    .sections = sections,
    .see_also = "perf-trace-convert(1), perf-trace-sessions(1)",
    .exits = exits,
    .runs_command = true,
};
#undef S

static int usage_error(const char *text) {
    return pt_option_usage_error(&pt_run_tool, "%s", text);
}

static int judge_forward(const char *to) {
    char shown[512];
    const char *problem =
        to && *to && strcmp(to, "off") != 0 ? perftrace__address_problem(to) : NULL;
    if (!problem) {
        return PT_OPTION_GO_ON;
    }
    perftrace__address_shown(to, shown, sizeof shown);
    return pt_option_usage_error(&pt_run_tool, "--forward %s: %s", shown, problem);
}

static int judge(const pt_run_options_t *o, const pt_string_list_t *command) {
    int selected;
    pt_run_profile_t steps;
    bool ok = true;
    if (command->count == 0 || !*command->items[0]) {
        return usage_error("there is no command to start");
    }
    if (o->node_rank >= o->nodes) {
        return usage_error("--node-rank counts from 0: it must be less than --nodes");
    }
    if (o->nodes > 1 && o->ranks == 0) {
        return usage_error("--nodes needs --ranks");
    }
    if (o->clean_env && perftrace__rank_selected(o->clean_env, 0, &selected) != 0) {
        return usage_error("--clean-env takes all, or ranks such as 0,8-9");
    }
    if (o->group && !*o->group) {
        return usage_error("--worker-group needs a name");
    }
    pt_run_profile_init(&steps);
    for (size_t i = 0; i < o->steps.count && ok; i++) {
        ok = pt_run_profile_add_step(&steps, o->steps.items[i]);
    }
    pt_run_profile_free(&steps);
    return ok ? judge_forward(o->forward)
              : usage_error("--steps takes whole numbers from 0, as 3,10");
}

int pt_run_options_parse(pt_run_options_t *o, int argc, char *const *argv,
                         pt_string_list_t *ret_command) {
    *o = (pt_run_options_t){.backend = PT_BACKEND_UNSET,
                            .profile = true,
                            .prefix = true,
                            .nodes = 1,
                            .grace_ns = UINT64_C(300000000000),
                            .kill_after_ns = UINT64_C(30000000000)};
    int status = pt_option_parse(&pt_run_tool, o, argc, argv, ret_command);
    if (status == PT_OPTION_GO_ON) {
        o->prefix = o->prefix && o->ranks > 1;
        status = judge(o, ret_command);
    }
    return status;
}

void pt_run_options_free(pt_run_options_t *o) {
    pt_string_list_free(&o->groups);
    pt_string_list_free(&o->steps);
    pt_string_list_free(&o->flags);
    pt_settings_free(&o->options);
    pt_settings_free(&o->env);
}

void pt_run_options_apply(const pt_run_options_t *o, pt_run_profile_t *profile) {
    if (o->backend != PT_BACKEND_UNSET) {
        profile->backend = o->backend;
    }
    profile->enabled = profile->enabled && o->profile;
    /* On the command line the wish for a profiler is the wish to profile. */
    bool all = !o->config && !profile->has_groups && o->groups.count == 0;
    profile->has_groups = profile->has_groups || all || o->groups.count > 0;
    if (o->groups.count) {
        pt_string_list_free(&profile->groups);
    }
    for (size_t i = 0; i < o->groups.count; i++) {
        profile->failed |= !pt_string_list_add(&profile->groups, o->groups.items[i]);
    }
    profile->failed |= all && !pt_string_list_add(&profile->groups, "all");
    if (o->steps.count) {
        profile->has_steps = true;
        profile->step_count = 0;
    }
    for (size_t i = 0; i < o->steps.count; i++) {
        pt_run_profile_add_step(profile, o->steps.items[i]);
    }
    if (o->output_dir) {
        free(profile->output_dir);
        profile->output_dir = strdup(o->output_dir);
        profile->failed |= !profile->output_dir;
    }
    pt_settings_put_all(&profile->options, &o->options);
    for (size_t i = 0; i < o->flags.count; i++) {
        if (!pt_string_list_has(&profile->flags, o->flags.items[i])) {
            profile->failed |= !pt_string_list_add(&profile->flags, o->flags.items[i]);
        }
    }
    if (o->flags.count && !profile->flags_place) {
        profile->flags_place = strdup("--flag");
    }
}
