/* perftrace/status.h: status codes. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_STATUS_H
#define PERFTRACE_STATUS_H

/* Every function that can fail returns 0 for success or one of these negative codes.
 * X(name, value, text). Values are part of the ABI: append only. */
#define PERFTRACE_STATUS_LIST(X)                                                                   \
    X(OK, 0, "success")                                                                            \
    X(ERR_INVALID, -1, "invalid argument")                                                         \
    X(ERR_NOMEM, -2, "out of memory")                                                              \
    X(ERR_IO, -3, "input or output failed")                                                        \
    X(ERR_NOT_FOUND, -4, "not found")                                                              \
    X(ERR_EXISTS, -5, "already exists")                                                            \
    X(ERR_STATE, -6, "not possible in the present state")                                          \
    X(ERR_FULL, -7, "no space left")                                                               \
    X(ERR_TIMEOUT, -8, "time limit reached")                                                       \
    X(ERR_CORRUPT, -9, "damaged data")                                                             \
    X(ERR_UNSUPPORTED, -10, "not supported here")                                                  \
    X(ERR_PARSE, -11, "cannot be parsed")                                                          \
    X(ERR_DENIED, -12, "permission denied")                                                        \
    X(ERR_TOO_LONG, -13, "too long")                                                               \
    X(ERR_DISABLED, -14, "tracing is off")

typedef enum perftrace_status {
#define PERFTRACE_I_STATUS_ENUM(name, value, text) PERFTRACE_##name = value,
    PERFTRACE_STATUS_LIST(PERFTRACE_I_STATUS_ENUM)
#undef PERFTRACE_I_STATUS_ENUM
} perftrace_status_t;

#endif
