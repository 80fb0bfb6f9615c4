/* back_end_gpu.c: the switches of GPU profilers that watch from outside. SPDX-License-Identifier:
 * MIT
 *
 * nsys with --capture-range=cudaProfilerApi records between cudaProfilerStart and cudaProfilerStop;
 * rocprof records after roctxProfilerResume and until roctxProfilerPause (0: all threads). The
 * functions are looked for when the first window opens: in what the program has loaded, then in the
 * usual libraries. A library stays loaded, since it may have started threads. */
#include "back_end.h"
#include "strbuf.h"

#include <perftrace/status.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*cuda_fn)(void);
typedef int (*roc_fn)(uint64_t thread);
typedef const char *(*word_fn)(int error); /* cudaGetErrorString */

typedef struct gpu {
    char *library; /* that was asked for; NULL */
    const char *const *usual;
    const char *start_name, *stop_name;
    void *start, *stop; /* functions; NULL until they are found */
    void *word;         /* what says what a result means; NULL: nothing does */
    bool roc;
    char text[512];
} gpu_t;

static const char *const cuda_libraries[] = {"libcudart.so.13", "libcudart.so.12",
                                             "libcudart.so.11.0", "libcudart.so", NULL};
static const char *const roc_libraries[] = {"librocprofiler-sdk-roctx.so.1",
                                            "librocprofiler-sdk-roctx.so", "libroctx64.so.4",
                                            "libroctx64.so", NULL};

static void *gpu_open(const char *library, const char *const *usual, bool roc) {
    gpu_t *g = calloc(1, sizeof(*g));
    if (!g) {
        return NULL;
    }
    g->usual = usual;
    g->roc = roc;
    g->start_name = roc ? "roctxProfilerResume" : "cudaProfilerStart";
    g->stop_name = roc ? "roctxProfilerPause" : "cudaProfilerStop";
    g->library = library && library[0] ? strdup(library) : NULL;
    snprintf(g->text, sizeof(g->text), "%s and %s", g->start_name, g->stop_name);
    if (library && library[0] && !g->library) {
        free(g);
        return NULL;
    }
    return g;
}

static void *cuda_open(const perftrace_profiler_options_t *o) {
    return gpu_open(o->cuda_library, cuda_libraries, false);
}

static void *roc_open(const perftrace_profiler_options_t *o) {
    return gpu_open(o->roc_library, roc_libraries, true);
}

static void gpu_close(void *user) {
    gpu_t *g = user;
    free(g->library);
    free(g);
}

static bool take_functions(gpu_t *g, void *handle, const char *from) {
    void *start = dlsym(handle, g->start_name);
    void *stop = dlsym(handle, g->stop_name);
    if (!start || !stop) {
        return false;
    }
    g->start = start;
    g->stop = stop;
    g->word = g->roc ? NULL : dlsym(handle, "cudaGetErrorString");
    snprintf(g->text, sizeof(g->text), "%s and %s of %s", g->start_name, g->stop_name, from);
    return true;
}

static bool load(gpu_t *g, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return handle && take_functions(g, handle, library);
}

static bool find(gpu_t *g) {
    if (g->start) {
        return true;
    }
    if (g->library) {
        if (!load(g, g->library)) {
            snprintf(g->text, sizeof(g->text),
                     "%s cannot be used: there is no %s in it, or no "
                     "such file",
                     g->library, g->start_name);
        }
        return g->start != NULL;
    }
    if (take_functions(g, RTLD_DEFAULT, "the program")) {
        return true;
    }
    for (const char *const *name = g->usual; *name; name++) {
        if (load(g, *name)) {
            return true;
        }
    }
    snprintf(g->text, sizeof(g->text),
             "%s is not found: the program has not loaded it, and there "
             "is none of",
             g->start_name);
    for (const char *const *name = g->usual; *name; name++) {
        size_t used = strlen(g->text);
        snprintf(g->text + used, sizeof(g->text) - used, " %s", *name);
    }
    return false;
}

static const char *meaning(const gpu_t *g, int result) {
    word_fn f;
    if (!g->word) {
        return NULL;
    }
    memcpy(&f, &g->word, sizeof(f));
    return f(result);
}

static int call(gpu_t *g, void *function) {
    int result;
    if (g->roc) {
        roc_fn f;
        memcpy(&f, &function, sizeof(f));
        result = f(0);
    } else {
        cuda_fn f;
        memcpy(&f, &function, sizeof(f));
        result = f();
    }
    if (result) {
        const char *word = meaning(g, result);
        snprintf(g->text, sizeof(g->text), "%s returned %d%s%s",
                 function == g->start ? g->start_name : g->stop_name, result, word ? ": " : "",
                 word ? word : "");
    }
    return result ? PERFTRACE_ERR_STATE : PERFTRACE_OK;
}

static int gpu_start(void *user, const perftrace_profiler_window_t *w) {
    gpu_t *g = user;
    (void)w;
    return find(g) ? call(g, g->start) : PERFTRACE_ERR_NOT_FOUND;
}

static int gpu_stop(void *user, const perftrace_profiler_window_t *w) {
    gpu_t *g = user;
    (void)w;
    return call(g, g->stop);
}

static int gpu_describe(void *user, char *ret_text, size_t size) {
    const gpu_t *g = user;
    return snprintf(ret_text, size, "%s", g->text);
}

const perftrace__back_end_t perftrace__back_end_cuda = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "cuda",
              .gpu = 1,
              .start = gpu_start,
              .stop = gpu_stop,
              .describe = gpu_describe},
    .open = cuda_open,
    .close = gpu_close,
};

const perftrace__back_end_t perftrace__back_end_roc = {
    .calls = {.struct_size = sizeof(perftrace_profiler_back_end_t),
              .name = "roc",
              .gpu = 1,
              .start = gpu_start,
              .stop = gpu_stop,
              .describe = gpu_describe},
    .open = roc_open,
    .close = gpu_close,
};
