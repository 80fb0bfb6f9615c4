/* run_profile.c. SPDX-License-Identifier: MIT */
#include "run_profile.h"

#include "human.h"
#include "option.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const pt_backend_info_t pt_backends[PT_BACKEND_COUNT] = {
#define PT_I_BACKEND_INFO(name, key, program, options, flags, help) {key, program, options, flags},
    PT_BACKENDS(PT_I_BACKEND_INFO)
#undef PT_I_BACKEND_INFO
};

void pt_run_profile_init(pt_run_profile_t *profile) {
    *profile = (pt_run_profile_t){.backend = PT_BACKEND_UNSET, .enabled = true};
}

void pt_run_profile_free(pt_run_profile_t *profile) {
    pt_string_list_free(&profile->groups);
    pt_string_list_free(&profile->flags);
    pt_settings_free(&profile->options);
    pt_settings_free(&profile->env);
    free(profile->steps);
    free(profile->output_dir);
    free(profile->options_place);
    free(profile->flags_place);
    pt_run_profile_init(profile);
}

int pt_backend_of(const char *name) {
    for (int i = 0; i < PT_BACKEND_COUNT; i++) {
        if (strcmp(pt_backends[i].name, name) == 0) {
            return i;
        }
    }
    return PT_BACKEND_UNSET;
}

void pt_backend_put_names(perftrace__strbuf_t *out, const char *word) {
    const char *names[PT_BACKEND_COUNT];
    for (size_t i = 0; i < PT_BACKEND_COUNT; i++) {
        names[i] = pt_backends[i].name;
        perftrace__strbuf_printf(out, "%s%s", i ? ", " : "", names[i]);
    }
    int nearest = pt_nearest_name(word, names, PT_BACKEND_COUNT);
    if (nearest >= 0) {
        perftrace__strbuf_printf(out, "; is %s meant?", names[nearest]);
    }
}

bool pt_run_profile_add_step(pt_run_profile_t *profile, const char *text) {
    int64_t step;
    if (!pt_parse_int64(text, &step) || step < 0) {
        return false;
    }
    int64_t *more = realloc(profile->steps, (profile->step_count + 1) * sizeof(*more));
    if (!more) {
        profile->failed = true;
        return true;
    }
    profile->steps = more;
    profile->steps[profile->step_count++] = step;
    return true;
}

static int by_step(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t pt_run_profile_windows(pt_run_profile_t *profile) {
    const size_t count = profile->step_count;
    size_t windows = 0;
    int64_t *sorted = calloc(count ? count : 1, sizeof(*sorted));
    if (!sorted) {
        profile->failed = true;
        return count;
    }
    if (count) {
        memcpy(sorted, profile->steps, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), by_step);
    }
    for (size_t i = 0; i < count; i++) {
        windows += i == 0 || sorted[i] != sorted[i - 1];
    }
    free(sorted);
    return windows;
}

bool pt_run_profile_selects(const pt_run_profile_t *profile, const char *group) {
    for (size_t i = 0; profile->enabled && profile->has_groups && i < profile->groups.count; i++) {
        const char *listed = profile->groups.items[i];
        if (strcasecmp(listed, "all") == 0 || strcasecmp(listed, group) == 0) {
            return true;
        }
    }
    return false;
}

bool pt_run_profile_takes_step(const pt_run_profile_t *profile, int64_t step) {
    for (size_t i = 0; profile->enabled && profile->has_steps && i < profile->step_count; i++) {
        if (profile->steps[i] == step) {
            return true;
        }
    }
    return profile->enabled && !profile->has_steps;
}
