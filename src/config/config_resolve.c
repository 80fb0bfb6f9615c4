/* config_resolve.c: the options in force. SPDX-License-Identifier: MIT */
#include "config_resolve.h"

#include "config_message.h"
#include "config_path.h"
#include "config_yaml.h"
#include "nearest_name.h"
#include "os.h"
#include "rank_detect.h"

#include <perftrace/status.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PREFIX_LEN (sizeof(PERFTRACE__CONFIG_PREFIX) - 1)

typedef struct inputs {
    perftrace_config_t user; /* in this library's size */
    const char *const *env;
    perftrace__config_doc_t doc;
    perftrace__strbuf_t *msgs;
} inputs_t;

static const char *env_get(const char *name, void *user) {
    const char *const *env = user;
    size_t n = strlen(name);
    for (size_t i = 0; env && env[i]; i++) {
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            return env[i] + n + 1;
        }
    }
    return NULL;
}

static const char *env_value(const inputs_t *in, const char *name) {
    const char *v = env_get(name, (void *)(uintptr_t)in->env);
    return v && *v ? v : NULL;
}

/* Reads an option's value from the file. PERFTRACE_ERR_NOT_FOUND when the file has none. */
static int read_from_file(const inputs_t *in, const perftrace__option_t *o, const char *file,
                          perftrace_config_t *c) {
    char path[128];
    snprintf(path, sizeof(path), PERFTRACE__CONFIG_SECTION ".%s", o->key);
    const perftrace__entry_t *e = o->key[0] ? perftrace__config_doc_find(&in->doc, path) : NULL;
    if (!e || e->kind == PERFTRACE__ENTRY_NULL || e->kind == PERFTRACE__ENTRY_REFUSED) {
        return PERFTRACE_ERR_NOT_FOUND;
    }
    perftrace__strbuf_t origin = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t value = PERFTRACE__STRBUF_INIT;
    char *unknown = NULL;
    perftrace__strbuf_printf(&origin, "%s:%zu: %s", file, e->line, e->path);
    bool takes_list = o->type == PERFTRACE__OPTION_LIST || o->type == PERFTRACE__OPTION_RANKS ||
                      o->type == PERFTRACE__OPTION_STEPS;
    int status = PERFTRACE_OK;
    if (e->kind == PERFTRACE__ENTRY_MAP || (e->kind == PERFTRACE__ENTRY_LIST && !takes_list)) {
        perftrace__strbuf_t form = PERFTRACE__STRBUF_INIT;
        perftrace__option_put_form(o, &form);
        perftrace__message_add(in->msgs, PERFTRACE_LOG_WARNING, "%s: a %s is not used here: %s",
                               perftrace__strbuf_cstr(&origin),
                               e->kind == PERFTRACE__ENTRY_MAP ? "mapping" : "list",
                               perftrace__strbuf_cstr(&form));
        perftrace__strbuf_free(&form);
        status = PERFTRACE_ERR_PARSE;
        goto done;
    }
    status = perftrace__config_doc_interpolate(&in->doc, e->value, env_get,
                                               (void *)(uintptr_t)in->env, &value, &unknown);
    if (status == PERFTRACE_OK) {
        status = perftrace__option_read(o, perftrace__strbuf_cstr(&origin),
                                        perftrace__strbuf_cstr(&value), c, in->msgs);
    } else if (status == PERFTRACE_ERR_NOT_FOUND) {
        perftrace__message_add(
            in->msgs, PERFTRACE_LOG_WARNING,
            "%s: ${%s} is neither a value of the file nor a variable, the value is"
            " not used",
            perftrace__strbuf_cstr(&origin), unknown ? unknown : "");
    } else {
        perftrace__message_add(
            in->msgs, PERFTRACE_LOG_WARNING,
            "%s: the ${...} in it refer in a circle or become too long, the value"
            " is not used",
            perftrace__strbuf_cstr(&origin));
    }
done:
    free(unknown);
    perftrace__strbuf_free(&origin);
    perftrace__strbuf_free(&value);
    return status;
}

/* Takes an option from the strongest source that has an acceptable value. PERFTRACE_OK or
 * PERFTRACE_ERR_NOMEM. */
static int resolve_option(const inputs_t *in, const perftrace__option_t *o, const char *file,
                          perftrace__config_t *out) {
    unsigned char *source = &out->source[o - perftrace__options];
    int status = PERFTRACE_ERR_NOT_FOUND;
    *source = PERFTRACE__SOURCE_PROGRAM;
    if (perftrace__option_is_set(o, &in->user)) {
        char origin[96];
        snprintf(origin, sizeof(origin), "perftrace_config_t.%s", o->field);
        status = perftrace__option_copy(o, origin, &in->user, &out->opt, in->msgs);
    }
    const char *text = env_value(in, o->env);
    if (status != PERFTRACE_OK && status != PERFTRACE_ERR_NOMEM && text) {
        *source = PERFTRACE__SOURCE_VARIABLE;
        status = perftrace__option_read(o, o->env, text, &out->opt, in->msgs);
    }
    if (status != PERFTRACE_OK && status != PERFTRACE_ERR_NOMEM) {
        *source = PERFTRACE__SOURCE_FILE;
        status = read_from_file(in, o, file, &out->opt);
    }
    /* An empty directory is none: the default or AReaL's layout is meant. */
    bool no_dir = status == PERFTRACE_OK && o->type == PERFTRACE__OPTION_PATH && o->def[0] &&
                  !perftrace__option_string(o, &out->opt)[0];
    if ((status != PERFTRACE_OK && status != PERFTRACE_ERR_NOMEM) || no_dir) {
        *source = PERFTRACE__SOURCE_DEFAULT;
        status = PERFTRACE_OK;
        if (o->def[0] || perftrace__option_is_string(o)) {
            status = perftrace__option_read(o, o->field, o->def, &out->opt, in->msgs);
        }
    }
    return status;
}

/* The known name nearest to one; NULL when none is near. */
typedef struct nearest {
    const char *name;
    unsigned best_distance;
    const char *best;
} nearest_t;

static nearest_t nearest_to(const char *name) {
    return (nearest_t){name, perftrace__name_distance_limit(strlen(name)) + 1, NULL};
}

static void try_name(nearest_t *n, const char *known) {
    unsigned distance = perftrace__name_distance(n->name, known);
    if (*known && distance < n->best_distance) {
        n->best_distance = distance;
        n->best = known;
    }
}

/* Both are without the prefix. */
static const char *nearest_variable(const char *name) {
#define OTHER(variable, reader) (variable) + PREFIX_LEN,
    static const char *const others[] = {PERFTRACE__CONFIG_OTHERS(OTHER)};
#undef OTHER
    nearest_t n = nearest_to(name);
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        try_name(&n, perftrace__options[i].env + PREFIX_LEN);
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(others); i++) {
        try_name(&n, others[i]);
    }
    return n.best;
}

static const char *nearest_key(const char *name) {
    nearest_t n = nearest_to(name);
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        try_name(&n, perftrace__options[i].key);
    }
    return n.best;
}

static void name_unknown_variables(const inputs_t *in) {
    for (size_t i = 0; in->env && in->env[i]; i++) {
        const char *entry = in->env[i];
        char name[128];
        size_t n = strcspn(entry, "=");
        if (strncmp(entry, PERFTRACE__CONFIG_PREFIX, PREFIX_LEN) != 0 || n >= sizeof(name) ||
            strncmp(entry, PERFTRACE__CONFIG_TEST_PREFIX,
                    sizeof(PERFTRACE__CONFIG_TEST_PREFIX) - 1) == 0) {
            continue;
        }
        memcpy(name, entry, n);
        name[n] = '\0';
        const char *near = nearest_variable(name + PREFIX_LEN);
        if (near && strcmp(near, name + PREFIX_LEN) == 0) {
            continue;
        }
        perftrace__message_add(
            in->msgs, PERFTRACE_LOG_WARNING, "%s is no variable of this library%s%s%s", name,
            near ? "; is " PERFTRACE__CONFIG_PREFIX : "", near ? near : "", near ? " meant?" : "");
    }
}

/* Whether a key is that of a section ("session_tracer"). */
static bool is_group(const char *key) {
    size_t n = strlen(key);
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        if (strncmp(perftrace__options[i].key, key, n) == 0 &&
            perftrace__options[i].key[n] == '.') {
            return true;
        }
    }
    return false;
}

static void name_unknown_keys(const inputs_t *in, const char *file) {
    static const char prefix[] = PERFTRACE__CONFIG_SECTION ".";
    const perftrace__entry_t *section =
        perftrace__config_doc_find(&in->doc, PERFTRACE__CONFIG_SECTION);
    if (!section) {
        perftrace__message_add(in->msgs, PERFTRACE_LOG_WARNING,
                               "%s: has no " PERFTRACE__CONFIG_SECTION " section, nothing is taken"
                               " from it",
                               file);
    } else if (section->kind == PERFTRACE__ENTRY_SCALAR || section->kind == PERFTRACE__ENTRY_LIST) {
        perftrace__message_add(in->msgs, PERFTRACE_LOG_WARNING, "%s:%zu: %s is no mapping", file,
                               section->line, section->path);
    }
    for (size_t i = 0; i < in->doc.count; i++) {
        const perftrace__entry_t *e = &in->doc.entries[i];
        if (strncmp(e->path, prefix, sizeof(prefix) - 1) != 0 ||
            e->kind == PERFTRACE__ENTRY_REFUSED) {
            continue;
        }
        const char *key = e->path + sizeof(prefix) - 1;
        bool empty = e->kind == PERFTRACE__ENTRY_MAP || e->kind == PERFTRACE__ENTRY_NULL;
        if (is_group(key) && empty) {
            continue;
        }
        const char *near = nearest_key(key);
        if (near && strcmp(near, key) == 0) {
            continue;
        }
        perftrace__message_add(in->msgs, PERFTRACE_LOG_WARNING, "%s:%zu: %s is no option%s%s%s",
                               file, e->line, e->path, near ? "; is " : "", near ? near : "",
                               near ? " meant?" : "");
    }
}

static void fill_from_launcher(int *member, unsigned char *source, int value) {
    if (*source == PERFTRACE__SOURCE_DEFAULT && value >= 0) {
        *member = value;
        *source = PERFTRACE__SOURCE_LAUNCHER;
    }
}

static int resolve_rank(const inputs_t *in, perftrace__config_t *out) {
    perftrace__rank_info_t info;
    perftrace_config_t *o = &out->opt;
    bool given = o->rank >= 0;
    perftrace__rank_detect(env_get, (void *)(uintptr_t)in->env, &info, in->msgs);
    if (!given || info.rank == o->rank) {
        /* A launcher that disagrees on the rank speaks of something else. */
        fill_from_launcher(&o->rank, &out->source[PERFTRACE__OPT_rank], info.rank);
        fill_from_launcher(&o->world_size, &out->source[PERFTRACE__OPT_world_size],
                           info.world_size);
        fill_from_launcher(&o->local_rank, &out->source[PERFTRACE__OPT_local_rank],
                           info.local_rank);
        out->launcher = given ? "" : info.launcher;
    }
    if (o->rank >= 0 && o->world_size >= 0 && o->world_size <= o->rank) {
        perftrace__message_add(in->msgs, PERFTRACE_LOG_WARNING,
                               "world_size %d is ignored, the rank is %d", o->world_size, o->rank);
        o->world_size = PERFTRACE_UNSET;
        out->source[PERFTRACE__OPT_world_size] = PERFTRACE__SOURCE_DEFAULT;
    }
    if (!o->run_id[0] && info.run_id[0]) {
        out->source[PERFTRACE__OPT_run_id] = PERFTRACE__SOURCE_LAUNCHER;
        return perftrace__option_read(&perftrace__options[PERFTRACE__OPT_run_id], "run_id",
                                      info.run_id, o, in->msgs);
    }
    return PERFTRACE_OK;
}

/* Copies the program's structure, whatever its size, into one of this library's. */
static int take_user(const perftrace_config_t *user, inputs_t *in) {
    in->user = (perftrace_config_t)PERFTRACE_CONFIG_INIT;
    if (!user) {
        return PERFTRACE_OK;
    }
    if (user->struct_size < sizeof(user->struct_size)) {
        perftrace__message_add(in->msgs, PERFTRACE_LOG_ERROR,
                               "perftrace_config_t has struct_size %zu: initialise it with"
                               " PERFTRACE_CONFIG_INIT",
                               user->struct_size);
        return PERFTRACE_ERR_INVALID;
    }
    /* A member that the program's structure holds only in part does not exist there. */
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        const perftrace__option_t *o = &perftrace__options[i];
        if (o->offset + o->size <= user->struct_size) {
            memcpy((char *)&in->user + o->offset, (const char *)user + o->offset, o->size);
        }
    }
    if (user->struct_size >= offsetof(perftrace_config_t, log_user) + sizeof(user->log_user)) {
        in->user.log = user->log;
        in->user.log_user = user->log_user;
    }
    return PERFTRACE_OK;
}

static int resolve_all(const perftrace_config_t *user, inputs_t *in, perftrace__config_t *out) {
    const perftrace__option_t *options = perftrace__options;
    int status = take_user(user, in);
    if (status != PERFTRACE_OK) {
        return status;
    }
    out->opt.log = in->user.log;
    out->opt.log_user = in->user.log_user;
    status = resolve_option(in, &options[PERFTRACE__OPT_config_path], "", out);
    const char *file = out->opt.config_path;
    if (status == PERFTRACE_OK && file[0]) {
        int got = perftrace__config_doc_read(file, &in->doc, in->msgs);
        if (got == PERFTRACE_OK) {
            name_unknown_keys(in, file);
        }
        status = got == PERFTRACE_ERR_NOMEM ? got : PERFTRACE_OK;
    }
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT && status == PERFTRACE_OK; i++) {
        if (i != PERFTRACE__OPT_config_path) {
            status = resolve_option(in, &options[i], file, out);
        }
    }
    if (status != PERFTRACE_OK) {
        return status;
    }
    name_unknown_variables(in);
    status = resolve_rank(in, out);
    if (status != PERFTRACE_OK) {
        return status;
    }
    char login[256];
    perftrace__os_username(login, sizeof(login));
    return perftrace__config_bind_paths(out, login, in->msgs);
}

int perftrace__config_resolve_env(const perftrace_config_t *user, const char *const *env,
                                  perftrace__config_t *out, perftrace__strbuf_t *msgs) {
    inputs_t in = {PERFTRACE_CONFIG_INIT, env, PERFTRACE__CONFIG_DOC_INIT, msgs};
    *out = (perftrace__config_t)PERFTRACE__CONFIG_INIT;
    int status = resolve_all(user, &in, out);
    if (status != PERFTRACE_OK) {
        out->opt.enabled = 0;
    }
    perftrace__config_doc_free(&in.doc);
    return status;
}

int perftrace__config_resolve(const perftrace_config_t *user, perftrace__config_t *out,
                              perftrace__strbuf_t *msgs) {
    return perftrace__config_resolve_env(user, (const char *const *)environ, out, msgs);
}

void perftrace__config_free(perftrace__config_t *c) {
    if (!c) {
        return;
    }
    for (size_t i = 0; i < PERFTRACE__OPT_COUNT; i++) {
        perftrace__option_free(&perftrace__options[i], &c->opt);
    }
    free(c->trace_dir);
    free(c->session_dir);
    free(c->spool_dir);
    *c = (perftrace__config_t)PERFTRACE__CONFIG_INIT;
}
