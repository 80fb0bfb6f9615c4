/* run_plan.c. SPDX-License-Identifier: MIT */
#include "run_plan.h"

#include "last_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct planner {
    const pt_plan_request_t *request;
    pt_plan_t *plan;
    pt_run_problems_t *problems;
    const char *output_dir;
} planner_t;

static void add(planner_t *p, pt_plan_rank_t *rank, const char *word) {
    p->plan->failed |= !pt_string_list_add(&rank->argv, word);
}

void pt_plan_put_prefix(perftrace__strbuf_t *out, const char *dir, const char *group,
                        int64_t rank) {
    perftrace__strbuf_printf(out, "%s/rlinf_profile_", strcmp(dir, "/") == 0 ? "" : dir);
    for (const char *c = group; *c; c++) {
        bool safe = (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') ||
                    (*c >= '0' && *c <= '9') || strchr("._-", *c);
        perftrace__strbuf_putc(out, (char)(safe ? *c : '_'));
    }
    perftrace__strbuf_printf(out, "_%" PRId64 "_%%p", rank);
}

/* ---- reports ------------------------------------------------------------------------------------
 */

/* The report's name up to what the profiler puts in by itself. */
static void await_report(planner_t *p, pt_plan_rank_t *rank, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = pt_last_part(path);
    const char *percent = strchr(path, '%');
    if (percent && percent < name) {
        return; /* in a directory whose name is not known */
    }
    rank->report_dir = !slash          ? strdup(".")
                       : slash == path ? strdup("/")
                                       : strndup(path, (size_t)(slash - path));
    rank->report_start = strndup(name, strcspn(name, "%"));
    p->plan->failed |= !rank->report_dir || !rank->report_start;
}

/* ---- arguments ----------------------------------------------------------------------------------
 */

/* -x value, --name=value. */
static void add_options(planner_t *p, pt_plan_rank_t *rank) {
    const pt_settings_t *options = &p->request->profile->options;
    for (size_t i = 0; i < options->count; i++) {
        const pt_setting_t *s = &options->items[i];
        perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
        if (s->name[1] == '\0') {
            perftrace__strbuf_printf(&word, "-%s", s->name);
            add(p, rank, perftrace__strbuf_cstr(&word));
            add(p, rank, s->value);
        } else {
            perftrace__strbuf_printf(&word, "--%s=%s", s->name, s->value);
            add(p, rank, perftrace__strbuf_cstr(&word));
        }
        p->plan->failed |= word.failed;
        perftrace__strbuf_free(&word);
    }
}

static void add_flags(planner_t *p, pt_plan_rank_t *rank) {
    const pt_string_list_t *flags = &p->request->profile->flags;
    for (size_t i = 0; i < flags->count; i++) {
        perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(&word, "%s%s", flags->items[i][1] ? "--" : "-", flags->items[i]);
        add(p, rank, perftrace__strbuf_cstr(&word));
        p->plan->failed |= word.failed;
        perftrace__strbuf_free(&word);
    }
}

static void add_command(planner_t *p, pt_plan_rank_t *rank) {
    for (size_t i = 0; i < p->request->command->count; i++) {
        add(p, rank, p->request->command->items[i]);
    }
}

/* -o PREFIX, unless the options name the report; then that one is awaited. */
static void add_output(planner_t *p, pt_plan_rank_t *rank, const char *prefix) {
    const pt_settings_t *options = &p->request->profile->options;
    const pt_setting_t *given = pt_settings_find(options, "o");
    given = given ? given : pt_settings_find(options, "output");
    if (!given) {
        add(p, rank, "-o");
        add(p, rank, prefix);
    } else if (p->request->local_ranks > 1 && !strchr(given->value, '%') && rank->local_rank == 0) {
        pt_run_warning(p->problems, given->origin, "all ranks write to the same report, \"%s\"",
                       given->value);
    }
    await_report(p, rank, given ? given->value : prefix);
}

/* perf takes names as they are: %p becomes a number here, and the ending is put on. */
static void put_perf_name(planner_t *p, const char *prefix, perftrace__strbuf_t *out) {
    const char *percent = p->request->pid ? strstr(prefix, "_%p") : NULL;
    size_t n = percent ? (size_t)(percent - prefix) : strlen(prefix);
    perftrace__strbuf_append(out, prefix, n);
    if (percent) {
        perftrace__strbuf_printf(out, "_%s", p->request->pid);
    }
    perftrace__strbuf_puts(out, ".data");
}

/* With steps perf begins with its events off, and the worker's tracer switches them. */
static void add_perf_control(planner_t *p, pt_plan_rank_t *rank) {
    const pt_plan_request_t *q = p->request;
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t control = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t word = PERFTRACE__STRBUF_INIT;
    if (q->control_dir) {
        perftrace__strbuf_puts(&dir, q->control_dir);
    } else {
        perftrace__strbuf_printf(&dir, "%s/" PT_PLAN_CONTROL_DIR, q->temp_dir);
    }
    const char *where = perftrace__strbuf_cstr(&dir);
    perftrace__strbuf_printf(&control, "fifo:%s/%" PRId64 ".commands,%s/%" PRId64 ".answers", where,
                             rank->rank, where, rank->rank);
    perftrace__strbuf_printf(&word, "--control=%s", perftrace__strbuf_cstr(&control));
    add(p, rank, "-D");
    add(p, rank, "-1");
    add(p, rank, perftrace__strbuf_cstr(&word));
    rank->perf_control = strdup(perftrace__strbuf_cstr(&control));
    p->plan->failed |= dir.failed || control.failed || word.failed || !rank->perf_control;
    perftrace__strbuf_free(&dir);
    perftrace__strbuf_free(&control);
    perftrace__strbuf_free(&word);
}

/* --profiler-config means something to vLLM's server alone. */
static void check_vllm_command(planner_t *p) {
    static const char option[] = "--profiler-config";
    bool is_vllm = false;
    for (size_t i = 0; i < p->request->command->count; i++) {
        const char *word = p->request->command->items[i];
        const char *name = pt_last_part(word);
        is_vllm = is_vllm || strcmp(name, "vllm") == 0 || strncmp(name, "vllm.", 5) == 0;
        size_t n = sizeof(option) - 1;
        if (strncmp(word, option, n) == 0 && (word[n] == '\0' || word[n] == '=')) {
            pt_run_error(p->problems, NULL,
                         "the command has a --profiler-config already: take it away, or use "
                         "backend none");
        }
    }
    if (!is_vllm) {
        pt_run_error(p->problems, NULL,
                     "backend vllm adds --profiler-config to \"vllm serve\", and the command does "
                     "not start vllm");
    }
}

static void add_wrapped(planner_t *p, pt_plan_rank_t *rank, const char *prefix) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    switch (p->request->profile->backend) {
    case PT_BACKEND_NSIGHT:
        add(p, rank, "nsys");
        add(p, rank, "profile");
        add_flags(p, rank);
        add_options(p, rank);
        add_output(p, rank, prefix);
        add_command(p, rank);
        break;
    case PT_BACKEND_ROCPROF_SYS:
        add(p, rank, "rocprof-sys-python");
        add_options(p, rank);
        add(p, rank, "--");
        add_command(p, rank);
        break;
    case PT_BACKEND_PERF:
        put_perf_name(p, prefix, &text);
        add(p, rank, "perf");
        add(p, rank, "record");
        add_flags(p, rank);
        add_options(p, rank);
        if (p->request->profile->steered) {
            add_perf_control(p, rank);
        }
        add_output(p, rank, perftrace__strbuf_cstr(&text));
        add(p, rank, "--");
        add_command(p, rank);
        break;
    case PT_BACKEND_VLLM:
        pt_vllm_put_config(&p->request->profile->options, p->output_dir, &text, p->problems);
        add_command(p, rank);
        add(p, rank, "--profiler-config");
        add(p, rank, perftrace__strbuf_cstr(&text));
        break;
    default:
        add_command(p, rank);
        break;
    }
    p->plan->failed |= text.failed;
    perftrace__strbuf_free(&text);
}

/* ---- variables ----------------------------------------------------------------------------------
 */

static void put_number(pt_settings_t *env, const char *name, int64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    pt_settings_put(env, name, text, NULL);
}

static void put_ranks(planner_t *p, pt_plan_rank_t *rank) {
    const pt_plan_request_t *q = p->request;
    put_number(&rank->env, "RANK", rank->rank);
    put_number(&rank->env, "WORLD_SIZE", q->world_size);
    put_number(&rank->env, "LOCAL_RANK", rank->local_rank);
    put_number(&rank->env, "LOCAL_WORLD_SIZE", q->local_ranks);
    pt_settings_put(&rank->env, "MASTER_ADDR", q->master_addr, NULL);
    put_number(&rank->env, "MASTER_PORT", q->master_port);
}

static void put_steps(planner_t *p, pt_plan_rank_t *rank) {
    const pt_run_profile_t *profile = p->request->profile;
    perftrace__strbuf_t list = PERFTRACE__STRBUF_INIT;
    for (size_t i = 0; i < profile->step_count; i++) {
        perftrace__strbuf_printf(&list, "%s%" PRId64, i ? "," : "", profile->steps[i]);
    }
    pt_settings_default(&rank->env, "PERFTRACE_PROFILE_STEPS", perftrace__strbuf_cstr(&list), NULL);
    p->plan->failed |= list.failed;
    perftrace__strbuf_free(&list);
}

/* What the worker's tracer switches on the steps, beside what it was told to switch anyway. */
static void put_back_end(planner_t *p, pt_plan_rank_t *rank, const char *name) {
    static const char variable[] = "PERFTRACE_PROFILER";
    const char *given = pt_settings_get(&rank->env, variable);
    pt_string_list_t names = PT_STRING_LIST_INIT;
    perftrace__strbuf_t list = PERFTRACE__STRBUF_INIT;
    p->plan->failed |= !pt_string_list_split(&names, given ? given : "", ',');
    if (!pt_string_list_has(&names, name)) {
        perftrace__strbuf_printf(&list, "%s%s%s", given ? given : "", given && *given ? "," : "",
                                 name);
        pt_settings_put(&rank->env, variable, perftrace__strbuf_cstr(&list), NULL);
    }
    p->plan->failed |= list.failed;
    pt_string_list_free(&names);
    perftrace__strbuf_free(&list);
}

static void put_rocprof(pt_plan_rank_t *rank, const char *dir, const char *prefix) {
    pt_settings_put(&rank->env, "ROCPROFSYS_TIME_OUTPUT", "false", NULL);
    pt_settings_put(&rank->env, "ROCPROFSYS_OUTPUT_PATH", dir, NULL);
    pt_settings_put(&rank->env, "ROCPROFSYS_OUTPUT_PREFIX", pt_last_part(prefix), NULL);
}

/* vLLM's own limit of 10 s ends a stop_profile in the middle of writing. */
static void put_vllm(planner_t *p, pt_plan_rank_t *rank) {
    const char *given = p->request->get("VLLM_RPC_TIMEOUT", p->request->user);
    pt_settings_put(&rank->env, "VLLM_RPC_TIMEOUT", given && *given ? given : "1800000", NULL);
}

static void put_env(planner_t *p, pt_plan_rank_t *rank, const char *prefix) {
    const pt_plan_request_t *q = p->request;
    if (q->tell_ranks) {
        put_ranks(p, rank);
    }
    if (q->tracer) {
        pt_settings_put_all(&rank->env, q->tracer);
    }
    if (p->plan->selected) {
        if (q->profile->has_steps) {
            put_steps(p, rank);
        }
        if (rank->perf_control) {
            put_back_end(p, rank, "perf");
            pt_settings_put(&rank->env, "PERFTRACE_PROFILER_PERF_CONTROL", rank->perf_control,
                            NULL);
        } else if (q->profile->steered) {
            put_back_end(p, rank, "cuda");
        }
        if (q->profile->backend == PT_BACKEND_ROCPROF_SYS) {
            put_rocprof(rank, p->output_dir, prefix);
        } else if (q->profile->backend == PT_BACKEND_VLLM) {
            put_vllm(p, rank);
        }
        pt_settings_put_all(&rank->env, &q->profile->env);
    }
    if (q->env) {
        pt_settings_put_all(&rank->env, q->env);
    }
    p->plan->failed |= rank->env.failed;
}

/* rocprof-sys is steered by variables, so that these say where its report will be. */
static void await_rocprof(planner_t *p, pt_plan_rank_t *rank) {
    const char *dir = pt_settings_get(&rank->env, "ROCPROFSYS_OUTPUT_PATH");
    const char *prefix = pt_settings_get(&rank->env, "ROCPROFSYS_OUTPUT_PREFIX");
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/%s", dir ? dir : p->output_dir, prefix ? prefix : "");
    await_report(p, rank, perftrace__strbuf_cstr(&path));
    p->plan->failed |= path.failed;
    perftrace__strbuf_free(&path);
}

/* ---- the plan -----------------------------------------------------------------------------------
 */

static void plan_rank(planner_t *p, int64_t local_rank) {
    const pt_plan_request_t *q = p->request;
    pt_plan_rank_t *rank = &p->plan->ranks[local_rank];
    rank->rank = q->first_rank + local_rank;
    rank->local_rank = local_rank;
    perftrace__strbuf_t prefix = PERFTRACE__STRBUF_INIT;
    if (p->plan->selected) {
        pt_plan_put_prefix(&prefix, p->output_dir, q->group, rank->rank);
        add_wrapped(p, rank, perftrace__strbuf_cstr(&prefix));
    } else {
        add_command(p, rank);
    }
    put_env(p, rank, perftrace__strbuf_cstr(&prefix));
    if (p->plan->selected && q->profile->backend == PT_BACKEND_ROCPROF_SYS) {
        await_rocprof(p, rank);
    }
    p->plan->failed |= prefix.failed;
    perftrace__strbuf_free(&prefix);
}

void pt_plan_make(const pt_plan_request_t *request, pt_plan_t *ret_plan,
                  pt_run_problems_t *problems) {
    planner_t p = {request, ret_plan, problems, NULL};
    const pt_run_profile_t *profile = request->profile;
    *ret_plan = (pt_plan_t){0};
    ret_plan->ranks = calloc((size_t)request->local_ranks, sizeof(*ret_plan->ranks));
    if (!ret_plan->ranks) {
        ret_plan->failed = true;
        return;
    }
    ret_plan->count = (size_t)request->local_ranks;
    ret_plan->selected =
        profile->backend > PT_BACKEND_NONE && pt_run_profile_selects(profile, request->group);
    if (ret_plan->selected) {
        p.output_dir = profile->output_dir ? profile->output_dir : request->temp_dir;
        if (!profile->output_dir) {
            pt_run_warning(problems, NULL, "there is no output_dir: reports go to %s",
                           p.output_dir);
        }
        ret_plan->output_dir = strdup(p.output_dir);
        ret_plan->title = pt_backends[profile->backend].program;
        ret_plan->in_process = profile->backend == PT_BACKEND_ROCPROF_SYS;
        ret_plan->failed |= !ret_plan->output_dir;
        if (profile->backend == PT_BACKEND_VLLM) {
            check_vllm_command(&p);
        }
    }
    for (int64_t i = 0; i < request->local_ranks && !ret_plan->failed; i++) {
        plan_rank(&p, i);
        if (problems->errors.len) {
            break; /* the others have the same */
        }
    }
}

void pt_plan_free(pt_plan_t *plan) {
    for (size_t i = 0; i < plan->count; i++) {
        pt_plan_rank_t *rank = &plan->ranks[i];
        pt_string_list_free(&rank->argv);
        pt_settings_free(&rank->env);
        free(rank->report_dir);
        free(rank->report_start);
        free(rank->perf_control);
    }
    free(plan->ranks);
    free(plan->output_dir);
    *plan = (pt_plan_t){0};
}
