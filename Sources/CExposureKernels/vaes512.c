// SPDX-License-Identifier: Apache-2.0
// Blocks and probes of four keys at a time, one in each 128-bit lane of a 512-bit register: round keys need no
// broadcast, and a register holds the identifiers of four keys at one interval. Only candidates are stored.

#if defined(__x86_64__)

#include "vaes512.h"

#include "constants.h"
#include "filter.h"
#include "filter_x86.h"

enum {
  QUAD = 4,
  QUADS = EK_GROUP_KEYS / QUAD,
  /// Registers in flight: the AES units start two per cycle, with a latency of four cycles.
  FLIGHT = 8
};

_Static_assert(EK_GROUP_KEYS % QUAD == 0, "no key of a group may be left over");
_Static_assert(EK_LONGEST_PERIOD % FLIGHT == 0, "the bare blocks are whole flights");

/// One key per lane.
typedef struct round_keys {
  __m512i of[11];
} round_keys;

/// The next round key (FIPS 197 5.2). aesenclast of four equal columns is SubWord, as ShiftRows then changes nothing;
/// the shuffle before it makes them equal and rotates. aeskeygenassist is slow and has no wide form.
VAES512 static inline __m512i next_key(__m512i key, uint32_t constant) {
  __m512i last = _mm512_shuffle_epi8(key, _mm512_set1_epi32(0x0c0f0e0d));
  __m512i word = _mm512_aesenclast_epi128(last, _mm512_set1_epi32((int)constant));
  __m512i one = _mm512_xor_si512(key, _mm512_bslli_epi128(key, 4));
  __m512i two = _mm512_ternarylogic_epi32(one, _mm512_bslli_epi128(key, 8),
                                          _mm512_bslli_epi128(key, 12), 0x96);
  return _mm512_xor_si512(two, word);
}

/// The round keys of all quads of a group, expanded in parallel to hide the latency.
VAES512 static inline void expand(const uint8_t *identifier_keys, round_keys keys[QUADS]) {
  for (int quad = 0; quad < QUADS; quad++) {
    keys[quad].of[0] = _mm512_loadu_si512(identifier_keys + 64 * quad);
  }
  for (int round = 0; round < 10; round++) {
    EK_UNROLL
    for (int quad = 0; quad < QUADS; quad++) {
      keys[quad].of[round + 1] = next_key(keys[quad].of[round], ek_aes_round_constants[round]);
    }
  }
}

/// The blocks of the first intervals of the quad at `place`.
VAES512 static inline __m512i first_blocks(const ek_group *group, uint32_t place) {
  int32_t words[16];
  for (int lane = 0; lane < QUAD; lane++) {
    __builtin_memcpy(words + 4 * lane, ek_block_head, sizeof ek_block_head);
    words[4 * lane + 3] = (int32_t)group->first[place + lane];
  }
  return _mm512_loadu_si512(words);
}

/// Each lane's interval as its last word, zero elsewhere.
VAES512 static inline __m512i at_interval(uint32_t number) {
  return _mm512_maskz_set1_epi32(0x8888, (int)number);
}

/// Encrypts FLIGHT successive intervals from `first`. They wrap around in their lanes.
VAES512 static inline void encrypt(const round_keys *keys, __m512i first, __m512i blocks[FLIGHT]) {
  EK_UNROLL
  for (uint32_t i = 0; i < FLIGHT; i++) {
    blocks[i] = _mm512_xor_si512(_mm512_add_epi32(first, at_interval(i)), keys->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm512_aesenc_epi128(blocks[i], keys->of[round]);
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm512_aesenclast_epi128(blocks[i], keys->of[10]);
}

/// The filter's parts in registers.
typedef struct wide_filter {
  const uint32_t *words;
  __m512i blind;
  __m512i multiplier;
  __m128i shift;
} wide_filter;

VAES512 static inline wide_filter widen(const ek_filter *filter) {
  return (wide_filter){
      .words = filter->words,
      .blind = _mm512_set1_epi64((long long)filter->secret[0]),
      .multiplier = _mm512_set1_epi64((long long)(filter->secret[1] | 1)),
      .shift = _mm_cvtsi32_si128((int)(32 - filter->word_count_log2)),
  };
}

/// ek_filter_hash of 16 identifiers: lane l of register r goes to place 4 l + r.
VAES512 static inline __m512i hashes(const wide_filter *filter, const __m512i identifiers[4]) {
  __m512i low = _mm512_unpacklo_epi64(identifiers[0], identifiers[1]);
  __m512i high = _mm512_unpacklo_epi64(identifiers[2], identifiers[3]);
  low = _mm512_mullo_epi64(_mm512_xor_si512(low, filter->blind), filter->multiplier);
  high = _mm512_mullo_epi64(_mm512_xor_si512(high, filter->blind), filter->multiplier);
  return _mm512_castps_si512(
      _mm512_shuffle_ps(_mm512_castsi512_ps(low), _mm512_castsi512_ps(high), 0xdd));
}

/// The words at 16 indices.
VAES512 static inline __m512i words_at(const wide_filter *filter, __m512i indices) {
  _Alignas(64) uint64_t pairs[8];
  _mm512_store_si512(pairs, indices);
  __m256i low = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 2),
                                 ek_filter_words(filter->words, pairs));
  __m256i high = _mm256_set_m128i(ek_filter_words(filter->words, pairs + 6),
                                  ek_filter_words(filter->words, pairs + 4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// ek_filter_holds of 16 identifiers, a bit each. Rotates use their count modulo 32.
VAES512 static inline __mmask16 held(const wide_filter *filter, const __m512i identifiers[4]) {
  __m512i hash = hashes(filter, identifiers);
  __m512i words = words_at(filter, _mm512_srl_epi32(hash, filter->shift));
  __m512i first = _mm512_rorv_epi32(words, hash);
  __m512i second = _mm512_rorv_epi32(words, _mm512_srli_epi32(hash, 5));
  return _mm512_test_epi32_mask(_mm512_and_si512(first, second), _mm512_set1_epi32(1));
}

/// Writes the candidates of four registers. They are rare, so it may go through memory.
VAES512 static __attribute__((noinline)) void emit(ek_output *output, const ek_group *group,
                                                   uint32_t place, uint32_t offset, uint32_t mask,
                                                   const __m512i identifiers[4]) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t bit = (uint32_t)__builtin_ctz(mask), lane = bit / 4, interval = bit % 4;
    const uint8_t *identifier = (const uint8_t *)&identifiers[interval] + lane * EK_KEY_BYTES;
    ek_emit(output, group, place + lane, offset + interval, identifier);
  }
}

VAES512 static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  round_keys keys[QUADS];
  expand(group->identifier_keys, keys);
  wide_filter wide = widen(filter);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += QUAD) {
    uint32_t longest = ek_longest(group, place, QUAD);
    __m512i first = first_blocks(group, place);
    for (uint32_t offset = 0; offset < longest; offset += FLIGHT) {
      __m512i blocks[FLIGHT];
      encrypt(&keys[place / QUAD], first, blocks);
      first = _mm512_add_epi32(first, at_interval(FLIGHT));
      uint32_t low = held(&wide, blocks), high = held(&wide, blocks + 4);
      if (__builtin_expect((low | high) != 0, 0)) {
        __m512i kept[FLIGHT];
        for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
        emit(output, group, place, offset, low, kept);
        emit(output, group, place, offset + 4, high, kept + 4);
      }
    }
  }
}

/// The round keys for decryption. aesimc has only a 128-bit form; aesdec of aesenclast is InvMixColumns too.
VAES512 static inline void invert(round_keys *keys) {
  round_keys inverse;
  __m512i zero = _mm512_setzero_si512();
  inverse.of[0] = keys->of[10];
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    inverse.of[round] =
        _mm512_aesdec_epi128(_mm512_aesenclast_epi128(keys->of[10 - round], zero), zero);
  }
  // Includes the head of a block, so that a decrypted block that equals it becomes zero.
  inverse.of[10] = _mm512_xor_si512(
      keys->of[0], _mm512_broadcast_i32x4(_mm_maskz_loadu_epi8(0x0fff, ek_block_head)));
  *keys = inverse;
}

/// Decrypts FLIGHT received identifiers with the keys of a quad to their differences from the head of a block.
VAES512 static inline void decrypt(const round_keys *inverse, const uint8_t *received,
                                   __m512i blocks[FLIGHT]) {
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    __m128i block = _mm_loadu_si128((const __m128i *)(received + i * EK_KEY_BYTES));
    blocks[i] = _mm512_xor_si512(_mm512_broadcast_i32x4(block), inverse->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) {
      blocks[i] = _mm512_aesdec_epi128(blocks[i], inverse->of[round]);
    }
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = _mm512_aesdeclast_epi128(blocks[i], inverse->of[10]);
}

/// Returns true if the first 8 bytes of any lane are those of an identifier's block.
VAES512 static inline bool any_head(const __m512i blocks[FLIGHT]) {
  uint32_t heads = 0;
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    heads |= _mm512_mask_testn_epi64_mask(0x55, blocks[i], blocks[i]);
  }
  return heads != 0;
}

/// Writes the candidates among `count` decrypted blocks.
VAES512 static __attribute__((noinline)) void emit_decrypted(ek_output *output,
                             const ek_group *group, uint32_t place, const __m512i *blocks,
                             const uint8_t *received, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (uint32_t lane = 0; lane < QUAD; lane++) {
      uint32_t difference[4];
      __builtin_memcpy(difference, (const uint8_t *)&blocks[i] + lane * EK_KEY_BYTES, 16);
      ek_emit_decrypted(output, group, place + lane, difference, received + i * EK_KEY_BYTES);
    }
  }
}

/// Matches one quad with `count` received identifiers; FLIGHT of them are readable.
VAES512 static inline void match_quad_reverse(const round_keys *inverse, const ek_group *group,
                                              uint32_t place, const uint8_t *received, size_t count,
                                              ek_output *output) {
  __m512i blocks[FLIGHT];
  decrypt(inverse, received, blocks);
  if (__builtin_expect(any_head(blocks), 0)) {
    __m512i kept[FLIGHT];
    for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
    emit_decrypted(output, group, place, kept, received, count);
  }
}

VAES512 static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
                            ek_output *output) {
  round_keys keys[QUADS];
  expand(group->identifier_keys, keys);
  size_t whole = received_count - received_count % FLIGHT;
  uint8_t rest[FLIGHT * EK_KEY_BYTES] = {0};
  __builtin_memcpy(rest, received + whole * EK_KEY_BYTES, (received_count - whole) * EK_KEY_BYTES);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += QUAD) {
    if (ek_longest(group, place, QUAD) == 0) continue;
    round_keys *inverse = &keys[place / QUAD];
    invert(inverse);
    for (size_t i = 0; i < whole; i += FLIGHT) {
      match_quad_reverse(inverse, group, place, received + i * EK_KEY_BYTES, FLIGHT, output);
    }
    if (whole < received_count) {
      match_quad_reverse(inverse, group, place, rest, received_count - whole, output);
    }
  }
}

VAES512 static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                                uint8_t *out) {
  ek_group group = {.first = {first}};
  round_keys keys[QUADS];
  __builtin_memcpy(group.identifier_keys, identifier_key, EK_KEY_BYTES);
  expand(group.identifier_keys, keys);
  for (uint32_t done = 0; done < count; done += FLIGHT) {
    __m512i blocks[FLIGHT];
    encrypt(&keys[0], _mm512_add_epi32(first_blocks(&group, 0), at_interval(done)), blocks);
    for (uint32_t i = 0; i < FLIGHT && done + i < count; i++) {
      __builtin_memcpy(out + (size_t)(done + i) * EK_KEY_BYTES, &blocks[i], EK_KEY_BYTES);
    }
  }
}

VAES512 static uint64_t blocks(const ek_group *group) {
  round_keys keys[QUADS];
  expand(group->identifier_keys, keys);
  __m512i fold = _mm512_setzero_si512();
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += QUAD) {
    __m512i first = first_blocks(group, place), sum = _mm512_setzero_si512();
    for (uint32_t offset = 0; offset < EK_LONGEST_PERIOD; offset += FLIGHT) {
      __m512i own[FLIGHT];
      encrypt(&keys[place / QUAD], first, own);
      first = _mm512_add_epi32(first, at_interval(FLIGHT));
      for (int i = 0; i < FLIGHT; i++) sum = _mm512_xor_si512(sum, own[i]);
    }
    // Excludes places without a key.
    __mmask8 present = 0;
    for (uint32_t i = 0; i < QUAD; i++) {
      present |= (__mmask8)((group->length[place + i] > 0) << (2 * i));
    }
    fold = _mm512_mask_xor_epi64(fold, present, fold, sum);
  }
  uint64_t parts[8];
  _mm512_storeu_si512(parts, fold);
  return parts[0] ^ parts[2] ^ parts[4] ^ parts[6];
}

VAES512 static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  wide_filter wide = widen(filter);
  uint64_t total = 0;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m512i four[4];
    for (size_t j = 0; j < 4; j++) {
      four[j] = _mm512_loadu_si512(identifiers + (i + 4 * j) * EK_KEY_BYTES);
    }
    total += (uint64_t)__builtin_popcount(held(&wide, four));
  }
  for (; i < count; i++) {
    total += ek_filter_holds(filter, ek_filter_hash(filter, identifiers + i * EK_KEY_BYTES));
  }
  return total;
}

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
