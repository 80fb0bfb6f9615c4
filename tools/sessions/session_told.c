/* session_told.c: which runs are told by records already. SPDX-License-Identifier: MIT */
#include "session_told.h"

/* No padding: compared as bytes. */
typedef struct run_key {
    int32_t rank;
    uint16_t role, run_id; /* in the names of the model */
} run_key_t;

bool pt_session_told_find(pt_session_told_t *told, const pt_session_model_t *m) {
    bool ok = true;
    *told = (pt_session_told_t){.model = m, .runs = PERFTRACE__HASHMAP_INIT};
    run_key_t last = {0, 0, 0};
    for (size_t i = 0; i < m->rows && ok; i++) {
        const pt_session_row_t *row = &m->row[i];
        run_key_t key = {row->rank, row->role, row->run};
        if (i == 0 || memcmp(&key, &last, sizeof key) != 0) {
            ok = perftrace__hashmap_put(&told->runs, &key, sizeof key, 1, NULL) != NULL;
            last = key;
        }
    }
    return ok;
}

static uint32_t name_of(const pt_session_told_t *told, pt_names_t kind,
                        const perftrace__strbuf_t *text) {
    return pt_name_table_find(&told->model->names[kind],
                              (pt_name_t){perftrace__strbuf_cstr(text), text->len});
}

bool pt_session_told_has(const pt_session_told_t *told, const perftrace__trace_header_t *h) {
    if (told->model == NULL || h->run_id.len == 0) {
        return false;
    }
    uint32_t run_id = name_of(told, PT_NAMES_RUN_ID, &h->run_id);
    uint32_t role = name_of(told, PT_NAMES_ROLE, &h->role);
    if (run_id > UINT16_MAX || role > UINT16_MAX) {
        return false;
    }
    run_key_t key = {h->rank, (uint16_t)role, (uint16_t)run_id};
    return perftrace__hashmap_get(&told->runs, &key, sizeof key) != NULL;
}

void pt_session_told_free(pt_session_told_t *told) {
    perftrace__hashmap_free(&told->runs);
}
