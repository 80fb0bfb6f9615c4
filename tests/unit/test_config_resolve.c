/* test_config_resolve.c: which source decides an option. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_resolve.h"

#include <perftrace/status.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/perftrace-config-XXXXXX";
static char file[64];
static char file_var[128];

static int make_dir(void **state) {
    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    snprintf(file, sizeof(file), "%s/run.yaml", dir);
    snprintf(file_var, sizeof(file_var), "PERFTRACE_CONFIG=%s", file);
    return 0;
}

static int remove_dir(void **state) {
    (void)state;
    unlink(file);
    return rmdir(dir);
}

static void write_file(const char *text) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* Whether msgs holds the line "<file><rest>". */
static bool has_file_line(const perftrace__strbuf_t *msgs, const char *rest) {
    char line[512];
    snprintf(line, sizeof(line), "warning: %s%s\n", file, rest);
    return strstr(perftrace__strbuf_cstr(msgs), line) != NULL;
}

static void nothing_set_gives_the_defaults_and_one_note(void **state) {
    (void)state;
    const char *env[] = {"HOME=/", NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_int_equal(c.opt.enabled, 1);
    assert_int_equal(c.opt.rank, -1);
    assert_int_equal(c.opt.world_size, -1);
    assert_int_equal(c.opt.tp, -1);
    assert_int_equal(c.opt.save_interval, 1);
    assert_int_equal(c.opt.flush_ms, 200);
    assert_int_equal(c.opt.ring_size, 1 << 20);
    assert_int_equal(c.opt.max_threads, 1024);
    assert_int_equal(c.opt.overflow, PERFTRACE_OVERFLOW_DROP);
    assert_int_equal(c.opt.block_ms, 10000);
    assert_int_equal(c.opt.shutdown_ms, 3000);
    assert_int_equal(c.opt.sigterm, 0);
    assert_int_equal(c.opt.string_max, 4096);
    assert_int_equal(c.opt.session_enabled, 0);
    assert_int_equal(c.opt.session_flush_threshold, 256);
    assert_string_equal(c.opt.ring_dir, "/dev/shm");
    assert_string_equal(c.opt.ranks, "all");
    assert_string_equal(c.opt.run_id, "");
    assert_string_equal(c.opt.categories, "");
    assert_non_null(strstr(c.trace_dir, "/perftrace-out"));
    assert_memory_equal(perftrace__strbuf_cstr(&msgs), "note: no directory is set", 25);
    assert_ptr_equal(strchr(msgs.data, '\n'), msgs.data + msgs.len - 1);
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void the_stronger_source_decides(void **state) {
    (void)state;
    write_file("perf_tracer:\n  dir: /file\n  flush_ms: 10\n  role: file\n  ring_size: 2M\n");
    const char *env[] = {file_var, "PERFTRACE_FLUSH_MS=20", "PERFTRACE_ROLE=variable",
                         "PERFTRACE_STRING_MAX=", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    user.role = "program";
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
    assert_string_equal(c.opt.role, "program");
    assert_int_equal(c.source[PERFTRACE__OPT_role], PERFTRACE__SOURCE_PROGRAM);
    assert_int_equal(c.opt.flush_ms, 20);
    assert_int_equal(c.source[PERFTRACE__OPT_flush_ms], PERFTRACE__SOURCE_VARIABLE);
    assert_int_equal(c.opt.ring_size, 2 << 20);
    assert_string_equal(c.trace_dir, "/file");
    assert_int_equal(c.source[PERFTRACE__OPT_dir], PERFTRACE__SOURCE_FILE);
    assert_int_equal(c.opt.string_max, 4096);
    assert_int_equal(c.source[PERFTRACE__OPT_string_max], PERFTRACE__SOURCE_DEFAULT);
    perftrace__config_free(&c);
    user.role = "";
    user.dir = "";
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(c.opt.role, "");
    assert_non_null(strstr(c.trace_dir, "/perftrace-out"));
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void a_refused_value_leaves_the_word_to_the_next_source(void **state) {
    (void)state;
    write_file("perf_tracer:\n  flush_ms: 10\n  block_ms: soon\n  ranks: 3-1\n");
    const char *env[] = {file_var, "PERFTRACE_FLUSH_MS=fast", "PERFTRACE_DIR=/d", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    user.flush_ms = 0;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, &msgs), PERFTRACE_OK);
    assert_int_equal(c.opt.flush_ms, 10);
    assert_int_equal(c.opt.block_ms, 10000);
    assert_string_equal(c.opt.ranks, "all");
    assert_non_null(
        strstr(msgs.data, "warning: perftrace_config_t.flush_ms: \"0\" is not used: a whole number "
                          "from 1 to 60000\n"));
    assert_non_null(strstr(msgs.data, "warning: PERFTRACE_FLUSH_MS: \"fast\" is not used: "));
    assert_true(has_file_line(
        &msgs, ":3: perf_tracer.block_ms: \"soon\" is not used: a whole number from 0 to 600000"));
    assert_true(has_file_line(
        &msgs, ":4: perf_tracer.ranks: \"3-1\" is not used: all, none or a list as 0,8-9"));
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void a_configuration_of_areal_is_understood(void **state) {
    (void)state;
    write_file("experiment_name: gsm8k-grpo\n"
               "trial_name: trial0\n"
               "seed: 1\n"
               "cluster:\n"
               "  n_nodes: 1\n"
               "  fileroot: /tmp/areal/experiments\n"
               "actor: &actor\n"
               "  backend: fsdp:d4\n"
               "ref: *actor\n"
               "perf_tracer:\n"
               "  experiment_name: ${experiment_name}\n"
               "  trial_name: ${trial_name}-b\n"
               "  fileroot: ${cluster.fileroot}\n"
               "  enabled: false\n"
               "  save_interval: 0\n"
               "  profile_steps: [1, 3, oops, 3]\n"
               "  session_tracer:\n"
               "    enabled: true\n"
               "    flush_threshold: 100\n");
    const char *env[] = {file_var, NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(c.opt.experiment_name, "gsm8k-grpo");
    assert_string_equal(c.opt.trial_name, "trial0-b");
    assert_string_equal(c.opt.fileroot, "/tmp/areal/experiments");
    assert_int_equal(c.opt.enabled, 0);
    assert_int_equal(c.opt.save_interval, 1);
    assert_string_equal(c.opt.profile_steps, "1,3");
    assert_int_equal(c.opt.session_enabled, 1);
    assert_int_equal(c.opt.session_flush_threshold, 100);
    assert_non_null(strstr(c.trace_dir, "/gsm8k-grpo/trial0-b/perf_tracer"));
    assert_true(has_file_line(
        &msgs, ":16: perf_tracer.profile_steps: \"oops\" is not used: whole numbers from 0 and "
               "ranges as 5-7, separated by commas"));
    assert_ptr_equal(strchr(msgs.data, '\n'), msgs.data + msgs.len - 1);
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void json_is_read_as_yaml_is(void **state) {
    (void)state;
    write_file("{\"perf_tracer\": {\"dir\": \"/j\", \"rank\": 3, \"ranks\": [0, \"2-4\"],\n"
               "\t\"categories\": [\"compute\", \"-io\"], \"enabled\": true, \"role\": null,\n"
               "\t\"session_tracer\": null}}\n");
    const char *env[] = {file_var, NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
    assert_string_equal(c.opt.ranks, "0,2-4");
    assert_string_equal(c.opt.categories, "compute,-io");
    assert_string_equal(c.opt.role, "");
    assert_int_equal(c.opt.rank, 3);
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static const char *summary_of(const perftrace_config_t *program, const char *const *env) {
    static char text[4096];
    perftrace__config_t c;
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(program, env, &c, NULL), PERFTRACE_OK);
    perftrace__config_put_summary(&c, &out);
    assert_false(out.failed);
    snprintf(text, sizeof(text), "%s", perftrace__strbuf_cstr(&out));
    perftrace__strbuf_free(&out);
    perftrace__config_free(&c);
    return text;
}

static void the_settings_are_told_in_one_line(void **state) {
    (void)state;
    const char *nothing[] = {"HOME=/", NULL};
    assert_string_equal(summary_of(NULL, nothing),
                        "settings: none was given, by the program, the environment, a file or a "
                        "launcher: all is by default");
    write_file("perf_tracer:\n  flush_ms: 50\n  role: \"a\\nb\"\n");
    perftrace_config_t program = PERFTRACE_CONFIG_INIT;
    program.enabled = 1;
    program.control_token = "not to be seen";
    const char *env[] = {file_var,        "PERFTRACE_DIR=/traces", "PERFTRACE_CATEGORIES=comm,-io",
                         "RANK=1",        "WORLD_SIZE=2",          "LOCAL_RANK=1",
                         "MASTER_ADDR=h", "MASTER_PORT=1",         NULL};
    char want[1024];
    snprintf(want, sizeof(want),
             "settings: enabled=true, control_token=(set) (program); config_path=%s, dir=/traces, "
             "categories=comm,-io (environment); role=a?b, flush_ms=50 (%s); rank=1, world_size=2, "
             "local_rank=1 (torchrun); all else by default",
             file, file);
    assert_string_equal(summary_of(&program, env), want);
    const char *secrets[] = {"PERFTRACE_FORWARD=nats://rank:hidden@a,hidden@b",
                             "PERFTRACE_FORWARD_TOKEN=hidden", NULL};
    assert_string_equal(summary_of(NULL, secrets),
                        "settings: forward=nats://...@a,...@b, forward_token=(set) (environment); "
                        "all else by default");
    char longest[600] = "PERFTRACE_NAMES=";
    memset(longest + strlen(longest), 'x', 500);
    const char *wide[] = {longest, NULL};
    assert_int_equal(strlen(summary_of(NULL, wide)),
                     strlen("settings: names=") + 200 +
                         strlen("... (environment); all else by default"));
}

static void unknown_names_are_named_with_the_nearest(void **state) {
    (void)state;
    write_file("perf_tracer:\n  dri: /x\n  session_tracer: {flush_treshold: 3}\n  colour: red\n  "
               "dir: {a: b}\n"
               "  flush_ms: [1]\n  session_tracre: null\n");
    const char *env[] = {file_var,
                         "PERFTRACE_FLSUH_MS=3",
                         "PERFTRACE_COLOUR=red",
                         "PERFTRACE_TEST_KILL=x",
                         "PERFTRACE_dir=/d",
                         "PERFTRACE_ROLE=r",
                         "PERFTRACE_",
                         "PERFTRACE_LIBARY=/l.so",
                         "PERFTRACE_LIBRARY_PATH=/l",
                         "MY_PERFTRACE_X=1",
                         NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_true(has_file_line(&msgs, ":2: perf_tracer.dri is no option; is dir meant?"));
    assert_true(has_file_line(&msgs,
                              ":3: perf_tracer.session_tracer.flush_treshold is no option; is "
                              "session_tracer.flush_threshold meant?"));
    assert_true(has_file_line(&msgs, ":4: perf_tracer.colour is no option"));
    assert_true(has_file_line(
        &msgs, ":5: perf_tracer.dir: a mapping is not used here: a path; ~ and ${VAR} are "
               "expanded"));
    assert_true(has_file_line(
        &msgs, ":6: perf_tracer.flush_ms: a list is not used here: a whole number from 1 to "
               "60000"));
    assert_true(has_file_line(&msgs, ":7: perf_tracer.session_tracre is no option"));
    const char *text = perftrace__strbuf_cstr(&msgs);
    assert_non_null(strstr(
        text, "warning: PERFTRACE_FLSUH_MS is no variable of this library; is PERFTRACE_FLUSH_MS "
              "meant?\n"));
    assert_non_null(strstr(text, "warning: PERFTRACE_COLOUR is no variable of this library\n"));
    assert_non_null(strstr(
        text, "warning: PERFTRACE_dir is no variable of this library; is PERFTRACE_DIR meant?\n"));
    assert_non_null(strstr(
        text, "warning: PERFTRACE_LIBARY is no variable of this library; is PERFTRACE_LIBRARY "
              "meant?\n"));
    assert_non_null(strstr(text, "warning: PERFTRACE_LIBRARY_PATH is no variable of this library"));
    assert_null(strstr(text, "PERFTRACE_TEST_KILL"));
    assert_null(strstr(text, "MY_PERFTRACE_X"));
    assert_null(strstr(text, "PERFTRACE_ROLE"));
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

/* Variables of ours that are no options: nothing is said of them. */
static void what_others_of_the_project_read_is_known(void **state) {
    (void)state;
#define ENTRY(variable, reader) variable "=x",
    const char *env[] = {"PERFTRACE_DIR=/d", "PERFTRACE_LIBRARY=/lib/libperftrace.so.0",
                         PERFTRACE__CONFIG_OTHERS(ENTRY) NULL};
#undef ENTRY
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void a_file_that_cannot_be_used_is_named_and_changes_nothing(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"perf_tracer:\n  dir: /x\n bad", ":3:2: did not find expected key; the file is not used"},
        {"other: 1\n", ": has no perf_tracer section, nothing is taken from it"},
        {"", ": has no perf_tracer section, nothing is taken from it"},
        {"perf_tracer: yes\n", ":1: perf_tracer is no mapping"},
        {"perf_tracer: [a]\n", ":1: perf_tracer is no mapping"},
        {"perf_tracer: {role: '${x.y}'}\n",
         ":1: perf_tracer.role: ${x.y} is neither a value of the file nor a "
         "variable, the value is not used"},
        {"a: ${a}\nperf_tracer: {role: '${a}'}\n",
         ":2: perf_tracer.role: the ${...} in it refer in a circle or "
         "become too long, the value is not used"},
        {"perf_tracer: {dir: '$PERFTRACE_TEST_NOT_SET/x'}\n",
         ":1: perf_tracer.dir: \"$PERFTRACE_TEST_NOT_SET/x\" is not used: the variable "
         "PERFTRACE_TEST_NOT_SET is not "
         "set"},
    };
    const char *env[] = {file_var, NULL};
    for (size_t i = 0; i < PT_ARRAY_LEN(cases); i++) {
        perftrace__config_t c;
        perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
        write_file(cases[i][0]);
        assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
        assert_true(has_file_line(&msgs, cases[i][1]));
        assert_string_equal(c.opt.role, "");
        assert_non_null(strstr(c.trace_dir, "/perftrace-out"));
        perftrace__strbuf_free(&msgs);
        perftrace__config_free(&c);
    }
    unlink(file);
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, &msgs), PERFTRACE_OK);
    assert_true(
        has_file_line(&msgs, ": cannot be read (No such file or directory), it is not used"));
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&c);
}

static void the_program_may_name_the_file(void **state) {
    (void)state;
    write_file("perf_tracer: {role: from-file}\n");
    const char *env[] = {"PERFTRACE_CONFIG=/nowhere", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t c;
    user.config_path = file;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, NULL), PERFTRACE_OK);
    assert_string_equal(c.opt.role, "from-file");
    perftrace__config_free(&c);
}

static void the_launcher_gives_what_nobody_set(void **state) {
    (void)state;
    const char *env[] = {"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=j", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t c;
    assert_int_equal(perftrace__config_resolve_env(NULL, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(c.opt.rank, 3);
    assert_int_equal(c.opt.world_size, 8);
    assert_int_equal(c.opt.local_rank, 1);
    assert_string_equal(c.opt.run_id, "j");
    assert_string_equal(c.launcher, "torchrun");
    assert_int_equal(c.source[PERFTRACE__OPT_rank], PERFTRACE__SOURCE_LAUNCHER);
    perftrace__config_free(&c);
    /* The same rank given by the program: the launcher still knows the size. */
    user.rank = 3;
    user.run_id = "mine";
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(c.opt.world_size, 8);
    assert_string_equal(c.opt.run_id, "mine");
    assert_string_equal(c.launcher, "");
    perftrace__config_free(&c);
    /* Another rank: the launcher speaks of something else. */
    user.rank = 5;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(c.opt.rank, 5);
    assert_int_equal(c.opt.world_size, -1);
    perftrace__config_free(&c);
    /* A size that cannot be true is dropped, not the rank. */
    user.world_size = 5;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, NULL), PERFTRACE_OK);
    assert_int_equal(c.opt.rank, 5);
    assert_int_equal(c.opt.world_size, -1);
    perftrace__config_free(&c);
}

static void structures_of_older_and_newer_programs_are_taken(void **state) {
    (void)state;
    const char *env[] = {"PERFTRACE_DIR=/d", NULL};
    struct {
        perftrace_config_t c;
        char more[64];
    } newer;
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    memset(&newer, 0x5A, sizeof(newer));
    perftrace_config_init(&newer.c, sizeof(newer));
    newer.c.role = "r";
    newer.c.flush_ms = 7;
    assert_int_equal(perftrace__config_resolve_env(&newer.c, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(c.opt.role, "r");
    assert_int_equal(c.opt.flush_ms, 7);
    perftrace__config_free(&c);
    /* An older program knows the fields up to flush_ms, of that one only half. */
    newer.c.struct_size = offsetof(perftrace_config_t, flush_ms) + 2;
    assert_int_equal(perftrace__config_resolve_env(&newer.c, env, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(c.opt.role, "r");
    assert_int_equal(c.opt.flush_ms, 200);
    assert_int_equal(c.opt.struct_size, sizeof(perftrace_config_t));
    perftrace__config_free(&c);
    assert_int_equal(msgs.len, 0);
    newer.c.struct_size = 0;
    assert_int_equal(perftrace__config_resolve_env(&newer.c, env, &c, &msgs),
                     PERFTRACE_ERR_INVALID);
    assert_int_equal(c.opt.enabled, 0);
    assert_non_null(
        strstr(perftrace__strbuf_cstr(&msgs), "error: perftrace_config_t has struct_size 0"));
    perftrace__config_free(&c);
    perftrace__config_free(NULL);
    perftrace__strbuf_free(&msgs);
    perftrace_config_init(NULL, sizeof(newer));
    newer.more[0] = 1;
    perftrace_config_init(&newer.c, 3);
    assert_int_equal(newer.c.struct_size, 0);
}

static void init_by_call_and_by_macro_are_the_same(void **state) {
    (void)state;
    perftrace_config_t by_macro = PERFTRACE_CONFIG_INIT;
    perftrace_config_t by_call;
    perftrace_config_init(&by_call, sizeof(by_call));
    assert_memory_equal(&by_macro, &by_call, sizeof(by_call));
}

static void strings_are_copies(void **state) {
    (void)state;
    char role[] = "actor";
    const char *env[] = {"PERFTRACE_DIR=/d", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t c;
    user.role = role;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &c, NULL), PERFTRACE_OK);
    role[0] = 'X';
    assert_string_equal(c.opt.role, "actor");
    perftrace__config_free(&c);
}

/* A launcher hands its settings to a worker whose environment is otherwise empty. */
static void settings_can_be_handed_to_a_worker(void **state) {
    (void)state;
    write_file("perf_tracer: {dir: rel/x, role: 'a b', categories: [x, -y], session_tracer: "
               "{enabled: true}}\n");
    const char *env[] = {file_var, "RANK=3", "WORLD_SIZE=8", "PERFTRACE_RING_SIZE=2M", NULL};
    perftrace_config_t user = PERFTRACE_CONFIG_INIT;
    perftrace__config_t first;
    perftrace__config_t second;
    perftrace__strbuf_t vars = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    const char *handed[PERFTRACE__OPT_COUNT + 1] = {NULL};
    size_t n = 0;
    user.overflow = PERFTRACE_OVERFLOW_BLOCK;
    assert_int_equal(perftrace__config_resolve_env(&user, env, &first, &msgs), PERFTRACE_OK);
    perftrace__config_put_environment(&first, &vars);
    for (char *p = vars.data; p < vars.data + vars.len; p += strlen(p) + 1) {
        handed[n++] = p;
    }
    assert_int_equal(n, 6);
    assert_int_equal(perftrace__config_resolve_env(NULL, handed, &second, &msgs), PERFTRACE_OK);
    assert_string_equal(perftrace__strbuf_cstr(&msgs), "");
    assert_int_equal(second.opt.rank, -1);
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        if (first.source[i] != PERFTRACE__SOURCE_LAUNCHER && i != PERFTRACE__OPT_config_path) {
            perftrace__strbuf_t a = PERFTRACE__STRBUF_INIT;
            perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
            perftrace__option_put_value(o, &first.opt, &a);
            perftrace__option_put_value(o, &second.opt, &b);
            assert_string_equal(perftrace__strbuf_cstr(&a), perftrace__strbuf_cstr(&b));
            perftrace__strbuf_free(&a);
            perftrace__strbuf_free(&b);
        }
    }
    assert_string_equal(first.trace_dir, second.trace_dir);
    perftrace__strbuf_free(&vars);
    perftrace__strbuf_free(&msgs);
    perftrace__config_free(&first);
    perftrace__config_free(&second);
}

static void a_vanished_current_directory_is_an_error_only_for_relative_paths(void **state) {
    (void)state;
    char cwd[4096];
    char gone[] = "/tmp/perftrace-gone-XXXXXX";
    const char *relative[] = {"PERFTRACE_DIR=x", NULL};
    const char *absolute[] = {"PERFTRACE_DIR=/x", NULL};
    perftrace__config_t c;
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    assert_non_null(mkdtemp(gone));
    assert_int_equal(chdir(gone), 0);
    assert_int_equal(rmdir(gone), 0);
    assert_int_equal(perftrace__config_resolve_env(NULL, absolute, &c, &msgs), PERFTRACE_OK);
    assert_string_equal(c.trace_dir, "/x");
    assert_int_equal(msgs.len, 0);
    perftrace__config_free(&c);
    assert_int_equal(perftrace__config_resolve_env(NULL, relative, &c, &msgs), PERFTRACE_ERR_PARSE);
    assert_int_equal(c.opt.enabled, 0);
    assert_non_null(strstr(perftrace__strbuf_cstr(&msgs), "the current directory is not known"));
    perftrace__config_free(&c);
    perftrace__strbuf_free(&msgs);
    assert_int_equal(chdir(cwd), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_gives_the_defaults_and_one_note),
        cmocka_unit_test(the_stronger_source_decides),
        cmocka_unit_test(a_refused_value_leaves_the_word_to_the_next_source),
        cmocka_unit_test(a_configuration_of_areal_is_understood),
        cmocka_unit_test(json_is_read_as_yaml_is),
        cmocka_unit_test(unknown_names_are_named_with_the_nearest),
        cmocka_unit_test(what_others_of_the_project_read_is_known),
        cmocka_unit_test(the_settings_are_told_in_one_line),
        cmocka_unit_test(a_file_that_cannot_be_used_is_named_and_changes_nothing),
        cmocka_unit_test(the_program_may_name_the_file),
        cmocka_unit_test(the_launcher_gives_what_nobody_set),
        cmocka_unit_test(structures_of_older_and_newer_programs_are_taken),
        cmocka_unit_test(init_by_call_and_by_macro_are_the_same),
        cmocka_unit_test(strings_are_copies),
        cmocka_unit_test(settings_can_be_handed_to_a_worker),
        cmocka_unit_test(a_vanished_current_directory_is_an_error_only_for_relative_paths),
    };
    return cmocka_run_group_tests_name("config sources", tests, make_dir, remove_dir);
}
