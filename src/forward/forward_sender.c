/* forward_sender.c. SPDX-License-Identifier: MIT */
#include "forward_sender.h"

#include "forward_clock.h"
#include "stream_pack.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE            (256u << 10) /* bytes of a file in one piece */
#define FIRST_PAUSE_MS   100u
#define LONGEST_PAUSE_MS 5000u
/* Longest time that sending stands still for a quiet moment to ask for the clock in. */
#define QUIET_NS 500000000u

struct perftrace__forward_sender {
    perftrace__forward_sender_options_t o;
    perftrace__forward_link_t *link;
    perftrace__forward_file_t *files;
    perftrace__stream_packer_t *packer;
    perftrace__strbuf_t piece;
    perftrace__strbuf_t packed;
    perftrace__forward_clock_t clock;
    perftrace__forward_totals_t totals;
    uint64_t next_try_ns;
    uint64_t quiet_since_ns; /* 0: not waiting for a quiet moment */
    uint32_t pause_ms;
    bool took;                         /* something was acknowledged on this way */
    unsigned told;                     /* troubles since something came of it: 1 << news */
    perftrace__forward_news_t trouble; /* the last one */
    char problem[600];                 /* of it */
};

typedef perftrace__forward_sender_t sender_t;

/* ---- what comes ---------------------------------------------------------------------------------
 */

static perftrace__forward_file_t *file_of(sender_t *s, uint64_t stream) {
    perftrace__forward_file_t *f = s->files;
    while (f && !(f->known && f->key.stream == stream)) {
        f = f->next;
    }
    return f;
}

static void acked(void *ctx, uint64_t stream, uint64_t offset, bool last) {
    sender_t *s = ctx;
    perftrace__forward_file_t *f = file_of(s, stream);
    s->took = true;
    if (f && offset <= f->limit) {
        f->acked = offset > f->acked ? offset : f->acked;
        /* More than was sent on this way: pieces of the one before it arrived late. */
        f->sent = f->acked > f->sent ? f->acked : f->sent;
        if (last && f->ended && f->acked == f->limit) {
            f->last_acked = !s->o.ops->seals || f->last_told == f->limit;
            f->last_sent = f->last_acked;
        }
    }
}

static void placed(void *ctx, uint64_t stream, uint64_t offset, bool last) {
    const sender_t *s = ctx;
    perftrace__forward_file_t *f = file_of(ctx, stream);
    if (!f) {
        return;
    }
    if (s->o.has) {
        s->o.has(s->o.ctx, f, offset);
    }
    /* More than there is: the file was cut after a crash of this machine, or it is not the same;
     * there is nothing to send to such a place before the file has grown to it. */
    f->placed = true;
    f->sent = offset;
    f->acked = offset;
    f->last_acked = last && f->ended && offset == f->limit;
    f->last_sent = f->last_acked;
}

static void placed_late(void *ctx, uint64_t stream, uint64_t offset, uint64_t end) {
    const perftrace__forward_file_t *f = file_of(ctx, stream);
    uint64_t known = f ? PT_MIN(f->acked, end) : 0;
    placed(ctx, stream, PT_MAX(known, offset), false);
}

static void clock_came(void *ctx, const char *t1, uint64_t t2, uint64_t t3, const char *ref) {
    uint64_t now = perftrace__os_mono_ns();
    sender_t *s = ctx;
    char *end;
    unsigned long long asked = strtoull(t1, &end, 10);
    if (end != t1 && *end == '\0') {
        perftrace__forward_clock_answer(&s->clock, asked, now, t2, t3, ref);
    }
}

/* ---- life ---------------------------------------------------------------------------------------
 */

sender_t *perftrace__forward_sender_new(const perftrace__forward_sender_options_t *o) {
    sender_t *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->o = *o;
    s->o.link.placed = placed;
    s->o.link.placed_late = placed_late;
    s->o.link.acked = acked;
    s->o.link.clock = clock_came;
    s->o.link.ctx = s;
    s->pause_ms = FIRST_PAUSE_MS;
    s->packer = perftrace__stream_packer_new(o->level);
    if (!s->packer) {
        free(s);
        return NULL;
    }
    return s;
}

void perftrace__forward_sender_free(sender_t *s) {
    if (!s) {
        return;
    }
    if (s->link) {
        s->o.ops->close(s->link);
    }
    for (perftrace__forward_file_t *f = s->files; f;) {
        perftrace__forward_file_t *next = f->next;
        perftrace__forward_file_free(f);
        f = next;
    }
    perftrace__stream_packer_free(s->packer);
    perftrace__strbuf_free(&s->piece);
    perftrace__strbuf_free(&s->packed);
    free(s);
}

void perftrace__forward_sender_orphan(sender_t *s) {
    if (!s) {
        return;
    }
    if (s->link) {
        s->o.ops->orphan(s->link);
    }
    for (perftrace__forward_file_t *f = s->files; f; f = f->next) {
        perftrace__os_close_file(f->fd, &f->id);
    }
}

void perftrace__forward_sender_add(sender_t *s, perftrace__forward_file_t *f) {
    perftrace__forward_file_t **end = &s->files;
    while (*end) {
        end = &(*end)->next;
    }
    f->next = NULL;
    *end = f;
}

void perftrace__forward_sender_take(sender_t *s, perftrace__forward_file_t *f) {
    perftrace__forward_file_t **at = &s->files;
    while (*at && *at != f) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = f->next;
        f->next = NULL;
    }
}

void perftrace__forward_sender_limit(sender_t *s, uint32_t timeout_ms) {
    s->o.link.timeout_ms = timeout_ms;
}

void perftrace__forward_sender_wake_by(sender_t *s, int wake_fd) {
    s->o.wake_fd = wake_fd;
}

bool perftrace__forward_sender_done(const sender_t *s) {
    for (const perftrace__forward_file_t *f = s->files; f; f = f->next) {
        if (!f->failed && !perftrace__forward_file_done(f)) {
            return false;
        }
    }
    return true;
}

uint64_t perftrace__forward_sender_left(const sender_t *s) {
    uint64_t left = 0;
    for (const perftrace__forward_file_t *f = s->files; f; f = f->next) {
        left += f->limit > f->acked ? f->limit - f->acked : 0;
    }
    return left;
}

bool perftrace__forward_sender_connected(const sender_t *s) {
    return s->link != NULL;
}

const char *perftrace__forward_sender_problem(const sender_t *s) {
    return s->problem;
}

const perftrace__forward_file_t *perftrace__forward_sender_files(const sender_t *s) {
    return s->files;
}

const perftrace__forward_totals_t *perftrace__forward_sender_totals(const sender_t *s) {
    return &s->totals;
}

/* ---- connecting ---------------------------------------------------------------------------------
 */

/* The next attempt: later each time, and not all ranks at the same moment. */
static void plan_try(sender_t *s) {
    uint64_t random = perftrace__os_random_u64() % (s->pause_ms / 2 + 1);
    s->next_try_ns = perftrace__os_mono_ns() + (s->pause_ms / 2 + random) * 1000000u;
    s->pause_ms = PT_MIN(s->pause_ms * 2, LONGEST_PAUSE_MS);
}

static void broke(sender_t *s, perftrace__forward_news_t trouble, const char *problem) {
    snprintf(s->problem, sizeof s->problem, "%s", problem);
    s->trouble = trouble;
    if (!(s->told & 1u << trouble)) {
        s->told |= 1u << trouble;
        s->o.news(s->o.ctx, trouble, s->problem);
    }
    if (s->link) {
        s->o.ops->close(s->link);
        s->link = NULL;
    }
    perftrace__forward_clock_broke(&s->clock);
    s->quiet_since_ns = 0;
    plan_try(s);
}

static bool connect_now(sender_t *s) {
    char problem[sizeof s->problem] = "";
    s->link = s->o.ops->open(&s->o.link, problem, sizeof problem);
    if (!s->link) {
        broke(s, PERFTRACE__FORWARD_UNREACHABLE, problem);
        return false;
    }
    s->took = false;
    s->totals.connects++;
    for (perftrace__forward_file_t *f = s->files; f; f = f->next) {
        f->asked = f->placed = f->last_sent = false;
        f->sent = f->acked;
    }
    return true;
}

/* ---- sending ------------------------------------------------------------------------------------
 */

static void tell_unreadable(sender_t *s, const perftrace__forward_file_t *f) {
    char text[4400];
    snprintf(text, sizeof text, "%s: %s", f->path, perftrace__forward_file_problem(f));
    s->o.news(s->o.ctx, PERFTRACE__FORWARD_UNREADABLE, text);
}

static perftrace__forward_sent_t send_piece(sender_t *s, perftrace__forward_file_t *f) {
    size_t len = 0;
    if (f->sent < f->limit &&
        (!perftrace__forward_file_read(f, &s->piece, PIECE, &len) || len == 0)) {
        if (f->failed == 0) {
            return PERFTRACE__FORWARD_FULL; /* no descriptor, no memory: later */
        }
        tell_unreadable(s, f);
        return PERFTRACE__FORWARD_SENT;
    }
    perftrace__strbuf_clear(&s->packed);
    if (len && !perftrace__stream_pack(s->packer, s->piece.data, len, &s->packed)) {
        return PERFTRACE__FORWARD_FULL; /* no memory: later */
    }
    bool last = f->ended && f->sent + len == f->limit;
    perftrace__forward_sent_t sent = s->o.ops->send(s->link, &f->key, f->sent, len, f->acked, last,
                                                    s->packed.data, s->packed.len);
    if (sent == PERFTRACE__FORWARD_SENT) {
        f->sent += len;
        f->last_sent = last;
        f->last_told = f->acked;
        s->totals.pieces++;
        s->totals.bytes += len;
        s->totals.packed += s->packed.len;
    }
    return sent;
}

static bool has_more(const perftrace__forward_file_t *f) {
    return !f->failed && f->placed && f->sent <= f->limit &&
           (f->sent < f->limit || (f->ended && !f->last_sent)) &&
           f->sent - f->acked < PERFTRACE__STREAM_WINDOW;
}

/* One piece of each file in turn, so that none waits for another. */
static perftrace__forward_sent_t send_all(sender_t *s) {
    for (bool any = true; any;) {
        any = false;
        for (perftrace__forward_file_t *f = s->files; f; f = f->next) {
            if (f->failed) {
                continue;
            }
            if (!perftrace__forward_file_identify(f)) {
                if (f->failed) {
                    tell_unreadable(s, f);
                }
                continue;
            }
            perftrace__forward_sent_t sent = PERFTRACE__FORWARD_SENT;
            if (f->placed && f->ended && f->sent > f->limit) {
                f->failed = ESTALE;
                tell_unreadable(s, f);
            } else if (!f->asked) {
                sent = s->o.ops->ask(s->link, &f->key);
                f->asked = sent == PERFTRACE__FORWARD_SENT;
                any = any || f->placed; /* the answer came during the call */
            } else if (has_more(f)) {
                sent = send_piece(s, f);
                any = true;
            }
            if (sent != PERFTRACE__FORWARD_SENT) {
                return sent;
            }
        }
    }
    return PERFTRACE__FORWARD_SENT;
}

/* ---- the clock ----------------------------------------------------------------------------------
 */

static bool on_its_way(const sender_t *s) {
    for (const perftrace__forward_file_t *f = s->files; f; f = f->next) {
        if (f->placed ? f->sent != f->acked : f->asked) {
            return true;
        }
    }
    return false;
}

/* Asks for the time when it is due, at a moment when nothing else is on its way: behind pieces the
 * question would be late, and the error large. True: sending is to wait for it. */
static bool tend_clock(sender_t *s, perftrace__forward_sent_t *ret_sent) {
    perftrace__forward_clock_t *c = &s->clock;
    *ret_sent = PERFTRACE__FORWARD_SENT;
    if (!s->o.reading) {
        return false;
    }
    uint64_t now = perftrace__os_mono_ns();
    if (!c->bursting) {
        if (!perftrace__forward_clock_due(c, now)) {
            return false;
        }
        s->quiet_since_ns = s->quiet_since_ns ? s->quiet_since_ns : now;
        if (on_its_way(s) && now - s->quiet_since_ns < QUIET_NS) {
            return true;
        }
        s->quiet_since_ns = 0;
        perftrace__forward_clock_begin(c);
    }
    bool any;
    perftrace__reference_t reading;
    if (perftrace__forward_clock_over(c, now, &any, &reading)) {
        if (any) {
            s->totals.readings++;
            s->o.reading(s->o.ctx, &reading);
        }
        return false;
    }
    if (!c->waiting) {
        char t1[24];
        now = perftrace__os_mono_ns();
        snprintf(t1, sizeof t1, "%" PRIu64, now);
        perftrace__forward_clock_ask(c, now);
        *ret_sent = s->o.ops->clock(s->link, t1);
        if (*ret_sent == PERFTRACE__FORWARD_FULL) { /* nobody there who knows */
            perftrace__forward_clock_skip(c, now);
            *ret_sent = PERFTRACE__FORWARD_SENT;
            return false;
        }
    }
    return true;
}

/* ---- a step -------------------------------------------------------------------------------------
 */

/* Nothing of it is on its way or to be sent. */
static bool rests(const perftrace__forward_file_t *f) {
    return f->failed ||
           (f->placed ? f->sent == f->acked && f->last_sent == f->last_acked && !has_more(f)
                      : !f->asked);
}

/* Something came of this way. That it is there is not enough: a collector that refuses is reached,
 * too, and a server whose store is full knows of places. */
static bool is_of_use(const sender_t *s) {
    bool placed = false;
    bool rest = true;
    for (const perftrace__forward_file_t *f = s->files; f; f = f->next) {
        placed = placed || f->placed;
        rest = rest && rests(f);
    }
    return s->took || (placed && rest);
}

static void tell_use(sender_t *s) {
    if (s->told) {
        bool refused = s->trouble == PERFTRACE__FORWARD_REFUSED;
        s->o.news(s->o.ctx, refused ? PERFTRACE__FORWARD_TAKEN : PERFTRACE__FORWARD_REACHED,
                  s->o.link.to);
    }
    s->told = 0;
    s->problem[0] = '\0';
    s->pause_ms = FIRST_PAUSE_MS;
}

static void wait_unconnected(sender_t *s, uint32_t timeout_ms) {
    uint64_t now = perftrace__os_mono_ns();
    uint64_t until = s->next_try_ns > now ? (s->next_try_ns - now) / 1000000u + 1 : 0;
    struct pollfd p = {.fd = s->o.wake_fd, .events = POLLIN, .revents = 0};
    poll(&p, s->o.wake_fd >= 0, (int)PT_MIN((uint64_t)timeout_ms, until));
}

void perftrace__forward_sender_step(sender_t *s, uint32_t timeout_ms) {
    if (!s->link && (perftrace__os_mono_ns() < s->next_try_ns || !connect_now(s))) {
        wait_unconnected(s, timeout_ms);
        return;
    }
    perftrace__forward_sent_t sent;
    if (!tend_clock(s, &sent) && sent == PERFTRACE__FORWARD_SENT) {
        sent = send_all(s);
    }
    /* The wait ends at the latest when the clock is due. */
    uint64_t now = perftrace__os_mono_ns();
    if (s->o.reading && s->clock.next_ns > now && !s->clock.bursting) {
        uint64_t until = (s->clock.next_ns - now) / 1000000u + 1;
        timeout_ms = until < timeout_ms ? (uint32_t)until : timeout_ms;
    }
    if (s->clock.bursting && !s->clock.waiting) {
        timeout_ms = 0; /* the answer came during the call: the next question follows at once */
    }
    if (sent == PERFTRACE__FORWARD_BROKEN || !s->o.ops->wait(s->link, s->o.wake_fd, timeout_ms)) {
        bool refuses = s->o.ops->refuses && s->o.ops->refuses(s->link);
        broke(s, refuses ? PERFTRACE__FORWARD_REFUSED : PERFTRACE__FORWARD_UNREACHABLE,
              s->o.ops->problem(s->link));
    } else if ((s->told || s->pause_ms != FIRST_PAUSE_MS) && is_of_use(s)) {
        tell_use(s);
    }
}
