/* runtime_file.c: names, files and links of a run. SPDX-License-Identifier: MIT */
#include "atomics.h"
#include "config_path.h"
#include "core.h"
#include "os.h"
#include "recover.h"
#include "runtime_state.h"
#include "status_text.h"
#include "trace_file.h"
#include "utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void on_recovered(const char *ring, int status, const perftrace__recovered_t *r,
                         void *user) {
    (void)user;
    if (status == PERFTRACE_OK) {
        perftrace__runtime_log(PERFTRACE_LOG_NOTE,
                               "recovered %s: %llu event%s and %llu open scope%s of process %u",
                               r->trace_path, (unsigned long long)r->events, PT_PLURAL(r->events),
                               (unsigned long long)r->unfinished, PT_PLURAL(r->unfinished), r->pid);
    } else if (r->problem) {
        perftrace__runtime_log(PERFTRACE_LOG_WARNING, "left-over ring %s: %s", ring, r->problem);
    } else {
        perftrace__runtime_log(PERFTRACE_LOG_WARNING, "left-over ring %s cannot be recovered: %s",
                               ring, perftrace__status_text(status));
    }
}

void perftrace__runtime_ring_dirs(const char *ret_dirs[PERFTRACE__RUNTIME_RING_DIRS]) {
    const perftrace__runtime_t *rt = &perftrace__runtime;
    ret_dirs[0] = rt->config.opt.ring_dir;
    ret_dirs[1] = "/tmp";
    ret_dirs[2] = rt->config.trace_dir;
}

void perftrace__runtime_recover(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    const char *dirs[PERFTRACE__RUNTIME_RING_DIRS];
    perftrace__runtime_ring_dirs(dirs);
    perftrace__recover_dir(rt->config.trace_dir, dirs, PERFTRACE__RUNTIME_RING_DIRS, 0,
                           on_recovered, NULL);
    if (rt->config.spool_dir) {
        perftrace__recover_dir(rt->config.spool_dir, dirs, PERFTRACE__RUNTIME_RING_DIRS, 0,
                               on_recovered, NULL);
    }
}

static void copy_text(char *out, size_t size, const char *text) {
    size_t n = text ? perftrace__utf8_cut(text, strlen(text), size - 1) : 0;
    if (n) {
        memcpy(out, text, n);
    }
    out[n] = '\0';
}

void perftrace__runtime_fill_meta(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__run_meta_t *m = &rt->meta;
    const perftrace_config_t *o = &rt->config.opt;
    memset(m, 0, sizeof(*m));
    m->rank = o->rank;
    m->world_size = o->world_size;
    m->local_rank = o->local_rank;
#define X(name) m->name = o->name;
    PERFTRACE__TOPOLOGY_LIST(X)
#undef X
    m->pid = perftrace__os_pid();
    m->process_start = perftrace__os_process_start(m->pid);
    m->pid_namespace = perftrace__os_pid_namespace();
    copy_text(m->role, sizeof(m->role), o->role);
    copy_text(m->experiment, sizeof(m->experiment), o->experiment_name);
    copy_text(m->trial, sizeof(m->trial), o->trial_name);
    copy_text(m->launcher, sizeof(m->launcher), rt->config.launcher);
    perftrace__os_hostname(m->host, sizeof(m->host));
    perftrace__os_boot_id(m->boot_id);
    if (o->run_id[0]) {
        copy_text(m->run_id, sizeof(m->run_id), o->run_id);
    } else {
        copy_text(m->run_id, sizeof(m->run_id), rt->run_id);
    }
}

/* The directory lies where others can make one of its name: it has to be ours alone. 0 or -errno.
 */
static int make_spool(const char *dir) {
    struct stat st;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return -errno;
    }
    if (lstat(dir, &st) != 0) {
        return -errno;
    }
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) ? 0 : -EPERM;
}

int perftrace__runtime_create_file(int *ret_fd) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    if (rt->config.spool_dir) {
        int bad = make_spool(rt->config.spool_dir);
        if (bad) {
            return bad;
        }
    }
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    int rc = -ENAMETOOLONG;
    if (perftrace__config_trace_path(&rt->config, 0, &path) == PERFTRACE_OK && path.len > 6) {
        path.data[path.len - 6] = '\0'; /* .jsonl */
        rc = perftrace__trace_file_create(path.data, ".jsonl", rt->meta.trace_path,
                                          sizeof(rt->meta.trace_path), ret_fd);
    }
    perftrace__strbuf_free(&path);
    rt->files_made[0] += rc == 0;
    return rc;
}

int perftrace__runtime_recreate_file(void *user) {
    (void)user;
    perftrace__runtime_t *rt = &perftrace__runtime;
    char old[sizeof(rt->meta.trace_path)];
    memcpy(old, rt->meta.trace_path, sizeof(old));
    int fd = -1;
    int rc = perftrace__runtime_create_file(&fd);
    if (rc) {
        memcpy(rt->meta.trace_path, old, sizeof(old));
        return rc;
    }
    perftrace__ring_t *ring = perftrace__core_ring();
    memcpy(ring->header->meta.trace_path, rt->meta.trace_path, sizeof(rt->meta.trace_path));
    perftrace__runtime_remove_link();
    perftrace__runtime_make_link();
    perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                           "%s was removed while it was written; going on in %s", old,
                           rt->meta.trace_path);
    return fd;
}

void perftrace__runtime_session_stem(char *out, size_t size) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    out[0] = '\0';
    if (perftrace__config_session_path(&perftrace__runtime.config, 0, &path) == PERFTRACE_OK &&
        path.len > 6 && path.len - 6 < size) {
        memcpy(out, path.data, path.len - 6); /* .jsonl */
        out[path.len - 6] = '\0';
    }
    perftrace__strbuf_free(&path);
}

int perftrace__runtime_create_session_file(void *user) {
    (void)user;
    perftrace__runtime_t *rt = &perftrace__runtime;
    char stem[sizeof(rt->session_path)];
    int fd = -1;
    perftrace__runtime_session_stem(stem, sizeof(stem));
    int rc = *stem ? perftrace__trace_file_create(stem, ".jsonl", rt->session_path,
                                                  sizeof(rt->session_path), &fd)
                   : -ENAMETOOLONG;
    if (rc) {
        return rc;
    }
    rt->files_made[1]++;
    /* Recovery finds it under this name; nothing of it counts before the next commit. */
    memcpy(perftrace__core_ring()->header->session_path, rt->session_path,
           sizeof(rt->session_path));
    return fd;
}

void perftrace__runtime_session_file_gone(void *user, uint64_t records) {
    (void)user;
    const perftrace__runtime_t *rt = &perftrace__runtime;
    perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                           "a sessions file with %llu record%s was removed while it was written; "
                           "going on in %s",
                           (unsigned long long)records, PT_PLURAL(records), rt->session_path);
}

void perftrace__runtime_make_link(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    const perftrace__ring_t *ring = perftrace__core_ring();
    rt->link[0] = '\0';
    const char *wanted = rt->config.opt.ring_dir;
    if (ring->anonymous) {
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "no ring file could be made in %s: events that are not written yet "
                               "will not survive a kill",
                               wanted);
        return;
    }
    size_t n = strlen(wanted);
    if (strncmp(ring->path, wanted, n) != 0 || ring->path[n] != '/') {
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "there is no room for a ring file in %s (ring_dir): it is %s",
                               wanted, ring->path);
    }
    char link[sizeof(rt->link)];
    if (perftrace__recover_link(rt->meta.trace_path, link, sizeof(link)) &&
        symlink(ring->path, link) == 0) {
        memcpy(rt->link, link, sizeof(link));
    }
}

void perftrace__runtime_remove_link(void) {
    perftrace__runtime_t *rt = &perftrace__runtime;
    if (rt->link[0]) {
        unlink(rt->link);
        rt->link[0] = '\0';
    }
}
