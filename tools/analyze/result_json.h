/* result_json.h: results written and read again. SPDX-License-Identifier: MIT
 *
 * What is read is exactly what was written (docs/formats/ANALYSIS.md). Pure but for memory. */
#ifndef PERFTRACE_ANALYZE_RESULT_JSON_H
#define PERFTRACE_ANALYZE_RESULT_JSON_H
#include "rank_result.h"

/* Appends one document with all results. */
void pt_results_write(const pt_results_t *results, perftrace__strbuf_t *out);
/* Whether a text begins like such a document. */
bool pt_results_is(const char *text, size_t len);
/* Adds the results of a document. False: *ret_problem says what is wrong with it. */
bool pt_results_read(pt_results_t *results, const char *text, size_t len,
                     perftrace__strbuf_t *ret_problem);

#endif
