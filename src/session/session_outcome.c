/* session_outcome.c. SPDX-License-Identifier: MIT */
#include "session_outcome.h"

static const char *const names[] = {
    [PERFTRACE__STATUS_NONE] = NULL,           [PERFTRACE__STATUS_PENDING] = "pending",
    [PERFTRACE__STATUS_ACCEPTED] = "accepted", [PERFTRACE__STATUS_REJECTED] = "rejected",
    [PERFTRACE__STATUS_FAILED] = "failed",     [PERFTRACE__STATUS_DROPPED] = "dropped",
    [PERFTRACE__STATUS_TEXT] = NULL,
};

const char *perftrace__status_name(perftrace__status_t status) {
    return names[status];
}

static perftrace__status_t status_of(perftrace__text_t text) {
    for (unsigned i = PERFTRACE__STATUS_PENDING; i < PERFTRACE__STATUS_TEXT; i++) {
        if (text.len == strlen(names[i]) && memcmp(text.data, names[i], text.len) == 0) {
            return (perftrace__status_t)i;
        }
    }
    return PERFTRACE__STATUS_TEXT;
}

bool perftrace__outcome_set(perftrace__cells_t *cells, perftrace__outcome_t *o,
                            perftrace__text_t status, perftrace__text_t reason) {
    perftrace__outcome_t next = *o;
    if (status.data) {
        next.status = status_of(status);
        next.status_text = 0;
        if (next.status == PERFTRACE__STATUS_TEXT) {
            next.status_text = perftrace__cells_put_text(cells, status);
            if (!next.status_text) {
                return false;
            }
        }
    }
    if (reason.data) {
        next.reason = perftrace__cells_put_text(cells, reason);
        if (!next.reason) {
            if (next.status_text != o->status_text) {
                perftrace__cells_drop_text(cells, next.status_text);
            }
            return false;
        }
    }
    if (next.status_text != o->status_text) {
        perftrace__cells_drop_text(cells, o->status_text);
    }
    if (next.reason != o->reason) {
        perftrace__cells_drop_text(cells, o->reason);
    }
    *o = next;
    return true;
}

bool perftrace__outcome_copy(perftrace__cells_t *cells, perftrace__outcome_t *o,
                             const perftrace__outcome_t *from) {
    o->status = from->status;
    if (from->status_text) {
        o->status_text = perftrace__cells_copy_text(cells, from->status_text);
    }
    if (from->reason) {
        o->reason = perftrace__cells_copy_text(cells, from->reason);
    }
    if (!o->status_text != !from->status_text || !o->reason != !from->reason) {
        perftrace__outcome_drop(cells, o);
        return false;
    }
    return true;
}

void perftrace__outcome_drop(perftrace__cells_t *cells, perftrace__outcome_t *o) {
    perftrace__cells_drop_text(cells, o->status_text);
    perftrace__cells_drop_text(cells, o->reason);
    *o = (perftrace__outcome_t){0, 0, PERFTRACE__STATUS_NONE};
}
