/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Meta objects that describe the machine: its name, CPUs and caches (hwloc), and clocks. */
#ifndef POV_RECORD_HOST_HOST_H
#define POV_RECORD_HOST_HOST_H

#include <jansson.h>

json_t *host_describe(void);	    /* "host"; the caller owns it */
json_t *host_clocks_describe(void); /* "clocks", all read at the same moment; the caller owns it */

/*
 * Describes the machine's RDMA adapters and their ports' addresses as meta object "adapters", which
 * the caller owns. NULL if there is no adapter. root is "/sys/class/infiniband".
 */
json_t *adapters_describe(const char *root);

#endif
