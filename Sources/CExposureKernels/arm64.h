// SPDX-License-Identifier: Apache-2.0
// The tier with arm64's AES and SHA-256 instructions.

#ifndef EK_ARM64_H
#define EK_ARM64_H

#include <arm_neon.h>

#include "kernels.h"

/// The target of every function of the tier, so that the file needs no compiler flag. Callers check the processor.
#define ARM64 __attribute__((target("+crypto")))

ARM64 void ek_arm64_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);

#endif
