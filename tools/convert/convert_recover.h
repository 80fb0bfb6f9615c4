/* convert_recover.h: traces of killed processes are finished before they are read.
 * SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_RECOVER_H
#define PERFTRACE_CONVERT_RECOVER_H

#include "paths.h"
#include "string_list.h"

/* Recovers the rings that operands name and puts their traces in the operands' place. change false
 * (--check): names the traces only. */
void pt_convert_recover_operands(pt_string_list_t *operands, bool change);

/* Recovers the rings that stand beside the inputs and brings the inputs' sizes up to date; what
 * cannot be recovered is warned of and read as it is. change false: only warns. Blocks on the file
 * system. */
void pt_convert_recover_inputs(pt_paths_t *paths, bool change);

#endif
