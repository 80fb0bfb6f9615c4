/* output_target.c: where an output really goes. SPDX-License-Identifier: MIT */
#include "output_target.h"

#include "human.h"
#include "strbuf.h"
#include "utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel has it */
#define NAME_MOST 255

/* The descriptor that a path names, or -1. */
static int named_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(folders); i++) {
        size_t len = strlen(folders[i]);
        uint64_t number;
        if (strncmp(path, folders[i], len) == 0 && pt_parse_uint64(path + len, &number) &&
            number <= INT_MAX) {
            return (int)number;
        }
    }
    return -1;
}

/* The length of the directory part with its last slash; 0 for a bare name. */
static size_t folder_len(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

int pt_output_target_resolve(const char *path, pt_output_target_t *ret_target) {
    *ret_target = (pt_output_target_t){.fd = named_descriptor(path)};
    if (ret_target->fd >= 0) {
        return 0;
    }
    if (!*path) {
        return -ENOENT;
    }
    char *now = strdup(path);
    for (int links = 0; now; links++) {
        char to[PATH_MAX];
        ssize_t len = readlink(now, to, sizeof(to) - 1);
        if (len < 0) {
            break; /* no link, or nothing there */
        }
        if (links == LINKS_MAX) {
            free(now);
            return -ELOOP;
        }
        to[len] = '\0';
        perftrace__strbuf_t next = PERFTRACE__STRBUF_INIT;
        if (to[0] != '/') {
            perftrace__strbuf_append(&next, now, folder_len(now));
        }
        perftrace__strbuf_puts(&next, to);
        free(now);
        now = strdup(perftrace__strbuf_cstr(&next));
        perftrace__strbuf_free(&next);
    }
    ret_target->path = now;
    size_t len = now ? folder_len(now) : 0;
    ret_target->folder = len == 0 ? strdup(".") : strndup(now, len > 1 ? len - 1 : 1);
    return now && ret_target->folder ? 0 : -ENOMEM;
}

void pt_output_target_free(pt_output_target_t *target) {
    free(target->path);
    free(target->folder);
    *target = (pt_output_target_t){.fd = -1};
}

bool pt_output_target_is_same(const pt_output_target_t *a, const pt_output_target_t *b) {
    struct stat x;
    struct stat y;
    if (a->fd >= 0 || b->fd >= 0) {
        return a->fd == b->fd;
    }
    return strcmp(a->path + folder_len(a->path), b->path + folder_len(b->path)) == 0 &&
           stat(a->folder, &x) == 0 && stat(b->folder, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

char *pt_output_target_temp(const pt_output_target_t *target, uint32_t pid, unsigned attempt) {
    char tail[48];
    if (attempt) {
        snprintf(tail, sizeof(tail), ".%u.%u.tmp", (unsigned)pid, attempt);
    } else {
        snprintf(tail, sizeof(tail), ".%u.tmp", (unsigned)pid);
    }
    size_t folder = folder_len(target->path);
    const char *name = target->path + folder;
    size_t name_len = perftrace__utf8_cut(name, strlen(name), NAME_MOST - 1 - strlen(tail));
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_append(&out, target->path, folder);
    perftrace__strbuf_putc(&out, '.');
    perftrace__strbuf_append(&out, name, name_len);
    perftrace__strbuf_puts(&out, tail);
    if (out.failed) {
        perftrace__strbuf_free(&out);
        return NULL;
    }
    return out.data;
}
