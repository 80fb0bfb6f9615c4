/* trace_create.c: files that nobody else has. SPDX-License-Identifier: MIT */
#include "os.h"
#include "status_text.h"
#include "trace_name.h"

#include <perftrace/status.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define TRIES 100000 /* files of one millisecond: more than any directory has */

int perftrace_trace_create(const char *dir, const perftrace_trace_name_t *name,
                           const char *extension, char *ret_path, size_t size) {
    perftrace_trace_name_t n;
    char base[PERFTRACE_TRACE_NAME_MAX + 1];
    if (!dir || !ret_path || !perftrace__trace_name_whole(name, &n)) {
        return PERFTRACE_ERR_INVALID;
    }
    for (int i = 0; i < TRIES; i++) {
        int len = perftrace_trace_basename(&n, extension, base, sizeof(base));
        if (len < 0) {
            return len;
        }
        int made = snprintf(ret_path, size, "%s/%s", dir, base);
        if (made < 0 || (size_t)made >= size) {
            return PERFTRACE_ERR_TOO_LONG;
        }
        /* Exclusive creation works without locks, on network file systems as well. */
        int fd = perftrace__os_open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            return fd;
        }
        if (errno != EEXIST) {
            return perftrace__status_from_errno(errno);
        }
        n.number = n.number < 0 ? 1 : n.number + 1;
    }
    return PERFTRACE_ERR_EXISTS;
}
