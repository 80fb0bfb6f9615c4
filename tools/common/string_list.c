/* string_list.c: a growing list of owned strings. SPDX-License-Identifier: MIT */
#include "string_list.h"

#include <stdlib.h>
#include <string.h>

bool pt_string_list_add_len(pt_string_list_t *list, const char *text, size_t len) {
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        char **items = realloc(list->items, cap * sizeof(*items));
        if (!items) {
            return false;
        }
        list->items = items;
        list->cap = cap;
    }
    char *copy = malloc(len + 1);
    if (!copy) {
        return false;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    list->items[list->count++] = copy;
    return true;
}

bool pt_string_list_add(pt_string_list_t *list, const char *text) {
    return pt_string_list_add_len(list, text, strlen(text));
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

bool pt_string_list_split(pt_string_list_t *list, const char *text, char separator) {
    for (const char *p = text; *p;) {
        const char *end = strchr(p, separator);
        const char *next = end ? end + 1 : p + strlen(p);
        if (!end) {
            end = next;
        }
        while (p < end && is_blank(*p)) {
            p++;
        }
        while (end > p && is_blank(end[-1])) {
            end--;
        }
        if (end > p && !pt_string_list_add_len(list, p, (size_t)(end - p))) {
            return false;
        }
        p = next;
    }
    return true;
}

bool pt_string_list_has(const pt_string_list_t *list, const char *text) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

void pt_string_list_free(pt_string_list_t *list) {
    if (!list) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (pt_string_list_t)PT_STRING_LIST_INIT;
}
