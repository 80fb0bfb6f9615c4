/* json_doc.h: small JSON documents as a tree. SPDX-License-Identifier: MIT
 *
 * For configuration, HTTP bodies and tables; traces are read by json_scan. The text is validated by
 * json_scan first, so that what is accepted and where an error lies is the same everywhere. A
 * loaded document is read-only: many threads may read it. Numbers keep all 64 bits; the locale
 * plays no part. */
#ifndef PERFTRACE_JSON_DOC_H
#define PERFTRACE_JSON_DOC_H

#include "json_scan.h"

typedef struct perftrace__json_doc perftrace__json_doc_t;
typedef struct perftrace__json_node perftrace__json_node_t; /* a value in a document; never freed */

typedef struct perftrace__json_doc_error {
    int code;      /* PERFTRACE__JSON_E_ */
    size_t offset; /* bytes */
    size_t line;   /* from 1 */
    size_t column; /* from 1, in bytes */
} perftrace__json_doc_error_t;

/* Loads text[0..len) (copied). limit: the largest length accepted, 0 for 16 MiB. NULL on an error:
 * ret_error (may be NULL) says which: TOO_LARGE, NO_MEMORY or what json_scan found. A leading byte
 * order mark is skipped (editors on Windows write one in configuration files). Blocks only for
 * another load in progress. */
perftrace__json_doc_t *perftrace__json_doc_load(const char *text, size_t len, size_t limit,
                                                perftrace__json_doc_error_t *ret_error);
/* Frees the document and all its nodes. Accepts NULL. */
void perftrace__json_doc_free(perftrace__json_doc_t *doc);

/* The document's value. */
const perftrace__json_node_t *perftrace__json_doc_root(const perftrace__json_doc_t *doc);
/* Whether a key or string of it has a \u0000, at which the functions below end it. */
bool perftrace__json_doc_has_nul(const perftrace__json_doc_t *doc);
/* The node at a dotted path of keys and array indexes below node ("trainer.ranks.0"; "" is node
 * itself); of equal keys the last. NULL when there is none or node is NULL. Keys that hold dots are
 * reached by perftrace__json_node_member. */
const perftrace__json_node_t *perftrace__json_node_at(const perftrace__json_node_t *node,
                                                      const char *path);
const perftrace__json_node_t *perftrace__json_node_member(const perftrace__json_node_t *node,
                                                          const char *key);
/* NONE for NULL. */
perftrace__json_type_t perftrace__json_node_type(const perftrace__json_node_t *node);
/* Its key when it is a member of an object, else NULL. Lives as long as the document. */
const char *perftrace__json_node_key(const perftrace__json_node_t *node);
/* Members or elements, 0 for anything else. Walks them. */
size_t perftrace__json_node_count(const perftrace__json_node_t *node);
/* for (n = perftrace__json_node_first(parent); n; n = perftrace__json_node_next(n)): the members or
 * elements in order; NULL for anything else. */
const perftrace__json_node_t *perftrace__json_node_first(const perftrace__json_node_t *node);
const perftrace__json_node_t *perftrace__json_node_next(const perftrace__json_node_t *node);

/* Each reads the value at a path below node; false, and *ret untouched, when there is none or it is
 * of another type. No conversions between strings, numbers and booleans; an integer is any number
 * without fraction that fits. A string lives as long as the document and ends at its first \u0000.
 */
bool perftrace__json_get_string(const perftrace__json_node_t *node, const char *path,
                                const char **ret);
bool perftrace__json_get_i64(const perftrace__json_node_t *node, const char *path, int64_t *ret);
bool perftrace__json_get_double(const perftrace__json_node_t *node, const char *path, double *ret);
bool perftrace__json_get_bool(const perftrace__json_node_t *node, const char *path, bool *ret);

#endif
