/* described.c. SPDX-License-Identifier: MIT */
#include "described.h"

#include "file_rank.h"

#include <perftrace/status.h>

#include <stdlib.h>
#include <string.h>

bool pt_described_name(pt_described_t *d, const char *path) {
    static const perftrace_trace_name_t nothing = PERFTRACE_TRACE_NAME_INIT;
    *d = (pt_described_t){.all = nothing, .start_ns = -1, .size = -1};
    d->by_name = perftrace_trace_describe(path, &d->all, d->label, sizeof(d->label)) == 0;
    if (!d->by_name) {
        d->all = nothing;
        d->all.rank = (int)PT_MIN(pt_file_rank(path), INT32_MAX);
    } else if (d->all.time_ms >= 0) {
        d->start_ns = d->all.time_ms * 1000000;
    }
    d->path = strdup(path);
    return d->path != NULL;
}

/* The header's number, where it has one; tells a doubt when the name had another. */
static void take_number(pt_described_t *d, int *place, int64_t value, const char *what) {
    if (value >= 0 && value <= INT32_MAX) {
        if (d->by_name && *place >= 0 && *place != value && !d->doubt) {
            d->doubt = what;
        }
        *place = (int)value;
    }
}

static bool take_text(char **copy, const char **place, const char *text) {
    if (text && *text) {
        *copy = strdup(text);
        *place = *copy ? *copy : *place;
        return *copy != NULL;
    }
    return true;
}

bool pt_described_header(pt_described_t *d, const pt_source_t *s) {
    perftrace_trace_name_t *n = &d->all;
    if (!s->ours) {
        return true;
    }
    d->by_header = true;
    take_number(d, &n->rank, s->has_rank && !s->rank_guessed ? s->rank : -1, "rank");
    take_number(d, &n->world_size, s->world_size, "world size");
    take_number(d, &n->tp, s->tp, "tensor parallel rank");
    take_number(d, &n->pp, s->pp, "pipeline parallel rank");
    take_number(d, &n->dp, s->dp, "data parallel rank");
    take_number(d, &n->cp, s->cp, "context parallel rank");
    take_number(d, &n->ep, s->ep, "expert parallel rank");
    if (s->pid > 0) {
        if (d->by_name && n->pid >= 0 && n->pid != s->pid && !d->doubt) {
            d->doubt = "process";
        }
        n->pid = s->pid;
    }
    if (d->start_ns < 0 && s->has_epoch) {
        d->start_ns = s->epoch_ns;
    }
    const char *ignored = NULL;
    return take_text(&d->role, &n->role, s->role) && take_text(&d->host, &n->host, s->host) &&
           take_text(&d->run_id, &ignored, s->run_id);
}

void pt_described_step(pt_described_t *d, int64_t step) {
    perftrace_trace_name_t *n = &d->all;
    if (step >= 0) {
        n->first_step = n->first_step < 0 ? step : PT_MIN(n->first_step, step);
        n->last_step = PT_MAX(n->last_step, step);
    }
}

void pt_described_free(pt_described_t *d) {
    if (d) {
        free(d->path);
        free(d->role);
        free(d->host);
        free(d->run_id);
        *d = (pt_described_t){0};
    }
}
