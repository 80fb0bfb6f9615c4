/* convert_run.h: the conversion of all inputs, in parallel. SPDX-License-Identifier: MIT
 *
 * Inputs are dealt out to a fixed number of lanes; a lane converts its inputs one after another, a
 * chunk at a time. Chunks of all lanes are written in turn, so that the output depends on the
 * inputs only, never on the number of threads. */
#ifndef PERFTRACE_CONVERT_RUN_H
#define PERFTRACE_CONVERT_RUN_H
#include "convert_doc.h"
#include "convert_plan.h"

/* Converts the inputs of the plan into the document. PT_EXIT_OK or what went wrong (told). */
pt_exit_t pt_convert_run(const pt_convert_plan_t *plan, pt_convert_doc_t *doc,
                         const pt_convert_options_t *options, unsigned threads, uint64_t bytes);

#endif
