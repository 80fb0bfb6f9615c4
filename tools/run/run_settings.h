/* run_settings.h: named values in the order they were given. SPDX-License-Identifier: MIT
 *
 * Options of a profiler, variables of an environment. Pure; not thread-safe. */
#ifndef PERFTRACE_TOOL_RUN_SETTINGS_H
#define PERFTRACE_TOOL_RUN_SETTINGS_H

#include "compiler.h"

#include <stdbool.h>

typedef struct pt_setting {
    char *name;
    char *value; /* never NULL */
    char
        *origin; /* where it was given, as in messages: "run.yaml:7: cluster.profiling.options.t" */
    bool is_text; /* quoted in its file, or from a list of text: "true" is then no boolean */
} pt_setting_t;

typedef struct pt_settings {
    pt_setting_t *items; /* NULL while empty */
    size_t count, cap;
    bool failed; /* memory ran out: something is missing */
} pt_settings_t;

#define PT_SETTINGS_INIT                                                                           \
    { NULL, 0, 0, false }

/* The setting of that name, or NULL. */
pt_setting_t *pt_settings_find(const pt_settings_t *settings, const char *name);
/* Its value, or NULL. */
const char *pt_settings_get(const pt_settings_t *settings, const char *name);
/* Sets a value: one of that name keeps its place, a new one goes to the end. All texts are copied;
 * origin may be NULL. Without memory `failed` is set. */
void pt_settings_put(pt_settings_t *settings, const char *name, const char *value,
                     const char *origin);
/* The same, unless there is one of that name. */
void pt_settings_default(pt_settings_t *settings, const char *name, const char *value,
                         const char *origin);
/* Takes "NAME=VALUE" apart and puts it. False where there is no "=", or no name. */
bool pt_settings_put_pair(pt_settings_t *settings, const char *pair, const char *origin);
/* Puts all of `from`. */
void pt_settings_put_all(pt_settings_t *settings, const pt_settings_t *from);
void pt_settings_remove(pt_settings_t *settings, const char *name);
/* Frees; empty and usable again. Accepts NULL. */
void pt_settings_free(pt_settings_t *settings);

#endif
