// SPDX-License-Identifier: Apache-2.0
// Detection of the tiers that this machine supports.

#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>

/// SHA-NI: leaf 7, EBX bit 29. Older compilers' __builtin_cpu_supports has no name for it.
static bool has_sha(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1) != 0;
}

/// VAES: leaf 7, ECX bit 9.
static bool has_vaes(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 9 & 1) != 0;
}

enum {
  /// Bits of XCR0: SSE and AVX registers.
  STATE_OF_256 = 0x06,
  /// Also AVX-512's masks, upper halves and upper registers.
  STATE_OF_512 = 0xe6
};

/// Returns true if the operating system saves the registers of a thread. Otherwise they cannot be used.
static bool system_saves(unsigned state) {
  unsigned a, b, c, d;
  // OSXSAVE, leaf 1, ECX bit 27, enables xgetbv.
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 1) == 0) return false;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (a & state) == state;
}

static bool has_aesni_shani(void) {
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1") && has_sha();
}

static bool has_vaes256(void) {
  return has_aesni_shani() && __builtin_cpu_supports("avx2") && has_vaes() &&
         system_saves(STATE_OF_256);
}

static bool has_vaes512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && has_vaes() &&
         system_saves(STATE_OF_512);
}

#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

/// HWCAP_AES and HWCAP_SHA2 of the kernel's arm64 interface.
enum { AES = 1 << 3, SHA2 = 1 << 6 };

static bool has_arm64(void) { return (getauxval(AT_HWCAP) & (AES | SHA2)) == (AES | SHA2); }

#elif defined(__aarch64__)
/// Every arm64 processor by Apple has both.
static bool has_arm64(void) { return true; }
#endif

/// A bit for each tier that the machine supports.
static uint32_t detect_tiers(void) {
  uint32_t tiers = 1u << EK_TIER_PORTABLE;
#if defined(__x86_64__)
  if (has_aesni_shani()) tiers |= 1u << EK_TIER_AESNI_SHANI;
  if (has_vaes256()) tiers |= 1u << EK_TIER_VAES256;
  if (has_vaes512()) tiers |= 1u << EK_TIER_VAES512;
#elif defined(__aarch64__)
  if (has_arm64()) tiers |= 1u << EK_TIER_ARM64;
#endif
  return tiers;
}

/// The same, cached: on a virtual machine each cpuid traps to the host and takes microseconds. Threads that run
/// this at the same time store the same value.
static uint32_t machine_tiers(void) {
  static uint32_t kept = 0;
  uint32_t tiers = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (tiers == 0) {
    tiers = detect_tiers();
    __atomic_store_n(&kept, tiers, __ATOMIC_RELAXED);
  }
  return tiers;
}

bool ek_tier_is_available(ek_tier tier) {
  return (uint32_t)tier < 32 && (machine_tiers() >> tier & 1) != 0;
}

const ek_kernels *ek_kernels_of(ek_tier tier) {
  if (!ek_tier_is_available(tier)) return &ek_portable_kernels;
  switch (tier) {
#if defined(__x86_64__)
    case EK_TIER_AESNI_SHANI:
      return &ek_aesni_kernels;
    case EK_TIER_VAES256:
      return &ek_vaes256_kernels;
    case EK_TIER_VAES512:
      return &ek_vaes512_kernels;
#elif defined(__aarch64__)
    case EK_TIER_ARM64:
      return &ek_arm64_kernels;
#endif
    default:
      return &ek_portable_kernels;
  }
}

ek_tier ek_tier_at_work(ek_tier tier) { return ek_kernels_of(tier)->tier; }

ek_tier ek_fastest_tier(void) {
  static const ek_tier by_speed[] = {EK_TIER_VAES512, EK_TIER_VAES256, EK_TIER_AESNI_SHANI,
                                     EK_TIER_ARM64};
  for (size_t i = 0; i < sizeof by_speed / sizeof by_speed[0]; i++) {
    if (ek_tier_is_available(by_speed[i])) return by_speed[i];
  }
  return EK_TIER_PORTABLE;
}
