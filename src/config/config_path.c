/* config_path.c: where files go. SPDX-License-Identifier: MIT */
#include "config_path.h"

#include "config_message.h"
#include "name_cut.h"
#include "os.h"
#include "utf8.h"

#include <perftrace/status.h>

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_NAME_ROOM                                                                             \
    48 /* "/sessions-r<rank>.<n>.jsonl" with the longest numbers, and the NUL                      \
        */

static bool is_plain(unsigned char c) {
    return isalnum(c) || (c != '\0' && strchr("._-+=@,", c) != NULL);
}

void perftrace__path_component(perftrace__strbuf_t *out, const char *label, const char *suffix) {
    size_t start = out->len;
    size_t len = strlen(label);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)label[i];
        unsigned n = perftrace__utf8_sequence((const unsigned char *)label + i, len - i);
        if (n > 1 || is_plain(c)) {
            perftrace__strbuf_append(out, label + i, n);
        } else {
            perftrace__strbuf_putc(out, '_');
        }
        i += n ? n : 1;
    }
    if (out->failed) {
        return;
    }
    size_t made = out->len - start;
    if (made == 0) {
        perftrace__strbuf_putc(out, '_');
    } else if (strcmp(out->data + start, ".") == 0 || strcmp(out->data + start, "..") == 0) {
        memset(out->data + start, '_', made);
    }
    size_t room = PERFTRACE__COMPONENT_MAX - (suffix ? strlen(suffix) : 0);
    perftrace__name_cut(out, start, room, label, len);
    perftrace__strbuf_puts(out, suffix ? suffix : "");
}

/* Bytes of the longest name in a path. */
static size_t longest_component(const char *path) {
    size_t longest = 0;
    while (*path) {
        path += *path == '/';
        size_t n = strcspn(path, "/");
        longest = PT_MAX(longest, n);
        path += n;
    }
    return longest;
}

static int check_length(const char *field, const char *path, perftrace__strbuf_t *msgs) {
    size_t len = strlen(path);
    size_t longest = longest_component(path);
    if (len + FILE_NAME_ROOM <= PATH_MAX && longest <= PERFTRACE__COMPONENT_MAX) {
        return PERFTRACE_OK;
    }
    perftrace__strbuf_t quoted = PERFTRACE__STRBUF_INIT;
    perftrace__message_quote(&quoted, path);
    if (longest > PERFTRACE__COMPONENT_MAX) {
        perftrace__message_add(msgs, PERFTRACE_LOG_ERROR,
                               "%s: %s has a name of %zu bytes in it, the system takes at most %d",
                               field, perftrace__strbuf_cstr(&quoted), longest,
                               PERFTRACE__COMPONENT_MAX);
    } else {
        perftrace__message_add(msgs, PERFTRACE_LOG_ERROR,
                               "%s: %s has %zu bytes, the system takes at most %d for a directory",
                               field, perftrace__strbuf_cstr(&quoted), len,
                               PATH_MAX - FILE_NAME_ROOM);
    }
    perftrace__strbuf_free(&quoted);
    return PERFTRACE_ERR_TOO_LONG;
}

/* <fileroot>/logs/<user>/<experiment>/<trial>/<tracer>[/<role>] */
static char *areal_dir(const perftrace_config_t *o, const char *user, const char *tracer) {
    perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
    const char *parts[] = {user, o->experiment_name, o->trial_name};
    perftrace__strbuf_puts(&b, o->fileroot);
    perftrace__strbuf_puts(&b, strcmp(o->fileroot, "/") == 0 ? "logs" : "/logs");
    for (size_t i = 0; i < PT_ARRAY_LEN(parts); i++) {
        perftrace__strbuf_putc(&b, '/');
        perftrace__path_component(&b, parts[i], NULL);
    }
    perftrace__strbuf_printf(&b, "/%s", tracer);
    if (o->role[0]) {
        perftrace__strbuf_putc(&b, '/');
        perftrace__path_component(&b, o->role, NULL);
    }
    if (b.failed) {
        perftrace__strbuf_free(&b);
    }
    return b.data;
}

int perftrace__config_bind_paths(perftrace__config_t *c, const char *user,
                                 perftrace__strbuf_t *msgs) {
    const perftrace_config_t *o = &c->opt;
    bool dir_given = c->source[PERFTRACE__OPT_dir] != PERFTRACE__SOURCE_DEFAULT;
    bool areal = o->fileroot[0] && o->experiment_name[0] && o->trial_name[0];
    const char *field = "dir";
    free(c->trace_dir);
    free(c->session_dir);
    free(c->spool_dir);
    c->spool_dir = NULL;
    if (o->forward[0] && strcmp(o->forward, "off") != 0 && o->forward_local == 0) {
        perftrace__strbuf_t b = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(&b, "%s/" PERFTRACE__SPOOL_PREFIX "%u", o->ring_dir,
                                 (unsigned)geteuid());
        if (b.failed) {
            perftrace__strbuf_free(&b);
            return PERFTRACE_ERR_NOMEM;
        }
        c->spool_dir = b.data;
    }
    if (areal && !dir_given) {
        field = "fileroot";
        c->trace_dir = areal_dir(o, user, "perf_tracer");
        c->session_dir = areal_dir(o, user, "session_tracer");
    } else {
        c->trace_dir = strdup(o->dir);
        c->session_dir = strdup(o->dir);
        if (!dir_given && (o->fileroot[0] || o->experiment_name[0] || o->trial_name[0])) {
            perftrace__message_add(
                msgs, PERFTRACE_LOG_WARNING,
                "fileroot, experiment_name and trial_name are used only together;"
                " not set:%s%s%s",
                o->fileroot[0] ? "" : " fileroot", o->experiment_name[0] ? "" : " experiment_name",
                o->trial_name[0] ? "" : " trial_name");
        }
        if (!dir_given && o->enabled) {
            perftrace__message_add(
                msgs, PERFTRACE_LOG_NOTE,
                "no directory is set by the program, by " PERFTRACE__CONFIG_PREFIX
                "DIR or by a file: traces go to %s",
                o->dir);
        }
    }
    if (!c->trace_dir || !c->session_dir) {
        return PERFTRACE_ERR_NOMEM;
    }
    int status = check_length(field, c->trace_dir, msgs);
    return status != PERFTRACE_OK ? status : check_length(field, c->session_dir, msgs);
}

static int file_path(const char *dir, const char *kind, int rank, unsigned n,
                     perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "%s%s%s-%c", dir, strcmp(dir, "/") == 0 ? "" : "/", kind,
                             rank < 0 ? 'u' : 'r');
    perftrace__strbuf_printf(out, "%u", rank < 0 ? perftrace__os_pid() : (unsigned)rank);
    if (n > 0) {
        perftrace__strbuf_printf(out, ".%u", n);
    }
    perftrace__strbuf_puts(out, ".jsonl");
    if (out->failed) {
        return PERFTRACE_ERR_NOMEM;
    }
    return strlen(dir) + FILE_NAME_ROOM > PATH_MAX ? PERFTRACE_ERR_TOO_LONG : PERFTRACE_OK;
}

int perftrace__config_trace_path(const perftrace__config_t *c, unsigned n,
                                 perftrace__strbuf_t *out) {
    return file_path(c->spool_dir ? c->spool_dir : c->trace_dir, "traces", c->opt.rank, n, out);
}

int perftrace__config_session_path(const perftrace__config_t *c, unsigned n,
                                   perftrace__strbuf_t *out) {
    return file_path(c->spool_dir ? c->spool_dir : c->session_dir, "sessions", c->opt.rank, n, out);
}
