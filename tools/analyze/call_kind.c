/* call_kind.c: what a call of the device's runtime does, by its name. SPDX-License-Identifier: MIT
 */
#include "call_kind.h"

#include <string.h>

static bool has(pt_str_t name, const char *part) {
    return memmem(name.p, name.len, part, strlen(part)) != NULL;
}

unsigned pt_call_kinds(pt_str_t name) {
    unsigned kinds = PT_CALL_KNOWN;
    bool launches = has(name, "aunch");
    if (launches || has(name, "emcpy") || has(name, "emset")) {
        kinds |= PT_CALL_HANDS_OVER;
    }
    if (launches && has(name, "ernel")) {
        kinds |= PT_CALL_KERNEL;
    }
    if (has(name, "GraphLaunch")) {
        kinds |= PT_CALL_GRAPH;
    }
    if (has(name, "ynchronize") || PT_STR_IS(name, "cudaMemcpy") || PT_STR_IS(name, "hipMemcpy") ||
        PT_STR_IS(name, "hipMemcpyWithStream")) {
        kinds |= PT_CALL_WAITS;
    }
    return kinds;
}
