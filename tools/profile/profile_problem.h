/* profile_problem.h: what can be wrong with a file of stacks. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_PROFILE_PROFILE_PROBLEM_H
#define PERFTRACE_PROFILE_PROFILE_PROBLEM_H
#include "problems.h"

/* X(name, weight, id, text) */
#define PT_PROFILE_PROBLEM_LIST(X)                                                                 \
    X(NO_WEIGHT, SKIPPED, "no_weight", "line left out: no blank and weight at its end")            \
    X(BAD_WEIGHT, SKIPPED, "bad_weight", "left out: its weight is no number from 0 up")            \
    X(BAD_STACK, SKIPPED, "bad_stack", "sample left out: its stack is no list of frame numbers")   \
    X(BAD_FRAME, MENDED, "bad_frame", "frame without a name: shown as (unnamed)")                  \
    X(LENGTHS, SKIPPED, "lengths", "profile left out: samples and weights are not as many")        \
    X(BAD_EVENT, SKIPPED, "bad_event", "profile left out")                                         \
    X(MENDED_EVENT, MENDED, "mended_event", "event mended")                                        \
    X(BAD_PROFILE, SKIPPED, "bad_profile", "profile left out")                                     \
    X(MENDED_JSON, MENDED, "mended_json", "JSON mended")                                           \
    X(CUT_JSON, SKIPPED, "cut_json", "the JSON text ends early: what is whole is taken")           \
    X(BAD_HEADER, SKIPPED, "bad_header", "line left out: it belongs to no sample")                 \
    X(BAD_UTF16, MENDED, "bad_utf16", "UTF-16 mended: half a pair became U+FFFD")                  \
    X(NUL, MENDED, "nul", "NUL in a name: shown as U+2400")                                        \
    X(INPUT_ENDS, SKIPPED, "input_damaged", "the file ends early")                                 \
    X(LINE_TOO_LONG, SKIPPED, "line_too_long", "line longer than 64 MiB left out")                 \
    X(OPEN_AT_END, NOTE, "open_at_end", "frame still open at the end: closed there")               \
    X(TWO_COLUMNS, NOTE, "two_columns", "every line ends in two numbers: the second one is taken")

typedef enum pt_profile_problem {
#define PT_I_PROFILE_PROBLEM(name, weight, id, text) PT_PROFILE_PROBLEM_##name,
    PT_PROFILE_PROBLEM_LIST(PT_I_PROFILE_PROBLEM)
#undef PT_I_PROFILE_PROBLEM
        PT_PROFILE_PROBLEM_COUNT
} pt_profile_problem_t;

/* The kinds, indexed by the numbers above. Static storage. */
const pt_problem_kind_t *pt_profile_problem_kinds(void);

/* What a piece of a file had, before it is known where the piece lies. All zero at first. Pure. */
#define PT_PROFILE_DETAIL 120
typedef struct pt_profile_notes {
    struct {
        uint64_t count, line, offset; /* of the first; line 0: not known */
        char detail[PT_PROFILE_DETAIL];
    } of[PT_PROFILE_PROBLEM_COUNT];
} pt_profile_notes_t;

/* Counts one; detail (may be NULL) is cut to what there is room for. */
void pt_profile_note(pt_profile_notes_t *notes, pt_profile_problem_t kind, uint64_t line,
                     uint64_t offset, const char *detail, size_t len);
/* A detail that is made like printf's. */
void pt_profile_notef(pt_profile_notes_t *notes, pt_profile_problem_t kind, uint64_t line,
                      uint64_t offset, const char *fmt, ...) PT_PRINTF(5, 6);
/* Adds those of the piece behind, which begins so many lines and bytes further on. */
void pt_profile_notes_add(pt_profile_notes_t *notes, const pt_profile_notes_t *next, uint64_t lines,
                          uint64_t bytes);
/* Enters them into the book, moved by so many lines and bytes. bytes PT_NO_OFFSET: offsets are not
 * those of the file, and none is told. */
void pt_profile_notes_tell(const pt_profile_notes_t *notes, pt_problems_t *book, unsigned file,
                           uint64_t lines, uint64_t bytes);

#endif
