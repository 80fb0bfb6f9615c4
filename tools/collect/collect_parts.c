/* collect_parts.c: the file of a stream, which may lie in parts. SPDX-License-Identifier: MIT */
#include "collect_parts.h"

#include "collect_claim.h"
#include "grow.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef pt_collect_parts_t parts_t;

/* The path of a part, from 1 on; NULL without memory. */
static char *path_of(const parts_t *p, size_t part) {
    char name[PT_COLLECT_NAME_MAX];
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    pt_collect_name_part(name, p->name, (unsigned)part);
    perftrace__strbuf_printf(&path, "%s/%s", p->run_dir, name);
    if (path.failed) {
        perftrace__strbuf_free(&path);
    }
    return path.data;
}

/* Where a part is put together; the claim's place with an ending. */
static char *draft_of(const parts_t *p, size_t part) {
    char name[PT_COLLECT_NAME_MAX];
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    pt_collect_name_part(name, p->name, (unsigned)part);
    perftrace__strbuf_printf(&path, "%s/" PT_COLLECT_CLAIM_DIR "/%s.new", p->run_dir, name);
    if (path.failed) {
        perftrace__strbuf_free(&path);
    }
    return path.data;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static bool add_item(parts_t *p, uint64_t base, uint64_t copied) {
    if (!PT_GROW(p, item, count, cap, 1)) {
        return false;
    }
    p->item[p->count++] = (pt_collect_part_t){base, copied, false};
    return true;
}

/* A collector may have been killed between claiming a part and giving it its name. */
static void finish_draft(const parts_t *p) {
    char *path = path_of(p, p->count);
    char *draft = draft_of(p, p->count);
    if (path != NULL && draft != NULL && access(path, F_OK) != 0) {
        (void)!rename(draft, path);
    }
    free(path);
    free(draft);
}

static void look_which_are_gone(parts_t *p) {
    for (size_t i = 0; i + 1 < p->count; i++) {
        char *path = path_of(p, i + 1);
        p->item[i].gone = path != NULL && access(path, F_OK) != 0;
        free(path);
    }
}

static uint64_t when_claimed(const parts_t *p) {
    char name[PT_COLLECT_NAME_MAX];
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    struct stat st;
    pt_collect_name_part(name, p->name, (unsigned)p->count);
    perftrace__strbuf_printf(&path, "%s/" PT_COLLECT_CLAIM_DIR "/%s", p->run_dir, name);
    bool good = !path.failed && lstat(path.data, &st) == 0;
    perftrace__strbuf_free(&path);
    return good ? (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec
                : perftrace__os_realtime_ns();
}

static int load(parts_t *p) {
    char name[PT_COLLECT_NAME_MAX];
    pt_collect_claim_t claim;
    int err = add_item(p, 0, 0) ? 0 : -ENOMEM;
    while (err == 0) {
        pt_collect_name_part(name, p->name, (unsigned)p->count + 1);
        err = pt_collect_claim_read(p->run_dir, name, &claim);
        if (err == 0) {
            /* A stream's own name may look like another one's part. */
            err = claim.stream != p->stream               ? -ENOENT
                  : add_item(p, claim.base, claim.copied) ? 0
                                                          : -ENOMEM;
        }
    }
    return err == -ENOENT || err == -EINVAL ? 0 : err;
}

static void forget(parts_t *p) {
    free(p->name);
    free(p->item);
    p->name = NULL;
    p->item = NULL;
    p->count = p->cap = 0;
}

int pt_collect_parts_open(pt_collect_files_t *files, parts_t *p, const char *run_dir,
                          const char *first, uint64_t stream) {
    char name[PT_COLLECT_NAME_MAX];
    (void)files;
    p->run_dir = run_dir;
    p->stream = stream;
    int err = pt_collect_claim_find(run_dir, first, stream, name);
    if (err != 0) {
        return err;
    }
    p->name = strdup(name);
    err = p->name != NULL ? load(p) : -ENOMEM;
    char *path = err == 0 ? path_of(p, p->count) : NULL;
    if (path == NULL) {
        forget(p);
        return err != 0 ? err : -ENOMEM;
    }
    if (p->count > 1) {
        finish_draft(p);
        look_which_are_gone(p);
    }
    pt_collect_file_init(&p->file, path);
    p->began_ns = when_claimed(p);
    return 0;
}

bool pt_collect_parts_is_open(const parts_t *p) {
    return p->name != NULL;
}

int pt_collect_parts_close(pt_collect_files_t *files, parts_t *p) {
    int err = p->name != NULL ? pt_collect_file_end(files, &p->file) : 0;
    forget(p);
    return err;
}

/* ---- reading and writing -----------------------------------------------------------------------
 */

static size_t part_at(const parts_t *p, uint64_t offset) {
    size_t i = p->count - 1;
    while (i > 0 && p->item[i].base > offset) {
        i--;
    }
    return i;
}

uint64_t pt_collect_parts_base(const parts_t *p) {
    return p->item[p->count - 1].base;
}

uint64_t pt_collect_parts_next(const parts_t *p, uint64_t offset) {
    size_t i = part_at(p, offset);
    return i + 1 < p->count ? p->item[i + 1].base : UINT64_MAX;
}

int64_t pt_collect_parts_end(pt_collect_files_t *files, parts_t *p) {
    const pt_collect_part_t *last = &p->item[p->count - 1];
    int64_t end = pt_collect_file_lines_end(files, &p->file, last->copied);
    return end == -ENOENT ? (int64_t)last->base
           : end < 0      ? end
                          : (int64_t)(last->base + (uint64_t)end - last->copied);
}

bool pt_collect_parts_stand(const parts_t *p, uint64_t offset) {
    const pt_collect_part_t *last = &p->item[p->count - 1];
    return pt_collect_file_stands(&p->file, offset - last->base + last->copied);
}

int pt_collect_parts_write(pt_collect_files_t *files, parts_t *p, uint64_t offset, const void *data,
                           size_t len) {
    const pt_collect_part_t *last = &p->item[p->count - 1];
    size_t done;
    return pt_collect_file_write(files, &p->file, data, len, offset - last->base + last->copied,
                                 &done);
}

/* A part's own bytes: len of them at an offset of its file. */
static int64_t read_part(pt_collect_files_t *files, parts_t *p, size_t part, uint64_t at, void *out,
                         size_t len) {
    if (part + 1 == p->count) {
        return pt_collect_file_read(files, &p->file, out, len, at);
    }
    pt_collect_file_t file;
    pt_collect_file_init(&file, path_of(p, part + 1));
    int64_t n = file.path != NULL ? pt_collect_file_read(files, &file, out, len, at) : -ENOMEM;
    (void)pt_collect_file_end(files, &file);
    if (n == -ENOENT) {
        p->item[part].gone = true;
    }
    return n;
}

int64_t pt_collect_parts_read(pt_collect_files_t *files, parts_t *p, uint64_t offset, void *out,
                              size_t len) {
    size_t part = part_at(p, offset);
    const pt_collect_part_t *i = &p->item[part];
    if (part + 1 < p->count) {
        len = (size_t)PT_MIN((uint64_t)len, i[1].base - offset);
    }
    int64_t n =
        i->gone ? -ENODATA : read_part(files, p, part, offset - i->base + i->copied, out, len);
    return n == -ENOENT && part + 1 < p->count ? -ENODATA : n;
}

int pt_collect_parts_copy(pt_collect_files_t *files, parts_t *p, uint64_t offset,
                          perftrace__strbuf_t *out) {
    size_t part = part_at(p, offset);
    size_t len = (size_t)p->item[part].copied;
    if (!perftrace__strbuf_reserve(out, len)) {
        return -ENOMEM;
    }
    int64_t n = len > 0 ? read_part(files, p, part, 0, out->data + out->len, len) : 0;
    if (n > 0) {
        out->len += (size_t)n;
    }
    return n < 0 ? (int)n : 0;
}

/* ---- the next part -----------------------------------------------------------------------------
 */

static int write_draft(const char *draft, const perftrace__strbuf_t *names, bool sync) {
    size_t done = 0;
    int fd = perftrace__os_open(draft, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        return -errno;
    }
    int err = names->len > 0 ? perftrace__os_write_all(fd, names->data, names->len, &done) : 0;
    if (err == 0 && sync && fdatasync(fd) != 0) {
        err = -errno;
    }
    close(fd);
    return err;
}

/* The claim may be there from an attempt that failed behind it. */
static int claim_part(const parts_t *p, const char *name, const pt_collect_claim_t *claim) {
    pt_collect_claim_t found;
    int err = pt_collect_claim_make(p->run_dir, name, claim);
    return err == -EEXIST && pt_collect_claim_read(p->run_dir, name, &found) == 0 &&
                   found.stream == claim->stream && found.base == claim->base &&
                   found.copied == claim->copied
               ? 0
               : err;
}

int pt_collect_parts_add(pt_collect_files_t *files, parts_t *p, uint64_t base,
                         const perftrace__strbuf_t *names) {
    char name[PT_COLLECT_NAME_MAX];
    const pt_collect_claim_t claim = {p->stream, base, names->len};
    size_t part = p->count + 1;
    char *path = path_of(p, part);
    char *draft = draft_of(p, part);
    pt_collect_name_part(name, p->name, (unsigned)part);
    int err = path == NULL || draft == NULL || names->failed ? -ENOMEM
              : access(path, F_OK) == 0                      ? -EEXIST
                                                             : 0;
    err = err != 0 ? err : write_draft(draft, names, files->sync);
    err = err != 0 ? err : claim_part(p, name, &claim);
    if (err == 0 && rename(draft, path) != 0) {
        err = -errno;
    }
    free(draft);
    if (err != 0 || !add_item(p, base, names->len)) {
        free(path);
        return err != 0 ? err : -ENOMEM;
    }
    err = pt_collect_file_end(files, &p->file);
    pt_collect_file_init(&p->file, path);
    p->began_ns = perftrace__os_realtime_ns();
    return err;
}

/* ---- deleting ----------------------------------------------------------------------------------
 */

static uint64_t size_of_part(const parts_t *p, size_t i) {
    return p->item[i].gone ? 0 : p->item[i + 1].base - p->item[i].base + p->item[i].copied;
}

static bool delete_part(parts_t *p, size_t i) {
    char *path = path_of(p, i + 1);
    bool deleted = path != NULL && unlink(path) == 0;
    free(path);
    p->item[i].gone = true;
    return deleted;
}

size_t pt_collect_parts_expire(parts_t *p, uint64_t keep, uint64_t bytes, uint64_t *ret_bytes) {
    uint64_t there = 0;
    size_t deleted = 0;
    *ret_bytes = 0;
    for (size_t i = 0; i + 1 < p->count; i++) {
        there += size_of_part(p, i);
    }
    for (size_t i = 0; i + 1 < p->count; i++) {
        bool many = keep > 0 && p->count - i > keep;
        bool large = bytes > 0 && there > bytes;
        uint64_t size = size_of_part(p, i);
        if (p->item[i].gone || !(many || large)) {
            continue;
        }
        there -= size;
        if (delete_part(p, i)) {
            deleted++;
            *ret_bytes += size;
        }
    }
    return deleted;
}
