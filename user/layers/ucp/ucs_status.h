/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Return values of UCX's layers. A ucs_status_t is one byte; the register's bits above it are
 * undefined.
 */
#ifndef POV_LAYERS_UCP_UCS_STATUS_H
#define POV_LAYERS_UCP_UCS_STATUS_H

struct arena;

#define UCS_STATUS_IN_PROGRESS 1
/* The lowest error. As an address, no request is higher. */
#define UCS_STATUS_LAST (-100)

/* Name of a status; a status without a name gets a text in the arena. */
const char *ucs_status_text(struct arena *arena, int status);

#endif
