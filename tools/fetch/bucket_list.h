/* bucket_list.h: what lies under a prefix, and what is to become of it. SPDX-License-Identifier:
 * MIT
 *
 * Pure but for memory. */
#ifndef PERFTRACE_TOOL_BUCKET_LIST_H
#define PERFTRACE_TOOL_BUCKET_LIST_H

#include "strbuf.h"
#include "string_list.h"
#include "upload_kind.h"

/* X(NAME, id, word): an object's state, for programs and for people. */
#define PT_OBJECT_STATES(X)                                                                        \
    X(WANTED, "wanted", "wanted")       /* is to be copied */                                      \
    X(FETCHED, "fetched", "fetched")    /* was copied and has its size */                          \
    X(PRESENT, "present", "present")    /* was there before */                                     \
    X(LEFT_OUT, "left_out", "left out") /* by --kinds or --pattern */                              \
    X(REFUSED, "refused", "refused")    /* its key cannot be a path below the folder */            \
    X(FAILED, "failed", "failed")       /* was not copied, or has another size */

typedef enum pt_object_state {
#define X(name, id, word) PT_OBJECT_##name,
    PT_OBJECT_STATES(X)
#undef X
        PT_OBJECT_STATE_COUNT
} pt_object_state_t;

const char *pt_object_state_word(pt_object_state_t state);

typedef struct pt_object {
    char *key;        /* owned; without NUL inside unless refused */
    const char *path; /* in it, behind the prefix */
    char *etag;       /* owned: the bucket's word for the content; NULL: not known */
    const char *why;  /* refused, failed: a static text; else NULL */
    uint64_t size;    /* bytes */
    int64_t modified; /* seconds since the epoch; 0: not known */
    pt_upload_kind_t kind;
    pt_object_state_t state;
} pt_object_t;

typedef struct pt_bucket_list {
    pt_object_t *items; /* in the order of pt_bucket_key_compare */
    size_t count, cap;
    size_t markers; /* empty objects "folder/", which stand for folders and are no files */
} pt_bucket_list_t;

#define PT_BUCKET_LIST_INIT                                                                        \
    { NULL, 0, 0, 0 }

/* The --query of the aws CLI whose answer pt_bucket_list_parse reads. */
#define PT_BUCKET_LIST_QUERY "Contents[].[Key,Size,LastModified,ETag]"

/* Reads the answer, [["KEY", SIZE, "2026-11-30T20:52:45+00:00", "ETAG"], ...] or null; the time and
 * the ETag may be null, and the ETag may lack. Each object gets its
 * kind and is wanted or refused: by its key, or because another object's path is the same or leads
 * through it. prefix ends in '/'. 1, 0 without memory, -1 for a text of another form, of which a
 * sentence is appended to ret_problem. */
int pt_bucket_list_parse(const char *text, size_t len, const char *prefix, pt_bucket_list_t *ret,
                         perftrace__strbuf_t *ret_problem);
void pt_bucket_list_free(pt_bucket_list_t *list); /* accepts NULL; usable again */

/* Of the wanted and the refused, leaves out those of a kind that kinds[] does not take (NULL: takes
 * all) and those whose last part fits none of the patterns (an empty list: takes all). */
void pt_bucket_list_choose(pt_bucket_list_t *list, const bool kinds[PT_UPLOAD_COUNT],
                           const pt_string_list_t *patterns);

/* How many objects are in a state, and their bytes (ret_bytes may be NULL). */
size_t pt_bucket_list_count(const pt_bucket_list_t *list, pt_object_state_t state,
                            uint64_t *ret_bytes);

/* Whether a local file is the object: of its size, and not older. */
bool pt_object_is(const pt_object_t *object, bool regular, uint64_t size, int64_t modified);
/* Whether what is noted of a local file's content (NULL: nothing is) may be the object's. */
bool pt_object_may_have(const pt_object_t *object, const char *etag);

/* Seconds since the epoch of "2026-11-30T20:52:45", with a fraction or not, and Z or +00:00; 0 for
 * anything else. */
int64_t pt_bucket_time(const char *text, size_t len);

#endif
