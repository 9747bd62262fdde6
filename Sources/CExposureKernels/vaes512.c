// SPDX-License-Identifier: Apache-2.0
// The tier with AES on 512-bit registers, four keys at a time.

#if defined(__x86_64__)

#include "vaes512.h"

#include "constants.h"
#include "filter.h"
#include "filter_x86.h"

#define WIDE VAES512

enum {
  LANES = 4,
  /// Registers in flight: the AES units start two per cycle, with a latency of four cycles.
  FLIGHT = 8
};

typedef __m512i wide;

WIDE static inline wide w_load(const uint8_t *bytes) { return _mm512_loadu_si512(bytes); }

WIDE static inline wide w_every_word(uint32_t word) { return _mm512_set1_epi32((int)word); }

/// The 16 bytes in every lane.
WIDE static inline wide w_every_block(const uint8_t *bytes) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)bytes));
}

/// Each lane's interval as its last word, zero elsewhere.
WIDE static inline wide w_at_interval(uint32_t number) {
  return _mm512_maskz_set1_epi32(0x8888, (int)number);
}

WIDE static inline wide w_xor(wide a, wide b) { return _mm512_xor_si512(a, b); }

WIDE static inline wide w_add_words(wide a, wide b) { return _mm512_add_epi32(a, b); }

WIDE static inline wide w_shuffle_bytes(wide a, wide order) {
  return _mm512_shuffle_epi8(a, order);
}

/// Each word with all words before it in its lane, by exclusive or.
WIDE static inline wide w_prefix_xor(wide a) {
  wide two = w_xor(a, _mm512_bslli_epi128(a, 4));
  return _mm512_ternarylogic_epi32(two, _mm512_bslli_epi128(a, 8), _mm512_bslli_epi128(a, 12),
                                   0x96);
}

WIDE static inline wide w_aesenc(wide block, wide key) { return _mm512_aesenc_epi128(block, key); }

WIDE static inline wide w_aesenclast(wide block, wide key) {
  return _mm512_aesenclast_epi128(block, key);
}

WIDE static inline wide w_aesdec(wide block, wide key) { return _mm512_aesdec_epi128(block, key); }

WIDE static inline wide w_aesdeclast(wide block, wide key) {
  return _mm512_aesdeclast_epi128(block, key);
}

/// The filter's parts in registers.
typedef struct wide_filter {
  const uint32_t *words;
  wide blind;
  wide multiplier;
  __m128i shift;
} wide_filter;

WIDE static inline wide_filter widen(const ek_filter *filter) {
  return (wide_filter){
      .words = filter->words,
      .blind = _mm512_set1_epi64((long long)filter->secret[0]),
      .multiplier = _mm512_set1_epi64((long long)(filter->secret[1] | 1)),
      .shift = _mm_cvtsi32_si128((int)(32 - filter->word_count_log2)),
  };
}

/// ek_filter_hash of 16 identifiers: lane l of register r goes to place 4 l + r.
WIDE static inline wide hashes(const wide_filter *filter, const wide identifiers[4]) {
  wide low = _mm512_unpacklo_epi64(identifiers[0], identifiers[1]);
  wide high = _mm512_unpacklo_epi64(identifiers[2], identifiers[3]);
  low = _mm512_mullo_epi64(w_xor(low, filter->blind), filter->multiplier);
  high = _mm512_mullo_epi64(w_xor(high, filter->blind), filter->multiplier);
  return _mm512_castps_si512(
      _mm512_shuffle_ps(_mm512_castsi512_ps(low), _mm512_castsi512_ps(high), 0xdd));
}

/// The words at 16 indices.
WIDE static inline wide words_at(const wide_filter *filter, wide indices) {
  _Alignas(64) uint64_t pairs[8];
  _mm512_store_si512(pairs, indices);
  __m256i low = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 2),
                                 ek_filter_words(filter->words, pairs));
  __m256i high = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 6),
                                  ek_filter_words(filter->words, pairs + 4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Rotates use their count modulo 32.
WIDE static inline uint32_t held(const wide_filter *filter, const wide identifiers[4]) {
  wide hash = hashes(filter, identifiers);
  wide words = words_at(filter, _mm512_srl_epi32(hash, filter->shift));
  wide first = _mm512_rorv_epi32(words, hash);
  wide second = _mm512_rorv_epi32(words, _mm512_srli_epi32(hash, 5));
  return _mm512_test_epi32_mask(_mm512_and_si512(first, second), w_every_word(1));
}

WIDE static inline bool any_head(const wide blocks[FLIGHT]) {
  uint32_t heads = 0;
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    heads |= _mm512_mask_testn_epi64_mask(0x55, blocks[i], blocks[i]);
  }
  return heads != 0;
}

#include "vaes_template.h"

const ek_kernels ek_vaes512_kernels = {
    .tier = EK_TIER_VAES512,
    .schedule = ek_vaes512_schedule,
    .identifiers = identifiers,
    .forward = forward,
    .reverse = reverse,
    .blocks = blocks,
    .probe = probe,
    .reverse_break_even = 270,
};

#endif
