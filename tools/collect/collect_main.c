/* collect_main.c: perf-trace-collect. SPDX-License-Identifier: MIT
 *
 * Sockets, files and all that is known belong to the loop's thread. This one waits for signals and
 * lets the loop's look, now and then, whether it is done. */
#include "collect_follow.h"
#include "collect_gone.h"
#include "collect_http.h"
#include "collect_nats.h"
#include "collect_options.h"
#include "collect_ranks.h"
#include "collect_tcp.h"
#include "human.h"
#include "message.h"
#include "open_limit.h"
#include "os.h"
#include "paths.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define TICK_NS 100000000L
#define LOOK_NS UINT64_C(1000000000)
/* Time out of each tick for what was written before. */
#define CATCH_UP_NS UINT64_C(20000000)

typedef struct collector {
    const pt_collect_options_t *o;
    perftrace__net_loop_t *loop;
    pt_collect_store_t store;
    pt_collect_service_t service;
    pt_collect_tcp_t *tcp;
    pt_collect_nats_t *nats;
    pt_collect_http_t http;
    bool serves; /* http */
    pt_collect_follow_t follow;
    int uv_code;
    uint64_t looked_ns, shown_ns;
    bool failed; /* out of memory */
    bool done;
} collector_t;

static uint64_t to_ms(uint64_t ns) {
    return (ns + 999999) / 1000000;
}

/* ---- on the loop's thread ---- */

static void fill_view(void *ctx, pt_collect_view_t *ret) {
    const collector_t *c = ctx;
    *ret =
        (pt_collect_view_t){.store = &c->store,
                            .service = &c->service,
                            .world_size = c->o->world_size,
                            .now_ns = perftrace__os_realtime_ns(),
                            .connections = c->tcp != NULL ? pt_collect_tcp_connections(c->tcp) : 0};
#ifdef PT_HAVE_NATS
    ret->held = c->nats != NULL ? pt_collect_nats_held(c->nats) : 0;
#endif
}

static void open_all(void *ctx) {
    collector_t *c = ctx;
    const pt_collect_options_t *o = c->o;
    for (size_t i = 0; i < o->runs.count; i++) {
        c->failed = c->failed || pt_collect_store_run(&c->store, o->runs.items[i]) == NULL;
    }
    if (o->listen != NULL && !c->failed) {
        const pt_collect_tcp_options_t tcp = {.address = o->address,
                                              .connections_max = (unsigned)o->max_connections,
                                              .held_max = (size_t)o->max_held,
                                              .hello_ms = to_ms(o->hello_ns),
                                              .piece_ms = to_ms(o->piece_ns),
                                              .idle_ms = to_ms(o->idle_ns)};
        c->tcp = pt_collect_tcp_open(c->loop, &c->service, &tcp, &c->uv_code);
        if (c->tcp == NULL) {
            return;
        }
    }
    if (o->status != NULL && !c->failed) {
        c->http = (pt_collect_http_t){.token = c->service.token, .look = fill_view, .ctx = c};
        c->serves = pt_collect_http_open(&c->http, c->loop, &o->status_address, &c->uv_code);
    }
}

static void close_all(void *ctx) {
    collector_t *c = ctx;
    pt_collect_tcp_close(c->tcp);
    c->tcp = NULL;
    if (c->serves) {
        pt_collect_http_close(&c->http);
    }
}

static bool all_done(collector_t *c) {
    bool done = c->store.runs != NULL;
    for (const pt_collect_run_t *run = c->store.runs; run != NULL && done; run = run->next) {
        pt_collect_ranks_t ranks;
        done = pt_collect_ranks_of(run, c->o->world_size, &ranks) && pt_collect_ranks_done(&ranks);
        pt_collect_ranks_free(&ranks);
    }
    return done;
}

/* Of what comes by NATS other collectors may have taken a part. */
static bool nothing_left(collector_t *c) {
#ifdef PT_HAVE_NATS
    if (c->nats != NULL) {
        uint64_t now = perftrace__os_mono_ns();
        if (!pt_collect_nats_is_empty(c->nats) || now - c->looked_ns < LOOK_NS) {
            return false;
        }
        c->looked_ns = now;
        for (pt_collect_run_t *run = c->store.runs; run != NULL; run = run->next) {
            pt_collect_store_look_again(&c->store, run);
        }
    }
#endif
    (void)c;
    return true;
}

static void show(collector_t *c) {
    pt_collect_view_t view;
    fill_view(c, &view);
    pt_collect_follow_draw(&c->follow, &view);
}

static void look(void *ctx) {
    collector_t *c = ctx;
    uint64_t now = perftrace__os_mono_ns();
    bool more = true;
    while (more && perftrace__os_mono_ns() - now < CATCH_UP_NS) {
        more = pt_collect_store_catch_up(&c->store);
    }
    if (now - c->shown_ns >= c->o->interval_ns) {
        c->shown_ns = now;
        pt_collect_show_rates(&c->store, now);
        if (c->o->follow) {
            show(c);
        }
    }
    c->done = !more && c->o->until_done && nothing_left(c) && all_done(c);
}

/* ---- the end ---- */

static bool judge_stream(const pt_collect_stream_t *s) {
    perftrace__strbuf_t what = PERFTRACE__STRBUF_INIT;
    if (!s->key.sessions && s->counted == s->have && !s->uncounted) {
        pt_collect_tally_judge(&s->tally, &what);
    }
    bool good = what.len == 0;
    if (!good) {
        pt_warn("%s/%s: %s", s->run->dir, s->parts.name != NULL ? s->parts.name : s->key.name,
                what.data);
    }
    perftrace__strbuf_free(&what);
    return good;
}

/* The traces of one file are in one. */
static size_t count_files(const collector_t *c, const pt_collect_run_t *run) {
    size_t files = 0, in_one = 0;
    for (const pt_collect_stream_t *s = run->streams; s != NULL; s = s->next) {
        bool one = pt_collect_is_in_one(&c->store, s);
        in_one += one;
        files += !one;
    }
    return files + (in_one > 0);
}

/* Tells what came of a run. False: something in it is at fault. */
static bool sum_up_run(collector_t *c, const pt_collect_run_t *run, bool *ret_missing) {
    char events[PT_HUMAN_COUNTED_MAX], dropped[PT_HUMAN_MAX], ranks_text[PT_HUMAN_COUNTED_MAX];
    char files[PT_HUMAN_COUNTED_MAX];
    pt_collect_ranks_t ranks;
    uint64_t event_sum = 0, dropped_sum = 0;
    bool good = true;
    for (const pt_collect_stream_t *s = run->streams; s != NULL; s = s->next) {
        good = judge_stream(s) && good;
    }
    if (!pt_collect_ranks_of(run, c->o->world_size, &ranks)) {
        c->failed = true;
        return good;
    }
    for (size_t i = 0; i < ranks.count; i++) {
        event_sum += ranks.item[i].events;
        dropped_sum += ranks.item[i].dropped;
    }
    pt_note("run %s: %s of %s in %s; %s dropped by their processes", run->id,
            pt_human_counted(events, event_sum, "event", "events"),
            pt_human_counted(ranks_text, ranks.count, "rank", "ranks"),
            pt_human_counted(files, count_files(c, run), "file", "files"),
            pt_human_exact(dropped, dropped_sum));
    if (run->expired > 0) {
        pt_note("run %s: %s with %s were deleted (--keep)", run->id,
                pt_human_counted(files, run->expired, "part", "parts"),
                pt_human_bytes(dropped, run->expired_bytes));
    }
    if (!pt_collect_ranks_done(&ranks)) {
        perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
        pt_collect_ranks_missing(&ranks, &names);
        pt_warn("run %s: %s", run->id, names.len > 0 ? names.data : "no footer of any rank");
        perftrace__strbuf_free(&names);
        *ret_missing = true;
    }
    pt_collect_ranks_free(&ranks);
    return good;
}

static pt_exit_t sum_up(collector_t *c, int signal, bool late) {
    bool missing = c->store.runs == NULL;
    bool good = true;
    while (pt_collect_store_catch_up(&c->store)) {
    }
    for (const pt_collect_run_t *run = c->store.runs; run != NULL; run = run->next) {
        good = sum_up_run(c, run, &missing) && good;
    }
    good = pt_collect_gone_tell(&c->store) == 0 && good;
    for (int i = 0; i < PT_COLLECT_REFUSED_COUNT; i++) {
        good = good && c->store.refused[i] == 0;
    }
    if (missing && c->store.runs == NULL && (c->o->until_done || late)) {
        pt_warn("nothing came");
    }
    bool wanted = c->o->until_done || late;
    return c->failed                     ? PT_EXIT_INTERNAL
           : c->store.failing != NULL    ? PT_EXIT_OUTPUT
           : missing && wanted && late   ? PT_EXIT_INPUT
           : missing && wanted && signal ? PT_EXIT_INTERRUPTED
           : !good                       ? PT_EXIT_PROBLEMS
                                         : PT_EXIT_OK;
}

/* ---- the thread that waits ---- */

/* False: it cannot be; told. */
static bool start_nats(collector_t *c) {
#ifdef PT_HAVE_NATS
    const pt_collect_options_t *o = c->o;
    const pt_collect_nats_options_t nats = {.urls = &o->nats,
                                            .runs = &o->runs,
                                            .token = o->token,
                                            .creds = o->creds,
                                            .tls_ca = o->tls_ca,
                                            .tls_cert = o->tls_cert,
                                            .tls_key = o->tls_key,
                                            .replicas = o->replicas};
    char problem[512];
    if (!pt_path_can_read("--creds", o->creds) || !pt_path_can_read("--tls-ca", o->tls_ca) ||
        !pt_path_can_read("--tls-cert", o->tls_cert) ||
        !pt_path_can_read("--tls-key", o->tls_key)) {
        return false;
    }
    if (o->nats.count > 0) {
        c->nats = pt_collect_nats_start(c->loop, &c->service, &nats, problem, sizeof problem);
        if (c->nats == NULL) {
            pt_error("--nats: %s", problem);
        }
        return c->nats != NULL;
    }
#endif
    (void)c;
    return true;
}

static void stop_nats(collector_t *c) {
#ifdef PT_HAVE_NATS
    pt_collect_nats_stop(c->nats);
    c->nats = NULL;
#endif
    (void)c;
}

static pt_exit_t wait_for_end(collector_t *c, const sigset_t *signals) {
    const struct timespec tick = {0, TICK_NS};
    uint64_t begin = perftrace__os_mono_ns();
    int signal = 0;
    bool late = false;
    while (!c->done && signal <= 0 && !late) {
        signal = sigtimedwait(signals, NULL, &tick);
        perftrace__net_loop_call(c->loop, look, c);
        pt_collect_follow_print(&c->follow);
        late = c->o->timeout_ns > 0 && perftrace__os_mono_ns() - begin >= c->o->timeout_ns;
    }
    stop_nats(c);
    perftrace__net_loop_call(c->loop, close_all, c);
    perftrace__net_loop_stop(c->loop);
    if (c->o->follow) { /* as it was at the end */
        show(c);
        pt_collect_follow_print(&c->follow);
    }
    return sum_up(c, c->done ? 0 : signal, !c->done && late);
}

static void tell_address(const char *what, const char *scheme, const char *text,
                         const perftrace__listen_address_t *address, unsigned port) {
    if (address->is_unix) {
        pt_note("%s %s", what, text);
    } else {
        char host[64];
        (void)perftrace__listen_address_host(address, host, sizeof host);
        pt_note("%s %s%s:%u", what, scheme, host, port);
    }
}

/* Whether all that was asked for listens; tells what does, or why not. */
static bool tell_listening(const collector_t *c) {
    const pt_collect_options_t *o = c->o;
    if (c->failed) {
        pt_error("out of memory");
        return false;
    }
    if (o->listen != NULL && c->tcp == NULL) {
        pt_error("--listen %s: %s", o->listen, uv_strerror(c->uv_code));
        return false;
    }
    if (o->status != NULL && !c->serves) {
        pt_error("--status %s: %s", o->status, uv_strerror(c->uv_code));
        return false;
    }
    if (o->status != NULL) {
        tell_address("status at", "http://", o->status, &o->status_address,
                     perftrace__http_server_port(c->http.server));
    }
    if (o->listen != NULL) {
        tell_address("listening on", "", o->listen, &o->address, pt_collect_tcp_port(c->tcp));
    }
    return true;
}

static pt_exit_t serve(collector_t *c, const sigset_t *signals) {
    int status = 0;
    c->loop = perftrace__net_loop_start("collect", &status);
    if (c->loop == NULL) {
        pt_error("the collector's thread cannot be started");
        return PT_EXIT_INTERNAL;
    }
    perftrace__net_loop_call(c->loop, open_all, c);
    if (!tell_listening(c) || !start_nats(c)) {
        perftrace__net_loop_call(c->loop, close_all, c);
        perftrace__net_loop_stop(c->loop);
        return c->failed ? PT_EXIT_INTERNAL : PT_EXIT_INPUT;
    }
    return wait_for_end(c, signals);
}

static pt_exit_t run(const pt_collect_options_t *o, const sigset_t *signals) {
    collector_t c = {.o = o};
    const pt_collect_store_options_t store = {.dir = o->dir,
                                              .one_file = o->one_file,
                                              .rotate_size = o->rotate_size,
                                              .rotate_ns = o->rotate_ns,
                                              .keep = o->keep,
                                              .keep_bytes = o->keep_bytes,
                                              .files_max = (unsigned)o->max_files,
                                              .streams_max = (size_t)o->max_streams,
                                              .sync = o->sync};
    pt_exit_t status = PT_EXIT_INTERNAL;
    int err = perftrace__os_mkdirs(o->dir);
    if (err != 0) {
        pt_error("%s: %s", o->dir, strerror(-err));
        return PT_EXIT_OUTPUT;
    }
    bool good = pt_collect_store_init(&c.store, &store);
    good = pt_collect_service_init(&c.service, &c.store, o->token, &o->runs) && good;
    if (good) {
        status = serve(&c, signals);
    } else {
        pt_error("out of memory");
    }
    pt_collect_follow_free(&c.follow);
    pt_collect_service_free(&c.service);
    err = pt_collect_store_free(&c.store);
    if (err != 0) {
        pt_error("%s: %s", o->dir, strerror(-err));
        status = PT_EXIT_OUTPUT;
    }
    return status;
}

int main(int argc, char **argv) {
    sigset_t signals;
    pt_message_init("perf-trace-collect", argv[0], PT_NORMAL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    pt_collect_options_t options;
    int status = pt_collect_options_parse(&options, argc, argv);
    if (status == PT_OPTION_GO_ON) {
        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        (void)pt_open_limit_raise(); /* each sender is a descriptor */
        status = (int)run(&options, &signals);
    }
    pt_collect_options_free(&options);
    return status;
}
