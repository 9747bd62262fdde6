// SPDX-License-Identifier: Apache-2.0
// HKDF-SHA256 of 32 keys at once: 16 in the 32-bit lanes of a 512-bit register, and two such streams.
//
// The SHA instructions take 113 ns a key on the reference processor; this takes 50. With ternary logic, Choose,
// Majority and the sums of three are one instruction each, and so are rotates. The bottleneck is a chain of dependent
// instructions through `e`: a single stream takes 63 ns, although its words and state fit into the 32 registers and
// those of two streams do not. The rest is in the first-level cache, which is otherwise idle.

#if defined(__x86_64__)

#include "constants.h"
#include "vaes512.h"

/// Truth tables of vpternlog, a being bit 2, b bit 1, c bit 0 of the index.
enum { XOR = 0x96, CHOOSE = 0xca, MAJORITY = 0xe8 };

VAES512 static inline __m512i every(uint32_t word) { return _mm512_set1_epi32((int)word); }

VAES512 static inline __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }

VAES512 static inline __m512i sum0(__m512i a) {
  return _mm512_ternarylogic_epi32(_mm512_ror_epi32(a, 2), _mm512_ror_epi32(a, 13),
                                   _mm512_ror_epi32(a, 22), XOR);
}

VAES512 static inline __m512i sum1(__m512i e) {
  return _mm512_ternarylogic_epi32(_mm512_ror_epi32(e, 6), _mm512_ror_epi32(e, 11),
                                   _mm512_ror_epi32(e, 25), XOR);
}

VAES512 static inline __m512i sigma0(__m512i w) {
  return _mm512_ternarylogic_epi32(_mm512_ror_epi32(w, 7), _mm512_ror_epi32(w, 18),
                                   _mm512_srli_epi32(w, 3), XOR);
}

VAES512 static inline __m512i sigma1(__m512i w) {
  return _mm512_ternarylogic_epi32(_mm512_ror_epi32(w, 17), _mm512_ror_epi32(w, 19),
                                   _mm512_srli_epi32(w, 10), XOR);
}

enum { STREAMS = 2 };

_Static_assert(EK_GROUP_KEYS == sizeof(__m512i) / sizeof(uint32_t), "a group fills the lanes");

/// SHA-256's state of 16 keys.
typedef struct state {
  __m512i of[8];
} state;

/// 16 words of a message, of 16 keys.
typedef struct message {
  __m512i words[16];
} message;

/// Round `i` (FIPS 180-4 6.2.2 step 3). The eight variables stay in place and change their roles: in round i
/// `a` is state[-i mod 8]. Terms that do not depend on the last round's `e` are added first.
VAES512 static inline void turn(state *variables, int i, __m512i word) {
  __m512i *state = variables->of;
  __m512i a = state[-i & 7], b = state[(1 - i) & 7], c = state[(2 - i) & 7];
  __m512i e = state[(4 - i) & 7], f = state[(5 - i) & 7], g = state[(6 - i) & 7];
  __m512i early = add(state[(7 - i) & 7], word);
  __m512i first = add(add(early, _mm512_ternarylogic_epi32(e, f, g, CHOOSE)), sum1(e));
  __m512i second = add(sum0(a), _mm512_ternarylogic_epi32(a, b, c, MAJORITY));
  state[(3 - i) & 7] = add(state[(3 - i) & 7], first);
  state[(7 - i) & 7] = add(first, second);
}

VAES512 static inline void finish(state states[STREAMS], const state now[STREAMS]) {
  for (int s = 0; s < STREAMS; s++) {
    for (int i = 0; i < 8; i++) states[s].of[i] = add(states[s].of[i], now[s].of[i]);
  }
}

/// 16 rounds, after which words and variables have their first roles again. `extends`: replaces the words by those
/// of the next 16 rounds (FIPS 180-4 6.2.2 step 1), which the last rounds do not need.
VAES512 static inline __attribute__((always_inline)) void turn16(state now[STREAMS],
                                    message m[STREAMS], const uint32_t constants[16],
                                    bool extends) {
  EK_UNROLL
  for (int i = 0; i < 16; i++) {
    __m512i constant = every(constants[i]);
    EK_UNROLL
    for (int s = 0; s < STREAMS; s++) {
      __m512i *w = m[s].words;
      turn(&now[s], i, add(w[i], constant));
      if (!extends) continue;
      w[i] = add(add(w[i], sigma0(w[(i + 1) & 15])), add(w[(i + 9) & 15],
                 sigma1(w[(i + 14) & 15])));
    }
  }
}

/// Updates each state with its message. Not inlined: five copies would exceed the cache of decoded instructions.
VAES512 static __attribute__((noinline)) void compress(state states[STREAMS],
                             const message messages[STREAMS]) {
  state now[STREAMS];
  message m[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s], m[s] = messages[s];
  for (int done = 0; done < 48; done += 16) turn16(now, m, ek_sha256_constants + done, true);
  turn16(now, m, ek_sha256_constants + 48, false);
  finish(states, now);
}

/// Updates each state with the constant block, whose schedule is a table.
VAES512 static __attribute__((noinline)) void compress_info(state states[STREAMS]) {
  state now[STREAMS];
  for (int s = 0; s < STREAMS; s++) now[s] = states[s];
  for (int done = 0; done < 64; done += 16) {
    EK_UNROLL
    for (int i = 0; i < 16; i++) {
      __m512i word = every(ek_info_schedule[done + i]);
      EK_UNROLL
      for (int s = 0; s < STREAMS; s++) turn(&now[s], i, word);
    }
  }
  finish(states, now);
}

VAES512 static inline void start(state *state, const uint32_t constant[8]) {
  for (int i = 0; i < 8; i++) state->of[i] = every(constant[i]);
}

/// Ends a message of `bits` bits after `count` words of its last block.
VAES512 static inline void pad(message *message, int count, uint32_t bits) {
  message->words[count] = every(EK_END_BIT);
  for (int i = count + 1; i < 15; i++) message->words[i] = _mm512_setzero_si512();
  message->words[15] = every(bits);
}

/// HMAC's last hash: `outer` after the digest of `inner`.
VAES512 static inline void digest_into(state outer[STREAMS], const state inner[STREAMS]) {
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    for (int i = 0; i < 8; i++) messages[s].words[i] = inner[s].of[i];
    pad(&messages[s], 8, EK_BITS_OF_PAD_AND_DIGEST);
  }
  compress(outer, messages);
}

/// HMAC's state after the pad of a secret of 32 bytes.
VAES512 static inline void absorb(const state secrets[STREAMS], uint32_t pad,
                                  state states[STREAMS]) {
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    __m512i *words = messages[s].words;
    for (int i = 0; i < 8; i++) words[i] = _mm512_xor_si512(secrets[s].of[i], every(pad));
    for (int i = 8; i < 16; i++) words[i] = every(pad);
    start(&states[s], ek_sha256_start);
  }
  compress(states, messages);
}

/// Four registers of four keys each to four words of 16 keys each, and back: a transposition inside each
/// 128-bit lane, so that keys are processed in the order 0, 4, 8, 12, 1, 5 ... and stored in memory order.
VAES512 static inline void transpose(__m512i r[4]) {
  __m512i a = _mm512_unpacklo_epi32(r[0], r[1]), b = _mm512_unpackhi_epi32(r[0], r[1]);
  __m512i c = _mm512_unpacklo_epi32(r[2], r[3]), d = _mm512_unpackhi_epi32(r[2], r[3]);
  r[0] = _mm512_unpacklo_epi64(a, c), r[1] = _mm512_unpackhi_epi64(a, c);
  r[2] = _mm512_unpacklo_epi64(b, d), r[3] = _mm512_unpackhi_epi64(b, d);
}

/// SHA-256 reads big-endian words.
VAES512 static inline __m512i swap_bytes(__m512i words) {
  return _mm512_shuffle_epi8(
      words, _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203)));
}

/// RFC 5869 2.2: from published keys to pseudorandom keys.
VAES512 static inline void extract(const uint8_t *const keys[STREAMS], state secrets[STREAMS]) {
  state inner[STREAMS];
  message messages[STREAMS];
  for (int s = 0; s < STREAMS; s++) {
    __m512i *words = messages[s].words;
    for (int i = 0; i < 4; i++) words[i] = swap_bytes(_mm512_loadu_si512(keys[s] + 64 * i));
    transpose(words);
    pad(&messages[s], 4, EK_BITS_OF_PAD_AND_KEY);
    start(&inner[s], ek_extract_inner);
    start(&secrets[s], ek_extract_outer);
  }
  compress(inner, messages);
  digest_into(secrets, inner);
}

/// RFC 5869 2.3: the first 16 bytes of the only block. For a group of keys in each stream.
VAES512 static void derive(const uint8_t *const keys[STREAMS], uint8_t *const derived[STREAMS]) {
  state secrets[STREAMS], inner[STREAMS], outer[STREAMS];
  extract(keys, secrets);
  absorb(secrets, EK_INNER_PAD, inner);
  compress_info(inner);
  absorb(secrets, EK_OUTER_PAD, outer);
  digest_into(outer, inner);
  for (int s = 0; s < STREAMS; s++) {
    __m512i *words = outer[s].of;
    transpose(words);
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(derived[s] + 64 * i, swap_bytes(words[i]));
  }
}

void ek_vaes512_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys) {
  for (size_t i = 0; i < groups; i += STREAMS) {
    // A single last group is processed in both streams, which is simpler than a kernel for one.
    size_t one = i * EK_GROUP_BYTES, other = i + 1 < groups ? one + EK_GROUP_BYTES : one;
    derive((const uint8_t *const[]){keys + one, keys + other},
           (uint8_t *const[]){identifier_keys + one, identifier_keys + other});
  }
}

#endif
