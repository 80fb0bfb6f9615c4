/* perf_script_read.h: the text of `perf script` into the model. SPDX-License-Identifier: MIT
 *
 * A sample is a line "COMM PID/TID [CPU] SECONDS: PERIOD EVENT:", a line for each frame, the
 * innermost first, "ADDRESS SYMBOL+0xOFFSET (OBJECT)", and a blank line. COMM may hold blanks, and
 * all but the time and the event may be missing. COMM is the thread and the first frame, as in
 * collapsed stacks; the period is the weight, 1 without one. Pure. */
#ifndef PERFTRACE_PROFILE_PERF_SCRIPT_READ_H
#define PERFTRACE_PROFILE_PERF_SCRIPT_READ_H
#include "profile_model.h"
#include "profile_problem.h"

/* Reads whole samples. Returns the number of lines; notes as for pt_collapsed_read. */
uint64_t pt_perf_script_read(pt_profile_t *p, const char *text, size_t len,
                             pt_profile_notes_t *notes);

/* Whether the first line of text that is neither blank nor a comment begins a sample. */
bool pt_perf_script_sniff(const char *text, size_t len);

#endif
