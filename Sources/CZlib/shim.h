// SPDX-License-Identifier: Apache-2.0
// zlib: deflate and CRC-32 for the diagnosis key files that are written.
#include <zlib.h>
