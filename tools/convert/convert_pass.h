/* convert_pass.h: a pass over many inputs, in parallel. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_PASS_H
#define PERFTRACE_CONVERT_PASS_H
#include "convert_input.h"

/* Looks through one input with a buffer of PT_CONVERT_CHUNK + PT_EVENT_PAD bytes. False without
 * memory or when reading fails (told). */
typedef bool pt_convert_look_t(pt_convert_input_t *input, char *buf);

/* Lets look see the inputs, each once, several at a time. PT_EXIT_OK or PT_EXIT_INTERNAL (told). */
pt_exit_t pt_convert_pass(pt_convert_input_t *const *inputs, size_t count, unsigned threads,
                          pt_convert_look_t *look);

#endif
