// SPDX-License-Identifier: Apache-2.0
// The filter's words for the two tiers that probe in wide registers.

#ifndef EK_FILTER_X86_H
#define EK_FILTER_X86_H

#include <immintrin.h>
#include <stdint.h>

/// Four words of the filter, with indices in two pairs.
///
/// Separate loads, since the gather instruction is microcode: on the reference processor 144 probes take 42 ns this
/// way, 51 with 256-bit gathers and 92 with 512-bit ones. Each load gets two indices because loads are the bottleneck.
__attribute__((target("sse4.1"))) static inline __m128i ek_filter_words(const uint32_t *words,
                                                                        const uint64_t pairs[2]) {
  __m128i four = _mm_cvtsi32_si128((int)words[(uint32_t)pairs[0]]);
  four = _mm_insert_epi32(four, (int)words[pairs[0] >> 32], 1);
  four = _mm_insert_epi32(four, (int)words[(uint32_t)pairs[1]], 2);
  return _mm_insert_epi32(four, (int)words[pairs[1] >> 32], 3);
}

#endif
