// SPDX-License-Identifier: Apache-2.0
// The interface of PKCS#11 modules, which are loaded at run time. Nothing is linked.
#include <p11-kit-1/p11-kit/pkcs11.h>
