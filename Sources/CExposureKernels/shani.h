// SPDX-License-Identifier: Apache-2.0
// The key schedule of the two tiers with the SHA extensions.

#ifndef EK_SHANI_H
#define EK_SHANI_H

#include "kernels.h"

/// HKDF with the SHA extensions.
void ek_shani_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);

#endif
