/* session_load.h: the inputs into the model, in parallel. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_SESSION_LOAD_H
#define PERFTRACE_SESSIONS_SESSION_LOAD_H
#include "exit_code.h"
#include "paths.h"
#include "problems.h"
#include "session_model.h"

typedef struct pt_session_load {
    /* A trace in which processes take turns is read apart: its processes are added behind, as they
     * are in the book. Their names are only to be shown afterwards. */
    pt_paths_t *paths;
    pt_problems_t *book; /* of pt_session_problem_kinds; the inputs are registered in it */
    unsigned threads;    /* at least 1 */
    /* What came of it. */
    uint64_t bytes; /* read, unpacked */
    size_t files;   /* inputs with sessions in them */
} pt_session_load_t;

/* Reads all inputs into the model (all zero, or with keep_spans set) and finishes it. Files that
 * hold no sessions are named and passed over, silently where a directory held them. PT_EXIT_OK;
 * PT_EXIT_INPUT when an input cannot be opened or no session is in any of them; PT_EXIT_INTERNAL;
 * each told. */
pt_exit_t pt_session_load(pt_session_load_t *load, pt_session_model_t *model);

#endif
