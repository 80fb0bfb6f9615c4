/* forward_report.h: what came of the files. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FORWARD_REPORT_H
#define PERFTRACE_TOOL_FORWARD_REPORT_H

#include "forward_book.h"
#include "table.h"

typedef struct pt_forward_sums {
    uint64_t files; /* that are whole at the other side */
    uint64_t sent;  /* bytes of files that it did not have */
    uint64_t there; /* bytes that it had before */
    uint64_t left;  /* bytes of complete files that it has not */
    uint64_t left_files;
    uint64_t waiting; /* files that are not complete */
    uint64_t no_trace;
    uint64_t failed;
    bool named_no_trace; /* one of those was an operand */
} pt_forward_sums_t;

/* Pure. */
void pt_forward_sums(const pt_forward_book_t *book, pt_forward_sums_t *ret);
/* The tables `files` and `total`. Pure. */
void pt_forward_report(const pt_forward_book_t *book, const pt_forward_sums_t *sums,
                       pt_report_t *ret);
/* Pure. interrupted: a signal ended it. */
pt_exit_t pt_forward_exit(const pt_forward_book_t *book, const pt_forward_sums_t *sums,
                          bool interrupted);

#endif
