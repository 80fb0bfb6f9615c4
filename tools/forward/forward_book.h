/* forward_book.h: the files that are known, each once. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_FORWARD_BOOK_H
#define PERFTRACE_TOOL_FORWARD_BOOK_H

#include "forward_entry.h"
#include "forward_options.h"
#include "hashmap.h"
#include "paths.h"

typedef struct pt_forward_book {
    pt_forward_entry_t *items; /* in the order found; they move when one is added */
    size_t count;
    size_t cap;
    size_t ready;                   /* of them, in that state */
    perftrace__hashmap_t by_file;   /* device and inode to index */
    perftrace__hashmap_t by_stream; /* to index */
    pt_string_list_t told;          /* rings whose failure was told */
    pt_exit_t worst;                /* of what was wrong with operands; OUT of memory: INTERNAL */
    bool searched;
} pt_forward_book_t;

/* Recovers what killed processes left, as the options say, finds the files that the operands name,
 * and looks at those that are new or have changed. The first time what is wrong is told. Blocks on
 * the file system. */
void pt_forward_book_search(pt_forward_book_t *book, const pt_forward_options_t *o,
                            const pt_string_list_t *operands);
/* Changes a state; ready is kept right. */
void pt_forward_book_set(pt_forward_book_t *book, size_t index, pt_forward_state_t state,
                         const char *why);
/* Bytes that are complete and not known to be at the other side. */
uint64_t pt_forward_book_left(const pt_forward_book_t *book);
void pt_forward_book_free(pt_forward_book_t *book);

#endif
