/* ctl_worker.c: whom the tool asks. SPDX-License-Identifier: MIT */
#include "ctl_worker.h"

#include "ctl_request.h"
#include "endpoint.h"
#include "http_client.h"
#include "json_doc.h"
#include "message.h"
#include "natural.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUTER_MS 10000

static void PT_PRINTF(3, 4) complain(const pt_ctl_workers_t *w, bool error, const char *fmt, ...) {
    perftrace__strbuf_t text = PERFTRACE__STRBUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    perftrace__strbuf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (w->silent) {
        pt_detail("%s", perftrace__strbuf_cstr(&text));
    } else if (error) {
        pt_error("%s", perftrace__strbuf_cstr(&text));
    } else {
        pt_warn("%s", perftrace__strbuf_cstr(&text));
    }
    perftrace__strbuf_free(&text);
}

static bool add(pt_ctl_workers_t *w, const char *url, int64_t rank, bool has_rank) {
    for (size_t i = 0; i < w->count; i++) {
        if (strcmp(w->worker[i].url, url) == 0) {
            return true; /* named twice, asked once */
        }
    }
    if (w->count == w->cap) {
        size_t cap = w->cap > 0 ? 2 * w->cap : 16;
        pt_ctl_worker_t *more = realloc(w->worker, cap * sizeof *more);
        if (more == NULL) {
            return false;
        }
        w->worker = more;
        w->cap = cap;
    }
    char *copy = strdup(url);
    if (copy == NULL) {
        return false;
    }
    w->worker[w->count++] = (pt_ctl_worker_t){copy, rank, has_rank, -1, false};
    return true;
}

/* ---- a router's list ---- */

static const char *url_of(const perftrace__json_node_t *node) {
    const char *url = NULL;
    if (!perftrace__json_get_string(node, "url", &url)) {
        perftrace__json_get_string(node, "", &url);
    }
    return url != NULL && url[0] != '\0' ? url : NULL;
}

/* {"workers": [{"url": ..., "is_healthy": ...}]}, or as SGLang's router has it {"urls": [...]}. */
static bool take_list(pt_ctl_workers_t *w, const perftrace__strbuf_t *reply, bool *ret_good) {
    perftrace__json_doc_t *doc = perftrace__json_doc_load(reply->data, reply->len, 0, NULL);
    const perftrace__json_node_t *root = doc != NULL ? perftrace__json_doc_root(doc) : NULL;
    const perftrace__json_node_t *list = perftrace__json_node_at(root, "workers");
    list = list != NULL ? list : perftrace__json_node_at(root, "urls");
    bool enough = true;
    *ret_good = perftrace__json_node_type(list) == PERFTRACE__JSON_ARRAY;
    for (const perftrace__json_node_t *n = perftrace__json_node_first(list); n != NULL && enough;
         n = perftrace__json_node_next(n)) {
        const char *url = url_of(n);
        bool healthy = true;
        if (url == NULL) {
            complain(w, false, "the router lists a worker without a url: left out");
            continue;
        }
        size_t before = w->count;
        enough = add(w, url, (int64_t)w->count, false);
        perftrace__json_get_bool(n, "is_healthy", &healthy);
        if (w->count > before && !healthy) {
            w->worker[before].unhealthy = true;
        }
    }
    perftrace__json_doc_free(doc);
    return enough;
}

static pt_exit_t take_answer(pt_ctl_workers_t *w, const perftrace__http_call_t *call) {
    bool good = false;
    if (call->outcome != PERFTRACE__HTTP_ANSWERED) {
        complain(w, true, "router %s: %s", call->url, call->problem);
        return PT_EXIT_INPUT;
    }
    if (call->status != 200) {
        complain(w, true, "router %s: GET %s is answered with %u", call->url, call->path,
                 call->status);
        return PT_EXIT_INPUT;
    }
    if (!take_list(w, &call->reply, &good)) {
        return PT_EXIT_INTERNAL;
    }
    if (!good) {
        complain(w, true, "router %s: GET %s gives no list of workers", call->url, call->path);
    }
    return good ? PT_EXIT_OK : PT_EXIT_INPUT;
}

/* A list takes no time: a long limit is for the workers. */
static uint32_t router_ms(const pt_ctl_options_t *o) {
    return o->rpc_timeout_ns ? PT_MIN(pt_ctl_timeout_ms(o), ROUTER_MS) : ROUTER_MS;
}

static pt_exit_t ask_router(pt_ctl_workers_t *w, const pt_ctl_options_t *o) {
    static const char *const paths[] = {"/workers", "/list_workers"};
    pt_exit_t status = PT_EXIT_INPUT;
    bool elsewhere = true;
    for (size_t i = 0; i < PT_ARRAY_LEN(paths) && elsewhere; i++) {
        perftrace__http_call_t call = {.url = o->router_url,
                                       .method = "GET",
                                       .path = paths[i],
                                       .token = o->token,
                                       .timeout_ms = router_ms(o)};
        if (!perftrace__http_calls(&call, 1)) {
            return PT_EXIT_INTERNAL;
        }
        elsewhere = i + 1 < PT_ARRAY_LEN(paths) && call.outcome == PERFTRACE__HTTP_ANSWERED &&
                    call.status == 404;
        if (!elsewhere) {
            status = take_answer(w, &call);
        }
        perftrace__strbuf_free(&call.reply);
    }
    return status;
}

/* ---- endpoint files ---- */

static int is_endpoint(const struct dirent *e) {
    size_t len = strlen(e->d_name), end = sizeof PERFTRACE__ENDPOINT_SUFFIX - 1;
    return strncmp(e->d_name, "control-", 8) == 0 && len > end &&
           strcmp(e->d_name + len - end, PERFTRACE__ENDPOINT_SUFFIX) == 0;
}

static bool take_endpoint(pt_ctl_workers_t *w, const char *dir, const char *name) {
    perftrace__endpoint_t e = {.rank = -1};
    perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_printf(&path, "%s/%s", dir, name);
    const char *file = perftrace__strbuf_cstr(&path);
    bool enough = !path.failed;
    int rc = enough ? perftrace__endpoint_read(file, &e) : 0;
    if (rc != 0) {
        complain(w, false, "%s: %s", file,
                 rc == -EINVAL ? "it is no endpoint file" : strerror(-rc));
    } else if (enough && perftrace__endpoint_owner(&e) == PERFTRACE__ENDPOINT_DEAD) {
        complain(w, false, "%s: process %lld is gone (killed?); its file is left out", file,
                 (long long)e.pid);
    } else if (enough) {
        size_t before = w->count;
        enough = add(w, e.url, e.rank, e.rank >= 0);
        if (w->count > before) {
            w->worker[before].world_size = e.world_size;
        }
    }
    perftrace__strbuf_free(&path);
    return enough;
}

static int compare_entries(const struct dirent **a, const struct dirent **b) {
    return pt_natural_compare((*a)->d_name, (*b)->d_name);
}

static pt_exit_t look_into(pt_ctl_workers_t *w, const char *dir) {
    struct dirent **entries;
    bool enough = true;
    int n = scandir(dir, &entries, is_endpoint, compare_entries);
    if (n < 0) {
        complain(w, true, "%s: %s", dir, strerror(errno));
        return errno == ENOMEM ? PT_EXIT_INTERNAL : PT_EXIT_INPUT;
    }
    if (n == 0) {
        complain(w, false, "%s: no process listens there (PERFTRACE_CONTROL=on makes it)", dir);
    }
    for (int i = 0; i < n; i++) {
        enough = enough && take_endpoint(w, dir, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return enough ? PT_EXIT_OK : PT_EXIT_INTERNAL;
}

/* ---- all ---- */

static void keep_ranks(pt_ctl_workers_t *w, const pt_number_ranges_t *ranks) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->worker[i].rank >= 0 && pt_number_ranges_has(ranks, w->worker[i].rank)) {
            w->worker[kept++] = w->worker[i];
        } else {
            free(w->worker[i].url);
        }
    }
    if (kept == 0 && w->count > 0) {
        complain(w, true, "of %zu worker%s none has a rank in --ranks", w->count,
                 PT_PLURAL(w->count));
    }
    w->count = kept;
}

static bool has_rank(const pt_ctl_workers_t *w, int64_t rank) {
    for (size_t i = 0; i < w->count; i++) {
        if (w->worker[i].has_rank && w->worker[i].rank == rank) {
            return true;
        }
    }
    return false;
}

bool pt_ctl_workers_all(const pt_ctl_workers_t *w, const pt_ctl_options_t *o) {
    int64_t world = 0;
    bool all = w->count > 0;
    for (size_t i = 0; i < w->count; i++) {
        world = PT_MAX(world, w->worker[i].world_size);
    }
    for (int64_t rank = 0; rank < world && all; rank++) {
        bool wanted = o->ranks == NULL || pt_number_ranges_has(&o->rank_list, rank);
        all = !wanted || has_rank(w, rank);
    }
    return all;
}

pt_exit_t pt_ctl_workers_find(pt_ctl_workers_t *w, const pt_ctl_options_t *o, bool silent) {
    pt_exit_t status = PT_EXIT_OK;
    *w = (pt_ctl_workers_t){NULL, 0, 0, silent};
    if (o->router_url != NULL) {
        status = ask_router(w, o);
        if (status == PT_EXIT_OK && w->count == 0) {
            complain(w, true, "router %s: it has no workers", o->router_url);
        }
    }
    for (size_t i = 0; i < o->workers.count && status == PT_EXIT_OK; i++) {
        status = add(w, o->workers.items[i], (int64_t)w->count, false) ? status : PT_EXIT_INTERNAL;
    }
    for (size_t i = 0; i < o->run_dirs.count && status == PT_EXIT_OK; i++) {
        status = look_into(w, o->run_dirs.items[i]);
    }
    if (status == PT_EXIT_INTERNAL) {
        pt_error("out of memory");
    }
    if (status == PT_EXIT_OK && o->ranks != NULL) {
        keep_ranks(w, &o->rank_list);
    }
    return status;
}

void pt_ctl_workers_free(pt_ctl_workers_t *w) {
    for (size_t i = 0; i < w->count; i++) {
        free(w->worker[i].url);
    }
    free(w->worker);
    *w = (pt_ctl_workers_t){NULL, 0, 0, false};
}
