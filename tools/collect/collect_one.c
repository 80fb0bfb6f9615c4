/* collect_one.c: the traces of all ranks in one file. SPDX-License-Identifier: MIT */
#include "collect_one.h"

#include "collect_claim.h"
#include "collect_file.h"
#include "json_scan.h"
#include "message.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A journal of this size, and four times of what it has to hold, is made anew. */
#define LONG_BYTES (8u << 20)
/* Longer ones are nobody's header. */
#define HEADER_MAX 65536u

struct pt_collect_one {
    char *path;
    char *journal_path;
    int lock, fd, journal;
    uint64_t end;         /* of the file */
    uint64_t journal_end; /* of the journal */
    uint64_t fresh;       /* its size when it was made */
    bool dirty;
};

/* ---- entries (pure) ----------------------------------------------------------------------------
 */

/* In this order in the line. */
#define NUMBERS(X)                                                                                 \
    X(lines)                                                                                       \
    X(events)                                                                                      \
    X(dropped)                                                                                     \
    X(epoch_ns)                                                                                    \
    X(last_ns)                                                                                     \
    X(emitted)                                                                                     \
    X(written)                                                                                     \
    X(unfinished)                                                                                  \
    X(left_out)

void pt_collect_entry_put(perftrace__strbuf_t *out, const pt_collect_entry_t *e) {
    const pt_collect_tally_t *t = &e->tally;
    perftrace__strbuf_printf(out, "{\"footer\": %s, \"step\": %" PRId64,
                             t->footer ? "true" : "false", t->step);
#define X(name) perftrace__strbuf_printf(out, ", \"" #name "\": \"%" PRIu64 "\"", t->name);
    NUMBERS(X)
#undef X
    perftrace__strbuf_printf(out,
                             ", \"header_at\": \"%" PRIu64 "\", \"header_len\": \"%" PRIu64 "\"",
                             e->header_at, e->header_len);
    perftrace__strbuf_puts(out, ", \"at\": ");
    perftrace__stream_put_data(out, &e->key, e->have, 0, 0, e->end, e->ended);
    if (!out->failed) {
        out->len--; /* the line's end */
    }
    perftrace__strbuf_puts(out, "}\n");
}

static bool find_number(const perftrace__json_slice_t *object, const char *name, uint64_t *ret) {
    perftrace__json_slice_t v;
    return perftrace__json_find(object, name, &v) && perftrace__json_to_u64(&v, ret);
}

/* An older version's journal says nothing of it. */
static void find_header(const perftrace__json_slice_t *object, pt_collect_entry_t *e) {
    bool known = find_number(object, "header_at", &e->header_at) &&
                 find_number(object, "header_len", &e->header_len) && e->header_len <= HEADER_MAX &&
                 e->header_at <= e->end && e->header_len <= e->end - e->header_at;
    if (!known) {
        e->header_at = e->header_len = 0;
    }
}

bool pt_collect_entry_parse(const char *line, size_t len, pt_collect_entry_t *e) {
    const perftrace__json_slice_t object = {.p = line, .len = len, .type = PERFTRACE__JSON_OBJECT};
    perftrace__json_slice_t v;
    perftrace__stream_message_t m;
    const char *problem;
    e->tally = (pt_collect_tally_t)PT_COLLECT_TALLY_INIT;
    if (!perftrace__json_check(line, len, NULL, NULL) || !perftrace__json_find(&object, "at", &v) ||
        !perftrace__stream_parse(v.p, v.len, &m, &problem) || m.type != PERFTRACE__STREAM_DATA) {
        return false;
    }
    e->key = m.key;
    e->have = m.offset;
    e->end = m.acked;
    e->ended = m.last;
    e->tally.rank = m.key.rank;
    e->tally.world_size = m.key.world_size;
    e->tally.footer = perftrace__json_find(&object, "footer", &v) && v.type == PERFTRACE__JSON_TRUE;
    bool good =
        perftrace__json_find(&object, "step", &v) && perftrace__json_to_i64(&v, &e->tally.step);
#define X(name) good = find_number(&object, #name, &e->tally.name) && good;
    NUMBERS(X)
#undef X
    find_header(&object, e);
    return good;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static char *join(const char *a, const char *b, const char *c) {
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/%s%s", a, b, c);
    if (path.failed) {
        perftrace__strbuf_free(&path);
    }
    return path.data;
}

/* Opens both. A file without a journal is somebody else's, unless it is empty. */
static int open_both(pt_collect_one_t *one, uint64_t *ret_size) {
    struct stat st;
    bool known = access(one->journal_path, F_OK) == 0;
    if (!known && stat(one->path, &st) == 0 && st.st_size > 0) {
        return -EEXIST;
    }
    one->journal = perftrace__os_open(one->journal_path, O_RDWR | O_CREAT, 0666);
    one->fd = one->journal < 0 ? -1 : perftrace__os_open(one->path, O_RDWR | O_CREAT, 0666);
    if (one->fd < 0 || fstat(one->fd, &st) != 0) {
        return -errno;
    }
    *ret_size = (uint64_t)st.st_size;
    return 0;
}

/* Up to the file's end. */
static int read_some(int fd, uint64_t at, size_t len, perftrace__strbuf_t *out) {
    if (!perftrace__strbuf_reserve(out, len)) {
        return -ENOMEM;
    }
    while (out->len < len) {
        ssize_t n = pread(fd, out->data + out->len, len - out->len, (off_t)(at + out->len));
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n == 0) {
            break;
        }
        out->len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int read_all(int fd, perftrace__strbuf_t *out) {
    struct stat st;
    return fstat(fd, &st) != 0 ? -errno : read_some(fd, 0, (size_t)st.st_size, out);
}

/* Up to the first line that is not whole, or tells of more than the file has: the system lost what
 * was not on the disk. */
static int read_journal(pt_collect_one_t *one, uint64_t size,
                        void (*found)(void *, const pt_collect_entry_t *), void *ctx) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    pt_collect_entry_t *e = malloc(sizeof *e);
    int err = e == NULL ? -ENOMEM : read_all(one->journal, &text);
    size_t at = 0;
    while (err == 0 && at < text.len) {
        const char *eol = memchr(text.data + at, '\n', text.len - at);
        if (eol == NULL ||
            !pt_collect_entry_parse(text.data + at, (size_t)(eol - text.data) - at, e)) {
            break;
        }
        if (e->end > size) {
            pt_warn("%s is shorter than it was; what is missing is asked for again", one->path);
            break;
        }
        one->end = e->end;
        found(ctx, e);
        at = (size_t)(eol - text.data) + 1;
    }
    one->journal_end = at;
    free(e);
    perftrace__strbuf_free(&text);
    return err;
}

void pt_collect_one_close(pt_collect_one_t *one) {
    if (one == NULL) {
        return;
    }
    int fds[] = {one->fd, one->journal, one->lock};
    for (size_t i = 0; i < PT_ARRAY_LEN(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    free(one->path);
    free(one->journal_path);
    free(one);
}

int pt_collect_one_open(const char *run_dir, const char *name,
                        void (*found)(void *, const pt_collect_entry_t *), void *ctx,
                        pt_collect_one_t **ret) {
    pt_collect_one_t *one = calloc(1, sizeof *one);
    char *journals = join(run_dir, PT_COLLECT_CLAIM_DIR, "/journal-");
    uint64_t size = 0;
    if (one == NULL) {
        free(journals);
        return -ENOMEM;
    }
    one->lock = one->fd = one->journal = -1;
    one->path = join(run_dir, name, "");
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s%s", journals != NULL ? journals : "", name);
    one->journal_path = path.data;
    int err = one->path == NULL || journals == NULL || path.failed ? -ENOMEM : 0;
    free(journals);
    err = err != 0 ? err : pt_collect_claim_lock(run_dir, &one->lock);
    err = err != 0 ? err : open_both(one, &size);
    err = err != 0 ? err : read_journal(one, size, found, ctx);
    if (err == 0 && (ftruncate(one->fd, (off_t)one->end) != 0 ||
                     ftruncate(one->journal, (off_t)one->journal_end) != 0)) {
        err = -errno;
    }
    if (err != 0) {
        pt_collect_one_close(one);
        return err;
    }
    one->fresh = one->journal_end;
    *ret = one;
    return 0;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static int write_at(int fd, const char *data, size_t len, uint64_t at) {
    if (!perftrace__os_may_grow_to(at + len)) {
        return -EFBIG;
    }
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, data + done, len - done, (off_t)(at + done));
        if (n < 0 && errno != EINTR) {
            int err = -errno;
            (void)!ftruncate(fd, (off_t)at); /* it would be cut at the next start */
            return err;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static bool both_stand(const pt_collect_one_t *one) {
    return pt_collect_descriptor_stands(one->fd, one->path, one->end) &&
           pt_collect_descriptor_stands(one->journal, one->journal_path, one->journal_end);
}

/* The stream's header line; nothing where it is not known. */
static int read_header(const pt_collect_one_t *one, const pt_collect_entry_t *e,
                       perftrace__strbuf_t *out) {
    static const char begin[] = "{\"name\": \"perftrace_header\", ";
    size_t len = (size_t)e->header_len;
    int err = len > 0 ? read_some(one->fd, e->header_at, len, out) : 0;
    if (err == 0 &&
        (out->len != len || len < sizeof begin || memcmp(out->data, begin, sizeof begin - 1) != 0 ||
         memchr(out->data, '\n', len) != out->data + len - 1)) {
        perftrace__strbuf_clear(out);
    }
    return err;
}

/* All of it or nothing. */
static int write_all(pt_collect_one_t *one, const perftrace__strbuf_t *header, const char *data,
                     size_t len, const perftrace__strbuf_t *line) {
    int err = write_at(one->fd, header->data, header->len, one->end);
    err = err != 0 ? err : write_at(one->fd, data, len, one->end + header->len);
    err = err != 0 ? err : write_at(one->journal, line->data, line->len, one->journal_end);
    if (err != 0) {
        (void)!ftruncate(one->fd, (off_t)one->end);
    }
    return err;
}

int pt_collect_one_append(pt_collect_one_t *one, const char *data, size_t len, bool named,
                          pt_collect_entry_t *entry) {
    perftrace__strbuf_t line = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t header = PERFTRACE__STRBUF_INIT;
    int err = both_stand(one) ? 0 : -ESTALE;
    err = err == 0 && named ? read_header(one, entry, &header) : err;
    if (entry->tally.header_len > 0 && entry->tally.header_len <= HEADER_MAX) {
        entry->header_at = one->end + header.len + entry->tally.header_at;
        entry->header_len = entry->tally.header_len;
    }
    entry->end = one->end + header.len + len;
    pt_collect_entry_put(&line, entry);
    err = err == 0 && line.failed ? -ENOMEM : err;
    err = err != 0 ? err : write_all(one, &header, data, len, &line);
    if (err == 0) {
        one->end = entry->end;
        one->journal_end += line.len;
        one->dirty = true;
    }
    perftrace__strbuf_free(&header);
    perftrace__strbuf_free(&line);
    return err;
}

int pt_collect_one_sync(pt_collect_one_t *one) {
    if (one->dirty && (fdatasync(one->fd) != 0 || fdatasync(one->journal) != 0)) {
        return -errno;
    }
    one->dirty = false;
    return 0;
}

bool pt_collect_one_is_long(const pt_collect_one_t *one) {
    return one->journal_end > LONG_BYTES && one->journal_end / 4 > one->fresh;
}

uint64_t pt_collect_one_end(const pt_collect_one_t *one) {
    return one->end;
}

/* The file is on the disk before the new journal alone tells of it. */
void pt_collect_one_renew(pt_collect_one_t *one, const perftrace__strbuf_t *lines) {
    perftrace__strbuf_t fresh = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&fresh, "%s.new", one->journal_path);
    if (lines->failed || fresh.failed || pt_collect_one_sync(one) != 0) {
        perftrace__strbuf_free(&fresh);
        return;
    }
    int fd = perftrace__os_open(fresh.data, O_RDWR | O_CREAT | O_TRUNC, 0666);
    size_t done = 0;
    if (fd >= 0 && perftrace__os_write_all(fd, lines->data, lines->len, &done) == 0 &&
        fdatasync(fd) == 0 && rename(fresh.data, one->journal_path) == 0) {
        close(one->journal);
        one->journal = fd;
        one->journal_end = one->fresh = lines->len;
    } else if (fd >= 0) {
        close(fd);
        (void)unlink(fresh.data);
    }
    perftrace__strbuf_free(&fresh);
}
