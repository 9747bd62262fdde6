// SPDX-License-Identifier: Apache-2.0
// libarchive: the zip container of diagnosis key files, read as a stream.
#include <archive.h>
#include <archive_entry.h>
