/* endpoint.h: the file that tells where a rank listens. SPDX-License-Identifier: MIT
 *
 * <dir>/control-r<rank>.endpoint, or control-p<pid>.endpoint where the rank is unknown; a second
 * process of the same rank takes control-r<rank>.<n>.endpoint. One JSON object
 * (docs/formats/CONTROL_HTTP.md). Written and read through this room only. */
#ifndef PERFTRACE_ENDPOINT_ENDPOINT_H
#define PERFTRACE_ENDPOINT_ENDPOINT_H

#include "strbuf.h"

#define PERFTRACE__ENDPOINT_SUFFIX ".endpoint"

typedef struct perftrace__endpoint {
    char url[512]; /* "http://127.0.0.1:40123" or "unix:/path" */
    char role[2048];
    char host[256];
    char boot_id[40];
    int64_t rank; /* -1 unknown */
    int64_t world_size;
    int64_t pid;
    int64_t process_start; /* perftrace__os_process_start(pid) */
    int64_t pid_namespace;
    bool token; /* requests must bring one */
} perftrace__endpoint_t;

/* Appends the file's text. */
void perftrace__endpoint_put(perftrace__strbuf_t *out, const perftrace__endpoint_t *endpoint);
/* Reads it back. False: it is none. */
bool perftrace__endpoint_parse(const char *text, size_t len, perftrace__endpoint_t *ret);

/* What became of the process. HIDDEN: of another machine or container, it cannot be seen here. */
typedef enum perftrace__endpoint_owner {
    PERFTRACE__ENDPOINT_DEAD,
    PERFTRACE__ENDPOINT_ALIVE,
    PERFTRACE__ENDPOINT_HIDDEN
} perftrace__endpoint_owner_t;
perftrace__endpoint_owner_t perftrace__endpoint_owner(const perftrace__endpoint_t *endpoint);

/* Makes the file in dir (which is made, too): at no time it is there in part. A file of a process
 * that is dead is replaced. 0 and the path, or -errno. Blocks for the disk. */
int perftrace__endpoint_write(const char *dir, const perftrace__endpoint_t *endpoint,
                              char *ret_path, size_t size);
/* 0, -errno, or -EINVAL for a file that is none. */
int perftrace__endpoint_read(const char *path, perftrace__endpoint_t *ret);

#endif
