/* collect_nats.c: connections to NATS JetStream, and a worker for each run's stream.
 * SPDX-License-Identifier: MIT */
#include "address_shown.h"
#include "collect_nats_worker.h"
#include "message.h"

#include <stdlib.h>

#define LIST_MS  2000
#define REPLY_MS 5000

static void free_worker(pt_nats_worker_t *w) {
    perftrace__stream_unpacker_free(w->unpacker);
    free(w->plain);
    free(w->piece);
    free(w->held);
    natsInbox_Destroy(w->inbox);
    free(w->stream);
    free(w);
}

/* A thread for a stream of the server, where there is none yet. */
static void start_worker(pt_collect_nats_t *n, const char *stream) {
    for (const pt_nats_worker_t *w = n->workers; w != NULL; w = w->next) {
        if (strcmp(w->stream, stream) == 0) {
            return;
        }
    }
    pt_nats_worker_t *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return;
    }
    w->nats = n;
    w->stream = strdup(stream);
    w->run = w->stream != NULL ? w->stream + strlen(PT_NATS_STREAM_PREFIX) : NULL;
    w->unpacker = perftrace__stream_unpacker_new();
    w->plain = malloc(PERFTRACE__STREAM_PIECE_MAX);
    w->piece = calloc(PT_NATS_BATCH + 1, sizeof *w->piece);
    if (w->stream == NULL || w->unpacker == NULL || w->plain == NULL || w->piece == NULL ||
        pthread_create(&w->thread, NULL, pt_nats_worker_main, w) != 0) {
        free_worker(w);
        return;
    }
    pt_nats_answer_clock(w);
    pthread_mutex_lock(&n->lock);
    w->next = n->workers;
    n->workers = w;
    pthread_mutex_unlock(&n->lock);
}

/* ---- connecting --------------------------------------------------------------------------------
 */

static void on_disconnected(natsConnection *nc, void *closure) {
    pt_collect_nats_t *n = closure;
    (void)nc;
    if (!pt_nats_is_stopped(n)) {
        pt_store_relaxed(&n->connected, 0);
        pt_warn("the connection to the NATS server is lost; it is tried again");
    }
}

static void tell_connected(natsConnection *nc, const char *what) {
    char url[1024] = "";
    char shown[1024];
    (void)natsConnection_GetConnectedUrl(nc, url, sizeof url); /* with its password */
    perftrace__address_shown(url, shown, sizeof shown);
    pt_note("%s %s", what, shown);
}

static void on_reconnected(natsConnection *nc, void *closure) {
    pt_collect_nats_t *n = closure;
    pt_store_relaxed(&n->connected, 1);
    tell_connected(nc, "connected again to");
}

/* A slow consumer and the like: what is lost comes again. */
static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *closure) {
    (void)nc;
    (void)sub;
    (void)closure;
    pt_detail("NATS: %s", natsStatus_GetText(s));
}

static natsStatus set_tls(natsOptions *opts, const pt_collect_nats_options_t *o) {
    natsStatus s = NATS_OK;
    bool tls = o->tls_ca != NULL || o->tls_cert != NULL;
    for (size_t i = 0; i < o->urls->count; i++) {
        tls = tls || strncmp(o->urls->items[i], "tls://", 6) == 0;
    }
    if (tls) {
        s = natsOptions_SetSecure(opts, true);
    }
    if (s == NATS_OK && o->tls_ca != NULL) {
        s = natsOptions_LoadCATrustedCertificates(opts, o->tls_ca);
    }
    if (s == NATS_OK && o->tls_cert != NULL) {
        s = natsOptions_LoadCertificatesChain(opts, o->tls_cert,
                                              o->tls_key != NULL ? o->tls_key : o->tls_cert);
    }
    return s;
}

static natsStatus make_options(pt_collect_nats_t *n, bool clock, natsOptions **ret) {
    const pt_collect_nats_options_t *o = &n->o;
    natsStatus s = natsOptions_Create(ret);
    natsOptions *opts = *ret;
    s = s == NATS_OK
            ? natsOptions_SetServers(opts, (const char **)o->urls->items, (int)o->urls->count)
            : s;
    s = s == NATS_OK ? natsOptions_SetName(opts, "perf-trace-collect") : s;
    s = s == NATS_OK ? natsOptions_SetMaxReconnect(opts, -1) : s;
    s = s == NATS_OK ? natsOptions_SetReconnectWait(opts, PT_NATS_RETRY_MS) : s;
    s = s == NATS_OK ? natsOptions_SetPingInterval(opts, 5000) : s;
    s = s == NATS_OK ? natsOptions_SetTimeout(opts, REPLY_MS) : s;
    s = s == NATS_OK ? natsOptions_SetWriteDeadline(opts, REPLY_MS) : s; /* pings wait behind it */
    s = s == NATS_OK ? natsOptions_SetErrorHandler(opts, on_error, n) : s;
    s = s == NATS_OK ? set_tls(opts, o) : s;
    if (s == NATS_OK && o->creds != NULL) {
        s = natsOptions_SetUserCredentialsFromFiles(opts, o->creds, NULL);
    }
    if (s == NATS_OK && o->token != NULL && o->token[0] != '\0') {
        s = natsOptions_SetToken(opts, o->token);
    }
    if (s == NATS_OK && clock) {
        s = natsOptions_SetSendAsap(opts, true);
    } else if (s == NATS_OK) {
        s = natsOptions_SetDisconnectedCB(opts, on_disconnected, n);
        s = s == NATS_OK ? natsOptions_SetReconnectedCB(opts, on_reconnected, n) : s;
    }
    return s;
}

/* The status says less than what was wrong, where a file or a server's answer was. */
static const char *reason_of(natsStatus s) {
    natsStatus last = NATS_OK;
    const char *detail = nats_GetLastError(&last);
    return last == s && detail != NULL && detail[0] != '\0' ? detail : natsStatus_GetText(s);
}

static bool connect_all(pt_collect_nats_t *n) {
    bool told = false;
    while (!pt_nats_is_stopped(n)) {
        natsStatus s = n->nc == NULL ? natsConnection_Connect(&n->nc, n->options) : NATS_OK;
        s = s == NATS_OK && n->clock_nc == NULL
                ? natsConnection_Connect(&n->clock_nc, n->clock_options)
                : s;
        s = s == NATS_OK ? natsConnection_JetStream(&n->js, n->nc, NULL) : s;
        if (s == NATS_OK) {
            pt_store_relaxed(&n->connected, 1);
            tell_connected(n->nc, "connected to");
            return true;
        }
        if (!told) {
            told = true;
            pt_warn("no NATS server is reached (%s); it is tried again", reason_of(s));
        }
        pt_nats_nap(PT_NATS_RETRY_MS);
    }
    return false;
}

static void look_for_streams(pt_collect_nats_t *n) {
    jsStreamNamesList *list = NULL;
    jsErrCode code = 0;
    if (n->o.runs->count > 0) {
        for (size_t i = 0; i < n->o.runs->count; i++) {
            char name[65], stream[80];
            perftrace__stream_run_name(n->o.runs->items[i], name);
            snprintf(stream, sizeof stream, PT_NATS_STREAM_PREFIX "%s", name);
            start_worker(n, stream);
        }
    } else if (js_StreamNames(&list, n->js, NULL, &code) == NATS_OK) {
        for (int i = 0; i < list->Count; i++) {
            if (strncmp(list->List[i], PT_NATS_STREAM_PREFIX, strlen(PT_NATS_STREAM_PREFIX)) == 0) {
                start_worker(n, list->List[i]);
            }
        }
        jsStreamNamesList_Destroy(list);
    }
}

static void *run_nats(void *arg) {
    pt_collect_nats_t *n = arg;
    if (!connect_all(n)) {
        return NULL;
    }
    while (!pt_nats_is_stopped(n)) {
        look_for_streams(n);
        for (int i = 0; i < LIST_MS / PT_NATS_RETRY_MS && !pt_nats_is_stopped(n); i++) {
            pt_nats_nap(PT_NATS_RETRY_MS);
        }
    }
    return NULL;
}

/* libnats may call back until it is closed. */
static void free_nats(pt_collect_nats_t *n) {
    for (pt_nats_worker_t *w = n->workers; w != NULL; w = w->next) {
        for (int i = 0; i < 2; i++) {
            natsSubscription_Destroy(w->clock[i]);
        }
    }
    jsCtx_Destroy(n->js);
    natsConnection_Destroy(n->nc);
    natsConnection_Destroy(n->clock_nc);
    natsOptions_Destroy(n->options);
    natsOptions_Destroy(n->clock_options);
    if (nats_CloseAndWait(2000) == NATS_TIMEOUT) {
        return; /* a thread of libnats hangs, and may call back yet: the process is at its end */
    }
    for (pt_nats_worker_t *w = n->workers, *next; w != NULL; w = next) {
        next = w->next;
        free_worker(w);
    }
    pthread_mutex_destroy(&n->lock);
    free(n);
}

pt_collect_nats_t *pt_collect_nats_start(perftrace__net_loop_t *loop, pt_collect_service_t *service,
                                         const pt_collect_nats_options_t *options, char *problem,
                                         size_t size) {
    pt_collect_nats_t *n = calloc(1, sizeof *n);
    if (n == NULL) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    n->loop = loop;
    n->service = service;
    n->o = *options;
    pthread_mutex_init(&n->lock, NULL);
    natsStatus s = make_options(n, false, &n->options);
    s = s == NATS_OK ? make_options(n, true, &n->clock_options) : s;
    /* Before libnats is closed, whose text it is. */
    snprintf(problem, size, "%s", s != NATS_OK ? reason_of(s) : "no thread can be started");
    if (s != NATS_OK || pthread_create(&n->thread, NULL, run_nats, n) != 0) {
        free_nats(n);
        return NULL;
    }
    return n;
}

void pt_collect_nats_stop(pt_collect_nats_t *n) {
    if (n == NULL) {
        return;
    }
    pt_store_relaxed(&n->stop, 1);
    pthread_join(n->thread, NULL);
    for (pt_nats_worker_t *w = n->workers; w != NULL; w = w->next) {
        pthread_join(w->thread, NULL);
    }
    if (n->nc != NULL) {
        (void)natsConnection_FlushTimeout(n->nc, 2000); /* acknowledgements */
    }
    free_nats(n);
}

bool pt_collect_nats_is_connected(const pt_collect_nats_t *n) {
    return pt_load_relaxed(&n->connected) != 0;
}

bool pt_collect_nats_is_empty(const pt_collect_nats_t *n) {
    pt_collect_nats_t *mine = (pt_collect_nats_t *)(uintptr_t)n;
    pthread_mutex_lock(&mine->lock);
    bool empty = n->workers != NULL;
    for (const pt_nats_worker_t *w = n->workers; w != NULL; w = w->next) {
        empty = empty && pt_load_relaxed(&w->empty) != 0;
    }
    pthread_mutex_unlock(&mine->lock);
    return empty;
}

uint64_t pt_collect_nats_held(const pt_collect_nats_t *n) {
    pt_collect_nats_t *mine = (pt_collect_nats_t *)(uintptr_t)n;
    uint64_t held = 0;
    pthread_mutex_lock(&mine->lock);
    for (const pt_nats_worker_t *w = n->workers; w != NULL; w = w->next) {
        held += pt_load_relaxed(&w->held_told);
    }
    pthread_mutex_unlock(&mine->lock);
    return held;
}
