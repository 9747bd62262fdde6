// SPDX-License-Identifier: Apache-2.0
// Blocks and probes with AES-NI, one key at a time and eight blocks in flight.

#if defined(__x86_64__)

#include <immintrin.h>

#include "constants.h"
#include "filter.h"
#include "shani.h"

/// The target of every function of the tier, so that the file needs no compiler flag. Callers check the processor.
#define AESNI __attribute__((target("aes,sse4.1,ssse3")))

enum {
  /// Blocks in flight: the AES units start two per cycle, with a latency of four cycles.
  FLIGHT = 8,
  /// Keys that are expanded in parallel, to hide the latency.
  TOGETHER = 4
};

_Static_assert(EK_GROUP_KEYS % TOGETHER == 0, "no key of a group may be left over");
_Static_assert(EK_LONGEST_PERIOD % FLIGHT == 0, "the bare blocks are whole flights");

typedef struct round_keys {
  __m128i of[11];
} round_keys;

/// The next round key (FIPS 197 5.2). aesenclast of four equal columns is SubWord, as ShiftRows then changes nothing;
/// the shuffle before it makes them equal and rotates. aeskeygenassist does the same and is slow.
AESNI static inline __m128i next_key(__m128i key, uint32_t constant) {
  __m128i last = _mm_shuffle_epi8(key, _mm_set1_epi32(0x0c0f0e0d));
  __m128i word = _mm_aesenclast_si128(last, _mm_set1_epi32((int)constant));
  __m128i one = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  return _mm_xor_si128(_mm_xor_si128(one, _mm_slli_si128(one, 8)), word);
}

AESNI static void expand(const uint8_t *identifier_keys, round_keys keys[TOGETHER]) {
  __m128i now[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    now[i] = _mm_loadu_si128((const __m128i *)(identifier_keys + i * EK_KEY_BYTES));
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

/// The block of `interval`.
AESNI static inline __m128i block_of(uint32_t interval) {
  uint32_t words[4];
  __builtin_memcpy(words, ek_block_head, sizeof ek_block_head);
  words[3] = interval;
  return _mm_loadu_si128((const __m128i *)words);
}

/// The interval as the last word of a block.
AESNI static inline __m128i at_interval(uint32_t number) {
  return _mm_set_epi32((int)number, 0, 0, 0);
}

/// Encrypts FLIGHT successive intervals from `first`.
AESNI static inline void encrypt(const round_keys *keys, __m128i first, __m128i blocks[FLIGHT]) {
  EK_UNROLL
  for (uint32_t i = 0; i < FLIGHT; i++) {
    blocks[i] = _mm_xor_si128(_mm_add_epi32(first, at_interval(i)), keys->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm_aesenc_si128(blocks[i], keys->of[round]);
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm_aesenclast_si128(blocks[i], keys->of[10]);
}

/// The power of two in each lane whose exponent, 0 ... 31, is in bits 23 ... 27 of `numbers`: built as a float and
/// converted to an integer. 2^31 overflows, and the instruction's result for an overflow is exactly that bit.
AESNI static inline __m128i powers(__m128i numbers) {
  __m128i exponents = _mm_and_si128(numbers, _mm_set1_epi32(31 << 23));
  __m128i floats = _mm_add_epi32(exponents, _mm_set1_epi32(127 << 23));
  return _mm_cvttps_epi32(_mm_castsi128_ps(floats));
}

/// ek_filter_holds of four identifiers, a bit each. Products and loads are scalar, since there is no wide product;
/// bits are tested in lanes, since two variable shifts for each identifier take twice as long.
AESNI static inline uint32_t four_held(const ek_filter *filter, const __m128i identifiers[4]) {
  int hash[4], word[4];
  EK_UNROLL
  for (int i = 0; i < 4; i++) {
    uint64_t head = (uint64_t)_mm_cvtsi128_si64(identifiers[i]);
    hash[i] = (int)ek_filter_hash_of(filter, head);
    word[i] = (int)filter->words[ek_filter_word(filter, (uint32_t)hash[i])];
  }
  __m128i hashes = _mm_set_epi32(hash[3], hash[2], hash[1], hash[0]);
  __m128i words = _mm_set_epi32(word[3], word[2], word[1], word[0]);
  __m128i first = powers(_mm_slli_epi32(hashes, 23)), second = powers(_mm_slli_epi32(hashes, 18));
  __m128i bits = _mm_or_si128(first, second);
  __m128i both = _mm_cmpeq_epi32(_mm_and_si128(words, bits), bits);
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(both));
}

/// ek_filter_holds of FLIGHT identifiers in registers, a bit each.
AESNI static inline uint32_t held(const ek_filter *filter, const __m128i identifiers[FLIGHT]) {
  return four_held(filter, identifiers) | four_held(filter, identifiers + 4) << 4;
}

/// Writes the candidates of a flight. They are rare, so it may go through memory.
AESNI static __attribute__((noinline)) void emit(ek_output *output, const ek_group *group,
                                                 uint32_t place, uint32_t offset, uint32_t mask,
                                                 const __m128i identifiers[FLIGHT]) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t bit = (uint32_t)__builtin_ctz(mask);
    ek_emit(output, group, place, offset + bit, (const uint8_t *)&identifiers[bit]);
  }
}

/// Matches one key of the group.
AESNI static inline void match_key(const round_keys *keys, const ek_group *group, uint32_t place,
                                   const ek_filter *filter, ek_output *output) {
  __m128i first = block_of(group->first[place]);
  for (uint32_t offset = 0; offset < group->length[place]; offset += FLIGHT) {
    __m128i blocks[FLIGHT];
    encrypt(keys, first, blocks);
    first = _mm_add_epi32(first, at_interval(FLIGHT));
    uint32_t mask = held(filter, blocks);
    if (__builtin_expect(mask != 0, 0)) {
      __m128i kept[FLIGHT];
      for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
      emit(output, group, place, offset, mask, kept);
    }
  }
}

AESNI static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  ek_filter own = *filter;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += TOGETHER) {
    if (ek_longest(group, place, TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) match_key(&keys[i], group, place + i, &own, output);
  }
}

/// The round keys for decryption (FIPS 197 5.3.5).
AESNI static inline void invert(round_keys *keys) {
  round_keys inverse;
  inverse.of[0] = keys->of[10];
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    inverse.of[round] = _mm_aesimc_si128(keys->of[10 - round]);
  }
  // Includes the head of a block, so that a decrypted block that equals it becomes zero.
  inverse.of[10] = _mm_xor_si128(keys->of[0], block_of(0));
  *keys = inverse;
}

/// Decrypts FLIGHT received identifiers to their differences from the head of a block. Returns true if the first
/// 8 bytes of any difference are zero.
AESNI static inline bool decrypt(const round_keys *inverse, const uint8_t *received,
                                 __m128i blocks[FLIGHT]) {
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    __m128i block = _mm_loadu_si128((const __m128i *)(received + i * EK_KEY_BYTES));
    blocks[i] = _mm_xor_si128(block, inverse->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm_aesdec_si128(blocks[i], inverse->of[round]);
  }
  __m128i heads = _mm_setzero_si128();
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    blocks[i] = _mm_aesdeclast_si128(blocks[i], inverse->of[10]);
    heads = _mm_or_si128(heads, _mm_cmpeq_epi64(blocks[i], _mm_setzero_si128()));
  }
  return _mm_cvtsi128_si64(heads) != 0;
}

/// Matches one key with `count` received identifiers; FLIGHT of them are readable.
AESNI static inline void match_key_reverse(const round_keys *inverse, const ek_group *group,
                                           uint32_t place, const uint8_t *received, size_t count,
                                           ek_output *output) {
  __m128i blocks[FLIGHT];
  if (__builtin_expect(!decrypt(inverse, received, blocks), 1)) return;
  for (size_t i = 0; i < count; i++) {
    uint32_t difference[4];
    _mm_storeu_si128((__m128i *)difference, blocks[i]);
    ek_emit_decrypted(output, group, place, difference, received + i * EK_KEY_BYTES);
  }
}

AESNI static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
                          ek_output *output) {
  size_t whole = received_count - received_count % FLIGHT;
  uint8_t rest[FLIGHT * EK_KEY_BYTES] = {0};
  __builtin_memcpy(rest, received + whole * EK_KEY_BYTES, (received_count - whole) * EK_KEY_BYTES);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += TOGETHER) {
    if (ek_longest(group, place, TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      if (group->length[place + i] == 0) continue;
      invert(&keys[i]);
      for (size_t j = 0; j < whole; j += FLIGHT) {
        match_key_reverse(&keys[i], group, place + i, received + j * EK_KEY_BYTES, FLIGHT, output);
      }
      if (whole < received_count) {
        match_key_reverse(&keys[i], group, place + i, rest, received_count - whole, output);
      }
    }
  }
}

AESNI static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                              uint8_t *out) {
  uint8_t padded[TOGETHER * EK_KEY_BYTES] = {0};
  round_keys keys[TOGETHER];
  __builtin_memcpy(padded, identifier_key, EK_KEY_BYTES);
  expand(padded, keys);
  for (uint32_t done = 0; done < count; done += FLIGHT) {
    __m128i blocks[FLIGHT];
    encrypt(&keys[0], block_of(first + done), blocks);
    uint32_t left = count - done < FLIGHT ? count - done : FLIGHT;
    __builtin_memcpy(out + (size_t)done * EK_KEY_BYTES, blocks, (size_t)left * EK_KEY_BYTES);
  }
}

/// The exclusive or of all intervals of one key.
AESNI static inline __m128i fold(const round_keys *keys, uint32_t interval, uint32_t length) {
  __m128i sum = _mm_setzero_si128(), first = block_of(interval);
  for (uint32_t offset = 0; offset < length; offset += FLIGHT) {
    __m128i own[FLIGHT];
    encrypt(keys, first, own);
    first = _mm_add_epi32(first, at_interval(FLIGHT));
    for (int i = 0; i < FLIGHT; i++) sum = _mm_xor_si128(sum, own[i]);
  }
  return sum;
}

AESNI static uint64_t blocks(const ek_group *group) {
  __m128i sum = _mm_setzero_si128();
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += TOGETHER) {
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      uint32_t length = group->length[place + i];
      sum = _mm_xor_si128(sum, fold(&keys[i], group->first[place + i], length));
    }
  }
  return (uint64_t)_mm_cvtsi128_si64(sum);
}

AESNI static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  ek_filter own = *filter;
  uint64_t total = 0;
  size_t i = 0;
  for (; i + FLIGHT <= count; i += FLIGHT) {
    __m128i flight[FLIGHT];
    EK_UNROLL
    for (size_t j = 0; j < FLIGHT; j++) {
      flight[j] = _mm_loadu_si128((const __m128i *)(identifiers + (i + j) * EK_KEY_BYTES));
    }
    uint32_t mask = held(&own, flight);
    if (__builtin_expect(mask != 0, 0)) total += (uint64_t)__builtin_popcount(mask);
  }
  for (; i < count; i++) {
    total += ek_filter_holds(&own, ek_filter_hash(&own, identifiers + i * EK_KEY_BYTES));
  }
  return total;
}

const ek_kernels ek_aesni_kernels = {
    .tier = EK_TIER_AESNI_SHANI,
    .schedule = ek_shani_schedule,
    .identifiers = identifiers,
    .forward = forward,
    .reverse = reverse,
    .blocks = blocks,
    .probe = probe,
    .reverse_break_even = 185,
};

#endif
