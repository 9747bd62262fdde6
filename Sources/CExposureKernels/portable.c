// SPDX-License-Identifier: Apache-2.0
// The portable tier: the specification key by key and block by block. Slow, but works on every machine.

#include "portable.h"

#include "constants.h"
#include "filter.h"

/// The plaintext block of `interval`, in columns.
static inline void block_of(uint32_t interval, uint32_t block[4]) {
  __builtin_memcpy(block, ek_block_head, sizeof ek_block_head);
  block[3] = interval;
}

static inline const uint8_t *key_at(const ek_group *group, uint32_t place) {
  return group->identifier_keys + place * EK_KEY_BYTES;
}

static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                        uint8_t *out) {
  ek_round_keys keys;
  ek_portable_expand(identifier_key, &keys);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t block[4];
    block_of(first + i, block);
    ek_portable_encrypt(&keys, block, block);
    __builtin_memcpy(out + (size_t)i * EK_KEY_BYTES, block, EK_KEY_BYTES);
  }
}

static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place++) {
    uint8_t own[EK_LONGEST_PERIOD * EK_KEY_BYTES];
    identifiers(key_at(group, place), group->first[place], group->length[place], own);
    for (uint32_t i = 0; i < group->length[place]; i++) {
      const uint8_t *identifier = own + i * EK_KEY_BYTES;
      if (!ek_filter_holds(filter, ek_filter_hash(filter, identifier))) continue;
      ek_emit(output, group, place, i, identifier);
    }
  }
}

static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
                    ek_output *output) {
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place++) {
    if (group->length[place] == 0) continue;
    ek_round_keys keys, inverse;
    ek_portable_expand(key_at(group, place), &keys);
    ek_portable_invert(&keys, &inverse);
    for (size_t i = 0; i < received_count; i++) {
      uint32_t block[4];
      __builtin_memcpy(block, received + i * EK_KEY_BYTES, EK_KEY_BYTES);
      ek_portable_decrypt(&inverse, block, block);
      if (__builtin_memcmp(block, ek_block_head, sizeof ek_block_head) != 0) continue;
      ek_emit(output, group, place, block[3] - group->first[place], received + i * EK_KEY_BYTES);
    }
  }
}

static uint64_t blocks(const ek_group *group) {
  uint64_t fold = 0;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place++) {
    uint8_t own[EK_LONGEST_PERIOD * EK_KEY_BYTES];
    identifiers(key_at(group, place), group->first[place], group->length[place], own);
    for (uint32_t i = 0; i < group->length[place]; i++) {
      uint64_t head;
      __builtin_memcpy(&head, own + i * EK_KEY_BYTES, sizeof head);
      fold ^= head;
    }
  }
  return fold;
}

static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  uint64_t held = 0;
  for (size_t i = 0; i < count; i++) {
    held += ek_filter_holds(filter, ek_filter_hash(filter, identifiers + i * EK_KEY_BYTES));
  }
  return held;
}

const ek_kernels ek_portable_kernels = {
    .tier = EK_TIER_PORTABLE,
    .schedule = ek_portable_schedule,
    .identifiers = identifiers,
    .forward = forward,
    .reverse = reverse,
    .blocks = blocks,
    .probe = probe,
    .reverse_break_even = 160,
};
