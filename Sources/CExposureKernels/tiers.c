// Which tiers this machine has. Asked of the processor each time: it costs nothing beside a batch of keys.

#include "kernels.h"

const ek_kernels *ek_kernels_of(ek_tier tier) {
  (void)tier;
  return &ek_portable_kernels;
}

bool ek_tier_is_available(ek_tier tier) { return tier == EK_TIER_PORTABLE; }

ek_tier ek_fastest_tier(void) { return EK_TIER_PORTABLE; }
