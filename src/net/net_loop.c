/* net_loop.c: one libuv loop on one thread. SPDX-License-Identifier: MIT */
#include "net_loop.h"

#include "os.h"

#include <errno.h>
#include <perftrace/status.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* libuv's own frames are small, ours hold no more than some paths. */
#define STACK_BYTES (256u << 10)

/* A call from another thread; lies on that thread's stack. */
typedef struct call {
    void (*fn)(void *);
    void *ctx;
    bool returned;
    struct call *next;
} call_t;

typedef struct job {
    perftrace__net_loop_t *loop;
    void (*work)(void *);
    void (*done)(void *, bool);
    void *ctx;
    struct job *next;
} job_t;

struct perftrace__net_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t before; /* the thread sleeps */
    uv_check_t after;
    int mark; /* an open file that is ours alone */
    perftrace__os_file_id_t mark_id;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t returned;
    call_t *calls;
    job_t *finished; /* jobs whose done is due */
    unsigned users;  /* the owner and the running jobs: the last one frees */
    bool pause;      /* the thread shall stand still */
    bool paused;     /* it does */
    bool lost;       /* the thread has seen that the descriptors are gone */
    bool ending;     /* no more calls or jobs come */
    bool ended;      /* the loop's thread looks at no job any more */
};

int perftrace__net_status(int uv_code) {
    switch (uv_code) {
    case 0:
        return PERFTRACE_OK;
    case UV_ENOMEM:
        return PERFTRACE_ERR_NOMEM;
    case UV_EADDRINUSE:
    case UV_EEXIST:
        return PERFTRACE_ERR_EXISTS;
    case UV_EACCES:
    case UV_EPERM:
        return PERFTRACE_ERR_DENIED;
    case UV_ENOENT:
    case UV_EADDRNOTAVAIL:
        return PERFTRACE_ERR_NOT_FOUND;
    case UV_EINVAL:
        return PERFTRACE_ERR_INVALID;
    case UV_ENAMETOOLONG:
        return PERFTRACE_ERR_TOO_LONG;
    case UV_ETIMEDOUT:
        return PERFTRACE_ERR_TIMEOUT;
    default:
        return PERFTRACE_ERR_IO;
    }
}

uv_loop_t *perftrace__net_loop_uv(perftrace__net_loop_t *loop) {
    return &loop->uv;
}

/* The lock is held; it is given back. */
static void leave(perftrace__net_loop_t *loop) {
    bool last = --loop->users == 0;
    pthread_mutex_unlock(&loop->lock);
    if (last) {
        pthread_mutex_destroy(&loop->lock);
        pthread_cond_destroy(&loop->returned);
        free(loop);
    }
}

/* Whether the program has closed all descriptors that there are, as daemons do. Their numbers may
 * mean files of its own by now, and libuv ends the process when it finds them closed: the loop is
 * left as it is then, for ever. */
static bool is_lost(perftrace__net_loop_t *loop) {
    return !perftrace__os_file_is(loop->mark, &loop->mark_id);
}

/* Around the sleep of the thread. */
static void stay_if_lost(perftrace__net_loop_t *loop) {
    if (is_lost(loop)) {
        pthread_mutex_lock(&loop->lock);
        loop->lost = true;
        pthread_cond_broadcast(&loop->returned);
        pthread_mutex_unlock(&loop->lock);
        for (;;) {
            pause();
        }
    }
}

static void on_before(uv_prepare_t *before) {
    stay_if_lost(before->data);
}

static void on_after(uv_check_t *after) {
    stay_if_lost(after->data);
}

/* The lock is held. False: nobody will look. */
static bool wake_up(perftrace__net_loop_t *loop) {
    return !loop->lost && !is_lost(loop) && uv_async_send(&loop->wake) == 0;
}

static bool answer_one_call(perftrace__net_loop_t *loop) {
    pthread_mutex_lock(&loop->lock);
    call_t *call = loop->calls;
    loop->calls = call != NULL ? call->next : NULL;
    pthread_mutex_unlock(&loop->lock);
    if (call == NULL) {
        return false;
    }
    call->fn(call->ctx);
    pthread_mutex_lock(&loop->lock);
    call->returned = true;
    pthread_cond_broadcast(&loop->returned);
    pthread_mutex_unlock(&loop->lock);
    return true;
}

static bool finish_one_job(perftrace__net_loop_t *loop) {
    pthread_mutex_lock(&loop->lock);
    job_t *job = loop->finished;
    loop->finished = job != NULL ? job->next : NULL;
    loop->ended = job == NULL && loop->ending;
    pthread_mutex_unlock(&loop->lock);
    if (job != NULL) {
        job->done(job->ctx, true);
        free(job);
    }
    return job != NULL;
}

static void stand_still(perftrace__net_loop_t *loop) {
    pthread_mutex_lock(&loop->lock);
    while (loop->pause) {
        loop->paused = true;
        pthread_cond_broadcast(&loop->returned);
        pthread_cond_wait(&loop->returned, &loop->lock);
    }
    loop->paused = false;
    pthread_mutex_unlock(&loop->lock);
}

static void on_wake(uv_async_t *wake) {
    perftrace__net_loop_t *loop = wake->data;
    stand_still(loop);
    while (answer_one_call(loop) || finish_one_job(loop)) {
    }
    pthread_mutex_lock(&loop->lock);
    bool ended = loop->ended;
    pthread_mutex_unlock(&loop->lock);
    if (ended && !uv_is_closing((uv_handle_t *)wake)) {
        uv_close((uv_handle_t *)&loop->before, NULL);
        uv_close((uv_handle_t *)&loop->after, NULL);
        uv_close((uv_handle_t *)wake, NULL); /* the last handle: the loop runs out */
    }
}

static void *run(void *arg) {
    perftrace__net_loop_t *loop = arg;
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    return NULL;
}

/* The program's signals are for its own threads. SIGPIPE of a write here stays pending for ever. */
static int start_thread(pthread_t *thread, void *(*fn)(void *), void *arg, bool detached) {
    sigset_t all, before;
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0) {
        return PERFTRACE_ERR_NOMEM;
    }
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_attr_setdetachstate(&attr,
                                detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, &attr, fn, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc == 0 ? PERFTRACE_OK : PERFTRACE_ERR_NOMEM;
}

/* 0 or libuv's code. */
static int init_loop(perftrace__net_loop_t *loop) {
    loop->mark = perftrace__os_open_memory("perftrace-net");
    loop->mark_id = perftrace__os_file_id(loop->mark);
    if (loop->mark < 0) {
        return uv_translate_sys_error(errno);
    }
    perftrace__os_take_streams();
    int rc = uv_loop_init(&loop->uv);
    if (rc == 0) {
        rc = uv_async_init(&loop->uv, &loop->wake, on_wake);
        if (rc == 0) {
            uv_prepare_init(&loop->uv, &loop->before);
            uv_check_init(&loop->uv, &loop->after);
            loop->wake.data = loop->before.data = loop->after.data = loop;
            uv_prepare_start(&loop->before, on_before);
            uv_check_start(&loop->after, on_after);
            return 0;
        }
        uv_loop_close(&loop->uv);
    }
    perftrace__os_close_file(loop->mark, &loop->mark_id);
    return rc;
}

/* Of a loop without a thread. */
static void drop_loop(perftrace__net_loop_t *loop) {
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->before, NULL);
    uv_close((uv_handle_t *)&loop->after, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    uv_loop_close(&loop->uv);
    perftrace__os_close_file(loop->mark, &loop->mark_id);
}

perftrace__net_loop_t *perftrace__net_loop_start(const char *name, int *ret_status) {
    perftrace__net_loop_t *loop = calloc(1, sizeof *loop);
    *ret_status = PERFTRACE_ERR_NOMEM;
    if (loop == NULL) {
        return NULL;
    }
    int rc = init_loop(loop);
    if (rc != 0) {
        *ret_status = perftrace__net_status(rc);
        free(loop);
        return NULL;
    }
    loop->users = 1;
    pthread_mutex_init(&loop->lock, NULL);
    pthread_cond_init(&loop->returned, NULL);
    *ret_status = start_thread(&loop->thread, run, loop, false);
    if (*ret_status == PERFTRACE_OK) {
        pthread_setname_np(loop->thread, name);
        return loop;
    }
    pthread_mutex_destroy(&loop->lock);
    pthread_cond_destroy(&loop->returned);
    drop_loop(loop);
    free(loop);
    return NULL;
}

bool perftrace__net_loop_call(perftrace__net_loop_t *loop, void (*fn)(void *), void *ctx) {
    call_t call = {fn, ctx, false, NULL};
    pthread_mutex_lock(&loop->lock);
    call_t **at = &loop->calls;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = &call;
    bool there = wake_up(loop);
    while (there && !call.returned && !loop->lost) {
        pthread_cond_wait(&loop->returned, &loop->lock);
    }
    if (!call.returned) { /* nobody takes it any more */
        for (at = &loop->calls; *at != &call; at = &(*at)->next) {
        }
        *at = call.next;
    }
    pthread_mutex_unlock(&loop->lock);
    return call.returned;
}

bool perftrace__net_loop_pause(perftrace__net_loop_t *loop) {
    if (loop == NULL) {
        return true;
    }
    pthread_mutex_lock(&loop->lock);
    loop->pause = true;
    bool there = wake_up(loop);
    while (there && !loop->paused && !loop->lost) {
        pthread_cond_wait(&loop->returned, &loop->lock);
    }
    bool paused = loop->paused;
    pthread_mutex_unlock(&loop->lock);
    return paused;
}

void perftrace__net_loop_resume(perftrace__net_loop_t *loop) {
    if (loop != NULL) {
        pthread_mutex_lock(&loop->lock);
        loop->pause = false;
        pthread_cond_broadcast(&loop->returned);
        pthread_mutex_unlock(&loop->lock);
    }
}

bool perftrace__net_loop_stop(perftrace__net_loop_t *loop) {
    pthread_mutex_lock(&loop->lock);
    loop->ending = true;
    bool there = wake_up(loop);
    pthread_mutex_unlock(&loop->lock);
    if (!there) {
        pthread_detach(loop->thread);
        return false;
    }
    pthread_join(loop->thread, NULL);
    uv_loop_close(&loop->uv);
    perftrace__os_close_file(loop->mark, &loop->mark_id);
    pthread_mutex_lock(&loop->lock);
    leave(loop);
    return true;
}

void perftrace__net_loop_orphan(perftrace__net_loop_t *loop) {
    if (loop != NULL && !is_lost(loop)) {
        close(uv_backend_fd(&loop->uv));
        close(loop->mark);
    }
}

static void *run_job(void *arg) {
    job_t *job = arg;
    perftrace__net_loop_t *loop = job->loop;
    job->work(job->ctx);
    pthread_mutex_lock(&loop->lock);
    if (loop->ended) {
        job->done(job->ctx, false);
        free(job);
    } else {
        job->next = loop->finished;
        loop->finished = job;
        wake_up(loop);
    }
    leave(loop);
    return NULL;
}

int perftrace__net_job_start(perftrace__net_loop_t *loop, void (*work)(void *),
                             void (*done)(void *ctx, bool alive), void *ctx) {
    pthread_t thread;
    job_t *job = malloc(sizeof *job);
    if (job == NULL) {
        return PERFTRACE_ERR_NOMEM;
    }
    *job = (job_t){loop, work, done, ctx, NULL};
    pthread_mutex_lock(&loop->lock);
    loop->users++;
    pthread_mutex_unlock(&loop->lock);
    int status = start_thread(&thread, run_job, job, true);
    if (status != PERFTRACE_OK) {
        pthread_mutex_lock(&loop->lock);
        leave(loop);
        free(job);
    }
    return status;
}
