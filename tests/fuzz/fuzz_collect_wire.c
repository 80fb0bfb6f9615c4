/* fuzz_collect_wire.c: any bytes from a connection give the same messages however they are cut, and
 * lines that go by are counted whatever they hold. SPDX-License-Identifier: MIT
 *
 * The first byte says how the others are cut. */
#include "collect_name.h"
#include "collect_tally.h"
#include "collect_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct outcome {
    uint64_t messages;
    uint64_t hash; /* of what was in them */
    pt_collect_wire_found_t end;
} outcome_t;

static void check(bool ok) {
    if (!ok) {
        abort();
    }
}

static void note(outcome_t *o, const pt_collect_wire_t *w) {
    const perftrace__stream_message_t *m = &w->message;
    o->messages++;
    o->hash = o->hash * 31 + (uint64_t)m->type + m->offset + m->size + m->key.stream +
              perftrace__stream_id(perftrace__strbuf_cstr(&w->body), w->body.len);
    check(m->type != PERFTRACE__STREAM_NONE);
    check(w->body.len == (m->type == PERFTRACE__STREAM_DATA ? m->packed : 0));
}

static outcome_t feed(const char *data, size_t size, size_t cut) {
    pt_collect_wire_t *w = calloc(1, sizeof *w);
    outcome_t o = {0, 0, PT_COLLECT_WIRE_MORE};
    check(w != NULL);
    for (size_t at = 0; at < size && o.end != PT_COLLECT_WIRE_GARBAGE;) {
        size_t used;
        size_t len = PT_MIN(cut, size - at);
        o.end = pt_collect_wire_feed(w, data + at, len, &used);
        check(used <= len && o.end != PT_COLLECT_WIRE_NO_MEMORY);
        check(o.end != PT_COLLECT_WIRE_MORE || used == len);
        at += used;
        if (o.end == PT_COLLECT_WIRE_MESSAGE) {
            note(&o, w);
            if (o.messages % 2 == 0) {
                pt_collect_wire_trim(w);
            }
        }
    }
    pt_collect_wire_free(w);
    free(w);
    return o;
}

static void count(const char *data, size_t size) {
    perftrace__strbuf_t names = PERFTRACE__STRBUF_INIT;
    perftrace__strbuf_t what = PERFTRACE__STRBUF_INIT;
    pt_collect_tally_t t = PT_COLLECT_TALLY_INIT;
    t.names = &names;
    pt_collect_tally_add(&t, data, size);
    pt_collect_tally_judge(&t, &what);
    check(t.events <= t.lines && names.len <= size + 1);
    perftrace__strbuf_free(&names);
    perftrace__strbuf_free(&what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    char *bytes = malloc(size); /* with an end that is guarded */
    check(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    outcome_t whole = feed(bytes, size - 1, size);
    outcome_t cut = feed(bytes, size - 1, (size_t)data[0] + 1);
    check(whole.messages == cut.messages && whole.hash == cut.hash);
    check((whole.end == PT_COLLECT_WIRE_GARBAGE) == (cut.end == PT_COLLECT_WIRE_GARBAGE));
    count(bytes, size - 1);
    pt_collect_claim_t claim;
    if (pt_collect_claim_parse(bytes, &claim)) {
        char text[PT_COLLECT_CLAIM_MAX];
        pt_collect_claim_put(text, &claim);
        check(strlen(text) > 0);
    }
    free(bytes);
    return 0;
}
