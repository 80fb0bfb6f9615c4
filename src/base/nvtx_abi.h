/* nvtx_abi.h: how NVTX 3 and a library that is injected into it meet. SPDX-License-Identifier: MIT
 *
 * Numbers and layouts are those of NVTX's headers (nvToolsExt.h, nvtxTypes.h), which programs were
 * built with; they do not change. Every program that was built with NVTX 3 holds a table of
 * function pointers. At its first call it loads the library that NVTX_INJECTION64_PATH names and
 * calls InitializeInjectionNvtx2 in it, which puts its own functions into the table. */
#ifndef PERFTRACE_BASE_NVTX_ABI_H
#define PERFTRACE_BASE_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { NVTX_EXPORT_CALLBACKS = 1, NVTX_EXPORT_VERSION = 3 }; /* NVTX_ETID_ */
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5, NVTX_MODULES = 7 };
enum { NVTX_VERSION_NUMBER = 3 };
/* Where a library looks for what it puts its functions into, and what it exports. */
#define NVTX_PATH_VARIABLE "NVTX_INJECTION64_PATH"
#define NVTX_INITIALIZE    "InitializeInjectionNvtx2"
/* libperftrace-nvtx.so exports it: the tracer must not feed itself. */
#define NVTX_OWN_MARK "perftrace_nvtx_injection"

/* X(number, name) */
#define NVTX_CORE_LIST(X)                                                                          \
    X(1, mark_ex)                                                                                  \
    X(2, mark_a)                                                                                   \
    X(3, mark_w)                                                                                   \
    X(4, start_ex)                                                                                 \
    X(5, start_a)                                                                                  \
    X(6, start_w)                                                                                  \
    X(7, end)                                                                                      \
    X(8, push_ex)                                                                                  \
    X(9, push_a)                                                                                   \
    X(10, push_w)                                                                                  \
    X(11, pop)                                                                                     \
    X(14, name_thread_a)                                                                           \
    X(15, name_thread_w)
#define NVTX_CORE2_LIST(X)                                                                         \
    X(1, domain_mark_ex)                                                                           \
    X(2, domain_start_ex)                                                                          \
    X(3, domain_end)                                                                               \
    X(4, domain_push_ex)                                                                           \
    X(5, domain_pop)                                                                               \
    X(10, domain_register_a)                                                                       \
    X(11, domain_register_w)                                                                       \
    X(12, domain_create_a)                                                                         \
    X(13, domain_create_w)                                                                         \
    X(14, domain_destroy)

typedef void (*nvtx_function_t)(void);
typedef struct nvtx_export_callbacks {
    size_t struct_size;
    /* *ret_table[i] is the place of function i of a module. 0: there is no such module. */
    int (*get_table)(uint32_t module, nvtx_function_t ***ret_table, unsigned *ret_size);
} nvtx_export_callbacks_t;
typedef struct nvtx_export_version {
    size_t struct_size;
    uint32_t version; /* of the program's NVTX */
    uint32_t reserved;
    void (*set_injection_version)(uint32_t version);
} nvtx_export_version_t;
typedef const void *(*nvtx_get_export_table_t)(uint32_t id);
typedef int (*nvtx_initialize_t)(nvtx_get_export_table_t get_export_table);

enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3 };
enum {
    NVTX_PAYLOAD_U64 = 1,
    NVTX_PAYLOAD_I64 = 2,
    NVTX_PAYLOAD_F64 = 3,
    NVTX_PAYLOAD_U32 = 4,
    NVTX_PAYLOAD_I32 = 5,
    NVTX_PAYLOAD_F32 = 6
};

/* nvtxEventAttributes_t of version 2 and later. */
typedef struct nvtx_attributes {
    uint16_t version;
    uint16_t size; /* of the structure the program was built with */
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
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
} nvtx_attributes_t;

_Static_assert(sizeof(nvtx_attributes_t) == 48, "as NVTX_EVENT_ATTRIB_STRUCT_SIZE on 64 bits");

#endif
