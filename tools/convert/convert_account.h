/* convert_account.h: what was read, written, lost and mended. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_CONVERT_ACCOUNT_H
#define PERFTRACE_CONVERT_ACCOUNT_H
#include "convert_doc.h"
#include "convert_plan.h"

typedef struct pt_convert_account {
    const pt_convert_plan_t *plan;
    const pt_problems_t *book;
    uint64_t in[128], out[128];
    uint64_t read, written; /* events; metadata is not counted */
    uint64_t filtered, unfinished, moved, unsure, lost, nonfinite;
    uint64_t sessions[PT_SESSION_END_COUNT];
    int64_t first_ns, last_ns;
    size_t incomplete; /* inputs of our writer without a footer */
    uint64_t bytes_in;
    uint64_t elapsed_ns;
} pt_convert_account_t;

/* Adds up the inputs of the plan, after the conversion. */
void pt_convert_account_make(pt_convert_account_t *account, const pt_convert_plan_t *plan,
                             const pt_problems_t *book);

/* Appends members of the output's metadata object: `"perftrace_convert": {...}`. timing: the time
 * it took too, which differs from run to run. */
void pt_convert_account_json(const pt_convert_account_t *account, bool timing,
                             perftrace__strbuf_t *out);

/* Prints the account as notes on standard error. doc may be NULL. */
void pt_convert_account_print(const pt_convert_account_t *account, const pt_convert_doc_t *doc);

#endif
