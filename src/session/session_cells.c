/* session_cells.c. SPDX-License-Identifier: MIT */
#include "session_cells.h"

#include <stdlib.h>

#define LONG_TEXT  2048       /* longer ones are allocated apart */
#define LONG_MARK  UINT32_MAX /* in place of a link: the cell holds an address */
#define FIRST_ROOM 24u
#define NEXT_ROOM  28u

static perftrace__cell_t *cell_at(const perftrace__cells_t *c, uint32_t number) {
    return PERFTRACE__SLAB_AT(&c->slab, number, perftrace__cell_t);
}

static char *long_data(const perftrace__cell_t *cell) {
    char *data;
    memcpy(&data, cell->data + 4, sizeof(data));
    return data;
}

static bool put_long(perftrace__cells_t *c, perftrace__cell_t *cell, perftrace__text_t text) {
    char *copy = malloc(text.len);
    if (!copy) {
        return false;
    }
    memcpy(copy, text.data, text.len);
    memcpy(cell->data + 4, &copy, sizeof(copy));
    cell->next = LONG_MARK;
    c->long_bytes += text.len;
    return true;
}

/* The cells after the first; false without memory, with those made so far linked and ended. */
static bool put_rest(perftrace__cells_t *c, uint32_t last, const char *p, size_t left) {
    while (left) {
        uint32_t number = perftrace__cells_take(c);
        if (!number) {
            return false;
        }
        perftrace__cell_t *cell = cell_at(c, number);
        size_t n = PT_MIN(left, NEXT_ROOM);
        memcpy(cell->data, p, n);
        cell->next = 0;
        cell_at(c, last)->next = number;
        last = number;
        p += n;
        left -= n;
    }
    return true;
}

uint32_t perftrace__cells_put_text(perftrace__cells_t *c, perftrace__text_t text) {
    uint32_t number = text.len <= INT32_MAX ? perftrace__cells_take(c) : 0;
    if (!number) {
        return 0;
    }
    perftrace__cell_t *cell = cell_at(c, number);
    uint32_t len = (uint32_t)text.len;
    memcpy(cell->data, &len, sizeof(len));
    cell->next = 0;
    if (text.len > LONG_TEXT) {
        if (put_long(c, cell, text)) {
            return number;
        }
        perftrace__cells_give(c, number);
        return 0;
    }
    size_t n = PT_MIN(text.len, FIRST_ROOM);
    memcpy(cell->data + 4, text.data, n);
    if (!put_rest(c, number, text.data + n, text.len - n)) {
        perftrace__cells_drop_text(c, number);
        return 0;
    }
    return number;
}

uint32_t perftrace__cells_text_len(const perftrace__cells_t *c, uint32_t number) {
    uint32_t len;
    memcpy(&len, cell_at(c, number)->data, sizeof(len));
    return len;
}

char *perftrace__cells_read_text(const perftrace__cells_t *c, uint32_t number, char *dst) {
    const perftrace__cell_t *cell = cell_at(c, number);
    size_t left = perftrace__cells_text_len(c, number);
    if (cell->next == LONG_MARK) {
        memcpy(dst, long_data(cell), left);
        return dst + left;
    }
    size_t n = PT_MIN(left, FIRST_ROOM);
    memcpy(dst, cell->data + 4, n);
    for (left -= n, dst += n; left; left -= n, dst += n) {
        cell = cell_at(c, cell->next);
        n = PT_MIN(left, NEXT_ROOM);
        memcpy(dst, cell->data, n);
    }
    return dst;
}

uint32_t perftrace__cells_copy_text(perftrace__cells_t *c, uint32_t number) {
    char text[LONG_TEXT];
    size_t len = perftrace__cells_text_len(c, number);
    if (len > LONG_TEXT) {
        return perftrace__cells_put_text(c,
                                         (perftrace__text_t){long_data(cell_at(c, number)), len});
    }
    perftrace__cells_read_text(c, number, text);
    return perftrace__cells_put_text(c, (perftrace__text_t){text, len});
}

void perftrace__cells_drop_text(perftrace__cells_t *c, uint32_t number) {
    if (number && cell_at(c, number)->next == LONG_MARK) {
        c->long_bytes -= perftrace__cells_text_len(c, number);
        free(long_data(cell_at(c, number)));
        perftrace__cells_give(c, number);
        return;
    }
    while (number) {
        uint32_t next = cell_at(c, number)->next;
        perftrace__cells_give(c, number);
        number = next;
    }
}

void perftrace__cells_free(perftrace__cells_t *c) {
    perftrace__slab_free(&c->slab);
    c->long_bytes = 0;
}
