// SPDX-License-Identifier: Apache-2.0
// The result of swift-crypto for pseudorandom keys, as the reference where swift-crypto is not available.
// CExposureKernelsTests/OracleTests.arm64 verifies it.

#include <stdint.h>

/// The exclusive or of the first eight bytes, read as little-endian numbers, of the 144 identifiers from interval 9
/// of 70 keys. The bytes of the keys are the lowest of SplitMix64's numbers from state 4.
static const uint64_t oracle_fold = 0xf139b3749d61664b;
