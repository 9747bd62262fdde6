// SPDX-License-Identifier: Apache-2.0
// Blocks and probes of two keys at a time, one in each 128-bit lane of a 256-bit register. Like vaes512.c, for
// processors with wide AES but without AVX-512. With 16 registers, the round keys stay in the first-level cache.

#if defined(__x86_64__)

#include <immintrin.h>

#include "constants.h"
#include "filter.h"
#include "filter_x86.h"
#include "shani.h"

/// The target of every function of the tier, so that the file needs no compiler flag. Callers check the processor.
#define VAES256 __attribute__((target("avx2,vaes,aes")))

enum {
  PAIR = 2,
  /// Registers in flight: the AES units start two per cycle, with a latency of four cycles.
  FLIGHT = 8,
  /// Pairs that are expanded in parallel, to hide the latency.
  TOGETHER = 4,
  /// The keys in these pairs.
  KEYS_TOGETHER = PAIR * TOGETHER
};

_Static_assert(EK_GROUP_KEYS % KEYS_TOGETHER == 0, "no key of a group may be left over");
_Static_assert(EK_LONGEST_PERIOD % FLIGHT == 0, "the bare blocks are whole flights");

/// One key per lane.
typedef struct round_keys {
  __m256i of[11];
} round_keys;

/// The next round key, as in vaes512.c.
VAES256 static inline __m256i next_key(__m256i key, uint32_t constant) {
  __m256i last = _mm256_shuffle_epi8(key, _mm256_set1_epi32(0x0c0f0e0d));
  __m256i word = _mm256_aesenclast_epi128(last, _mm256_set1_epi32((int)constant));
  __m256i one = _mm256_xor_si256(key, _mm256_slli_si256(key, 4));
  return _mm256_xor_si256(_mm256_xor_si256(one, _mm256_slli_si256(one, 8)), word);
}

VAES256 static void expand(const uint8_t *identifier_keys, round_keys keys[TOGETHER]) {
  __m256i now[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    now[i] = _mm256_loadu_si256((const __m256i *)(identifier_keys + i * PAIR * EK_KEY_BYTES));
    keys[i].of[0] = now[i];
  }
  for (int round = 0; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < TOGETHER; i++) {
      now[i] = next_key(now[i], ek_aes_round_constants[round]);
      keys[i].of[round + 1] = now[i];
    }
  }
}

/// The blocks of the first intervals of the pair at `place`.
VAES256 static inline __m256i first_blocks(const ek_group *group, uint32_t place) {
  uint32_t words[8];
  for (uint32_t lane = 0; lane < PAIR; lane++) {
    __builtin_memcpy(words + 4 * lane, ek_block_head, sizeof ek_block_head);
    words[4 * lane + 3] = group->first[place + lane];
  }
  return _mm256_loadu_si256((const __m256i *)words);
}

/// Each lane's interval as its last word, zero elsewhere.
VAES256 static inline __m256i at_interval(uint32_t number) {
  return _mm256_set_epi32((int)number, 0, 0, 0, (int)number, 0, 0, 0);
}

/// Encrypts FLIGHT successive intervals from `first`. They wrap around in their lanes.
VAES256 static inline void encrypt(const round_keys *keys, __m256i first, __m256i blocks[FLIGHT]) {
  EK_UNROLL
  for (uint32_t i = 0; i < FLIGHT; i++) {
    blocks[i] = _mm256_xor_si256(_mm256_add_epi32(first, at_interval(i)), keys->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm256_aesenc_epi128(blocks[i], keys->of[round]);
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm256_aesenclast_epi128(blocks[i], keys->of[10]);
}

/// ek_filter_hash of four heads, in the upper halves. AVX2 has no 64-bit product: the upper half is that of the lower
/// halves' product plus the two cross products.
VAES256 static inline __m256i hashes(const ek_filter *filter, __m256i heads) {
  uint64_t odd = filter->secret[1] | 1;
  __m256i multiplier = _mm256_set1_epi64x((long long)odd);
  __m256i swapped = _mm256_set1_epi64x((long long)(odd >> 32 | odd << 32));
  heads = _mm256_xor_si256(heads, _mm256_set1_epi64x((long long)filter->secret[0]));
  __m256i crossed = _mm256_mullo_epi32(heads, swapped);
  __m256i product = _mm256_add_epi32(_mm256_mul_epu32(heads, multiplier), crossed);
  return _mm256_add_epi32(product, _mm256_slli_epi64(crossed, 32));
}

/// ek_filter_holds of eight identifiers, a bit each: lane l of register r goes to bit 4 l + r.
VAES256 static inline uint32_t held(const ek_filter *filter, const __m256i identifiers[4]) {
  __m256i low = hashes(filter, _mm256_unpacklo_epi64(identifiers[0], identifiers[1]));
  __m256i high = hashes(filter, _mm256_unpacklo_epi64(identifiers[2], identifiers[3]));
  __m256i hash = _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0xdd));
  __m128i shift = _mm_cvtsi32_si128((int)(32 - filter->word_count_log2));
  _Alignas(32) uint64_t pairs[4];
  _mm256_store_si256((__m256i *)pairs, _mm256_srl_epi32(hash, shift));
  __m256i words = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 2),
                                   ek_filter_words(filter->words, pairs));
  // Shifts the tested bit to the sign, which movemask reads: to the left by 31 minus its number.
  __m256i first = _mm256_andnot_si256(hash, _mm256_set1_epi32(31));
  __m256i second = _mm256_andnot_si256(_mm256_srli_epi32(hash, 5), _mm256_set1_epi32(31));
  __m256i both =
      _mm256_and_si256(_mm256_sllv_epi32(words, first), _mm256_sllv_epi32(words, second));
  return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(both));
}

/// Writes the candidates of four registers. They are rare, so it may go through memory.
VAES256 static __attribute__((noinline)) void emit(ek_output *output, const ek_group *group,
                                                   uint32_t place, uint32_t offset, uint32_t mask,
                                                   const __m256i identifiers[4]) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t bit = (uint32_t)__builtin_ctz(mask), lane = bit / 4, interval = bit % 4;
    const uint8_t *identifier = (const uint8_t *)&identifiers[interval] + lane * EK_KEY_BYTES;
    ek_emit(output, group, place + lane, offset + interval, identifier);
  }
}

/// Matches one pair of the group.
VAES256 static inline void match_key(const round_keys *keys, const ek_group *group, uint32_t place,
                                     const ek_filter *filter, ek_output *output) {
  uint32_t longest = ek_longest(group, place, PAIR);
  __m256i first = first_blocks(group, place);
  for (uint32_t offset = 0; offset < longest; offset += FLIGHT) {
    __m256i blocks[FLIGHT];
    encrypt(keys, first, blocks);
    first = _mm256_add_epi32(first, at_interval(FLIGHT));
    uint32_t low = held(filter, blocks), high = held(filter, blocks + 4);
    if (__builtin_expect((low | high) != 0, 0)) {
      __m256i kept[FLIGHT];
      for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
      emit(output, group, place, offset, low, kept);
      emit(output, group, place, offset + 4, high, kept + 4);
    }
  }
}

VAES256 static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  ek_filter own = *filter;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += KEYS_TOGETHER) {
    if (ek_longest(group, place, KEYS_TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      match_key(&keys[i], group, place + PAIR * i, &own, output);
    }
  }
}

/// The round keys for decryption. aesimc has only a 128-bit form; aesdec of aesenclast is InvMixColumns too.
VAES256 static inline void invert(round_keys *keys) {
  round_keys inverse;
  __m256i zero = _mm256_setzero_si256();
  inverse.of[0] = keys->of[10];
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    inverse.of[round] =
        _mm256_aesdec_epi128(_mm256_aesenclast_epi128(keys->of[10 - round], zero), zero);
  }
  // Includes the head of a block, so that a decrypted block that equals it becomes zero.
  uint32_t head[4] = {0};
  __builtin_memcpy(head, ek_block_head, sizeof ek_block_head);
  __m128i block = _mm_loadu_si128((const __m128i *)head);
  inverse.of[10] = _mm256_xor_si256(keys->of[0], _mm256_broadcastsi128_si256(block));
  *keys = inverse;
}

/// Decrypts FLIGHT received identifiers with the keys of a pair to their differences from the head of a block.
/// Returns true if the first 8 bytes of any difference are zero.
VAES256 static inline bool decrypt(const round_keys *inverse, const uint8_t *received,
                                   __m256i blocks[FLIGHT]) {
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    __m128i block = _mm_loadu_si128((const __m128i *)(received + i * EK_KEY_BYTES));
    blocks[i] = _mm256_xor_si256(_mm256_broadcastsi128_si256(block), inverse->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) {
      blocks[i] = _mm256_aesdec_epi128(blocks[i], inverse->of[round]);
    }
  }
  __m256i heads = _mm256_setzero_si256();
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    blocks[i] = _mm256_aesdeclast_epi128(blocks[i], inverse->of[10]);
    heads = _mm256_or_si256(heads, _mm256_cmpeq_epi64(blocks[i], _mm256_setzero_si256()));
  }
  return (_mm256_movemask_pd(_mm256_castsi256_pd(heads)) & 0x5) != 0;
}

/// Matches one pair with `count` received identifiers; FLIGHT of them are readable.
VAES256 static inline void match_key_reverse(const round_keys *inverse, const ek_group *group,
                                             uint32_t place, const uint8_t *received, size_t count,
                                             ek_output *output) {
  __m256i blocks[FLIGHT];
  if (__builtin_expect(!decrypt(inverse, received, blocks), 1)) return;
  for (size_t i = 0; i < count; i++) {
    uint32_t differences[8];
    _mm256_storeu_si256((__m256i *)differences, blocks[i]);
    for (uint32_t lane = 0; lane < PAIR; lane++) {
      ek_emit_decrypted(output, group, place + lane, differences + 4 * lane,
                        received + i * EK_KEY_BYTES);
    }
  }
}

VAES256 static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
                            ek_output *output) {
  size_t whole = received_count - received_count % FLIGHT;
  uint8_t rest[FLIGHT * EK_KEY_BYTES] = {0};
  __builtin_memcpy(rest, received + whole * EK_KEY_BYTES, (received_count - whole) * EK_KEY_BYTES);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += KEYS_TOGETHER) {
    if (ek_longest(group, place, KEYS_TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      uint32_t pair = place + PAIR * i;
      invert(&keys[i]);
      for (size_t j = 0; j < whole; j += FLIGHT) {
        match_key_reverse(&keys[i], group, pair, received + j * EK_KEY_BYTES, FLIGHT, output);
      }
      if (whole < received_count) {
        match_key_reverse(&keys[i], group, pair, rest, received_count - whole, output);
      }
    }
  }
}

VAES256 static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                                uint8_t *out) {
  ek_group group = {.first = {first}};
  round_keys keys[TOGETHER];
  __builtin_memcpy(group.identifier_keys, identifier_key, EK_KEY_BYTES);
  expand(group.identifier_keys, keys);
  for (uint32_t done = 0; done < count; done += FLIGHT) {
    __m256i blocks[FLIGHT];
    encrypt(&keys[0], _mm256_add_epi32(first_blocks(&group, 0), at_interval(done)), blocks);
    for (uint32_t i = 0; i < FLIGHT && done + i < count; i++) {
      __builtin_memcpy(out + (size_t)(done + i) * EK_KEY_BYTES, &blocks[i], EK_KEY_BYTES);
    }
  }
}

/// The exclusive or of all intervals of the pair at `place`, without places that have no key.
VAES256 static inline uint64_t fold(const round_keys *keys, const ek_group *group, uint32_t place) {
  __m256i sum = _mm256_setzero_si256(), first = first_blocks(group, place);
  for (uint32_t offset = 0; offset < EK_LONGEST_PERIOD; offset += FLIGHT) {
    __m256i own[FLIGHT];
    encrypt(keys, first, own);
    first = _mm256_add_epi32(first, at_interval(FLIGHT));
    for (int i = 0; i < FLIGHT; i++) sum = _mm256_xor_si256(sum, own[i]);
  }
  uint64_t parts[4];
  _mm256_storeu_si256((__m256i *)parts, sum);
  return (group->length[place] > 0 ? parts[0] : 0) ^ (group->length[place + 1] > 0 ? parts[2] : 0);
}

VAES256 static uint64_t blocks(const ek_group *group) {
  uint64_t sum = 0;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += KEYS_TOGETHER) {
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) sum ^= fold(&keys[i], group, place + PAIR * i);
  }
  return sum;
}

VAES256 static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  ek_filter own = *filter;
  uint64_t total = 0;
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256i four[4];
    for (size_t j = 0; j < 4; j++) {
      four[j] = _mm256_loadu_si256((const __m256i *)(identifiers + (i + 2 * j) * EK_KEY_BYTES));
    }
    total += (uint64_t)__builtin_popcount(held(&own, four));
  }
  for (; i < count; i++) {
    total += ek_filter_holds(&own, ek_filter_hash(&own, identifiers + i * EK_KEY_BYTES));
  }
  return total;
}

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
