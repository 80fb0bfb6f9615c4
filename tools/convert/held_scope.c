/* held_scope.c: a begin that waits for its end. SPDX-License-Identifier: MIT */
#include "held_scope.h"

#include <stdlib.h>
#include <string.h>

static pt_str_t copy(char **to, pt_str_t text) {
    pt_str_t copied = {*to, text.len};
    if (text.len > 0) {
        memcpy(*to, text.p, text.len);
    }
    *to += text.len;
    return copied;
}

bool pt_held_scope_set(pt_held_scope_t *held, const pt_event_t *ev) {
    size_t len = ev->name.len + ev->cat.len + ev->args.len + ev->rest.len;
    char *p = malloc(len + 1);
    pt_held_scope_clear(held);
    if (p == NULL) {
        return false;
    }
    held->memory = p;
    held->ts = ev->ts;
    held->name = copy(&p, ev->name);
    held->cat = copy(&p, ev->cat);
    held->args = copy(&p, ev->args);
    held->rest = copy(&p, ev->rest);
    return true;
}

void pt_held_scope_clear(pt_held_scope_t *held) {
    free(held->memory);
    memset(held, 0, sizeof *held);
}
