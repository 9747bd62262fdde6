// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/prctl.h>

// Swift cannot call functions with a variable number of arguments.

/// Makes the kernel write no core dump of this process, and refuse other processes of the same user that
/// want to read its memory. Returns 0, or -1 on failure.
static inline int firebreak_make_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
