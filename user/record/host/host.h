/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Meta objects about the machine: who it is, its CPUs and caches (hwloc), its clocks. */
#ifndef POV_RECORD_HOST_HOST_H
#define POV_RECORD_HOST_HOST_H

#include <jansson.h>

json_t *host_describe(void);	    /* "host"; the caller owns it */
json_t *host_clocks_describe(void); /* "clocks", all read together; the caller owns it */

#endif
