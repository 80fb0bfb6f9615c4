/* temp_registry.h: temporary files that a signal must not leave behind. SPDX-License-Identifier:
 * MIT
 *
 * Below output.c only. Thread-safe; the removal is async-signal-safe. */
#ifndef PERFTRACE_COMMON_TEMP_REGISTRY_H
#define PERFTRACE_COMMON_TEMP_REGISTRY_H

#include "compiler.h"

/* Notes a path before the file is made. The string passes to the registry until removed from it.
 * When 64 are noted already, this one is not: it is then not removed at a signal. */
void pt_temp_registry_add(const char *path);
/* Takes a path out and frees it (also when it was never noted). */
void pt_temp_registry_remove(char *path);
/* SIGINT, SIGTERM and SIGHUP remove the files, then end the process by that signal. */
void pt_temp_registry_catch_signals(void);

#endif
