// SPDX-License-Identifier: Apache-2.0
// libpq: the client library of PostgreSQL.
#include <libpq-fe.h>
