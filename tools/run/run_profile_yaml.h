/* run_profile_yaml.h: the profiling block of a configuration file. SPDX-License-Identifier: MIT
 *
 * The block is `cluster.profiling` as in RLinf's configurations, else `profiling`, else the whole
 * file where it has a `backend` itself. Values may hold ${other.key} and ${oc.env:NAME,default}, as
 * in config_yaml.h. Pure but for `get`. */
#ifndef PERFTRACE_TOOL_RUN_PROFILE_YAML_H
#define PERFTRACE_TOOL_RUN_PROFILE_YAML_H

#include "rank_detect.h"
#include "run_profile.h"

typedef struct pt_run_profile_file {
    const char *name; /* for messages */
    const char *text;
    size_t len;
    perftrace__getenv_fn get; /* of the environment */
    void *user;
    /* The command line says so, whatever the file's is: keys of another backend are then passed
     * over. PT_BACKEND_UNSET: the file decides. */
    int backend;
} pt_run_profile_file_t;

/* Reads the block into *profile (initialised; what the block does not say stays). output_dir is
 * derived as <runner.logger.log_path>/<runner.logger.experiment_name>/profiling where the file has
 * these and the block does not say. Whatever is wrong goes to problems. False when the text is no
 * YAML. *ret_found tells whether there is a block, *ret_tracer whether there is a section of the
 * tracer's. */
bool pt_run_profile_read_yaml(const pt_run_profile_file_t *file, pt_run_profile_t *profile,
                              pt_run_problems_t *problems, bool *ret_found, bool *ret_tracer);

#endif
