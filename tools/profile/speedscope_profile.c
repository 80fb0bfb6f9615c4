/* speedscope_profile.c: sampled profiles, and what all have. SPDX-License-Identifier: MIT */
#include "speedscope_profile.h"

#include "grow.h"

#include <stdlib.h>

bool pt_speedscope_frames_add(pt_speedscope_frames_t *frames, uint32_t frame) {
    bool ok = PT_GROW(frames, model, count, cap, 1);
    if (ok) {
        frames->model[frames->count++] = frame;
    }
    return ok;
}

void pt_speedscope_reader_free(pt_speedscope_reader_t *r) {
    perftrace__strbuf_free(&r->name);
    free(r->weight);
    free(r->open);
    free(r->times_open);
}

static void find_members(const perftrace__json_cursor_t *list,
                         const perftrace__json_slice_t *profile, pt_speedscope_members_t *m) {
    static const struct {
        const char *key;
        size_t offset;
    } members[] = {
        {"type", offsetof(pt_speedscope_members_t, type)},
        {"name", offsetof(pt_speedscope_members_t, name)},
        {"unit", offsetof(pt_speedscope_members_t, unit)},
        {"startValue", offsetof(pt_speedscope_members_t, start)},
        {"endValue", offsetof(pt_speedscope_members_t, end)},
        {"samples", offsetof(pt_speedscope_members_t, samples)},
        {"weights", offsetof(pt_speedscope_members_t, weights)},
        {"events", offsetof(pt_speedscope_members_t, events)},
    };
    perftrace__json_cursor_t c;
    perftrace__json_slice_t key, value;
    *m = (pt_speedscope_members_t){.type = {.type = PERFTRACE__JSON_NONE}};
    perftrace__json_cursor_nested(&c, list, profile);
    if (!perftrace__json_enter_object(&c)) {
        return;
    }
    while (perftrace__json_next_member(&c, &key, &value) > 0) {
        for (size_t i = 0; i < PT_ARRAY_LEN(members); i++) {
            if (perftrace__json_equal(&key, members[i].key, strlen(members[i].key))) {
                memcpy((char *)m + members[i].offset, &value, sizeof value);
            }
        }
    }
}

/* False for a unit that is not known. No unit at all is none. */
static bool read_unit(const perftrace__json_slice_t *text, pt_profile_unit_t *ret_unit,
                      double *ret_scale) {
    static const struct {
        const char *name;
        pt_profile_unit_t unit;
        double scale;
    } units[] = {{"none", PT_UNIT_NONE, 1},
                 {"nanoseconds", PT_UNIT_SECONDS, 1e-9},
                 {"microseconds", PT_UNIT_SECONDS, 1e-6},
                 {"milliseconds", PT_UNIT_SECONDS, 1e-3},
                 {"seconds", PT_UNIT_SECONDS, 1},
                 {"bytes", PT_UNIT_BYTES, 1}};
    *ret_unit = PT_UNIT_NONE;
    *ret_scale = 1;
    for (size_t i = 0; i < PT_ARRAY_LEN(units); i++) {
        if (perftrace__json_equal(text, units[i].name, strlen(units[i].name))) {
            *ret_unit = units[i].unit;
            *ret_scale = units[i].scale;
            return true;
        }
    }
    return text->type == PERFTRACE__JSON_NONE || text->type == PERFTRACE__JSON_NULL;
}

static uint64_t offset_of(const pt_speedscope_reader_t *r, const perftrace__json_slice_t *s) {
    return (uint64_t)(s->p - r->text);
}

/* ---- sampled ---- */

static bool read_weights(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *profile,
                         const perftrace__json_slice_t *list) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    r->weights = 0;
    perftrace__json_cursor_nested(&c, profile, list);
    bool ok = perftrace__json_enter_array(&c);
    while (ok && perftrace__json_next_element(&c, &value) > 0) {
        ok = PT_GROW(r, weight, weights, weight_cap, 1);
        if (ok) {
            double weight;
            bool number = value.type == PERFTRACE__JSON_NUMBER &&
                          perftrace__json_to_double(&value, &weight) &&
                          weight <= PT_PROFILE_MOST_WEIGHT;
            r->weight[r->weights++] = number ? weight : -1;
        }
    }
    r->p->failed |= !ok;
    return ok;
}

static size_t count_elements(const perftrace__json_cursor_t *profile,
                             const perftrace__json_slice_t *list) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    size_t n = 0;
    perftrace__json_cursor_nested(&c, profile, list);
    (void)perftrace__json_enter_array(&c);
    while (perftrace__json_next_element(&c, &value) > 0) {
        n++;
    }
    return n;
}

/* The node of a stack; PT_PROFILE_NONE, and nothing made, for one that is no list of frames. Two
 * passes, because a bad one must leave nothing behind. */
static uint32_t read_stack(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *samples,
                           const perftrace__json_slice_t *stack, uint32_t root) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    uint64_t frame;
    if (stack->type != PERFTRACE__JSON_ARRAY) {
        return PT_PROFILE_NONE;
    }
    perftrace__json_cursor_nested(&c, samples, stack);
    (void)perftrace__json_enter_array(&c);
    while (perftrace__json_next_element(&c, &value) > 0) {
        if (value.type != PERFTRACE__JSON_NUMBER || !perftrace__json_to_u64(&value, &frame) ||
            frame >= r->frames->count) {
            return PT_PROFILE_NONE;
        }
    }
    perftrace__json_cursor_nested(&c, samples, stack);
    (void)perftrace__json_enter_array(&c);
    uint32_t node = root;
    while (perftrace__json_next_element(&c, &value) > 0) {
        (void)perftrace__json_to_u64(&value, &frame);
        node = pt_profile_node(r->p, node, r->frames->model[frame]);
    }
    return node;
}

static void read_samples(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *profile,
                         const perftrace__json_slice_t *list, double scale, uint32_t root) {
    const char *name = perftrace__strbuf_cstr(&r->name);
    perftrace__json_cursor_t c;
    perftrace__json_slice_t value;
    perftrace__json_cursor_nested(&c, profile, list);
    (void)perftrace__json_enter_array(&c);
    for (size_t i = 0; perftrace__json_next_element(&c, &value) > 0 && !r->p->failed; i++) {
        if (!(r->weight[i] >= 0)) {
            pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_WEIGHT, 0, offset_of(r, &value),
                             "sample %zu of \"%s\"", i, name);
            continue;
        }
        uint32_t node = read_stack(r, &c, &value, root);
        if (node == PT_PROFILE_NONE) {
            pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_STACK, 0, offset_of(r, &value),
                             "sample %zu of \"%s\"", i, name);
        } else {
            pt_profile_add(r->p, node, r->weight[i] * scale);
        }
    }
}

static bool is_list(const perftrace__json_slice_t *s) {
    return s->type == PERFTRACE__JSON_ARRAY;
}

static bool sampled(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *profile,
                    const pt_speedscope_members_t *m, double scale, pt_profile_unit_t unit,
                    uint64_t offset) {
    const char *name = perftrace__strbuf_cstr(&r->name);
    if (!is_list(&m->samples) || !is_list(&m->weights)) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_PROFILE, 0, offset,
                         "\"%s\" has no lists of samples and weights", name);
        return false;
    }
    size_t samples = count_elements(profile, &m->samples);
    if (!read_weights(r, profile, &m->weights)) {
        return false;
    }
    if (samples != r->weights) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_LENGTHS, 0, offset,
                         "\"%s\": %zu sample%s, %zu weight%s", name, samples, PT_PLURAL(samples),
                         r->weights, PT_PLURAL(r->weights));
        return false;
    }
    uint32_t thread = pt_profile_thread_new(r->p, r->name.data, r->name.len, unit);
    if (thread != PT_PROFILE_NONE) {
        read_samples(r, profile, &m->samples, scale, r->p->thread[thread].root);
    }
    return thread != PT_PROFILE_NONE;
}

/* ---- any profile ---- */

static void read_name(pt_speedscope_reader_t *r, const perftrace__json_slice_t *name,
                      uint64_t offset) {
    perftrace__strbuf_clear(&r->name);
    if (name->type == PERFTRACE__JSON_STRING) {
        if (perftrace__strbuf_reserve(&r->name, name->len + 1)) {
            r->name.len = perftrace__json_decode(name, r->name.data);
            r->name.data[r->name.len] = '\0';
        }
    } else {
        perftrace__strbuf_puts(&r->name, "(unnamed)");
    }
    if (memchr(perftrace__strbuf_cstr(&r->name), '\0', r->name.len) != NULL) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_NUL, 0, offset, "the name of a profile");
    }
    r->p->failed |= r->name.failed;
}

bool pt_speedscope_profile(pt_speedscope_reader_t *r, const perftrace__json_cursor_t *list,
                           const perftrace__json_slice_t *profile, size_t number) {
    pt_speedscope_members_t m;
    pt_profile_unit_t unit;
    double scale;
    uint64_t offset = offset_of(r, profile);
    if (profile->type != PERFTRACE__JSON_OBJECT) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_PROFILE, 0, offset,
                         "number %zu is no object", number);
        return false;
    }
    find_members(list, profile, &m);
    read_name(r, &m.name, offset);
    const char *name = perftrace__strbuf_cstr(&r->name);
    if (r->p->failed) {
        return false;
    }
    if (!read_unit(&m.unit, &unit, &scale)) {
        pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_PROFILE, 0, offset,
                         "\"%s\": its unit is not known: %.*s", name,
                         (int)PT_MIN(m.unit.len, (size_t)30), m.unit.p);
        return false;
    }
    if (perftrace__json_is(&m.type, "evented") ||
        (m.type.type == PERFTRACE__JSON_NONE && is_list(&m.events))) {
        return pt_speedscope_events(r, list, &m, scale, unit, number);
    }
    if (perftrace__json_is(&m.type, "sampled") || m.type.type == PERFTRACE__JSON_NONE) {
        return sampled(r, list, &m, scale, unit, offset);
    }
    pt_profile_notef(r->notes, PT_PROFILE_PROBLEM_BAD_PROFILE, 0, offset,
                     "\"%s\" is neither sampled nor evented", name);
    return false;
}
