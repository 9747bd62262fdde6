// The hot loops of matching: which of the published Temporary Exposure Keys were heard nearby?
//
// For each key: identifier key = HKDF-SHA256(key, no salt, "EN-RPIK", 16 bytes); then for each interval of
// its period: identifier = AES-128(identifier key, "EN-RPI" || 6 zero bytes || interval as little-endian
// uint32) (Exposure Notification Cryptography Specification v1.2). The keys have been published by the time
// they come here; what is secret is `ek_filter.secret`, for one run.
//
// Every function is pure: no state, no allocation, no I/O, safe on any number of threads. Arrays are
// contiguous and need no alignment unless said; a pointer may be NULL where its count is 0.

#ifndef C_EXPOSURE_KERNELS_H
#define C_EXPOSURE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Which instructions do the work. Every tier gives the same answers; only the order of candidates inside a
/// call may differ.
typedef enum ek_tier {
  /// Plain C, anywhere.
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

/// Whether the tier was compiled for this architecture, and processor and operating system have it. To
/// call anything else here with a tier that is not available is a programmer's error; the portable tier
/// then does the work.
bool ek_tier_is_available(ek_tier tier);

/// The fastest tier that is available.
ek_tier ek_fastest_tier(void);

/// The tier whose kernels do the work that `tier` is asked for: itself, or the portable one where it is not
/// available.
ek_tier ek_tier_at_work(ek_tier tier);

enum {
  /// Bytes of a Temporary Exposure Key, of an identifier key and of an identifier.
  EK_KEY_BYTES = 16,
  /// The most intervals of ten minutes that a key is valid for.
  EK_LONGEST_PERIOD = 144
};

/// Derives the Rolling Proximity Identifier Keys of `count` Temporary Exposure Keys (16 bytes each), any count.
void ek_identifier_keys(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys);

/// Derives the identifiers (16 bytes each) of one identifier key for the intervals first ..< first + count;
/// interval numbers wrap round. For tests, conformance and single keys.
void ek_identifiers(ek_tier tier, const uint8_t identifier_key[EK_KEY_BYTES], uint32_t first,
                    uint32_t count, uint8_t *identifiers);

/// A blocked Bloom filter over identifiers: one 32-bit word per identifier, two bits in it. Word and bits
/// come from the identifier's first 8 bytes under the run's secret, as sightings are chosen by strangers.
typedef struct ek_filter {
  /// 2^word_count_log2 words, at an address divisible by 64, zero before the first identifier is added.
  uint32_t *words;
  /// 0 ... EK_FILTER_LOG2_MAX.
  uint32_t word_count_log2;
  /// Chosen at random for every run, and told nobody.
  uint64_t secret[2];
} ek_filter;

enum {
  /// The largest filter: 2^22 words (16 MiB). Beyond it word and bits would share parts of the hash.
  EK_FILTER_LOG2_MAX = 22
};

/// Adds an identifier. Not to be called while another thread probes.
void ek_filter_add(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]);

/// False: the identifier was never added. True: compare it exactly.
bool ek_filter_may_hold(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]);

/// What a key may have in common with what was heard. The caller decides.
typedef struct ek_candidate {
  /// Index of the key in the call's `keys`.
  uint32_t key_index;
  /// The interval that the identifier belongs to.
  uint32_t interval;
  /// The identifier.
  uint8_t identifier[EK_KEY_BYTES];
} ek_candidate;

enum {
  /// The least room for candidates that gets a call ahead: that of one group of keys.
  EK_CANDIDATES_MIN = 16 * EK_LONGEST_PERIOD
};

/// Derives the identifiers of keys[i] for the intervals first[i] ..< first[i] + length[i] and writes those
/// that the filter may hold. Nothing else is stored.
///
/// - length: 0 ... EK_LONGEST_PERIOD; 0 skips the key; more counts as EK_LONGEST_PERIOD.
/// - capacity: candidates that there is room for. Below EK_CANDIDATES_MIN the call may do nothing.
/// - keys_done: how many keys from the front are finished. The call stops before a group of keys whose
///   candidates might not fit; go on from there with an emptied buffer.
/// - Returns how many candidates were written, all of finished keys.
size_t ek_match_forward(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const ek_filter *filter,
                        ek_candidate *candidates, size_t capacity, size_t *keys_done);

/// The same answer from the other end, without a filter: decrypts every heard identifier with each key's
/// identifier key. A plaintext of "EN-RPI", 6 zero bytes and an interval of the key's is a candidate, and
/// right but for the time at which it was heard.
///
/// The heard identifiers have to be distinct: then no key has more candidates than intervals. Were they
/// not, candidates that overrun a group's room would be left out. The rest is as for ek_match_forward.
size_t ek_match_reverse(ek_tier tier, const uint8_t *keys, const uint32_t *first,
                        const uint16_t *length, size_t count, const uint8_t *heard,
                        size_t heard_count, ek_candidate *candidates, size_t capacity,
                        size_t *keys_done);

/// How many heard identifiers a key make both directions equally fast at a whole day's period in this tier, as
/// measured with a filter in the second-level cache; below it reverse is faster.
size_t ek_reverse_break_even(ek_tier tier);

/// The bare stages of a match, the fastest the tier has, with nothing around them: the machine's limit.
///
/// Key schedule: HKDF of `count` keys in batches, each written over the last in `identifier_keys`, which holds
/// EK_BARE_BATCH keys.
void ek_bare_schedule(ek_tier tier, const uint8_t *keys, size_t count, uint8_t *identifier_keys);

enum {
  /// Keys that ek_bare_schedule takes at a time.
  EK_BARE_BATCH = 64
};

/// Blocks: key expansion and the 144 identifiers from `first` on of each of `count` identifier keys. Returns the
/// exclusive or of the identifiers' first 8 bytes, read as little-endian numbers.
uint64_t ek_bare_blocks(ek_tier tier, const uint8_t *identifier_keys, uint32_t first, size_t count);

/// Probe: asks the filter for each of `count` identifiers and returns how many it may hold. In a match they
/// are in registers; here they are read, so give it some that fit into the first- or second-level cache,
/// but enough different ones (tens of thousands, or the filter's words in use stay closer than in a match).
uint64_t ek_bare_probe(ek_tier tier, const ek_filter *filter, const uint8_t *identifiers,
                       size_t count);

#endif
