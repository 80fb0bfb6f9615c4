/* collect_follow.h: the state of all ranks on standard output, again and again.
 * SPDX-License-Identifier: MIT
 *
 * On a terminal it is drawn in place; elsewhere each block stands after the other. Whoever does not
 * read is not waited for. Drawn on the thread that knows, printed on another one, in turn. */
#ifndef PERFTRACE_TOOL_COLLECT_FOLLOW_H
#define PERFTRACE_TOOL_COLLECT_FOLLOW_H

#include "collect_show.h"

typedef struct pt_collect_follow {
    perftrace__strbuf_t text;
    bool fresh; /* text was not printed yet */
    bool gone;  /* nobody reads any more */
} pt_collect_follow_t;

void pt_collect_follow_draw(pt_collect_follow_t *follow, const pt_collect_view_t *view);
void pt_collect_follow_print(pt_collect_follow_t *follow);
void pt_collect_follow_free(pt_collect_follow_t *follow);

#endif
