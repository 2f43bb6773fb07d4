/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the functions of UCX's layers return: a ucs_status_t is one byte, what lies above it in the register means nothing. */
#ifndef POV_LAYERS_UCP_UCS_STATUS_H
#define POV_LAYERS_UCP_UCS_STATUS_H

struct arena;

#define UCS_STATUS_IN_PROGRESS 1
#define UCS_STATUS_LAST (-100) /* no error is lower: as an address, none of a request is higher */

/* Its name; in the arena if it has none. */
const char *ucs_status_text(struct arena *arena, int status);

#endif
