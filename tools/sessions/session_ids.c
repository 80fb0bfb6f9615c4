/* session_ids.c: whether session ids come twice. SPDX-License-Identifier: MIT
 *
 * Writers number their sessions from 0, so that a bit for each is enough to see that all differ. */
#include "session_ids.h"

#include "grow.h"
#include "session_model.h"

/* Bytes of bits for all writers together: more, and the question is left open. */
#define BITS_MAX ((size_t)64 << 20)

typedef struct pt_ids_writer {
    uint64_t *word;
    size_t words;
} writer_t;

/* No padding: compared as bytes. */
typedef struct key {
    int32_t rank;
    uint16_t role, run, mono, zero;
} writer_key_t;

static writer_key_t key_of(const pt_session_row_t *row) {
    return (writer_key_t){row->rank, row->role, row->run, row->flags & PT_ROW_MONO, 0};
}

static bool find_writer(pt_session_ids_t *s, writer_key_t key, size_t *ret_writer) {
    bool is_new = false;
    uint64_t *index = perftrace__hashmap_put(&s->index, &key, sizeof key, s->writers, &is_new);
    if (index == NULL || (is_new && !PT_GROW(s, writer, writers, writer_cap, 1))) {
        return false;
    }
    *ret_writer = (size_t)*index;
    if (is_new) {
        s->writer[s->writers++] = (writer_t){NULL, 0};
    }
    return true;
}

static bool make_room(pt_session_ids_t *s, writer_t *w, size_t word) {
    size_t words = PT_MAX(word + 1, w->words * 2);
    s->bytes += (words - w->words) * sizeof *w->word;
    uint64_t *grown = s->bytes <= BITS_MAX ? realloc(w->word, words * sizeof *grown) : NULL;
    if (grown == NULL) {
        return false;
    }
    memset(grown + w->words, 0, (words - w->words) * sizeof *grown);
    w->word = grown;
    w->words = words;
    return true;
}

/* Notes an id; false when it was there, or cannot be noted. */
static bool note(pt_session_ids_t *s, size_t writer, const pt_session_row_t *row) {
    writer_t *w = &s->writer[writer];
    if (row->session < 0 || (uint64_t)row->session >= BITS_MAX * 8 ||
        (row->flags & PT_ROW_SESSION_TEXT) != 0) {
        return false;
    }
    size_t word = (size_t)row->session / 64;
    uint64_t bit = (uint64_t)1 << ((size_t)row->session % 64);
    if (word >= w->words && !make_room(s, w, word)) {
        return false;
    }
    bool fresh = (w->word[word] & bit) == 0;
    w->word[word] |= bit;
    return fresh;
}

void pt_session_ids_note(pt_session_ids_t *s, const pt_session_row_t *rows, size_t count) {
    writer_key_t last = {0, 0, 0, 0, 0};
    size_t writer = 0;
    for (size_t i = 0; i < count && !s->unsure; i++) {
        writer_key_t key = key_of(&rows[i]);
        if (i == 0 || memcmp(&key, &last, sizeof key) != 0) {
            s->unsure = !find_writer(s, key, &writer);
            last = key;
        }
        s->unsure = s->unsure || !note(s, writer, &rows[i]);
    }
    if (s->unsure) {
        pt_session_ids_free(s);
        s->unsure = true;
    }
}

bool pt_session_ids_differ(const pt_session_ids_t *s) {
    return !s->unsure;
}

void pt_session_ids_free(pt_session_ids_t *s) {
    if (s != NULL) {
        for (size_t i = 0; i < s->writers; i++) {
            free(s->writer[i].word);
        }
        free(s->writer);
        perftrace__hashmap_free(&s->index);
        memset(s, 0, sizeof *s);
    }
}
