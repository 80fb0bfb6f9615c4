/* forward.c: the run's files on their way to a collector, by a thread of their own.
 * SPDX-License-Identifier: MIT
 *
 * `lock` guards what the drain tells and what the thread answers; held for copies only, by nobody
 * who waits; after the runtime's and the drain's. Under it the thread says whether it works, and
 * fork that it wants it to stand still; both wait by futex, whose time no set clock changes. */
#include "address_shown.h"
#include "atomics.h"
#include "forward_sender.h"
#include "forward_service.h"
#include "os.h"
#include "runtime_state.h"
#include "wake_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS    1000u /* longest time that the thread does not look */
#define CONNECT_MS 5000u
/* An attempt to connect may last so much longer than the end of a run waits, and the end waits so
 * much longer for the thread before it says that it hangs. */
#define ATTEMPT_MS   1000u
#define HANG_MS      2000u
#define FORK_WAIT_NS 100000000u
#define REFERENCES   8u

/* A file as the drain tells of it. */
typedef struct told_file {
    char path[4096]; /* "": there is none */
    uint64_t bytes;
    unsigned number; /* a new one for each file */
    uint64_t before; /* bytes of the one before that were final */
} told_file_t;

typedef struct told {
    told_file_t file[2]; /* trace, sessions */
    int64_t rank;
    int64_t world_size;
    bool ended;
} told_t;

static struct {
    pthread_mutex_t lock;
    pthread_mutex_t say; /* held while the thread tells something */
    bool unheard;        /* under it: the run that would hear it is over */
    pthread_t thread;
    bool running;     /* there is a thread, or one that was left */
    bool left;        /* it hangs, and is nobody's to join */
    bool at_fork;     /* the thread stood still at the fork */
    uint32_t working; /* written under the lock, as the next */
    uint32_t forking;
    bool inherited; /* this is a child of a process that used libnats */
    bool used_nats;
    told_t told;
    perftrace__reference_t references[REFERENCES];
    unsigned reference_count;
    perftrace__wake_pipe_t wake;
    bool stop;
    uint64_t deadline_ns;
    uint32_t ended; /* release: the thread has ended */
    uint32_t wait_ms;
    bool spool; /* the files go when everything is acknowledged */
    uint64_t queue;
    uint64_t given[2]; /* relaxed: bytes of the files that are no burden any more */
    /* The thread's own. */
    told_t seen; /* of told */
    perftrace__forward_sender_t *sender;
    perftrace__forward_file_t *file[2];
    unsigned number[2];
    perftrace__stream_key_t key;
    char *text[5]; /* of the options: to, token, creds, tls_ca, what was given */
} fw = {.lock = PTHREAD_MUTEX_INITIALIZER,
        .say = PTHREAD_MUTEX_INITIALIZER,
        .wake = PERFTRACE__WAKE_PIPE_INIT};

/* ---- the thread ---------------------------------------------------------------------------------
 */

static void say(perftrace__forward_news_t what, const char *text) {
    switch (what) {
    case PERFTRACE__FORWARD_UNREACHABLE:
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "%s cannot be reached (%s); what is recorded waits in its file, "
                               "connecting is tried again",
                               fw.text[4], text);
        break;
    case PERFTRACE__FORWARD_REFUSED:
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "%s: %s; what is recorded waits in its file, sending is tried again",
                               fw.text[4], text);
        break;
    case PERFTRACE__FORWARD_REACHED:
        perftrace__runtime_log(PERFTRACE_LOG_NOTE, "%s is reached again", fw.text[4]);
        break;
    case PERFTRACE__FORWARD_TAKEN:
        perftrace__runtime_log(PERFTRACE_LOG_NOTE, "%s takes pieces again", fw.text[4]);
        break;
    case PERFTRACE__FORWARD_UNREADABLE:
        perftrace__runtime_log(PERFTRACE_LOG_WARNING, "not forwarded any more: %s", text);
        break;
    }
}

/* What comes of a thread that was left is for a run that is over, whose settings are no more. */
static void on_news(void *ctx, perftrace__forward_news_t what, const char *text) {
    (void)ctx;
    pthread_mutex_lock(&fw.say);
    if (!fw.unheard) {
        say(what, text);
    }
    pthread_mutex_unlock(&fw.say);
}

static void on_reading(void *ctx, const perftrace__reference_t *r) {
    (void)ctx;
    pthread_mutex_lock(&fw.lock);
    if (fw.reference_count == REFERENCES) { /* nobody writes: the newest ones count */
        memmove(fw.references, fw.references + 1, sizeof fw.references - sizeof fw.references[0]);
        fw.reference_count--;
    }
    fw.references[fw.reference_count++] = *r;
    pthread_mutex_unlock(&fw.lock);
}

static void take_file(unsigned i, const told_t *told) {
    const told_file_t *t = &told->file[i];
    if (t->number != fw.number[i]) {
        if (fw.file[i]) { /* somebody removed it; it goes on elsewhere */
            /* Of more than one meanwhile: what was told of it last. */
            fw.file[i]->limit = t->number == fw.number[i] + 1 ? t->before : fw.file[i]->limit;
            fw.file[i]->ended = true;
        }
        fw.number[i] = t->number;
        fw.key.sessions = i == 1;
        fw.file[i] = perftrace__forward_file_new(t->path, &fw.key);
        pt_store_relaxed(&fw.given[i], 0);
        if (fw.file[i]) {
            fw.file[i]->spool = fw.spool;
            perftrace__forward_file_open(fw.file[i]); /* before its name is another file's */
            perftrace__forward_sender_add(fw.sender, fw.file[i]);
        }
    }
    if (fw.file[i]) {
        fw.file[i]->limit = t->bytes;
        fw.file[i]->ended = told->ended;
        fw.file[i]->key.rank = told->rank;
        fw.file[i]->key.world_size = told->world_size;
    }
}

static void give_back(unsigned i) {
    perftrace__forward_file_t *f = fw.file[i];
    if (fw.spool && f) {
        perftrace__forward_file_punch(f);
        uint64_t given = f->acked <= f->limit ? f->acked : f->punched;
        pt_store_relaxed(&fw.given[i], f->kept ? 0 : given);
    }
}

/* Takes the lock and says that it works, once no fork is going on. */
static void begin_step(void) {
    pthread_mutex_lock(&fw.lock);
    while (pt_load_relaxed(&fw.forking)) {
        pthread_mutex_unlock(&fw.lock);
        perftrace__os_futex_wait(&fw.forking, 1, UINT64_MAX);
        pthread_mutex_lock(&fw.lock);
    }
    pt_store_relaxed(&fw.working, 1);
}

static void end_step(void) {
    pthread_mutex_lock(&fw.lock);
    pt_store_relaxed(&fw.working, 0);
    bool awaited = pt_load_relaxed(&fw.forking);
    pthread_mutex_unlock(&fw.lock);
    if (awaited) {
        perftrace__os_futex_wake_all(&fw.working);
    }
}

static void *forward_main(void *arg) {
    told_t *told = &fw.seen;
    pthread_setname_np(pthread_self(), "perftrace-fwd");
    for (bool more = true; more;) {
        begin_step();
        *told = fw.told;
        bool stop = fw.stop;
        uint64_t deadline = fw.deadline_ns;
        if (!perftrace__wake_pipe_is_whole(&fw.wake)) { /* the program closed all descriptors */
            perftrace__wake_pipe_close(&fw.wake);
            (void)perftrace__wake_pipe_open(&fw.wake);
            perftrace__forward_sender_wake_by(fw.sender, fw.wake.fd[0]);
        }
        pthread_mutex_unlock(&fw.lock);
        take_file(0, told);
        take_file(1, told);
        uint64_t now = perftrace__os_mono_ns();
        uint64_t left_ms = deadline > now ? (deadline - now) / 1000000u + 1 : 0;
        bool done = told->ended ? perftrace__forward_sender_done(fw.sender)
                                : perftrace__forward_sender_left(fw.sender) == 0;
        more = !stop || (left_ms && !done);
        if (more) {
            uint64_t granted_ms = stop ? left_ms : fw.wait_ms;
            perftrace__forward_sender_limit(
                fw.sender, (uint32_t)PT_MIN(granted_ms + ATTEMPT_MS, (uint64_t)CONNECT_MS));
            perftrace__forward_sender_step(fw.sender,
                                           stop ? (uint32_t)PT_MIN(left_ms, STEP_MS) : STEP_MS);
        }
        give_back(0);
        give_back(1);
        perftrace__wake_pipe_take(&fw.wake);
        end_step();
    }
    /* Pairs with the acquire in has_ended. */
    pt_store_release(&fw.ended, 1);
    perftrace__os_futex_wake_all(&fw.ended);
    return arg;
}

/* The thread touches nothing any more. */
static bool has_ended(void) {
    return pt_load_acquire(&fw.ended);
}

/* ---- begin --------------------------------------------------------------------------------------
 */

static void free_all(void) {
    perftrace__forward_sender_free(fw.sender);
    fw.sender = NULL;
    for (unsigned i = 0; i < PT_ARRAY_LEN(fw.text); i++) {
        free(fw.text[i]);
        fw.text[i] = NULL;
    }
    perftrace__wake_pipe_close(&fw.wake);
}

/* The thread has ended. */
static void forget(void) {
    pthread_mutex_lock(&fw.lock);
    fw.running = fw.left = fw.unheard = false;
    free_all();
    pthread_mutex_unlock(&fw.lock);
}

static void fill_key(const perftrace__run_meta_t *m) {
    perftrace__stream_key_t *k = &fw.key;
    memset(k, 0, sizeof *k);
    snprintf(k->run, sizeof k->run, "%s", m->run_id);
    snprintf(k->role, sizeof k->role, "%.63s", m->role);
    snprintf(k->host, sizeof k->host, "%.63s", m->host);
    k->rank = m->rank;
    k->world_size = m->world_size;
    k->pid = (int64_t)m->pid;
    if (!perftrace__stream_name_ok(k->role)) { /* it becomes a folder's name */
        k->role[0] = '\0';
    }
}

static bool start_thread(void) {
    /* The program's signals are not for this thread. */
    sigset_t everything;
    sigset_t old;
    sigfillset(&everything);
    pthread_sigmask(SIG_SETMASK, &everything, &old);
    int rc = pthread_create(&fw.thread, NULL, forward_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc == 0;
}

/* What is wrong; NULL: it runs. */
static const char *begin(const perftrace_config_t *o, const perftrace__run_meta_t *meta,
                         char *problem, size_t size) {
    const char *to = NULL;
    const perftrace__forward_link_ops_t *ops =
        perftrace__forward_link_find(o->forward, &to, problem, size);
    if (!ops) {
        return problem;
    }
    bool is_nats = ops != &perftrace__forward_tcp;
    if (is_nats && fw.inherited) {
        return "a forked child of a process that uses NATS cannot use it; perf-trace-forward sends "
               "its files";
    }
    fw.used_nats = fw.used_nats || is_nats;
    char shown[512];
    perftrace__address_shown(o->forward, shown, sizeof shown); /* for messages */
    const char *texts[] = {to, o->forward_token, o->forward_creds, o->forward_tls_ca, shown};
    for (unsigned i = 0; i < PT_ARRAY_LEN(texts); i++) {
        fw.text[i] = strdup(texts[i]);
        if (!fw.text[i]) {
            return "no memory";
        }
    }
    if (!perftrace__wake_pipe_open(&fw.wake)) {
        return strerror(errno);
    }
    fill_key(meta);
    perftrace__forward_sender_options_t so = {
        .ops = ops,
        .link = {.to = fw.text[0],
                 .run = fw.key.run,
                 .token = fw.text[1],
                 .creds = fw.text[2],
                 .tls_ca = fw.text[3],
                 .replicas = o->forward_replicas,
                 .timeout_ms = CONNECT_MS}, /* less, where the end waits for less */
        .news = on_news,
        .reading = on_reading,
        .level = (int)o->forward_level,
        .wake_fd = fw.wake.fd[0],
    };
    fw.sender = perftrace__forward_sender_new(&so);
    if (!fw.sender || !start_thread()) {
        return "no memory or thread for it";
    }
    return NULL;
}

/* It may be connecting: the fork does not wait for that. Returns with the lock. */
void perftrace__forward_fork_prepare(void) {
    pthread_mutex_lock(&fw.lock);
    pt_store_relaxed(&fw.forking, 1);
    if (fw.running) {
        perftrace__wake_pipe_wake(&fw.wake);
    }
    uint64_t begin_ns = perftrace__os_mono_ns();
    uint64_t spent = 0;
    while (pt_load_relaxed(&fw.working) && spent < FORK_WAIT_NS) {
        pthread_mutex_unlock(&fw.lock);
        perftrace__os_futex_wait(&fw.working, 1, FORK_WAIT_NS - spent);
        pthread_mutex_lock(&fw.lock);
        spent = perftrace__os_mono_ns() - begin_ns;
    }
    fw.at_fork = !pt_load_relaxed(&fw.working);
}

void perftrace__forward_fork_parent(void) {
    pt_store_relaxed(&fw.forking, 0);
    pthread_mutex_unlock(&fw.lock);
    perftrace__os_futex_wake_all(&fw.forking);
}

/* The memory is left: an allocator's lock may be held by a thread that is not here. */
void perftrace__forward_fork_child(void) {
    if (fw.running) {
        if (fw.at_fork) {
            perftrace__forward_sender_orphan(fw.sender);
        }
        perftrace__wake_pipe_close(&fw.wake);
        fw.sender = NULL;
        memset(fw.text, 0, sizeof fw.text);
        fw.running = false;
        fw.left = false;
    }
    fw.inherited = fw.inherited || fw.used_nats;
    fw.working = fw.forking = 0;
    fw.unheard = false;
    pthread_mutex_init(&fw.lock, NULL);
    pthread_mutex_init(&fw.say, NULL);
}

void perftrace__forward_run_begin(const perftrace_config_t *options,
                                  const perftrace__run_meta_t *meta) {
    if (options->forward[0] == '\0' || strcmp(options->forward, "off") == 0) {
        return;
    }
    if (fw.running && !has_ended()) {
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "nothing is forwarded: the thread of the run before still hangs");
        return;
    }
    if (fw.running) { /* one that was left, and has come to its end meanwhile */
        forget();
    }
    memset(&fw.told, 0, sizeof fw.told);
    memset(fw.file, 0, sizeof fw.file);
    memset(fw.number, 0, sizeof fw.number);
    fw.reference_count = 0;
    fw.stop = false;
    fw.deadline_ns = 0;
    fw.wait_ms = options->forward_wait_ms;
    fw.spool = options->forward_local == 0;
    fw.queue = options->forward_queue;
    fw.given[0] = fw.given[1] = 0;
    pt_store_relaxed(&fw.ended, 0);
    char text[512];
    const char *problem = begin(options, meta, text, sizeof text);
    if (problem) {
        char shown[512];
        perftrace__address_shown(options->forward, shown, sizeof shown);
        perftrace__runtime_log(PERFTRACE_LOG_ERROR, "nothing is forwarded to %s: %s", shown,
                               problem);
        free_all();
        return;
    }
    pthread_mutex_lock(&fw.lock);
    fw.running = true;
    pthread_mutex_unlock(&fw.lock);
    perftrace__runtime_log(PERFTRACE_LOG_NOTE, "forwarding to %s", fw.text[4]);
    if (meta->world_size > 1 && options->run_id[0] == '\0') {
        perftrace__runtime_log(
            PERFTRACE_LOG_WARNING,
            "the launcher tells no run id, so each of the %lld ranks is a run of "
            "its own there: set the same PERFTRACE_RUN_ID for all",
            (long long)meta->world_size);
    }
}

/* ---- what the drain does ------------------------------------------------------------------------
 */

static void tell_file(told_file_t *t, const char *path, uint64_t bytes, unsigned number) {
    if (!path[0]) {
        return;
    }
    if (t->number != number) {
        t->before = t->bytes;
        t->number = number;
        snprintf(t->path, sizeof t->path, "%s", path);
    }
    t->bytes = bytes;
}

void perftrace__forward_committed(const perftrace__committed_t *what) {
    pthread_mutex_lock(&fw.lock);
    if (fw.running && !fw.stop) {
        tell_file(&fw.told.file[0], what->trace_path, what->trace_bytes, what->trace_number);
        tell_file(&fw.told.file[1], what->session_path, what->session_bytes, what->session_number);
        fw.told.rank = what->meta->rank;
        fw.told.world_size = what->meta->world_size;
        fw.told.ended = what->ended;
        perftrace__wake_pipe_wake(&fw.wake);
    }
    pthread_mutex_unlock(&fw.lock);
}

/* Also where nothing is forwarded, since the way there is no good: the memory is not for that. */
uint64_t perftrace__forward_trace_limit(void) {
    return pt_load_relaxed(&fw.given[0]) + fw.queue;
}

uint64_t perftrace__forward_session_limit(void) {
    return pt_load_relaxed(&fw.given[1]) + fw.queue;
}

bool perftrace__forward_take_reference(perftrace__reference_t *ret) {
    bool any = false;
    pthread_mutex_lock(&fw.lock);
    if (fw.running && !fw.stop && fw.reference_count) {
        any = true;
        *ret = fw.references[0];
        fw.reference_count--;
        memmove(fw.references, fw.references + 1, fw.reference_count * sizeof fw.references[0]);
    }
    pthread_mutex_unlock(&fw.lock);
    return any;
}

/* ---- the end ------------------------------------------------------------------------------------
 */

/* False: the thread hangs (in the look-up of a name, say). */
static bool wait_ended(uint64_t limit_ns) {
    uint64_t begin_ns = perftrace__os_mono_ns();
    uint64_t spent = 0;
    while (!has_ended() && spent < limit_ns) {
        perftrace__os_futex_wait(&fw.ended, 0, limit_ns - spent);
        spent = perftrace__os_mono_ns() - begin_ns;
    }
    return has_ended();
}

/* The other side has all of a file that the drain told of, or there is none. */
static bool has_arrived(unsigned i) {
    const told_file_t *t = &fw.told.file[i];
    const perftrace__forward_file_t *f = fw.file[i];
    return !t->path[0] ||
           (f && !f->failed && fw.number[i] == t->number && f->limit == t->bytes &&
            (fw.told.ended ? perftrace__forward_file_done(f) : f->acked == t->bytes));
}

static void tell_end(void) {
    unsigned long long left = perftrace__forward_sender_left(fw.sender);
    const perftrace__forward_totals_t *t = perftrace__forward_sender_totals(fw.sender);
    const told_file_t *missing = NULL;
    for (unsigned i = 2; i-- > 0;) {
        const told_file_t *told = &fw.told.file[i];
        if (!has_arrived(i)) { /* of a file that cannot be sent the sender has nothing left */
            missing = told;
            left += !fw.file[i] || fw.file[i]->acked > told->bytes ? told->bytes : 0;
        }
    }
    if (left || missing) {
        perftrace__runtime_log(PERFTRACE_LOG_WARNING,
                               "%s has not acknowledged %llu bytes of %s; perf-trace-forward sends "
                               "them",
                               fw.text[4], left, (missing ? missing : fw.told.file)->path);
    } else {
        for (unsigned i = 0; fw.spool && fw.told.ended && i < 2; i++) {
            if (fw.told.file[i].path[0]) {
                unlink(fw.told.file[i].path);
            }
        }
        perftrace__runtime_log(PERFTRACE_LOG_NOTE,
                               "forwarded %llu bytes in %llu pieces (%llu packed) to %s",
                               (unsigned long long)t->bytes, (unsigned long long)t->pieces,
                               (unsigned long long)t->packed, fw.text[4]);
    }
}

/* Nobody hears it from now on. One that hangs while it tells something is not waited for. */
static void leave_thread(void) {
    struct timespec until;
    pthread_detach(fw.thread);
    fw.left = true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&fw.say, &until) == 0) {
        fw.unheard = true;
        pthread_mutex_unlock(&fw.say);
    }
}

void perftrace__forward_run_end(void) {
    if (!fw.running || fw.left) { /* one that was left belongs to a run before this one */
        return;
    }
    pthread_mutex_lock(&fw.lock);
    uint64_t wait_ns = (uint64_t)fw.wait_ms * 1000000u;
    fw.stop = true;
    fw.deadline_ns = perftrace__os_mono_ns() + wait_ns;
    perftrace__wake_pipe_wake(&fw.wake);
    pthread_mutex_unlock(&fw.lock);
    if (!wait_ended(wait_ns + HANG_MS * UINT64_C(1000000))) {
        leave_thread();
        perftrace__runtime_log(PERFTRACE_LOG_ERROR,
                               "the thread that forwards to %s hangs; what is not acknowledged "
                               "stays in %s for perf-trace-forward",
                               fw.text[4], fw.told.file[0].path);
        return;
    }
    pthread_join(fw.thread, NULL);
    tell_end();
    forget();
}
