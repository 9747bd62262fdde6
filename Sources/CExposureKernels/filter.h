// SPDX-License-Identifier: Apache-2.0
// The filter's hash, word and bits. Every tier's probe computes the same.

#ifndef EK_FILTER_H
#define EK_FILTER_H

#include "CExposureKernels.h"

/// The upper half of (first 8 bytes xor secret) times an odd secret: multiply-shift hashing, whose upper bits collide
/// for two given identifiers no more often than random values (Dietzfelbinger et al. 1997). Without the secret an
/// attacker could send identifiers that all map to one word.
static inline uint32_t ek_filter_hash_of(const ek_filter *filter, uint64_t head) {
  return (uint32_t)(((head ^ filter->secret[0]) * (filter->secret[1] | 1)) >> 32);
}

/// The same of an identifier in memory.
static inline uint32_t ek_filter_hash(const ek_filter *filter, const uint8_t *identifier) {
  uint64_t head;
  __builtin_memcpy(&head, identifier, sizeof head);
  return ek_filter_hash_of(filter, head);
}

/// The word: the hash's upper bits. In 64 bits, since a filter of one word shifts by 32.
static inline uint32_t ek_filter_word(const ek_filter *filter, uint32_t hash) {
  return (uint32_t)((uint64_t)hash >> (32 - filter->word_count_log2));
}

/// The two bits: five of the hash's lower bits each.
static inline uint32_t ek_filter_bits(uint32_t hash) {
  return (uint32_t)1 << (hash & 31) | (uint32_t)1 << (hash >> 5 & 31);
}

/// Returns 1 if both bits of `hash` are set in its word, without a branch.
static inline uint32_t ek_filter_holds(const ek_filter *filter, uint32_t hash) {
  uint32_t word = filter->words[ek_filter_word(filter, hash)];
  return word >> (hash & 31) & word >> (hash >> 5 & 31) & 1;
}

#endif
