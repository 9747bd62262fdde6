// SPDX-License-Identifier: Apache-2.0
// Blocks and probes with arm64's AES instructions, one key at a time and eight blocks in flight. Round keys and
// blocks fill 19 of 32 registers.

#if defined(__aarch64__)

#include "arm64.h"

#include "constants.h"
#include "filter.h"

enum {
  /// Blocks in flight. aese and aesmc of one block stay adjacent, since processors fuse them.
  FLIGHT = 8,
  /// Keys that are expanded in parallel, to hide the latency.
  TOGETHER = 4
};

_Static_assert(EK_GROUP_KEYS % TOGETHER == 0, "no key of a group may be left over");
_Static_assert(EK_LONGEST_PERIOD % FLIGHT == 0, "the bare blocks are whole flights");

typedef struct round_keys {
  uint8x16_t of[11];
} round_keys;

/// The next round key (FIPS 197 5.2). aese of four equal columns is SubWord, as ShiftRows then changes nothing.
ARM64 static inline uint8x16_t next_key(uint8x16_t key, uint32_t constant) {
  uint8x16_t zero = vdupq_n_u8(0);
  uint32x4_t last = vdupq_laneq_u32(vreinterpretq_u32_u8(key), 3);
  uint32x4_t word = vreinterpretq_u32_u8(vaeseq_u8(vreinterpretq_u8_u32(last), zero));
  // RotWord: one byte down, with the first lowest.
  word = vsliq_n_u32(vshrq_n_u32(word, 8), word, 24);
  word = veorq_u32(word, vdupq_n_u32(constant));
  key = veorq_u8(key, vextq_u8(zero, key, 12));
  key = veorq_u8(key, vextq_u8(zero, key, 8));
  return veorq_u8(key, vreinterpretq_u8_u32(word));
}

ARM64 static void expand(const uint8_t *identifier_keys, round_keys keys[TOGETHER]) {
  uint8x16_t now[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    keys[i].of[0] = now[i] = vld1q_u8(identifier_keys + i * EK_KEY_BYTES);
  }
  for (int round = 0; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < TOGETHER; i++) {
      keys[i].of[round + 1] = now[i] = next_key(now[i], ek_aes_round_constants[round]);
    }
  }
}

/// The block of `interval`.
ARM64 static inline uint32x4_t block_of(uint32_t interval) {
  uint32_t words[4];
  __builtin_memcpy(words, ek_block_head, sizeof ek_block_head);
  words[3] = interval;
  return vld1q_u32(words);
}

/// The interval as the last word of a block.
ARM64 static inline uint32x4_t at_interval(uint32_t number) {
  return vsetq_lane_u32(number, vdupq_n_u32(0), 3);
}

/// Encrypts FLIGHT successive intervals from `first`. aese adds its round key first, so the last one is added
/// separately.
ARM64 static inline void encrypt(const round_keys *keys, uint32x4_t first,
                                 uint8x16_t blocks[FLIGHT]) {
  EK_UNROLL
  for (uint32_t i = 0; i < FLIGHT; i++) {
    blocks[i] = vreinterpretq_u8_u32(vaddq_u32(first, at_interval(i)));
  }
  EK_UNROLL
  for (int round = 0; round < 9; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = vaesmcq_u8(vaeseq_u8(blocks[i], keys->of[round]));
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    blocks[i] = veorq_u8(vaeseq_u8(blocks[i], keys->of[9]), keys->of[10]);
  }
}

ARM64 static inline uint64_t head_of(uint8x16_t block) {
  return vgetq_lane_u64(vreinterpretq_u64_u8(block), 0);
}

/// ek_filter_holds of FLIGHT identifiers in registers, a bit each.
ARM64 static inline uint32_t held(const ek_filter *filter, const uint8x16_t identifiers[FLIGHT]) {
  uint32_t mask = 0;
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    mask |= ek_filter_holds(filter, ek_filter_hash_of(filter, head_of(identifiers[i]))) << i;
  }
  return mask;
}

/// Writes the candidates of a flight. They are rare, so it may go through memory.
ARM64 static __attribute__((noinline)) void emit(ek_output *output, const ek_group *group,
                                                 uint32_t place, uint32_t offset, uint32_t mask,
                                                 const uint8x16_t identifiers[FLIGHT]) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t bit = (uint32_t)__builtin_ctz(mask);
    ek_emit(output, group, place, offset + bit, (const uint8_t *)&identifiers[bit]);
  }
}

/// Matches one key of the group.
ARM64 static inline void match_key(const round_keys *keys, const ek_group *group, uint32_t place,
                                   const ek_filter *filter, ek_output *output) {
  uint32x4_t first = block_of(group->first[place]);
  for (uint32_t offset = 0; offset < group->length[place]; offset += FLIGHT) {
    uint8x16_t blocks[FLIGHT];
    encrypt(keys, first, blocks);
    first = vaddq_u32(first, at_interval(FLIGHT));
    uint32_t mask = held(filter, blocks);
    if (__builtin_expect(mask != 0, 0)) {
      uint8x16_t kept[FLIGHT];
      for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
      emit(output, group, place, offset, mask, kept);
    }
  }
}

ARM64 static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  ek_filter own = *filter;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += TOGETHER) {
    if (ek_longest(group, place, TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) match_key(&keys[i], group, place + i, &own, output);
  }
}

/// The round keys for decryption (FIPS 197 5.3.5).
ARM64 static inline void invert(round_keys *keys) {
  round_keys inverse;
  inverse.of[0] = keys->of[10];
  EK_UNROLL
  for (int round = 1; round < 10; round++) inverse.of[round] = vaesimcq_u8(keys->of[10 - round]);
  // Includes the head of a block, so that a decrypted block that equals it becomes zero.
  inverse.of[10] = veorq_u8(keys->of[0], vreinterpretq_u8_u32(block_of(0)));
  *keys = inverse;
}

/// Decrypts FLIGHT received identifiers to their differences from the head of a block. Returns true if the first
/// 8 bytes of any difference are zero.
ARM64 static inline bool decrypt(const round_keys *inverse, const uint8_t *received,
                                 uint8x16_t blocks[FLIGHT]) {
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = vld1q_u8(received + i * EK_KEY_BYTES);
  EK_UNROLL
  for (int round = 0; round < 9; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) {
      blocks[i] = vaesimcq_u8(vaesdq_u8(blocks[i], inverse->of[round]));
    }
  }
  uint64x2_t heads = vdupq_n_u64(0);
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    blocks[i] = veorq_u8(vaesdq_u8(blocks[i], inverse->of[9]), inverse->of[10]);
    heads = vorrq_u64(heads, vceqzq_u64(vreinterpretq_u64_u8(blocks[i])));
  }
  return vgetq_lane_u64(heads, 0) != 0;
}

/// Matches one key with `count` received identifiers; FLIGHT of them are readable.
ARM64 static inline void match_key_reverse(const round_keys *inverse, const ek_group *group,
                                           uint32_t place, const uint8_t *received, size_t count,
                                           ek_output *output) {
  uint8x16_t blocks[FLIGHT];
  if (__builtin_expect(!decrypt(inverse, received, blocks), 1)) return;
  for (size_t i = 0; i < count; i++) {
    uint32_t difference[4];
    vst1q_u32(difference, vreinterpretq_u32_u8(blocks[i]));
    ek_emit_decrypted(output, group, place, difference, received + i * EK_KEY_BYTES);
  }
}

ARM64 static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
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

ARM64 static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                              uint8_t *out) {
  uint8_t padded[TOGETHER * EK_KEY_BYTES] = {0};
  round_keys keys[TOGETHER];
  __builtin_memcpy(padded, identifier_key, EK_KEY_BYTES);
  expand(padded, keys);
  for (uint32_t done = 0; done < count; done += FLIGHT) {
    uint8x16_t blocks[FLIGHT];
    encrypt(&keys[0], block_of(first + done), blocks);
    uint32_t left = count - done < FLIGHT ? count - done : FLIGHT;
    __builtin_memcpy(out + (size_t)done * EK_KEY_BYTES, blocks, (size_t)left * EK_KEY_BYTES);
  }
}

/// The exclusive or of all intervals of one key.
ARM64 static inline uint8x16_t fold(const round_keys *keys, uint32_t interval, uint32_t length) {
  uint8x16_t sum = vdupq_n_u8(0);
  uint32x4_t first = block_of(interval);
  for (uint32_t offset = 0; offset < length; offset += FLIGHT) {
    uint8x16_t own[FLIGHT];
    encrypt(keys, first, own);
    first = vaddq_u32(first, at_interval(FLIGHT));
    for (int i = 0; i < FLIGHT; i++) sum = veorq_u8(sum, own[i]);
  }
  return sum;
}

ARM64 static uint64_t blocks(const ek_group *group) {
  uint8x16_t sum = vdupq_n_u8(0);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += TOGETHER) {
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      uint32_t length = group->length[place + i];
      sum = veorq_u8(sum, fold(&keys[i], group->first[place + i], length));
    }
  }
  return head_of(sum);
}

ARM64 static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  ek_filter own = *filter;
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    total += ek_filter_holds(&own, ek_filter_hash(&own, identifiers + i * EK_KEY_BYTES));
  }
  return total;
}

const ek_kernels ek_arm64_kernels = {
    .tier = EK_TIER_ARM64,
    .schedule = ek_arm64_schedule,
    .identifiers = identifiers,
    .forward = forward,
    .reverse = reverse,
    .blocks = blocks,
    .probe = probe,
    // Not measured, for lack of an arm64 processor. The costs of blocks and probes relate as with AES-NI.
    .reverse_break_even = 200,
};

#endif
