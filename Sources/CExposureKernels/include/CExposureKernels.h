// SPDX-License-Identifier: Apache-2.0
// The hot loops of matching: which published Temporary Exposure Keys sent the received identifiers?
//
// For each key: identifier key = HKDF-SHA256(key, no salt, "EN-RPIK", 16 bytes); then for each interval of
// its period: identifier = AES-128(identifier key, "EN-RPI" || 6 zero bytes || interval as little-endian
// uint32) (Exposure Notification Cryptography Specification v1.2). The keys are published; only
// `ek_filter.secret` is secret, for one run.
//
// The functions keep no state, allocate nothing, do no I/O and may run on any number of threads. Arrays are
// contiguous and need no alignment unless stated; a pointer may be NULL if its count is 0.

#ifndef C_EXPOSURE_KERNELS_H
#define C_EXPOSURE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A set of processor instructions. All tiers give the same results; only the order of candidates in a call
/// may differ.
typedef enum ek_tier {
  /// Plain C, on any processor.
  EK_TIER_PORTABLE,
  /// x86-64 with AES-NI and the SHA extensions.
  EK_TIER_AESNI_SHANI,
  /// x86-64 with AES on 256-bit registers, AVX2 and the SHA extensions.
  EK_TIER_VAES256,
  /// x86-64 with AVX-512 (F, BW, DQ, VL) and AES on 512-bit registers.
  EK_TIER_VAES512,
  /// arm64 with its AES and SHA-256 instructions.
  EK_TIER_ARM64
} ek_tier;

/// Returns true if the tier was compiled for this architecture, and processor and operating system support
/// it. Calling another function with an unavailable tier is a programming error; the portable tier then does
/// the work.
bool ek_tier_is_available(ek_tier tier);

/// The fastest tier that is available.
ek_tier ek_fastest_tier(void);

/// The tier whose kernels are used for `tier`: itself, or the portable one if it is not available.
ek_tier ek_tier_at_work(ek_tier tier);

enum {
  /// Bytes of a Temporary Exposure Key, of an identifier key and of an identifier.
  EK_KEY_BYTES = 16,
  /// The longest period of a key, in intervals of ten minutes.
  EK_LONGEST_PERIOD = 144
};

/// Derives the Rolling Proximity Identifier Keys of `count` Temporary Exposure Keys (16 bytes each), any count.
void ek_identifier_keys(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys);

/// Derives the identifiers (16 bytes each) of one identifier key for the intervals first ..< first + count;
/// interval numbers wrap round. For tests, conformance and single keys.
void ek_identifiers(ek_tier tier, const uint8_t identifier_key[EK_KEY_BYTES], uint32_t first,
                    uint32_t count, uint8_t *identifiers);

/// A blocked Bloom filter over identifiers: one 32-bit word per identifier, two bits in it. Word and bits are
/// a keyed hash of the identifier's first 8 bytes, since an attacker can choose received identifiers.
typedef struct ek_filter {
  /// 2^word_count_log2 words, at an address divisible by 64, zero before the first identifier is added.
  uint32_t *words;
  /// 0 ... EK_FILTER_LOG2_MAX.
  uint32_t word_count_log2;
  /// Random for every run, and never disclosed.
  uint64_t secret[2];
} ek_filter;

enum {
  /// The largest filter: 2^22 words (16 MiB). In a larger one, word and bits would share bits of the hash.
  EK_FILTER_LOG2_MAX = 22
};

/// Adds an identifier. Must not be called while another thread probes.
void ek_filter_add(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]);

/// Returns false if the identifier was never added. If true, compare it exactly.
bool ek_filter_may_hold(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]);

/// A possible match of a key with a received identifier; the caller verifies it.
typedef struct ek_candidate {
  /// Index of the key in the call's `keys`.
  uint32_t key_index;
  /// The interval of the identifier.
  uint32_t interval;
  /// The identifier.
  uint8_t identifier[EK_KEY_BYTES];
} ek_candidate;

enum {
  /// The smallest capacity with which a call makes progress: the candidates of one group of keys.
  EK_CANDIDATES_MIN = 16 * EK_LONGEST_PERIOD
};

/// Derives the identifiers of keys[i] for the intervals first[i] ..< first[i] + length[i] and writes those
/// that the filter may hold.
///
/// - length: 0 ... EK_LONGEST_PERIOD; 0 skips the key; more counts as EK_LONGEST_PERIOD.
/// - capacity: the size of `candidates`. Below EK_CANDIDATES_MIN the call may do nothing.
/// - keys_done: the number of finished keys from the front. The call stops before a group of keys whose
///   candidates may not fit; resume there with an empty buffer.
/// - Returns the number of candidates written, all of finished keys.
size_t ek_match_forward(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const ek_filter *filter,
                        ek_candidate *candidates, size_t capacity, size_t *keys_done);

/// The same match without a filter: decrypts every received identifier with each key's identifier key. A
/// plaintext of "EN-RPI", 6 zero bytes and an interval of the key is a candidate; only the time of reception
/// remains to be checked.
///
/// The received identifiers must be distinct, so that no key has more candidates than intervals. Otherwise
/// candidates beyond a group's room are dropped. The rest is as for ek_match_forward.
size_t ek_match_reverse(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const uint8_t *received,
                        size_t received_count, ek_candidate *candidates, size_t capacity,
                        size_t *keys_done);

/// The number of received identifiers for which both directions are equally fast in this tier, measured with
/// keys of a whole day and a filter in the second-level cache; with fewer, reverse is faster.
size_t ek_reverse_break_even(ek_tier tier);

/// The bare stages of a match in the tier's fastest form, for benchmarks of the machine's limit.
///
/// Key schedule: HKDF of `count` keys in batches, each overwriting the previous one in `identifier_keys`, which
/// holds EK_BARE_BATCH keys.
void ek_bare_schedule(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys);

enum {
  /// The batch size of ek_bare_schedule, in keys.
  EK_BARE_BATCH = 64
};

/// Blocks: key expansion and the 144 identifiers from `first` of each of `count` identifier keys. Returns the
/// exclusive or of the identifiers' first 8 bytes, read as little-endian numbers.
uint64_t ek_bare_blocks(ek_tier tier, const uint8_t *identifier_keys, uint32_t first, size_t count);

/// Probe: looks up `count` identifiers in the filter and returns how many it may hold. In a match they are in
/// registers; here they are read from memory. Use identifiers that fit into the first- or second-level cache,
/// but tens of thousands of different ones, so that the accesses to the filter spread as in a match.
uint64_t ek_bare_probe(ek_tier tier, const ek_filter *filter, const uint8_t *identifiers,
                       size_t count);

#endif
