/* convert_session.h: tasks and sessions as tracks that nest. SPDX-License-Identifier: MIT
 *
 * In files of our writer a session, its phases and its task are async events that begin and end as
 * the program said it. In the output each session is one track: its phases lie inside it, what
 * would cross there has a track of its own; the end of a task ends its sessions; and what has no
 * end ends with the file and says so. One thread at a time for an input. */
#ifndef PERFTRACE_CONVERT_SESSION_H
#define PERFTRACE_CONVERT_SESSION_H
#include "convert_out.h"
#include "event_write.h"

/* Takes an async event of our own file (phase b, n or e). True: what is to be written of it is or
 * will be; false: it is to be written as any other async event. put: as for pt_convert_async. */
bool pt_convert_session(pt_convert_input_t *input, const pt_thread_t *thread,
                        const pt_event_t *event, pt_put_t *put);
/* Gives out all that is open, which lasts until `last` (ns of the file), and forgets it: what comes
 * afterwards is another run. */
void pt_convert_session_close(pt_convert_input_t *input, int64_t last);

#endif
