// SPDX-License-Identifier: Apache-2.0
// Tests of the kernels on a processor on which the Swift tests do not run; scripts/test-arm64 compiles it and runs it
// under qemu-user. It compares them with published vectors, then on random keys with swift-crypto (oracle.h) and,
// candidate by candidate, with the portable tier.
//
// The argument is the number of a tier that must be available. Prints each failure and exits with 1, or with 0.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CExposureKernels.h"
#include "oracle.h"

enum { KEYS = 70, HEARD = 21, ROOM = EK_CANDIDATES_MIN + 7 };

static int failures = 0;

static void expect(bool holds, const char *what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  failures++;
}

/// A seeded random source (SplitMix64).
static uint64_t chance(void) {
  static uint64_t state = 4;
  uint64_t mixed = state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

/// The key of the published test vectors of the Exposure Notification Cryptography Specification v1.2.
static const uint8_t key[16] = {0x75, 0xc7, 0x34, 0xc6, 0xdd, 0x1a, 0x78, 0x2d,
                                0xe7, 0xa9, 0x65, 0xda, 0x5e, 0xb9, 0x31, 0x25};
static const uint8_t identifier_key[16] = {0x18, 0x5a, 0xd9, 0x1d, 0xb6, 0x9e, 0xc7, 0xdd,
                                           0x04, 0x89, 0x60, 0xf1, 0xf3, 0xba, 0x61, 0x75};
static const uint8_t first_identifier[16] = {0x8b, 0xe6, 0xcd, 0x37, 0x1c, 0x5c, 0x89, 0x16,
                                             0x04, 0xbf, 0xbe, 0x49, 0xdf, 0x84, 0x50, 0x96};
static const uint8_t second_identifier[16] = {0x3c, 0x9a, 0x1d, 0xe5, 0xdd, 0x6b, 0x02, 0xaf,
                                              0xa7, 0xfd, 0xed, 0x7b, 0x57, 0x0b, 0x3e, 0x56};
static const uint32_t first_interval = 2642976;

static void check_published(ek_tier tier) {
  uint8_t derived[16], identifiers[EK_LONGEST_PERIOD * 16];
  ek_identifier_keys(tier, key, 1, derived);
  expect(memcmp(derived, identifier_key, 16) == 0, "the published identifier key");
  ek_identifiers(tier, identifier_key, first_interval, EK_LONGEST_PERIOD, identifiers);
  expect(memcmp(identifiers, first_identifier, 16) == 0, "the first published identifier");
  expect(memcmp(identifiers + 16, second_identifier, 16) == 0, "the second published identifier");
}

/// Random keys with any start and period.
typedef struct keys {
  uint8_t bytes[KEYS * 16];
  uint32_t first[KEYS];
  uint16_t length[KEYS];
} keys;

static keys random_keys(void) {
  keys keys;
  for (size_t i = 0; i < sizeof keys.bytes; i++) keys.bytes[i] = (uint8_t)chance();
  for (size_t i = 0; i < KEYS; i++) {
    keys.first[i] = i == 3 ? UINT32_MAX - 5 : 2600000 + (uint32_t)(chance() % 50000);
    keys.length[i] = i % 3 == 0 ? 144 : (uint16_t)(chance() % 145);
  }
  return keys;
}

/// Runs first, since the oracle covers the first keys of the random source.
static void check_against_oracle(ek_tier tier) {
  keys keys = random_keys();
  uint8_t derived[KEYS * 16];
  ek_identifier_keys(tier, keys.bytes, KEYS, derived);
  expect(ek_bare_blocks(tier, derived, 9, KEYS) == oracle_fold, "the result of swift-crypto");
}

static int by_key_and_interval(const void *left, const void *right) {
  const ek_candidate *a = left, *b = right;
  if (a->key_index != b->key_index) return a->key_index < b->key_index ? -1 : 1;
  return a->interval == b->interval ? 0 : a->interval < b->interval ? -1 : 1;
}

/// All candidates, in as many calls as necessary: forward with a filter, in reverse without.
static size_t match(ek_tier tier, const keys *keys, const ek_filter *filter,
                    const uint8_t *received, ek_candidate *all) {
  size_t total = 0, done = 0, now = 0;
  while (done < KEYS) {
    const uint8_t *bytes = keys->bytes + done * 16;
    const uint32_t *first = keys->first + done;
    const uint16_t *length = keys->length + done;
    size_t written = filter ? ek_match_forward(tier, bytes, first, length, KEYS - done, filter,
                                               all + total, ROOM, &now)
                            : ek_match_reverse(tier, bytes, first, length, KEYS - done, received,
                                               HEARD, all + total, ROOM, &now);
    expect(written <= ROOM, "candidates stay in their room");
    for (size_t i = 0; i < written; i++) all[total + i].key_index += (uint32_t)done;
    total += written;
    done += now;
    if (now == 0) break;
  }
  expect(done == KEYS, "every key is done");
  qsort(all, total, sizeof *all, by_key_and_interval);
  return total;
}

/// Checks that the tier has the portable tier's candidates. Returns their number.
static size_t compare(ek_tier tier, const keys *keys, const ek_filter *filter,
                      const uint8_t *received, const char *what) {
  static ek_candidate theirs[KEYS * EK_LONGEST_PERIOD + ROOM],
      ours[KEYS * EK_LONGEST_PERIOD + ROOM];
  size_t count = match(tier, keys, filter, received, theirs);
  expect(count == match(EK_TIER_PORTABLE, keys, filter, received, ours), what);
  expect(memcmp(theirs, ours, count * sizeof *ours) == 0, what);
  return count;
}

static void check_against_portable(ek_tier tier) {
  keys keys = random_keys();
  uint8_t theirs[KEYS * 16], ours[KEYS * 16], received[HEARD * 16];
  ek_identifier_keys(tier, keys.bytes, KEYS, theirs);
  ek_identifier_keys(EK_TIER_PORTABLE, keys.bytes, KEYS, ours);
  expect(memcmp(theirs, ours, sizeof ours) == 0, "identifier keys");
  expect(ek_bare_blocks(tier, ours, 9, KEYS) == ek_bare_blocks(EK_TIER_PORTABLE, ours, 9, KEYS),
         "blocks");

  _Alignas(64) static uint32_t words[1 << 10];
  ek_filter filter = {words, 10, {chance(), chance()}};
  for (size_t i = 0; i < HEARD; i++) {
    size_t from = i * 3;
    uint32_t offset = keys.length[from] - 1u;
    ek_identifiers(EK_TIER_PORTABLE, ours + from * 16, keys.first[from] + offset, 1,
                   received + i * 16);
    ek_filter_add(&filter, received + i * 16);
  }
  expect(compare(tier, &keys, NULL, received, "reverse") == HEARD, "reverse finds all received identifiers");
  expect(compare(tier, &keys, &filter, NULL, "forward") >= HEARD,
         "forward finds all received identifiers");
  expect(ek_bare_probe(tier, &filter, received, HEARD) == HEARD, "probe");
  memset(words, 0xff, sizeof words);
  compare(tier, &keys, &filter, NULL, "forward through a filter that holds everything");
}

int main(int count, char **arguments) {
  ek_tier wanted = count == 2 ? (ek_tier)atoi(arguments[1]) : EK_TIER_PORTABLE;
  expect(ek_tier_is_available(wanted), "the tier is available");
  expect(ek_tier_at_work(wanted) == wanted, "the tier's own kernels do its work");
  expect(ek_fastest_tier() == wanted, "the tier is the fastest");
  check_published(EK_TIER_PORTABLE);
  check_published(wanted);
  check_against_oracle(wanted);
  for (int i = 0; i < 5; i++) check_against_portable(wanted);
  if (failures == 0) printf("tier %d passes all tests\n",
      wanted);
  return failures == 0 ? 0 : 1;
}
