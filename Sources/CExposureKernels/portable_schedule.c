// SPDX-License-Identifier: Apache-2.0
// HKDF-SHA256 to identifier keys in plain C: six compressions for each key, since two of HKDF's eight process constant
// blocks from constant states.

#include "constants.h"
#include "portable.h"

static inline uint32_t rotate(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

/// FIPS 180-4 6.2.2 step 1, with the round constants added.
static void expand(const uint32_t block[16], uint32_t schedule[64]) {
  uint32_t words[64];
  for (int i = 0; i < 64; i++) {
    if (i < 16) {
      words[i] = block[i];
    } else {
      uint32_t near = words[i - 2], far = words[i - 15];
      uint32_t sigma1 = rotate(near, 17) ^ rotate(near, 19) ^ near >> 10;
      uint32_t sigma0 = rotate(far, 7) ^ rotate(far, 18) ^ far >> 3;
      words[i] = sigma1 + words[i - 7] + sigma0 + words[i - 16];
    }
    schedule[i] = words[i] + ek_sha256_constants[i];
  }
}

/// FIPS 180-4 6.2.2 steps 2 to 4: `out` = `in` plus 64 rounds.
static void compress(const uint32_t in[8], const uint32_t schedule[64], uint32_t out[8]) {
  uint32_t a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5], g = in[6], h = in[7];
  for (int i = 0; i < 64; i++) {
    uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = g ^ (e & (f ^ g));
    uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t majority = (a & b) | (c & (a | b));
    uint32_t first = h + sum1 + choice + schedule[i], second = sum0 + majority;
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const uint32_t end[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++) out[i] = in[i] + end[i];
}

/// HMAC's end: the outer hash of a digest.
static void finish(const uint32_t outer[8], const uint32_t digest[8], uint32_t out[8]) {
  uint32_t block[16] = {[8] = EK_END_BIT, [15] = EK_BITS_OF_PAD_AND_DIGEST}, schedule[64];
  for (int i = 0; i < 8; i++) block[i] = digest[i];
  expand(block, schedule);
  compress(outer, schedule, out);
}

/// The state after HMAC's pad for the key `secret`.
static void absorb(const uint32_t secret[8], uint32_t pad, uint32_t state[8]) {
  uint32_t block[16], schedule[64];
  for (int i = 0; i < 16; i++) block[i] = (i < 8 ? secret[i] : 0) ^ pad;
  expand(block, schedule);
  compress(ek_sha256_start, schedule, state);
}

/// RFC 5869 2.2: from the published key to the pseudorandom key.
static void extract(const uint8_t *key, uint32_t secret[8]) {
  uint32_t block[16] = {[4] = EK_END_BIT, [15] = EK_BITS_OF_PAD_AND_KEY}, schedule[64], digest[8];
  __builtin_memcpy(block, key, EK_KEY_BYTES);
  for (int i = 0; i < 4; i++) block[i] = __builtin_bswap32(block[i]);
  expand(block, schedule);
  compress(ek_extract_inner, schedule, digest);
  finish(ek_extract_outer, digest, secret);
}

/// RFC 5869 2.3: the first 16 bytes of the only block.
static void derive(const uint8_t *key, uint8_t *identifier_key) {
  uint32_t secret[8], inner[8], outer[8];
  extract(key, secret);
  absorb(secret, EK_INNER_PAD, inner);
  compress(inner, ek_info_schedule, inner);
  absorb(secret, EK_OUTER_PAD, outer);
  finish(outer, inner, outer);
  for (int i = 0; i < 4; i++) outer[i] = __builtin_bswap32(outer[i]);
  __builtin_memcpy(identifier_key, outer, EK_KEY_BYTES);
}

void ek_portable_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys) {
  for (size_t i = 0; i < groups * EK_GROUP_BYTES; i += EK_KEY_BYTES) {
    derive(keys + i, identifier_keys + i);
  }
}
