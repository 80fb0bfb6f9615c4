/* run_settings.c. SPDX-License-Identifier: MIT */
#include "run_settings.h"

#include <stdlib.h>
#include <string.h>

pt_setting_t *pt_settings_find(const pt_settings_t *settings, const char *name) {
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].name, name) == 0) {
            return &settings->items[i];
        }
    }
    return NULL;
}

const char *pt_settings_get(const pt_settings_t *settings, const char *name) {
    const pt_setting_t *found = pt_settings_find(settings, name);
    return found ? found->value : NULL;
}

static void free_setting(pt_setting_t *s) {
    free(s->name);
    free(s->value);
    free(s->origin);
}

void pt_settings_put(pt_settings_t *settings, const char *name, const char *value,
                     const char *origin) {
    pt_setting_t made = {strdup(name), strdup(value), strdup(origin ? origin : ""), false};
    pt_setting_t *place = pt_settings_find(settings, name);
    if (!place && settings->count == settings->cap) {
        size_t cap = settings->cap ? settings->cap * 2 : 8;
        pt_setting_t *more = realloc(settings->items, cap * sizeof(*more));
        if (more) {
            settings->items = more;
            settings->cap = cap;
        }
    }
    if (!made.name || !made.value || !made.origin || (!place && settings->count == settings->cap)) {
        free_setting(&made);
        settings->failed = true;
        return;
    }
    if (place) {
        free_setting(place);
    } else {
        place = &settings->items[settings->count++];
    }
    *place = made;
}

void pt_settings_default(pt_settings_t *settings, const char *name, const char *value,
                         const char *origin) {
    if (!pt_settings_find(settings, name)) {
        pt_settings_put(settings, name, value, origin);
    }
}

bool pt_settings_put_pair(pt_settings_t *settings, const char *pair, const char *origin) {
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair) {
        return false;
    }
    char *name = strndup(pair, (size_t)(equals - pair));
    if (name) {
        pt_settings_put(settings, name, equals + 1, origin);
    } else {
        settings->failed = true;
    }
    free(name);
    return true;
}

void pt_settings_put_all(pt_settings_t *settings, const pt_settings_t *from) {
    for (size_t i = 0; i < from->count; i++) {
        const pt_setting_t *s = &from->items[i];
        pt_settings_put(settings, s->name, s->value, s->origin);
        pt_setting_t *put = pt_settings_find(settings, s->name);
        if (put) {
            put->is_text = s->is_text;
        }
    }
    settings->failed = settings->failed || from->failed;
}

void pt_settings_remove(pt_settings_t *settings, const char *name) {
    pt_setting_t *found = pt_settings_find(settings, name);
    if (found) {
        free_setting(found);
        size_t behind = settings->count - (size_t)(found - settings->items) - 1;
        memmove(found, found + 1, behind * sizeof(*found));
        settings->count--;
    }
}

void pt_settings_free(pt_settings_t *settings) {
    if (!settings) {
        return;
    }
    for (size_t i = 0; i < settings->count; i++) {
        free_setting(&settings->items[i]);
    }
    free(settings->items);
    *settings = (pt_settings_t)PT_SETTINGS_INIT;
}
