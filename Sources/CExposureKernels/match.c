// SPDX-License-Identifier: Apache-2.0
// Splits the keys into groups and passes them to the kernels of the tier.

#include <string.h>

#include "kernels.h"

void ek_identifier_keys(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys) {
  const ek_kernels *kernels = ek_kernels_of(tier);
  size_t groups = count / EK_GROUP_KEYS;
  if (groups > 0) kernels->schedule(keys, groups, identifier_keys);
  size_t done = groups * EK_GROUP_BYTES, rest = count * EK_KEY_BYTES - done;
  if (rest == 0) return;
  uint8_t padded[EK_GROUP_BYTES] = {0}, derived[EK_GROUP_BYTES];
  memcpy(padded, keys + done, rest);
  kernels->schedule(padded, 1, derived);
  memcpy(identifier_keys + done, derived, rest);
}

void ek_identifiers(ek_tier tier, const uint8_t identifier_key[EK_KEY_BYTES], uint32_t first,
                    uint32_t count, uint8_t *identifiers) {
  ek_kernels_of(tier)->identifiers(identifier_key, first, count, identifiers);
}

/// The keys of a call, and the number that is done.
typedef struct walk {
  ek_tier tier;
  const uint8_t *keys;
  const uint32_t *first;
  const uint16_t *length;
  size_t count;
  size_t done;
} walk;

enum {
  /// The number of keys in one HKDF call, so that a tier can process two groups in parallel.
  BATCH_KEYS = 4 * EK_GROUP_KEYS
};

/// The identifier keys of a batch of keys.
typedef struct batch {
  _Alignas(64) uint8_t identifier_keys[BATCH_KEYS * EK_KEY_BYTES];
  size_t start;
  size_t end;
} batch;

/// Prepares the next group without its identifier keys. Returns the maximum number of its candidates.
static size_t prepare_group(const walk *walk, ek_group *group) {
  size_t left = walk->count - walk->done, room = 0;
  group->key_index = (uint32_t)walk->done;
  for (size_t i = 0; i < EK_GROUP_KEYS; i++) {
    uint32_t length = i < left ? walk->length[walk->done + i] : 0;
    group->first[i] = i < left ? walk->first[walk->done + i] : 0;
    group->length[i] = length > EK_LONGEST_PERIOD ? EK_LONGEST_PERIOD : length;
    room += group->length[i];
  }
  return room;
}

/// Fills in the group's identifier keys; derives the next batch of them if necessary.
static void take_keys(const walk *walk, batch *batch, ek_group *group) {
  size_t left = walk->count - walk->done;
  if (walk->done >= batch->end) {
    batch->start = walk->done;
    batch->end = walk->done + (left < BATCH_KEYS ? left : BATCH_KEYS);
    ek_identifier_keys(walk->tier, walk->keys + walk->done * EK_KEY_BYTES,
                       batch->end - batch->start, batch->identifier_keys);
  }
  // After the last key there are keys of an earlier batch, or zeros; their length is 0.
  memcpy(group->identifier_keys,
         batch->identifier_keys + (walk->done - batch->start) * EK_KEY_BYTES, EK_GROUP_BYTES);
}

/// Advances by one group, or to the end.
static void step(walk *walk) {
  size_t left = walk->count - walk->done;
  walk->done += left < EK_GROUP_KEYS ? left : EK_GROUP_KEYS;
}

/// The identifiers to match: a filter (forward) or a list (reverse).
typedef struct query {
  const ek_filter *filter;
  const uint8_t *received;
  size_t received_count;
} query;

static void match_group(const ek_kernels *kernels, const ek_group *group, const query *query,
                        ek_output *output) {
  if (query->filter) {
    kernels->forward(group, query->filter, output);
  } else if (query->received_count > 0) {
    kernels->reverse(group, query->received, query->received_count, output);
  }
}

/// Matches group after group while there is room for all candidates of the next one.
static size_t match(walk *walk, const query *query, ek_candidate *candidates,
                    size_t capacity) {
  const ek_kernels *kernels = ek_kernels_of(walk->tier);
  batch batch = {{0}, 0, 0};
  size_t written = 0;
  for (; walk->done < walk->count; step(walk)) {
    ek_group group;
    size_t room = prepare_group(walk, &group);
    if (room == 0) continue;
    if (room > capacity - written) break;
    take_keys(walk, &batch, &group);
    ek_output output = {candidates + written, candidates + written + room};
    match_group(kernels, &group, query, &output);
    written = (size_t)(output.next - candidates);
  }
  return written;
}

size_t ek_match_forward(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const ek_filter *filter,
                        ek_candidate *candidates, size_t capacity, size_t *keys_done) {
  walk walk = {tier, keys, first, length, count, 0};
  query query = {filter, NULL, 0};
  size_t written = match(&walk, &query, candidates, capacity);
  *keys_done = walk.done;
  return written;
}

size_t ek_match_reverse(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const uint8_t *received,
                        size_t received_count, ek_candidate *candidates, size_t capacity,
                        size_t *keys_done) {
  walk walk = {tier, keys, first, length, count, 0};
  query query = {NULL, received, received_count};
  size_t written = match(&walk, &query, candidates, capacity);
  *keys_done = walk.done;
  return written;
}

size_t ek_reverse_break_even(ek_tier tier) { return ek_kernels_of(tier)->reverse_break_even; }

void ek_bare_schedule(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys) {
  for (size_t done = 0; done < count; done += EK_BARE_BATCH) {
    size_t left = count - done;
    ek_identifier_keys(tier, keys + done * EK_KEY_BYTES,
                       left < EK_BARE_BATCH ? left : EK_BARE_BATCH, identifier_keys);
  }
}

uint64_t ek_bare_blocks(ek_tier tier, const uint8_t *identifier_keys, uint32_t first,
                        size_t count) {
  const ek_kernels *kernels = ek_kernels_of(tier);
  uint64_t fold = 0;
  for (size_t done = 0; done < count; done += EK_GROUP_KEYS) {
    ek_group group = {.key_index = (uint32_t)done};
    size_t left = count - done < EK_GROUP_KEYS ? count - done : EK_GROUP_KEYS;
    memcpy(group.identifier_keys, identifier_keys + done * EK_KEY_BYTES, left * EK_KEY_BYTES);
    for (size_t i = 0; i < left; i++) {
      group.first[i] = first;
      group.length[i] = EK_LONGEST_PERIOD;
    }
    fold ^= kernels->blocks(&group);
  }
  return fold;
}

uint64_t ek_bare_probe(ek_tier tier, const ek_filter *filter, const uint8_t *identifiers,
                       size_t count) {
  return ek_kernels_of(tier)->probe(filter, identifiers, count);
}
