/* store_self.c: what a trace says of itself beside its events. SPDX-License-Identifier: MIT */
#include "store_feed.h"

void pt_store_take_source(pt_rank_store_t *s, const pt_source_t *source) {
    s->asks_ranks = !source->has_rank;
    if (source->has_rank) {
        s->has_rank = true;
        s->rank = source->rank;
    }
    s->world_size = source->world_size >= 0 ? source->world_size : s->world_size;
    s->has_base = source->has_epoch;
    s->base_ns = source->epoch_ns;
    s->host = pt_names_add_cstr(&s->names, source->host);
    s->has_mono = source->ours && source->has_mono;
    s->mono_ns = source->mono_ns;
    s->boot_id = pt_names_add_cstr(&s->names, source->boot_id);
    s->run_id = pt_names_add_cstr(&s->names, source->run_id);
    s->role = pt_names_add_cstr(&s->names, source->role);
}

static uint32_t take_word(pt_rank_store_t *s, const perftrace__json_slice_t *v) {
    if (v->type == PERFTRACE__JSON_STRING) {
        return pt_names_add_json(&s->names, (pt_str_t){v->p - 1, v->len + 2});
    }
    return v->type == PERFTRACE__JSON_NUMBER ? pt_names_add(&s->names, v->p, v->len) : 0;
}

static void take_distributed(pt_rank_store_t *s, const perftrace__json_slice_t *info) {
    perftrace__json_slice_t v;
    int64_t number;
    if (perftrace__json_find(info, "rank", &v) && perftrace__json_to_i64(&v, &number) &&
        number >= 0 && number <= INT32_MAX) {
        s->has_rank = true;
        s->rank = number;
    }
    if (perftrace__json_find(info, "world_size", &v) && perftrace__json_to_i64(&v, &number) &&
        number > 0) {
        s->world_size = number;
    }
    if (perftrace__json_find(info, "pg_count", &v) && perftrace__json_to_i64(&v, &number) &&
        number >= 0) {
        s->process_groups = number;
    }
    if (perftrace__json_find(info, "backend", &v)) {
        s->backend = take_word(s, &v);
    }
    if (perftrace__json_find(info, "nccl_version", &v)) {
        s->nccl_version = take_word(s, &v);
    }
}

static void take_devices(pt_rank_store_t *s, const perftrace__json_slice_t *list) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t device, v;
    perftrace__json_cursor_init(&c, list->p, list->len);
    if (!perftrace__json_enter_array(&c)) {
        return;
    }
    for (s->devices = 0; perftrace__json_next_element(&c, &device) > 0; s->devices++) {
        if (s->devices > 0 || device.type != PERFTRACE__JSON_OBJECT) {
            continue;
        }
        if (perftrace__json_find(&device, "name", &v)) {
            s->device = take_word(s, &v);
        }
        if (perftrace__json_find(&device, "totalGlobalMem", &v)) {
            (void)perftrace__json_to_i64(&v, &s->device_memory);
        }
        if (perftrace__json_find(&device, "numSms", &v)) {
            (void)perftrace__json_to_i64(&v, &s->multiprocessors);
        }
    }
}

void pt_store_take_member(pt_rank_store_t *s, const char *key, size_t key_len, const char *value,
                          size_t len) {
    perftrace__json_cursor_t c;
    perftrace__json_slice_t v, inner;
    pt_str_t name = {key, key_len};
    perftrace__json_cursor_init(&c, value, len); /* so far only its brackets were looked at */
    if (perftrace__json_next_value(&c, &v) <= 0) {
        return;
    }
    if (PT_STR_IS(name, "\"baseTimeNanoseconds\"")) {
        s->has_base = perftrace__json_to_i64(&v, &s->base_ns) && s->base_ns >= 0;
    } else if (PT_STR_IS(name, "\"distributedInfo\"") && v.type == PERFTRACE__JSON_OBJECT) {
        take_distributed(s, &v);
    } else if (PT_STR_IS(name, "\"deviceProperties\"") && v.type == PERFTRACE__JSON_ARRAY) {
        take_devices(s, &v);
    } else if (PT_STR_IS(name, "\"metadata\"") && v.type == PERFTRACE__JSON_OBJECT &&
               perftrace__json_find(&v, "perftrace_convert", &inner)) {
        perftrace__json_slice_t found;
        if (perftrace__json_find(&inner, "world_size", &found)) {
            (void)perftrace__json_to_i64(&found, &s->world_size);
        }
        if (perftrace__json_find(&inner, "base_epoch_ns", &found)) {
            s->has_base = perftrace__json_to_i64(&found, &s->base_ns) && s->base_ns >= 0;
        }
    } else if (PT_STR_IS(name, "\"host_name\"")) {
        s->host = take_word(s, &v);
    } else if (PT_STR_IS(name, "\"cuda_runtime_version\"") ||
               PT_STR_IS(name, "\"hip_runtime_version\"")) {
        s->runtime_version = take_word(s, &v);
    } else if (PT_STR_IS(name, "\"cuda_driver_version\"") ||
               PT_STR_IS(name, "\"hip_driver_version\"")) {
        s->driver_version = take_word(s, &v);
    } else if (PT_STR_IS(name, "\"cupti_version\"") || PT_STR_IS(name, "\"roctracer_version\"")) {
        s->profiler_version = take_word(s, &v);
    } else if (PT_STR_IS(name, "\"traceName\"")) {
        s->trace_name = take_word(s, &v);
    }
}
