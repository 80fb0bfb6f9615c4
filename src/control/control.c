/* control.c: the server of this process: when it listens and where. SPDX-License-Identifier: MIT
 *
 * One lock, of start and stop; handlers never take it. It comes before the runtime's lock. */
#include "control_handle.h"
#include "control_hold.h"
#include "control_service.h"
#include "endpoint.h"
#include "os.h"
#include "runtime_state.h"
#include "runtime_view.h"

#include <perftrace/control.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    perftrace__http_server_t *server; /* NULL: it does not listen */
    perftrace__control_scene_t scene;
    char url[512];
    char file[4096]; /* the endpoint file; "" none */
    bool whole;      /* at a fork: its descriptors are its own */
} control = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const perftrace__http_limits_t limits = {.target = 2048, .header = 16384, .body = 1u << 20};

/* ---- fork: the parent listens, the child does not ---- */

static void fork_prepare(void) {
    pthread_mutex_lock(&control.lock);
    /* The child must find every socket, to close it. */
    control.whole = perftrace__net_loop_pause(control.scene.loop);
    perftrace__hold_fork_prepare();
}

static void fork_parent(void) {
    perftrace__hold_fork_parent();
    perftrace__net_loop_resume(control.scene.loop);
    pthread_mutex_unlock(&control.lock);
}

static void fork_child(void) {
    perftrace__hold_fork_child();
    if (control.server != NULL) {
        /* With them open the port would outlive the parent. The memory is left: an allocator's lock
         * may be held by a thread that is not here. */
        if (control.whole) {
            perftrace__http_server_orphan(control.server);
            perftrace__net_loop_orphan(control.scene.loop);
        }
        control.server = NULL;
        control.scene = (perftrace__control_scene_t){NULL, NULL};
    }
    control.url[0] = control.file[0] = '\0';
    pthread_mutex_init(&control.lock, NULL);
}

static void install_once(void) {
    static bool installed;
    if (!installed) {
        installed = true;
        atexit(perftrace__control_stop); /* after the runtime's, so before it; ranks that record
                                            nothing listen, too */
        pthread_atfork(fork_prepare, fork_parent, fork_child);
    }
}

/* ---- start ---- */

typedef struct opening {
    perftrace__http_server_options_t options;
    int uv_code;
} opening_t;

static void open_server(void *ctx) {
    opening_t *o = ctx;
    control.server = perftrace__http_server_open(control.scene.loop, &o->options, &o->uv_code);
}

static void make_url(const perftrace__listen_address_t *a) {
    char host[256];
    unsigned port = perftrace__http_server_port(control.server);
    if (a->is_unix) {
        snprintf(control.url, sizeof control.url, "unix:%s", a->to.un.sun_path);
        return;
    }
    if (perftrace__listen_address_host(a, host, sizeof host)) {
        perftrace__os_hostname(host, sizeof host); /* 0.0.0.0 is no place to go to */
    }
    snprintf(control.url, sizeof control.url, "http://%s:%u", host, port);
}

static void write_endpoint(const char *trace_dir) {
    perftrace__runtime_view_t *v = malloc(sizeof *v);
    if (v == NULL) {
        return;
    }
    perftrace__runtime_look(v);
    perftrace__endpoint_t e = {.rank = v->meta.rank,
                               .world_size = v->meta.world_size,
                               .pid = (int64_t)v->meta.pid,
                               .process_start = (int64_t)v->meta.process_start,
                               .pid_namespace = (int64_t)v->meta.pid_namespace,
                               .token = control.scene.token[0] != '\0'};
    /* Arrays of the same sizes. */
    memcpy(e.url, control.url, sizeof e.url);
    memcpy(e.role, v->meta.role, sizeof e.role);
    memcpy(e.host, v->meta.host, sizeof e.host);
    memcpy(e.boot_id, v->meta.boot_id, sizeof e.boot_id);
    free(v);
    int rc = perftrace__endpoint_write(trace_dir, &e, control.file, sizeof control.file);
    if (rc != 0) {
        control.file[0] = '\0';
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "no endpoint file can be made in %s: %s; controlled at %s all the "
                               "same",
                               trace_dir, strerror(-rc), control.url);
    }
}

/* A relative path is of the present directory: others read it, and the program may go elsewhere. */
static int parse_address(const char *text, perftrace__listen_address_t *ret,
                         const char **ret_problem) {
    int status = perftrace__listen_address_parse(text, ret, ret_problem);
    if (status == PERFTRACE_OK && ret->is_unix && ret->to.un.sun_path[0] != '/') {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_puts(&path, "unix:");
        if (perftrace__os_absolute_path(&path, ret->to.un.sun_path) != 0 || path.failed) {
            *ret_problem = "the present directory cannot be told";
            status = PERFTRACE_ERR_IO;
        } else {
            status = perftrace__listen_address_parse(path.data, ret, ret_problem);
        }
        perftrace__strbuf_free(&path);
    }
    return status;
}

/* The lock is held. */
static void listen_at(const perftrace_config_t *o, const char *trace_dir) {
    const char *problem = NULL;
    opening_t opening = {.uv_code = UV_ECANCELED,
                         .options = {.limits = limits,
                                     .max_connections = 64,
                                     .idle_ms = 60000,
                                     .request_ms = 10000,
                                     .write_ms = 10000,
                                     .handle = perftrace__control_handle,
                                     .ctx = &control.scene}};
    int status = parse_address(o->control, &opening.options.address, &problem);
    if (status != PERFTRACE_OK) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "control is off: %s: %s", o->control, problem);
        return;
    }
    if (!opening.options.address.local && o->control_token[0] == '\0') {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "control is off: other machines can reach %s, so it needs a token "
                               "(PERFTRACE_CONTROL_TOKEN)",
                               o->control);
        return;
    }
    control.scene.token = strdup(o->control_token);
    control.scene.loop =
        control.scene.token != NULL ? perftrace__net_loop_start("perftrace-ctl", &status) : NULL;
    if (control.scene.loop == NULL) {
        free(control.scene.token);
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "control is off: no thread or memory for it");
        return;
    }
    perftrace__net_loop_call(control.scene.loop, open_server, &opening);
    if (control.server == NULL) {
        perftrace__net_loop_stop(control.scene.loop);
        free(control.scene.token);
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "control is off: %s: %s", o->control,
                               uv_strerror(opening.uv_code));
        return;
    }
    make_url(&opening.options.address);
    write_endpoint(trace_dir);
    perftrace__hold_serve(true);
    perftrace__runtime_log(PERFTRACE_LOG_NOTE, "controlled at %s", control.url);
}

void perftrace__control_start(const perftrace_config_t *o, const char *trace_dir) {
    bool wanted = o->control[0] != '\0' && strcmp(o->control, "off") != 0;
    pthread_mutex_lock(&control.lock);
    if (wanted && control.server == NULL) {
        install_once();
        listen_at(o, trace_dir);
    }
    bool listening = control.server != NULL;
    pthread_mutex_unlock(&control.lock);
    if (o->hold == 1) {
        perftrace__hold_set(true);
        if (!listening) {
            perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                                   "hold does nothing: nobody could end it, since the process does "
                                   "not listen (set PERFTRACE_CONTROL)");
        }
    }
}

/* ---- stop ---- */

static void close_server(void *ctx) {
    perftrace__http_server_close(ctx);
}

void perftrace__control_stop(void) {
    pthread_mutex_lock(&control.lock);
    perftrace__hold_serve(false); /* also one that nobody could have ended */
    if (control.server != NULL) {
        if (control.file[0] != '\0') {
            unlink(control.file);
        }
        /* When its descriptors are gone the thread may still be about to look at the token. */
        if (perftrace__net_loop_call(control.scene.loop, close_server, control.server) &&
            perftrace__net_loop_stop(control.scene.loop)) {
            free(control.scene.token);
        }
        control.server = NULL;
        control.scene = (perftrace__control_scene_t){NULL, NULL};
        control.url[0] = control.file[0] = '\0';
    }
    pthread_mutex_unlock(&control.lock);
}

int perftrace_control_url(char *ret_url, size_t size) {
    if (ret_url == NULL) {
        return PERFTRACE_ERR_INVALID;
    }
    pthread_mutex_lock(&control.lock);
    int status = PERFTRACE_ERR_DISABLED;
    if (control.server != NULL) {
        size_t len = strlen(control.url);
        status = len < size ? (int)len : PERFTRACE_ERR_TOO_LONG;
        if (len < size) {
            memcpy(ret_url, control.url, len + 1);
        }
    }
    pthread_mutex_unlock(&control.lock);
    return status;
}
