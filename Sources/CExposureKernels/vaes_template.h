// SPDX-License-Identifier: Apache-2.0
// The blocks and probes of both tiers with AES on wide registers: several keys at a time, one in each 128-bit lane, so
// that round keys need no broadcast and a register holds the identifiers of several keys at one interval. Only
// candidates are stored.
//
// Not a header in the usual sense: vaes256.c and vaes512.c include it once each, after they have defined
//
//   WIDE        the target attribute of every function of the tier
//   wide        the register, and LANES, its number of 128-bit lanes
//   w_...       the operations on registers below
//   wide_filter the filter's parts, widen(filter), and held(filter, registers): ek_filter_holds of the identifiers in
//               four registers, a bit each: lane l of register r goes to bit 4 l + r
//   any_head    true if the first 8 bytes of any lane of FLIGHT registers are zero

enum {
  /// Registers that are expanded in parallel, to hide the latency.
  TOGETHER = 4,
  /// The keys in these registers.
  KEYS_TOGETHER = LANES * TOGETHER
};

_Static_assert(EK_GROUP_KEYS % KEYS_TOGETHER == 0, "no key of a group may be left over");
_Static_assert(EK_LONGEST_PERIOD % FLIGHT == 0, "the bare blocks are whole flights");

/// One key per lane.
typedef struct round_keys {
  wide of[11];
} round_keys;

/// The next round key (FIPS 197 5.2). aesenclast of four equal columns is SubWord, as ShiftRows then changes nothing;
/// the shuffle before it makes them equal and rotates. aeskeygenassist is slow and has no wide form.
WIDE static inline wide next_key(wide key, uint32_t constant) {
  wide last = w_shuffle_bytes(key, w_every_word(0x0c0f0e0d));
  return w_xor(w_prefix_xor(key), w_aesenclast(last, w_every_word(constant)));
}

WIDE static inline void expand(const uint8_t *identifier_keys, round_keys keys[TOGETHER]) {
  wide now[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    now[i] = w_load(identifier_keys + i * LANES * EK_KEY_BYTES);
    keys[i].of[0] = now[i];
  }
  for (int round = 0; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < TOGETHER; i++) {
      now[i] = next_key(now[i], ek_aes_round_constants[round]);
      keys[i].of[round + 1] = now[i];
    }
  }
}

/// The blocks of the first intervals of the keys at `place`.
WIDE static inline wide first_blocks(const ek_group *group, uint32_t place) {
  uint32_t words[4 * LANES];
  for (uint32_t lane = 0; lane < LANES; lane++) {
    __builtin_memcpy(words + 4 * lane, ek_block_head, sizeof ek_block_head);
    words[4 * lane + 3] = group->first[place + lane];
  }
  return w_load((const uint8_t *)words);
}

/// Encrypts FLIGHT successive intervals from `first`. They wrap around in their lanes.
WIDE static inline void encrypt(const round_keys *keys, wide first, wide blocks[FLIGHT]) {
  EK_UNROLL
  for (uint32_t i = 0; i < FLIGHT; i++) {
    blocks[i] = w_xor(w_add_words(first, w_at_interval(i)), keys->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = w_aesenc(blocks[i], keys->of[round]);
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = w_aesenclast(blocks[i], keys->of[10]);
}

/// Writes the candidates of four registers. They are rare, so it may go through memory.
WIDE static __attribute__((noinline)) void emit(ek_output *output, const ek_group *group,
                                                uint32_t place, uint32_t offset, uint32_t mask,
                                                const wide identifiers[4]) {
  for (; mask != 0; mask &= mask - 1) {
    uint32_t bit = (uint32_t)__builtin_ctz(mask), lane = bit / 4, interval = bit % 4;
    const uint8_t *identifier = (const uint8_t *)&identifiers[interval] + lane * EK_KEY_BYTES;
    ek_emit(output, group, place + lane, offset + interval, identifier);
  }
}

/// Matches the keys of one register.
WIDE static inline void match(const round_keys *keys, const ek_group *group, uint32_t place,
                              const wide_filter *filter, ek_output *output) {
  uint32_t longest = ek_longest(group, place, LANES);
  wide first = first_blocks(group, place);
  for (uint32_t offset = 0; offset < longest; offset += FLIGHT) {
    wide blocks[FLIGHT];
    encrypt(keys, first, blocks);
    first = w_add_words(first, w_at_interval(FLIGHT));
    uint32_t low = held(filter, blocks), high = held(filter, blocks + 4);
    if (__builtin_expect((low | high) != 0, 0)) {
      wide kept[FLIGHT];
      for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
      emit(output, group, place, offset, low, kept);
      emit(output, group, place, offset + 4, high, kept + 4);
    }
  }
}

WIDE static void forward(const ek_group *group, const ek_filter *filter, ek_output *output) {
  wide_filter own = widen(filter);
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += KEYS_TOGETHER) {
    if (ek_longest(group, place, KEYS_TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      match(&keys[i], group, place + LANES * i, &own, output);
    }
  }
}

/// The round keys for decryption. aesimc has only a 128-bit form; aesdec of aesenclast is InvMixColumns too.
WIDE static inline void invert(round_keys *keys) {
  round_keys inverse;
  wide zero = w_every_word(0);
  inverse.of[0] = keys->of[10];
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    inverse.of[round] = w_aesdec(w_aesenclast(keys->of[10 - round], zero), zero);
  }
  // Includes the head of a block, so that a decrypted block that equals it becomes zero.
  uint32_t head[4] = {0};
  __builtin_memcpy(head, ek_block_head, sizeof ek_block_head);
  inverse.of[10] = w_xor(keys->of[0], w_every_block((const uint8_t *)head));
  *keys = inverse;
}

/// Decrypts FLIGHT received identifiers with the keys of a register to their differences from the head of a block.
WIDE static inline void decrypt(const round_keys *inverse, const uint8_t *received,
                                wide blocks[FLIGHT]) {
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) {
    blocks[i] = w_xor(w_every_block(received + i * EK_KEY_BYTES), inverse->of[0]);
  }
  EK_UNROLL
  for (int round = 1; round < 10; round++) {
    EK_UNROLL
    for (int i = 0; i < FLIGHT; i++) blocks[i] = w_aesdec(blocks[i], inverse->of[round]);
  }
  EK_UNROLL
  for (int i = 0; i < FLIGHT; i++) blocks[i] = w_aesdeclast(blocks[i], inverse->of[10]);
}

/// Writes the candidates among `count` decrypted blocks.
WIDE static __attribute__((noinline)) void emit_decrypted(ek_output *output, const ek_group *group,
                                                          uint32_t place, const wide *blocks,
                                                          const uint8_t *received, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (uint32_t lane = 0; lane < LANES; lane++) {
      uint32_t difference[4];
      __builtin_memcpy(difference, (const uint8_t *)&blocks[i] + lane * EK_KEY_BYTES,
                       sizeof difference);
      ek_emit_decrypted(output, group, place + lane, difference, received + i * EK_KEY_BYTES);
    }
  }
}

/// Matches the keys of one register with `count` received identifiers; FLIGHT of them are readable.
WIDE static inline void match_reverse(const round_keys *inverse, const ek_group *group,
                                      uint32_t place, const uint8_t *received, size_t count,
                                      ek_output *output) {
  wide blocks[FLIGHT];
  decrypt(inverse, received, blocks);
  if (__builtin_expect(any_head(blocks), 0)) {
    wide kept[FLIGHT];
    for (int i = 0; i < FLIGHT; i++) kept[i] = blocks[i];
    emit_decrypted(output, group, place, kept, received, count);
  }
}

WIDE static void reverse(const ek_group *group, const uint8_t *received, size_t received_count,
                         ek_output *output) {
  size_t whole = received_count - received_count % FLIGHT;
  uint8_t rest[FLIGHT * EK_KEY_BYTES] = {0};
  __builtin_memcpy(rest, received + whole * EK_KEY_BYTES, (received_count - whole) * EK_KEY_BYTES);
  for (uint32_t first = 0; first < EK_GROUP_KEYS; first += KEYS_TOGETHER) {
    if (ek_longest(group, first, KEYS_TOGETHER) == 0) continue;
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + first * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) {
      uint32_t place = first + LANES * i;
      if (ek_longest(group, place, LANES) == 0) continue;
      invert(&keys[i]);
      for (size_t j = 0; j < whole; j += FLIGHT) {
        match_reverse(&keys[i], group, place, received + j * EK_KEY_BYTES, FLIGHT, output);
      }
      if (whole < received_count) {
        match_reverse(&keys[i], group, place, rest, received_count - whole, output);
      }
    }
  }
}

WIDE static void identifiers(const uint8_t *identifier_key, uint32_t first, uint32_t count,
                             uint8_t *out) {
  ek_group group = {.first = {first}};
  round_keys keys[TOGETHER];
  __builtin_memcpy(group.identifier_keys, identifier_key, EK_KEY_BYTES);
  expand(group.identifier_keys, keys);
  for (uint32_t done = 0; done < count; done += FLIGHT) {
    wide blocks[FLIGHT];
    encrypt(&keys[0], w_add_words(first_blocks(&group, 0), w_at_interval(done)), blocks);
    for (uint32_t i = 0; i < FLIGHT && done + i < count; i++) {
      __builtin_memcpy(out + (size_t)(done + i) * EK_KEY_BYTES, &blocks[i], EK_KEY_BYTES);
    }
  }
}

/// The exclusive or of all intervals of the keys at `place`, without places that have no key.
WIDE static inline uint64_t fold(const round_keys *keys, const ek_group *group, uint32_t place) {
  wide sum = w_every_word(0), first = first_blocks(group, place);
  for (uint32_t offset = 0; offset < EK_LONGEST_PERIOD; offset += FLIGHT) {
    wide own[FLIGHT];
    encrypt(keys, first, own);
    first = w_add_words(first, w_at_interval(FLIGHT));
    for (int i = 0; i < FLIGHT; i++) sum = w_xor(sum, own[i]);
  }
  uint64_t heads = 0, parts[2 * LANES];
  __builtin_memcpy(parts, &sum, sizeof parts);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    if (group->length[place + lane] > 0) heads ^= parts[2 * lane];
  }
  return heads;
}

WIDE static uint64_t blocks(const ek_group *group) {
  uint64_t sum = 0;
  for (uint32_t place = 0; place < EK_GROUP_KEYS; place += KEYS_TOGETHER) {
    round_keys keys[TOGETHER];
    expand(group->identifier_keys + place * EK_KEY_BYTES, keys);
    for (uint32_t i = 0; i < TOGETHER; i++) sum ^= fold(&keys[i], group, place + LANES * i);
  }
  return sum;
}

WIDE static uint64_t probe(const ek_filter *filter, const uint8_t *identifiers, size_t count) {
  wide_filter own = widen(filter);
  uint64_t total = 0;
  size_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    wide four[4];
    for (size_t j = 0; j < 4; j++) {
      four[j] = w_load(identifiers + (i + LANES * j) * EK_KEY_BYTES);
    }
    total += (uint64_t)__builtin_popcount(held(&own, four));
  }
  for (; i < count; i++) {
    total += ek_filter_holds(filter, ek_filter_hash(filter, identifiers + i * EK_KEY_BYTES));
  }
  return total;
}
