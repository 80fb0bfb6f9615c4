/* run_block.c. SPDX-License-Identifier: MIT */
#include "run_block.h"

#include <perftrace/status.h>

#include <stdlib.h>

const char *pt_block_place(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                           const char *name) {
    perftrace__strbuf_clear(&r->place);
    perftrace__strbuf_printf(&r->place, "%s:%zu: %s%s%s%s%s", r->file->name, pt_yaml_line(node),
                             r->block, *r->block && key ? "." : "", key ? key : "", name ? "." : "",
                             name ? name : "");
    return perftrace__strbuf_cstr(&r->place);
}

char *pt_block_text(pt_block_t *r, const pt_yaml_node_t *node, const char *where) {
    const char *text = pt_yaml_text(node);
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    char *unknown = NULL;
    char *copy = NULL;
    int status = perftrace__config_doc_interpolate(&r->doc, text, r->file->get, r->file->user, &out,
                                                   &unknown);
    if (status == PERFTRACE_OK) {
        copy = strdup(perftrace__strbuf_cstr(&out));
    } else if (status == PERFTRACE_ERR_NOT_FOUND) {
        pt_run_error(r->problems, where, "${%s} is neither a value of the file nor a variable",
                     unknown ? unknown : "");
    } else {
        pt_run_error(r->problems, where, "the ${...} in it refer in a circle or become too long");
    }
    r->profile->failed = r->profile->failed || (status == PERFTRACE_OK && !copy);
    free(unknown);
    perftrace__strbuf_free(&out);
    return copy;
}

void pt_block_wrong_kind(pt_block_t *r, const pt_yaml_node_t *node, const char *where,
                         const char *wanted) {
    pt_run_error(r->problems, where, "must be %s, this is %s", wanted,
                 pt_yaml_kind_text(pt_yaml_kind(node)));
}

/* A command line takes no more, and they are looked up one by one. */
#define SETTINGS_MAX 1000

void pt_block_names(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                    pt_string_list_t *list) {
    bool is_list = pt_yaml_kind(node) == PT_YAML_LIST;
    size_t n = is_list ? pt_yaml_count(node) : 1;
    pt_string_list_free(list);
    if (pt_yaml_kind(node) == PT_YAML_MAP) {
        pt_block_wrong_kind(r, node, pt_block_place(r, node, key, NULL),
                            "a name or a list of names");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const pt_yaml_node_t *item = is_list ? pt_yaml_item(r->yaml, node, i) : node;
        const char *where = pt_block_place(r, item, key, NULL);
        if (pt_yaml_kind(item) >= PT_YAML_LIST || pt_yaml_kind(item) == PT_YAML_NULL) {
            pt_block_wrong_kind(r, item, where, "a name or a list of names");
            continue;
        }
        char *text = pt_block_text(r, item, where);
        if (text && !*text) {
            pt_run_error(r->problems, where, "an empty name");
        } else if (text) {
            r->profile->failed |= !pt_string_list_add(list, text);
        }
        free(text);
    }
}

void pt_block_settings(pt_block_t *r, const pt_yaml_node_t *node, const char *key,
                       pt_settings_t *settings) {
    if (pt_yaml_kind(node) == PT_YAML_NULL) {
        return;
    }
    if (pt_yaml_kind(node) != PT_YAML_MAP) {
        pt_block_wrong_kind(r, node, pt_block_place(r, node, key, NULL), "a mapping");
        return;
    }
    if (pt_yaml_count(node) > SETTINGS_MAX) {
        pt_run_error(r->problems, pt_block_place(r, node, key, NULL), "there are more than %d",
                     SETTINGS_MAX);
        return;
    }
    for (size_t i = 0; i < pt_yaml_count(node); i++) {
        const pt_yaml_node_t *name = pt_yaml_key(r->yaml, node, i);
        const pt_yaml_node_t *value = pt_yaml_item(r->yaml, node, i);
        pt_yaml_kind_t kind = pt_yaml_kind(value);
        const char *where = pt_block_place(r, name, key, pt_yaml_text(name));
        if (pt_yaml_kind(name) >= PT_YAML_LIST || !*pt_yaml_text(name)) {
            pt_run_error(r->problems, where, "an empty name");
            continue;
        }
        if (settings == &r->profile->env && strchr(pt_yaml_text(name), '=')) {
            pt_run_error(r->problems, where, "the name of a variable has no =");
            continue;
        }
        if (kind >= PT_YAML_LIST) {
            pt_block_wrong_kind(r, value, where, "a single value");
            continue;
        }
        if (kind == PT_YAML_NULL) {
            pt_run_error(r->problems, where, "needs a value%s",
                         pt_backends[r->profile->backend].takes_flags &&
                                 settings == &r->profile->options
                             ? "; names without one belong to flags"
                             : "");
            continue;
        }
        if (pt_settings_find(settings, pt_yaml_text(name))) {
            pt_run_error(r->problems, where, "given twice");
            continue;
        }
        char *text = pt_block_text(r, value, where);
        if (text) {
            pt_settings_put(settings, pt_yaml_text(name), text, where);
            pt_setting_t *put = pt_settings_find(settings, pt_yaml_text(name));
            if (put) {
                put->is_text = kind == PT_YAML_TEXT && !strstr(pt_yaml_text(value), "${");
            }
        }
        free(text);
    }
}
