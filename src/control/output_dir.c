/* output_dir.c: the directory that a request asks for. SPDX-License-Identifier: MIT
 *
 * It is walked from the root on by descriptors, so that what was looked at is what is entered. */
#include "output_dir.h"

#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static perftrace__output_dir_result_t outside(perftrace__strbuf_t *problem, const char *asked,
                                              const char *root, const char *why) {
    perftrace__strbuf_printf(problem, "output_dir %s is not below %s, where profiles go: %s", asked,
                             root, why);
    return PERFTRACE__OUTPUT_DIR_OUTSIDE;
}

static perftrace__output_dir_result_t failed(perftrace__strbuf_t *problem, const char *path,
                                             int err) {
    perftrace__strbuf_printf(problem, "output_dir %s cannot be used: %s", path, strerror(err));
    return PERFTRACE__OUTPUT_DIR_FAILED;
}

/* What is behind the root in an absolute path; NULL: the path does not begin with it. */
static const char *behind(const char *root, const char *path) {
    size_t len = strlen(root);
    while (len > 0 && root[len - 1] == '/') {
        len--;
    }
    if (strncmp(root, path, len) != 0 || (path[len] != '/' && path[len] != '\0')) {
        return NULL;
    }
    return path + len;
}

/* The root's own way may have links: it is the configuration's choice. */
static const char *behind_real(const char *root, const char *path) {
    char real[PATH_MAX];
    return realpath(root, real) != NULL ? behind(real, path) : NULL;
}

static bool has_parent(const char *path) {
    for (const char *at = path; *at != '\0';) {
        at += strspn(at, "/");
        size_t len = strcspn(at, "/");
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            return true;
        }
        at += len;
    }
    return false;
}

/* Enters one component. The descriptor, which is the caller's; or -1 with errno, ELOOP for a link.
 */
static int enter(int at, const char *name, bool make) {
    int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && make) {
        if (mkdirat(at, name, 0777) != 0 && errno != EEXIST) {
            return -1;
        }
        fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0) {
        const int err = errno;
        struct stat st;
        const bool link = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        errno = link ? ELOOP : err;
    }
    return fd;
}

/* Walks the components of `rest` below the root and appends them to path. 0 or an errno; ENOENT
 * without make is the end of what there is, which is no error. */
static int walk(const char *root, const char *rest, bool make, perftrace__strbuf_t *path) {
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int err = fd < 0 ? errno : 0;
    for (const char *at = rest; err == 0 && *(at += strspn(at, "/")) != '\0';) {
        const size_t len = strcspn(at, "/");
        char name[NAME_MAX + 1];
        if (len > NAME_MAX) {
            err = ENAMETOOLONG;
        } else if (len > 1 || at[0] != '.') {
            memcpy(name, at, len);
            name[len] = '\0';
            perftrace__strbuf_printf(path, "/%s", name);
            const int next = enter(fd, name, make);
            err = next < 0 ? errno : 0;
            close(fd);
            fd = next;
        }
        at += len;
    }
    if (fd >= 0) {
        close(fd);
    }
    return err == ENOENT && !make ? 0 : err;
}

perftrace__output_dir_result_t perftrace__output_dir_find(const char *root, const char *asked,
                                                          bool make, perftrace__strbuf_t *ret_path,
                                                          perftrace__strbuf_t *ret_problem) {
    const char *rest = asked;
    if (asked[0] == '/') {
        rest = behind(root, asked);
        rest = rest != NULL ? rest : behind_real(root, asked);
    }
    if (rest == NULL) {
        return outside(ret_problem, asked, root, "it is another directory");
    }
    if (has_parent(rest)) {
        return outside(ret_problem, asked, root, "it has a component ..");
    }
    const int made = make ? -perftrace__os_mkdirs(root) : 0;
    if (made != 0) {
        return failed(ret_problem, root, made);
    }
    perftrace__strbuf_puts(ret_path, root);
    const int err = walk(root, rest, make, ret_path);
    if (err == ELOOP) {
        return outside(ret_problem, asked, root, "there is a symbolic link in it");
    }
    if (err != 0 || ret_path->failed) {
        return failed(ret_problem, asked, err != 0 ? err : ENOMEM);
    }
    return PERFTRACE__OUTPUT_DIR_OK;
}
