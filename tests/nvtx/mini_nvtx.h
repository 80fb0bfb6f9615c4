/* mini_nvtx.h: the client's half of NVTX 3's injection, for machines without CUDA's headers: a
 * table of function pointers that the library named by NVTX_INJECTION64_PATH fills at the first
 * use. Numbers and layouts are NVTX's. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TESTS_MINI_NVTX_H
#define PERFTRACE_TESTS_MINI_NVTX_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void (*mini_function_t)(void);

typedef struct mini_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const void *registered;
    } message;
} mini_attributes_t;

enum { MINI_CORE = 1, MINI_CORE2 = 5, MINI_TABLE = 16 };

static mini_function_t mini_core[MINI_TABLE], mini_core2[MINI_TABLE];
static mini_function_t *mini_core_table[MINI_TABLE], *mini_core2_table[MINI_TABLE];

static int mini_get_table(uint32_t module, mini_function_t ***ret_table, unsigned *ret_size) {
    *ret_table = module == MINI_CORE    ? mini_core_table
                 : module == MINI_CORE2 ? mini_core2_table
                                        : NULL;
    if (ret_size != NULL) {
        *ret_size = MINI_TABLE;
    }
    return *ret_table != NULL;
}

static const void *mini_get_export_table(uint32_t id) {
    static const struct {
        size_t struct_size;
        int (*get_table)(uint32_t, mini_function_t ***, unsigned *);
    } callbacks = {sizeof callbacks, mini_get_table};
    return id == 1 ? &callbacks : NULL;
}

/* What the library answered; -1 when there is none. */
static inline int mini_nvtx_load(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    for (int i = 0; i < MINI_TABLE; i++) {
        mini_core_table[i] = i > 0 ? &mini_core[i] : NULL;
        mini_core2_table[i] = i > 0 ? &mini_core2[i] : NULL;
    }
    if (library != NULL) {
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    }
    return initialize != NULL ? initialize(mini_get_export_table) : -1;
}

#define MINI_CALL(table, number, type) ((type)mini_##table[number])

static inline void mini_mark(const char *s) {
    MINI_CALL(core, 2, void (*)(const char *))(s);
}
static inline uint64_t mini_start(const char *s) {
    return MINI_CALL(core, 5, uint64_t(*)(const char *))(s);
}
static inline void mini_end(uint64_t id) {
    MINI_CALL(core, 7, void (*)(uint64_t))(id);
}
static inline int mini_push(const char *s) {
    return MINI_CALL(core, 9, int (*)(const char *))(s);
}
static inline int mini_push_w(const wchar_t *s) {
    return MINI_CALL(core, 10, int (*)(const wchar_t *))(s);
}
static inline int mini_pop(void) {
    return MINI_CALL(core, 11, int (*)(void))();
}
static inline void mini_name_thread(uint32_t tid, const char *s) {
    MINI_CALL(core, 14, void (*)(uint32_t, const char *))(tid, s);
}
static inline void mini_domain_mark(const void *d, const mini_attributes_t *a) {
    MINI_CALL(core2, 1, void (*)(const void *, const mini_attributes_t *))(d, a);
}
static inline uint64_t mini_domain_start(const void *d, const mini_attributes_t *a) {
    return MINI_CALL(core2, 2, uint64_t(*)(const void *, const mini_attributes_t *))(d, a);
}
static inline void mini_domain_end(const void *d, uint64_t id) {
    MINI_CALL(core2, 3, void (*)(const void *, uint64_t))(d, id);
}
static inline int mini_domain_push(const void *d, const mini_attributes_t *a) {
    return MINI_CALL(core2, 4, int (*)(const void *, const mini_attributes_t *))(d, a);
}
static inline int mini_domain_pop(const void *d) {
    return MINI_CALL(core2, 5, int (*)(const void *))(d);
}
static inline const void *mini_register(const void *d, const char *s) {
    return MINI_CALL(core2, 10, const void *(*)(const void *, const char *))(d, s);
}
static inline const void *mini_domain(const char *s) {
    return MINI_CALL(core2, 12, const void *(*)(const char *))(s);
}

#endif
