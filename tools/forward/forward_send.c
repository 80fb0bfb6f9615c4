/* forward_send.c. SPDX-License-Identifier: MIT */
#include "forward_send.h"

#include "address_shown.h"
#include "message.h"
#include "os.h"

#include <stdio.h>
#include <string.h>

#define CONNECT_NS     UINT64_C(5000000000)
#define PER_CONNECTION 1000u /* files; a collector lets one connection ask for 4096 */

pt_exit_t pt_forward_send_init(pt_forward_send_t *s) {
    char problem[512] = "";
    perftrace__address_shown(s->o->to, s->shown, sizeof s->shown);
    s->ops = perftrace__forward_link_find(s->o->to, &s->to, problem, sizeof problem);
    if (!s->ops) {
        pt_error("%s: %s", s->shown, problem);
        return PT_EXIT_USAGE;
    }
    return PT_EXIT_OK;
}

/* ---- what the sender tells ----------------------------------------------------------------------
 */

static pt_forward_entry_t *entry_of(pt_forward_send_t *s, const perftrace__forward_file_t *f) {
    for (unsigned i = 0; i < s->count; i++) {
        if (s->at_work[i].file == f) {
            return &s->book->items[s->at_work[i].index];
        }
    }
    return NULL;
}

static void on_news(void *ctx, perftrace__forward_news_t what, const char *text) {
    pt_forward_send_t *s = ctx;
    switch (what) {
    case PERFTRACE__FORWARD_UNREACHABLE:
    case PERFTRACE__FORWARD_REFUSED:
        pt_warn("%s: %s; it is tried again", s->shown, text);
        break;
    case PERFTRACE__FORWARD_REACHED:
        pt_note("%s: reached", s->shown);
        break;
    case PERFTRACE__FORWARD_TAKEN:
        pt_note("%s: pieces are taken again", s->shown);
        break;
    case PERFTRACE__FORWARD_UNREADABLE:
        pt_warn("%s", text);
        break;
    }
}

static void on_has(void *ctx, const perftrace__forward_file_t *f, uint64_t offset) {
    pt_forward_entry_t *e = entry_of(ctx, f);
    if (e && !e->answered) {
        e->answered = true;
        e->had = PT_MIN(offset, e->size);
    }
}

/* ---- files in and out ---------------------------------------------------------------------------
 */

static bool open_sender(pt_forward_send_t *s) {
    const pt_forward_options_t *o = s->o;
    uint64_t connect_ns = o->timeout_ns ? PT_MIN(o->timeout_ns, CONNECT_NS) : CONNECT_NS;
    const perftrace__forward_sender_options_t so = {
        .ops = s->ops,
        .link = {.to = s->to,
                 .run = s->run,
                 .token = o->token,
                 .creds = o->creds,
                 .tls_ca = o->tls_ca,
                 .replicas = (uint32_t)o->replicas,
                 .timeout_ms = (uint32_t)(connect_ns / 1000000u + 1)},
        .news = on_news,
        .has = on_has,
        .ctx = s,
        .level = (int)o->level,
        .wake_fd = s->wake_fd,
    };
    s->sender = perftrace__forward_sender_new(&so);
    s->taken = 0;
    s->progress_ns = perftrace__os_mono_ns();
    return s->sender != NULL;
}

static void close_sender(pt_forward_send_t *s) {
    const char *problem = perftrace__forward_sender_problem(s->sender);
    if (problem[0]) {
        snprintf(s->problem, sizeof s->problem, "%s", problem);
    }
    const perftrace__forward_totals_t *t = perftrace__forward_sender_totals(s->sender);
    s->pieces += t->pieces;
    s->packed += t->packed;
    s->connects += t->connects;
    perftrace__forward_sender_free(s->sender);
    s->sender = NULL;
}

static bool start_file(pt_forward_send_t *s, size_t index) {
    pt_forward_entry_t *e = &s->book->items[index];
    perftrace__forward_file_t *f = perftrace__forward_file_new(e->path, &e->of.key);
    if (!f) {
        pt_forward_book_set(s->book, index, PT_FORWARD_FAILED, "no memory");
        return false;
    }
    f->limit = e->size;
    f->ended = true;
    e->answered = false;
    s->at_work[s->count].file = f;
    s->at_work[s->count].index = index;
    s->at_work[s->count].counted = 0;
    s->count++;
    s->taken++;
    perftrace__forward_sender_add(s->sender, f);
    pt_forward_book_set(s->book, index, PT_FORWARD_AT_WORK, "");
    return true;
}

/* Takes up files of the connection's run, of any run where there is no connection. */
static void feed(pt_forward_send_t *s) {
    pt_forward_book_t *b = s->book;
    for (; b->ready && s->count < PT_FORWARD_AT_ONCE && s->next < b->count &&
           (!s->sender || s->taken < PER_CONNECTION);
         s->next++) {
        const pt_forward_entry_t *e = &b->items[s->next];
        if (e->state != PT_FORWARD_READY) {
            continue;
        }
        if (!s->sender) {
            memcpy(s->run, e->of.key.run, sizeof s->run);
            if (!open_sender(s)) {
                pt_forward_book_set(b, s->next, PT_FORWARD_FAILED, "no memory");
                continue;
            }
        }
        if (strcmp(s->run, e->of.key.run) == 0) {
            start_file(s, s->next);
        }
    }
}

static void end_file(pt_forward_send_t *s, unsigned i, pt_forward_state_t state, const char *why) {
    perftrace__forward_file_t *f = s->at_work[i].file;
    pt_forward_book_set(s->book, s->at_work[i].index, state, why);
    perftrace__forward_sender_take(s->sender, f);
    perftrace__forward_file_free(f);
    s->at_work[i] = s->at_work[--s->count];
}

/* What was acknowledged. True: something was. */
static bool harvest(pt_forward_send_t *s) {
    bool any = false;
    for (unsigned i = s->count; i-- > 0;) {
        const perftrace__forward_file_t *f = s->at_work[i].file;
        pt_forward_entry_t *e = &s->book->items[s->at_work[i].index];
        uint64_t acked = PT_MIN(f->acked, e->size);
        if (acked > s->at_work[i].counted) {
            pt_progress_add(s->progress, acked - s->at_work[i].counted);
            s->at_work[i].counted = acked;
            any = true;
        }
        e->acked = acked;
        if (f->failed) {
            end_file(s, i, PT_FORWARD_FAILED, perftrace__forward_file_problem(f));
            any = true;
        } else if (perftrace__forward_file_done(f)) {
            end_file(s, i, PT_FORWARD_DONE, "");
            any = true;
        }
    }
    return any;
}

/* ---- a step -------------------------------------------------------------------------------------
 */

/* Nothing came for too long. A refusal is about one run, the next one may be welcome. */
static void give_up(pt_forward_send_t *s) {
    char why[sizeof s->book->items->why];
    char run[sizeof s->run];
    const char *problem = perftrace__forward_sender_problem(s->sender);
    bool refused = strncmp(problem, "refused: ", 9) == 0;
    snprintf(why, sizeof why, "not sent: %.180s",
             problem[0] ? problem : "nothing was acknowledged");
    memcpy(run, s->run, sizeof run);
    pt_forward_send_stop(s);
    s->gave_up = true;
    for (size_t i = 0; i < s->book->count; i++) {
        pt_forward_entry_t *e = &s->book->items[i];
        if (e->state == PT_FORWARD_READY && (!refused || strcmp(e->of.key.run, run) == 0)) {
            pt_forward_book_set(s->book, i, PT_FORWARD_LEFT, why);
        }
    }
}

bool pt_forward_send_step(pt_forward_send_t *s, uint32_t timeout_ms) {
    if (!s->sender) {
        s->next = 0;
    }
    feed(s);
    if (s->sender && s->count == 0) { /* others are of another run, or it had enough */
        close_sender(s);
        s->next = 0;
        feed(s);
    }
    if (!s->sender) {
        return false;
    }
    perftrace__forward_sender_step(s->sender, timeout_ms);
    uint64_t now = perftrace__os_mono_ns();
    if (harvest(s)) {
        s->progress_ns = now;
    } else if (s->o->timeout_ns && now - s->progress_ns >= s->o->timeout_ns) {
        give_up(s);
    }
    return true;
}

void pt_forward_send_stop(pt_forward_send_t *s) {
    while (s->count) {
        end_file(s, s->count - 1, PT_FORWARD_READY, "");
    }
    if (s->sender) {
        close_sender(s);
    }
    s->next = 0;
}
