/* nvtx_inject.c: what NVTX calls. SPDX-License-Identifier: MIT
 *
 * Every program that was built with NVTX 3 (PyTorch, Megatron, the libraries of CUDA) is traced
 * without a change to it: NVTX_INJECTION64_PATH=libperftrace-nvtx.so. Several libraries of one
 * process each call the initialisation with a table of their own. */
#include "nvtx_abi.h"
#include "nvtx_range.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TEXT_MAX 1024

/* ---- texts ---- */

/* Wide characters as UTF-8, cut at the buffer's end; what is no character becomes U+FFFD. */
static const char *narrow(const wchar_t *wide, char *out) {
    size_t n = 0;
    if (wide == NULL) {
        return NULL;
    }
    for (; *wide != L'\0' && n + 5 < TEXT_MAX; wide++) {
        uint32_t c = (uint32_t)*wide;
        c = c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0xFFFD : c;
        if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c < 0x800) {
            out[n++] = (char)(0xC0 | c >> 6);
            out[n++] = (char)(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            out[n++] = (char)(0xE0 | c >> 12);
            out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
            out[n++] = (char)(0x80 | (c & 0x3F));
        } else {
            out[n++] = (char)(0xF0 | c >> 18);
            out[n++] = (char)(0x80 | (c >> 12 & 0x3F));
            out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
            out[n++] = (char)(0x80 | (c & 0x3F));
        }
    }
    out[n] = '\0';
    return out;
}

static nvtx_name_t *name_of(nvtx_domain_t *domain, const char *text) {
    return domain != NULL
               ? nvtx_name_get(domain, text != NULL ? text : "(no name)", nvtx_thread_cache())
               : NULL;
}

static nvtx_name_t *wide_name(nvtx_domain_t *domain, const wchar_t *wide) {
    char text[TEXT_MAX];
    return name_of(domain, narrow(wide, text));
}

/* ---- attributes ---- */

static nvtx_name_t *message_of(nvtx_domain_t *domain, const nvtx_attributes_t *a) {
    switch (a->message_type) {
    case NVTX_MESSAGE_ASCII:
        return name_of(domain, a->message.ascii);
    case NVTX_MESSAGE_UNICODE:
        return wide_name(domain, a->message.wide);
    case NVTX_MESSAGE_REGISTERED:
        /* The handle is the name itself, of whatever domain it was registered in. */
        return a->message.registered != NULL ? (nvtx_name_t *)(uintptr_t)a->message.registered
                                             : name_of(domain, NULL);
    default:
        return name_of(domain, NULL);
    }
}

static nvtx_value_t payload_of(const nvtx_attributes_t *a, uint64_t *ret) {
    switch (a->payload_type) {
    case NVTX_PAYLOAD_U64:
        *ret = a->payload.u64;
        return NVTX_VALUE_U64;
    case NVTX_PAYLOAD_U32:
        *ret = a->payload.u32;
        return NVTX_VALUE_U64;
    case NVTX_PAYLOAD_I64:
        *ret = (uint64_t)a->payload.i64;
        return NVTX_VALUE_I64;
    case NVTX_PAYLOAD_I32:
        *ret = (uint64_t)(int64_t)a->payload.i32;
        return NVTX_VALUE_I64;
    case NVTX_PAYLOAD_F64:
        *ret = perftrace_i_f64(a->payload.f64);
        return NVTX_VALUE_F64;
    case NVTX_PAYLOAD_F32:
        *ret = perftrace_i_f64((double)a->payload.f32);
        return NVTX_VALUE_F64;
    default:
        *ret = 0;
        return NVTX_VALUE_NONE;
    }
}

/* A structure of an older program could be shorter than what is read here. */
static int is_whole(const nvtx_attributes_t *a) {
    return a != NULL && a->size >= sizeof *a;
}

/* ---- with a domain ---- */

static void domain_mark_ex(const void *domain, const nvtx_attributes_t *a) {
    if (is_whole(a)) {
        uint64_t value;
        nvtx_value_t as = payload_of(a, &value);
        nvtx_mark(message_of(nvtx_domain_of(domain), a), as, value);
    }
}

static uint64_t domain_start_ex(const void *domain, const nvtx_attributes_t *a) {
    if (!is_whole(a)) {
        return 0;
    }
    uint64_t value;
    nvtx_value_t as = payload_of(a, &value);
    return nvtx_start(message_of(nvtx_domain_of(domain), a), as, value);
}

static void domain_end(const void *domain, uint64_t id) {
    (void)domain;
    nvtx_end(id);
}

static int domain_push_ex(const void *domain, const nvtx_attributes_t *a) {
    nvtx_domain_t *d = nvtx_domain_of(domain);
    if (!is_whole(a)) {
        return nvtx_push(d, name_of(d, NULL), NVTX_VALUE_NONE, 0); /* its pop will come */
    }
    uint64_t value;
    nvtx_value_t as = payload_of(a, &value);
    return nvtx_push(d, message_of(d, a), as, value);
}

static int domain_pop(const void *domain) {
    return nvtx_pop(nvtx_domain_of(domain));
}

static const void *domain_register_a(const void *domain, const char *text) {
    return name_of(nvtx_domain_of(domain), text);
}

static const void *domain_register_w(const void *domain, const wchar_t *text) {
    return wide_name(nvtx_domain_of(domain), text);
}

static const void *domain_create_a(const char *name) {
    return nvtx_domain_get(name);
}

static const void *domain_create_w(const wchar_t *name) {
    char text[TEXT_MAX];
    return nvtx_domain_get(narrow(name, text));
}

/* Its ranges may still be open, and its names are in the trace. */
static void domain_destroy(const void *domain) {
    (void)domain;
}

/* ---- without ---- */

static void mark_ex(const nvtx_attributes_t *a) {
    domain_mark_ex(NULL, a);
}

static void mark_a(const char *text) {
    nvtx_mark(name_of(nvtx_domain_of(NULL), text), NVTX_VALUE_NONE, 0);
}

static void mark_w(const wchar_t *text) {
    nvtx_mark(wide_name(nvtx_domain_of(NULL), text), NVTX_VALUE_NONE, 0);
}

static uint64_t start_ex(const nvtx_attributes_t *a) {
    return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *text) {
    return nvtx_start(name_of(nvtx_domain_of(NULL), text), NVTX_VALUE_NONE, 0);
}

static uint64_t start_w(const wchar_t *text) {
    return nvtx_start(wide_name(nvtx_domain_of(NULL), text), NVTX_VALUE_NONE, 0);
}

static void end(uint64_t id) {
    nvtx_end(id);
}

static int push_ex(const nvtx_attributes_t *a) {
    return domain_push_ex(NULL, a);
}

static int push_w(const wchar_t *text) {
    nvtx_domain_t *d = nvtx_domain_of(NULL);
    return nvtx_push(d, wide_name(d, text), NVTX_VALUE_NONE, 0);
}

/* Without a function in between. */
#define push_a nvtx_push_text
#define pop    nvtx_pop_usual

/* The tracer names the calling thread only. */
static void name_thread_a(uint32_t tid, const char *name) {
    if (name != NULL && tid == (uint32_t)syscall(SYS_gettid)) {
        perftrace_thread_set_name(name);
    }
}

static void name_thread_w(uint32_t tid, const wchar_t *name) {
    char text[TEXT_MAX];
    name_thread_a(tid, narrow(name, text));
}

/* ---- the beginning ---- */

typedef struct entry {
    unsigned number;
    nvtx_function_t function;
} entry_t;

#define ENTRY(number, function) {number, (nvtx_function_t)(function)},

/* Functions that the program's headers do not know are left out. False: there is no such module. */
static int install(const nvtx_export_callbacks_t *callbacks, uint32_t module,
                   const entry_t *entries, size_t count) {
    nvtx_function_t **table = NULL;
    unsigned size = 0;
    if (!callbacks->get_table(module, &table, &size) || table == NULL) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (entries[i].number < size && table[entries[i].number] != NULL) {
            *table[entries[i].number] = entries[i].function;
        }
    }
    return 1;
}

/* The back end nvtx of a profiler looks for it, so that scopes do not come back as ranges. */
PERFTRACE_API extern const uint32_t perftrace_nvtx_injection;
const uint32_t perftrace_nvtx_injection = 1;

/* The name that NVTX looks up. Not 0: the functions are in the table. */
PERFTRACE_API int InitializeInjectionNvtx2(nvtx_get_export_table_t get_export_table);
PERFTRACE_API int InitializeInjectionNvtx2(nvtx_get_export_table_t get_export_table) {
    static const entry_t core[] = {NVTX_CORE_LIST(ENTRY)};
    static const entry_t core2[] = {NVTX_CORE2_LIST(ENTRY)};
    const nvtx_export_callbacks_t *callbacks =
        get_export_table != NULL ? get_export_table(NVTX_EXPORT_CALLBACKS) : NULL;
    if (callbacks == NULL || callbacks->struct_size < sizeof *callbacks ||
        callbacks->get_table == NULL) {
        return 0;
    }
    if (!perftrace_is_active()) {
        perftrace_init(NULL); /* what goes wrong is told to its log; the program goes on */
    }
    int any = install(callbacks, NVTX_MODULE_CORE, core, sizeof core / sizeof *core);
    any |= install(callbacks, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return any;
}
