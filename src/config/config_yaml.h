/* config_yaml.h: the values of a YAML or JSON text by dotted path. SPDX-License-Identifier: MIT
 *
 * The only file that knows libyaml is config_yaml.c. Of YAML it takes mappings, scalars and lists
 * of scalars in the first document. Anchors and aliases of scalars work; what it cannot represent
 * (aliases and anchors of collections, merge keys, tags other than YAML's own, nested lists) is
 * named with its line where it concerns the tracer's section, and passed over elsewhere. Values may
 * hold
 * ${other.key} (a scalar of the same text, as OmegaConf writes it), ${oc.env:NAME} and
 * ${oc.env:NAME,default}. */
#ifndef PERFTRACE_CONFIG_YAML_H
#define PERFTRACE_CONFIG_YAML_H

#include "hashmap.h"
#include "rank_detect.h"
#include "strbuf.h"

#define PERFTRACE__CONFIG_FILE_MAX (1u << 20) /* bytes of a configuration file */

typedef enum perftrace__entry_kind {
    PERFTRACE__ENTRY_SCALAR,
    PERFTRACE__ENTRY_NULL,
    PERFTRACE__ENTRY_LIST,   /* value: the items joined by commas */
    PERFTRACE__ENTRY_MAP,    /* no value */
    PERFTRACE__ENTRY_REFUSED /* already named in a message */
} perftrace__entry_kind_t;

typedef struct perftrace__entry {
    char *path;  /* "perf_tracer.session_tracer.enabled" */
    char *value; /* never NULL */
    size_t line; /* from 1 */
    perftrace__entry_kind_t kind;
} perftrace__entry_t;

typedef struct perftrace__config_doc {
    perftrace__entry_t *entries;
    size_t count, cap;
    perftrace__hashmap_t index; /* path to index in entries; of two equal paths the later one */
} perftrace__config_doc_t;

#define PERFTRACE__CONFIG_DOC_INIT                                                                 \
    { NULL, 0, 0, PERFTRACE__HASHMAP_INIT }

/* Reads text[0..len) into *ret, which must be initialised. `name` names the text in messages.
 * PERFTRACE_OK; PERFTRACE_ERR_PARSE, PERFTRACE_ERR_TOO_LONG (too large, deep or many) with a
 * message and an empty *ret; PERFTRACE_ERR_NOMEM. */
int perftrace__config_doc_parse(const char *text, size_t len, const char *name,
                                perftrace__config_doc_t *ret, perftrace__strbuf_t *msgs);

/* Reads a file in the same way; also PERFTRACE_ERR_NOT_FOUND, _DENIED, _IO with a message. Never
 * waits on a pipe or device: only regular files are read. */
int perftrace__config_doc_read(const char *path, perftrace__config_doc_t *ret,
                               perftrace__strbuf_t *msgs);

/* The entry of a path, or NULL. */
const perftrace__entry_t *perftrace__config_doc_find(const perftrace__config_doc_t *doc,
                                                     const char *path);

/* Appends value with its ${...} resolved: a scalar of the document, else the environment variable
 * of that name. Returns PERFTRACE_OK, PERFTRACE_ERR_NOT_FOUND (*ret_name is the one that is
 * neither, an allocated string, NULL without memory), PERFTRACE_ERR_TOO_LONG (a circle, or absurdly
 * large) or PERFTRACE_ERR_NOMEM. */
int perftrace__config_doc_interpolate(const perftrace__config_doc_t *doc, const char *value,
                                      perftrace__getenv_fn get, void *user,
                                      perftrace__strbuf_t *out, char **ret_name);

/* Frees; usable again. Accepts NULL. */
void perftrace__config_doc_free(perftrace__config_doc_t *doc);

#endif
