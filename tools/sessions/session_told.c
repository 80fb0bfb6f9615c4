/* session_told.c: which runs are told by records already. SPDX-License-Identifier: MIT */
#include "session_told.h"

#include "strbuf.h"

/* What a trace without a run id asks for. */
#define ANY_RUN ((pt_name_t){"", 0})

/* Texts and not the numbers of the model's names: those tables grow while traces are read. */
static bool make_key(perftrace__strbuf_t *key, int32_t rank, pt_name_t role, pt_name_t run_id) {
    perftrace__strbuf_clear(key);
    perftrace__strbuf_printf(key, "%d ", (int)rank);
    perftrace__strbuf_append(key, role.p, role.len);
    perftrace__strbuf_append(key, "", 1);
    perftrace__strbuf_append(key, run_id.p, run_id.len);
    return !key->failed;
}

bool pt_session_told_find(pt_session_told_t *told, const pt_session_model_t *m) {
    bool ok = true;
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    *told = (pt_session_told_t){.runs = PERFTRACE__HASHMAP_INIT};
    for (size_t i = 0; i < m->rows && ok; i++) {
        const pt_session_row_t *row = &m->row[i];
        const pt_session_row_t *before = i > 0 ? row - 1 : NULL;
        if (before != NULL && before->rank == row->rank && before->role == row->role &&
            before->run == row->run) {
            continue;
        }
        /* Until the model is finished, a row's run is its run id. */
        const pt_name_t run_id[] = {pt_session_name(m, PT_NAMES_RUN_ID, row->run), ANY_RUN};
        for (size_t k = 0; k < PT_ARRAY_LEN(run_id) && ok; k++) {
            ok = make_key(&key, row->rank, pt_session_name(m, PT_NAMES_ROLE, row->role),
                          run_id[k]) &&
                 perftrace__hashmap_put(&told->runs, key.data, key.len, 1, NULL) != NULL;
        }
    }
    perftrace__strbuf_free(&key);
    return ok;
}

static pt_name_t name_of(const perftrace__strbuf_t *text) {
    return (pt_name_t){perftrace__strbuf_cstr(text), text->len};
}

bool pt_session_told_has(const pt_session_told_t *told, const perftrace__trace_header_t *h) {
    perftrace__strbuf_t key = PERFTRACE__STRBUF_INIT;
    bool has = make_key(&key, h->rank, name_of(&h->role), name_of(&h->run_id)) &&
               perftrace__hashmap_get(&told->runs, key.data, key.len) != NULL;
    perftrace__strbuf_free(&key);
    return has;
}

void pt_session_told_free(pt_session_told_t *told) {
    perftrace__hashmap_free(&told->runs);
}
