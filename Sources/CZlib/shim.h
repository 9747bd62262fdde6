// SPDX-License-Identifier: Apache-2.0
// zlib: deflate for the files of the web app, and a reference for benchmarks.
#include <zlib.h>
