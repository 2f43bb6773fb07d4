/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#ifndef POV_RECORD_HOST_ADAPTERS_H
#define POV_RECORD_HOST_ADAPTERS_H

#include <jansson.h>

/*
 * The machine's RDMA adapters with their ports' addresses, as meta object "adapters"; the caller owns it. NULL if there is none.
 * root: "/sys/class/infiniband".
 */
json_t *adapters_describe(const char *root);

#endif
