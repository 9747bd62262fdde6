// SPDX-License-Identifier: Apache-2.0
// The tier with AVX-512 and AES on 512-bit registers.

#ifndef EK_VAES512_H
#define EK_VAES512_H

#include <immintrin.h>

#include "kernels.h"

/// The target of every function of the tier, so that the file needs no compiler flag. Callers check the processor.
#define VAES512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vaes,aes,avx2")))

VAES512 void ek_vaes512_schedule(const uint8_t *keys, size_t groups, uint8_t *identifier_keys);

#endif
