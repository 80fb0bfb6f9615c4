/* forward_look.h: whether a file can be sent, and as whose. SPDX-License-Identifier: MIT
 *
 * Blocks on the file system. */
#ifndef PERFTRACE_TOOL_FORWARD_LOOK_H
#define PERFTRACE_TOOL_FORWARD_LOOK_H

#include "forward_entry.h"
#include "forward_options.h"

/* Reads what the file is and whether it is complete: state becomes READY, WAITING, NO_TRACE or
 * FAILED, with the reason in why. path is set, the rest as far as known. */
void pt_forward_look(pt_forward_entry_t *e, const pt_forward_options_t *o);

/* Whether the file has changed since, or its process has ended. False also when it is gone. */
bool pt_forward_look_changed(const pt_forward_entry_t *e);

#endif
