// SPDX-License-Identifier: Apache-2.0
// The tier with AES on 256-bit registers, two keys at a time, for processors without AVX-512. With 16 registers, the
// round keys stay in the first-level cache.

#if defined(__x86_64__)

#include <immintrin.h>

#include "constants.h"
#include "filter.h"
#include "filter_x86.h"
#include "shani.h"

/// The target of every function of the tier, so that the file needs no compiler flag. Callers check the processor.
#define WIDE __attribute__((target("avx2,vaes,aes")))

enum {
  LANES = 2,
  /// Registers in flight: the AES units start two per cycle, with a latency of four cycles.
  FLIGHT = 8
};

typedef __m256i wide;

WIDE static inline wide w_load(const uint8_t *bytes) {
  return _mm256_loadu_si256((const __m256i *)bytes);
}

WIDE static inline wide w_every_word(uint32_t word) { return _mm256_set1_epi32((int)word); }

/// The 16 bytes in every lane.
WIDE static inline wide w_every_block(const uint8_t *bytes) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

/// Each lane's interval as its last word, zero elsewhere.
WIDE static inline wide w_at_interval(uint32_t number) {
  return _mm256_set_epi32((int)number, 0, 0, 0, (int)number, 0, 0, 0);
}

WIDE static inline wide w_xor(wide a, wide b) { return _mm256_xor_si256(a, b); }

WIDE static inline wide w_add_words(wide a, wide b) { return _mm256_add_epi32(a, b); }

WIDE static inline wide w_shuffle_bytes(wide a, wide order) {
  return _mm256_shuffle_epi8(a, order);
}

/// Each word with all words before it in its lane, by exclusive or.
WIDE static inline wide w_prefix_xor(wide a) {
  wide two = w_xor(a, _mm256_slli_si256(a, 4));
  return w_xor(two, _mm256_slli_si256(two, 8));
}

WIDE static inline wide w_aesenc(wide block, wide key) { return _mm256_aesenc_epi128(block, key); }

WIDE static inline wide w_aesenclast(wide block, wide key) {
  return _mm256_aesenclast_epi128(block, key);
}

WIDE static inline wide w_aesdec(wide block, wide key) { return _mm256_aesdec_epi128(block, key); }

WIDE static inline wide w_aesdeclast(wide block, wide key) {
  return _mm256_aesdeclast_epi128(block, key);
}

/// The filter's parts in registers. AVX2 has no 64-bit product: it is put together from the products of halves.
typedef struct wide_filter {
  const uint32_t *words;
  wide blind;
  wide multiplier;
  /// The multiplier with its halves exchanged.
  wide swapped;
  __m128i shift;
} wide_filter;

WIDE static inline wide_filter widen(const ek_filter *filter) {
  uint64_t odd = filter->secret[1] | 1;
  return (wide_filter){
      .words = filter->words,
      .blind = _mm256_set1_epi64x((long long)filter->secret[0]),
      .multiplier = _mm256_set1_epi64x((long long)odd),
      .swapped = _mm256_set1_epi64x((long long)(odd >> 32 | odd << 32)),
      .shift = _mm_cvtsi32_si128((int)(32 - filter->word_count_log2)),
  };
}

/// ek_filter_hash of four heads, in the upper halves: that of the lower halves' product plus the two cross products.
WIDE static inline wide hashes(const wide_filter *filter, wide heads) {
  heads = w_xor(heads, filter->blind);
  wide crossed = _mm256_mullo_epi32(heads, filter->swapped);
  wide product = w_add_words(_mm256_mul_epu32(heads, filter->multiplier), crossed);
  return w_add_words(product, _mm256_slli_epi64(crossed, 32));
}

WIDE static inline uint32_t held(const wide_filter *filter, const wide identifiers[4]) {
  wide low = hashes(filter, _mm256_unpacklo_epi64(identifiers[0], identifiers[1]));
  wide high = hashes(filter, _mm256_unpacklo_epi64(identifiers[2], identifiers[3]));
  wide hash = _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0xdd));
  _Alignas(32) uint64_t pairs[4];
  _mm256_store_si256((__m256i *)pairs, _mm256_srl_epi32(hash, filter->shift));
  wide words = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 2),
                                ek_filter_words(filter->words, pairs));
  // Shifts the tested bit to the sign, which movemask reads: to the left by 31 minus its number.
  wide first = _mm256_andnot_si256(hash, w_every_word(31));
  wide second = _mm256_andnot_si256(_mm256_srli_epi32(hash, 5), w_every_word(31));
  wide both = _mm256_and_si256(_mm256_sllv_epi32(words, first), _mm256_sllv_epi32(words, second));
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(both));
}

WIDE static inline bool any_head(const wide blocks[FLIGHT]) {
  wide heads = _mm256_setzero_si256();
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    heads = _mm256_or_si256(heads, _mm256_cmpeq_epi64(blocks[i], _mm256_setzero_si256()));
  }
  return (_mm256_movemask_pd(_mm256_castsi256_pd(heads)) & 0x5) != 0;
}

#include "vaes_template.h"

const ek_kernels ek_vaes256_kernels = {
    .tier = EK_TIER_VAES256,
    .schedule = ek_shani_schedule,
    .identifiers = identifiers,
    .forward = forward,
    .reverse = reverse,
    .blocks = blocks,
    .probe = probe,
    .reverse_break_even = 230,
};

#endif
