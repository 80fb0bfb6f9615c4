/* perftrace/bindings.h: for other languages. SPDX-License-Identifier: MIT
 *
 * What the macros do in C, through functions that are cheap to call from outside: call sites are
 * small numbers, the library keeps the scopes that are open, and arguments come as one block of
 * bytes. Programs in C use the macros.
 *
 *     int site = perftrace_bound_site(PERFTRACE_I_KIND_SCOPE, "train.step", "compute", 0, NULL);
 *     perftrace_bound_begin(site);
 *     perftrace_bound_end(site);
 *
 * Any thread; wait-free but for a thread's first event, more than 16 open scopes, and what emitting
 * waits for with the block policy. Not for signal handlers. After fork the child goes on with the
 * scopes that were open.
 *
 * Packed arguments: for each of the site's, in their order, 8 bytes in the machine's byte order (an
 * int64_t, uint64_t, double, or 0 and 1). A string and a JSON text are 8 bytes with their length,
 * then the bytes and at least one NUL up to the next multiple of 8; the length UINT64_MAX is null.
 * A text ends at its first NUL. len is the length of all; ERR_INVALID when that is not as the site
 * has it, and then nothing is recorded. */
#ifndef PERFTRACE_BINDINGS_H
#define PERFTRACE_BINDINGS_H

#include <perftrace/layout.h>
#include <perftrace/perftrace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a call site for the rest of the process; see perftrace_site_create. name NULL: named at
 * each event (the functions that end in _named). Returns its number, from 0 on; ERR_INVALID;
 * ERR_NOMEM, also when there are 262,144. */
PERFTRACE_API int perftrace_bound_site(int kind, const char *name, const char *category,
                                       uint32_t nargs, const perftrace_i_arg_t *args);

/* Begins a scope on the calling thread. 1: it is recorded; 0: it is not (switched off, filtered),
 * but wants its end all the same. ERR_INVALID: no scope's site. ERR_NOMEM: it wants no end. */
PERFTRACE_API int perftrace_bound_begin(int site);
PERFTRACE_API int perftrace_bound_begin_named(int site, const char *name);
/* Ends the innermost open scope of the calling thread that was begun at the site: those begun
 * within it stay open. ERR_NOT_FOUND when there is none: it was begun on another thread, or has
 * ended. */
PERFTRACE_API int perftrace_bound_end(int site);
/* The same, with what there is to tell: the record is that of site `as`, a scope with arguments
 * (it may be `site` itself), under the name it was begun with. When the block is refused the scope
 * ends without arguments. */
PERFTRACE_API int perftrace_bound_end_packed(int site, int as, const void *packed, uint32_t len);
/* Scopes that are open on the calling thread. */
PERFTRACE_API uint32_t perftrace_bound_depth(void);

/* A point of any other kind. id is ignored by kinds without one; packed may be NULL when the site
 * has no arguments. */
PERFTRACE_API int perftrace_bound_emit(int site, uint64_t id, const void *packed, uint32_t len);
PERFTRACE_API int perftrace_bound_emit_named(int site, uint64_t id, const void *packed,
                                             uint32_t len, const char *name);

/* Phases of sessions, as perftrace_session_phase_begin and _end; site: of kind PHASE_BEGIN (end:
 * PHASE_END; negative: no payload). */
PERFTRACE_API int perftrace_bound_phase_begin(perftrace_phase_t *phase, int64_t session, int site,
                                              const void *packed, uint32_t len);
PERFTRACE_API int perftrace_bound_phase_end(perftrace_phase_t *phase, int site, const void *packed,
                                            uint32_t len);

#ifdef __cplusplus
}
#endif

#endif
