/* status.c. SPDX-License-Identifier: MIT */
#include "status_text.h"

#include <errno.h>

const char *perftrace__status_text(int status) {
    switch (status) {
#define X(name, value, text)                                                                       \
    case value:                                                                                    \
        return text;
        PERFTRACE_STATUS_LIST(X)
#undef X
    default:
        return "unknown status";
    }
}

int perftrace__status_from_errno(int err) {
    switch (err) {
    case 0:
        return PERFTRACE_OK;
    case ENOMEM:
        return PERFTRACE_ERR_NOMEM;
    case ENOENT:
        return PERFTRACE_ERR_NOT_FOUND;
    case EEXIST:
        return PERFTRACE_ERR_EXISTS;
    case ENOSPC:
    case EDQUOT:
        return PERFTRACE_ERR_FULL;
    case EACCES:
    case EPERM:
    case EROFS:
        return PERFTRACE_ERR_DENIED;
    case ENAMETOOLONG:
        return PERFTRACE_ERR_TOO_LONG;
    case EINVAL:
        return PERFTRACE_ERR_INVALID;
    default:
        return PERFTRACE_ERR_IO;
    }
}
