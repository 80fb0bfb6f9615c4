/* run_profile_yaml.c. SPDX-License-Identifier: MIT */
#include "run_profile_yaml.h"

#include "config_table.h"
#include "option.h"
#include "run_block.h"

#include <stdio.h>
#include <stdlib.h>

/* Keeps where a part of the block stands, for messages about the whole of it. */
static void keep_place(char **target, const char *where) {
    free(*target);
    *target = strdup(where);
}

/* ---- the keys -----------------------------------------------------------------------------------
 */

static void read_backend(pt_block_t *r, const pt_yaml_node_t *node, const char *where) {
    if (pt_yaml_kind(node) == PT_YAML_NULL) {
        return; /* told as missing */
    }
    char *name = pt_yaml_kind(node) < PT_YAML_LIST ? pt_block_text(r, node, where) : NULL;
    if (pt_yaml_kind(node) >= PT_YAML_LIST) {
        pt_block_wrong_kind(r, node, where, "the name of a backend");
    } else if (name) {
        r->profile->backend = pt_backend_of(name);
        if (r->profile->backend == PT_BACKEND_UNSET) {
            perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
            pt_backend_put_names(&names, name);
            pt_run_error(r->problems, where, "there is no backend \"%s\"; known are %s", name,
                         perftrace__strbuf_cstr(&names));
            perftrace__strbuf_free(&names);
        }
    }
    free(name);
}

static void read_enabled(pt_block_t *r, const pt_yaml_node_t *node, const char *where) {
    char *text = pt_yaml_kind(node) < PT_YAML_LIST ? pt_block_text(r, node, where) : NULL;
    pt_yaml_kind_t kind = pt_yaml_kind(node);
    if (kind == PT_YAML_TEXT && text) {
        kind = pt_yaml_plain_kind(text); /* "${other}" */
    }
    if (kind == PT_YAML_BOOL && text) {
        r->profile->enabled = pt_yaml_is_true(text);
    } else if (kind != PT_YAML_NULL && (text || kind >= PT_YAML_LIST)) {
        pt_block_wrong_kind(r, node, where, "true or false");
    }
    free(text);
}

static void read_groups(pt_block_t *r, const pt_yaml_node_t *node) {
    if (pt_yaml_kind(node) != PT_YAML_NULL) {
        r->profile->has_groups = true;
        pt_block_names(r, node, "worker_groups", &r->profile->groups);
    }
}

static void read_steps(pt_block_t *r, const pt_yaml_node_t *node) {
    if (pt_yaml_kind(node) == PT_YAML_NULL) {
        return;
    }
    if (pt_yaml_kind(node) != PT_YAML_LIST) {
        pt_block_wrong_kind(r, node, pt_block_place(r, node, "steps", NULL), "a list of steps");
        return;
    }
    r->profile->has_steps = true;
    r->profile->step_count = 0;
    for (size_t i = 0; i < pt_yaml_count(node); i++) {
        const pt_yaml_node_t *item = pt_yaml_item(r->yaml, node, i);
        const char *where = pt_block_place(r, item, "steps", NULL);
        char *text = pt_yaml_kind(item) < PT_YAML_LIST ? pt_block_text(r, item, where) : NULL;
        if (pt_yaml_kind(item) >= PT_YAML_LIST) {
            pt_block_wrong_kind(r, item, where, "a list of steps");
        } else if (text && !pt_run_profile_add_step(r->profile, text)) {
            pt_run_error(r->problems, where, "\"%s\" is no step: steps are whole numbers from 0",
                         text);
        }
        free(text);
    }
}

static void read_output_dir(pt_block_t *r, const pt_yaml_node_t *node, const char *where) {
    pt_yaml_kind_t kind = pt_yaml_kind(node);
    if (kind == PT_YAML_NULL) {
        return;
    }
    if (kind >= PT_YAML_LIST) {
        pt_block_wrong_kind(r, node, where, "the path of a directory");
        return;
    }
    char *text = pt_block_text(r, node, where);
    if (text && !*text) {
        pt_run_error(r->problems, where, "an empty path");
    } else if (text) {
        free(r->profile->output_dir);
        r->profile->output_dir = text;
        text = NULL;
    }
    free(text);
}

/* ---- the block ----------------------------------------------------------------------------------
 */

static bool is_key_of(int backend, const char *key) {
    const pt_backend_info_t *info = &pt_backends[backend];
    return strcmp(key, info->options_key) == 0 || (info->takes_flags && strcmp(key, "flags") == 0);
}

static void unknown_key(pt_block_t *r, const pt_yaml_node_t *node, const char *key) {
    static const char *const keys[] = {"backend", "enabled", "worker_groups", "steps", "output_dir",
                                       "env",     "options", "flags",         "args"};
    const char *where = pt_block_place(r, node, key, NULL);
    perftrace__strbuf_t owners = PERFTRACE__STRBUF_INIT;
    for (int i = 0; i < PT_BACKEND_COUNT; i++) {
        if (is_key_of(i, key)) {
            perftrace__strbuf_printf(&owners, "%s%s", owners.len ? ", " : "", pt_backends[i].name);
        }
    }
    if (owners.len) {
        pt_run_error(r->problems, where, "backend %s has no %s; it belongs to %s",
                     pt_backends[r->profile->backend].name, key, perftrace__strbuf_cstr(&owners));
    } else {
        int nearest = pt_nearest_name(key, keys, PT_ARRAY_LEN(keys));
        pt_run_error(r->problems, where, "there is no such key%s%s%s", nearest >= 0 ? "; is " : "",
                     nearest >= 0 ? keys[nearest] : "", nearest >= 0 ? " meant?" : "");
    }
    perftrace__strbuf_free(&owners);
}

static void read_key(pt_block_t *r, const pt_yaml_node_t *name, const pt_yaml_node_t *value,
                     int own_backend) {
    const char *key = pt_yaml_text(name);
    pt_run_profile_t *profile = r->profile;
    if (strcmp(key, "backend") == 0) {
        return; /* read before */
    }
    if (strcmp(key, "enabled") == 0) {
        read_enabled(r, value, pt_block_place(r, value, key, NULL));
    } else if (strcmp(key, "worker_groups") == 0) {
        read_groups(r, value);
    } else if (strcmp(key, "steps") == 0) {
        read_steps(r, value);
    } else if (strcmp(key, "output_dir") == 0) {
        read_output_dir(r, value, pt_block_place(r, value, key, NULL));
    } else if (strcmp(key, "env") == 0) {
        pt_block_settings(r, value, key, &profile->env);
    } else if (own_backend != PT_BACKEND_UNSET && own_backend != profile->backend &&
               is_key_of(own_backend, key)) {
        return; /* of the backend that the command line replaced */
    } else if (!is_key_of(profile->backend, key)) {
        unknown_key(r, name, key);
    } else if (strcmp(key, "flags") == 0) {
        keep_place(&profile->flags_place, pt_block_place(r, value, key, NULL));
        if (pt_yaml_kind(value) != PT_YAML_NULL) {
            pt_block_names(r, value, key, &profile->flags);
        }
    } else {
        keep_place(&profile->options_place, pt_block_place(r, value, key, NULL));
        pt_block_settings(r, value, key, &profile->options);
    }
}

#define KEYS_MAX 1000

static void read_block(pt_block_t *r, const pt_yaml_node_t *block) {
    if (pt_yaml_kind(block) != PT_YAML_MAP) {
        pt_block_wrong_kind(r, block, pt_block_place(r, block, NULL, NULL), "a mapping");
        return;
    }
    if (pt_yaml_count(block) > KEYS_MAX) {
        pt_run_error(r->problems, pt_block_place(r, block, NULL, NULL),
                     "there are more than %d keys", KEYS_MAX);
        return;
    }
    const pt_yaml_node_t *backend = pt_yaml_member(r->yaml, block, "backend");
    if (backend) {
        read_backend(r, backend, pt_block_place(r, backend, "backend", NULL));
    }
    int own_backend = r->profile->backend;
    if (r->file->backend != PT_BACKEND_UNSET) {
        r->profile->backend = r->file->backend;
    }
    if (r->profile->backend == PT_BACKEND_UNSET) {
        if (pt_yaml_kind(backend) <= PT_YAML_NULL) {
            perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
            pt_backend_put_names(&names, "");
            pt_run_error(r->problems, pt_block_place(r, backend ? backend : block, "backend", NULL),
                         "is required: one of %s", perftrace__strbuf_cstr(&names));
            perftrace__strbuf_free(&names);
        }
        return; /* which keys there may be depends on it */
    }
    for (size_t i = 0; i < pt_yaml_count(block); i++) {
        const pt_yaml_node_t *name = pt_yaml_key(r->yaml, block, i);
        const pt_yaml_node_t *value = pt_yaml_item(r->yaml, block, i);
        /* The tree gives the last of equal keys. */
        if (pt_yaml_member(r->yaml, block, pt_yaml_text(name)) != value && *pt_yaml_text(name)) {
            pt_run_error(r->problems, pt_block_place(r, name, pt_yaml_text(name), NULL),
                         "given twice");
        } else {
            read_key(r, name, value, own_backend);
        }
    }
}

static const pt_yaml_node_t *find_block(pt_block_t *r) {
    const pt_yaml_node_t *root = pt_yaml_root(r->yaml);
    const pt_yaml_node_t *cluster = pt_yaml_member(r->yaml, root, "cluster");
    const pt_yaml_node_t *block = pt_yaml_member(r->yaml, cluster, "profiling");
    r->block = "cluster.profiling";
    if (!block) {
        block = pt_yaml_member(r->yaml, root, "profiling");
        r->block = "profiling";
    }
    if (!block && pt_yaml_member(r->yaml, root, "backend")) {
        block = root;
        r->block = "";
    }
    return pt_yaml_kind(block) == PT_YAML_NULL ? NULL : block;
}

/* <log_path>/<experiment>/profiling. */
static void derive_output_dir(pt_block_t *r) {
    const pt_yaml_node_t *root = pt_yaml_root(r->yaml);
    const pt_yaml_node_t *logger =
        pt_yaml_member(r->yaml, pt_yaml_member(r->yaml, root, "runner"), "logger");
    const pt_yaml_node_t *log_path = pt_yaml_member(r->yaml, logger, "log_path");
    const pt_yaml_node_t *experiment = pt_yaml_member(r->yaml, logger, "experiment_name");
    if (r->profile->output_dir || !*pt_yaml_text(log_path) || !*pt_yaml_text(experiment) ||
        pt_yaml_kind(log_path) == PT_YAML_NULL || pt_yaml_kind(experiment) == PT_YAML_NULL) {
        return;
    }
    r->block = "runner.logger";
    char *path = pt_block_text(r, log_path, pt_block_place(r, log_path, "log_path", NULL));
    char *name =
        pt_block_text(r, experiment, pt_block_place(r, experiment, "experiment_name", NULL));
    perftrace__strbuf_t dir = PERFTRACE__STRBUF_INIT;
    if (path && name) {
        perftrace__strbuf_printf(&dir, "%s/%s/profiling", path, name);
        r->profile->output_dir = strdup(perftrace__strbuf_cstr(&dir));
    }
    perftrace__strbuf_free(&dir);
    free(path);
    free(name);
}

bool pt_run_profile_read_yaml(const pt_run_profile_file_t *file, pt_run_profile_t *profile,
                              pt_run_problems_t *problems, bool *ret_found, bool *ret_tracer) {
    pt_block_t r = {.file = file,
                    .doc = PERFTRACE__CONFIG_DOC_INIT,
                    .profile = profile,
                    .problems = problems,
                    .place = PERFTRACE__STRBUF_INIT};
    perftrace__strbuf_t why = PERFTRACE__STRBUF_INIT;
    size_t line = 0;
    *ret_found = *ret_tracer = false;
    r.yaml = pt_yaml_parse(file->text, file->len, &line, &why);
    if (!r.yaml) {
        char where[512];
        snprintf(where, sizeof(where), line ? "%s:%zu" : "%s", file->name, line);
        pt_run_error(problems, where, "%s", perftrace__strbuf_cstr(&why));
        perftrace__strbuf_free(&why);
        return false;
    }
    /* What it has to say concerns the tracer's section, which is not read here. */
    perftrace__config_doc_parse(file->text, file->len, file->name, &r.doc, NULL);
    *ret_tracer = perftrace__config_doc_find(&r.doc, PERFTRACE__CONFIG_SECTION) != NULL;
    const pt_yaml_node_t *block = find_block(&r);
    *ret_found = block != NULL;
    if (block) {
        read_block(&r, block);
        derive_output_dir(&r);
    }
    profile->failed =
        profile->failed || r.place.failed || profile->options.failed || profile->env.failed;
    perftrace__strbuf_free(&r.place);
    perftrace__config_doc_free(&r.doc);
    pt_yaml_free(r.yaml);
    return true;
}
