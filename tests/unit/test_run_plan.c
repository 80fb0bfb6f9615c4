/* test_run_plan.c: from a profile to command lines and variables. SPDX-License-Identifier: MIT */
#include "run_plan.h"
#include "run_profile_util.h"

static pt_plan_t plan;
static pt_run_problems_t problems;
static pt_string_list_t command;
static pt_plan_request_t request;

static void set_command(const char *words) {
    pt_string_list_free(&command);
    assert_true(pt_string_list_split(&command, words, ' '));
}

static const char *inherited_timeout(const char *name, void *user) {
    (void)user;
    return strcmp(name, "VLLM_RPC_TIMEOUT") == 0 ? "60000" : NULL;
}

static int set_up(void **state) {
    (void)state;
    plan = (pt_plan_t){0};
    problems = (pt_run_problems_t)PT_RUN_PROBLEMS_INIT;
    set_command("python3 train.py");
    request = (pt_plan_request_t){.group = "ActorGroup",
                                  .command = &command,
                                  .local_ranks = 1,
                                  .world_size = 1,
                                  .master_addr = "127.0.0.1",
                                  .master_port = 29500,
                                  .temp_dir = "/tmp",
                                  .get = no_variable};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    pt_plan_free(&plan);
    pt_run_problems_free(&problems);
    pt_string_list_free(&command);
    return 0;
}

static void make(const profiled_t *p) {
    pt_plan_free(&plan);
    request.profile = &p->profile;
    pt_plan_make(&request, &plan, &problems);
    assert_false(plan.failed);
}

/* The command line of the first rank. */
static const char *line(const char *block) {
    static char text[4096];
    profiled_t p = profile_of_block(block);
    assert_no_errors(p);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    make(&p);
    pt_plan_put_line(&plan.ranks[0], false, &out);
    snprintf(text, sizeof(text), "%.*s", (int)out.len - 1, perftrace__strbuf_cstr(&out));
    perftrace__strbuf_free(&out);
    drop(&p);
    return text;
}

static const char *env(const char *name) {
    return pt_settings_get(&plan.ranks[0].env, name);
}

/* ---- command lines ------------------------------------------------------------------------------
 */

static void test_nsight(void **state) {
    (void)state;
    assert_string_equal(line("backend: nsight\nworker_groups: all\noutput_dir: /p\n"),
                        "nsys profile -o /p/rlinf_profile_ActorGroup_0_%p python3 train.py");
    assert_string_equal(
        line("backend: nsight\nworker_groups: ActorGroup\noutput_dir: /p\nsteps: [3]\n"
             "options: {t: 'cuda,nvtx', backtrace: fp, w: True}\nflags: [python-backtrace, y]\n"),
        "nsys profile --python-backtrace -y -t cuda,nvtx --backtrace=fp -w true "
        "--capture-range=cudaProfilerApi --capture-range-end=stop "
        "-o /p/rlinf_profile_ActorGroup_0_%p python3 train.py");
    assert_string_equal(plan.ranks[0].report_dir, "/p");
    assert_string_equal(plan.ranks[0].report_start, "rlinf_profile_ActorGroup_0_");
    assert_string_equal(plan.output_dir, "/p");
    assert_string_equal(plan.title, "nsys");
}

static void test_own_output(void **state) {
    (void)state;
    assert_string_equal(line("backend: nsight\nworker_groups: all\noutput_dir: /p\n"
                             "options: {o: /own/rep%p}\n"),
                        "nsys profile -o /own/rep%p python3 train.py");
    assert_string_equal(plan.ranks[0].report_dir, "/own");
    assert_string_equal(plan.ranks[0].report_start, "rep");
    assert_string_equal(line("backend: nsight\nworker_groups: all\noutput_dir: /p\n"
                             "options: {output: rep}\n"),
                        "nsys profile --output=rep python3 train.py");
    assert_string_equal(plan.ranks[0].report_dir, ".");
    assert_string_equal(line("backend: nsight\nworker_groups: all\noutput_dir: /p\n"
                             "options: {o: '/d%h/rep'}\n"),
                        "nsys profile -o /d%h/rep python3 train.py");
    assert_null(plan.ranks[0].report_dir); /* only nsys knows */
    assert_int_equal(problems.warnings.len, 0);
    request.local_ranks = request.world_size = 2;
    line("backend: nsight\nworker_groups: all\noptions: {o: rep}\noutput_dir: /p\n");
    assert_string_equal(problems.warnings.data,
                        "run.yaml:5: cluster.profiling.options.o: all ranks "
                        "write to the same report, \"rep\"\n");
}

static void test_rocprof(void **state) {
    (void)state;
    assert_string_equal(line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"),
                        "rocprof-sys-python -- python3 train.py");
    assert_string_equal(line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"
                             "args: {T: hip}\n"),
                        "rocprof-sys-python -T hip -- python3 train.py");
    assert_string_equal(line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"
                             "args: {output-format: json}\n"),
                        "rocprof-sys-python --output-format=json -- python3 train.py");
    assert_string_equal(line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"
                             "args: {T: 'hip,hsa,rccl', output-format: json, v: 2}\n"),
                        "rocprof-sys-python -T hip,hsa,rccl --output-format=json -v 2 -- "
                        "python3 train.py");
}

static void test_rocprof_env(void **state) {
    (void)state;
    request.group = "Actor/Group 1:x";
    line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"
         "env: {ROCPROFSYS_SAMPLING_FREQ: '100'}\n");
    assert_string_equal(env("ROCPROFSYS_TIME_OUTPUT"), "false");
    assert_string_equal(env("ROCPROFSYS_OUTPUT_PATH"), "/p");
    assert_string_equal(env("ROCPROFSYS_OUTPUT_PREFIX"), "rlinf_profile_Actor_Group_1_x_0_%p");
    assert_string_equal(env("ROCPROFSYS_SAMPLING_FREQ"), "100");
    assert_string_equal(plan.ranks[0].report_start, "rlinf_profile_Actor_Group_1_x_0_");

    line("backend: rocprof_sys\nworker_groups: all\noutput_dir: /p\n"
         "env: {ROCPROFSYS_OUTPUT_PATH: /q, ROCPROFSYS_TIME_OUTPUT: 'true', "
         "ROCPROFSYS_OUTPUT_PREFIX: run-}\n");
    assert_string_equal(env("ROCPROFSYS_OUTPUT_PATH"), "/q");
    assert_string_equal(env("ROCPROFSYS_TIME_OUTPUT"), "true");
    assert_string_equal(plan.ranks[0].report_dir, "/q");
    assert_string_equal(plan.ranks[0].report_start, "run-");

    pt_settings_t own = PT_SETTINGS_INIT;
    pt_settings_put(&own, "ROCPROFSYS_OUTPUT_PATH", "/r", "--env");
    request.env = &own;
    line("backend: rocprof_sys\nworker_groups: all\nenv: {ROCPROFSYS_OUTPUT_PATH: /q}\n"
         "output_dir: /p\n");
    assert_string_equal(env("ROCPROFSYS_OUTPUT_PATH"), "/r");
    pt_settings_free(&own);
}

static void test_not_selected(void **state) {
    (void)state;
    static const char *const blocks[] = {
        "backend: rocprof_sys\nworker_groups: EnvGroup\noutput_dir: /p\nenv: {A: 1}\nsteps: [1]\n",
        "backend: nsight\nworker_groups: all\nenabled: false\nenv: {A: 1}\nsteps: [1]\n",
        "backend: nsight\nenv: {A: 1}\n", "backend: none\nworker_groups: all\n"};
    for (size_t i = 0; i < PT_ARRAY_LEN(blocks); i++) {
        assert_string_equal(line(blocks[i]), "python3 train.py");
        assert_false(plan.selected);
        assert_null(plan.output_dir);
        assert_null(plan.title);
        assert_null(plan.ranks[0].report_dir);
        assert_int_equal(plan.ranks[0].env.count, 0);
    }
    assert_int_equal(problems.warnings.len, 0);
}

static void test_perf(void **state) {
    (void)state;
    assert_string_equal(line("backend: perf\nworker_groups: all\noutput_dir: /p\n"),
                        "perf record -F 99 --call-graph=fp -o "
                        "/p/rlinf_profile_ActorGroup_0_%p.data -- python3 train.py");
    request.pid = "4711";
    assert_string_equal(line("backend: perf\nworker_groups: all\noutput_dir: /p\n"
                             "options: {F: 999}\nflags: [g]\n"),
                        "perf record -g -F 999 -o /p/rlinf_profile_ActorGroup_0_4711.data -- "
                        "python3 train.py");
    assert_string_equal(plan.ranks[0].report_start, "rlinf_profile_ActorGroup_0_4711.data");
}

/* With steps perf is started off, and the worker is told how to switch it. */
static void test_perf_steps(void **state) {
    (void)state;
    static const char block[] =
        "backend: perf\nworker_groups: all\noutput_dir: /p\nsteps: [3, 7]\n";
    assert_string_equal(
        line(block),
        "perf record -F 99 --call-graph=fp -D -1 "
        "--control=fifo:/tmp/perf-trace-run-XXXXXX/0.commands,/tmp/perf-trace-run-XXXXXX/0.answers "
        "-o /p/rlinf_profile_ActorGroup_0_%p.data -- python3 train.py");
    assert_string_equal(env("PERFTRACE_PROFILE_STEPS"), "3,7");
    assert_string_equal(env("PERFTRACE_PROFILER"), "perf");
    pt_settings_t tracer = PT_SETTINGS_INIT;
    pt_settings_put(&tracer, "PERFTRACE_PROFILER", "self,perf,nvtx", NULL);
    request.tracer = &tracer;
    request.first_rank = 6;
    request.control_dir = "/run/x";
    line(block);
    assert_string_equal(env("PERFTRACE_PROFILER"), "self,perf,nvtx");
    assert_string_equal(env("PERFTRACE_PROFILER_PERF_CONTROL"),
                        "fifo:/run/x/6.commands,/run/x/6.answers");
    pt_settings_put(&tracer, "PERFTRACE_PROFILER", "self", NULL);
    line(block);
    assert_string_equal(env("PERFTRACE_PROFILER"), "self,perf");
    /* Under nsys the tracer calls cudaProfilerStart. */
    line("backend: nsight\nworker_groups: all\noutput_dir: /p\nsteps: [3]\n");
    assert_string_equal(env("PERFTRACE_PROFILER"), "self,cuda");
    assert_null(env("PERFTRACE_PROFILER_PERF_CONTROL"));
    /* Nothing is switched without steps, nor for other groups. */
    line("backend: perf\nworker_groups: all\noutput_dir: /p\n");
    assert_string_equal(env("PERFTRACE_PROFILER"), "self");
    line("backend: perf\nworker_groups: other\noutput_dir: /p\nsteps: [3]\n");
    assert_string_equal(env("PERFTRACE_PROFILER"), "self");
    assert_null(env("PERFTRACE_PROFILER_PERF_CONTROL"));
    pt_settings_free(&tracer);
}

static void test_temporary_directory(void **state) {
    (void)state;
    request.temp_dir = "/var/tmp";
    assert_string_equal(line("backend: nsight\nworker_groups: all\n"),
                        "nsys profile -o /var/tmp/rlinf_profile_ActorGroup_0_%p python3 train.py");
    assert_string_equal(problems.warnings.data, "there is no output_dir: reports go to /var/tmp\n");
}

/* ---- ranks --------------------------------------------------------------------------------------
 */

static void test_ranks(void **state) {
    (void)state;
    pt_settings_t tracer = PT_SETTINGS_INIT;
    pt_settings_put(&tracer, "PERFTRACE_DIR", "/traces", NULL);
    request.local_ranks = 2;
    request.first_rank = 10;
    request.world_size = 12;
    request.tell_ranks = true;
    request.tracer = &tracer;
    profiled_t p = profile_of_block("backend: nsight\nworker_groups: all\nsteps: [3, 10]\n"
                                    "output_dir: /p\n");
    make(&p);
    assert_int_equal(plan.count, 2);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_plan_put_line(&plan.ranks[1], true, &out);
    assert_string_equal(
        out.data, "env RANK=11 WORLD_SIZE=12 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
                  "MASTER_PORT=29500 PERFTRACE_DIR=/traces PERFTRACE_PROFILE_STEPS=3,10 "
                  "PERFTRACE_PROFILER=cuda nsys profile --capture-range=cudaProfilerApi "
                  "--capture-range-end=repeat-shutdown:2 "
                  "--kill=none -o /p/rlinf_profile_ActorGroup_11_%p python3 train.py\n");
    perftrace__strbuf_free(&out);
    pt_settings_free(&tracer);
    drop(&p);
}

static void test_quoting(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"", "''"},
                                           {"a b", "'a b'"},
                                           {"it's", "'it'\\''s'"},
                                           {"a=1,b:/x%y+z@-_.", "a=1,b:/x%y+z@-_."},
                                           {"$HOME", "'$HOME'"},
                                           {"*", "'*'"}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
        pt_plan_quote(&out, cases[i][0]);
        assert_string_equal(out.data, cases[i][1]);
        perftrace__strbuf_free(&out);
    }
}

/* ---- vLLM ---------------------------------------------------------------------------------------
 */

static void test_vllm(void **state) {
    (void)state;
    set_command("vllm serve M");
    assert_string_equal(line("backend: vllm\nworker_groups: all\noutput_dir: /p\n"),
                        "vllm serve M --profiler-config "
                        "'{\"profiler\": \"torch\", \"torch_profiler_dir\": \"/p\"}'");
    assert_string_equal(env("VLLM_RPC_TIMEOUT"), "1800000");
    assert_null(plan.title);
    assert_null(plan.ranks[0].report_dir); /* written when it is asked for */
    assert_string_equal(
        line("backend: vllm\nworker_groups: all\noutput_dir: /p\n"
             "options: {torch_profiler_dir: /logs, max_iterations: 3, ignore_frontend: true, "
             "torch_profiler_with_stack: False, delay_iterations: '7'}\n"
             "env: {VLLM_RPC_TIMEOUT: 5}\n"),
        "vllm serve M --profiler-config '{\"profiler\": \"torch\", \"torch_profiler_dir\": "
        "\"/logs\", \"max_iterations\": 3, \"ignore_frontend\": true, "
        "\"torch_profiler_with_stack\": false, \"delay_iterations\": 7}'");
    assert_string_equal(env("VLLM_RPC_TIMEOUT"), "5");
    request.get = inherited_timeout;
    assert_string_equal(line("backend: vllm\nworker_groups: all\noutput_dir: /p\n"
                             "options: {profiler: cuda}\n"),
                        "vllm serve M --profiler-config '{\"profiler\": \"cuda\"}'");
    assert_string_equal(env("VLLM_RPC_TIMEOUT"), "60000");
}

static void test_vllm_errors(void **state) {
    (void)state;
    static const struct {
        const char *options, *message;
    } cases[] = {
        {"{torch_profiler_dir: logs}", "torch_profiler_dir: must be an absolute path, this is "
                                       "\"logs\""},
        {"{max_iterations: -1}", "max_iterations: must be a whole number from 0, this is \"-1\""},
        {"{max_iterations: x}", "max_iterations: must be a whole number from 0, this is \"x\""},
        {"{ignore_frontend: 1}", "ignore_frontend: must be true or false, this is \"1\""},
        {"{profiler: nsys}", "profiler: must be torch or cuda, this is \"nsys\""},
        {"{with_stack: true}", "with_stack: vLLM's --profiler-config has no field with_stack; is "
                               "torch_profiler_with_stack meant?"},
        {"{max_iteration: 1}", "max_iteration: vLLM's --profiler-config has no field "
                               "max_iteration; is max_iterations meant?"},
    };
    set_command("vllm serve M");
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        char block[256];
        char wanted[512];
        snprintf(block, sizeof(block),
                 "backend: vllm\nworker_groups: all\noutput_dir: /p\noptions: %s\n",
                 cases[i].options);
        snprintf(wanted, sizeof(wanted), "run.yaml:6: cluster.profiling.options.%s\n",
                 cases[i].message);
        line(block);
        assert_string_equal(problems.errors.data, wanted);
        pt_run_problems_free(&problems);
    }
}

static void test_vllm_command(void **state) {
    (void)state;
    line("backend: vllm\nworker_groups: all\noutput_dir: /p\n");
    assert_non_null(strstr(problems.errors.data, "the command does not start vllm"));
    pt_run_problems_free(&problems);
    set_command("python3 -m vllm.entrypoints.openai.api_server");
    line("backend: vllm\nworker_groups: all\noutput_dir: /p\n");
    assert_int_equal(problems.errors.len, 0);
    set_command("/opt/bin/vllm serve --profiler-config={}");
    line("backend: vllm\nworker_groups: all\noutput_dir: /p\n");
    assert_non_null(strstr(problems.errors.data, "has a --profiler-config already"));
}

/* ---- the command line on top of a file ----------------------------------------------------------
 */

static void test_options_win(void **state) {
    (void)state;
    static const char *const argv[] = {"perf-trace-run",
                                       "--worker-groups",
                                       "EnvGroup",
                                       "--steps=5,6",
                                       "-O",
                                       "/cli",
                                       "-o",
                                       "t=nvtx",
                                       "-o",
                                       "x=1",
                                       "--flag=ff",
                                       "--",
                                       "python3",
                                       "train.py",
                                       "-o"};
    pt_run_options_t o;
    pt_string_list_free(&command);
    assert_int_equal(
        pt_run_options_parse(&o, PT_ARRAY_LEN(argv), (char *const *)(uintptr_t)argv, &command),
        PT_OPTION_GO_ON);
    assert_int_equal(command.count, 3);
    pt_run_profile_t profile;
    bool found;
    bool tracer;
    static const char text[] = "backend: nsight\nworker_groups: ActorGroup\nsteps: [1, 2, 3]\n"
                               "output_dir: /file\noptions: {t: cuda, y: 2}\nflags: [gg]\n";
    pt_run_profile_file_t file = {"run.yaml",  text, sizeof(text) - 1,
                                  no_variable, NULL, PT_BACKEND_UNSET};
    pt_run_profile_init(&profile);
    assert_true(pt_run_profile_read_yaml(&file, &profile, &problems, &found, &tracer));
    o.config = "run.yaml";
    pt_run_options_apply(&o, &profile);
    pt_run_profile_check(&profile, &problems);
    assert_string_equal(perftrace__strbuf_cstr(&problems.errors), "");
    request.profile = &profile;
    request.group = "envgroup";
    pt_plan_make(&request, &plan, &problems);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    pt_plan_put_line(&plan.ranks[0], false, &out);
    assert_string_equal(out.data,
                        "nsys profile --gg --ff -t nvtx -y 2 -x 1 --capture-range=cudaProfilerApi "
                        "--capture-range-end=repeat-shutdown:2 --kill=none -o "
                        "/cli/rlinf_profile_envgroup_0_%p python3 train.py -o\n");
    perftrace__strbuf_free(&out);
    pt_run_profile_free(&profile);
    pt_run_options_free(&o);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nsight),       TEST(test_own_output),
        TEST(test_rocprof),      TEST(test_rocprof_env),
        TEST(test_not_selected), TEST(test_perf),
        TEST(test_perf_steps),   TEST(test_ranks),
        TEST(test_quoting),      TEST(test_temporary_directory),
        TEST(test_vllm),         TEST(test_vllm_errors),
        TEST(test_vllm_command), TEST(test_options_win),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
