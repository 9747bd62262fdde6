// SPDX-License-Identifier: Apache-2.0
// HKDF-SHA256 with arm64's SHA-256 instructions, four keys interleaved: four rounds have a latency of four
// cycles or more, in which those of the other keys run. State and message of four keys fill 24 of 32 registers.

#if defined(__aarch64__)

#include "arm64.h"

#include "constants.h"

enum { STREAMS = 4 };

_Static_assert(EK_GROUP_KEYS % STREAMS == 0, "no key of a group may be left over");

typedef struct state {
  uint32x4_t abcd, efgh;
} state;

/// 16 words of a message.
typedef struct message {
  uint32x4_t words[4];
} message;

ARM64 static inline state state_of(const uint32_t s[8]) {
  return (state){vld1q_u32(s), vld1q_u32(s + 4)};
}

/// A vector with one word at the start or the end, and zeros.
ARM64 static inline uint32x4_t alone(uint32_t word, bool at_end) {
  const uint32_t words[4] = {at_end ? 0 : word, 0, 0, at_end ? word : 0};
  return vld1q_u32(words);
}

/// Four rounds with four words that have the round constants in them.
ARM64 static inline void turn(state *state, uint32x4_t words) {
  uint32x4_t abcd = state->abcd;
  state->abcd = vsha256hq_u32(abcd, state->efgh, words);
  state->efgh = vsha256h2q_u32(state->efgh, abcd, words);
}

ARM64 static inline void finish(state states[STREAMS], const state now[STREAMS]) {
  for (int s = 0; s < STREAMS; s++) {
    states[s].abcd = vaddq_u32(states[s].abcd, now[s].abcd);
    states[s].efgh = vaddq_u32(states[s].efgh, now[s].efgh);
  }
}

/// Updates each state with its message.
ARM64 static void compress(state states[STREAMS], const message messages[STREAMS]) {
  state now[STREAMS];
  message m[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s], m[s] = messages[s];
  EK_UNROLL
  for (int i = 0; i < 16; i++) {
    uint32x4_t constants = vld1q_u32(&ek_sha256_constants[4 * i]);
    EK_UNROLL
    for (int s = 0; s < STREAMS; s++) {
      uint32x4_t *words = m[s].words, *oldest = &words[i & 3];
      turn(&now[s], vaddq_u32(*oldest, constants));
      if (i >= 12) continue;
      uint32x4_t sum = vsha256su0q_u32(*oldest, words[(i + 1) & 3]);
      *oldest = vsha256su1q_u32(sum, words[(i + 2) & 3], words[(i + 3) & 3]);
    }
  }
  finish(states, now);
}

/// Updates each state with the constant block, whose schedule is a table.
ARM64 static void compress_info(state states[STREAMS]) {
  state now[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s];
  EK_UNROLL
  for (int i = 0; i < 16; i++) {
    uint32x4_t words = vld1q_u32(&ek_info_schedule[4 * i]);
    EK_UNROLL
    for (int s = 0; s < STREAMS; s++) turn(&now[s], words);
  }
  finish(states, now);
}

/// HMAC's last hash: `outer` after the digest of `inner`.
ARM64 static inline void digest_into(state outer[STREAMS], const state inner[STREAMS]) {
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    messages[s].words[0] = inner[s].abcd;
    messages[s].words[1] = inner[s].efgh;
    messages[s].words[2] = alone(EK_END_BIT, false);
    messages[s].words[3] = alone(EK_BITS_OF_PAD_AND_DIGEST, true);
  }
  compress(outer, messages);
}

/// HMAC's state after the pad of a secret of 32 bytes.
ARM64 static inline void absorb(const state secrets[STREAMS], uint32_t pad, state states[STREAMS]) {
  message messages[STREAMS];
  uint32x4_t padding = vdupq_n_u32(pad);
  for (int s = 0; s < STREAMS; s++) {
    messages[s].words[0] = veorq_u32(secrets[s].abcd, padding);
    messages[s].words[1] = veorq_u32(secrets[s].efgh, padding);
    messages[s].words[2] = messages[s].words[3] = padding;
    states[s] = state_of(ek_sha256_start);
  }
  compress(states, messages);
}

/// RFC 5869 2.2: from published keys to pseudorandom keys. SHA-256 reads big-endian words.
ARM64 static inline void extract(const uint8_t *keys, state secrets[STREAMS]) {
  state inner[STREAMS];
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    uint8x16_t key = vrev32q_u8(vld1q_u8(keys + s * EK_KEY_BYTES));
    messages[s].words[0] = vreinterpretq_u32_u8(key);
    messages[s].words[1] = alone(EK_END_BIT, false);
    messages[s].words[2] = vdupq_n_u32(0);
    messages[s].words[3] = alone(EK_BITS_OF_PAD_AND_KEY, true);
    inner[s] = state_of(ek_extract_inner);
    secrets[s] = state_of(ek_extract_outer);
  }
  compress(inner, messages);
  digest_into(secrets, inner);
}

/// RFC 5869 2.3: the first 16 bytes of the only block.
ARM64 static void derive(const uint8_t *keys, uint8_t *identifier_keys) {
  state secrets[STREAMS], inner[STREAMS], outer[STREAMS];
  extract(keys, secrets);
  absorb(secrets, EK_INNER_PAD, inner);
  compress_info(inner);
  absorb(secrets, EK_OUTER_PAD, outer);
  digest_into(outer, inner);
  for (int s = 0; s < STREAMS; s++) {
    uint8x16_t key = vrev32q_u8(vreinterpretq_u8_u32(outer[s].abcd));
    vst1q_u8(identifier_keys + s * EK_KEY_BYTES, key);
  }
}

void ek_arm64_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys) {
  for (size_t i = 0; i < groups * EK_GROUP_BYTES; i += STREAMS * EK_KEY_BYTES) {
    derive(keys + i, identifier_keys + i);
  }
}

#endif
