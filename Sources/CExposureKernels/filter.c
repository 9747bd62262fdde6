// SPDX-License-Identifier: Apache-2.0
#include "filter.h"

void ek_filter_add(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]) {
  uint32_t hash = ek_filter_hash(filter, identifier);
  filter->words[ek_filter_word(filter, hash)] |= ek_filter_bits(hash);
}

bool ek_filter_may_hold(const ek_filter *filter, const uint8_t identifier[EK_KEY_BYTES]) {
  return ek_filter_holds(filter, ek_filter_hash(filter, identifier)) != 0;
}
