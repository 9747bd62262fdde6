// SPDX-License-Identifier: Apache-2.0
// The parts of the portable tier. For little-endian machines only, like all that Swift supports.

#ifndef EK_PORTABLE_H
#define EK_PORTABLE_H

#include "kernels.h"

/// AES-128's 11 round keys of four columns, in the order in which they are used.
typedef struct ek_round_keys {
  uint32_t columns[11][4];
} ek_round_keys;

void ek_portable_expand(const uint8_t *key, ek_round_keys *keys);
/// Derives the round keys for decryption from those for encryption.
void ek_portable_invert(const ek_round_keys *keys, ek_round_keys *inverse);
void ek_portable_encrypt(const ek_round_keys *keys, const uint32_t in[4], uint32_t out[4]);
void ek_portable_decrypt(const ek_round_keys *inverse, const uint32_t in[4], uint32_t out[4]);

/// HKDF, key by key.
void ek_portable_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);

#endif
