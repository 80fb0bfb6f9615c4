/* fetch_store.c. SPDX-License-Identifier: MIT */
#include "fetch_store.h"

#include "bucket_key.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* File systems without locks: two of us are then not told apart, and nothing else is lost. */
static bool is_taken(int fd) {
    return flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

int pt_store_open(const char *folder, bool make, pt_store_t *ret) {
    *ret = (pt_store_t){-1, PERFTRACE__STRBUF_INIT, PERFTRACE__STRBUF_INIT};
    int e = make ? perftrace__os_mkdirs(folder) : 0;
    e = e < 0 ? e : perftrace__os_absolute_path(&ret->path, folder);
    perftrace__strbuf_printf(&ret->staging, "%s/%s", perftrace__strbuf_cstr(&ret->path),
                             PT_FETCH_STAGING);
    if (e < 0) {
        return e;
    }
    if (ret->path.failed || ret->staging.failed) {
        return -ENOMEM;
    }
    ret->fd = perftrace__os_open(perftrace__strbuf_cstr(&ret->path), FOLDER_FLAGS, 0);
    if (ret->fd < 0) {
        return errno == ENOENT && !make ? 0 : -errno;
    }
    if (make && is_taken(ret->fd)) {
        return -EWOULDBLOCK;
    }
    return make && faccessat(ret->fd, ".", W_OK | X_OK, 0) != 0 ? -errno : 0;
}

void pt_store_close(pt_store_t *store) {
    if (store->fd >= 0) {
        close(store->fd);
        store->fd = -1;
    }
    perftrace__strbuf_free(&store->path);
    perftrace__strbuf_free(&store->staging);
}

/* Opens the folder that a path's last part lies in, part by part, so that no link is followed. A
 * descriptor to be closed, or a negative errno. */
static int open_parent(int root, const char *path, bool make, const char **ret_name) {
    int fd = openat(root, ".", FOLDER_FLAGS);
    const char *slash;
    *ret_name = path;
    for (; fd >= 0 && (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        char part[256];
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (make && mkdirat(fd, part, 0777) != 0 && errno != EEXIST) {
            int e = errno;
            close(fd);
            return -e;
        }
        int next = openat(fd, part, FOLDER_FLAGS | O_NOFOLLOW);
        int e = errno;
        close(fd);
        errno = e;
        fd = next;
    }
    *ret_name = path;
    return fd >= 0 ? fd : -errno;
}

/* ---- what a file's content is noted to be: the ETag of its object, beside the file itself. Where
 * the file system keeps no such notes, size and time have to do. ---- */

#define NOTE     "user.perftrace.etag"
#define NOTE_MAX 512

static bool may_be(int parent, const char *name, const pt_object_t *object) {
    char note[NOTE_MAX + 1];
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t len = fd >= 0 ? fgetxattr(fd, NOTE, note, NOTE_MAX) : -1;
    if (fd >= 0) {
        close(fd);
    }
    note[len > 0 ? len : 0] = '\0';
    return pt_object_may_have(object, len > 0 ? note : NULL);
}

/* Notes what is about to get its name. A note of an object before it must not stay. */
static void note(int root, const pt_object_t *object) {
    const char *name;
    int parent = open_parent(root, object->path, false, &name);
    int fd = parent >= 0 ? openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    size_t len = object->etag != NULL ? strlen(object->etag) : 0;
    if (fd >= 0 && len > 0 && len <= NOTE_MAX) {
        (void)fsetxattr(fd, NOTE, object->etag, len, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (parent >= 0) {
        close(parent);
    }
}

/* Whether a path below root is the object; ret_found: whether anything is there. */
static bool holds(int root, const pt_object_t *object, bool *ret_found) {
    const char *name;
    struct stat st;
    int parent = open_parent(root, object->path, false, &name);
    *ret_found = parent >= 0 && fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    bool is =
        *ret_found &&
        pt_object_is(object, S_ISREG(st.st_mode), (uint64_t)st.st_size, (int64_t)st.st_mtime) &&
        may_be(parent, name, object);
    if (parent >= 0) {
        close(parent);
    }
    return is;
}

void pt_store_mark_present(const pt_store_t *store, pt_bucket_list_t *list) {
    for (size_t i = 0; store->fd >= 0 && i < list->count; i++) {
        bool found;
        if (list->items[i].state == PT_OBJECT_WANTED && holds(store->fd, &list->items[i], &found)) {
            list->items[i].state = PT_OBJECT_PRESENT;
        }
    }
}

/* ---- copies -------------------------------------------------------------------------------------
 */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

int pt_store_remove_staging(const pt_store_t *store) {
    struct stat st;
    if (fstatat(store->fd, PT_FETCH_STAGING, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? 0 : -errno;
    }
    int e = nftw(perftrace__strbuf_cstr(&store->staging), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return e == 0 ? 0 : -errno;
}

int pt_store_make_staging(const pt_store_t *store) {
    int e = pt_store_remove_staging(store);
    return e == 0 && mkdirat(store->fd, PT_FETCH_STAGING, 0777) != 0 ? -errno : e;
}

static const char *reason_of(int e) {
    switch (e) {
    case ENOTDIR:
    case ELOOP:
        return "a folder in its path is a file or a symbolic link here";
    case EISDIR:
    case ENOTEMPTY:
    case EEXIST:
        return "a folder has its name here";
    case ENOSPC:
    case EDQUOT:
        return "no space left";
    case EACCES:
    case EPERM:
    case EROFS:
        return "permission denied";
    default:
        return "it could not be moved to its name";
    }
}

/* 0 or a negative errno. */
static int move(int from_root, const pt_store_t *store, const char *path) {
    const char *name, *same;
    int from = open_parent(from_root, path, false, &same);
    int to = from < 0 ? from : open_parent(store->fd, path, true, &name);
    int e = to < 0 ? to : renameat(from, same, to, name) != 0 ? -errno : 0;
    if (from >= 0) {
        close(from);
    }
    if (to >= 0) {
        close(to);
    }
    return e;
}

void pt_store_adopt(const pt_store_t *store, pt_object_t *object, bool final) {
    int root = openat(store->fd, PT_FETCH_STAGING, FOLDER_FLAGS | O_NOFOLLOW);
    bool found = false;
    const char *why = NULL;
    if (root >= 0 && holds(root, object, &found)) {
        note(root, object);
        int e = move(root, store, object->path);
        why = e < 0 ? reason_of(-e) : NULL;
    } else {
        why =
            found ? "what came has another size or time than the bucket says" : "it was not copied";
    }
    if (root >= 0) {
        close(root);
    }
    if (!why) {
        object->state = PT_OBJECT_FETCHED;
    } else if (final) {
        object->state = PT_OBJECT_FAILED;
        object->why = why;
    }
}
