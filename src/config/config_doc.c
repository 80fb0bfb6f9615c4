/* config_doc.c: reading a configuration file, looking up and interpolating its values.
 * SPDX-License-Identifier: MIT */
#include "config_message.h"
#include "config_yaml.h"
#include "status_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULT_MAX  32768 /* bytes of one value after interpolation */
#define NESTING_MAX 8     /* values that refer to values */
#define STEPS_MAX   256   /* references followed for one value, so that crafted files stay cheap */

int perftrace__config_doc_read(const char *path, perftrace__config_doc_t *ret,
                               perftrace__strbuf_t *msgs) {
    int status = PERFTRACE_OK;
    const char *why = NULL;
    char *text = NULL;
    struct stat st;
    /* O_NONBLOCK: opening a pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        status = perftrace__status_from_errno(errno);
        why = strerror(errno);
        goto done;
    }
    if (!S_ISREG(st.st_mode)) {
        status = PERFTRACE_ERR_IO;
        why = "not a regular file";
        goto done;
    }
    text = malloc(PERFTRACE__CONFIG_FILE_MAX + 1);
    if (!text) {
        status = PERFTRACE_ERR_NOMEM;
        goto done;
    }
    size_t len = 0;
    while (len <= PERFTRACE__CONFIG_FILE_MAX) {
        ssize_t n = read(fd, text + len, PERFTRACE__CONFIG_FILE_MAX + 1 - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            status = perftrace__status_from_errno(errno);
            why = strerror(errno);
            goto done;
        }
        if (n == 0) {
            break;
        }
        len += (size_t)n;
    }
    status = perftrace__config_doc_parse(text, len, path, ret, msgs);
done:
    if (why) {
        perftrace__message_add(msgs, PERFTRACE_LOG_WARNING,
                               "%s: cannot be read (%s), it is not used", path, why);
    }
    if (fd >= 0) {
        close(fd);
    }
    free(text);
    return status;
}

const perftrace__entry_t *perftrace__config_doc_find(const perftrace__config_doc_t *doc,
                                                     const char *path) {
    const uint64_t *at = perftrace__hashmap_get(&doc->index, path, strlen(path));
    return at ? &doc->entries[*at] : NULL;
}

void perftrace__config_doc_free(perftrace__config_doc_t *doc) {
    if (!doc) {
        return;
    }
    for (size_t i = 0; i < doc->count; i++) {
        free(doc->entries[i].path);
        free(doc->entries[i].value);
    }
    free(doc->entries);
    perftrace__hashmap_free(&doc->index);
    *doc = (perftrace__config_doc_t)PERFTRACE__CONFIG_DOC_INIT;
}

typedef struct interpolation {
    const perftrace__config_doc_t *doc;
    perftrace__getenv_fn get;
    void *user;
    perftrace__strbuf_t *out;
    unsigned nesting, steps;
    char **ret_name;
} interpolation_t;

static int expand(interpolation_t *in, const char *value);

/* Expands one reference, the text between ${ and }. */
static int expand_reference(interpolation_t *in, const char *name) {
    static const char env_prefix[] = "oc.env:";
    const char *fallback = NULL;
    const char *found = NULL;
    bool from_file = false;
    char *owned = NULL;
    int status = PERFTRACE_OK;
    if (strncmp(name, env_prefix, sizeof(env_prefix) - 1) == 0) {
        const char *var = name + sizeof(env_prefix) - 1;
        size_t n = strcspn(var, ",");
        fallback = var[n] ? var + n + 1 : NULL;
        owned = strndup(var, n);
        found = owned ? in->get(owned, in->user) : NULL;
        found = found ? found : fallback;
    } else {
        const perftrace__entry_t *e = perftrace__config_doc_find(in->doc, name);
        from_file = e && e->kind == PERFTRACE__ENTRY_SCALAR;
        found = from_file ? e->value : in->get(name, in->user);
    }
    if (found && from_file) {
        status = expand(in, found);
    } else if (found) {
        perftrace__strbuf_puts(in->out, found);
    } else {
        free(*in->ret_name);
        *in->ret_name = strdup(name);
        status = PERFTRACE_ERR_NOT_FOUND;
    }
    free(owned);
    return status;
}

static int expand(interpolation_t *in, const char *value) {
    if (in->nesting == NESTING_MAX) {
        return PERFTRACE_ERR_TOO_LONG;
    }
    in->nesting++;
    int status = PERFTRACE_OK;
    while (*value && status == PERFTRACE_OK) {
        const char *open = strstr(value, "${");
        const char *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            perftrace__strbuf_puts(in->out, value);
            break;
        }
        perftrace__strbuf_append(in->out, value, (size_t)(open - value));
        char *name = strndup(open + 2, (size_t)(close - open - 2));
        if (!name) {
            status = PERFTRACE_ERR_NOMEM;
        } else if (in->steps++ == STEPS_MAX || in->out->len > RESULT_MAX) {
            status = PERFTRACE_ERR_TOO_LONG;
        } else {
            status = expand_reference(in, name);
        }
        free(name);
        value = close + 1;
    }
    in->nesting--;
    return status;
}

int perftrace__config_doc_interpolate(const perftrace__config_doc_t *doc, const char *value,
                                      perftrace__getenv_fn get, void *user,
                                      perftrace__strbuf_t *out, char **ret_name) {
    *ret_name = NULL;
    interpolation_t in = {doc, get, user, out, 0, 0, ret_name};
    int status = expand(&in, value);
    return out->failed ? PERFTRACE_ERR_NOMEM : status;
}
