/* config_path.h: where files go. SPDX-License-Identifier: MIT
 *
 * Pure: nothing is created, nothing is looked up. File names:
 *   traces-r<rank>.jsonl      rank known; a second file of the same rank traces-r<rank>.<n>.jsonl
 *   traces-u<pid>.jsonl       rank unknown ("u"), and traces-u<pid>.<n>.jsonl
 * so that traces-*.jsonl finds all, and likewise sessions-... */
#ifndef PERFTRACE_CONFIG_PATH_H
#define PERFTRACE_CONFIG_PATH_H

#include "config_resolve.h"

/* Below ring_dir; not "perftrace-", by which rings are found. The rest is the user's number. */
#define PERFTRACE__SPOOL_PREFIX  "perftrace.spool-"
#define PERFTRACE__COMPONENT_MAX 255 /* bytes of a file or directory name (NAME_MAX) */

/* Appends `label` made fit as one file or directory name, with `suffix` (may be NULL) after it.
 * Letters, digits, ". _ - + = @ ,", and characters beyond ASCII stay, anything else becomes '_'; ""
 * becomes "_", "." and ".." become "_" and "__". What would exceed 255 bytes with the suffix is cut
 * on a character boundary and ends in '-' and eight hexadecimal digits of a hash of the whole
 * label: long labels that differ anywhere stay apart. The suffix (at most 128 bytes) is kept. */
void perftrace__path_component(perftrace__strbuf_t *out, const char *label, const char *suffix);

/* Fills c->trace_dir, c->session_dir and c->spool_dir from c->opt and the login name. PERFTRACE_OK,
 * PERFTRACE_ERR_TOO_LONG with a message, PERFTRACE_ERR_NOMEM. */
int perftrace__config_bind_paths(perftrace__config_t *c, const char *user,
                                 perftrace__strbuf_t *msgs);

/* Appends the path of this process' trace file for c->opt.rank; n = 0 for the first choice, then 1,
 * 2, ... while the name is taken. PERFTRACE_OK, PERFTRACE_ERR_TOO_LONG, PERFTRACE_ERR_NOMEM. */
int perftrace__config_trace_path(const perftrace__config_t *c, unsigned n,
                                 perftrace__strbuf_t *out);
/* The same for the session file. */
int perftrace__config_session_path(const perftrace__config_t *c, unsigned n,
                                   perftrace__strbuf_t *out);

#endif
