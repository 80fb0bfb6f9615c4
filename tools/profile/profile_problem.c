/* profile_problem.c. SPDX-License-Identifier: MIT */
#include "profile_problem.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>

const pt_problem_kind_t *pt_profile_problem_kinds(void) {
    static const pt_problem_kind_t kinds[PT_PROFILE_PROBLEM_COUNT] = {
#define PT_I_PROFILE_PROBLEM(name, weight_, id_, text_)                                            \
    [PT_PROFILE_PROBLEM_##name] = {id_, text_, PT_PROBLEM_##weight_},
        PT_PROFILE_PROBLEM_LIST(PT_I_PROFILE_PROBLEM)
#undef PT_I_PROFILE_PROBLEM
    };
    return kinds;
}

void pt_profile_note(pt_profile_notes_t *notes, pt_profile_problem_t kind, uint64_t line,
                     uint64_t offset, const char *detail, size_t len) {
    if (notes->of[kind].count++ > 0) {
        return;
    }
    notes->of[kind].line = line;
    notes->of[kind].offset = offset;
    size_t kept = detail != NULL ? perftrace__utf8_cut(detail, len, PT_PROFILE_DETAIL - 1) : 0;
    if (kept > 0) {
        memcpy(notes->of[kind].detail, detail, kept);
    }
    notes->of[kind].detail[kept] = '\0';
}

void pt_profile_notef(pt_profile_notes_t *notes, pt_profile_problem_t kind, uint64_t line,
                      uint64_t offset, const char *fmt, ...) {
    char text[PT_PROFILE_DETAIL * 2];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pt_profile_note(notes, kind, line, offset, text,
                    n < 0 ? 0 : PT_MIN((size_t)n, sizeof text - 1));
}

void pt_profile_notes_add(pt_profile_notes_t *notes, const pt_profile_notes_t *next, uint64_t lines,
                          uint64_t bytes) {
    for (unsigned kind = 0; kind < PT_PROFILE_PROBLEM_COUNT; kind++) {
        uint64_t more = next->of[kind].count;
        if (more > 0 && notes->of[kind].count == 0) {
            notes->of[kind] = next->of[kind];
            notes->of[kind].line += next->of[kind].line > 0 ? lines : 0;
            notes->of[kind].offset += next->of[kind].offset != PT_NO_OFFSET ? bytes : 0;
        } else {
            notes->of[kind].count += more;
        }
    }
}

void pt_profile_notes_tell(const pt_profile_notes_t *notes, pt_problems_t *book, unsigned file,
                           uint64_t lines, uint64_t bytes) {
    for (unsigned kind = 0; kind < PT_PROFILE_PROBLEM_COUNT; kind++) {
        if (notes->of[kind].count > 0) {
            uint64_t line = notes->of[kind].line, offset = notes->of[kind].offset;
            const char *detail = notes->of[kind].detail;
            bool known = offset != PT_NO_OFFSET && bytes != PT_NO_OFFSET;
            pt_problems_add_many(book, kind, file, line > 0 ? line + lines : 0,
                                 known ? offset + bytes : PT_NO_OFFSET,
                                 *detail != '\0' ? detail : NULL, notes->of[kind].count);
        }
    }
}
