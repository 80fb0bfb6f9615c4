/* output.c: an output that is there whole or not at all. SPDX-License-Identifier: MIT */
#include "output.h"

#include "human.h"
#include "os.h"
#include "output_target.h"
#include "temp_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_DEFAULT ((size_t)256 * 1024)
#define BUFFER_MIN     ((size_t)4096)

struct pt_output {
    char *name;
    pt_output_target_t target;
    char *temp; /* NULL: written straight through */
    int temp_slot;
    int fd;
    bool sync;
    bool no_replace;
    char *buffer;
    size_t size, fill;
    uint64_t offset; /* bytes taken */
    int error;       /* errno of the write that failed */
    perftrace__strbuf_t problem;
};

static int tell(perftrace__strbuf_t *ret_problem, int error, const char *text) {
    if (ret_problem) {
        perftrace__strbuf_puts(ret_problem, text ? text : strerror(error));
    }
    return -error;
}

static bool is_input(const pt_paths_t *inputs, const struct stat *st) {
    return S_ISREG(st->st_mode) && pt_paths_have(inputs, st->st_dev, st->st_ino);
}

/* Makes the temporary file beside the target, with the mode of the file that it will replace. */
static int open_temp(pt_output_t *output, const struct stat *old,
                     perftrace__strbuf_t *ret_problem) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        char *temp = pt_output_target_temp(&output->target, perftrace__os_pid(), attempt);
        if (!temp) {
            return tell(ret_problem, ENOMEM, NULL);
        }
        int slot = pt_temp_registry_add(temp);
        output->fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0) {
            output->temp = temp;
            output->temp_slot = slot;
            if (old && fchown(output->fd, old->st_uid, old->st_gid) == 0) {
                (void)fchmod(output->fd, old->st_mode & 07777);
            } else if (old) {
                (void)fchmod(output->fd, old->st_mode & 0777); /* another owner: no set-id bits */
            }
            return 0;
        }
        int error = errno;
        pt_temp_registry_remove(slot, temp);
        struct stat folder;
        if ((error == ENOENT || error == ENOTDIR) &&
            (stat(output->target.folder, &folder) != 0 || !S_ISDIR(folder.st_mode))) {
            if (ret_problem) {
                perftrace__strbuf_printf(ret_problem, "there is no directory %s",
                                         output->target.folder);
            }
            return -error;
        }
        if (error != EEXIST) { /* EEXIST: left over by a killed process that had this number */
            if (ret_problem) {
                perftrace__strbuf_printf(ret_problem, "no file can be made in %s: %s",
                                         output->target.folder, strerror(error));
            }
            return -error;
        }
    }
    return tell(ret_problem, EEXIST, "too many temporary files stand beside it");
}

static int open_target(pt_output_t *output, const pt_output_options_t *options,
                       perftrace__strbuf_t *ret_problem) {
    struct stat st;
    if (output->target.fd >= 0) {
        output->fd = output->target.fd;
        if (fstat(output->fd, &st) != 0) {
            return tell(ret_problem, errno, NULL);
        }
        return is_input(options->inputs, &st) ? tell(ret_problem, EEXIST, "is one of the inputs")
                                              : 0;
    }
    bool exists = stat(output->target.path, &st) == 0;
    if (!exists && errno != ENOENT && errno != ENOTDIR) {
        return tell(ret_problem, errno, NULL);
    }
    if (!exists) {
        return open_temp(output, NULL, ret_problem);
    }
    if (is_input(options->inputs, &st)) {
        return tell(ret_problem, EEXIST, "is one of the inputs");
    }
    if (S_ISDIR(st.st_mode)) {
        return tell(ret_problem, EISDIR, "is a directory");
    }
    if (!S_ISREG(st.st_mode)) {
        output->fd = open(output->target.path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return output->fd < 0 ? tell(ret_problem, errno, NULL) : 0;
    }
    if (options->no_replace) {
        return tell(ret_problem, EEXIST, "exists already");
    }
    /* A rename would replace a write-protected file too: who protects a file does not want that. */
    if (access(output->target.path, W_OK) != 0) {
        return tell(ret_problem, errno, NULL);
    }
    return open_temp(output, &st, ret_problem);
}

static void destroy(pt_output_t *output) {
    if (output->fd >= 0 && output->fd != output->target.fd) {
        close(output->fd);
    }
    if (output->temp) {
        unlink(output->temp);
        pt_temp_registry_remove(output->temp_slot, output->temp);
    }
    pt_output_target_free(&output->target);
    perftrace__strbuf_free(&output->problem);
    free(output->buffer);
    free(output->name);
    free(output);
}

int pt_output_open(const char *path, const pt_output_options_t *options, pt_output_t **ret_output,
                   perftrace__strbuf_t *ret_problem) {
    static const pt_output_options_t defaults = {.inputs = NULL};
    if (!options) {
        options = &defaults;
    }
    /* Both would end the process in the middle, leaving the temporary file: a write's error is
     * enough. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    pt_output_t *output = calloc(1, sizeof(*output));
    if (!output) {
        return tell(ret_problem, ENOMEM, NULL);
    }
    output->fd = -1;
    output->target.fd = -1;
    output->sync = options->sync;
    output->no_replace = options->no_replace;
    output->size = PT_MAX(options->buffer_size ? options->buffer_size : BUFFER_DEFAULT, BUFFER_MIN);
    output->buffer = malloc(output->size);
    int status = output->buffer ? pt_output_target_resolve(path, &output->target) : -ENOMEM;
    output->name =
        strdup(status == 0 && output->target.fd == STDOUT_FILENO ? "standard output" : path);
    if (status == 0 && !output->name) {
        status = -ENOMEM;
    }
    status =
        status == 0 ? open_target(output, options, ret_problem) : tell(ret_problem, -status, NULL);
    if (status != 0) {
        destroy(output);
        return status;
    }
    *ret_output = output;
    return 0;
}

/* Says in the user's terms what a failed write means. */
static void note_failure(pt_output_t *output, int error, uint64_t written) {
    char amount[PT_HUMAN_MAX];
    pt_human_bytes(amount, written);
    output->error = error;
    if (error == EPIPE) {
        perftrace__strbuf_puts(&output->problem, "whoever reads it has gone away");
    } else if (error == ENOSPC && output->temp) {
        perftrace__strbuf_printf(&output->problem, "no space is left in %s after %s",
                                 output->target.folder, amount);
    } else {
        perftrace__strbuf_printf(&output->problem, "%s after %s", strerror(error), amount);
    }
}

/* Writes to the system; `before` bytes were taken before these. */
static int write_out(pt_output_t *output, const void *data, size_t len, uint64_t before) {
    size_t done = 0;
    int status = perftrace__os_write_all(output->fd, data, len, &done);
    if (status != 0) {
        note_failure(output, -status, before + done);
        return -1;
    }
    return 0;
}

static int flush(pt_output_t *output) {
    size_t fill = output->fill;
    output->fill = 0;
    return fill ? write_out(output, output->buffer, fill, output->offset - fill) : 0;
}

int pt_output_write(pt_output_t *output, const void *data, size_t len) {
    if (output->error) {
        return -1;
    }
    if (len > output->size - output->fill) {
        if (flush(output) != 0) {
            return -1;
        }
        if (len >= output->size) {
            int status = write_out(output, data, len, output->offset);
            output->offset += len;
            return status;
        }
    }
    if (len) {
        memcpy(output->buffer + output->fill, data, len);
        output->fill += len;
        output->offset += len;
    }
    return 0;
}

/* Puts the finished file under its name. 0 or an errno. */
static int put_in_place(pt_output_t *output) {
    if (!output->no_replace) {
        return rename(output->temp, output->target.path) == 0 ? 0 : errno;
    }
    /* link never replaces; a file system without links is left with the test made at the start. */
    if (link(output->temp, output->target.path) == 0) {
        unlink(output->temp);
        return 0;
    }
    if (errno != EPERM && errno != EOPNOTSUPP) {
        return errno;
    }
    return rename(output->temp, output->target.path) == 0 ? 0 : errno;
}

static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(
            fd); /* the data is safe; a file system that cannot do this has nothing to sync */
        close(fd);
    }
}

int pt_output_commit(pt_output_t *output, perftrace__strbuf_t *ret_problem) {
    if (!output->error) {
        (void)flush(output); /* a failure is in output->error */
    }
    if (!output->error && output->temp && output->sync && fsync(output->fd) != 0) {
        note_failure(output, errno, output->offset);
    }
    if (output->temp) {
        /* Network file systems tell of a full disk only here. */
        if (close(output->fd) != 0 && !output->error) {
            note_failure(output, errno, output->offset);
        }
        output->fd = -1;
        int error = output->error ? 0 : put_in_place(output);
        if (error) {
            output->error = error;
            perftrace__strbuf_printf(&output->problem, "cannot be put in place: %s",
                                     strerror(error));
        }
    }
    int status = -output->error;
    if (status != 0) {
        (void)tell(ret_problem, output->error, perftrace__strbuf_cstr(&output->problem));
    } else if (output->temp) {
        if (output->sync) {
            sync_folder(output->target.folder);
        }
        pt_temp_registry_remove(output->temp_slot, output->temp);
        output->temp = NULL;
    }
    destroy(output);
    return status;
}

void pt_output_abort(pt_output_t *output) {
    if (output) {
        destroy(output);
    }
}

bool pt_output_is_same(const char *path, const char *other) {
    pt_output_target_t a;
    pt_output_target_t b;
    bool known = pt_output_target_resolve(path, &a) == 0;
    known = pt_output_target_resolve(other, &b) == 0 && known;
    bool same = known && pt_output_target_is_same(&a, &b);
    pt_output_target_free(&a);
    pt_output_target_free(&b);
    return same;
}

const char *pt_output_name(const pt_output_t *output) {
    return output->name;
}

uint64_t pt_output_offset(const pt_output_t *output) {
    return output->offset;
}

const char *pt_output_problem(const pt_output_t *output) {
    return perftrace__strbuf_cstr(&output->problem);
}

void pt_output_catch_signals(void) {
    pt_temp_registry_catch_signals();
}
