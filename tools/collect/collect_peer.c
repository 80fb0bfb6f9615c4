/* collect_peer.c: one sender's side of the protocol, bytes to bytes. SPDX-License-Identifier: MIT
 */
#include "collect_peer.h"

#include "grow.h"
#include "http_guard.h"
#include "message.h"
#include "os.h"

#include <stdio.h>
#include <stdlib.h>

#define ASKED_MAX 4096u

typedef pt_collect_peer_t peer_t;

static const char *const ended_words[] = {
#define X(name, word, text) word,
    PT_COLLECT_ENDED_LIST(X)
#undef X
};
static const char *const ended_texts[] = {
#define X(name, word, text) text,
    PT_COLLECT_ENDED_LIST(X)
#undef X
};

const char *pt_collect_ended_word(pt_collect_ended_t cause) {
    return ended_words[cause];
}

bool pt_collect_service_init(pt_collect_service_t *s, pt_collect_store_t *store, const char *token,
                             const pt_string_list_t *runs) {
    memset(s, 0, sizeof *s);
    s->store = store;
    s->token = token != NULL && token[0] != '\0' ? token : NULL;
    s->runs = runs;
    perftrace__os_boot_id(s->ref);
    s->unpacker = perftrace__stream_unpacker_new();
    s->plain = malloc(PERFTRACE__STREAM_PIECE_MAX);
    return s->unpacker != NULL && s->plain != NULL;
}

void pt_collect_service_free(pt_collect_service_t *s) {
    perftrace__stream_unpacker_free(s->unpacker);
    free(s->plain);
}

peer_t *pt_collect_peer_new(pt_collect_service_t *service, const char *name) {
    peer_t *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->service = service;
        snprintf(p->name, sizeof p->name, "%s", name);
    }
    return p;
}

void pt_collect_peer_free(peer_t *p) {
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < p->asked_count; i++) {
        p->asked[i].stream->senders--;
    }
    free(p->asked);
    pt_collect_wire_free(&p->wire);
    perftrace__strbuf_free(&p->rest);
    perftrace__strbuf_free(&p->out);
    free(p);
}

size_t pt_collect_peer_held(const peer_t *p) {
    return pt_collect_wire_held(&p->wire) + p->rest.cap;
}

void pt_collect_peer_end(peer_t *p, pt_collect_ended_t cause, const char *text) {
    if (p->state == PT_COLLECT_PEER_ENDED) {
        return;
    }
    p->state = PT_COLLECT_PEER_ENDED;
    pt_collect_store_t *store = p->service->store;
    if (!store->o.sync || (p->acks && pt_collect_store_sync(store) == 0)) {
        pt_collect_peer_put_acks(p);
    }
    perftrace__stream_put_error(&p->out, text);
    if (p->service->ended[cause]++ < PT_WARN_SOME || pt_message_verbosity() == PT_VERBOSE) {
        pt_warn("%s: %s: the connection is closed%s%s", p->name, ended_texts[cause],
                strcmp(text, ended_texts[cause]) != 0 ? ": " : "",
                strcmp(text, ended_texts[cause]) != 0 ? text : "");
    }
}

static void end(peer_t *p, pt_collect_ended_t cause) {
    pt_collect_peer_end(p, cause, ended_texts[cause]);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

void pt_collect_peer_put_acks(peer_t *p) {
    for (size_t i = 0; p->acks && i < p->asked_count; i++) {
        pt_collect_asked_t *a = &p->asked[i];
        if (a->ack_due) {
            a->ack_due = false;
            perftrace__stream_put_ack(&p->out, a->stream->key.stream, a->stream->have,
                                      a->stream->ended);
        }
    }
    p->acks = false;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static bool take_hello(peer_t *p) {
    const perftrace__stream_message_t *m = &p->wire.message;
    pt_collect_service_t *s = p->service;
    if (p->greeted) {
        end(p, PT_COLLECT_ENDED_ORDER);
    } else if (m->version != PERFTRACE__STREAM_VERSION) {
        end(p, PT_COLLECT_ENDED_VERSION);
    } else if (s->token != NULL && !perftrace__same_secret(m->token, strlen(m->token), s->token)) {
        end(p, PT_COLLECT_ENDED_TOKEN);
    } else if (!m->key.run[0] || (s->runs->count > 0 && !pt_string_list_has(s->runs, m->key.run))) {
        end(p, PT_COLLECT_ENDED_RUN);
    } else if ((p->run = pt_collect_store_run(s->store, m->key.run)) == NULL) {
        end(p, pt_collect_store_has_many_runs(s->store) ? PT_COLLECT_ENDED_MANY
                                                        : PT_COLLECT_ENDED_MEMORY);
    } else {
        p->greeted = true;
        perftrace__stream_put_hello_answer(&p->out, s->ref);
    }
    return true;
}

static pt_collect_asked_t *find_asked(peer_t *p, uint64_t id) {
    if (p->asked_last < p->asked_count && p->asked[p->asked_last].stream->key.stream == id) {
        return &p->asked[p->asked_last];
    }
    for (size_t i = 0; i < p->asked_count; i++) {
        if (p->asked[i].stream->key.stream == id) {
            p->asked_last = i;
            return &p->asked[i];
        }
    }
    return NULL;
}

/* Whether the message fits what is known of the stream. False: the connection has ended. */
static bool knows(peer_t *p, pt_collect_stream_t *stream) {
    if (!pt_collect_store_learn(p->service->store, stream, &p->wire.message.key)) {
        pt_collect_peer_end(p, PT_COLLECT_ENDED_GARBAGE, PT_COLLECT_OTHER_KIND);
        return false;
    }
    return true;
}

/* The stream of the message. NULL: the connection has ended. */
static pt_collect_asked_t *ask(peer_t *p) {
    const perftrace__stream_key_t *key = &p->wire.message.key;
    pt_collect_asked_t *a = find_asked(p, key->stream);
    bool limit = false;
    char name[65];
    perftrace__stream_run_name(key->run, name);
    if (strcmp(name, p->run->name) != 0) {
        end(p, PT_COLLECT_ENDED_RUN);
        return NULL;
    }
    if (a != NULL) {
        return knows(p, a->stream) ? a : NULL;
    }
    pt_collect_stream_t *stream =
        p->asked_count < ASKED_MAX ? pt_collect_store_stream(p->service->store, p->run, key, &limit)
                                   : NULL;
    if (stream == NULL) {
        end(p,
            limit || p->asked_count >= ASKED_MAX ? PT_COLLECT_ENDED_MANY : PT_COLLECT_ENDED_MEMORY);
        return NULL;
    }
    if (!knows(p, stream)) {
        return NULL;
    }
    if (!pt_grow((void **)&p->asked, sizeof *p->asked, p->asked_count, 1, &p->asked_cap)) {
        end(p, PT_COLLECT_ENDED_MEMORY);
        return NULL;
    }
    a = &p->asked[p->asked_count++];
    *a = (pt_collect_asked_t){.stream = stream};
    stream->senders++;
    stream->had_senders = true;
    return a;
}

static bool take_have(peer_t *p) {
    pt_collect_asked_t *a = ask(p);
    if (a == NULL) {
        return true;
    }
    if (!pt_collect_store_place(p->service->store, a->stream)) {
        return false;
    }
    a->gap_at = 0;
    perftrace__stream_put_have_answer(&p->out, a->stream->key.stream, a->stream->have,
                                      a->stream->ended);
    return true;
}

static bool take_piece(peer_t *p, pt_collect_asked_t *a) {
    const perftrace__stream_message_t *m = &p->wire.message;
    pt_collect_service_t *s = p->service;
    pt_collect_stream_t *stream = a->stream;
    pt_collect_result_t result;
    if (m->size > 0 && !perftrace__stream_unpack(s->unpacker, p->wire.body.data, p->wire.body.len,
                                                 s->plain, (size_t)m->size)) {
        result = pt_collect_store_refuse(s->store, &m->key, m->offset, PT_COLLECT_REFUSED_UNPACK);
    } else {
        result =
            pt_collect_store_take(s->store, stream, m->offset, s->plain, (size_t)m->size, m->last);
    }
    switch (result) {
    case PT_COLLECT_AGAIN:
        return false;
    case PT_COLLECT_REFUSED:
        pt_collect_peer_end(p, PT_COLLECT_ENDED_PIECE, pt_collect_refused_text(s->store->refusal));
        break;
    case PT_COLLECT_GAP:
        /* What is on its way leaves the same gap: it is told once. */
        if (a->gap_at != stream->have + 1) {
            a->gap_at = stream->have + 1;
            perftrace__stream_put_have_answer(&p->out, stream->key.stream, stream->have,
                                              stream->ended);
        }
        break;
    case PT_COLLECT_WRITTEN:
    case PT_COLLECT_KNOWN:
        a->gap_at = 0;
        a->ack_due = p->acks = true;
        break;
    }
    return true;
}

static bool take_clock(peer_t *p) {
    const perftrace__stream_message_t *m = &p->wire.message;
    p->service->clocks++;
    p->urgent = true;
    perftrace__stream_put_clock_answer(&p->out, m->t1, p->received_ns, perftrace__os_mono_ns(),
                                       p->service->ref);
    return true;
}

/* False: to be tried again. */
static bool take_message(peer_t *p) {
    if (!p->greeted && p->wire.message.type != PERFTRACE__STREAM_HELLO) {
        end(p, PT_COLLECT_ENDED_ORDER);
        return true;
    }
    switch (p->wire.message.type) {
    case PERFTRACE__STREAM_HELLO:
        return take_hello(p);
    case PERFTRACE__STREAM_HAVE:
        return take_have(p);
    case PERFTRACE__STREAM_DATA: {
        pt_collect_asked_t *a = ask(p);
        return a == NULL || take_piece(p, a);
    }
    case PERFTRACE__STREAM_CLOCK:
        return take_clock(p);
    case PERFTRACE__STREAM_NONE:
    case PERFTRACE__STREAM_ACK:
    case PERFTRACE__STREAM_ERROR:
        break;
    }
    end(p, PT_COLLECT_ENDED_ORDER);
    return true;
}

/* Takes bytes until all are taken or a message is stalled; how many. */
static size_t feed(peer_t *p, const char *data, size_t len) {
    size_t done = 0;
    while (done < len && p->state == PT_COLLECT_PEER_OPEN) {
        size_t used;
        pt_collect_wire_found_t found =
            pt_collect_wire_feed(&p->wire, data + done, len - done, &used);
        done += used;
        if (found == PT_COLLECT_WIRE_GARBAGE) {
            pt_collect_peer_end(p, PT_COLLECT_ENDED_GARBAGE, p->wire.problem);
        } else if (found == PT_COLLECT_WIRE_NO_MEMORY) {
            end(p, PT_COLLECT_ENDED_MEMORY);
        } else if (found == PT_COLLECT_WIRE_MESSAGE) {
            if (take_message(p)) {
                pt_collect_wire_trim(&p->wire);
            } else {
                p->state = PT_COLLECT_PEER_STALLED;
            }
        }
        if (p->out.failed) {
            p->state = PT_COLLECT_PEER_ENDED;
        }
    }
    return done;
}

void pt_collect_peer_feed(peer_t *p, const char *data, size_t len, uint64_t received_ns) {
    p->received_ns = received_ns;
    size_t done = feed(p, data, len);
    if (p->state == PT_COLLECT_PEER_STALLED) {
        perftrace__strbuf_append(&p->rest, data + done, len - done);
        if (p->rest.failed) {
            end(p, PT_COLLECT_ENDED_MEMORY);
        }
    }
}

void pt_collect_peer_retry(peer_t *p) {
    if (p->state != PT_COLLECT_PEER_STALLED || !take_message(p)) {
        return;
    }
    if (p->state == PT_COLLECT_PEER_STALLED) { /* it has not ended */
        p->state = PT_COLLECT_PEER_OPEN;
        pt_collect_wire_trim(&p->wire);
        perftrace__strbuf_t rest = p->rest;
        p->rest = (perftrace__strbuf_t)PERFTRACE__STRBUF_INIT;
        pt_collect_peer_feed(p, rest.data, rest.len, p->received_ns);
        perftrace__strbuf_free(&rest);
    }
}
