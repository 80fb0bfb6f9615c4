/* session_problem.c: what can be wrong with a sessions file. SPDX-License-Identifier: MIT */
#include "session_problem.h"

const pt_problem_kind_t *pt_session_problem_kinds(void) {
    static const pt_problem_kind_t kinds[PT_SESSION_PROBLEM_COUNT] = {
#define PT_I_REPAIR_KIND(name, text_)                                                              \
    [PERFTRACE__JSON_REPAIR_INDEX_##name] = {"mended_" #name, text_, PT_PROBLEM_MENDED},
        PERFTRACE__JSON_REPAIR_LIST(PT_I_REPAIR_KIND)
#undef PT_I_REPAIR_KIND
#define PT_I_SESSION_PROBLEM(name, weight_, id_, text_)                                            \
    [PT_SESSION_PROBLEM_##name] = {id_, text_, PT_PROBLEM_##weight_},
            PT_SESSION_PROBLEM_LIST(PT_I_SESSION_PROBLEM)
#undef PT_I_SESSION_PROBLEM
    };
    return kinds;
}
