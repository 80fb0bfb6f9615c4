/* run_yaml.h: a YAML or JSON text as a tree, each node with its line. SPDX-License-Identifier: MIT
 *
 * The tracer's own options are flat and read by config_yaml; a launch needs the order of mappings,
 * keys with dots, and lists as lists. Aliases work (a node may be reached in several ways); merge
 * keys do not. Only run_yaml.c knows libyaml here. Pure; a parsed tree may be read by many threads.
 */
#ifndef PERFTRACE_TOOL_RUN_YAML_H
#define PERFTRACE_TOOL_RUN_YAML_H

#include "strbuf.h"

#define PT_YAML_TEXT_MAX (1U << 20) /* bytes of a text */

typedef enum pt_yaml_kind {
    PT_YAML_NONE, /* there is no such node */
    PT_YAML_NULL,
    PT_YAML_BOOL,   /* as YAML 1.1 has it: true, yes, on, false, no, off, unquoted */
    PT_YAML_NUMBER, /* looks like a whole number, unquoted */
    PT_YAML_TEXT,
    PT_YAML_LIST,
    PT_YAML_MAP
} pt_yaml_kind_t;

typedef struct pt_yaml pt_yaml_t;
typedef struct pt_yaml_node pt_yaml_node_t; /* lives as long as its tree; NULL is no node */

/* Parses the document of text[0..len). NULL when it is none, or has more than one document, more
 * than 64 levels or 1,000 anchors, or a text with a NUL: *ret_line (0: not known) and ret_problem
 * say what is wrong. An empty text has no root. */
pt_yaml_t *pt_yaml_parse(const char *text, size_t len, size_t *ret_line,
                         perftrace__strbuf_t *ret_problem);
void pt_yaml_free(pt_yaml_t *yaml); /* accepts NULL */

const pt_yaml_node_t *pt_yaml_root(const pt_yaml_t *yaml);
/* What it is, in words: "a list". */
const char *pt_yaml_kind_text(pt_yaml_kind_t kind);
pt_yaml_kind_t pt_yaml_kind(const pt_yaml_node_t *node);
/* A scalar's text; "" for anything else. */
const char *pt_yaml_text(const pt_yaml_node_t *node);
/* From 1. */
size_t pt_yaml_line(const pt_yaml_node_t *node);
/* Whether a text of kind BOOL means true. */
bool pt_yaml_is_true(const char *text);
/* The kind that a plain (unquoted) scalar has. */
pt_yaml_kind_t pt_yaml_plain_kind(const char *text);

/* Members of a mapping or elements of a list; 0 for anything else. */
size_t pt_yaml_count(const pt_yaml_node_t *node);
/* The element, or the value of the member. */
const pt_yaml_node_t *pt_yaml_item(const pt_yaml_t *yaml, const pt_yaml_node_t *node, size_t index);
const pt_yaml_node_t *pt_yaml_key(const pt_yaml_t *yaml, const pt_yaml_node_t *node, size_t index);
/* The value of a key (of equal ones the last), or NULL. */
const pt_yaml_node_t *pt_yaml_member(const pt_yaml_t *yaml, const pt_yaml_node_t *node,
                                     const char *key);

#endif
