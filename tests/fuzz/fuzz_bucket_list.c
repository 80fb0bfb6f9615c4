/* fuzz_bucket_list.c: whatever a bucket lists, no path leaves the folder. SPDX-License-Identifier:
 * MIT */
#include "bucket_key.h"
#include "bucket_list.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

/* Judged by walking, not as the room does it. */
static bool stays_below(const char *path) {
    char *copy = strdup(path), *at = NULL;
    bool stays = copy && *path != '/' && path[0] != '\0' && path[strlen(path) - 1] != '/' &&
                 !strstr(path, "//");
    for (char *part = copy ? strtok_r(copy, "/", &at) : NULL; part;
         part = strtok_r(NULL, "/", &at)) {
        stays = stays && strcmp(part, ".") != 0 && strcmp(part, "..") != 0 && strlen(part) < 256;
    }
    free(copy);
    return stays;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pt_bucket_list_t list = PT_BUCKET_LIST_INIT;
    perftrace__strbuf_t problem = PERFTRACE__STRBUF_INIT;
    pt_string_list_t none = PT_STRING_LIST_INIT;
    int parsed = pt_bucket_list_parse((const char *)data, size, "p/", &list, &problem);
    require(parsed >= 0 || problem.len > 0);
    if (parsed == 1) {
        pt_bucket_list_choose(&list, NULL, &none);
        size_t all = 0;
        for (int s = 0; s < PT_OBJECT_STATE_COUNT; s++) {
            all += pt_bucket_list_count(&list, (pt_object_state_t)s, NULL);
        }
        require(all == list.count);
    }
    const char *last = NULL;
    for (size_t i = 0; parsed == 1 && i < list.count; i++) {
        const pt_object_t *o = &list.items[i];
        require((o->why != NULL) == (o->state == PT_OBJECT_REFUSED));
        if (o->state == PT_OBJECT_WANTED) {
            require(stays_below(o->path));
            require(!last || !pt_bucket_key_covers(last, o->path));
            last = o->path;
        }
    }
    pt_bucket_list_free(&list);
    perftrace__strbuf_free(&problem);
    return 0;
}
