/* run_main.c: perf-trace-run. SPDX-License-Identifier: MIT */
#include "config_message.h"
#include "message.h"
#include "os.h"
#include "rank_detect.h"
#include "run_control.h"
#include "run_environ.h"
#include "run_launch.h"
#include "run_options.h"
#include "run_profile_yaml.h"
#include "run_tracer.h"
#include "run_yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct run {
    pt_run_options_t options;
    pt_string_list_t command;
    pt_run_profile_t profile;
    pt_settings_t tracer;
    pt_plan_t plan;
    pt_run_problems_t problems;
    pt_plan_request_t request;
    bool has_tracer_section;
    char control_dir[4096]; /* for the pipes of perfs; "" none */
} run_t;

static const char *env_get(const char *name, void *user) {
    (void)user;
    return getenv(name);
}

/* Prints each line of a buffer. */
static void print_lines(const perftrace__strbuf_t *lines, void (*print)(const char *fmt, ...)) {
    const char *text = perftrace__strbuf_cstr(lines);
    for (size_t n; *text; text += n + (text[n] != '\0')) {
        n = strcspn(text, "\n");
        print("%.*s", (int)n, text);
    }
}

static void print_tracer_message(int level, const char *message, void *user) {
    (void)user;
    if (level == PERFTRACE_LOG_NOTE) {
        pt_detail("%s", message);
    } else {
        pt_warn("%s", message);
    }
}

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

/* ---- the profile --------------------------------------------------------------------------------
 */

static int read_file(const char *path, perftrace__strbuf_t *out) {
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && out->len <= PT_YAML_TEXT_MAX && perftrace__strbuf_reserve(out, 65536)) {
        n = read(fd, out->data + out->len, 65536);
        out->len += n > 0 ? (size_t)n : 0;
        n = n < 0 && errno == EINTR ? 1 : n;
    }
    int err = errno;
    if (fd >= 0 && !is_stdin) {
        close(fd);
    }
    if (n < 0) {
        pt_error("%s: %s", path, strerror(err));
        return PT_EXIT_INPUT;
    }
    return out->failed ? out_of_memory() : PT_OPTION_GO_ON;
}

static int read_profile(run_t *r) {
    const char *config = r->options.config;
    bool found = false;
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_run_profile_init(&r->profile);
    if (config) {
        int status = read_file(config, &text);
        pt_run_profile_file_t file = {
            config, perftrace__strbuf_cstr(&text), text.len, env_get, NULL, r->options.backend};
        if (status == PT_OPTION_GO_ON &&
            !pt_run_profile_read_yaml(&file, &r->profile, &r->problems, &found,
                                      &r->has_tracer_section)) {
            print_lines(&r->problems.errors, pt_error);
            status = PT_EXIT_INPUT;
        }
        perftrace__strbuf_free(&text);
        if (status != PT_OPTION_GO_ON) {
            return status;
        }
    }
    if (config && !found && r->options.backend == PT_BACKEND_UNSET) {
        pt_run_error(&r->problems, config,
                     "there is no cluster.profiling in it; give --backend, or another file");
    }
    pt_run_options_apply(&r->options, &r->profile);
    if (!config && r->profile.backend == PT_BACKEND_UNSET) {
        r->profile.backend = PT_BACKEND_NONE;
    }
    pt_run_profile_check(&r->profile, &r->problems);
    return r->profile.failed ? out_of_memory() : PT_OPTION_GO_ON;
}

/* ---- the plan -----------------------------------------------------------------------------------
 */

/* Ranks that do not know each other would write of different runs. */
static void set_run(run_t *r) {
    const pt_plan_request_t *q = &r->request;
    const char *id = pt_settings_get(&r->tracer, "PERFTRACE_RUN_ID");
    const char *to = pt_settings_get(&r->tracer, "PERFTRACE_FORWARD");
    if (id && *id) {
        return;
    }
    if (r->options.nodes > 1 && to && *to && strcmp(to, "off") != 0) {
        pt_warn("each node's ranks will be a run of their own at the collector: set the same "
                "PERFTRACE_RUN_ID on all nodes");
    }
    if (q->local_ranks > 1 && !r->options.dry_run) {
        char run_id[17];
        snprintf(run_id, sizeof(run_id), "%016llx", (unsigned long long)perftrace__os_random_u64());
        pt_settings_default(&r->tracer, "PERFTRACE_RUN_ID", run_id, NULL);
    }
}

/* Which ranks these are. */
static void set_ranks(run_t *r) {
    pt_plan_request_t *q = &r->request;
    const pt_run_options_t *o = &r->options;
    perftrace__rank_info_t info;
    perftrace__rank_detect(env_get, NULL, &info, NULL);
    bool known = o->ranks == 0 && info.rank >= 0;
    q->local_ranks = o->ranks ? (int64_t)o->ranks : 1;
    q->first_rank = known ? info.rank : (int64_t)o->node_rank * q->local_ranks;
    q->world_size = (int64_t)o->nodes * q->local_ranks;
    q->tell_ranks = !known;
    const char *addr = getenv("MASTER_ADDR");
    const char *port = getenv("MASTER_PORT");
    q->master_addr = o->master_addr ? o->master_addr : addr && *addr ? addr : "127.0.0.1";
    char *end = NULL;
    long inherited = port ? strtol(port, &end, 10) : 0;
    bool usable = end && *end == '\0' && inherited > 0 && inherited < 65536;
    q->master_port = o->master_port ? (int64_t)o->master_port : usable ? inherited : 29500;
    if (q->tell_ranks && !info.run_id[0]) {
        set_run(r);
    }
}

static const char *const own_ranks[] = {"PERFTRACE_RANK", "PERFTRACE_WORLD_SIZE",
                                        "PERFTRACE_LOCAL_RANK", NULL};

static int read_tracer(run_t *r) {
    perftrace__strbuf_t msgs = PERFTRACE__STRBUF_INIT;
    bool ok = pt_tracer_settings(r->has_tracer_section ? r->options.config : NULL,
                                 r->options.trace_dir, r->options.forward, &r->tracer, &msgs);
    perftrace__message_log(&msgs, 0, print_tracer_message, NULL);
    perftrace__strbuf_free(&msgs);
    if (!ok) {
        return out_of_memory();
    }
    set_ranks(r);
    for (size_t i = 0; r->request.tell_ranks && own_ranks[i]; i++) {
        pt_settings_remove(&r->tracer, own_ranks[i]);
    }
    return PT_OPTION_GO_ON;
}

static int make_plan(run_t *r) {
    pt_plan_request_t *q = &r->request;
    const pt_run_options_t *o = &r->options;
    const pt_run_profile_t *profile = &r->profile;
    bool wanted = profile->backend > PT_BACKEND_NONE && profile->enabled;
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    const char *temp = getenv("TMPDIR");
    q->profile = profile;
    q->group = o->group ? o->group : "worker";
    q->command = &r->command;
    q->tracer = &r->tracer;
    q->env = &o->env;
    q->temp_dir = temp && *temp == '/' ? temp : "/tmp";
    q->pid = o->dry_run ? NULL : pid;
    q->get = env_get;
    if (wanted && !o->group && !pt_run_profile_selects(profile, "") && profile->has_groups) {
        pt_run_error(&r->problems, NULL,
                     "the configuration names worker_groups: say with --worker-group which one "
                     "this is");
    }
    if (profile->backend == PT_BACKEND_PERF && profile->steered && !o->dry_run &&
        pt_run_profile_selects(profile, q->group)) {
        int status = pt_control_make_dir(q->temp_dir, r->control_dir, sizeof(r->control_dir));
        if (status != PT_EXIT_OK) {
            return status;
        }
        q->control_dir = r->control_dir;
    }
    pt_plan_make(q, &r->plan, &r->problems);
    print_lines(&r->problems.warnings, pt_warn);
    print_lines(&r->problems.errors, pt_error);
    if (r->problems.errors.len) {
        return PT_EXIT_USAGE;
    }
    if (r->plan.failed || r->problems.warnings.failed || r->tracer.failed) {
        return out_of_memory();
    }
    if (wanted && !r->plan.selected) {
        pt_note("worker group %s is not among worker_groups: it starts without %s", q->group,
                pt_backends[profile->backend].name);
    }
    return PT_OPTION_GO_ON;
}

/* ---- the run ------------------------------------------------------------------------------------
 */

static int print_plan(const run_t *r) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < r->plan.count; i++) {
        pt_plan_put_line(&r->plan.ranks[i], pt_message_verbosity() == PT_VERBOSE, &out);
    }
    int status = out.failed ? out_of_memory() : PT_EXIT_OK;
    if (!status && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)) {
        pt_error("standard output: %s", strerror(errno));
        status = PT_EXIT_OUTPUT;
    }
    perftrace__strbuf_free(&out);
    return status;
}

/* A program that is missing is told before anything is started. */
static int look_up(const char *program, const char *needed_by) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    int status = pt_environ_find_program(program, getenv("PATH"), &path);
    perftrace__strbuf_free(&path);
    if (status != 0) {
        pt_error("%s: %s%s%s", program,
                 status == PT_RUN_EXIT_NOT_FOUND ? "was not found" : "cannot be executed",
                 needed_by ? "; needed by backend " : "", needed_by ? needed_by : "");
    }
    return status;
}

static int make_dir(const char *dir) {
    int err = dir ? perftrace__os_mkdirs(dir) : 0;
    if (err == 0 && dir && access(dir, W_OK | X_OK) != 0) {
        err = -errno;
    }
    if (err < 0) {
        pt_error("%s: %s", dir, strerror(-err));
        return PT_EXIT_OUTPUT;
    }
    return PT_EXIT_OK;
}

static int launch(const run_t *r) {
    const pt_run_options_t *o = &r->options;
    int status = r->plan.title ? look_up(r->plan.title, pt_backends[r->profile.backend].name) : 0;
    status = status ? status : look_up(r->command.items[0], NULL);
    status = status ? status : make_dir(r->plan.output_dir);
    status = status ? status : make_dir(o->log_dir);
    status = status ? status : pt_control_make_pipes(&r->plan);
    if (status != 0) {
        return status;
    }
    return pt_launch(&(pt_launch_request_t){
        .plan = &r->plan,
        .command = &r->command,
        .group = r->request.group,
        .inherited = environ,
        .unset = r->request.tell_ranks ? own_ranks : NULL,
        .clean_ranks = o->clean_env,
        .log_dir = o->log_dir,
        .prefix = o->prefix,
        .keep_going = o->keep_going,
        .grace_ns = o->grace_ns,
        .kill_after_ns = o->kill_after_ns,
    });
}

int main(int argc, char **argv) {
    pt_message_init("perf-trace-run", argv[0], PT_NORMAL);
    signal(SIGPIPE, SIG_IGN);
    run_t r = {.problems = PT_RUN_PROBLEMS_INIT};
    int status = pt_run_options_parse(&r.options, argc, argv, &r.command);
    if (status == PT_OPTION_GO_ON) {
        status = read_profile(&r);
    }
    if (status == PT_OPTION_GO_ON) {
        status = read_tracer(&r);
    }
    if (status == PT_OPTION_GO_ON) {
        status = make_plan(&r);
    }
    if (status == PT_OPTION_GO_ON) {
        status = r.options.dry_run ? print_plan(&r) : launch(&r);
    }
    if (r.control_dir[0]) {
        pt_control_remove(&r.plan, r.control_dir);
    }
    pt_plan_free(&r.plan);
    pt_run_profile_free(&r.profile);
    pt_settings_free(&r.tracer);
    pt_run_problems_free(&r.problems);
    pt_run_options_free(&r.options);
    pt_string_list_free(&r.command);
    return status;
}
