/* input.c: bytes of an input, whatever it is packed in. SPDX-License-Identifier: MIT */
#include "input.h"

#include "gunzip.h"
#include "paths.h"
#include "raw_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_DEFAULT ((size_t)256 * 1024)
#define BUFFER_MIN     ((size_t)64 * 1024)
#define PEEK_MAX       ((size_t)32 * 1024)
#define READ_AHEAD_MIN ((uint64_t)1 << 20) /* of smaller files all is read ahead anyway */
#define PLAIN_SIZE     ((size_t)64 * 1024) /* unpacked bytes held for peek and for small reads */

struct pt_input {
    char *name;
    uint64_t size;
    uint64_t offset; /* plain bytes taken */
    uint64_t start;  /* where a regular file stood when it was opened */
    bool packed;
    bool regular;
    bool goes_on, keep_packed;
    pt_inflate_backend_t backend;
    const pt_path_t *more; /* files still to come; goes_on: there were some */
    size_t more_left;
    char last; /* the last byte delivered, where goes_on */
    pt_raw_source_t raw;
    pt_gunzip_t gunzip;
    uint8_t *plain; /* packed input only */
    size_t plain_pos, plain_len;
    pt_input_damage_t damage;
    const char *cut;
    perftrace__strbuf_t problem;
};

static int tell(perftrace__strbuf_t *ret_problem, int error, const char *text) {
    if (ret_problem) {
        perftrace__strbuf_puts(ret_problem, text ? text : strerror(error));
    }
    return -error;
}

/* Names a packing by its first bytes; NULL for anything else. */
static const char *foreign_packing(const uint8_t *data, size_t len) {
    static const struct {
        const char *magic;
        size_t len;
        const char *text;
    } known[] = {
        {"\x28\xb5\x2f\xfd", 4,
         "is packed with zstd, which is not read here: unpack it first (zstd -dc FILE | ... -)"},
        {"\xfd\x37zXZ\0", 6,
         "is packed with xz, which is not read here: unpack it first (xz -dc FILE | ... -)"},
        {"BZh", 3,
         "is packed with bzip2, which is not read here: unpack it first (bzip2 -dc FILE | ... -)"},
        {"\x04\x22\x4d\x18", 4,
         "is packed with lz4, which is not read here: unpack it first (lz4 -dc FILE | ... -)"},
        {"PK\x03\x04", 4,
         "is a zip archive, which is not read here: unpack it first (unzip -p FILE | ... -)"},
    };
    for (size_t i = 0; i < PT_ARRAY_LEN(known); i++) {
        if (len >= known[i].len && memcmp(data, known[i].magic, known[i].len) == 0) {
            return known[i].text;
        }
    }
    return NULL;
}

/* Looks at the first bytes and sets up the unpacking. 0 or a negative errno. */
static int sniff(pt_input_t *input, perftrace__strbuf_t *ret_problem) {
    if (input->keep_packed) {
        return 0;
    }
    size_t len = pt_raw_source_look(&input->raw, 6, PEEK_MAX);
    if (len == 0 && input->raw.error) {
        return tell(ret_problem, input->raw.error, NULL);
    }
    if (len < 2) {
        return 0;
    }
    const char *foreign = foreign_packing(input->raw.cur, len);
    if (foreign) {
        return tell(ret_problem, ENOTSUP, foreign);
    }
    if (input->raw.cur[0] != 0x1f || input->raw.cur[1] != 0x8b) {
        return 0;
    }
    input->packed = true;
    input->plain = input->plain ? input->plain : malloc(PLAIN_SIZE);
    if (!pt_gunzip_init(&input->gunzip, &input->raw, input->backend) || !input->plain) {
        return tell(ret_problem, ENOMEM, NULL);
    }
    return 0;
}

static int open_source(const char *name, int fd, bool owns_fd, const void *data, size_t len,
                       const pt_input_options_t *options, pt_input_t **ret_input,
                       perftrace__strbuf_t *ret_problem) {
    static const pt_input_options_t defaults = {.buffer_size = 0};
    if (!options) {
        options = &defaults;
    }
    size_t buffer_size = options->buffer_size ? options->buffer_size : BUFFER_DEFAULT;
    pt_input_t *input = calloc(1, sizeof(*input));
    if (!input) {
        if (owns_fd) {
            close(fd);
        }
        return tell(ret_problem, ENOMEM, NULL);
    }
    input->name = strdup(name);
    int status = 0;
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        input->regular = S_ISREG(st.st_mode);
        input->size = input->regular ? (uint64_t)st.st_size : 0;
        status = S_ISDIR(st.st_mode) ? tell(ret_problem, EISDIR, "is a directory") : 0;
    } else {
        input->size = len;
    }
    if (input->regular && !owns_fd) { /* it need not stand at its start */
        off_t at = lseek(fd, 0, SEEK_CUR);
        input->start = at > 0 ? (uint64_t)at : 0;
    }
    if (input->regular && input->size >= READ_AHEAD_MIN) {
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    pt_raw_source_init(&input->raw, fd, owns_fd, PT_MAX(buffer_size, BUFFER_MIN), data, len);
    input->more = options->more;
    input->more_left = options->more_count;
    input->goes_on = options->more_count > 0;
    input->keep_packed = options->keep_packed;
    input->backend = options->backend;
    input->cut = options->cut;
    for (size_t i = 0; i < options->more_count && input->regular; i++) {
        input->size += options->more[i].size;
    }
    if (status == 0 && !input->name) {
        status = tell(ret_problem, ENOMEM, NULL);
    }
    if (status == 0) {
        status = sniff(input, ret_problem);
    }
    if (status != 0) {
        pt_input_close(input);
        return status;
    }
    *ret_input = input;
    return 0;
}

int pt_input_open(const char *path, const pt_input_options_t *options, pt_input_t **ret_input,
                  perftrace__strbuf_t *ret_problem) {
    if (strcmp(path, "-") == 0) {
        return open_source("standard input", STDIN_FILENO, false, NULL, 0, options, ret_input,
                           ret_problem);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return tell(ret_problem, errno, NULL);
    }
    return open_source(path, fd, true, NULL, 0, options, ret_input, ret_problem);
}

int pt_input_open_memory(const void *data, size_t len, const char *name,
                         const pt_input_options_t *options, pt_input_t **ret_input) {
    return open_source(name, -1, false, data, len, options, ret_input, NULL);
}

void pt_input_close(pt_input_t *input) {
    if (!input) {
        return;
    }
    pt_gunzip_free(&input->gunzip);
    pt_raw_source_free(&input->raw);
    perftrace__strbuf_free(&input->problem);
    free(input->plain);
    free(input->name);
    free(input);
}

/* Notes what ended a file, once everything before it is delivered. The first damage counts. */
static void note_damage(pt_input_t *input) {
    int error = input->raw.error;
    pt_input_damage_t damage = input->packed && input->gunzip.state == PT_GUNZIP_END
                                   ? input->gunzip.damage
                               : error ? PT_INPUT_IO
                                       : PT_INPUT_SOUND;
    if (damage == PT_INPUT_SOUND && input->cut != NULL && input->damage == PT_INPUT_SOUND) {
        input->damage = PT_INPUT_TRUNCATED;
        perftrace__strbuf_puts(&input->problem, input->cut);
        return;
    }
    if (damage == PT_INPUT_SOUND || input->damage != PT_INPUT_SOUND) {
        return;
    }
    input->damage = damage;
    if (input->goes_on) {
        perftrace__strbuf_printf(&input->problem, "%s: ", input->name);
    }
    perftrace__strbuf_printf(&input->problem, "%s at byte %" PRIu64 " of the file",
                             damage == PT_INPUT_IO ? strerror(error) : input->gunzip.what,
                             input->raw.offset);
    if (input->packed) {
        perftrace__strbuf_printf(&input->problem, " (byte %" PRIu64 " unpacked)",
                                 input->gunzip.plain_len);
    }
}

/* Copies out of the unpacked bytes that are held. */
static size_t take_plain(pt_input_t *input, uint8_t *out, size_t size) {
    size_t n = PT_MIN(size, input->plain_len - input->plain_pos);
    if (n) {
        memcpy(out, input->plain + input->plain_pos, n);
        input->plain_pos += n;
    }
    return n;
}

static size_t fill_plain(pt_input_t *input) {
    size_t held = input->plain_len - input->plain_pos;
    memmove(input->plain, input->plain + input->plain_pos, held);
    input->plain_pos = 0;
    input->plain_len =
        held + pt_gunzip_read(&input->gunzip, input->plain + held, PLAIN_SIZE - held);
    return input->plain_len;
}

static size_t read_packed(pt_input_t *input, uint8_t *out, size_t size) {
    size_t done = take_plain(input, out, size);
    if (done < size && size - done >= PLAIN_SIZE / 4) {
        return done + pt_gunzip_read(&input->gunzip, out + done, size - done);
    }
    if (done < size) { /* an inflater called for a few bytes at a time is slow */
        fill_plain(input);
        done += take_plain(input, out + done, size - done);
    }
    return done;
}

/* Goes on in the next file, which is packed or not by itself. One that cannot be read is damage,
 * and the one behind it is next. False: there is none. */
static bool open_next(pt_input_t *input) {
    while (input->more_left > 0) {
        const char *name = input->more->name;
        input->more++;
        input->more_left--;
        pt_gunzip_free(&input->gunzip);
        input->gunzip = (pt_gunzip_t){.raw = NULL};
        size_t size = input->raw.size;
        pt_raw_source_free(&input->raw);
        input->packed = false;
        input->plain_pos = input->plain_len = 0;
        char *copy = strdup(name);
        int fd = copy ? open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
        int error = copy ? errno : ENOMEM;
        if (copy) {
            free(input->name);
            input->name = copy;
        }
        pt_raw_source_init(&input->raw, fd, fd >= 0, size, NULL, 0);
        if (fd < 0) {
            input->raw.error = error;
            note_damage(input);
        } else if (sniff(input, NULL) == 0) {
            return true;
        } else {
            input->raw.error = input->raw.error ? input->raw.error : ENOTSUP;
            input->packed = false;
            note_damage(input);
        }
    }
    return false;
}

/* A line that was torn at the end of a file does not spoil the first one of the next. */
static size_t end_line(pt_input_t *input, char *buf) {
    if (input->last == '\n' || input->offset == 0) {
        return 0;
    }
    *buf = '\n';
    return 1;
}

int64_t pt_input_read(pt_input_t *input, void *buf, size_t size) {
    size_t done = 0;
    for (bool more = size > 0; more;) {
        done = input->packed ? read_packed(input, buf, size)
                             : pt_raw_source_read(&input->raw, buf, size);
        more = false;
        if (done == 0) {
            note_damage(input);
            more = open_next(input);
            done = more ? end_line(input, buf) : 0;
            more = more && done == 0;
        }
    }
    input->offset += done;
    if (done > 0 && input->goes_on) {
        input->last = ((const char *)buf)[done - 1];
    }
    if (done == 0 && size) {
        return input->damage == PT_INPUT_SOUND ? 0 : -1;
    }
    return (int64_t)done;
}

size_t pt_input_peek(pt_input_t *input, size_t n, const char **ret_data) {
    n = PT_MIN(n, PEEK_MAX);
    if (!input->packed) {
        size_t left = pt_raw_source_look(&input->raw, n, n);
        *ret_data = (const char *)input->raw.cur;
        return PT_MIN(left, n);
    }
    size_t held = input->plain_len - input->plain_pos;
    if (held < n) {
        held = fill_plain(input);
    }
    *ret_data = (const char *)input->plain + input->plain_pos;
    return PT_MIN(held, n);
}

const char *pt_input_name(const pt_input_t *input) {
    return input->name;
}

uint64_t pt_input_size(const pt_input_t *input) {
    return input->size;
}

uint64_t pt_input_offset(const pt_input_t *input) {
    return input->offset;
}

uint64_t pt_input_raw_offset(const pt_input_t *input) {
    return input->raw.offset;
}

bool pt_input_is_packed(const pt_input_t *input) {
    return input->packed;
}

pt_input_damage_t pt_input_damage(const pt_input_t *input) {
    return input->damage;
}

const char *pt_input_problem(const pt_input_t *input) {
    return perftrace__strbuf_cstr(&input->problem);
}

bool pt_input_seekable(const pt_input_t *input) {
    return input->regular && !input->packed && !input->goes_on && input->cut == NULL;
}

int pt_input_fd(const pt_input_t *input) {
    return input->raw.fd;
}

int64_t pt_input_pread(const pt_input_t *input, void *buf, size_t size, uint64_t offset) {
    if (!pt_input_seekable(input)) {
        return -ESPIPE;
    }
    if (offset > (uint64_t)INT64_MAX - input->start) {
        return -EINVAL;
    }
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(input->raw.fd, (char *)buf + done, size - done,
                          (off_t)(input->start + offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (int64_t)done;
}

int pt_input_seek(pt_input_t *input, uint64_t offset) {
    if (!pt_input_seekable(input)) {
        return -ESPIPE;
    }
    if (offset > (uint64_t)INT64_MAX - input->start) {
        return -EINVAL;
    }
    if (lseek(input->raw.fd, (off_t)(input->start + offset), SEEK_SET) < 0) {
        return -errno;
    }
    input->raw.cur = input->raw.buffer;
    input->raw.left = 0;
    input->raw.offset = offset;
    input->raw.end = false;
    input->raw.error = 0;
    input->offset = offset;
    input->damage = PT_INPUT_SOUND;
    perftrace__strbuf_clear(&input->problem);
    return 0;
}
