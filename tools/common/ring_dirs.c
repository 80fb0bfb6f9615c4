/* ring_dirs.c. SPDX-License-Identifier: MIT */
#include "ring_dirs.h"

#include "os.h"

#include <stdlib.h>

bool pt_ring_dirs_add_usual(pt_string_list_t *dirs) {
    const char *own = getenv("PERFTRACE_RING_DIR");
    bool ok = true;
    if (own && *own) {
        perftrace__strbuf_t path = PERFTRACE__STRBUF_INIT;
        perftrace__os_expand_path(&path, own, NULL);
        ok = pt_string_list_add(dirs, perftrace__strbuf_cstr(&path));
        perftrace__strbuf_free(&path);
    }
    static const char *const usual[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < PT_ARRAY_LEN(usual) && ok; i++) {
        ok = pt_string_list_has(dirs, usual[i]) || pt_string_list_add(dirs, usual[i]);
    }
    return ok;
}
