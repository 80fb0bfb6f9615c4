/* text_sampler.h: makes text that reads like a given one. SPDX-License-Identifier: MIT
 *
 * No model: what comes next is what stands behind the last few characters somewhere in the text.
 * Every character costs a search through the whole text. Any thread. */
#ifndef EXAMPLES_ROLLOUT_TEXT_SAMPLER_H
#define EXAMPLES_ROLLOUT_TEXT_SAMPLER_H

#include "char_text.h"

#include <stdint.h>

/* A number below limit; any start value will do. */
size_t sampler_random(uint64_t *random, size_t limit);
/* The character that follows sample[0..len), by its last four; len is 4 or more. */
unsigned char sampler_next(const char_text_t *text, const unsigned char *sample, size_t len,
                           uint64_t *random);
/* How often piece[0..len) stands in the text; len is 4 or more. */
size_t sampler_count(const char_text_t *text, const unsigned char *piece, size_t len);

#endif
