// SPDX-License-Identifier: Apache-2.0
// libdeflate: deflate and CRC-32 for diagnosis key files.
#include <libdeflate.h>
