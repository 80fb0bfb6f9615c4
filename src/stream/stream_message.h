/* stream_message.h: one message of the stream to a collector (pure). SPDX-License-Identifier: MIT
 *
 * docs/formats/STREAM.md. A message is one line of JSON; the bytes that follow a `data` line are
 * the caller's. No allocation; any thread. */
#ifndef PERFTRACE_STREAM_STREAM_MESSAGE_H
#define PERFTRACE_STREAM_STREAM_MESSAGE_H

#include "strbuf.h"

#include <stdbool.h>

#define PERFTRACE__STREAM_VERSION    1
#define PERFTRACE__STREAM_LINE_MAX   4096u      /* bytes of a line, its end included */
#define PERFTRACE__STREAM_PIECE_MAX  (4u << 20) /* bytes of a piece, unpacked */
#define PERFTRACE__STREAM_PACKED_MAX ((4u << 20) + 4096u)
#define PERFTRACE__STREAM_WINDOW     (8u << 20) /* bytes of a file that are not acknowledged */

typedef enum perftrace__stream_type {
    PERFTRACE__STREAM_NONE,
    PERFTRACE__STREAM_HELLO,
    PERFTRACE__STREAM_HAVE,
    PERFTRACE__STREAM_DATA,
    PERFTRACE__STREAM_ACK,
    PERFTRACE__STREAM_CLOCK,
    PERFTRACE__STREAM_ERROR
} perftrace__stream_type_t;

/* Which file of which process. */
typedef struct perftrace__stream_key {
    char run[65];
    uint64_t stream;
    bool sessions;  /* the kind; else a trace */
    char name[256]; /* without directory */
    int64_t rank;   /* -1: unknown */
    int64_t world_size;
    char role[64];
    char host[64];
    int64_t pid; /* 0: unknown */
} perftrace__stream_key_t;

typedef struct perftrace__stream_message {
    perftrace__stream_type_t type;
    int64_t version;
    perftrace__stream_key_t key;
    uint64_t offset;
    uint64_t size;
    uint64_t packed;
    uint64_t acked; /* before this the sender had everything acknowledged */
    bool last;
    char token[256];
    char ref[40]; /* whose clock */
    char t1[41];  /* 40 bytes */
    uint64_t t2;
    uint64_t t3;
    char text[512]; /* of an error */
} perftrace__stream_message_t;

/* Reads the line [0..len), its '\n' included or not. False: *ret_problem (static storage) says what
 * is wrong; then *ret is not to be used. Texts that are too long are wrong, except that of an
 * error, which is cut. */
bool perftrace__stream_parse(const char *line, size_t len, perftrace__stream_message_t *ret,
                             const char **ret_problem);

/* Each appends a line with its '\n'. */
void perftrace__stream_put_hello(perftrace__strbuf_t *out, const char *run, const char *token);
void perftrace__stream_put_hello_answer(perftrace__strbuf_t *out, const char *ref);
/* The question how much of a stream is there. */
void perftrace__stream_put_have(perftrace__strbuf_t *out, const perftrace__stream_key_t *key);
/* And its answer; last: the file's end is there, too. So for ack. */
void perftrace__stream_put_have_answer(perftrace__strbuf_t *out, uint64_t stream, uint64_t offset,
                                       bool last);
void perftrace__stream_put_data(perftrace__strbuf_t *out, const perftrace__stream_key_t *key,
                                uint64_t offset, uint64_t size, uint64_t packed, uint64_t acked,
                                bool last);
void perftrace__stream_put_ack(perftrace__strbuf_t *out, uint64_t stream, uint64_t offset,
                               bool last);
void perftrace__stream_put_clock(perftrace__strbuf_t *out, const char *t1);
void perftrace__stream_put_clock_answer(perftrace__strbuf_t *out, const char *t1, uint64_t t2,
                                        uint64_t t3, const char *ref);
void perftrace__stream_put_error(perftrace__strbuf_t *out, const char *text);

/* The number of a file: FNV-1a with 64 bits of its first line, the '\n' included
 * (draft-eastlake-fnv). */
uint64_t perftrace__stream_id(const void *line, size_t len);

/* The run's id as it stands in names and subjects of NATS: 1 to 64 bytes. */
void perftrace__stream_run_name(const char *run, char ret_name[65]);

/* A name without directories that can be used as it stands: not empty, "." or "..", no '/', no
 * control bytes, not beginning with '.'. */
bool perftrace__stream_name_ok(const char *name);

#endif
