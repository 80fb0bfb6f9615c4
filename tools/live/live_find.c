/* live_find.c. SPDX-License-Identifier: MIT */
#include "live_find.h"

#include "grow.h"
#include "message.h"
#include "recover.h"
#include "recover_list.h"
#include "ring_reader.h"

#include <perftrace/status.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct search {
    const pt_live_options_t *options;
    pt_live_files_t *found;
    perftrace__hashmap_t *others;
    bool tell;
} search_t;

static void tell_wrong(search_t *s, const char *path, const char *text) {
    s->found->wrong++;
    if (s->tell) {
        pt_error("%s: %s", path, text);
    }
}

static void add(search_t *s, const char *path) {
    pt_live_files_t *f = s->found;
    struct stat st;
    if (stat(path, &st) != 0) {
        return; /* it has just gone, or the link leads to another machine */
    }
    for (size_t i = 0; i < f->files; i++) {
        if (f->file[i].device == st.st_dev && f->file[i].inode == st.st_ino) {
            return;
        }
    }
    char *copy = strdup(path);
    if (copy == NULL || !PT_GROW(f, file, files, cap, 1)) {
        free(copy);
        f->failed = true;
        return;
    }
    f->file[f->files++] = (pt_live_file_t){copy, st.st_dev, st.st_ino};
}

/* ---- whose a ring is ----------------------------------------------------------------------------
 */

typedef struct wanted {
    const char *dir; /* real path that its trace lies in; NULL: anywhere */
    bool below;      /* or anywhere below it */
    uint32_t pid;    /* 0: any */
} wanted_t;

/* The name tells user and process: perftrace-<uid>-<pid>-... */
static bool name_fits(const char *path, const wanted_t *w) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char *end;
    if (w->pid == 0) {
        return true;
    }
    name += strcspn(name, "-"); /* behind "perftrace" */
    if (*name == '\0') {
        return false;
    }
    name++;
    name += strcspn(name, "-"); /* behind the user */
    return *name == '-' && strtoul(name + 1, &end, 10) == w->pid && *end == '-';
}

static bool lies_in(const char *trace, const wanted_t *w) {
    char parent[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(trace, '/');
    size_t n = strlen(w->dir);
    return slash != NULL &&
           snprintf(parent, sizeof parent, "%.*s", (int)(slash - trace), trace) <
               (int)sizeof parent &&
           realpath(parent, real) != NULL && strncmp(real, w->dir, n) == 0 &&
           (real[n] == '\0' || (w->below && (real[n] == '/' || n == 1)));
}

/* What a file and a directory are told by in the map of others. */
static bool make_key(const char *path, const wanted_t *w, perftrace__strbuf_t *key) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return false;
    }
    perftrace__strbuf_printf(key, "%llu %llu %d %s %s", (unsigned long long)st.st_dev,
                             (unsigned long long)st.st_ino, w->below, w->dir, path);
    return !key->failed;
}

/* Whether the trace of a ring lies where it is wanted. A ring that cannot be understood may be one
 * that is being made: it is asked again. */
static bool trace_fits(search_t *s, const char *path, const wanted_t *w) {
    if (w->dir == NULL) {
        return true; /* where it cannot be read, too: then it is told why */
    }
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    bool yes = false;
    if (make_key(path, w, &key) && perftrace__hashmap_get(s->others, key.data, key.len) == NULL) {
        perftrace__ring_view_t *v = malloc(sizeof *v);
        if (v != NULL && perftrace__ring_view_open(v, path, NULL) == PERFTRACE_OK) {
            yes = lies_in(v->header.meta.trace_path, w);
            perftrace__ring_view_close(v);
            if (!yes) { /* without memory it is asked again, nothing else */
                (void)perftrace__hashmap_put(s->others, key.data, key.len, 0, NULL);
            }
        }
        free(v);
    }
    perftrace__strbuf_free(&key);
    return yes;
}

static void add_rings(search_t *s, const char *ring_dir, const char *prefix, const wanted_t *w) {
    perftrace__path_list_t rings = perftrace__path_list_read(ring_dir, prefix, true);
    for (size_t i = 0; i < rings.count; i++) {
        if (name_fits(rings.paths[i], w) && trace_fits(s, rings.paths[i], w)) {
            add(s, rings.paths[i]);
        }
    }
    perftrace__path_list_free(&rings);
}

/* In the ring directories. */
static void add_usual(search_t *s, const wanted_t *w, bool all_users) {
    char mine[64];
    snprintf(mine, sizeof mine, "perftrace-%u-", (unsigned)geteuid());
    for (size_t i = 0; i < s->options->ring_dirs.count; i++) {
        add_rings(s, s->options->ring_dirs.items[i], all_users ? "perftrace-" : mine, w);
    }
}

/* ---- operands -----------------------------------------------------------------------------------
 */

/* What lies in a directory: links to rings, rings. */
static void add_contents(search_t *s, const char *dir) {
    static const wanted_t any;
    perftrace__path_list_t links = perftrace__path_list_read(dir, "traces-", false);
    for (size_t i = 0; i < links.count; i++) {
        add(s, links.paths[i]);
    }
    perftrace__path_list_free(&links);
    add_rings(s, dir, "perftrace-", &any);
    DIR *d = s->options->recursive ? opendir(dir) : NULL;
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[PATH_MAX];
        struct stat st;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < (int)sizeof path &&
            lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            add_contents(s, path);
        }
    }
    if (d != NULL) {
        closedir(d);
    }
}

/* A directory of traces, of rings, or of both. */
static void add_directory(search_t *s, const char *dir) {
    char real[PATH_MAX];
    wanted_t here = {.dir = realpath(dir, real), .below = s->options->recursive};
    add_contents(s, dir);
    if (here.dir != NULL) {
        add_usual(s, &here, true);
    }
}

static void add_trace(search_t *s, const char *trace) {
    const pt_string_list_t *dirs = &s->options->ring_dirs;
    char ring[PATH_MAX];
    int status = perftrace__recover_ring_of(trace, (const char *const *)dirs->items,
                                            (unsigned)dirs->count, ring, sizeof ring);
    if (status == PERFTRACE_OK) {
        add(s, ring);
    } else {
        tell_wrong(s, trace,
                   status == PERFTRACE_ERR_EXISTS ? "is complete: its process has ended"
                                                  : "no ring file of it is on this machine");
    }
}

static void add_operand(search_t *s, const char *operand) {
    struct stat st;
    size_t n = strlen(operand);
    if (stat(operand, &st) != 0) {
        tell_wrong(s, operand, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        add_directory(s, operand);
    } else if (n > 6 && strcmp(operand + n - 6, ".jsonl") == 0) {
        add_trace(s, operand);
    } else {
        add(s, operand);
    }
}

void pt_live_find(const pt_live_options_t *o, const pt_string_list_t *operands, bool tell,
                  perftrace__hashmap_t *others, pt_live_files_t *ret_files) {
    *ret_files = (pt_live_files_t){0};
    search_t s = {o, ret_files, others, tell};
    for (size_t i = 0; i < operands->count; i++) {
        add_operand(&s, operands->items[i]);
    }
    for (size_t i = 0; i < o->pids; i++) {
        wanted_t w = {.pid = o->pid[i]};
        size_t before = ret_files->files;
        add_usual(&s, &w, true);
        if (ret_files->files == before) {
            char text[32];
            snprintf(text, sizeof text, "process %u", o->pid[i]);
            tell_wrong(&s, text,
                       "it has no ring file: it is not traced, has ended, or could not "
                       "make one");
        }
    }
    if (operands->count == 0 && o->pids == 0) {
        static const wanted_t any;
        add_usual(&s, &any, o->all_users);
    }
}

void pt_live_files_free(pt_live_files_t *f) {
    if (f != NULL) {
        for (size_t i = 0; i < f->files; i++) {
            free(f->file[i].path);
        }
        free(f->file);
        *f = (pt_live_files_t){0};
    }
}
