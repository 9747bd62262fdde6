// SPDX-License-Identifier: Apache-2.0
// HKDF-SHA256 with the x86 SHA extensions, four keys interleaved: sha256rnds2 has a latency of four
// cycles and can start every two, so two keys keep it busy, and two more fill the gaps of the message schedules. The
// 16 registers do not hold all values; message words are spilled to memory first.

#if defined(__x86_64__)

#include <immintrin.h>

#include "constants.h"
#include "shani.h"

#define SHANI __attribute__((target("sha,sse4.1,ssse3")))

enum { STREAMS = 4 };

_Static_assert(EK_GROUP_KEYS % STREAMS == 0, "no key of a group may be left over");

/// SHA-256's state in the instructions' layout: a, b, e, f and c, d, g, h, each from the highest word down.
typedef struct state {
  __m128i abef, cdgh;
} state;

/// 16 words of a message, the first lowest.
typedef struct message {
  __m128i words[4];
} message;

SHANI static inline state state_of(const uint32_t s[8]) {
  return (state){_mm_set_epi32((int)s[0], (int)s[1], (int)s[4], (int)s[5]),
                 _mm_set_epi32((int)s[2], (int)s[3], (int)s[6], (int)s[7])};
}

/// A digest as the first half of a message.
SHANI static inline void digest(const state *state, __m128i words[2]) {
  __m128i abef = _mm_shuffle_epi32(state->abef, 0x1b), cdgh = _mm_shuffle_epi32(state->cdgh, 0x1b);
  words[0] = _mm_unpacklo_epi64(abef, cdgh);
  words[1] = _mm_unpackhi_epi64(abef, cdgh);
}

/// Four rounds with four words that include the round constants. The empty asm statement prevents the compiler from
/// grouping the rounds of one key, which would take a quarter more time.
SHANI static inline void turn(state *state, __m128i words) {
  state->cdgh = _mm_sha256rnds2_epu32(state->cdgh, state->abef, words);
  state->abef = _mm_sha256rnds2_epu32(state->abef, state->cdgh, _mm_shuffle_epi32(words, 0x0e));
  __asm__ volatile("" : "+x"(state->abef), "+x"(state->cdgh));
}

/// The four words of the schedule after w, x, y, z (FIPS 180-4 6.2.2 step 1).
SHANI static inline __m128i next_words(__m128i w, __m128i x, __m128i y, __m128i z) {
  __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w, x), _mm_alignr_epi8(z, y, 4));
  return _mm_sha256msg2_epu32(sum, z);
}

SHANI static inline void finish(state states[STREAMS], const state now[STREAMS]) {
  for (int s = 0; s < STREAMS; s++) {
    states[s].abef = _mm_add_epi32(states[s].abef, now[s].abef);
    states[s].cdgh = _mm_add_epi32(states[s].cdgh, now[s].cdgh);
  }
}

/// Updates each state with its message.
SHANI static void compress(state states[STREAMS], const message messages[STREAMS]) {
  state now[STREAMS];
  message m[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s], m[s] = messages[s];
  EK_UNROLL
  for (int i = 0; i < 16; i++) {
    __m128i constants = _mm_load_si128((const __m128i *)&ek_sha256_constants[4 * i]);
    EK_UNROLL
    for (int s = 0; s < STREAMS; s++) {
      __m128i *words = m[s].words, *oldest = &words[i & 3];
      turn(&now[s], _mm_add_epi32(*oldest, constants));
      if (i >= 12) continue;
      *oldest = next_words(*oldest, words[(i + 1) & 3], words[(i + 2) & 3], words[(i + 3) & 3]);
    }
  }
  finish(states, now);
}

/// Updates each state with the constant block, whose schedule is a table.
SHANI static void compress_info(state states[STREAMS]) {
  state now[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s];
  EK_UNROLL
  for (int i = 0; i < 16; i++) {
    __m128i words = _mm_load_si128((const __m128i *)&ek_info_schedule[4 * i]);
    EK_UNROLL
    for (int s = 0; s < STREAMS; s++) turn(&now[s], words);
  }
  finish(states, now);
}

/// SHA-256 reads big-endian words.
SHANI static inline __m128i swap_bytes(__m128i words) {
  return _mm_shuffle_epi8(words, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

/// HMAC's last hash: `outer` after the digest of `inner`.
SHANI static inline void digest_into(state outer[STREAMS], const state inner[STREAMS]) {
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    digest(&inner[s], messages[s].words);
    messages[s].words[2] = _mm_set_epi32(0, 0, 0, (int)EK_END_BIT);
    messages[s].words[3] = _mm_set_epi32(EK_BITS_OF_PAD_AND_DIGEST, 0, 0, 0);
  }
  compress(outer, messages);
}

/// HMAC's state after the pad of a secret of 32 bytes.
SHANI static inline void absorb(const state secrets[STREAMS], uint32_t pad, state states[STREAMS]) {
  message messages[STREAMS];
  __m128i padding = _mm_set1_epi32((int)pad);
  for (int s = 0; s < STREAMS; s++) {
    __m128i *words = messages[s].words;
    digest(&secrets[s], words);
    words[0] = _mm_xor_si128(words[0], padding), words[1] = _mm_xor_si128(words[1], padding);
    words[2] = words[3] = padding;
    states[s] = state_of(ek_sha256_start);
  }
  compress(states, messages);
}

/// RFC 5869 2.2: from published keys to pseudorandom keys.
SHANI static inline void extract(const uint8_t *keys, state secrets[STREAMS]) {
  state inner[STREAMS];
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    __m128i key = _mm_loadu_si128((const __m128i *)(keys + s * EK_KEY_BYTES));
    messages[s].words[0] = swap_bytes(key);
    messages[s].words[1] = _mm_set_epi32(0, 0, 0, (int)EK_END_BIT);
    messages[s].words[2] = _mm_setzero_si128();
    messages[s].words[3] = _mm_set_epi32(EK_BITS_OF_PAD_AND_KEY, 0, 0, 0);
    inner[s] = state_of(ek_extract_inner);
    secrets[s] = state_of(ek_extract_outer);
  }
  compress(inner, messages);
  digest_into(secrets, inner);
}

/// RFC 5869 2.3: the first 16 bytes of the only block.
SHANI static void derive(const uint8_t *keys, uint8_t *identifier_keys) {
  state secrets[STREAMS], inner[STREAMS], outer[STREAMS];
  extract(keys, secrets);
  absorb(secrets, EK_INNER_PAD, inner);
  compress_info(inner);
  absorb(secrets, EK_OUTER_PAD, outer);
  digest_into(outer, inner);
  for (int s = 0; s < STREAMS; s++) {
    __m128i words[2];
    digest(&outer[s], words);
    _mm_storeu_si128((__m128i *)(identifier_keys + s * EK_KEY_BYTES), swap_bytes(words[0]));
  }
}

void ek_shani_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys) {
  for (size_t i = 0; i < groups * EK_GROUP_BYTES; i += STREAMS * EK_KEY_BYTES) {
    derive(keys + i, identifier_keys + i);
  }
}

#endif
