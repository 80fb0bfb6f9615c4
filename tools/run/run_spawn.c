/* run_spawn.c. SPDX-License-Identifier: MIT */
#include "run_spawn.h"

#include "exit_code.h"
#include "message.h"
#include "rank_select.h"
#include "run_environ.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- output -------------------------------------------------------------------------------------
 */

static void pass_on(pt_stream_t *s, const char *data, size_t len) {
    perftrace__strbuf_t out = PERFTRACE__STRBUF_INIT;
    if (data) {
        pt_prefix_feed(&s->prefix, data, len, &out);
    } else {
        pt_prefix_end(&s->prefix, &out);
    }
    if (out.len && !pt_writer_put(s->launch->writer, s->fd, out.data, out.len)) {
        s->launch->paused = true;
    }
    perftrace__strbuf_free(&out);
}

static void on_stream_closed(uv_handle_t *handle) {
    const pt_stream_t *s = handle->data;
    pt_launch_stream_closed(s->launch);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf) {
    pt_stream_t *s = handle->data;
    (void)suggested;
    *ret_buf = uv_buf_init(s->buffer, sizeof(s->buffer));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    pt_stream_t *s = stream->data;
    if (n > 0) {
        pass_on(s, buf->base, (size_t)n);
    } else if (n < 0) {
        pass_on(s, NULL, 0);
        s->open = false;
        uv_close((uv_handle_t *)stream, on_stream_closed);
    }
    if (s->launch->paused && s->open) {
        uv_read_stop(stream);
    }
}

void pt_rank_resume(pt_rank_t *rank) {
    for (size_t i = 0; rank->streams && i < 2; i++) {
        if (rank->streams[i].open) {
            uv_read_start((uv_stream_t *)&rank->streams[i].pipe, on_alloc, on_read);
        }
    }
}

/* Two pipes whose lines get the rank in front. */
static bool make_pipes(pt_rank_t *rank, uv_stdio_container_t *stdio) {
    pt_launch_t *launch = rank->launch;
    rank->streams = calloc(2, sizeof(*rank->streams));
    if (!rank->streams) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        pt_stream_t *s = &rank->streams[i];
        s->launch = launch;
        s->fd = i + 1;
        snprintf(s->prefix.text, sizeof(s->prefix.text), "[rank %" PRId64 "] ", rank->plan->rank);
        if (uv_pipe_init(&launch->loop, &s->pipe, 0) != 0) {
            return false;
        }
        s->pipe.data = s;
        s->open = true;
        launch->streams++;
        stdio[i + 1].flags = (uv_stdio_flags)(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
        stdio[i + 1].data.stream = (uv_stream_t *)&s->pipe;
    }
    return true;
}

/* Two files. */
static int open_files(pt_rank_t *rank, uv_stdio_container_t *stdio) {
    static const char *const endings[] = {"out", "err"};
    const pt_launch_request_t *q = rank->launch->request;
    int status = PT_EXIT_OK;
    for (int i = 0; i < 2; i++) {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        perftrace__strbuf_printf(&path, "%s/%s-r%" PRId64 ".%s", q->log_dir, q->group,
                                 rank->plan->rank, endings[i]);
        int fd =
            open(perftrace__strbuf_cstr(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0) {
            pt_error("%s: %s", perftrace__strbuf_cstr(&path), strerror(errno));
            status = PT_EXIT_OUTPUT;
        }
        stdio[i + 1].flags = fd < 0 ? UV_IGNORE : UV_INHERIT_FD;
        stdio[i + 1].data.fd = fd;
        perftrace__strbuf_free(&path);
    }
    return status;
}

/* ---- the process --------------------------------------------------------------------------------
 */

static int out_of_memory(void) {
    pt_error("out of memory");
    return PT_EXIT_INTERNAL;
}

/* Finds the program, makes arguments and environment, and starts it. */
static int start(pt_rank_t *rank, uv_process_options_t *options) {
    const pt_launch_request_t *q = rank->launch->request;
    const pt_string_list_t *words = &rank->plan->argv;
    int clean = 0;
    if (q->clean_ranks) {
        perftrace__rank_selected(q->clean_ranks, (int)rank->plan->rank, &clean);
    }
    perftrace__strbuf_t program = PERFTRACE__STRBUF_INIT;
    char **env = pt_environ_make(clean ? NULL : q->inherited, q->unset, &rank->plan->env);
    char **argv = calloc(words->count + 1, sizeof(*argv));
    int status = pt_environ_find_program(words->items[0], getenv("PATH"), &program);
    if (!env || !argv || program.failed) {
        status = out_of_memory();
        goto done;
    }
    memcpy(argv, words->items, words->count * sizeof(*argv));
    options->file = perftrace__strbuf_cstr(&program);
    options->args = argv;
    options->env = env;
    options->flags = UV_PROCESS_DETACHED;
    int err = status ? status == PT_RUN_EXIT_NOT_FOUND ? UV_ENOENT : UV_EACCES
                     : uv_spawn(&rank->launch->loop, &rank->process, options);
    if (err != 0) {
        pt_error("%s: %s", words->items[0], uv_strerror(err));
        status = err == UV_ENOENT ? PT_RUN_EXIT_NOT_FOUND : PT_RUN_EXIT_NOT_EXECUTABLE;
    }
done:
    free(argv);
    free(env);
    perftrace__strbuf_free(&program);
    return status;
}

int pt_spawn(pt_rank_t *rank, uv_exit_cb on_exit) {
    const pt_launch_request_t *q = rank->launch->request;
    uv_process_options_t options = {.exit_cb = on_exit};
    uv_stdio_container_t stdio[3];
    int status = PT_EXIT_OK;
    for (int i = 0; i < 3; i++) {
        stdio[i].flags = UV_INHERIT_FD;
        stdio[i].data.fd = i;
    }
    if (rank->plan->local_rank != 0) {
        stdio[0].flags = UV_IGNORE; /* /dev/null: only one can read what is typed */
    }
    if (q->log_dir) {
        status = open_files(rank, stdio);
    } else if (q->prefix && !make_pipes(rank, stdio)) {
        status = out_of_memory();
    }
    options.stdio = stdio;
    options.stdio_count = 3;
    if (status == PT_EXIT_OK) {
        status = start(rank, &options);
        rank->started = status == PT_EXIT_OK;
    }
    for (int i = 1; q->log_dir && i < 3; i++) {
        if (stdio[i].flags == UV_INHERIT_FD) {
            close(stdio[i].data.fd);
        }
    }
    if (rank->started) {
        pt_rank_resume(rank);
    }
    return status;
}

void pt_rank_free(pt_rank_t *rank) {
    for (size_t i = 0; rank->streams && i < 2; i++) {
        pt_prefix_free(&rank->streams[i].prefix);
    }
    free(rank->streams);
    rank->streams = NULL;
    pt_string_list_free(&rank->before);
}
