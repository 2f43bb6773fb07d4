/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#ifndef POV_RECORD_HOST_ADAPTERS_H
#define POV_RECORD_HOST_ADAPTERS_H

#include <jansson.h>

/*
 * Describes the machine's RDMA adapters and their ports' addresses as meta object "adapters", which
 * the caller owns. NULL if there is no adapter. root is "/sys/class/infiniband".
 */
json_t *adapters_describe(const char *root);

#endif
