/* temp_registry.h: temporary files that a signal must not leave behind. SPDX-License-Identifier:
 * MIT
 *
 * Below output.c only. Thread-safe; the removal is async-signal-safe. */
#ifndef PERFTRACE_COMMON_TEMP_REGISTRY_H
#define PERFTRACE_COMMON_TEMP_REGISTRY_H

#include "compiler.h"

/* Notes a path, before the file is made. Returns its slot, or -1 when all 64 are taken: it is then
 * not removed at a signal. The string must not be freed but by pt_temp_registry_remove. */
int pt_temp_registry_add(const char *path);
/* Takes a path out of its slot (-1 is accepted) and frees it. */
void pt_temp_registry_remove(int slot, char *path);
/* SIGINT, SIGTERM and SIGHUP remove the files, then end the process by that signal. */
void pt_temp_registry_catch_signals(void);

#endif
