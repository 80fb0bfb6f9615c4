/* convert_label.h: how processes are named in the output. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_LABEL_H
#define PERFTRACE_CONVERT_LABEL_H
#include "convert_input.h"

/* Appends the process' name and sort index as metadata events, each followed by ",\n", and marks it
 * written. The process has its number. */
void pt_convert_label_put(pt_convert_input_t *input, pt_process_t *process,
                          perftrace__strbuf_t *out);

/* Appends "rank 3 (traces-r3.jsonl)" or the name alone: how messages call an input. */
void pt_convert_label_input(const pt_convert_input_t *input, perftrace__strbuf_t *out);

#endif
