// The parts of the portable tier. Little-endian machines only, as all that Swift runs on are.

#ifndef EK_PORTABLE_H
#define EK_PORTABLE_H

#include "kernels.h"

/// AES-128's 11 round keys of four columns, in the order in which they are used.
typedef struct ek_round_keys {
  uint32_t columns[11][4];
} ek_round_keys;

void ek_portable_expand(const uint8_t *key, ek_round_keys *keys);
/// The round keys that decrypt, made from those that encrypt.
void ek_portable_invert(const ek_round_keys *keys, ek_round_keys *inverse);
void ek_portable_encrypt(const ek_round_keys *keys, const uint32_t in[4], uint32_t out[4]);
void ek_portable_decrypt(const ek_round_keys *inverse, const uint32_t in[4], uint32_t out[4]);

/// HKDF, one key after the other.
void ek_portable_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);

#endif
