/* profile_model.h: stacks that a profiler took, whatever it wrote them in. SPDX-License-Identifier:
 * MIT
 *
 * Frames are numbered in the order of their first use; a frame is a function at a place, so that
 * one name may be several frames. Stacks are a tree: a node is a frame under its caller, and each
 * thread (each profile of a file) has a root of its own, so that a node belongs to one thread. A
 * sample adds its weight to the node of its last frame. A parent has always a lower number than its
 * children.
 *
 * Texts hold no NUL: one that is given is kept as U+2400, the sign for it, so that everybody may
 * take a text to end at its NUL.
 *
 * Pure but for memory: when that runs out, `failed` is set and the model is incomplete. Not
 * thread-safe; different models are independent. */
#ifndef PERFTRACE_PROFILE_MODEL_H
#define PERFTRACE_PROFILE_MODEL_H
#include "hashmap.h"
#include "strbuf.h"

#define PT_PROFILE_NONE UINT32_MAX
/* What a weight is at most: sums of them are finite. */
#define PT_PROFILE_MOST_WEIGHT 1e280

/* What weights are. Times are kept in seconds whatever the file has. */
typedef enum pt_profile_unit { PT_UNIT_NONE, PT_UNIT_SECONDS, PT_UNIT_BYTES } pt_profile_unit_t;

/* As speedscope has it: "seconds", "bytes", "none". */
static inline const char *pt_unit_name(pt_profile_unit_t unit) {
    return unit == PT_UNIT_SECONDS ? "seconds" : unit == PT_UNIT_BYTES ? "bytes" : "none";
}

/* Texts are offsets into the model's text. */
typedef struct pt_profile_frame {
    size_t name, file;
    uint32_t name_len, file_len; /* file_len 0: not known */
    int64_t line;                /* below 0: not known */
} pt_profile_frame_t;

typedef struct pt_profile_node {
    uint32_t parent; /* PT_PROFILE_NONE for the root of a thread */
    uint32_t frame;  /* PT_PROFILE_NONE for a root */
    uint32_t thread;
    uint32_t depth;   /* frames down to here; 0 for a root */
    double weight;    /* of the samples that end here */
    uint64_t samples; /* that end here; those of a root have no frames */
    uint64_t first;   /* the place of the first of them among all samples */
} pt_profile_node_t;

/* One sample, where the order is kept. */
typedef struct pt_profile_sample {
    uint32_t node;
    double weight;
} pt_profile_sample_t;

typedef struct pt_profile_thread {
    size_t name; /* offset into the model's text */
    uint32_t name_len;
    uint32_t root;
    pt_profile_unit_t unit;
    uint64_t samples;
    double weight;
    pt_profile_sample_t *sample; /* with keep_order */
    size_t count, cap;
} pt_profile_thread_t;

typedef struct pt_profile {
    bool keep_order; /* keep each sample, for those who write them again; set before the first */
    bool failed;
    perftrace__strbuf_t text;
    pt_profile_frame_t *frame;
    size_t frames, frame_cap;
    pt_profile_node_t *node;
    size_t nodes, node_cap;
    pt_profile_thread_t *thread;
    size_t threads, thread_cap;
    uint64_t samples;
    uint64_t place; /* of the next sample; more than samples where parts were read elsewhere */
    perftrace__hashmap_t frame_of_name;  /* frames without a place */
    perftrace__hashmap_t frame_of_place; /* the others */
    perftrace__hashmap_t node_of;        /* caller and frame */
    perftrace__hashmap_t thread_of;      /* the first thread of a name */
    perftrace__strbuf_t key;             /* scratch */
    perftrace__strbuf_t shown[2];        /* a name and a file without NULs: scratch, too */
} pt_profile_t;

void pt_profile_init(pt_profile_t *p);
void pt_profile_free(pt_profile_t *p); /* of a zeroed or initialised one */

/* Each gives the number of what is there or now made; PT_PROFILE_NONE without memory. Texts may be
 * any bytes. file may be NULL with file_len 0. */
uint32_t pt_profile_frame(pt_profile_t *p, const char *name, size_t len);
uint32_t pt_profile_frame_at(pt_profile_t *p, const char *name, size_t len, const char *file,
                             size_t file_len, int64_t line);
uint32_t pt_profile_node(pt_profile_t *p, uint32_t parent, uint32_t frame);
/* The same where the caller knows that there is none yet, and keeps the number: faster, and not
 * found by pt_profile_node. */
uint32_t pt_profile_node_new(pt_profile_t *p, uint32_t parent, uint32_t frame);
/* The first thread of this name and unit, or a new one. */
uint32_t pt_profile_thread(pt_profile_t *p, const char *name, size_t len, pt_profile_unit_t unit);
/* A new one, though there may be others of its name. */
uint32_t pt_profile_thread_new(pt_profile_t *p, const char *name, size_t len,
                               pt_profile_unit_t unit);
/* Adds a sample that ends at a node. weight is from 0 to PT_PROFILE_MOST_WEIGHT. */
void pt_profile_add(pt_profile_t *p, uint32_t node, double weight);
/* Adds the sum of several, the first of which has that place. Not with keep_order. */
void pt_profile_add_sum(pt_profile_t *p, uint32_t node, double weight, uint64_t samples,
                        uint64_t first);

/* Adds all that another model holds, as if it had been read into this one next. Threads of one name
 * and unit become one, but only the first of its name in `from`. Frames and threads that only
 * `from` has get numbers in its order: what is said of a model does not depend on how its file was
 * cut. */
void pt_profile_merge(pt_profile_t *to, const pt_profile_t *from);
/* The same for one that was read between the samples of `to`: places of samples are those of one
 * text. Not with keep_order. */
void pt_profile_merge_part(pt_profile_t *to, const pt_profile_t *from);

/* Multiplies the weights of all threads of unit PT_UNIT_NONE, which are then of `unit`. */
void pt_profile_scale(pt_profile_t *p, double factor, pt_profile_unit_t unit);
/* The upper median of the weights of all samples; 0 without any. Needs keep_order. False without
 * memory. */
bool pt_profile_median(const pt_profile_t *p, double *ret);
/* Takes all samples out of a thread, which stays. */
void pt_profile_empty_thread(pt_profile_t *p, size_t thread);
/* Numbers the threads in the order of their names (bytes), equal ones as they are. */
void pt_profile_sort_threads(pt_profile_t *p);

static inline const char *pt_profile_text(const pt_profile_t *p, size_t offset) {
    return p->text.data != NULL ? p->text.data + offset : "";
}
static inline const char *pt_frame_name(const pt_profile_t *p, uint32_t frame) {
    return pt_profile_text(p, p->frame[frame].name);
}
static inline const char *pt_thread_name(const pt_profile_t *p, size_t thread) {
    return pt_profile_text(p, p->thread[thread].name);
}

#endif
