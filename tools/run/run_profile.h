/* run_profile.h: what is to be profiled, and how. SPDX-License-Identifier: MIT
 *
 * The fields of RLinf's `cluster.profiling`, for more backends. It is filled in three steps: the
 * block of a file (run_profile_yaml), the command line on top, then pt_run_profile_check, which
 * sees the whole. Pure. */
#ifndef PERFTRACE_TOOL_RUN_PROFILE_H
#define PERFTRACE_TOOL_RUN_PROFILE_H

#include "run_problems.h"
#include "run_settings.h"
#include "string_list.h"

/* X(name, key in files, program or NULL, key of the options, takes flags, what it is) */
#define PT_BACKENDS(X)                                                                             \
    X(NONE, "none", NULL, "", false, "start the workers, nothing else")                            \
    X(NSIGHT, "nsight", "nsys", "options", true, "NVIDIA Nsight Systems: nsys profile")            \
    X(ROCPROF_SYS, "rocprof_sys", "rocprof-sys-python", "args", false,                             \
      "AMD ROCm Systems Profiler: rocprof-sys-python")                                             \
    X(PERF, "perf", "perf", "options", true, "Linux perf: perf record")                            \
    X(VLLM, "vllm", NULL, "options", false, "vLLM's own: --profiler-config for vllm serve")

typedef enum pt_backend {
#define PT_I_BACKEND_ENUM(name, key, program, options, flags, help) PT_BACKEND_##name,
    PT_BACKENDS(PT_I_BACKEND_ENUM)
#undef PT_I_BACKEND_ENUM
        PT_BACKEND_COUNT
} pt_backend_t;

#define PT_BACKEND_UNSET (-1)

typedef struct pt_backend_info {
    const char *name;
    const char *program;     /* what is put in front of the worker; NULL: nothing is */
    const char *options_key; /* the mapping of options in the block; "": there is none */
    bool takes_flags;
} pt_backend_info_t;

extern const pt_backend_info_t pt_backends[PT_BACKEND_COUNT];

typedef struct pt_run_profile {
    int backend; /* a pt_backend_t, or PT_BACKEND_UNSET */
    bool enabled;
    bool has_groups; /* false: no group is profiled */
    pt_string_list_t groups;
    bool has_steps; /* false: all steps */
    int64_t *steps; /* as listed */
    size_t step_count;
    bool steered;     /* the worker's tracer opens a window around each step: set by the check */
    char *output_dir; /* absolute, or NULL */
    pt_settings_t options; /* of the backend: options or args */
    pt_string_list_t flags;
    pt_settings_t env;   /* variables for the workers */
    char *options_place; /* for messages: "run.yaml:7: cluster.profiling.options"; may be NULL */
    char *flags_place;
    bool failed; /* memory ran out */
} pt_run_profile_t;

void pt_run_profile_init(pt_run_profile_t *profile);
void pt_run_profile_free(pt_run_profile_t *profile);

/* The backend of that name, or PT_BACKEND_UNSET. */
int pt_backend_of(const char *name);
/* Appends "none, nsight, ..." and, where one is near to `word`, "; is nsight meant?". */
void pt_backend_put_names(perftrace__strbuf_t *out, const char *word);

/* Adds a step given as text. False when it is no whole number from 0. */
bool pt_run_profile_add_step(pt_run_profile_t *profile, const char *text);
/* How many different steps are listed. */
size_t pt_run_profile_windows(pt_run_profile_t *profile);

/* Whether workers of a group run under the profiler: enabled, and listed (case aside) or "all". */
bool pt_run_profile_selects(const pt_run_profile_t *profile, const char *group);
/* Whether a step is profiled: never when disabled, always without a list. */
bool pt_run_profile_takes_step(const pt_run_profile_t *profile, int64_t step);

/* Judges the whole and puts defaults in: aliases, options given twice, capture ranges. */
void pt_run_profile_check(pt_run_profile_t *profile, pt_run_problems_t *problems);

/* vLLM's --profiler-config from the options: appends the JSON to out. output_dir is where traces go
 * when the options do not say. */
void pt_vllm_put_config(const pt_settings_t *options, const char *output_dir,
                        perftrace__strbuf_t *out, pt_run_problems_t *problems);

#endif
