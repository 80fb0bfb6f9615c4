/* run_yaml.c: libyaml's document. SPDX-License-Identifier: MIT */
#include "run_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

struct pt_yaml {
    yaml_document_t document;
};

/* A node is libyaml's own; the type only keeps it apart. */
static const yaml_node_t *inner(const pt_yaml_node_t *node) {
    return (const yaml_node_t *)(const void *)node;
}

static const pt_yaml_node_t *outer(const yaml_node_t *node) {
    return (const pt_yaml_node_t *)(const void *)node;
}

/* libyaml looks nodes up in documents that are not const. */
static const pt_yaml_node_t *node_at(const pt_yaml_t *yaml, int index) {
    return outer(yaml_document_get_node((yaml_document_t *)(uintptr_t)&yaml->document, index));
}

/* ---- what is too much ----
 *
 * libyaml takes a time that grows with the square of the depth and of the number of anchors: its
 * events are looked at first, which ends at the first that is too much. */

#define DEPTH_MAX   64
#define ANCHORS_MAX 1000

typedef struct look {
    int depth, anchors, documents;
} look_t;

static bool holds_nul(const yaml_event_t *e) {
    return e->type == YAML_SCALAR_EVENT &&
           memchr(e->data.scalar.value, '\0', e->data.scalar.length) != NULL;
}

static const char *fault_of(look_t *look, const yaml_event_t *e) {
    const bool begins = e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT;
    const bool ends = e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT;
    look->depth += begins - ends;
    look->documents += e->type == YAML_DOCUMENT_START_EVENT;
    look->anchors += (e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
                     (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor) ||
                     (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor);
    return look->depth > DEPTH_MAX       ? "lists and mappings are nested too deeply"
           : look->anchors > ANCHORS_MAX ? "there are too many anchors"
           : look->documents > 1         ? "there is a second document; one file holds one"
           : holds_nul(e)                ? "there is a NUL in a text"
                                         : NULL;
}

/* False: *ret_line and ret_problem say why. What libyaml itself refuses is left to it. */
static bool look_through(const char *text, size_t len, size_t *ret_line,
                         perftrace__strbuf_t *ret_problem) {
    yaml_parser_t parser;
    look_t look = {0, 0, 0};
    const char *fault = NULL;
    bool more = true;
    if (!yaml_parser_initialize(&parser)) {
        perftrace__strbuf_puts(ret_problem, "out of memory");
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    while (more && !fault) {
        yaml_event_t event;
        more = yaml_parser_parse(&parser, &event);
        if (more) {
            fault = fault_of(&look, &event);
            *ret_line = fault ? event.start_mark.line + 1 : 0;
            more = event.type != YAML_STREAM_END_EVENT;
            yaml_event_delete(&event);
        }
    }
    yaml_parser_delete(&parser);
    if (fault) {
        perftrace__strbuf_puts(ret_problem, fault);
    }
    return !fault;
}

pt_yaml_t *pt_yaml_parse(const char *text, size_t len, size_t *ret_line,
                         perftrace__strbuf_t *ret_problem) {
    yaml_parser_t parser;
    *ret_line = 0;
    pt_yaml_t *yaml = calloc(1, sizeof(*yaml));
    if (len > PT_YAML_TEXT_MAX) {
        perftrace__strbuf_puts(ret_problem, "larger than 1 MiB");
        free(yaml);
        return NULL;
    }
    if (yaml && !look_through(text, len, ret_line, ret_problem)) {
        free(yaml);
        return NULL;
    }
    if (!yaml || !yaml_parser_initialize(&parser)) {
        perftrace__strbuf_puts(ret_problem, "out of memory");
        free(yaml);
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (!yaml_parser_load(&parser, &yaml->document)) {
        *ret_line = parser.problem_mark.line + 1;
        perftrace__strbuf_puts(ret_problem, parser.problem ? parser.problem : "not YAML or JSON");
        free(yaml);
        yaml = NULL;
    }
    yaml_parser_delete(&parser);
    return yaml;
}

void pt_yaml_free(pt_yaml_t *yaml) {
    if (yaml) {
        yaml_document_delete(&yaml->document);
        free(yaml);
    }
}

const pt_yaml_node_t *pt_yaml_root(const pt_yaml_t *yaml) {
    return outer(yaml_document_get_root_node((yaml_document_t *)(uintptr_t)&yaml->document));
}

const char *pt_yaml_kind_text(pt_yaml_kind_t kind) {
    static const char *const texts[] = {"nothing", "null",   "true or false", "a whole number",
                                        "a text",  "a list", "a mapping"};
    return texts[kind];
}

static bool is_one_of(const char *text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool pt_yaml_is_true(const char *text) {
    return strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 ||
           strcasecmp(text, "on") == 0;
}

pt_yaml_kind_t pt_yaml_plain_kind(const char *text) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const bools[] = {"true", "True", "TRUE", "yes",   "Yes",   "YES",
                                        "on",   "On",   "ON",   "false", "False", "FALSE",
                                        "no",   "No",   "NO",   "off",   "Off",   "OFF"};
    if (is_one_of(text, nulls, PT_ARRAY_LEN(nulls))) {
        return PT_YAML_NULL;
    }
    if (is_one_of(text, bools, PT_ARRAY_LEN(bools))) {
        return PT_YAML_BOOL;
    }
    const char *digits = text + (*text == '-' || *text == '+');
    return *digits && strspn(digits, "0123456789") == strlen(digits) ? PT_YAML_NUMBER
                                                                     : PT_YAML_TEXT;
}

pt_yaml_kind_t pt_yaml_kind(const pt_yaml_node_t *node) {
    const yaml_node_t *n = inner(node);
    if (!n || n->type == YAML_NO_NODE) {
        return PT_YAML_NONE;
    }
    if (n->type != YAML_SCALAR_NODE) {
        return n->type == YAML_SEQUENCE_NODE ? PT_YAML_LIST : PT_YAML_MAP;
    }
    return n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? pt_yaml_plain_kind(pt_yaml_text(node))
                                                           : PT_YAML_TEXT;
}

const char *pt_yaml_text(const pt_yaml_node_t *node) {
    const yaml_node_t *n = inner(node);
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

size_t pt_yaml_line(const pt_yaml_node_t *node) {
    return node ? inner(node)->start_mark.line + 1 : 0;
}

size_t pt_yaml_count(const pt_yaml_node_t *node) {
    const yaml_node_t *n = inner(node);
    if (n && n->type == YAML_SEQUENCE_NODE) {
        return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    }
    if (n && n->type == YAML_MAPPING_NODE) {
        return (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
    }
    return 0;
}

const pt_yaml_node_t *pt_yaml_item(const pt_yaml_t *yaml, const pt_yaml_node_t *node,
                                   size_t index) {
    const yaml_node_t *n = inner(node);
    return node_at(yaml, n->type == YAML_SEQUENCE_NODE ? n->data.sequence.items.start[index]
                                                       : n->data.mapping.pairs.start[index].value);
}

const pt_yaml_node_t *pt_yaml_key(const pt_yaml_t *yaml, const pt_yaml_node_t *node, size_t index) {
    return node_at(yaml, inner(node)->data.mapping.pairs.start[index].key);
}

const pt_yaml_node_t *pt_yaml_member(const pt_yaml_t *yaml, const pt_yaml_node_t *node,
                                     const char *key) {
    const pt_yaml_node_t *found = NULL;
    for (size_t i = 0; pt_yaml_kind(node) == PT_YAML_MAP && i < pt_yaml_count(node); i++) {
        const pt_yaml_node_t *name = pt_yaml_key(yaml, node, i);
        if (pt_yaml_kind(name) < PT_YAML_LIST && strcmp(pt_yaml_text(name), key) == 0) {
            found = pt_yaml_item(yaml, node, i);
        }
    }
    return found;
}
