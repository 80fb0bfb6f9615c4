/* speedscope_read.h: speedscope's files into the model. SPDX-License-Identifier: MIT
 *
 * Reads every profile, sampled and evented, with its unit; times become seconds. What cannot be
 * read costs at most its profile, and is told. Format: speedscope's published schema. Pure. */
#ifndef PERFTRACE_PROFILE_SPEEDSCOPE_READ_H
#define PERFTRACE_PROFILE_SPEEDSCOPE_READ_H
#include "json_scan.h"
#include "profile_model.h"
#include "profile_problem.h"

typedef enum pt_speedscope_result {
    PT_SPEEDSCOPE_OK,
    PT_SPEEDSCOPE_NOT_JSON,    /* ret_error says why */
    PT_SPEEDSCOPE_TRACE,       /* it is a Chrome trace */
    PT_SPEEDSCOPE_OTHER,       /* JSON, but no profiles and frames are in it */
    PT_SPEEDSCOPE_NO_PROFILES, /* the list of profiles is empty */
    PT_SPEEDSCOPE_NO_MEMORY
} pt_speedscope_result_t;

/* Reads a whole document. mend_events: take evented profiles whose events are out of order or
 * unbalanced, too, each event mended. *ret_taken is the number of profiles that were taken.
 * ret_error is set with PT_SPEEDSCOPE_NOT_JSON. */
pt_speedscope_result_t pt_speedscope_read(pt_profile_t *p, const char *text, size_t len,
                                          bool mend_events, pt_profile_notes_t *notes,
                                          size_t *ret_taken, perftrace__json_error_t *ret_error);

#endif
