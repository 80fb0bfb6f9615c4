/* control_route.c: what can be asked. SPDX-License-Identifier: MIT */
#include "control_route.h"

#include <perftrace/perftrace.h>

static const struct {
    const char *method, *path, *help;
} routes[PERFTRACE__CONTROL_ROUTE_COUNT] = {
#define X(name, method, path, help) {method, path, help},
    PERFTRACE__CONTROL_ROUTES(X)
#undef X
};

perftrace__control_route_t perftrace__control_route(const char *method, const char *path,
                                                    const char **ret_allow) {
    for (size_t i = 0; i < PT_ARRAY_LEN(routes); i++) {
        if (strcmp(path, routes[i].path) == 0) {
            bool get = strcmp(routes[i].method, "GET") == 0;
            if (strcmp(method, routes[i].method) == 0 || (get && strcmp(method, "HEAD") == 0)) {
                return (perftrace__control_route_t)i;
            }
            *ret_allow = get ? "GET, HEAD" : "POST";
            return PERFTRACE__CONTROL_NO_METHOD;
        }
    }
    return PERFTRACE__CONTROL_NO_PATH;
}

void perftrace__control_route_help(perftrace__strbuf_t *out) {
    perftrace__strbuf_printf(out, "libperftrace %s\n\n", PERFTRACE_VERSION);
    for (size_t i = 0; i < PT_ARRAY_LEN(routes); i++) {
        perftrace__strbuf_printf(out, "%-4s %-15s %s\n", routes[i].method, routes[i].path,
                                 routes[i].help);
    }
}
