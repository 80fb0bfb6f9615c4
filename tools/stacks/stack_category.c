/* stack_category.c. SPDX-License-Identifier: MIT */
#include "stack_category.h"

#include "grow.h"
#include "text_copy.h"

#include <stdlib.h>

/* ---- the table of functions ---- */

static bool add_category(pt_categories_t *c, const char *title, size_t len) {
    if (!PT_GROW(c, title, count, cap, 1)) {
        return false;
    }
    c->title[c->count] = pt_text_copy(title, len);
    return c->title[c->count++] != NULL;
}

/* Into the category that was added last. */
static bool add_function(pt_categories_t *c, const char *name, size_t len) {
    uint64_t *at = perftrace__hashmap_put(&c->of, name, len, 0, NULL);
    if (at != NULL) {
        *at = c->count - 1;
    }
    return at != NULL;
}

/* Where the time of Ray Data's executor is known to go; the names end with NULL. */
bool pt_categories_builtin(pt_categories_t *c) {
    static const struct {
        const char *title, *function[9];
    } table[] = {
        {"Actor state",
         {"__hash__", "_actor_id", "_get_local_state", "refresh_actor_state",
          "_update_running_actor_state", "running_actors", "get_actor_id",
          "max_tasks_in_flight_per_actor", NULL}},
        {"HTTP/detect",
         {"readinto", "_make_http_get_request", "ray_address_to_api_server_url",
          "internal_kv_get_with_retry", "_initialize_internal_kv", "check_connected", NULL}},
        {"List/set comprehensions", {"<listcomp>", "<setcomp>", "<dictcomp>", NULL}},
        {"HeapDict", {"_decrease_key", "_swap", "__setitem__", "_build_actor_busyness_heap", NULL}},
        {"Scheduling misc", {"wait", "safe_round", "select_operator_to_run", NULL}},
    };
    *c = (pt_categories_t){.title = NULL};
    for (size_t i = 0; i < PT_ARRAY_LEN(table); i++) {
        bool ok = add_category(c, table[i].title, strlen(table[i].title));
        for (const char *const *f = table[i].function; ok && *f != NULL; f++) {
            ok = add_function(c, *f, strlen(*f));
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* Calls add with the decoded text of a string. */
static bool with_text(pt_categories_t *c, const perftrace__json_slice_t *s,
                      bool (*add)(pt_categories_t *, const char *, size_t)) {
    char *text = malloc(s->len + 1);
    bool ok = text != NULL && add(c, text, perftrace__json_decode(s, text));
    free(text);
    return ok;
}

bool pt_categories_parse(const char *text, size_t len, pt_categories_t *c,
                         perftrace__json_error_t *ret_error, const char **ret_problem) {
    perftrace__json_cursor_t object, list;
    perftrace__json_slice_t key, functions, function;
    *c = (pt_categories_t){.title = NULL};
    *ret_problem = "it must be one object {\"CATEGORY\": [\"FUNCTION\", ...], ...}";
    if (!perftrace__json_check(text, len, ret_error, NULL)) {
        return false;
    }
    perftrace__json_cursor_init(&object, text, len);
    if (!perftrace__json_enter_object(&object)) {
        return false;
    }
    while (perftrace__json_next_member(&object, &key, &functions) > 0) {
        perftrace__json_cursor_nested(&list, &object, &functions);
        if (functions.type != PERFTRACE__JSON_ARRAY || !perftrace__json_enter_array(&list)) {
            return false;
        }
        if (!with_text(c, &key, add_category)) {
            *ret_problem = "out of memory";
            return false;
        }
        while (perftrace__json_next_element(&list, &function) > 0) {
            if (function.type != PERFTRACE__JSON_STRING) {
                return false;
            }
            if (!with_text(c, &function, add_function)) {
                *ret_problem = "out of memory";
                return false;
            }
        }
    }
    return true;
}

void pt_categories_free(pt_categories_t *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->title[i]);
    }
    free(c->title);
    perftrace__hashmap_free(&c->of);
    *c = (pt_categories_t){.title = NULL};
}

/* ---- the sums ---- */

static void add_name(pt_category_row_t *row, uint32_t name) {
    for (size_t i = 0; i < PT_MIN(row->names, (size_t)PT_CATEGORY_NAMES); i++) {
        if (row->name[i] == name) {
            return;
        }
    }
    if (row->names < PT_CATEGORY_NAMES) {
        row->name[row->names] = name;
    }
    row->names++;
}

/* Few rows, and equal ones stay in their order. */
static void sort_rows(const pt_stack_view_t *v, pt_category_row_t *row, size_t rows) {
    for (size_t i = 1; i < rows; i++) {
        pt_category_row_t moved = row[i];
        size_t at = i;
        for (; at > 0 && pt_stack_rank(v, row[at - 1].weight) < pt_stack_rank(v, moved.weight);
             at--) {
            row[at] = row[at - 1];
        }
        row[at] = moved;
    }
}

bool pt_category_sum(const pt_categories_t *c, const pt_stack_view_t *v, const pt_tally_t *self,
                     pt_category_table_t *table) {
    *table = (pt_category_table_t){.row = calloc(c->count + 1, sizeof *table->row)};
    size_t *row_of = calloc(c->count + 1, sizeof *row_of); /* its number plus 1 */
    size_t *sum = calloc(self->rows + 1, sizeof *sum);     /* rows as they occur */
    bool ok = table->row != NULL && row_of != NULL && sum != NULL;
    double other = 0;
    for (size_t i = 0; ok && i < self->rows; i++) {
        sum[self->row[i].place] = i;
    }
    for (size_t i = 0; ok && i < self->rows; i++) {
        const pt_tally_row_t *own = &self->row[sum[i]];
        uint32_t frame = own->what;
        const uint64_t *at =
            perftrace__hashmap_get(&c->of, pt_frame_name(v->p, frame), v->p->frame[frame].name_len);
        if (at == NULL) {
            other += own->weight;
            continue;
        }
        if (row_of[*at] == 0) {
            table->row[table->rows++] = (pt_category_row_t){.title = c->title[*at]};
            row_of[*at] = table->rows;
        }
        pt_category_row_t *row = &table->row[row_of[*at] - 1];
        row->weight += own->weight;
        add_name(row, v->name[frame]);
    }
    if (ok && other > 0) {
        table->row[table->rows++] = (pt_category_row_t){.title = "Other", .weight = other};
    }
    if (ok) {
        sort_rows(v, table->row, table->rows);
    }
    free(sum);
    free(row_of);
    return ok;
}

void pt_category_table_free(pt_category_table_t *table) {
    free(table->row);
    *table = (pt_category_table_t){NULL, 0};
}
