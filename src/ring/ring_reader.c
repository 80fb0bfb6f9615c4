/* ring_reader.c. SPDX-License-Identifier: MIT */
#include "ring_reader.h"

#include "atomics.h"
#include "os.h"
#include "status_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_at(int fd, void *out, size_t len, uint64_t at) {
    char *p = out;
    while (len) {
        ssize_t n = pread(fd, p, len, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

static void terminate_strings(perftrace__run_meta_t *m) {
    m->run_id[sizeof(m->run_id) - 1] = '\0';
    m->role[sizeof(m->role) - 1] = '\0';
    m->experiment[sizeof(m->experiment) - 1] = '\0';
    m->trial[sizeof(m->trial) - 1] = '\0';
    m->host[sizeof(m->host) - 1] = '\0';
    m->boot_id[sizeof(m->boot_id) - 1] = '\0';
    m->launcher[sizeof(m->launcher) - 1] = '\0';
    m->trace_path[sizeof(m->trace_path) - 1] = '\0';
}

/* NULL when the header can be worked with, else what is wrong. */
static const char *check_header(const perftrace__ring_header_t *h, uint64_t size) {
    if (memcmp(h->magic, PERFTRACE__RING_MAGIC, sizeof(h->magic)) != 0) {
        return "it is no ring file, or its creation was not finished";
    }
    if (h->endian != PERFTRACE__RING_ENDIAN) {
        return "it was written by a machine of the other byte order";
    }
    if (h->version != PERFTRACE__RING_VERSION || h->header_bytes != sizeof(*h)) {
        return "it was written by another version of the library";
    }
    if (h->log_at != PERFTRACE__RING_HEADER_AT || h->log_cap != PERFTRACE__RING_LOG_CAP ||
        h->slots_at != h->log_at + h->log_cap || h->slots_at > size || h->log_len > h->log_cap) {
        return "its log does not lie where it should";
    }
    if (h->ring_words < PERFTRACE__RING_MIN_WORDS || h->ring_words > PERFTRACE__RING_MAX_WORDS ||
        (h->ring_words & (h->ring_words - 1)) != 0 ||
        h->slot_stride != PERFTRACE_I_DATA_AT + h->ring_words * 8) {
        return "its ring size is impossible";
    }
    if (h->max_slots > PERFTRACE__RING_MAX_SLOTS || h->slot_count > h->max_slots) {
        return "its number of threads is impossible";
    }
    return NULL;
}

/* Reads header and log. 0 or a status, with *ret_problem set. */
static int load(perftrace__ring_view_t *v, const char **ret_problem) {
    struct stat st;
    if (fstat(v->fd, &st) != 0) {
        *ret_problem = strerror(errno);
        return perftrace__status_from_errno(errno);
    }
    v->file_size = (uint64_t)st.st_size;
    v->uid = (uint32_t)st.st_uid;
    if (!S_ISREG(st.st_mode) || v->file_size < PERFTRACE__RING_HEADER_AT ||
        !read_at(v->fd, &v->header, sizeof(v->header), 0)) {
        *ret_problem = "it is too short for a ring file";
        return PERFTRACE_ERR_CORRUPT;
    }
    *ret_problem = check_header(&v->header, v->file_size);
    if (*ret_problem) {
        return PERFTRACE_ERR_CORRUPT;
    }
    terminate_strings(&v->header.meta);
    v->header.session_path[sizeof(v->header.session_path) - 1] = '\0';
    v->header.session_stem[sizeof(v->header.session_stem) - 1] = '\0';
    v->commit = v->header.commit[v->header.commit_seq & 1];
    v->log_len = v->header.log_len;
    v->log = malloc(v->log_len ? v->log_len : 1);
    if (!v->log) {
        *ret_problem = "out of memory";
        return PERFTRACE_ERR_NOMEM;
    }
    if (!read_at(v->fd, v->log, v->log_len, v->header.log_at)) {
        *ret_problem = "its log cannot be read";
        return PERFTRACE_ERR_CORRUPT;
    }
    if (!perftrace__site_table_parse(&v->sites, v->log, v->log_len)) {
        v->problem = "its log is damaged; records of unknown sites are lost";
    }
    uint64_t slots = (v->file_size - v->header.slots_at) / v->header.slot_stride;
    v->slot_count = v->header.slot_count;
    if (v->slot_count > slots) {
        v->slot_count = (uint32_t)slots;
        v->problem = "it was cut short; some threads are missing";
    }
    return PERFTRACE_OK;
}

int perftrace__ring_view_open(perftrace__ring_view_t *v, const char *path,
                              const char **ret_problem) {
    memset(v, 0, sizeof(*v));
    const char *problem = NULL;
    int status = PERFTRACE_OK;
    v->fd = perftrace__os_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (v->fd < 0) {
        status = perftrace__status_from_errno(errno);
        problem = strerror(errno);
    } else {
        status = load(v, &problem);
    }
    if (status) {
        perftrace__ring_view_close(v);
    }
    if (ret_problem) {
        *ret_problem = problem;
    }
    return status;
}

int perftrace__ring_view_update(perftrace__ring_view_t *v, const char **ret_problem) {
    const char *problem = NULL;
    perftrace__site_table_free(&v->sites);
    free(v->log);
    v->log = NULL;
    v->slot_count = 0;
    v->problem = NULL;
    int status = load(v, &problem);
    if (ret_problem) {
        *ret_problem = problem;
    }
    return status;
}

bool perftrace__ring_view_words(const perftrace__ring_view_t *v, uint32_t i, uint64_t from,
                                uint64_t n, uint64_t *ret_words) {
    const perftrace__ring_header_t *h = &v->header;
    uint64_t data = h->slots_at + i * h->slot_stride + PERFTRACE_I_DATA_AT;
    uint64_t at = from & (h->ring_words - 1);
    uint64_t first = n < h->ring_words - at ? n : h->ring_words - at;
    return read_at(v->fd, ret_words, (size_t)first * 8, data + at * 8) &&
           read_at(v->fd, ret_words + first, (size_t)(n - first) * 8, data);
}

int perftrace__ring_view_slot(const perftrace__ring_view_t *v, uint32_t i,
                              perftrace__slot_view_t *ret_slot) {
    perftrace__slot_view_t *s = ret_slot;
    memset(s, 0, sizeof(*s));
    const perftrace__ring_header_t *h = &v->header;
    uint64_t at = h->slots_at + i * h->slot_stride;
    if (!read_at(v->fd, &s->slot, sizeof(s->slot), at)) {
        return PERFTRACE_ERR_IO;
    }
    s->slot.name[sizeof(s->slot.name) - 1] = '\0';
    const perftrace__slot_commit_t *c = &s->slot.commit[h->commit_seq & 1];
    uint64_t head = s->slot.hot.word >> 8;
    s->pos = c->pos;
    s->drops[0] = c->drops[0];
    s->drops[1] = c->drops[1];
    s->depth = (uint8_t)s->slot.hot.word;
    if (s->depth > PERFTRACE_I_MAX_DEPTH) {
        s->depth = 0;
    }
    uint64_t n = head - s->pos;
    if (n > h->ring_words) {
        s->damaged = true;
        return PERFTRACE_OK;
    }
    s->words = malloc(n ? (size_t)n * 8 : 8);
    if (!s->words) {
        return PERFTRACE_ERR_NOMEM;
    }
    if (!perftrace__ring_view_words(v, i, s->pos, n, s->words)) {
        perftrace__slot_view_free(s);
        return PERFTRACE_ERR_IO;
    }
    s->nwords = n;
    return PERFTRACE_OK;
}

void perftrace__slot_view_free(perftrace__slot_view_t *s) {
    if (s) {
        free(s->words);
        s->words = NULL;
        s->nwords = 0;
    }
}

void perftrace__ring_view_close(perftrace__ring_view_t *v) {
    if (!v) {
        return;
    }
    perftrace__site_table_free(&v->sites);
    free(v->log);
    if (v->fd > 0) {
        close(v->fd);
    }
    v->log = NULL;
    v->fd = -1;
}

/* Longer than any pause between two sweeps: flush_ms is at most a minute. */
#define SILENT_NS (150ull * 1000000000u)

perftrace__ring_owner_t perftrace__ring_owner(const perftrace__ring_header_t *h) {
    const perftrace__run_meta_t *m = &h->meta;
    char boot[PERFTRACE__BOOT_ID_MAX];
    perftrace__os_boot_id(boot);
    if (strcmp(boot, m->boot_id) != 0) {
        char host[sizeof(m->host)];
        perftrace__os_hostname(host, sizeof(host));
        return strcmp(host, m->host) == 0 ? PERFTRACE__RING_OWNER_DEAD
                                          : PERFTRACE__RING_OWNER_HIDDEN;
    }
    if (m->pid_namespace != perftrace__os_pid_namespace()) {
        uint64_t now = perftrace__os_mono_ns();
        return now > h->beat_ns && now - h->beat_ns > SILENT_NS ? PERFTRACE__RING_OWNER_DEAD
                                                                : PERFTRACE__RING_OWNER_HIDDEN;
    }
    bool alive;
    if (m->process_start) {
        alive = perftrace__os_process_start(m->pid) == m->process_start;
    } else {
        /* Written without /proc. */
        alive = kill((pid_t)m->pid, 0) == 0 || errno == EPERM;
    }
    return alive ? PERFTRACE__RING_OWNER_ALIVE : PERFTRACE__RING_OWNER_DEAD;
}
