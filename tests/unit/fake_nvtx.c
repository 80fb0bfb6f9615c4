/* fake_nvtx.c: a profiler that NVTX_INJECTION64_PATH names: keeps book of the ranges of each
 * thread. SPDX-License-Identifier: MIT
 *
 * Where NVTX's own headers are, the types and numbers are theirs (FAKE_NVTX_HEADERS). What the
 * tracer reads and writes of these structures lies with it, so that this file is a second opinion.
 */
#include "fake_nvtx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_NVTX_HEADERS
#    include <nvtx3/nvToolsExt.h>
typedef nvtxEventAttributes_t attributes_t;
typedef NvtxGetExportTableFunc_t get_export_table_t;
typedef NvtxExportTableCallbacks callbacks_t;
typedef NvtxFunctionPointer function_t;
enum {
    CORE2 = NVTX_CB_MODULE_CORE2,
    CALLBACKS = NVTX_ETID_CALLBACKS,
    VERSION_INFO = NVTX_ETID_VERSIONINFO,
    PUSH = NVTX_CBID_CORE2_DomainRangePushEx,
    POP = NVTX_CBID_CORE2_DomainRangePop,
    NAME_CATEGORY = NVTX_CBID_CORE2_DomainNameCategoryA,
    CREATE = NVTX_CBID_CORE2_DomainCreateA
};
#    define CALL_GET_TABLE(c, table, size)                                                         \
        (c)->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, table, size)
#    define IS_ASCII(a) ((a)->messageType == NVTX_MESSAGE_TYPE_ASCII)
#else
typedef struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    uint64_t payload;
    int32_t messageType;
    union {
        const char *ascii;
    } message;
} attributes_t;
typedef void (*function_t)(void);
typedef const void *(*get_export_table_t)(uint32_t);
typedef struct callbacks {
    size_t struct_size;
    int (*get)(uint32_t module, function_t ***table, unsigned *size);
} callbacks_t;
enum {
    CORE2 = 5,
    CALLBACKS = 1,
    VERSION_INFO = 3,
    PUSH = 4,
    POP = 5,
    NAME_CATEGORY = 8,
    CREATE = 12
};
#    define CALL_GET_TABLE(c, table, size) (c)->get(CORE2, table, size)
#    define IS_ASCII(a)                    ((a)->messageType == 1)
#endif

#define DEPTH 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_nvtx_t book;
static int domain; /* its address is the handle */
static pthread_key_t key;
static __thread struct {
    int depth;
    char names[DEPTH][64];
} mine;

/* Runs when a thread ends, after the tracer's own: its key is older. */
static void thread_ends(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    book.left += mine.depth;
    book.threads_ended++;
    mine.depth = 0;
    pthread_mutex_unlock(&lock);
}

static void note(const char *sign, const char *name) {
    size_t used = strlen(book.text);
    snprintf(book.text + used, sizeof book.text - used, "%s%s%s", used ? " " : "", sign, name);
}

static int push(const void *where, const attributes_t *a) {
    pthread_setspecific(key, &mine);
    pthread_mutex_lock(&lock);
    book.pushes++;
    book.wrong +=
        where != &domain || a->size != 48 || a->version == 0 || !IS_ASCII(a) || mine.depth >= DEPTH;
    snprintf(mine.names[mine.depth % DEPTH], sizeof mine.names[0], "%s", a->message.ascii);
    note("+", mine.names[mine.depth % DEPTH]);
    book.categories[a->category % 64]++;
    void (*then)(void) = book.within_push;
    pthread_mutex_unlock(&lock);
    if (then) {
        then();
    }
    return mine.depth++;
}

static int pop(const void *where) {
    pthread_mutex_lock(&lock);
    book.pops++;
    book.wrong += where != &domain || mine.depth <= 0;
    mine.depth -= mine.depth > 0;
    note("-", mine.names[mine.depth % DEPTH]);
    pthread_mutex_unlock(&lock);
    return mine.depth;
}

static void name_category(const void *where, uint32_t number, const char *name) {
    pthread_mutex_lock(&lock);
    book.wrong += where != &domain || number == 0 || number >= 64;
    snprintf(book.category_names[number % 64], sizeof book.category_names[0], "%s", name);
    pthread_mutex_unlock(&lock);
}

static const void *create(const char *name) {
    snprintf(book.domain, sizeof book.domain, "%s", name);
    return &domain;
}

fake_nvtx_t *fake_nvtx_book(void) {
    return &book;
}

int InitializeInjectionNvtx2(get_export_table_t get_export_table);
int InitializeInjectionNvtx2(get_export_table_t get_export_table) {
    const callbacks_t *c = get_export_table(CALLBACKS);
    function_t **table = NULL;
    unsigned size = 0;
    book.initialised++;
    if (getenv("FAKE_NVTX_REFUSES") || !c || c->struct_size < sizeof *c ||
        !get_export_table(VERSION_INFO) || get_export_table(77) ||
        !CALL_GET_TABLE(c, &table, &size) || size <= CREATE) {
        return 0;
    }
    pthread_key_create(&key, thread_ends);
    *table[PUSH] = (function_t)push;
    *table[POP] = (function_t)pop;
    *table[NAME_CATEGORY] = (function_t)name_category;
    *table[CREATE] = (function_t)create;
    return 1;
}
