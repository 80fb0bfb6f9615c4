/* session_check.h: a sessions file against what is known for certain. SPDX-License-Identifier: MIT
 */
#ifndef PERFTRACE_TESTS_SESSION_CHECK_H
#define PERFTRACE_TESTS_SESSION_CHECK_H

#include "session_load.h"

#include <stdbool.h>

/* Every line of the file is strict JSON; every session that was registered has exactly one record;
 * what is known to have happened to it is in there. complete: the program ended by itself, so
 * everything has happened. Says on standard error what is not so. */
bool session_check(const char *path, const load_book_t *book, bool complete, uint64_t *ret_records);

#endif
