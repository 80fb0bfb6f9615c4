/* run_profile_check.c: the rules that see a whole profile. SPDX-License-Identifier: MIT */
#include "os.h"
#include "run_profile.h"
#include "run_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char *origin_of(const pt_settings_t *settings, const char *name) {
    const pt_setting_t *s = pt_settings_find(settings, name);
    return s ? s->origin : NULL;
}

static bool has_any(const pt_settings_t *settings, const char *a, const char *b) {
    return pt_settings_find(settings, a) || pt_settings_find(settings, b);
}

static void refuse_both(const pt_run_profile_t *profile, const char *a, const char *b,
                        pt_run_problems_t *problems) {
    if (pt_settings_find(&profile->options, a) && pt_settings_find(&profile->options, b)) {
        pt_run_error(problems, origin_of(&profile->options, a),
                     "%s and %s mean the same: give one of them", a, b);
    }
}

/* Booleans as the profilers spell them. */
static void lower_booleans(pt_settings_t *options) {
    for (size_t i = 0; i < options->count; i++) {
        pt_setting_t *s = &options->items[i];
        if (!s->is_text && pt_yaml_plain_kind(s->value) == PT_YAML_BOOL) {
            char *word = strdup(pt_yaml_is_true(s->value) ? "true" : "false");
            if (word) {
                free(s->value);
                s->value = word;
            } else {
                options->failed = true;
            }
        }
    }
}

/* stop-on-range-end is what capture-range-end was called. */
static void rename_range_end(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    static const char alias[] = "stop-on-range-end";
    static const char name[] = "capture-range-end";
    const pt_setting_t *given = pt_settings_find(&profile->options, alias);
    if (!given) {
        return;
    }
    if (pt_settings_find(&profile->options, name)) {
        refuse_both(profile, alias, name, problems);
        return;
    }
    const char *value = given->value + strspn(given->value, " \t");
    size_t n = strcspn(value, " \t");
    static const struct {
        const char *word, *means;
    } words[] = {{"true", "stop"},  {"1", "stop"}, {"yes", "stop"}, {"on", "stop"},
                 {"false", "none"}, {"0", "none"}, {"no", "none"},  {"off", "none"}};
    const char *means = given->value;
    for (size_t i = 0; i < PT_ARRAY_LEN(words); i++) {
        if (strlen(words[i].word) == n && strncasecmp(value, words[i].word, n) == 0 &&
            value[n + strspn(value + n, " \t")] == '\0') {
            means = words[i].means;
        }
    }
    pt_settings_put(&profile->options, name, means, given->origin);
    pt_settings_remove(&profile->options, alias);
}

/* So that only the listed steps are recorded: the worker opens and closes a window around each. */
static void gate_steps(pt_run_profile_t *profile) {
    char end[64];
    size_t windows = pt_run_profile_windows(profile);
    snprintf(end, sizeof(end), windows > 1 ? "repeat-shutdown:%zu" : "stop", windows);
    if (!pt_settings_find(&profile->options, "c")) {
        pt_settings_default(&profile->options, "capture-range", "cudaProfilerApi", NULL);
    }
    /* After "stop" nsys records nothing more, so that several windows must be announced. It then
     * ends its session with the last one, and would end the worker with it. */
    bool repeats = windows > 1 && !pt_settings_find(&profile->options, "capture-range-end");
    pt_settings_default(&profile->options, "capture-range-end", end, NULL);
    if (repeats && !has_any(&profile->options, "kill", "k")) {
        pt_settings_put(&profile->options, "kill", "none", NULL);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void refuse_overlap(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    pt_string_list_t both = PT_STRING_LIST_INIT;
    for (size_t i = 0; i < profile->flags.count; i++) {
        const char *flag = profile->flags.items[i];
        if (pt_settings_find(&profile->options, flag) && !pt_string_list_has(&both, flag)) {
            profile->failed |= !pt_string_list_add(&both, flag);
        }
    }
    if (both.count) {
        perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
        qsort(both.items, both.count, sizeof(*both.items), by_name);
        for (size_t i = 0; i < both.count; i++) {
            perftrace__strbuf_printf(&names, "%s%s", i ? ", " : "", both.items[i]);
        }
        pt_run_error(problems, profile->flags_place, "also among the options: %s",
                     perftrace__strbuf_cstr(&names));
        perftrace__strbuf_free(&names);
    }
    pt_string_list_free(&both);
}

/* Whether the workers' tracers switch perf on and off on the steps. */
static void steer_perf(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    static const char *const own[] = {"control", "D", "delay"};
    profile->steered = true;
    for (size_t i = 0; i < PT_ARRAY_LEN(own); i++) {
        const pt_setting_t *given = pt_settings_find(&profile->options, own[i]);
        if (given && profile->steered) {
            profile->steered = false;
            pt_run_warning(problems, given->origin,
                           "steps do not steer perf: it is switched on and off as %s says", own[i]);
        }
    }
}

static void check_nsight(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    lower_booleans(&profile->options);
    rename_range_end(profile, problems);
    refuse_both(profile, "o", "output", problems);
    if (profile->has_steps) {
        gate_steps(profile);
        profile->steered = true;
    }
}

static void check_perf(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    pt_settings_t *options = &profile->options;
    refuse_both(profile, "o", "output", problems);
    if (!has_any(options, "F", "freq") && !has_any(options, "c", "count")) {
        pt_settings_put(options, "F", "99", NULL);
    }
    if (!pt_settings_find(options, "call-graph") && !pt_string_list_has(&profile->flags, "g")) {
        pt_settings_put(options, "call-graph", "fp", NULL);
    }
    if (profile->has_steps) {
        steer_perf(profile, problems);
    }
}

static void make_absolute(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    int err = perftrace__os_absolute_path(&path, profile->output_dir);
    while (path.len > 1 && path.data[path.len - 1] == '/') {
        path.data[--path.len] = '\0';
    }
    if (err < 0) {
        pt_run_error(problems, profile->output_dir, "the current directory is not known (%s)",
                     strerror(-err));
    } else {
        free(profile->output_dir);
        profile->output_dir = strdup(perftrace__strbuf_cstr(&path));
        profile->failed |= !profile->output_dir;
    }
    perftrace__strbuf_free(&path);
}

void pt_run_profile_check(pt_run_profile_t *profile, pt_run_problems_t *problems) {
    if (profile->backend == PT_BACKEND_UNSET) {
        return;
    }
    const pt_backend_info_t *info = &pt_backends[profile->backend];
    if (profile->output_dir) {
        make_absolute(profile, problems);
    }
    if (!*info->options_key && profile->options.count) {
        pt_run_error(problems, profile->options.items[0].origin, "backend %s has no options",
                     info->name);
    }
    if (!info->takes_flags && profile->flags.count) {
        pt_run_error(problems, profile->flags_place, "backend %s has no flags", info->name);
    }
    if (profile->has_steps && profile->step_count == 0 && profile->enabled) {
        pt_run_warning(problems, NULL, "the list of steps is empty: no step is profiled");
    }
    if (profile->has_steps && profile->backend == PT_BACKEND_VLLM) {
        pt_run_warning(problems, NULL,
                       "steps do not steer vllm: it records from /start_profile to /stop_profile");
    }
    if (profile->backend == PT_BACKEND_NSIGHT) {
        check_nsight(profile, problems);
    } else if (profile->backend == PT_BACKEND_PERF) {
        check_perf(profile, problems);
    }
    refuse_overlap(profile, problems);
    profile->failed = profile->failed || profile->options.failed;
}
