/* nvtx_tool.c: whoever takes NVTX ranges in this process. SPDX-License-Identifier: MIT
 *
 * In this order: the library that NVTX_INJECTION64_PATH names, which gets a table of functions to
 * fill; one that is linked into the program; the functions of NVTX themselves, of a library that
 * the program has loaded or of libnvToolsExt. */
#include "nvtx_tool.h"

#include "compiler.h"

#include <perftrace/status.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOMAIN    "perftrace"
#define FUNCTIONS 16u

typedef const void *(*create_domain_t)(const char *name);

static struct {
    bool found;
    bool asked; /* it was called once, and is not again */
    perftrace__nvtx_tool_t tool;
    char refusal[512]; /* of the one that was asked */
} state;

/* ---- the table that a library fills ---- */

/* Functions of each module, as NVTX 3 numbers both. */
static const unsigned module_sizes[NVTX_MODULES] = {0, 16, 9, 15, 7, 16, 7};
static nvtx_function_t functions[NVTX_MODULES][FUNCTIONS];
static nvtx_function_t *places[NVTX_MODULES][FUNCTIONS + 1];

static int get_table(uint32_t module, nvtx_function_t ***ret_table, unsigned *ret_size) {
    const bool known = module > 0 && module < NVTX_MODULES;
    *ret_table = known ? places[module] : NULL;
    if (ret_size) {
        *ret_size = known ? module_sizes[module] : 0;
    }
    return known;
}

static void take_version(uint32_t version) {
    (void)version; /* every version fills the table in the same way */
}

static const void *get_export_table(uint32_t id) {
    static const nvtx_export_callbacks_t callbacks = {sizeof(callbacks), get_table};
    static const nvtx_export_version_t version = {sizeof(version), NVTX_VERSION_NUMBER, 0,
                                                  take_version};
    return id == NVTX_EXPORT_CALLBACKS ? (const void *)&callbacks
           : id == NVTX_EXPORT_VERSION ? (const void *)&version
                                       : NULL;
}

enum { CORE2_PUSH = 4, CORE2_POP = 5, CORE2_NAME_CATEGORY = 8, CORE2_CREATE = 12 };

/* ---- finding ---- */

/* Function pointers and object pointers are the same where there is dlsym. */
#define TAKE(field, from) memcpy(&(field), &(from), sizeof(field))

static void found(const char *from, create_domain_t create) {
    state.tool.domain = create ? create(DOMAIN) : NULL;
    snprintf(state.tool.from, sizeof(state.tool.from), "%s", from);
    state.found = true;
}

/* Calls a library's beginning, once in the process. */
static void ask(nvtx_initialize_t initialize, const char *from) {
    for (unsigned m = 0; m < NVTX_MODULES; m++) {
        for (unsigned i = 1; i < module_sizes[m]; i++) {
            places[m][i] = &functions[m][i];
        }
    }
    state.asked = true;
    const nvtx_function_t *core2 = functions[NVTX_MODULE_CORE2];
    if (!initialize(get_export_table)) {
        snprintf(state.refusal, sizeof(state.refusal), "%s does not take part: its %s returned 0",
                 from, NVTX_INITIALIZE);
    } else if (!core2[CORE2_PUSH] || !core2[CORE2_POP]) {
        snprintf(state.refusal, sizeof(state.refusal), "%s takes no ranges of domains", from);
    } else {
        create_domain_t create;
        TAKE(state.tool.push, core2[CORE2_PUSH]);
        TAKE(state.tool.pop, core2[CORE2_POP]);
        TAKE(state.tool.name_category, core2[CORE2_NAME_CATEGORY]);
        TAKE(create, core2[CORE2_CREATE]);
        found(from, create);
    }
}

/* The library that the variable names. */
static int find_injection(const char *path, char *ret_text, size_t size) {
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(ret_text, size, "%s cannot be loaded: %s", NVTX_PATH_VARIABLE, dlerror());
        return PERFTRACE_ERR_NOT_FOUND;
    }
    if (dlsym(handle, NVTX_OWN_MARK)) {
        snprintf(ret_text, size,
                 "%s names %s, which brings ranges into this trace: the scopes are there already",
                 NVTX_PATH_VARIABLE, path);
        return PERFTRACE_ERR_UNSUPPORTED;
    }
    nvtx_initialize_t initialize;
    void *symbol = dlsym(handle, NVTX_INITIALIZE);
    if (!symbol) {
        dlclose(handle);
        snprintf(ret_text, size, "%s names %s, in which there is no %s", NVTX_PATH_VARIABLE, path,
                 NVTX_INITIALIZE);
        return PERFTRACE_ERR_NOT_FOUND;
    }
    TAKE(initialize, symbol);
    ask(initialize, path); /* it stays loaded: it may have started threads */
    return PERFTRACE_OK;
}

static bool find_functions(void *handle, const char *from) {
    void *push = dlsym(handle, "nvtxDomainRangePushEx");
    void *pop = dlsym(handle, "nvtxDomainRangePop");
    void *name_category = dlsym(handle, "nvtxDomainNameCategoryA");
    void *symbol = dlsym(handle, "nvtxDomainCreateA");
    if (!push || !pop) {
        return false;
    }
    create_domain_t create;
    TAKE(state.tool.push, push);
    TAKE(state.tool.pop, pop);
    TAKE(state.tool.name_category, name_category);
    TAKE(create, symbol);
    found(from, create);
    return true;
}

/* NVTX's headers bind a library that is linked into the program by this pointer. */
static bool find_linked(void) {
    const nvtx_initialize_t *linked = dlsym(RTLD_DEFAULT, NVTX_INITIALIZE "_fnptr");
    if (linked && *linked) {
        ask(*linked, "the program's own NVTX library");
        return true;
    }
    return false;
}

static int find_elsewhere(char *ret_text, size_t size) {
    static const char *const libraries[] = {"libnvToolsExt.so.1", "libnvToolsExt.so"};
    if (find_linked() || find_functions(RTLD_DEFAULT, "the program")) {
        return PERFTRACE_OK;
    }
    for (size_t i = 0; i < PT_ARRAY_LEN(libraries); i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        if (handle && find_functions(handle, libraries[i])) {
            return PERFTRACE_OK;
        }
    }
    snprintf(ret_text, size,
             "nobody takes NVTX ranges: %s is not set (run the program under nsys, or set it to "
             "the library of a profiler), and there is no libnvToolsExt",
             NVTX_PATH_VARIABLE);
    return PERFTRACE_ERR_NOT_FOUND;
}

int perftrace__nvtx_tool_find(const perftrace__nvtx_tool_t **ret, char *ret_text, size_t size) {
    int status = PERFTRACE_OK;
    if (!state.found && !state.asked) {
        const char *path = getenv(NVTX_PATH_VARIABLE);
        status =
            path && path[0] ? find_injection(path, ret_text, size) : find_elsewhere(ret_text, size);
    }
    if (!status && !state.found) {
        snprintf(ret_text, size, "%s", state.refusal);
        status = PERFTRACE_ERR_UNSUPPORTED;
    }
    *ret = status ? NULL : &state.tool;
    return status;
}
