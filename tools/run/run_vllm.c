/* run_vllm.c: the JSON that vLLM's --profiler-config takes. SPDX-License-Identifier: MIT
 *
 * Fields and types as of vLLM 0.13. A field that vLLM does not know stops the server at its start,
 * after minutes of loading: it is refused here. */
#include "human.h"
#include "json_writer.h"
#include "option.h"
#include "run_profile.h"
#include "run_yaml.h"

#include <stdio.h>

typedef enum field_type { FIELD_PROFILER, FIELD_PATH, FIELD_BOOL, FIELD_COUNT } field_type_t;

typedef struct field {
    const char *name;
    field_type_t type;
} field_t;

static const field_t fields[] = {
    {"profiler", FIELD_PROFILER},
    {"torch_profiler_dir", FIELD_PATH},
    {"torch_profiler_with_stack", FIELD_BOOL},
    {"torch_profiler_with_flops", FIELD_BOOL},
    {"torch_profiler_use_gzip", FIELD_BOOL},
    {"torch_profiler_dump_cuda_time_total", FIELD_BOOL},
    {"torch_profiler_record_shapes", FIELD_BOOL},
    {"torch_profiler_with_memory", FIELD_BOOL},
    {"ignore_frontend", FIELD_BOOL},
    {"delay_iterations", FIELD_COUNT},
    {"max_iterations", FIELD_COUNT},
};

#define FIELDS PT_ARRAY_LEN(fields)

static const field_t *field_of(const char *name) {
    for (size_t i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static void unknown(const pt_setting_t *s, pt_run_problems_t *problems) {
    char with_prefix[128];
    snprintf(with_prefix, sizeof(with_prefix), "torch_profiler_%.100s", s->name);
    const char *meant = field_of(with_prefix) ? with_prefix : NULL;
    if (!meant) {
        const char *names[FIELDS];
        for (size_t i = 0; i < FIELDS; i++) {
            names[i] = fields[i].name;
        }
        int nearest = pt_nearest_name(s->name, names, FIELDS);
        meant = nearest >= 0 ? names[nearest] : NULL;
    }
    pt_run_error(problems, s->origin, "vLLM's --profiler-config has no field %s%s%s%s", s->name,
                 meant ? "; is " : "", meant ? meant : "", meant ? " meant?" : "");
}

/* Appends the value; false when it is not of the field's type. */
static bool put_value(const field_t *field, const char *value, perftrace__strbuf_t *out) {
    uint64_t count;
    switch (field->type) {
    case FIELD_BOOL:
        if (pt_yaml_plain_kind(value) != PT_YAML_BOOL) {
            return false;
        }
        perftrace__strbuf_puts(out, pt_yaml_is_true(value) ? "true" : "false");
        return true;
    case FIELD_COUNT:
        if (pt_yaml_plain_kind(value) != PT_YAML_NUMBER || !pt_parse_uint64(value, &count)) {
            return false;
        }
        perftrace__strbuf_printf(out, "%llu", (unsigned long long)count);
        return true;
    case FIELD_PATH:
        perftrace__strbuf_json_cstr(out, value);
        return value[0] == '/';
    default:
        perftrace__strbuf_json_cstr(out, value);
        return strcmp(value, "torch") == 0 || strcmp(value, "cuda") == 0;
    }
}

void pt_vllm_put_config(const pt_settings_t *options, const char *output_dir,
                        perftrace__strbuf_t *out, pt_run_problems_t *problems) {
    static const char *const wanted[] = {"torch or cuda", "an absolute path", "true or false",
                                         "a whole number from 0"};
    pt_settings_t all = PT_SETTINGS_INIT;
    pt_settings_put(&all, "profiler", "torch", NULL);
    pt_settings_put_all(&all, options);
    if (output_dir && strcmp(pt_settings_get(&all, "profiler"), "torch") == 0) {
        pt_settings_default(&all, "torch_profiler_dir", output_dir, NULL);
    }
    for (size_t i = 0; i < all.count; i++) {
        const pt_setting_t *s = &all.items[i];
        const field_t *field = field_of(s->name);
        if (!field) {
            unknown(s, problems);
            continue;
        }
        perftrace__strbuf_puts(out, out->len ? ", " : "{");
        perftrace__strbuf_printf(out, "\"%s\": ", s->name);
        if (!put_value(field, s->value, out)) {
            pt_run_error(problems, s->origin, "must be %s, this is \"%s\"", wanted[field->type],
                         s->value);
        }
    }
    perftrace__strbuf_puts(out, "}");
    out->failed = out->failed || all.failed;
    pt_settings_free(&all);
}
