/* problems.h: the book of what was wrong in the inputs. SPDX-License-Identifier: MIT
 *
 * A million lines with the same fault are one line for the reader: each kind is counted per file,
 * and the first occurrence is remembered with its place. "First" is the one with the lowest offset,
 * not the one that was added first, so that the report is the same however many threads found them.
 * All functions are thread-safe except new and free. */
#ifndef PERFTRACE_COMMON_PROBLEMS_H
#define PERFTRACE_COMMON_PROBLEMS_H

#include "compiler.h"
#include "message.h"
#include "strbuf.h"

#include <stdbool.h>

typedef enum pt_problem_weight {
    PT_PROBLEM_NOTE,   /* worth knowing, nothing was wrong: does not fail --strict */
    PT_PROBLEM_MENDED, /* the input was wrong, nothing was lost */
    PT_PROBLEM_SKIPPED /* something of the input is not in the output */
} pt_problem_weight_t;

/* One kind; the caller's X-list becomes an array of these, indexed by the kind. */
typedef struct pt_problem_kind {
    const char *id;   /* "nan_mended": for machine-readable reports */
    const char *text; /* "bare NaN mended" */
    pt_problem_weight_t weight;
} pt_problem_kind_t;

/* What one (kind, file) pair has come to. */
typedef struct pt_problem {
    unsigned kind;
    unsigned file;      /* as pt_problems_add_file numbered it */
    uint64_t count;     /* at least 1 */
    pt_place_t first;   /* first.file is the file's name */
    const char *detail; /* what was given with the first occurrence; NULL: nothing */
} pt_problem_t;

typedef struct pt_problems pt_problems_t;

/* kinds must live as long as the book. NULL without memory. */
pt_problems_t *pt_problems_new(const pt_problem_kind_t *kinds, size_t kind_count);
void pt_problems_free(pt_problems_t *book); /* accepts NULL */

/* Registers an input (the name is copied) and returns its number, counting from 0. Files are
 * reported in this order, so register them in the order of the inputs. Without memory the number of
 * the last registered file is returned and the book says so in its report. */
unsigned pt_problems_add_file(pt_problems_t *book, const char *name);

/* Counts one occurrence. line 0 and offset PT_NO_OFFSET mean not known. detail (may be NULL) is
 * copied, at most 160 bytes of it, and only kept for the first occurrence. */
void pt_problems_add(pt_problems_t *book, unsigned kind, unsigned file, uint64_t line,
                     uint64_t offset, const char *detail);
/* The same for `count` occurrences of which the first is given; 0 does nothing. */
void pt_problems_add_many(pt_problems_t *book, unsigned kind, unsigned file, uint64_t line,
                          uint64_t offset, const char *detail, uint64_t count);

/* How often a kind occurred in all files. */
uint64_t pt_problems_count(const pt_problems_t *book, unsigned kind);
/* Occurrences of all kinds of at least this weight. --strict fails when
 * pt_problems_total(book, PT_PROBLEM_MENDED) is not 0. */
uint64_t pt_problems_total(const pt_problems_t *book, pt_problem_weight_t at_least);

/* Calls fn for every (kind, file) that occurred: kinds in list order, files in registered order. fn
 * must not call back into the book. */
void pt_problems_each(const pt_problems_t *book, void (*fn)(void *ctx, const pt_problem_t *problem),
                      void *ctx);

/* Appends a JSON array with an object for every (kind, file) that occurred: kind, text, file,
 * count, and where known line and offset of the first. */
void pt_problems_json(const pt_problems_t *book, perftrace__strbuf_t *out);

/* Prints every (kind, file) once on standard error, notes as notes, the others as warnings, or as
 * errors with `strict`: warning: traces-r3.jsonl:17 (byte 4711): bare NaN mended: DETAIL (12 times
 * in all) At most max_files files a kind are named (0: all), the others are summed up in one line.
 */
void pt_problems_print(const pt_problems_t *book, bool strict, unsigned max_files);

#endif
