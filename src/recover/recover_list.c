/* recover_list.c. SPDX-License-Identifier: MIT */
#include "recover_list.h"

#include "strbuf.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool fits(const char *name, const char *prefix, bool tail) {
    size_t n = strlen(prefix);
    if (strncmp(name, prefix, n) != 0) {
        return false;
    }
    for (const char *p = name + n; (p = strstr(p, ".ring")) != NULL; p++) {
        if (tail || p[5] == '\0') {
            return true;
        }
    }
    return false;
}

static bool add(perftrace__path_list_t *list, const char *dir, const char *name) {
    if (list->count == list->cap) {
        size_t cap = list->cap + 16;
        char **more = realloc(list->paths, cap * sizeof(*more));
        if (!more) {
            return false;
        }
        list->paths = more;
        list->cap = cap;
    }
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/%s", dir, name);
    if (path.failed) {
        perftrace__strbuf_free(&path);
        return false;
    }
    list->paths[list->count++] = path.data;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

perftrace__path_list_t perftrace__path_list_read(const char *dir, const char *prefix, bool tail) {
    perftrace__path_list_t list = {NULL, 0, 0};
    DIR *d = opendir(dir);
    if (!d) {
        return list;
    }
    bool more = true;
    for (const struct dirent *e; more && (e = readdir(d)) != NULL;) {
        more = !fits(e->d_name, prefix, tail) || add(&list, dir, e->d_name);
    }
    closedir(d);
    if (list.count) {
        qsort(list.paths, list.count, sizeof(*list.paths), by_name);
    }
    return list;
}

void perftrace__path_list_free(perftrace__path_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
    *list = (perftrace__path_list_t){NULL, 0, 0};
}
