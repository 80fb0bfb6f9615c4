/* live_text.h: the view as tables and as JSON. SPDX-License-Identifier: MIT
 *
 * Pure but for memory, which the results' `failed` tells. */
#ifndef PERFTRACE_LIVE_LIVE_TEXT_H
#define PERFTRACE_LIVE_LIVE_TEXT_H

#include "live_judge.h"
#include "table.h"

/* only_stuck: what stands still and who is waited for, nothing else. */
void pt_live_tables(const pt_live_model_t *model, const pt_live_verdict_t *verdict,
                    const pt_live_judge_options_t *options, bool only_stuck, pt_report_t *report);

/* One line, strict JSON, with its line feed; docs/LIVE.md has the format. It always holds
 * everything. */
void pt_live_json(const pt_live_model_t *model, const pt_live_verdict_t *verdict,
                  const pt_live_judge_options_t *options, perftrace__strbuf_t *out);

#endif
