/* collect_take.c: takes pieces: each byte once. SPDX-License-Identifier: MIT */
#include "collect_gone.h"
#include "collect_store.h"
#include "os.h"

#include <errno.h>
#include <string.h>

/* Pieces that may be counted before one is written. */
#define AT_ONCE 4

typedef pt_collect_store_t store_t;
typedef pt_collect_stream_t stream_t;
typedef pt_collect_run_t run_t;

/* Whether the bytes at offset are those of the piece, as far as they are there. *ret_err: they
 * could not be read. */
static bool is_same(store_t *s, stream_t *stream, uint64_t offset, const char *data, size_t len,
                    int *ret_err) {
    char part[16384];
    uint64_t base = pt_collect_parts_base(&stream->parts);
    *ret_err = 0;
    /* Parts before the last one may be gone. */
    for (size_t done = offset < base ? (size_t)PT_MIN((uint64_t)len, base - offset) : 0;
         done < len;) {
        size_t take = PT_MIN(len - done, sizeof part);
        int64_t n = pt_collect_parts_read(&s->files, &stream->parts, offset + done, part, take);
        if (n < 0) {
            *ret_err = (int)n;
            return false;
        }
        if (n == 0 || memcmp(part, data + done, (size_t)n) != 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

bool pt_collect_store_is_due(store_t *s, stream_t *stream, uint64_t offset) {
    if (!pt_collect_store_place(s, stream)) {
        return false;
    }
    if (offset > stream->have && !pt_collect_is_in_one(s, stream)) {
        pt_collect_store_look_for_more(s, stream);
    }
    return offset <= stream->have;
}

static void count(stream_t *stream, uint64_t offset, const char *data, size_t len) {
    if (stream->counted == offset) {
        pt_collect_tally_add(&stream->tally, data, len);
        stream->counted += len;
    }
}

static void renew_journal(store_t *s, run_t *run) {
    perftrace__strbuf_t lines = PERFTRACE__STRBUF_INIT;
    for (const stream_t *i = run->streams; i != NULL; i = i->next) {
        if (pt_collect_is_in_one(s, i)) {
            const pt_collect_entry_t e = {.key = i->key,
                                          .have = i->have,
                                          .ended = i->ended,
                                          .end = pt_collect_one_end(run->one),
                                          .header_at = i->header_at,
                                          .header_len = i->header_len,
                                          .tally = i->tally};
            pt_collect_entry_put(&lines, &e);
        }
    }
    pt_collect_one_renew(run->one, &lines);
    perftrace__strbuf_free(&lines);
}

/* Whether the first of some lines tells the stream's rank. */
static bool tells_rank(const stream_t *stream, const char *data, size_t len) {
    const char *eol = memchr(data, '\n', len);
    int64_t rank = pt_collect_tally_line_rank(data, eol != NULL ? (size_t)(eol - data) : len);
    return rank >= 0 && (rank == stream->tally.rank || rank == stream->key.rank);
}

/* The whole of it or nothing. What follows lines of another process and does not say whose it is
 * comes behind a copy of the header: pids are the same in each container. */
static int append_to_one(store_t *s, stream_t *stream, const char *data, size_t len, bool ended) {
    pt_collect_entry_t e = {.key = stream->key,
                            .have = stream->have + len,
                            .ended = ended,
                            .header_at = stream->header_at,
                            .header_len = stream->header_len,
                            .tally = stream->tally};
    pt_collect_tally_add(&e.tally, data, len);
    bool header = e.tally.header_len > 0 && e.tally.header_at == 0;
    bool named =
        len > 0 && stream->run->last != stream && !header && !tells_rank(stream, data, len);
    int err = pt_collect_one_append(stream->run->one, data, len, named, &e);
    if (err == 0) {
        stream->have = stream->counted = e.have;
        stream->ended = ended;
        stream->header_at = e.header_at;
        stream->header_len = e.header_len;
        stream->tally = e.tally;
        stream->run->last = len > 0 ? stream : stream->run->last;
        if (pt_collect_one_is_long(stream->run->one)) {
            renew_journal(s, stream->run);
        }
    }
    return err;
}

/* A part that was deleted: what it held is not counted, but the names come from the next one. */
static bool pass_over(store_t *s, stream_t *stream) {
    uint64_t next = pt_collect_parts_next(&stream->parts, stream->counted);
    perftrace__strbuf_t copy = PERFTRACE__STRBUF_INIT;
    if (next > stream->have) {
        return false;
    }
    stream->uncounted = true;
    stream->counted = next;
    if (pt_collect_parts_copy(&s->files, &stream->parts, next, &copy) == 0 && copy.len > 0) {
        perftrace__strbuf_clear(&stream->names);
        pt_collect_tally_add(&stream->tally, copy.data, copy.len);
    }
    perftrace__strbuf_free(&copy);
    return true;
}

/* Some of one stream. */
static bool catch_up(store_t *s, stream_t *stream) {
    size_t take = (size_t)PT_MIN(stream->have - stream->counted, PERFTRACE__STREAM_PIECE_MAX);
    int64_t n = pt_collect_parts_read(&s->files, &stream->parts, stream->counted, s->scratch, take);
    const char *eol = n > 0 ? memrchr(s->scratch, '\n', (size_t)n) : NULL;
    if (n == -ENODATA) {
        return pass_over(s, stream);
    }
    if (eol == NULL) {
        return false;
    }
    count(stream, stream->counted, s->scratch, (size_t)(eol - s->scratch) + 1);
    return true;
}

/* 0 or -errno. What each part begins with must be known: all before it is
 * counted, or it is for a later piece. */
static int begin_part_when_due(store_t *s, stream_t *stream) {
    pt_collect_parts_t *p = &stream->parts;
    uint64_t size = stream->have - pt_collect_parts_base(p);
    uint64_t now = perftrace__os_realtime_ns();
    bool due = size > 0 &&
               ((s->o.rotate_size > 0 && size >= s->o.rotate_size) ||
                (s->o.rotate_ns > 0 && now >= p->began_ns && now - p->began_ns >= s->o.rotate_ns));
    for (int i = 0; due && i < AT_ONCE && stream->counted < stream->have; i++) {
        (void)catch_up(s, stream);
    }
    due = due && stream->counted == stream->have;
    int err = due ? pt_collect_parts_add(&s->files, p, stream->have, &stream->names) : 0;
    if (due && err == 0) {
        uint64_t bytes;
        stream->run->expired += pt_collect_parts_expire(p, s->o.keep, s->o.keep_bytes, &bytes);
        stream->run->expired_bytes += bytes;
    }
    return err;
}

static int append(store_t *s, stream_t *stream, const char *data, size_t len) {
    int err = begin_part_when_due(s, stream);
    err =
        err != 0 ? err : pt_collect_parts_write(&s->files, &stream->parts, stream->have, data, len);
    if (err != 0) {
        return err; /* what was written of it is written again */
    }
    count(stream, stream->have, data, len);
    stream->have += len;
    return 0;
}

/* Whether somebody removed or cut the file. *ret_forgotten: nothing of the stream is here any more,
 * and the piece is to be taken again. */
static bool is_gone(store_t *s, stream_t *stream, bool *ret_forgotten) {
    if (pt_collect_is_in_one(s, stream) || !pt_collect_gone_is(stream)) {
        return false;
    }
    (void)pt_collect_gone_forget(s, stream->run);
    *ret_forgotten = !pt_collect_parts_is_open(&stream->parts);
    (void)(*ret_forgotten || pt_collect_store_fails(s, stream, true, -ESTALE));
    return true;
}

/* *ret_gone: see is_gone. */
static pt_collect_result_t take(store_t *s, stream_t *stream, uint64_t offset, const char *data,
                                size_t size, bool last, bool *ret_gone) {
    int err = 0;
    if (!pt_collect_store_is_whole(data, size)) {
        return pt_collect_store_refuse(s, &stream->key, offset, PT_COLLECT_REFUSED_LINE);
    }
    if (!pt_collect_store_place(s, stream)) {
        return PT_COLLECT_AGAIN;
    }
    if (is_gone(s, stream, ret_gone)) {
        return PT_COLLECT_AGAIN;
    }
    if (!pt_collect_store_is_due(s, stream, offset)) {
        stream->run->gaps++;
        return PT_COLLECT_GAP;
    }
    uint64_t end = offset + size;
    pt_collect_result_t result = PT_COLLECT_KNOWN;
    if (pt_collect_is_in_one(s, stream)) {
        bool ended = stream->ended || (last && end >= stream->have);
        size_t known = (size_t)PT_MIN(stream->have - offset, (uint64_t)size);
        if ((known < size || ended != stream->ended) &&
            pt_collect_store_fails(s, stream, true,
                                   append_to_one(s, stream, data + known, size - known, ended))) {
            return PT_COLLECT_AGAIN;
        }
        stream->run->pieces += known < size;
        stream->run->duplicates += size > 0 && known == size;
        return known < size ? PT_COLLECT_WRITTEN : PT_COLLECT_KNOWN;
    }
    if (end > stream->have) {
        size_t known = (size_t)(stream->have - offset);
        if (known > 0 && !is_same(s, stream, offset, data, known, &err)) {
            return err != 0 && pt_collect_store_fails(s, stream, true, err)
                       ? PT_COLLECT_AGAIN
                       : pt_collect_store_refuse(s, &stream->key, offset,
                                                 PT_COLLECT_REFUSED_OVERLAP);
        }
        err = append(s, stream, data + known, size - known);
        /* It may have gone just now. */
        if ((err == -ESTALE && is_gone(s, stream, ret_gone)) ||
            pt_collect_store_fails(s, stream, true, err)) {
            return PT_COLLECT_AGAIN;
        }
        result = PT_COLLECT_WRITTEN;
        stream->run->pieces++;
    } else if (size > 0) {
        stream->run->duplicates++;
    }
    stream->ended = stream->ended || (last && end == stream->have);
    return result;
}

pt_collect_result_t pt_collect_store_take(store_t *s, stream_t *stream, uint64_t offset,
                                          const char *data, size_t size, bool last) {
    bool gone = false;
    pt_collect_result_t result = take(s, stream, offset, data, size, last, &gone);
    return gone ? take(s, stream, offset, data, size, last, &gone) : result;
}

bool pt_collect_store_catch_up(store_t *s) {
    for (run_t *run = s->runs; run != NULL; run = run->next) {
        for (stream_t *stream = run->streams; stream != NULL; stream = stream->next) {
            if (stream->counted < stream->have && catch_up(s, stream)) {
                return true;
            }
        }
    }
    return false;
}
