/* rank_select.h: which ranks record. SPDX-License-Identifier: MIT
 *
 * Grammar: "all" | "none" | item { "," item }, item = N | N "-" M with N <= M. Blanks around items
 * and commas are ignored, an empty text or NULL is "all", words in any case. */
#ifndef PERFTRACE_RANK_SELECT_H
#define PERFTRACE_RANK_SELECT_H

#include "compiler.h"

/* Whether `rank` records under `selection`. A negative rank is an unknown one and records unless
 * the selection is "none". Returns PERFTRACE_OK or PERFTRACE_ERR_PARSE; a selection that cannot be
 * read selects every rank, since a superfluous file costs less than a missing one. Pure. */
int perftrace__rank_selected(const char *selection, int rank, int *ret_selected);

#endif
