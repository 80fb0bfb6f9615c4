/* event_filter.c: which events the options ask for. SPDX-License-Identifier: MIT */
#include "event_filter.h"

#include "json_scan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

bool pt_event_filter_active(const pt_convert_options_t *o) {
    return o->from != NULL || o->to != NULL || o->has_steps || o->names.count > 0 ||
           o->categories.count > 0 || o->min_dur_ns > 0;
}

/* A JSON string with its quotes, decoded and ended by NUL; the caller frees. NULL without memory.
 */
static char *decode(pt_str_t text) {
    perftrace__json_slice_t s = {text.p + 1, text.len - 2, PERFTRACE__JSON_STRING, true, 0};
    char *out = malloc(text.len);
    if (out != NULL) {
        out[perftrace__json_decode(&s, out)] = '\0';
    }
    return out;
}

static bool any_name(const pt_string_list_t *globs, pt_str_t name) {
    char *text = name.len >= 2 ? decode(name) : NULL;
    bool found = false;
    for (size_t i = 0; text != NULL && i < globs->count && !found; i++) {
        found = fnmatch(globs->items[i], text, 0) == 0;
    }
    free(text);
    return found;
}

/* Viewers take commas in a category for several categories. */
static bool any_category(const pt_string_list_t *wanted, pt_str_t cat) {
    char *text = decode(cat.len >= 2 ? cat : (pt_str_t){"\"misc\"", 6});
    bool found = false;
    char *rest = text, *part;
    while (!found && (part = strsep(&rest, ",")) != NULL) {
        found = pt_string_list_has(wanted, part);
    }
    free(text);
    return found;
}

static bool step_in(const pt_convert_options_t *o, pt_str_t args) {
    perftrace__json_slice_t object = {args.p, args.len, PERFTRACE__JSON_OBJECT, false, 0}, value;
    int64_t step;
    return args.len > 0 && perftrace__json_find(&object, "global_step", &value) &&
           perftrace__json_to_i64(&value, &step) && step >= o->first_step && step <= o->last_step;
}

bool pt_event_filter_takes(const pt_convert_options_t *o, pt_str_t name, pt_str_t cat,
                           pt_str_t args, int64_t start, int64_t end, bool scope) {
    int64_t to = o->to_ns > INT64_MAX ? INT64_MAX : (int64_t)o->to_ns;
    if (end < (int64_t)o->from_ns || start > to) {
        return false;
    }
    if (scope && end - start < (int64_t)o->min_dur_ns) {
        return false;
    }
    return (o->names.count == 0 || any_name(&o->names, name)) &&
           (o->categories.count == 0 || any_category(&o->categories, cat)) &&
           (!o->has_steps || step_in(o, args));
}
