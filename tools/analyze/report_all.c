/* report_all.c: the tables of one run, in their order. SPDX-License-Identifier: MIT */
#include "analyze_report.h"

bool pt_analyze_report(const pt_analyze_report_t *how, pt_report_t *report) {
    pt_report_summary(how, report);
    pt_report_findings(how, report);
    pt_report_ranks(how, report);
    pt_report_device(how, report);
    pt_report_names(how, report);
    pt_report_launches(how, report);
    pt_report_sequences(how, report);
    pt_report_steps(how, report);
    pt_report_collectives(how, report);
    pt_report_counters(how, report);
    pt_report_coverage(how, report);
    return !pt_report_failed(report);
}
