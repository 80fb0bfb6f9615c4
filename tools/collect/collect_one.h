/* collect_one.h: the traces of all ranks in one file. SPDX-License-Identifier: MIT
 *
 * What a stream has can not be seen in such a file, so a journal beside it says so: a line for each
 * piece, written once the piece is. On a start the file is cut back to where the last whole line of
 * the journal says that it ends. Where lines do not say whose they are, a copy of their process'
 * header says so; nobody counts the copies. One collector at a time has a run's file, by a lock.
 * Blocks as the file system does. One thread. */
#ifndef PERFTRACE_TOOL_COLLECT_ONE_H
#define PERFTRACE_TOOL_COLLECT_ONE_H

#include "collect_tally.h"
#include "stream_message.h"

typedef struct pt_collect_one pt_collect_one_t;

/* What the journal says of a stream. */
typedef struct pt_collect_entry {
    perftrace__stream_key_t key;
    uint64_t have;
    bool ended;
    uint64_t end;                   /* of the file */
    uint64_t header_at, header_len; /* the stream's last header in the file; len 0: not known */
    pt_collect_tally_t tally;
} pt_collect_entry_t;

/* Appends an entry's line. */
void pt_collect_entry_put(perftrace__strbuf_t *out, const pt_collect_entry_t *entry);
/* Reads a line without its '\n'. */
bool pt_collect_entry_parse(const char *line, size_t len, pt_collect_entry_t *ret);

/* Opens run_dir/name and calls found for each entry of the journal, the last of a stream being the
 * one that counts. 0; -EBUSY: another collector has it; -EEXIST: a file is there that is not ours;
 * or -errno. */
int pt_collect_one_open(const char *run_dir, const char *name,
                        void (*found)(void *ctx, const pt_collect_entry_t *entry), void *ctx,
                        pt_collect_one_t **ret);
void pt_collect_one_close(pt_collect_one_t *one); /* accepts NULL */
/* Appends whole lines of a stream; named: behind a copy of its header, where that is known. entry
 * says what is so afterwards, its tally having seen the lines last; its end and header, which were
 * those before, are brought up to date. 0 or -errno: nothing has changed. */
int pt_collect_one_append(pt_collect_one_t *one, const char *data, size_t len, bool named,
                          pt_collect_entry_t *entry);
/* Whether the journal has become so long that it is to be made anew. */
bool pt_collect_one_is_long(const pt_collect_one_t *one);
/* Makes it anew of the lines of all entries, each with this end. What fails leaves the old one. */
uint64_t pt_collect_one_end(const pt_collect_one_t *one);
void pt_collect_one_renew(pt_collect_one_t *one, const perftrace__strbuf_t *lines);
/* Both to the disk. 0 or -errno. */
int pt_collect_one_sync(pt_collect_one_t *one);

#endif
