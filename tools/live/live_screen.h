/* live_screen.h: a view that is drawn again and again. SPDX-License-Identifier: MIT
 *
 * On a terminal it has a screen of its own, which is gone at the end: whatever stood there before
 * stands there again, also after a signal, and while the program is stopped (Ctrl-Z). Elsewhere one
 * block follows another. */
#ifndef PERFTRACE_LIVE_LIVE_SCREEN_H
#define PERFTRACE_LIVE_LIVE_SCREEN_H

#include "strbuf.h"

/* fancy: standard output is a terminal that can be steered, and text is shown. Catches SIGINT,
 * SIGTERM, SIGHUP, SIGTSTP and SIGWINCH, except those that are ignored. */
void pt_live_screen_open(bool fancy);
void pt_live_screen_close(void);

/* Shows text, lines of which end with line feeds; on a screen as much of it as there is room for.
 * 0 or a negative errno. */
int pt_live_screen_show(const perftrace__strbuf_t *text);

/* Waits until the time has passed or the size of the screen has changed. False: a signal asks for
 * the end. */
bool pt_live_screen_wait(uint64_t ns);

/* What of text fits rows lines of columns characters; the last line tells how many more there are.
 * Lines are cleared to their end. Pure. */
void pt_live_screen_fit(const char *text, unsigned rows, unsigned columns,
                        perftrace__strbuf_t *out);

#endif
