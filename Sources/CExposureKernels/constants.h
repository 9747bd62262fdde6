// SPDX-License-Identifier: Apache-2.0
// Precomputed constants.

#ifndef EK_CONSTANTS_H
#define EK_CONSTANTS_H

#include <stdint.h>

/// SHA-256's initial state (FIPS 180-4 5.3.3).
static const uint32_t ek_sha256_start[8] = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/// SHA-256's round constants (FIPS 180-4 4.2.2).
_Alignas(64) static const uint32_t ek_sha256_constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/// HKDF without a salt is HMAC with a key of 32 zero bytes (RFC 5869 2.2). The state after the inner pad, 64 bytes of
/// 0x36.
static const uint32_t ek_extract_inner[8] = {
  0xf454dead, 0x9725214f, 0x90daf2a0, 0xdf1228ea, 0x64e5750f, 0xa3924181, 0x824a932b, 0xf8e04e32,
};

/// The same after the outer pad, 64 bytes of 0x5c.
static const uint32_t ek_extract_outer[8] = {
  0xd385480f, 0x7abb6477, 0x37c9c538, 0x5dd82467, 0x8e043a72, 0x753434b0, 0xdeb82818, 0x361d45a6,
};

/// HKDF's expansion to an identifier key hashes one constant block, "EN-RPIK" || 0x01 (RFC 5869 2.3), padded as the
/// second block of a message. These are the 64 words of its message schedule plus the round constants.
_Alignas(64) static const uint32_t ek_info_schedule[64] = {
  0x87d85cea, 0xc1808f92, 0x35c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf3b4,
  0x845386f7, 0x526fb287, 0x9cdc0ff2, 0xbd04d320, 0xa559be21, 0x691b6619, 0xb7a3558e, 0xc34f6b4f,
  0xfba996e0, 0x82b35371, 0x13698025, 0x2dde67ec, 0xccc4b1ab, 0x19a7f8a1, 0x9a1ac179, 0x3071b040,
  0x1b395bae, 0x1c15fe09, 0x61d4bfe8, 0x764b08dd, 0xa8fc657b, 0x0ffd0244, 0x5bd4f652, 0xb9262249,
  0xb8ca81da, 0x3c54e00f, 0xe587da6e, 0x47bc5e78, 0xc5913d69, 0x51428e70, 0x1e58e84a, 0x11cc0b4c,
  0xb9e30420, 0x966bd051, 0xd4e3d3df, 0x44e5b930, 0x7b8b6a49, 0xce2c9335, 0xee63e5fb, 0x8f3ab111,
  0x77340a32, 0x4ebec7ca, 0x43c3ad4b, 0x18e58f08, 0xf5d75157, 0x6c70eac1, 0x1586dfeb, 0x8d603d05,
};

enum {
  /// Sizes in bits of HMAC's messages: the pad of 64 bytes with a key, and with a digest.
  EK_BITS_OF_PAD_AND_KEY = (64 + 16) * 8,
  EK_BITS_OF_PAD_AND_DIGEST = (64 + 32) * 8
};

#define EK_INNER_PAD 0x36363636u
#define EK_OUTER_PAD 0x5c5c5c5cu

/// The bit after the end of a message (FIPS 180-4 5.1.1), as the first of a word.
#define EK_END_BIT 0x80000000u

/// The round constants of AES-128's key expansion (FIPS 197 5.2).
static const uint32_t ek_aes_round_constants[10] = {
    0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36,
};

/// The plaintext of an identifier, without the interval in its last four bytes.
static const uint8_t ek_block_head[12] = "EN-RPI\0\0\0\0\0";

#endif
