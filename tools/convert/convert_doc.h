/* convert_doc.h: the output, in one or several parts. SPDX-License-Identifier: MIT
 *
 * One thread at a time. Nothing stands under a final name before _commit. */
#ifndef PERFTRACE_CONVERT_DOC_H
#define PERFTRACE_CONVERT_DOC_H
#include "convert_bundle.h"
#include "convert_options.h"
#include "deflate.h"
#include "output.h"
#include "paths.h"
#include "strbuf.h"

/* Stands in the first bytes of every output, so that outputs are known when a folder is read again.
 */
#define PT_CONVERT_MARK "\"otherData\": {\"writer\": \"perf-trace-convert\"}"

typedef struct pt_convert_part {
    pt_output_t *output;
    pt_gzip_joiner_t joiner;
    uint64_t plain; /* bytes of events */
} pt_convert_part_t;

typedef struct pt_convert_doc {
    const pt_convert_options_t *options;
    const pt_paths_t *inputs;
    const char *target;          /* NULL: nothing is written (--check) */
    pt_convert_bundle_t *bundle; /* NULL, or what takes the events instead */
    bool gzip;
    pt_deflater_t *deflater;
    pt_convert_part_t *part;
    size_t parts;
    perftrace__strbuf_t names; /* metadata events of all tracks so far */
    uint64_t plain, written;   /* bytes of events; bytes of output, after _commit */
} pt_convert_doc_t;

/* Opens the first part. PT_EXIT_OK, PT_EXIT_OUTPUT or PT_EXIT_INTERNAL (told). */
pt_exit_t pt_convert_doc_open(pt_convert_doc_t *doc, const pt_convert_options_t *options,
                              const pt_paths_t *inputs, const char *target);
/* Adds events (each followed by ",\n"): plain text, or packed by the caller when doc->gzip is set.
 */
pt_exit_t pt_convert_doc_events(pt_convert_doc_t *doc, const void *data, size_t len,
                                const pt_deflate_block_t *packed);
/* Adds names of tracks, for the end of every part. */
void pt_convert_doc_names(pt_convert_doc_t *doc, const perftrace__strbuf_t *names);
/* Ends every part with the names and the metadata object, and puts the files under their names. */
pt_exit_t pt_convert_doc_commit(pt_convert_doc_t *doc, const char *metadata);
/* Removes what is not committed and frees. */
void pt_convert_doc_free(pt_convert_doc_t *doc);

#endif
