/* html_style.h: colours and labels that the user gives to phases. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_SESSIONS_HTML_STYLE_H
#define PERFTRACE_SESSIONS_HTML_STYLE_H
#include "parsed_session.h"
#include "strbuf.h"

typedef struct pt_phase_style {
    char *name;  /* of the phase */
    char *color; /* "#rrggbb" */
    char *label; /* NULL: the name */
} pt_phase_style_t;

/* All zero is empty. */
typedef struct pt_phase_styles {
    pt_phase_style_t *style;
    size_t count, cap;
} pt_phase_styles_t;

/* Adds "NAME=#RRGGBB[:LABEL]" (or #RGB); a later one of the same name counts. On failure appends
 * what is expected to ret_problem and returns false. */
bool pt_phase_styles_add(pt_phase_styles_t *styles, const char *text,
                         perftrace__strbuf_t *ret_problem);
/* The last one of a name; NULL: none. */
const pt_phase_style_t *pt_phase_styles_find(const pt_phase_styles_t *styles, pt_name_t name);
void pt_phase_styles_free(pt_phase_styles_t *styles); /* accepts NULL; usable again */

#endif
