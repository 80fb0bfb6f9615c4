/* ctl_gather.c: traces of rollout replicas, side by side. SPDX-License-Identifier: MIT */
#include "ctl_gather.h"

#include "compiler.h"
#include "ctl_files.h"
#include "file_rank.h"
#include "human.h"
#include "message.h"
#include "natural.h"
#include "string_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "agent_loop_rollout_replica_"

typedef struct gathering {
    const char *dir;
    uint64_t replica_size;
    const pt_number_ranges_t *ranks;
    pt_report_t *report; /* its last two tables: gathered, left */
    size_t problems;
    bool failed; /* out of memory */
} gathering_t;

/* ---- names ---- */

/* The number of a replica's folder; false for another name. */
static bool replica_of(const char *name, uint64_t *ret) {
    const size_t len = strlen(PREFIX);
    return strncmp(name, PREFIX, len) == 0 && pt_parse_uint64(name + len, ret) && *ret <= INT32_MAX;
}

/* The rank among all ranks that a file of a replica is of; -1: its name does not tell. */
static int64_t global_rank(uint64_t replica, uint64_t replica_size, const char *name) {
    int64_t local = pt_file_rank_or_tp(name);
    return local >= 0 && (uint64_t)local < replica_size ? (int64_t)(replica * replica_size) + local
                                                        : -1;
}

static void append_name(perftrace__strbuf_t *path, uint64_t replica, int64_t rank,
                        const char *name) {
    perftrace__strbuf_printf(path, "rollout-replica%" PRIu64, replica);
    if (rank >= 0) {
        perftrace__strbuf_printf(path, "-globalrank%" PRId64, rank);
    }
    perftrace__strbuf_printf(path, "_%s", name);
}

/* ---- directories ---- */

static int by_name(const void *a, const void *b) {
    return pt_natural_compare(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory but hidden ones, in natural order. 0 or an errno. */
static int names_in(const char *path, pt_string_list_t *ret) {
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return errno;
    }
    int err = 0;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (e == NULL) {
            err = errno;
            break;
        }
        if (e->d_name[0] != '.' && !pt_string_list_add(ret, e->d_name)) {
            err = ENOMEM;
            break;
        }
    }
    closedir(dir);
    if (ret->count > 1) {
        qsort(ret->items, ret->count, sizeof *ret->items, by_name);
    }
    return err;
}

/* ---- one file ---- */

static pt_table_t *gathered(const gathering_t *g) {
    return &g->report->table[g->report->tables - 2];
}

static void stays(gathering_t *g, const char *path, const char *why, bool problem) {
    pt_table_t *left = &g->report->table[g->report->tables - 1];
    pt_table_cstr(left, path);
    pt_table_cstr(left, why);
    g->problems += problem;
}

/* Never over another file. 0 or an errno. */
static int rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    /* The file system cannot do it in one step: both names for a moment. */
    return link(from, to) == 0 && unlink(from) == 0 ? 0 : errno;
}

static void gather_file(gathering_t *g, uint64_t replica, const char *from, const char *name) {
    struct stat st;
    perftrace__strbuf_t to = PERFTRACE__STRBUF_INIT;
    int64_t rank = global_rank(replica, g->replica_size, name);
    perftrace__strbuf_printf(&to, "%s/", g->dir);
    append_name(&to, replica, rank, name);
    if (to.failed) {
        g->failed = true;
    } else if (rank >= 0 && g->ranks != NULL && !pt_number_ranges_has(g->ranks, rank)) {
        stays(g, from, "of another rank", false);
    } else if (lstat(from, &st) != 0) {
        stays(g, from, strerror(errno), true);
    } else if (!S_ISREG(st.st_mode)) {
        stays(g, from, "no file", false);
    } else if (!pt_ctl_file_complete(from)) {
        stays(g, from, "not a complete trace", true);
    } else {
        int err = rename_new(from, to.data);
        if (err != 0) {
            stays(g, from, err == EEXIST ? "its new name is taken" : strerror(err), true);
        } else {
            pt_table_number(gathered(g), (double)replica);
            pt_table_number(gathered(g), rank >= 0 ? (double)rank : NAN);
            pt_table_cstr(gathered(g), from);
            pt_table_text(gathered(g), to.data, to.len);
        }
    }
    perftrace__strbuf_free(&to);
}

static void gather_replica(gathering_t *g, uint64_t replica, const char *folder) {
    pt_string_list_t names = PT_STRING_LIST_INIT;
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/%s", g->dir, folder);
    int err = path.failed ? ENOMEM : names_in(path.data, &names);
    if (err == ENOMEM) {
        g->failed = true;
    } else if (err != 0) {
        stays(g, path.data, strerror(err), true);
    }
    size_t len = path.len;
    for (size_t i = 0; i < names.count && !g->failed; i++) {
        path.len = len;
        perftrace__strbuf_printf(&path, "/%s", names.items[i]);
        if (path.failed) {
            g->failed = true;
        } else {
            gather_file(g, replica, path.data, names.items[i]);
        }
    }
    if (!g->failed) {
        path.data[len] = '\0';
        (void)rmdir(path.data); /* only what is empty goes */
    }
    pt_string_list_free(&names);
    perftrace__strbuf_free(&path);
}

static void add_tables(pt_report_t *report) {
    pt_table_t *t = pt_report_table(report, "gathered", "Gathered", false);
    pt_table_column(t, "replica", "Replica", PT_COLUMN_COUNT);
    pt_table_column(t, "rank", "Rank", PT_COLUMN_COUNT);
    pt_table_detail(t, "from", PT_COLUMN_TEXT);
    pt_table_column(t, "file", "File", PT_COLUMN_LONG);
    t = pt_report_table(report, "left", "Left where they are", false);
    pt_table_column(t, "file", "File", PT_COLUMN_LONG);
    pt_table_column(t, "why", "Why", PT_COLUMN_TEXT);
}

pt_exit_t pt_ctl_gather(const char *dir, uint64_t replica_size, const pt_number_ranges_t *ranks,
                        pt_report_t *report) {
    gathering_t g = {.dir = dir, .replica_size = replica_size, .ranks = ranks, .report = report};
    pt_string_list_t names = PT_STRING_LIST_INIT;
    size_t replicas = 0;
    add_tables(report);
    int err = names_in(dir, &names);
    for (size_t i = 0; i < names.count && err == 0 && !pt_report_failed(report); i++) {
        uint64_t replica;
        if (replica_of(names.items[i], &replica)) {
            replicas++;
            gather_replica(&g, replica, names.items[i]);
        }
    }
    pt_string_list_free(&names);
    if (err == ENOMEM || g.failed) {
        pt_error("out of memory");
        return PT_EXIT_INTERNAL;
    }
    if (err != 0) {
        pt_error("%s: %s", dir, strerror(err));
        return PT_EXIT_INPUT;
    }
    if (replicas == 0) {
        pt_error("%s: there are no folders " PREFIX "<n> in it; it is the directory that the "
                 "rollout's profiler was told to write to",
                 dir);
        return PT_EXIT_INPUT;
    }
    return g.problems > 0 ? PT_EXIT_PROBLEMS : PT_EXIT_OK;
}
