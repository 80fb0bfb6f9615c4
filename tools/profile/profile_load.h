/* profile_load.h: files of stacks, of any format, into one model. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_PROFILE_PROFILE_LOAD_H
#define PERFTRACE_PROFILE_PROFILE_LOAD_H
#include "exit_code.h"
#include "paths.h"
#include "profile_model.h"
#include "profile_problem.h"
#include "profile_sniff.h"
#include "progress.h"

typedef struct pt_profile_load {
    unsigned threads;        /* that read one file; 0 or 1: this one alone */
    bool leaves_only;        /* only the last frame of each stack is needed */
    bool keep_order;         /* keep each sample */
    bool mend_events;        /* of evented profiles */
    pt_problems_t *book;     /* of pt_profile_problem_kinds; inputs are registered in it */
    pt_progress_t *progress; /* NULL: none */
} pt_profile_load_t;

/* What one input was. */
typedef struct pt_profile_source {
    pt_profile_format_t format;
    pt_text_encoding_t encoding;
    uint64_t lines; /* of text formats */
} pt_profile_source_t;

/* Reads one input ("-": standard input) into an initialised model. file is its number in the book.
 * What is wrong with all of it is told by pt_error. The same bytes give the same model whatever
 * `threads` is. Returns PT_EXIT_OK, PT_EXIT_INPUT (there are no stacks in it, or it cannot be read;
 * the model has what could be read) or PT_EXIT_INTERNAL. Blocks on the file system. */
pt_exit_t pt_profile_load_file(const pt_profile_load_t *load, const char *path, unsigned file,
                               pt_profile_t *p, pt_profile_source_t *ret_source);

/* Reads all inputs, in order, into one model: threads of one name in several files become one.
 * source (one an input) may be NULL. PT_EXIT_INPUT when any cannot be read, as above. */
pt_exit_t pt_profile_load_files(const pt_profile_load_t *load, const pt_paths_t *paths,
                                pt_profile_t *p, pt_profile_source_t *source);

#endif
