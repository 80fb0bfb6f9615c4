/* test_run_profile.c: the profiling block of a configuration. SPDX-License-Identifier: MIT
 *
 * The behaviours are those that RLinf's own tests of its profiling configuration ask for, and one
 * message for each thing that can be wrong. */
#include "run_profile_util.h"

#include <unistd.h>

static const char *option(const profiled_t *p, const char *name) {
    return pt_settings_get(&p->profile.options, name);
}

/* ---- what is read -------------------------------------------------------------------------------
 */

static void test_parse(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\n"
                                    "worker_groups: [ActorGroup, RolloutGroup]\n"
                                    "steps: [3, 10]\n"
                                    "output_dir: /mnt/profiles/my_run/\n"
                                    "options:\n"
                                    "  t: cuda,nvtx\n"
                                    "  osrt-threshold: 1000\n"
                                    "flags: [python-backtrace]\n"
                                    "env: {A: 1, B: \"\"}\n");
    assert_no_errors(p);
    assert_int_equal(p.profile.backend, PT_BACKEND_NSIGHT);
    assert_true(p.profile.enabled);
    assert_int_equal(p.profile.groups.count, 2);
    assert_string_equal(p.profile.groups.items[1], "RolloutGroup");
    assert_int_equal(p.profile.step_count, 2);
    assert_int_equal(p.profile.steps[1], 10);
    assert_string_equal(p.profile.output_dir, "/mnt/profiles/my_run");
    assert_string_equal(option(&p, "t"), "cuda,nvtx");
    assert_string_equal(option(&p, "osrt-threshold"), "1000");
    assert_string_equal(p.profile.flags.items[0], "python-backtrace");
    assert_string_equal(pt_settings_get(&p.profile.env, "A"), "1");
    assert_string_equal(pt_settings_get(&p.profile.env, "B"), "");
    drop(&p);
}

static void test_json_is_yaml(void **state) {
    (void)state;
    profiled_t p = profile_of("{\"cluster\": {\"profiling\": {\"backend\": \"perf\", "
                              "\"worker_groups\": \"all\", \"steps\": null}}}");
    assert_no_errors(p);
    assert_int_equal(p.profile.backend, PT_BACKEND_PERF);
    assert_false(p.profile.has_steps);
    drop(&p);
}

static void test_places_of_the_block(void **state) {
    (void)state;
    profiled_t p = profile_of("profiling: {backend: perf}\n");
    assert_true(p.found);
    drop(&p);
    p = profile_of("backend: perf\nperf_tracer: {dir: /x}\n");
    assert_true(p.found);
    assert_true(p.tracer);
    drop(&p);
    p = profile_of("cluster: {num_nodes: 1}\n");
    assert_false(p.found);
    assert_false(p.tracer);
    drop(&p);
    p = profile_of("cluster: {profiling: null}\n");
    assert_false(p.found);
    drop(&p);
    p = profile_of("");
    assert_true(p.is_yaml);
    assert_false(p.found);
    drop(&p);
}

static void test_disabled(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nenabled: false\nworker_groups: all\n"
                                    "steps: [1]\noptions: {t: cuda}\n");
    assert_no_errors(p);
    assert_false(p.profile.enabled);
    assert_false(pt_run_profile_selects(&p.profile, "ActorGroup"));
    assert_false(pt_run_profile_takes_step(&p.profile, 1));
    drop(&p);
    p = profile_of_block("backend: nsight\nenabled: off\n");
    assert_false(p.profile.enabled);
    drop(&p);
}

static void test_groups(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\n");
    assert_false(pt_run_profile_selects(&p.profile, "ActorGroup"));
    drop(&p);
    p = profile_of_block("backend: nsight\nworker_groups: null\n");
    assert_false(pt_run_profile_selects(&p.profile, "ActorGroup"));
    drop(&p);
    p = profile_of_block("backend: nsight\nworker_groups: ActorGroup\n");
    assert_true(pt_run_profile_selects(&p.profile, "actorgroup"));
    assert_true(pt_run_profile_selects(&p.profile, "ACTORGROUP"));
    assert_false(pt_run_profile_selects(&p.profile, "Actor"));
    assert_false(pt_run_profile_selects(&p.profile, "EnvGroup"));
    drop(&p);
    p = profile_of_block("backend: nsight\nworker_groups: [EnvGroup, All]\n");
    assert_true(pt_run_profile_selects(&p.profile, "anything"));
    drop(&p);
    p = profile_of_block("backend: nsight\nworker_groups: []\n");
    assert_false(pt_run_profile_selects(&p.profile, "ActorGroup"));
    drop(&p);
}

static void test_steps(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nsteps: [3, 10, 3]\n");
    assert_true(pt_run_profile_takes_step(&p.profile, 3));
    assert_true(pt_run_profile_takes_step(&p.profile, 10));
    assert_false(pt_run_profile_takes_step(&p.profile, 4));
    assert_int_equal(pt_run_profile_windows(&p.profile), 2);
    drop(&p);
    p = profile_of_block("backend: nsight\nsteps: null\n");
    assert_true(pt_run_profile_takes_step(&p.profile, 123456));
    drop(&p);
    p = profile_of_block("backend: nsight\nsteps: []\n");
    assert_no_errors(p);
    assert_false(pt_run_profile_takes_step(&p.profile, 0));
    assert_non_null(strstr(p.problems.warnings.data, "list of steps is empty"));
    drop(&p);
}

/* 1,000 of each are read; none is taken for another. */
static void test_names_that_cannot_be(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nenabled: true\nbackend: perf\n");
    assert_non_null(strstr(p.problems.errors.data, "cluster.profiling.backend: given twice"));
    drop(&p);
    p = profile_of_block("backend: nsight\nenv: {A=B: c}\n");
    assert_non_null(strstr(p.problems.errors.data, "cluster.profiling.env.A=B: the name of a"));
    drop(&p);
    for (int count = 1000; count <= 1001; count++) {
        perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_puts(&text, "backend: nsight\noptions:\n");
        for (int i = 0; i < count; i++) {
            perftrace__strbuf_printf(&text, "  k%d: v\n", i);
        }
        p = profile_of_block(perftrace__strbuf_cstr(&text));
        if (count == 1000) {
            assert_no_errors(p);
        } else {
            assert_non_null(
                strstr(p.problems.errors.data, "profiling.options: there are more than 1000"));
        }
        drop(&p);
        perftrace__strbuf_free(&text);
    }
}

static void test_output_dir(void **state) {
    (void)state;
    static const char logger[] = "runner: {logger: {log_path: /results, experiment_name: exp}}\n";
    char text[512];
    snprintf(text, sizeof(text), "%scluster: {profiling: {backend: perf}}\n", logger);
    profiled_t p = profile_of(text);
    assert_string_equal(p.profile.output_dir, "/results/exp/profiling");
    drop(&p);
    snprintf(text, sizeof(text), "%scluster: {profiling: {backend: perf, output_dir: null}}\n",
             logger);
    p = profile_of(text);
    assert_string_equal(p.profile.output_dir, "/results/exp/profiling");
    drop(&p);
    snprintf(text, sizeof(text), "%scluster: {profiling: {backend: perf, output_dir: /own}}\n",
             logger);
    p = profile_of(text);
    assert_string_equal(p.profile.output_dir, "/own");
    drop(&p);
    p = profile_of("runner: {logger: {log_path: ../results, experiment_name: e}}\n"
                   "cluster: {profiling: {backend: perf}}\n");
    assert_int_equal(p.profile.output_dir[0], '/');
    assert_non_null(strstr(p.profile.output_dir, "/../results/e/profiling"));
    drop(&p);
    p = profile_of("cluster: {profiling: {backend: perf}}\n");
    assert_null(p.profile.output_dir);
    drop(&p);
}

static void test_references(void **state) {
    (void)state;
    profiled_t p = profile_of("name: exp7\n"
                              "cluster:\n"
                              "  profiling:\n"
                              "    backend: nsight\n"
                              "    output_dir: ${oc.env:SCRATCH}/${name}\n"
                              "    options: {t: \"${oc.env:TRACE,cuda}\"}\n");
    assert_no_errors(p);
    assert_string_equal(p.profile.output_dir, "/scratch/exp7");
    assert_string_equal(option(&p, "t"), "cuda");
    drop(&p);
    p = profile_of_block("backend: nsight\noutput_dir: ${nowhere}/x\n");
    assert_string_equal(p.problems.errors.data,
                        "run.yaml:4: cluster.profiling.output_dir: ${nowhere} is neither a value "
                        "of the file nor a variable\n");
    drop(&p);
}

/* ---- nsight -------------------------------------------------------------------------------------
 */

/* RLinf's profile/default. */
static void test_preset(void **state) {
    (void)state;
    profiled_t p = profile_of_block(
        "backend: nsight\nenabled: true\n"
        "worker_groups: [ActorGroup, RolloutGroup, EnvGroup, Actor, Rollout, Env]\n"
        "options:\n"
        "  t: cuda,cudnn,cublas,nvtx,osrt\n"
        "  sample: process-tree\n"
        "  cpuctxsw: process-tree\n"
        "  cudabacktrace: all\n"
        "  osrt-threshold: 1000\n"
        "flags: []\n");
    assert_no_errors(p);
    assert_int_equal(p.profile.groups.count, 6);
    assert_int_equal(p.profile.options.count, 5);
    assert_int_equal(p.profile.flags.count, 0);
    assert_string_equal(p.profile.options.items[0].name, "t");
    assert_string_equal(p.profile.options.items[4].value, "1000");
    drop(&p);
}

static void test_booleans(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\n"
                                    "options: {a: True, b: FALSE, c: yes, d: Off, e: \"True\"}\n");
    assert_string_equal(option(&p, "a"), "true");
    assert_string_equal(option(&p, "b"), "false");
    assert_string_equal(option(&p, "c"), "true");
    assert_string_equal(option(&p, "d"), "false");
    assert_string_equal(option(&p, "e"), "True"); /* quoted: a text */
    drop(&p);
}

static void test_range_end_alias(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"true", "stop"},     {"1", "stop"},
        {"yes", "stop"},      {"\"On\"", "stop"},
        {"false", "none"},    {"0", "none"},
        {"no", "none"},       {"\" OFF \"", "none"},
        {"repeat", "repeat"}, {"stop-shutdown", "stop-shutdown"}};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        char block[128];
        snprintf(block, sizeof(block), "backend: nsight\noptions: {stop-on-range-end: %s}\n",
                 cases[i][0]);
        profiled_t p = profile_of_block(block);
        assert_no_errors(p);
        assert_null(option(&p, "stop-on-range-end"));
        assert_string_equal(option(&p, "capture-range-end"), cases[i][1]);
        drop(&p);
    }
}

static void test_capture_ranges(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nsteps: [3]\n");
    assert_string_equal(option(&p, "capture-range"), "cudaProfilerApi");
    assert_string_equal(option(&p, "capture-range-end"), "stop");
    assert_null(option(&p, "kill"));
    drop(&p);
    /* "stop" would record the first window alone; the last one must not end the worker. */
    p = profile_of_block("backend: nsight\nsteps: [3, 10, 50, 10]\n");
    assert_string_equal(option(&p, "capture-range"), "cudaProfilerApi");
    assert_string_equal(option(&p, "capture-range-end"), "repeat-shutdown:3");
    assert_string_equal(option(&p, "kill"), "none");
    drop(&p);
    static const struct {
        const char *steps, *end;
    } windows[] = {{"[3, 10]", "repeat-shutdown:2"},
                   /* RLinf's workers start and stop around each step; ours take adjacent ones as
                    * one range, and nsys ends with the worker when fewer come than announced. */
                   {"[4, 3]", "repeat-shutdown:2"},
                   {"[7, 7]", "stop"}};
    for (size_t i = 0; i < PT_ARRAY_LEN(windows); i++) {
        char block[64];
        snprintf(block, sizeof(block), "backend: nsight\nsteps: %s\n", windows[i].steps);
        p = profile_of_block(block);
        assert_string_equal(option(&p, "capture-range-end"), windows[i].end);
        drop(&p);
    }
    p = profile_of_block("backend: nsight\nsteps: [3, 10]\n"
                         "options: {capture-range: nvtx, capture-range-end: none}\n");
    assert_string_equal(option(&p, "capture-range"), "nvtx");
    assert_string_equal(option(&p, "capture-range-end"), "none");
    assert_null(option(&p, "kill"));
    drop(&p);
    p = profile_of_block("backend: nsight\nsteps: [3, 10]\n"
                         "options: {stop-on-range-end: false, c: nvtx}\n");
    assert_string_equal(option(&p, "capture-range-end"), "none");
    assert_null(option(&p, "capture-range"));
    drop(&p);
    p = profile_of_block("backend: nsight\nsteps: [3, 10]\noptions: {k: sigterm}\n");
    assert_null(option(&p, "kill"));
    drop(&p);
    p = profile_of_block("backend: nsight\noptions: {t: cuda}\n");
    assert_int_equal(p.profile.options.count, 1); /* all steps: nothing is put in */
    drop(&p);
}

static void test_flags(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nflags: python-backtrace\n");
    assert_int_equal(p.profile.flags.count, 1);
    drop(&p);
    p = profile_of_block("backend: nsight\nflags: [a, b-c, 3]\n");
    assert_int_equal(p.profile.flags.count, 3);
    assert_string_equal(p.profile.flags.items[2], "3");
    drop(&p);
}

static void test_other_backends(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: rocprof_sys\n"
                                    "args: {T: \"hip,hsa\", output-format: json, trace: True}\n"
                                    "env: {ROCPROFSYS_SAMPLING_FREQ: \"100\"}\n");
    assert_no_errors(p);
    assert_string_equal(option(&p, "T"), "hip,hsa");
    assert_string_equal(option(&p, "trace"), "True");
    drop(&p);
    p = profile_of_block("backend: rocprof_sys\n");
    assert_no_errors(p);
    assert_int_equal(p.profile.options.count, 0);
    assert_int_equal(p.profile.env.count, 0);
    drop(&p);
    p = profile_of_block("backend: perf\n");
    assert_string_equal(option(&p, "F"), "99");
    assert_string_equal(option(&p, "call-graph"), "fp");
    drop(&p);
    p = profile_of_block("backend: perf\noptions: {count: 10000}\nflags: [g]\n");
    assert_int_equal(p.profile.options.count, 1);
    drop(&p);
    p = profile_of_block("backend: none\n");
    assert_no_errors(p);
    drop(&p);
}

/* The command line replaces the backend: the file's own keys are not held against it. */
static void test_backend_replaced(void **state) {
    (void)state;
    profiled_t p = profile_with("backend: nsight\nworker_groups: all\noptions: {t: cuda}\n"
                                "flags: [x]\n",
                                PT_BACKEND_ROCPROF_SYS);
    assert_no_errors(p);
    assert_int_equal(p.profile.options.count, 0);
    assert_int_equal(p.profile.flags.count, 0);
    assert_true(pt_run_profile_selects(&p.profile, "x"));
    drop(&p);
    p = profile_with("worker_groups: all\nprofiling: {steps: [1]}\n", PT_BACKEND_NSIGHT);
    assert_no_errors(p);
    assert_true(p.profile.has_steps);
    drop(&p);
}

/* ---- what is wrong ------------------------------------------------------------------------------
 */

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *block, *message;
    } cases[] = {
        {"enabled: true", "3: cluster.profiling.backend: is required: one of none, nsight, "
                          "rocprof_sys, perf, vllm"},
        {"backend: null", "3: cluster.profiling.backend: is required: one of none, nsight, "
                          "rocprof_sys, perf, vllm"},
        {"backend: nsigth", "3: cluster.profiling.backend: there is no backend \"nsigth\"; known "
                            "are none, nsight, rocprof_sys, perf, vllm; is nsight meant?"},
        {"backend: [nsight]",
         "3: cluster.profiling.backend: must be the name of a backend, this is a list"},
        {"backend: nsight\nenabled: maybe",
         "4: cluster.profiling.enabled: must be true or false, this is a text"},
        {"backend: nsight\noptions: [t]",
         "4: cluster.profiling.options: must be a mapping, this is a list"},
        {"backend: nsight\noptions: cuda",
         "4: cluster.profiling.options: must be a mapping, this is a text"},
        {"backend: nsight\noptions: {t: [cuda]}",
         "4: cluster.profiling.options.t: must be a single value, this is a list"},
        {"backend: nsight\noptions:\n  t: cuda\n  x:",
         "6: cluster.profiling.options.x: needs a value; names without one belong to flags"},
        {"backend: nsight\noptions: {stop-on-range-end: null}",
         "4: cluster.profiling.options.stop-on-range-end: needs a value; names without one belong "
         "to flags"},
        {"backend: nsight\noptions:\n  t: cuda\n  t: nvtx",
         "6: cluster.profiling.options.t: given twice"},
        {"backend: nsight\noptions: {\"\": 1}", "4: cluster.profiling.options.: an empty name"},
        {"backend: nsight\noptions:\n  stop-on-range-end: true\n  capture-range-end: stop",
         "5: cluster.profiling.options.stop-on-range-end: stop-on-range-end and capture-range-end "
         "mean the same: give one of them"},
        {"backend: nsight\noptions: {o: a, output: b}",
         "4: cluster.profiling.options.o: o and output mean the same: give one of them"},
        {"backend: nsight\nflags: {a: 1}",
         "4: cluster.profiling.flags: must be a name or a list of names, this is a mapping"},
        {"backend: nsight\nflags: [a, \"\"]", "4: cluster.profiling.flags: an empty name"},
        {"backend: nsight\nflags: [[a]]",
         "4: cluster.profiling.flags: must be a name or a list of names, this is a list"},
        {"backend: nsight\noptions: {t: cuda, b: fp, x: 1}\nflags: [b, t, y]",
         "5: cluster.profiling.flags: also among the options: b, t"},
        {"backend: nsight\nsteps: [1]\nflags: [capture-range]",
         "5: cluster.profiling.flags: also among the options: capture-range"},
        {"backend: nsight\nsteps: 3",
         "4: cluster.profiling.steps: must be a list of steps, this is a whole number"},
        {"backend: nsight\nsteps:\n  - 1\n  - -2",
         "6: cluster.profiling.steps: \"-2\" is no step: steps are whole numbers from 0"},
        {"backend: nsight\nsteps: [1.5]",
         "4: cluster.profiling.steps: \"1.5\" is no step: steps are whole numbers from 0"},
        {"backend: nsight\nsteps: [[1]]",
         "4: cluster.profiling.steps: must be a list of steps, this is a list"},
        {"backend: nsight\nworker_groups: {a: 1}",
         "4: cluster.profiling.worker_groups: must be a name or a list of names, this is a "
         "mapping"},
        {"backend: nsight\noutput_dir: [a]",
         "4: cluster.profiling.output_dir: must be the path of a directory, this is a list"},
        {"backend: nsight\noutput_dir: ''", "4: cluster.profiling.output_dir: an empty path"},
        {"backend: nsight\nargs: {T: hip}",
         "4: cluster.profiling.args: backend nsight has no args; it belongs to rocprof_sys"},
        {"backend: rocprof_sys\nflags: [a]",
         "4: cluster.profiling.flags: backend rocprof_sys has no flags; it belongs to nsight, "
         "perf"},
        {"backend: rocprof_sys\nargs: [T]",
         "4: cluster.profiling.args: must be a mapping, this is a list"},
        {"backend: rocprof_sys\nargs: {T: {a: 1}}",
         "4: cluster.profiling.args.T: must be a single value, this is a mapping"},
        {"backend: rocprof_sys\nenv: text",
         "4: cluster.profiling.env: must be a mapping, this is a text"},
        {"backend: none\noptions: {a: 1}",
         "4: cluster.profiling.options: backend none has no options; it belongs to nsight, perf, "
         "vllm"},
        {"backend: nsight\nworker_group: all",
         "4: cluster.profiling.worker_group: there is no such key; is worker_groups meant?"},
        {"backend: nsight\nqqqqqqqqqq: 1", "4: cluster.profiling.qqqqqqqqqq: there is no such key"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        char wanted[512];
        profiled_t p = profile_of_block(cases[i].block);
        snprintf(wanted, sizeof(wanted), "run.yaml:%s\n", cases[i].message);
        assert_string_equal(perftrace__strbuf_cstr(&p.problems.errors), wanted);
        drop(&p);
    }
}

/* Everything that is wrong is told, not only the first. */
static void test_all_errors(void **state) {
    (void)state;
    profiled_t p = profile_of_block("backend: nsight\nenabled: 3\nsteps: [-1, x]\nflag: a\n");
    size_t lines = 0;
    for (size_t i = 0; i < p.problems.errors.len; i++) {
        lines += p.problems.errors.data[i] == '\n';
    }
    assert_int_equal(lines, 4);
    drop(&p);
}

static void test_no_yaml(void **state) {
    (void)state;
    profiled_t p = profile_of("a: [1\nb: 2\n");
    assert_false(p.is_yaml);
    assert_non_null(strstr(p.problems.errors.data, "run.yaml:2: "));
    drop(&p);
    p = profile_of("cluster: {profiling: [a]}\n");
    assert_string_equal(p.problems.errors.data,
                        "run.yaml:1: cluster.profiling: must be a mapping, this is a list\n");
    drop(&p);
    /* A reference to itself must not hang or recurse. */
    p = profile_of("&a [*a]\n");
    assert_false(p.found);
    drop(&p);
    p = profile_of("cluster: &c {profiling: *c, backend: nsight}\n");
    assert_int_equal(p.profile.backend, PT_BACKEND_NSIGHT);
    drop(&p);
    p = profile_of("x: ${y}\ny: ${x}\ncluster: {profiling: {backend: perf, output_dir: '${x}'}}\n");
    assert_non_null(strstr(p.problems.errors.data, "refer in a circle"));
    drop(&p);
}

static void test_steps_warn(void **state) {
    (void)state;
    static const struct {
        const char *block, *says; /* NULL: nothing */
    } cases[] = {
        {"backend: perf\nsteps: [1]\n", NULL},
        {"backend: perf\nsteps: [1]\noptions: {D: 100}\n",
         "options.D: steps do not steer perf: it is switched on and off as D says"},
        {"backend: perf\nsteps: [1]\noptions: {control: \"fd:3\"}\n",
         "options.control: steps do not steer perf: it is switched on and off as control says"},
        {"backend: perf\noptions: {delay: 100}\n", NULL},
        {"backend: vllm\nsteps: [1]\n", "steps do not steer vllm: it records from /start_profile"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        profiled_t p = profile_of_block(cases[i].block);
        const char *warnings = perftrace__strbuf_cstr(&p.problems.warnings);
        if (cases[i].says ? !strstr(warnings, cases[i].says) : *warnings != '\0') {
            fail_msg("%s: %s", cases[i].block, warnings);
        }
        assert_int_equal(p.profile.steered, i == 0);
        drop(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_json_is_yaml),
        cmocka_unit_test(test_places_of_the_block),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_names_that_cannot_be),
        cmocka_unit_test(test_output_dir),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_preset),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_range_end_alias),
        cmocka_unit_test(test_capture_ranges),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_other_backends),
        cmocka_unit_test(test_backend_replaced),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_all_errors),
        cmocka_unit_test(test_no_yaml),
        cmocka_unit_test(test_steps_warn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
