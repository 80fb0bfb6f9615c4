/* input.h: bytes of an input, whatever it is packed in. SPDX-License-Identifier: MIT
 *
 * Opens a path or "-", sees gzip by its first bytes and unpacks it on the way (several members
 * too). A truncated or damaged stream gives every byte that can be had, and then the error. Nothing
 * is mapped: memory is two buffers whatever the size of the input. One input belongs to one thread
 * at a time; different inputs are independent. pt_input_pread alone may be called by several
 * threads at once. */
#ifndef PERFTRACE_COMMON_INPUT_H
#define PERFTRACE_COMMON_INPUT_H

#include "compiler.h"
#include "strbuf.h"

#include <stdbool.h>

typedef struct pt_input pt_input_t;

typedef enum pt_inflate_backend {
    PT_INFLATE_AUTO, /* ISA-L where it was built in, else zlib */
    PT_INFLATE_ZLIB,
    PT_INFLATE_ISAL
} pt_inflate_backend_t;

/* What ended an input before its proper end. */
typedef enum pt_input_damage {
    PT_INPUT_SOUND,     /* nothing (so far) */
    PT_INPUT_TRUNCATED, /* the gzip data stops in the middle */
    PT_INPUT_CORRUPT,   /* the gzip data is wrong, or its check sum or length does not fit */
    PT_INPUT_TRAILING,  /* all data is good, but something that is no gzip follows */
    PT_INPUT_IO,        /* the system could not read */
    PT_INPUT_NOMEM
} pt_input_damage_t;

typedef struct pt_input_options {
    size_t buffer_size;           /* of the read buffer; 0: 256 KiB; at least 64 KiB is taken */
    pt_inflate_backend_t backend; /* one that is not built in: zlib is taken */
    /* Files that are read on into where it ends, each packed or not by itself; must live on. What
     * is damaged in one of them does not keep the next ones back. */
    const struct pt_path *more;
    size_t more_count;
    bool keep_packed; /* deliver what there is as it is; nothing is read to open it */
    /* Of a copy: what ended its original early, which is damage of the copy, too; must live on.
     * NULL: nothing. */
    const char *cut;
} pt_input_options_t;

/* Opens path ("-": standard input). options may be NULL. 0, or a negative errno with a sentence
 * without the file's name appended to ret_problem (may be NULL): "Permission denied", "is a
 * directory", "is packed with zstd, which is not read here: unpack it first (zstd -dc FILE | ...
 * -)". Blocks until the first bytes can be had. */
int pt_input_open(const char *path, const pt_input_options_t *options, pt_input_t **ret_input,
                  perftrace__strbuf_t *ret_problem);
/* The same from bytes in memory, which must live on; for tests and fuzzers. */
int pt_input_open_memory(const void *data, size_t len, const char *name,
                         const pt_input_options_t *options, pt_input_t **ret_input);
void pt_input_close(pt_input_t *input); /* accepts NULL */

/* Fills buf with size bytes, fewer only at the end or before an error. Returns how many; 0 at the
 * end; -1 for an error, once all good bytes are delivered, and at every call after that (see
 * pt_input_damage and pt_input_problem). Blocks as read does. */
int64_t pt_input_read(pt_input_t *input, void *buf, size_t size);

/* Makes the next n bytes visible without taking them: *ret_data points to them until the next call.
 * Returns how many there are, at most n, fewer only near the end or before an error. n up to 32
 * KiB. */
size_t pt_input_peek(pt_input_t *input, size_t n, const char **ret_data);

const char *pt_input_name(const pt_input_t *input); /* the path; "standard input" for "-" */
uint64_t pt_input_size(const pt_input_t *input);    /* bytes on disk, of all files; 0: not known */
uint64_t pt_input_offset(const pt_input_t *input);  /* plain bytes taken so far */
uint64_t pt_input_raw_offset(const pt_input_t *input); /* bytes of the file used so far */
bool pt_input_is_packed(const pt_input_t *input);      /* it is gzip and is being unpacked */
pt_input_damage_t
pt_input_damage(const pt_input_t *input); /* PT_INPUT_SOUND until -1 was returned */
/* A sentence with both offsets: "gzip data is cut off at byte 123 of the file (byte 4711
 * unpacked)";
 * "" while sound. Lives as long as the input. */
const char *pt_input_problem(const pt_input_t *input);

/* True for a plain regular file with none behind it: pt_input_pread works. */
bool pt_input_seekable(const pt_input_t *input);
/* The descriptor, which stays the input's; -1 for memory. */
int pt_input_fd(const pt_input_t *input);
/* Reads at an offset, whatever pt_input_read does, which it does not move. Returns how many bytes,
 * fewer than size only at the end of the file; or a negative errno (-ESPIPE when not seekable). */
int64_t pt_input_pread(const pt_input_t *input, void *buf, size_t size, uint64_t offset);
/* Goes to an offset of a plain regular file: the next read starts there. 0 or a negative errno. */
int pt_input_seek(pt_input_t *input, uint64_t offset);

bool pt_inflate_backend_available(pt_inflate_backend_t backend);

#endif
