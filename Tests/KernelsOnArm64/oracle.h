// What swift-crypto says of keys of chance: CExposureKernelsTests/OracleTests.arm64 works it out again, and
// arm64's kernels are held to it where there is no swift-crypto.

#include <stdint.h>

/// The first eight bytes of the 144 identifiers from interval 9 on, of 70 keys whose bytes are the lowest of
/// SplitMix64's numbers from the state 4 on: all of them in one exclusive or, read with the lowest byte first.
static const uint64_t oracle_fold = 0xf139b3749d61664b;
