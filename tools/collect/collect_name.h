/* collect_name.h: what collected files and their claims are called (pure). SPDX-License-Identifier:
 * MIT
 *
 * A name in a run's folder belongs to one stream. Which one says the claim: a symbolic link
 * .streams/NAME whose target is a text, "<stream>+<base>+<copied>". The system makes a link at once
 * and for one maker only, on shared file systems too. */
#ifndef PERFTRACE_TOOL_COLLECT_NAME_H
#define PERFTRACE_TOOL_COLLECT_NAME_H

#include "compiler.h"

#include <stdbool.h>

#define PT_COLLECT_NAME_MAX  384 /* role, name, what is added, NUL */
#define PT_COLLECT_CLAIM_MAX 64

/* What a claim says. */
typedef struct pt_collect_claim {
    uint64_t stream;
    uint64_t base;   /* the stream's offset at which this part begins */
    uint64_t copied; /* bytes at the part's begin that repeat the stream's names */
} pt_collect_claim_t;

void pt_collect_claim_put(char out[PT_COLLECT_CLAIM_MAX], const pt_collect_claim_t *claim);
/* False: it is none. */
bool pt_collect_claim_parse(const char *text, pt_collect_claim_t *ret);

/* "actor/traces-r3.jsonl", or without the role's folder. */
void pt_collect_name_first(char out[PT_COLLECT_NAME_MAX], const char *role, const char *name);
/* The nth name to be tried: 0 the name itself, 1 "traces-r3.1.jsonl". */
void pt_collect_name_nth(char out[PT_COLLECT_NAME_MAX], const char *name, unsigned n);
/* A part's: 1 the name itself, 2 "traces-r3.part2.jsonl". */
void pt_collect_name_part(char out[PT_COLLECT_NAME_MAX], const char *name, unsigned part);
/* Which part a name is; 1 for one that names none. */
unsigned pt_collect_name_part_of(const char *name);

#endif
