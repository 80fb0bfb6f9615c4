/* collect_refused.c: pieces that are not taken, counted and told. SPDX-License-Identifier: MIT */
#include "collect_store.h"
#include "message.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const words[] = {
#define X(name, word, text) word,
    PT_COLLECT_REFUSED_LIST(X)
#undef X
};
static const char *const texts[] = {
#define X(name, word, text) text,
    PT_COLLECT_REFUSED_LIST(X)
#undef X
};

const char *pt_collect_refused_word(pt_collect_refused_t cause) {
    return words[cause];
}

const char *pt_collect_refused_text(pt_collect_refused_t cause) {
    return texts[cause];
}

pt_collect_result_t pt_collect_store_refuse_message(pt_collect_store_t *s, const char *from,
                                                    pt_collect_refused_t cause, const char *why) {
    s->refusal = cause;
    if (s->refused[cause]++ < PT_WARN_SOME || pt_message_verbosity() == PT_VERBOSE) {
        pt_warn("%s: %s is refused%s%s", from, texts[cause], why != NULL ? ": " : "",
                why != NULL ? why : "");
    }
    return PT_COLLECT_REFUSED;
}

pt_collect_result_t pt_collect_store_refuse(pt_collect_store_t *s,
                                            const perftrace__stream_key_t *key, uint64_t offset,
                                            pt_collect_refused_t cause) {
    char from[sizeof key->run + sizeof key->name + 64];
    snprintf(from, sizeof from, "run %s, %s, offset %" PRIu64, key->run, key->name, offset);
    return pt_collect_store_refuse_message(s, from, cause, NULL);
}
