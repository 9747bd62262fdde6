// SPDX-License-Identifier: Apache-2.0
// The interface of the tiers to match.c, and their shared functions.

#ifndef EK_KERNELS_H
#define EK_KERNELS_H

#include "CExposureKernels.h"

/// Unrolls the following loop of constant count, so that the arrays it indexes stay in registers.
#if defined(__clang__)
#define EK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define EK_UNROLL _Pragma("GCC unroll 64")
#endif

enum {
  /// Keys that a kernel processes at a time: they fill the widest HKDF, 16 lanes of 32 bits.
  EK_GROUP_KEYS = 16,
  EK_GROUP_BYTES = EK_GROUP_KEYS * EK_KEY_BYTES
};

/// A group of keys. Places without a key have length 0.
typedef struct ek_group {
  _Alignas(64) uint8_t identifier_keys[EK_GROUP_BYTES];
  uint32_t first[EK_GROUP_KEYS];
  uint32_t length[EK_GROUP_KEYS];
  /// Index of the first key in the caller's array.
  uint32_t key_index;
} ek_group;

/// The buffer for candidates. `end` is after the group's last place.
typedef struct ek_output {
  ek_candidate *next;
  ek_candidate *end;
} ek_output;

/// The kernels of one tier.
typedef struct ek_kernels {
  ek_tier tier;
  /// HKDF of `groups` times EK_GROUP_KEYS keys.
  void (*schedule)(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);
  /// See ek_identifiers.
  void (*identifiers)(const uint8_t *identifier_key, uint32_t first, uint32_t count,
        uint8_t *identifiers);
  /// Encrypts the group's intervals and writes the candidates that the filter may hold.
  void (*forward)(const ek_group *group, const ek_filter *filter, ek_output *output);
  /// Decrypts received identifiers with the group's keys and writes those of their intervals.
  void (*reverse)(const ek_group *group, const uint8_t *received, size_t received_count,
        ek_output *output);
  /// Encrypts EK_LONGEST_PERIOD intervals for each of the group's keys and combines them by exclusive or.
  uint64_t (*blocks)(const ek_group *group);
  /// See ek_bare_probe.
  uint64_t (*probe)(const ek_filter *filter, const uint8_t *identifiers, size_t count);
  size_t reverse_break_even;
} ek_kernels;

extern const ek_kernels ek_portable_kernels;
#if defined(__x86_64__)
extern const ek_kernels ek_aesni_kernels;
extern const ek_kernels ek_vaes256_kernels;
extern const ek_kernels ek_vaes512_kernels;
#elif defined(__aarch64__)
extern const ek_kernels ek_arm64_kernels;
#endif

/// The kernels of `tier`, or the portable ones if it is not available.
const ek_kernels *ek_kernels_of(ek_tier tier);

/// Writes the candidate `identifier` of the group's key at `place` and `offset` intervals from its start, if
/// the offset is in the key's period. Kernels process blocks beyond the end of a period and rely on this check:
/// candidates are rare, blocks are not.
static inline void ek_emit(ek_output *output, const ek_group *group, uint32_t place,
                           uint32_t offset, const uint8_t *identifier) {
  if (offset >= group->length[place] || output->next == output->end) return;
  ek_candidate *candidate = output->next++;
  candidate->key_index = group->key_index + place;
  candidate->interval = group->first[place] + offset;
  __builtin_memcpy(candidate->identifier, identifier, EK_KEY_BYTES);
}

/// The same in reverse: a decrypted block is a candidate if its `difference` to the head of an identifier's block is
/// zero in the first three words. The last word is the interval.
static inline void ek_emit_decrypted(ek_output *output, const ek_group *group, uint32_t place,
                                     const uint32_t difference[4], const uint8_t *received) {
  if ((difference[0] | difference[1] | difference[2]) != 0) return;
  ek_emit(output, group, place, difference[3] - group->first[place], received);
}

/// The longest period among `count` of the group's keys from `place`.
static inline uint32_t ek_longest(const ek_group *group, uint32_t place, uint32_t count) {
  uint32_t longest = 0;
  for (uint32_t i = place; i < place + count; i++) {
    if (group->length[i] > longest) longest = group->length[i];
  }
  return longest;
}

#endif
